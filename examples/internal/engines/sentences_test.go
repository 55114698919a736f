//go:build unix

package engines

import (
	"context"
	"regexp"
	"testing"
)

// sentences are bad events that can happen in either engine, and what both say.
var sentences = []struct{ event, statement, sentence string }{
	{"an unknown preset", `select alike.attach('d', 'body', '{"profile": "novel"}')`, `profile "novel": "novel" is not a setting or a preset`},
	{"an unknown policy", `select alike.attach('d', 'body', '{"policy": "refuse"}')`, `the policy is "refuse", want ignore, link, warn or reject`},
	{"at_least above 1", `select alike.attach('d', 'body', '{"at_least": 2}')`, `at_least is 2, want above 0 and at most 1`},
	{"at_least of 0", `select alike.attach('d', 'body', '{"at_least": 0}')`, `at_least is 0, want above 0 and at most 1`},
	{"no match to be kept", `select alike.attach('d', 'body', '{"matches": 0}')`, `the option matches is 0, want a whole number from 1 to 1000 or null`},
	{"more matches than a checkin looks at", `select alike.attach('d', 'body', '{"matches": 1001}')`, `the option matches is 1001, want a whole number from 1 to 1000 or null`},
	{"half a match", `select alike.attach('d', 'body', '{"matches": 1.5}')`, `the option matches is 1.5, want a whole number from 1 to 1000 or null`},
	{"an unknown way to verify", `select alike.attach('d', 'body', '{"verify": "by hand"}')`, `the verify is "by hand", want sketch or text`},
	{"a verdict on one row", `select alike.mark('e', '1', '1', 'distinct')`, `both keys name the same row`},
	{"an unknown verdict", `select alike.mark('e', '1', '2', 'perhaps')`, `the verdict is "perhaps", want duplicate, distinct or none`},
	{"an index that is not kept", `select * from alike.si_rows('e', 'length', '1')`, `e has no similarity index length; it has none`},
	{"an unknown linkage", `select * from alike.clusters('e', 0.5, 'near')`, `the linkage is "near", want complete, single, greedy or popular`},
	{"recall above 1", `select alike.attach('d', 'body', '{"recall": 2}')`, `recall is 2, want between 0 and 1`},
	{"slots that the features do not leave", `select alike.attach('d', 'body', '{"profile": "words t=10"}')`, `profile "words t=10": t=10, want at least k·s = 92`},
}

// The same event has the same sentence in both engines, after the name of the function.
func TestSameSentences(t *testing.T) {
	e := open(t)
	e.exec("create table d (id integer primary key, body text)")
	e.exec("create table e (id integer primary key, body text)")
	e.exec("insert into e values (1, 'one text'), (2, 'another')")
	e.exec("select alike.attach('e', 'body')")
	name := regexp.MustCompile(`^(ERROR: |alike(_\w+)?: |sketch: |attach: |mark: |si_rows: )*(.*?)( \(SQLSTATE \w+\))?$`)
	said := func(err error) string {
		if err == nil {
			return "no error"
		}
		return name.FindStringSubmatch(err.Error())[3]
	}
	for _, c := range sentences {
		rows, err := e.sqlite.Query(inSQLite(c.statement))
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		inSQLite := said(err)
		_, err = e.postgres.Exec(context.Background(), c.statement)
		inPostgres := said(err)
		if inSQLite != inPostgres || inSQLite != c.sentence {
			t.Errorf("%s\nSQLite:     %s\nPostgreSQL: %s\nwant:       %s", c.event, inSQLite, inPostgres, c.sentence)
		}
	}
}

package sqlext_test

import (
	"fmt"
	"testing"
)

// What rows have in common is told by the passage, of pages as text, where a condition
// leaves rows out, with a key of several columns.
func TestCommon(t *testing.T) {
	db := memory(t)
	db.exec("CREATE TABLE d(a TEXT, b INTEGER, body TEXT, PRIMARY KEY (a, b))")
	for i := range 40 {
		body := fmt.Sprintf("<p>row%d has words%d of%d its%d own%d</p>", i, i, i, i, i)
		if i%4 == 0 {
			body += "<p>All rights reserved by the<br>owner of this site</p>"
		}
		if i%2 == 1 {
			body += "<p>this row is not attached at all</p>"
		}
		db.exec("INSERT INTO d VALUES ('k', ?, ?)", i, body)
	}
	db.exec("INSERT INTO d VALUES ('k', 100, NULL), ('k', 102, ''), ('k', 104, 12)")
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4", "extract": "html", "where": "b % 2 = 0"}')`)
	// Of 20 rows and one number ten have the sentence, whose nine words make six shingles.
	db.expect(`all rights reserved by the owner of this site|10|0.4762|6|["k",0]`, `SELECT passage, "rows", round(share, 4), shingles, key FROM alike_common('d')`)
	db.expect("1", `SELECT count(*) FROM alike_common('d', 0.47)`)
	db.expect("0", `SELECT count(*) FROM alike_common('d', 0.48)`)
	db.expect("0", `SELECT count(*) FROM alike_common('d', 1)`)
	db.fails("the share is the integer 2, want a number from 0 to 1", `SELECT * FROM alike_common('d', 2)`)
	db.fails("want above 0 and at most 1", `SELECT * FROM alike_common('d', 0)`)
	db.fails("nothing is attached to nothing", `SELECT * FROM alike_common('nothing')`)
}

// What many rows share is left out of the sketches on demand, at attach or later, by the
// triggers too; questions and checkins compare what is left. Another list is another profile,
// which is built beside the one in use, and lists that no profile names are deleted.
func TestCommonIsLeftOut(t *testing.T) {
	licence := "permission is hereby granted free of charge to any person obtaining a copy of this software to deal in it without restriction and without warranty of any kind"
	body := func(i int) string {
		return fmt.Sprintf("tool%d parses%d files%d quickly%d and%d writes%d reports%d %s", i, i, i, i, i, i, i, licence)
	}
	for _, layout := range []string{"columns", "parts"} {
		db := memory(t)
		db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)")
		for i := range 60 {
			db.exec("INSERT INTO d VALUES (?, ?)", i, body(i))
		}
		db.exec("INSERT INTO d VALUES (100, ? || ' fast'), (101, ?)", body(7), licence)
		options := fmt.Sprintf(`'{"profile": "prose", "layout": "%s", "policy": "link"}'`, layout)
		db.rows("SELECT alike_attach('d', 'body', " + options + ")")
		db.expect("1", "SELECT count(*) > 1000 FROM alike_pairs('d')") // the licence
		db.rows(`SELECT alike_attach('d', 'body', '{"common": true}')`)
		db.expect("1", "SELECT profile LIKE 'words % without=________' FROM alike_status()")
		db.expect("7|100", "SELECT key, other FROM alike_pairs('d')")
		db.expect("1", "SELECT count(*) FROM alike_boilerplate")
		// 26 words of the licence leave 25 shingles out; 7 words and one shingle into the licence stay.
		db.expect("7", "SELECT shingles FROM d_alike WHERE id = 3")
		db.expect("0|1", "SELECT shingles, sketch IS NULL FROM d_alike WHERE id = 101")
		// The trigger and the questions for a text leave it out, too.
		db.exec("INSERT INTO d VALUES (102, ? || ' now')", body(9))
		db.expect("102|9", `SELECT id, other FROM d_alike_match`)
		db.expect("9\n102", "SELECT key FROM alike_rows_like('d', ?)", body(9))
		db.expect("", "SELECT key FROM alike_rows_like('d', ?)", licence)
		// Documents that are read again are compared without it.
		db.rows(`SELECT alike_attach('d', 'body', '{"verify": "text", "at_least": 0.88}')`)
		db.expect("7|100|0.875\n9|102|0.875", "SELECT key, other, resemblance FROM alike_pairs('d', 0.85)")
		// A second list beside the first: the first serves until the second is complete.
		db.exec("UPDATE d SET body = replace(body, 'free of charge', 'at no cost')")
		before := db.rows("SELECT profile FROM alike_status()")
		db.rows(`SELECT alike_attach('d', 'body', '{"common": 0.5, "at_least": null}')`)
		if after := db.rows("SELECT profile FROM alike_status()"); after == before {
			t.Errorf("the profile is still %v", after)
		}
		db.expect("1", "SELECT count(*) FROM alike_boilerplate")
		db.expect("2", "SELECT count(*) FROM alike_pairs('d')")
		// Another preset needs a list of its own.
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "prose w=3", "at_least": null}')`)
		db.expect("0|0", "SELECT instr(profile, 'without'), (SELECT count(*) FROM alike_boilerplate) FROM alike_status()")
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "prose w=3", "common": 0.2}')`)
		db.expect("1", "SELECT instr(profile, 'without') > 0 FROM alike_status()")
		name := db.rows("SELECT substr(profile, instr(profile, 'without=') + 8, 8) FROM alike_status()")
		db.rows(`SELECT alike_attach('d', 'body', '{"common": false}')`)
		db.expect("0", "SELECT instr(profile, 'without') FROM alike_status()")
		db.fails("is not in this database", fmt.Sprintf(`SELECT alike_attach('d', 'body', '{"common": "%v"}')`, name))
		db.fails("is not in this database", fmt.Sprintf(`SELECT alike_attach('d', 'body', '{"profile": "prose without=%v"}')`, name))
		db.fails("leaves no shingles out", `SELECT alike_attach('d', 'body', '{"profile": "words mod=4", "common": 0.1}')`)
		for _, bad := range []string{"0", "-1", "1.5", `"x"`, `"00000000"`, "[]"} {
			db.fails("the option common is", `SELECT alike_attach('d', 'body', '{"common": `+bad+`}')`)
		}
		db.fails("is needed", fmt.Sprintf(`SELECT alike_sketch('a text', 'prose without=%v')`, name))
		// Where nothing is common nothing is left out.
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "prose", "common": 1}')`)
		db.expect("0", "SELECT instr(profile, 'without') FROM alike_status()")
	}
}

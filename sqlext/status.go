package sqlext

import (
	"errors"
	"fmt"

	"github.com/alike-sql/alike/sketch/advise"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// statusLine is what alike_status says of an attachment.
type statusLine struct {
	a                                              *attachment
	rows, sketched, stale, pending, failed, oldest int64
	waiting                                        bool // oldest is known
	merging, note                                  string
}

// status is alike_status: what is attached in the databases of the connection.
func status(c *conn, _ []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	schemas, err := c.schemas()
	if err != nil {
		return nil, err
	}
	var list []*statusLine
	for _, schema := range schemas {
		found, err := c.attachments(schema, inUse)
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			l := &statusLine{a: a}
			if schema != "main" {
				l.note = "in " + schema
			}
			err := c.statusOf(l)
			var coded *sqlite.Error
			if errors.As(err, &coded) && coded.Code != sqlite.CodeError {
				return nil, err
			}
			if err != nil {
				l.note = c.explained(err, l.a.Name).Error() // the others are shown all the same
			}
			list = append(list, l)
		}
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		l := list[i]
		for j, text := range []string{l.a.Name, l.a.Table, l.a.Column, l.a.Profile, l.a.Mode, l.a.Layout, l.a.Policy} {
			b.SetText(&cells[j], text)
		}
		if l.a.broken == nil {
			cells[7].SetFloat(l.a.threshold())
			cells[8].SetFloat(l.a.recall())
		}
		for j, n := range []int64{l.rows, l.sketched, l.stale, l.pending, l.failed} {
			cells[9+j].SetInt(n)
		}
		if l.waiting {
			cells[14].SetInt(l.oldest)
		}
		for j, text := range []string{l.a.chosen(), l.a.short(), l.merging, l.note} {
			if text != "" {
				b.SetText(&cells[15+j], text)
			}
		}
	}), nil
}

// statusOf completes the line of an attachment.
func (c *conn) statusOf(l *statusLine) error {
	if l.a.broken != nil {
		return l.a.broken
	}
	a, err := c.adopt(l.a)
	if err != nil {
		return err
	}
	l.a = a
	count := func(name string, into *int64, args ...any) error {
		return c.Run(a.sql(name), func(row []sqlite.Value) error {
			if *into = row[0].Int(); len(row) > 1 && !row[1].Null() {
				l.oldest, l.waiting = row[1].Int(), true
			}
			return nil
		}, args...)
	}
	if err := count("count_documents", &l.rows); err != nil {
		return err
	}
	if err := count("count_rows", &l.sketched); err != nil {
		return err
	}
	if err := count("count_stale", &l.stale, a.Profile, int64(a.profile.TokensFingerprint())); err != nil {
		return err
	}
	if err := count("count_errors", &l.failed, a.Name); err != nil {
		return err
	}
	if a.Mode == "queue" && a.State == stateReady {
		if err := count("count_queue", &l.pending); err != nil {
			return err
		}
	} else {
		l.pending = max(0, l.rows-l.sketched)
	}
	if a.State == stateFilling {
		l.note = fmt.Sprintf("the attach is not complete; alike_refresh(%s) continues it", literal(a.Name))
		return nil
	}
	if a.InParts() {
		if l.merging, err = c.merging(a); err != nil {
			return err
		}
	}
	var keyless, damaged int64
	if err := count("count_keyless", &keyless); err != nil {
		return err
	}
	next, err := c.next(a)
	if err != nil {
		return err
	}
	if err := count("count_damaged", &damaged); err != nil {
		return err
	}
	newer, err := c.newerTrigger(a)
	switch {
	case next != nil:
		l.note = fmt.Sprintf("the change to %s is not complete; alike_refresh(%s) continues it", next.Profile, literal(a.Name))
	case l.stale > 0:
		l.note = fmt.Sprintf(plural(l.stale, "%d row was sketched by a build of Alike that makes other tokens, and does not compare; alike_refresh(%s) sketches it again",
			"%d rows were sketched by a build of Alike that makes other tokens, and do not compare; alike_refresh(%s) sketches them again"), l.stale, literal(a.Name))
	case damaged > 0:
		l.note = fmt.Sprintf(plural(damaged, "the sketch of %d row is damaged, and checkins do not compare with it; alike_refresh(%s) sketches the row again",
			"the sketches of %d rows are damaged, and checkins do not compare with them; alike_refresh(%s) sketches these rows again"), damaged, literal(a.Name))
	case a.Clusters > 0 && l.a.waits:
		l.note = fmt.Sprintf("the clusters are not complete, and checkins do not change them; alike_refresh(%s) computes them", literal(a.Name))
	case newer != "":
		l.note = fmt.Sprintf("the trigger %s fires first and can keep rows from being sketched; after alike_refresh(%s) it fires last", newer, literal(a.Name))
	case keyless > 0:
		l.note = fmt.Sprintf(plural(keyless, "%d row has a NULL in its key and is not sketched until it gets a key", "%d rows have a NULL in their key and are not sketched until they get a key"), keyless)
	case err == nil:
		var text string
		if text, err = c.outgrown(a, l.rows); text != "" {
			l.note = text
		} else if a.Layout == layoutColumns && advise.Layout(l.rows) == layoutParts {
			l.note = fmt.Sprintf("a checkin costs more the more rows there are; if checkins are most of the work, alike_attach(%s, %s, '{\"layout\": \"parts\"}') keeps them cheap", literal(a.Name), literal(a.Column))
		}
	}
	return err
}

// short is the option short as attach takes it, or empty.
func (a *attachment) short() string {
	if a.Short == nil {
		return ""
	}
	return fmt.Sprintf(`{"below": %d, "at_least": %g}`, a.Short.Below, a.Short.AtLeast)
}

func plural(n int64, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

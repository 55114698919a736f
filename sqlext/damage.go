package sqlext

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// Somebody can drop a table of ours, and a program or a disk can damage a stored sketch.
// A checkin does not compare with a damaged row, alike_status counts such rows, and
// alike_refresh sketches them again. A question that meets the damage fails, and its error
// says what is damaged and what to do.

// damaged is alike__damaged: whether the sketch of a row is none that the profile makes.
func damaged(c *conn, f *sqlite.Call) error {
	a := f.Args()
	if a[0].Null() { // as it should be in a row without a token
		f.SetBool(a[1].Int() > 0)
		return nil
	}
	s, err := c.rowSettings(&a[2])
	if err != nil {
		return err
	}
	want := s.row.Profile()
	p, err := sketch.ProfileOf(a[0].Bytes())
	p.Tokens = want.Tokens // of another build it is stale, and not damaged
	f.SetBool(a[0].Kind != sqlite.Blob || err != nil || p != want || sketch.Check(a[0].Bytes()) != nil)
	return nil
}

// isDamage tells whether an error says that a sketch cannot be read or is not of the profile.
func isDamage(err error) bool {
	return slices.ContainsFunc([]error{sketch.ErrForeign, sketch.ErrTruncated, sketch.ErrNewer, sketch.ErrDamaged, sketch.ErrProfile}, func(kind error) bool { return errors.Is(err, kind) })
}

// gone is the error about an object that an attachment needs.
func (a *attachment) gone(kind, object string) error {
	return fmt.Errorf("the %s %s of the attachment %s is gone; alike_detach(%s) removes the attachment", kind, object, a.Name, literal(a.Name))
}

// explainErrors makes a function about an attachment explain its errors.
func explainErrors(fn *sqlite.Function) {
	if len(fn.Arguments) == 0 || fn.Arguments[0] != "table" && fn.Arguments[0] != "name" {
		return
	}
	if call := fn.Scalar; call != nil {
		fn.Scalar = func(c *sqlite.Conn, f *sqlite.Call) error {
			err := call(c, f)
			if err != nil {
				err = c.State.(*conn).explained(err, f.Args()[0].Text())
			}
			return err
		}
	}
	if call := fn.Table; call != nil {
		fn.Table = func(c *sqlite.Conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
			source, err := call(c, args, want)
			if err != nil {
				return source, c.State.(*conn).explained(err, args[0].Text())
			}
			if source != nil {
				source = &explainedRows{source, c.State.(*conn), args[0].Text()}
			}
			return source, nil
		}
	}
}

type explainedRows struct {
	sqlite.Source
	c     *conn
	table string
}

func (r *explainedRows) Next(b *sqlite.Batch) (bool, error) {
	more, err := r.Source.Next(b)
	if err != nil {
		err = r.c.explained(err, r.table)
	}
	return more, err
}

// explained is the error of a function about a table, or a better one if an object of ours
// is gone or a sketch is damaged.
func (c *conn) explained(err error, table string) error {
	better := error(nil)
	if coded := (*sqlite.Error)(nil); errors.As(err, &coded) && coded.Code == sqlite.CodeError && !coded.Named {
		better = c.missingObject(coded.Text)
	} else if isDamage(err) {
		better = c.damagedRow(err, table)
	}
	if better != nil {
		return better
	}
	return err
}

// missingObject explains SQLite's error about a table or an index that is not there. Only the
// text tells that error from others: its code is SQLITE_ERROR, with no extended one. A
// connection that remembers the attachment learns from it that the object is gone.
func (c *conn) missingObject(text string) error {
	kind, object, ok := "table", "", false
	if object, ok = strings.CutPrefix(text, "no such table: "); !ok {
		if object, ok = strings.CutPrefix(text, "no such index: "); !ok {
			return nil
		}
		kind = "index"
	}
	schemas, err := c.schemas()
	if err != nil {
		return nil
	}
	for _, schema := range schemas {
		name := strings.TrimPrefix(object, schema+".")
		if kind == "table" && name == object {
			continue
		}
		found, err := c.attachments(schema, inUse)
		if err != nil {
			return nil
		}
		var of *attachment // with the longest name, which may hold the name of another
		for _, a := range found {
			if first := a.Name + "_alike"; (name == first || strings.HasPrefix(name, first+"_")) && (of == nil || len(a.Name) > len(of.Name)) {
				of = a
			}
		}
		there := false
		if of != nil && c.Run("SELECT 1 FROM "+sqlite.Quote(schema)+".sqlite_master WHERE name = ?1 COLLATE NOCASE", func([]sqlite.Value) error { there = true; return nil }, name) == nil && !there {
			if name == of.object("source") {
				kind = "view"
			}
			return of.gone(kind, name)
		}
	}
	return nil
}

// damagedRow names a row whose sketch is damaged.
func (c *conn) damagedRow(err error, table string) (better error) {
	ref, lost := parseReference(table)
	if lost != nil {
		return nil
	}
	a, lost := c.findAny(ref)
	if lost != nil {
		return nil
	}
	if c.Run(a.sql("first_damaged"), func(r []sqlite.Value) error {
		better = fmt.Errorf("the sketch of row %s of %s is damaged (%s); alike_refresh(%s) sketches the row again", r[0].String(), a.Name, strings.TrimPrefix(err.Error(), "sketch: "), literal(a.Name))
		return nil
	}) != nil {
		return nil
	}
	return better
}

package sqlext

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// fillBatch is how many rows one statement brings up to date: often enough for
// the progress and for others who want to write, seldom enough for the disk.
const fillBatch = 5000

// refresh is alike_refresh.
func refresh(c *conn, f *frame) error {
	a, err := c.find(&f.args()[0])
	if err != nil {
		return err
	}
	if a, err = c.adopt(a); err != nil {
		return err
	}
	n, err := c.fill(a)
	if err != nil {
		return err
	}
	// A change of profile that was interrupted.
	next, err := c.findReference(reference{a.schemaName, a.Name}, "state = 'next' AND name = "+literal(a.Name))
	if err == nil {
		if next, err = c.adopt(next); err != nil {
			return err
		}
		more, err := c.fill(next)
		if err != nil {
			return err
		}
		n += more
	}
	f.setInt(n)
	return nil
}

// adopt completes an attachment from the registry with what its table is now.
func (c *conn) adopt(a *attachment) (*attachment, error) {
	now, err := c.tableNow(a)
	if err != nil {
		return nil, err
	}
	if now == "" {
		return nil, fmt.Errorf("the table %s of the attachment %s is gone; alike_detach(%s) ends it", a.Table, a.Name, literal(a.Name))
	}
	t, err := c.findTable(reference{a.schemaName, now})
	if err != nil {
		return nil, err
	}
	adopted := *a
	adopted.Table, adopted.Uniques = t.name, t.uniques
	adopted.Column = c.columnNow(a, t)
	if _, err := t.column(adopted.Column); err != nil {
		return nil, fmt.Errorf("the column %s of %s, attached as %s, is gone; alike_detach(%s) ends it", a.Column, now, a.Name, literal(a.Name))
	}
	adopted.Keys, err = a.keysNow(t)
	return &adopted, err
}

// keysNow is the key as the table has it now. A column that was renamed keeps
// its name in our tables.
func (a *attachment) keysNow(t *table) ([]key, error) {
	if len(t.keys) != len(a.Keys) || t.keyIsRowid != a.KeyIsRowid {
		return nil, fmt.Errorf("the key of %s is not what it was when %s was attached; detach it and attach it again", t.name, a.Name)
	}
	keys := slices.Clone(t.keys)
	for i := range keys {
		keys[i].Name = a.Keys[i].Name
	}
	return keys, nil
}

// fill brings every row up to date and finishes what attach began. It returns
// how many rows it computed, or removed because their document is gone.
func (c *conn) fill(a *attachment) (int64, error) {
	if a.State == stateReady && a.Mode == "queue" {
		n, err := c.drain(a)
		if err != nil {
			return n, err
		}
		more, err := c.sweep(a, false)
		return n + more, err
	}
	n, err := c.sweep(a, true)
	if err != nil || a.State == stateReady {
		return n, err
	}
	for i, column := range append(a.Features(), a.Indexes()...) {
		c.progress(a, fmt.Sprintf("index %d of %d", i+1, len(a.Features())+len(a.Indexes())), 1)
		item := *a
		item.Item = column
		if err := c.exec(item.sql("index")); err != nil {
			return n, err
		}
	}
	more, err := c.finish(a)
	c.progress(a, "", 0)
	return n + more, err
}

// finish makes a filled side table the one in use, in one transaction.
func (c *conn) finish(a *attachment) (n int64, err error) {
	err = c.atomically(func() error {
		ready := *a
		ready.State, ready.stamp = stateReady, rand.Int64()
		if a.State == stateNext {
			// Whatever changed while it was built.
			if n, err = c.sweep(a, true); err != nil {
				return err
			}
			if err := c.replace(a, &ready); err != nil {
				return err
			}
			// Rows that another condition leaves out.
			if err := c.run("DELETE FROM "+a.In(a.Match())+" WHERE NOT EXISTS (SELECT 1 FROM "+ready.In(ready.Side())+" s WHERE "+a.Same("s", a.In(a.Match()))+
				") OR NOT EXISTS (SELECT 1 FROM "+ready.In(ready.Side())+" s WHERE "+a.SameOther(a.In(a.Match()), "s")+")", nil); err != nil {
				return err
			}
		}
		if err := c.run("DELETE FROM "+a.Schema()+".alike_attachment WHERE name = ?1", nil, a.Name); err != nil {
			return err
		}
		if err := c.exec(ready.sql("match")); err != nil {
			return err
		}
		return c.register(&ready, true)
	})
	return n, err
}

// replace puts the side table of a change in the place of the one before.
func (c *conn) replace(next, ready *attachment) error {
	if err := c.dropTriggers(ready); err != nil {
		return err
	}
	for _, view := range []string{"pair", "feature", "source"} {
		if err := c.exec("DROP VIEW IF EXISTS " + ready.In(ready.Object(view))); err != nil {
			return err
		}
	}
	// The legacy rename leaves views of the user's on the side table alone, which
	// are to mean the new one.
	legacy := ""
	if err := c.run("PRAGMA legacy_alter_table", func(row []value) error {
		legacy = fmt.Sprint(row[0].i)
		return nil
	}); err != nil {
		return err
	}
	err := c.exec("PRAGMA legacy_alter_table = ON; DROP TABLE " + ready.In(ready.Side()) + "; DROP VIEW " + next.In(next.Source()) +
		"; ALTER TABLE " + next.In(next.Side()) + " RENAME TO " + ready.Side())
	if restored := c.exec("PRAGMA legacy_alter_table = " + legacy); err == nil {
		err = restored
	}
	if err != nil {
		return err
	}
	return c.exec(ready.sourceView() + ready.sql("views"))
}

// sourceView makes the view over the documents alone.
func (a attachment) sourceView() string {
	_, view, _ := strings.Cut(a.sql("side"), "CREATE VIEW")
	return "CREATE VIEW" + view
}

// sweep compares every document with its row, batch by batch in the order of
// the key, and removes the rows without a document.
func (c *conn) sweep(a *attachment, verify bool) (int64, error) {
	var total int64
	if err := c.run("SELECT count(*) FROM "+a.In(a.Source()), func(row []value) error {
		total = row[0].i
		return nil
	}); err != nil {
		return 0, err
	}
	first := *a
	first.Verify = verify
	if err := c.run("DELETE FROM "+a.In(a.Side())+" WHERE NOT EXISTS (SELECT 1 FROM "+a.In(a.Source())+" s WHERE "+a.Same("s", a.In(a.Side()))+")", nil); err != nil {
		return 0, err
	}
	changed := c.changes()
	bound := func(from int) string {
		b := first
		b.from = from
		return fmt.Sprintf("SELECT %s FROM %s s WHERE %s ORDER BY %s LIMIT 1 OFFSET %d", a.KeyList("s"), a.In(a.Source()), b.Range("s"), a.KeyList("s"), fillBatch-1)
	}
	var low []any
	for seen := int64(0); ; seen += fillBatch {
		batch := first
		batch.from = len(low)
		var high []any
		if err := c.run(bound(len(low)), func(row []value) error {
			high = owned(row)
			return nil
		}, low...); err != nil {
			return changed, err
		}
		batch.upto = len(high)
		c.progress(a, "rows", float64(seen)/float64(max(total, 1)))
		// Where nothing is, there is nothing to compare with.
		if err := c.run("SELECT NOT EXISTS (SELECT 1 FROM "+a.In(a.Side())+" s WHERE "+batch.Range("s")+")", func(row []value) error {
			batch.Fresh = row[0].i != 0
			return nil
		}, append(low[:len(low):len(low)], high...)...); err != nil {
			return changed, err
		}
		err := c.run(batch.sql("fill"), nil, append(low[:len(low):len(low)], high...)...)
		var coded *sqlError
		if errors.As(err, &coded) && coded.code == codeError {
			var n int64
			n, err = c.oneByOne(&batch, append(low[:len(low):len(low)], high...))
			changed += n
		} else if err == nil {
			changed += c.changes()
		}
		if err != nil {
			return changed, err
		}
		if high == nil {
			break
		}
		low = high
	}
	c.progress(a, "", 0)
	return changed, c.settleErrors(a)
}

// settleErrors forgets the errors of rows that are computed by now, or gone.
func (c *conn) settleErrors(a *attachment) error {
	errs := a.Schema() + ".alike_error"
	return c.run("DELETE FROM "+errs+" WHERE name = ?1 AND (key IN (SELECT "+a.KeyOut("")+" FROM "+a.In(a.Side())+") OR key NOT IN (SELECT "+a.KeyOut("")+" FROM "+a.In(a.Source())+"))", nil, a.Name)
}

// owned copies a row, which SQLite takes back at the next step.
func owned(row []value) []any {
	list := make([]any, len(row))
	for i := range row {
		switch v := &row[i]; v.kind {
		case typeInteger:
			list[i] = v.i
		case typeFloat:
			list[i], _ = v.number()
		case typeText:
			list[i] = v.text()
		case typeBlob:
			list[i] = append([]byte{}, v.bytes()...)
		}
	}
	return list
}

// drain brings the rows of the queue up to date, with the policy that the
// trigger would have followed.
func (c *conn) drain(a *attachment) (changed int64, err error) {
	one, err := c.checkin(a, a.Policy)
	if err != nil {
		return 0, err
	}
	defer one.close()
	for {
		var keys [][]any
		err := c.run(fmt.Sprintf("SELECT %s FROM %s ORDER BY queued_at LIMIT %d", a.KeyList(""), a.In(a.Queue()), fillBatch), func(row []value) error {
			keys = append(keys, owned(row))
			return nil
		})
		if err != nil || len(keys) == 0 {
			return changed, err
		}
		c.progress(a, fmt.Sprintf("%d queued rows", len(keys)), 0)
		err = c.atomically(func() error {
			for _, key := range keys {
				if ok, err := one.row(key); err != nil {
					return err
				} else if ok {
					changed++
				}
				if err := c.run("DELETE FROM "+a.In(a.Queue())+" WHERE "+a.KeyIs("", "?"), nil, key...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return changed, err
		}
	}
}

// oneByOne does what a batch failed to do row by row, and notes the rows that
// cannot be computed.
func (c *conn) oneByOne(batch *attachment, bounds []any) (done int64, err error) {
	var keys [][]any
	query := batch.sql("stale")
	if err := c.run(query, func(row []value) error {
		keys = append(keys, owned(row))
		return nil
	}, bounds...); err != nil {
		return 0, err
	}
	one, err := c.checkin(batch, "ignore")
	if err != nil {
		return 0, err
	}
	defer one.close()
	err = c.atomically(func() error {
		for _, key := range keys {
			ok, err := one.row(key)
			if err != nil {
				return err
			}
			if ok {
				done++
			}
		}
		return nil
	})
	return done, err
}

// checkin is the trigger's work on one row at a time, outside of the trigger.
type checkin struct {
	c     *conn
	a     *attachment
	steps []*statement
}

func (c *conn) checkin(a *attachment, policy string) (*checkin, error) {
	with := *a
	with.Mode, with.Policy = "compute", policy
	one := &checkin{c: c, a: a}
	for _, step := range strings.Split(with.sql("one"), ";\n") {
		if step = strings.TrimSpace(step); step == "" || strings.HasPrefix(step, "--") && !strings.Contains(step, "\n") {
			continue
		}
		s, err := c.prepare(step)
		if err != nil {
			one.close()
			return nil, err
		}
		one.steps = append(one.steps, s)
	}
	return one, nil
}

func (one *checkin) close() {
	for _, s := range one.steps {
		s.close()
	}
}

// row checks a row in. A row whose document gives an error is noted, and the
// others go on.
func (one *checkin) row(key []any) (ok bool, err error) {
	failed := one.c.atomically(func() error {
		for _, s := range one.steps {
			if err := s.each(nil, key...); err != nil {
				s.reset()
				return err
			}
			s.reset()
		}
		return nil
	})
	a := one.a
	name, err := keyText(key)
	if err != nil {
		return false, err
	}
	if failed == nil {
		return true, one.c.run("DELETE FROM "+a.Schema()+".alike_error WHERE name = ?1 AND key = ?2", nil, a.Name, name)
	}
	var coded *sqlError
	if !errors.As(failed, &coded) || coded.code != codeError {
		return false, failed
	}
	if err := one.c.run("DELETE FROM "+a.In(a.Side())+" WHERE "+a.KeyIs("", "?"), nil, key...); err != nil {
		return false, err
	}
	return false, one.c.run("INSERT INTO "+a.Schema()+".alike_error VALUES (?1, ?2, ?3, 1, CAST(strftime('%s', 'now') AS INTEGER))"+
		" ON CONFLICT (name, key) DO UPDATE SET message = excluded.message, attempts = attempts + 1, failed_at = excluded.failed_at", nil, a.Name, name, failed.Error())
}

// hexadecimal begins a blob in the JSON array of a key, as PostgreSQL writes a bytea.
const hexadecimal = `\x`

// keyText is a key as one value: itself, or a JSON array of several columns.
func keyText(key []any) (any, error) {
	if len(key) == 1 {
		return key[0], nil
	}
	list := make([]any, len(key))
	for i, v := range key {
		if b, ok := v.([]byte); ok {
			v = hexadecimal + hex.EncodeToString(b)
		}
		list[i] = v
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // as json_array writes it
	err := encoder.Encode(list)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// progress tells a person at a terminal how far a fill is, on one line that is
// drawn again and again. Elsewhere it says nothing.
func (c *conn) progress(a *attachment, what string, share float64) {
	if !atTerminal() {
		return
	}
	if what == "" {
		if c.drawn {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
			c.drawn = false
		}
		return
	}
	if now := time.Now(); c.drawn && now.Sub(c.drawnAt) < 100*time.Millisecond {
		return
	} else {
		c.drawnAt, c.drawn = now, true
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %s %3.0f %%", a.Name, what, 100*share)
}

// atTerminal is a variable for the tests.
var atTerminal = func() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// mark is alike_mark: a person's verdict on a pair, or none, which withdraws it. It gives the verdict.
func mark(c *conn, f *sqlite.Call) error {
	args := f.Args()
	for i := range 4 {
		if args[i].Null() {
			return nil
		}
	}
	a, err := c.find(&args[0])
	if err != nil {
		return err
	}
	verdict := args[3].Text()
	if args[3].Kind != sqlite.Text || verdict != "duplicate" && verdict != "distinct" && verdict != "none" {
		return fmt.Errorf("the verdict is %s, want duplicate, distinct or none", args[3].Describe())
	}
	x, err := c.storedKey(a, &args[1])
	if err != nil {
		return err
	}
	y, err := c.storedKey(a, &args[2])
	if err != nil {
		return err
	}
	order, same := false, false
	if err := c.Run(a.sql("order_of_keys"), func(row []sqlite.Value) error {
		order, same = row[0].Int() != 0, row[1].Int() != 0
		return nil
	}, append(append([]any{}, x...), y...)...); err != nil {
		return err
	}
	if same {
		return fmt.Errorf("both keys name the same row")
	}
	if order {
		x, y = y, x
	}
	var note any
	if len(args) > 4 && !args[4].Null() {
		note = &args[4]
	}
	var rows []int64
	for _, key := range [][]any{x, y} {
		o, err := c.subject(a, key)
		if err != nil {
			return err
		}
		if o != nil {
			rows = append(rows, o.row)
		}
	}
	err = c.Atomically(func() error {
		return c.changeClusters(a, rows, func() error { return c.writeMark(a, x, y, verdict, note) })
	})
	f.SetText(verdict)
	return err
}

// writeMark writes a verdict, or withdraws it.
func (c *conn) writeMark(a *attachment, x, y []any, verdict string, note any) error {
	if err := c.Run(a.sql("unmark"), nil, append(append([]any{}, y...), x...)...); err != nil {
		return err
	}
	if verdict == "none" {
		return c.Run(a.sql("unmark"), nil, append(append([]any{}, x...), y...)...)
	}
	return c.Run(a.sql("mark"), nil, append(append(append([]any{}, x...), y...), verdict, note)...)
}

// verdicts are the pairs that people have judged, by rows, the lesser first.
func (c *conn) verdicts(a *attachment) (map[[2]int64]bool, error) {
	var marks map[[2]int64]bool
	err := c.Run(a.sql("marks"), func(row []sqlite.Value) error {
		if marks == nil {
			marks = map[[2]int64]bool{}
		}
		marks[[2]int64{min(row[0].Int(), row[1].Int()), max(row[0].Int(), row[1].Int())}] = row[2].Int() != 0
		return nil
	})
	return marks, err
}

package sqlext

import (
	"fmt"
	"strings"
)

// mark is alike_mark: a person's verdict on a pair. It gives the verdict.
func mark(c *conn, f *frame) error {
	args := f.args()
	for i := range 4 {
		if args[i].null() {
			return nil
		}
	}
	a, err := c.find(&args[0])
	if err != nil {
		return err
	}
	verdict := args[3].text()
	if args[3].kind != typeText || verdict != "duplicate" && verdict != "distinct" {
		return fmt.Errorf("the verdict is %s, want duplicate or distinct", args[3].describe())
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
	marks := "?" + strings.Repeat(", ?", len(x)-1)
	pair := append(append([]any{}, x...), y...)
	if err := c.run(fmt.Sprintf("SELECT (%[1]s) > (%[1]s), (%[1]s) IS (%[1]s)", marks), func(row []value) error {
		order, same = row[0].i != 0, row[1].i != 0
		return nil
	}, append(append([]any{}, pair...), pair...)...); err != nil {
		return err
	}
	if same {
		return fmt.Errorf("both keys name the same row")
	}
	if order {
		x, y = y, x
	}
	var note any
	if len(args) > 4 && !args[4].null() {
		note = &args[4]
	}
	// A key that changed since may have left the pair the other way round.
	columns := strings.Repeat("?, ", 2*len(x))
	if err := c.run("DELETE FROM "+a.In(a.Mark())+" WHERE ("+a.KeyList("")+", "+a.Others("")+") = ("+strings.TrimSuffix(columns, ", ")+")",
		nil, append(append([]any{}, y...), x...)...); err != nil {
		return err
	}
	err = c.run("INSERT OR REPLACE INTO "+a.In(a.Mark())+" VALUES ("+columns+"?, ?, CAST(strftime('%s', 'now') AS INTEGER), NULL)",
		nil, append(append(append([]any{}, x...), y...), verdict, note)...)
	f.setText(verdict)
	return err
}

// storedKey is a key as the table has it, converted to its column's type.
func (c *conn) storedKey(a *attachment, v *value) ([]any, error) {
	key, err := a.keyArgs(v)
	if err != nil {
		return nil, err
	}
	var stored []any
	err = c.run("SELECT "+a.KeyList("")+" FROM "+a.In(a.Source())+" WHERE "+a.KeyIs("", "?"), func(row []value) error {
		stored = owned(row)
		return nil
	}, key...)
	if err == nil && stored == nil {
		err = fmt.Errorf("%s has no row %s", a.Table, v.plain())
	}
	return stored, err
}

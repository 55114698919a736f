package sqlext

import (
	"cmp"
	"slices"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// hotRows is how many rows must share a feature to be suspicious.
const hotRows = 10

// hot is alike_hot.
func hot(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	type feature struct {
		slot       int
		value, row int64
		rows       int64
		key        any
	}
	var list []feature
	for i, column := range a.Features() {
		s, err := c.ask(a, "hot", column)
		if err != nil {
			return nil, err
		}
		err = s.Each(func(row []sqlite.Value) error {
			list = append(list, feature{slot: i + 1, value: row[0].Int(), rows: row[1].Int(), row: row[2].Int()})
			return nil
		}, hotRows)
		s.Done()
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(x, y feature) int {
		return cmp.Or(cmp.Compare(y.rows, x.rows), cmp.Compare(x.slot, y.slot), cmp.Compare(x.value, y.value))
	})
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.Done()
	for i := range list {
		fetch.Reset()
		if err := fetch.Each(func(r []sqlite.Value) (err error) {
			list[i].key, err = keyValue(sqlite.Copies(r[:len(a.Keys)]))
			return err
		}, list[i].row); err != nil {
			return nil, err
		}
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetInt(int64(list[i].slot))
		cells[1].SetInt(list[i].value)
		cells[2].SetInt(list[i].rows)
		b.SetAny(&cells[3], list[i].key)
	}), nil
}

package sqlext

import (
	"cmp"
	"slices"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// hotRows is how many rows must share a feature to be suspicious.
const hotRows = 10

// hotFeature is a feature that many rows share, and the first of them.
type hotFeature struct {
	slot       int
	value, row int64
	rows       int64
	key        any
}

func (c *conn) hotInColumns(a *attachment) (list []hotFeature, err error) {
	for i, column := range a.Features() {
		s, err := c.ask(a, "hot", column)
		if err != nil {
			return nil, err
		}
		err = s.Each(func(row []sqlite.Value) error {
			list = append(list, hotFeature{slot: i + 1, value: row[0].Int(), rows: row[1].Int(), row: row[2].Int()})
			return nil
		}, hotRows)
		s.Done()
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// hotInParts looks at the rows that entries name: an entry does not tell the slot, and may
// not be true any more.
func (c *conn) hotInParts(a *attachment) (list []hotFeature, err error) {
	var run documents
	return list, c.runs(a, "", make([]int64, 2*1024), func(value int64, rows []int64) error {
		if len(rows) < hotRows {
			return nil
		}
		if err := c.Interrupted(); err != nil {
			return err
		}
		if err := c.readDocuments(a, &run, rows, true); err != nil {
			return err
		}
		for slot := range run.k {
			f := hotFeature{slot: slot + 1, value: value}
			for i := range rows {
				if run.has[i]>>slot&1 != 0 && run.features[i*run.k+slot] == value {
					if f.rows++; f.rows == 1 {
						f.row = rows[i]
					}
				}
			}
			if f.rows >= hotRows {
				list = append(list, f)
			}
		}
		return nil
	})
}

// hot is alike_hot.
func hot(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	var list []hotFeature
	if a.InParts() {
		list, err = c.hotInParts(a)
	} else {
		list, err = c.hotInColumns(a)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(x, y hotFeature) int {
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

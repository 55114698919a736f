package sqlext

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch/advise"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// adviceColumns are the columns of alike_advise.
var adviceColumns = []string{"preset", "chosen", "at_least", "expected", "recall", "pairs", "edited", "same", "answers", "candidates", "bytes", "seconds", "layout", "settings", "reason", "curve", "only", "missed"}

// advice is alike_advise: the presets side by side on a sample of a column.
func advice(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	for i, what := range []string{"table", "column"} {
		if args[i].Null() {
			return nil, nil
		} else if args[i].Kind != sqlite.Text {
			return nil, fmt.Errorf("the %s is %s, want a name", what, args[i].Describe())
		}
	}
	ref, err := parseReference(args[0].Text())
	if err != nil {
		return nil, err
	}
	t, err := c.findTable(ref)
	if err != nil {
		return nil, err
	}
	column, err := t.column(args[1].Text())
	if err != nil {
		return nil, err
	}
	texts, rows, err := c.sample(t, column)
	if err != nil {
		return nil, err
	}
	list, reason, err := advise.Presets(texts, rows, c.Interrupted)
	if err != nil {
		return nil, err
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		row := list[i].Row(reason)
		for n, name := range adviceColumns {
			switch v := row[name].(type) {
			case bool:
				b.SetAny(&cells[n], map[bool]int64{true: 1}[v])
			case int:
				b.SetAny(&cells[n], int64(v))
			case []advise.Point, []advise.Pair:
				text, err := json.Marshal(v)
				if err != nil {
					panic(err) // numbers and texts
				}
				b.SetAny(&cells[n], string(text))
			default:
				b.SetAny(&cells[n], v)
			}
		}
	}), nil
}

// sampleBlocks is at how many places of a table a sample is taken, neighbours together:
// what was put in together is often alike.
const sampleBlocks = 50

// sample reads texts from all over a table, and how many rows it has.
func (c *conn) sample(t *table, column string) (texts []string, rows int64, err error) {
	name, document := sqlite.Quote(t.schema)+"."+sqlite.Quote(t.name), sqlite.Quote(column)
	document = "CASE WHEN typeof(" + document + ") IN ('integer', 'real') THEN CAST(" + document + " AS TEXT) ELSE " + document + " END"
	if err := c.Run("SELECT count(*) FROM "+name, func(row []sqlite.Value) error { rows = row[0].Int(); return nil }); err != nil {
		return nil, 0, err
	}
	bytes := 0
	take := func(v *sqlite.Value) {
		if !v.Null() && !advise.Enough(len(texts), bytes) {
			texts, bytes = append(texts, v.Text()), bytes+v.Len()
		}
	}
	rowid := rowidName(func(name string) bool {
		return slices.ContainsFunc(t.columns, func(other string) bool { return strings.EqualFold(other, name) })
	})
	if t.keys.Rowid() {
		rowid = t.keys[0].Expr
	}
	if rows > advise.MaxTexts && rowid != "" {
		s, err := c.Prepare("SELECT " + rowid + ", " + document + " FROM " + name + " WHERE " + rowid + " >= ?1 ORDER BY " + rowid + " LIMIT " + fmt.Sprint(advise.MaxTexts/sampleBlocks))
		if err == nil { // else a table without rowids
			defer s.Close()
			var lowest, highest int64
			if err := c.Run("SELECT min("+rowid+"), max("+rowid+") FROM "+name, func(row []sqlite.Value) error {
				lowest, highest = row[0].Int(), row[1].Int()
				return nil
			}); err != nil {
				return nil, 0, err
			}
			for block := range sampleBlocks {
				// Rowids may lie anywhere in 64 bits.
				from := max(lowest, int64(float64(lowest)*float64(sampleBlocks-block)/sampleBlocks+float64(highest)*float64(block)/sampleBlocks))
				last := int64(math.MinInt64)
				s.Reset()
				if err := s.Each(func(row []sqlite.Value) error {
					last = row[0].Int()
					take(&row[1])
					return nil
				}, from); err != nil {
					return nil, 0, err
				}
				if last < math.MaxInt64 {
					lowest = max(lowest, last+1)
				}
			}
			return texts, rows, nil
		} else if forbidden(err) {
			return nil, 0, err
		}
	}
	err = c.Run("SELECT "+document+" FROM "+name+" LIMIT ?1", func(row []sqlite.Value) error { take(&row[0]); return nil }, advise.MaxTexts)
	return texts, rows, err
}

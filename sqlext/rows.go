package sqlext

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// answer is a row that a question found.
type answer struct {
	row         int64
	key         any
	shared      int
	bounds      sketch.Interval
	containment float64
	sampled     bool // of the row that was asked about, so that containment tells something
}

// subject is the row that a question is about.
type subject struct {
	row      int64
	sketch   []byte
	features []any
	verdicts map[int64]bool // of people: whether another row is a duplicate
	checkin  bool           // which leaves out rows whose sketches are damaged; a question fails
}

// subject reads the row of a key; it is nil when it has no sketch.
func (c *conn) subject(a *attachment, key []any) (*subject, error) {
	o, err := c.anySubject(a, key)
	if o != nil && o.sketch == nil {
		o = nil
	}
	return o, err
}

// anySubject is subject, whether the row has a sketch or not.
func (c *conn) anySubject(a *attachment, key []any) (*subject, error) {
	var o *subject
	if err := c.each(a, "subject", func(row []sqlite.Value) error {
		o = &subject{row: row[0].Int(), features: sqlite.Copies(row[2:])}
		if !row[1].Null() {
			o.sketch = append([]byte{}, row[1].Bytes()...)
		}
		return nil
	}, key...); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, c.missing(a, key)
	}
	err := c.each(a, "verdicts", func(row []sqlite.Value) error {
		if o.verdicts == nil {
			o.verdicts = map[int64]bool{}
		}
		o.verdicts[row[0].Int()] = row[1].Text() == "duplicate"
		return nil
	}, key...)
	return o, err
}

// nearest finds the rows alike to o, best first, and no more than limit
// unless that is negative. A candidate shares a feature; the judge decides.
func (c *conn) nearest(a *attachment, j *judge, o *subject, atLeast float64, limit int64) ([]answer, error) {
	probe, err := c.ask(a, "probe", "")
	if err != nil {
		return nil, err
	}
	var list []answer
	err = probe.Each(func(row []sqlite.Value) error {
		if row[0].Int() != o.row && row[1].Int() > 0 {
			list = append(list, answer{row: row[0].Int(), shared: int(row[1].Int())})
		}
		return nil
	}, o.features...)
	probe.Done()
	if err != nil {
		return nil, err
	}
	for row, duplicate := range o.verdicts {
		if duplicate && !slices.ContainsFunc(list, func(x answer) bool { return x.row == row }) {
			list = append(list, answer{row: row})
		}
	}
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.Done()
	kept := list[:0]
	for i, x := range list {
		duplicate, judged := o.verdicts[x.row]
		if judged && !duplicate {
			continue
		}
		if i%1024 == 1023 {
			if err := c.Interrupted(); err != nil {
				return nil, err
			}
		}
		fetch.Reset()
		err := fetch.Each(func(row []sqlite.Value) error {
			theirs, threshold := row[len(a.Keys)].Bytes(), atLeast
			if duplicate {
				threshold = 0
			}
			var ok bool
			var err error
			if x.bounds, ok, err = j.Compare(o.row, x.row, o.sketch, theirs, threshold); !ok {
				if o.checkin && isDamage(err) {
					return nil
				}
				return err
			}
			if a.contains() {
				if x.containment, x.sampled, err = sketch.Containment(o.sketch, theirs); err != nil {
					return err
				}
			}
			if x.key, err = keyValue(sqlite.Copies(row[:len(a.Keys)])); err != nil {
				return err
			}
			kept = append(kept, x)
			return nil
		}, x.row)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(kept, func(x, y answer) int {
		return cmp.Or(cmp.Compare(y.bounds.Estimate, x.bounds.Estimate), cmp.Compare(y.shared, x.shared), cmp.Compare(x.row, y.row))
	})
	if limit >= 0 && int64(len(kept)) > limit {
		kept = kept[:limit]
	}
	return kept, nil
}

func (c *conn) answers(a *attachment, list []answer) sqlite.Source {
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		x := &list[i]
		b.SetAny(&cells[0], x.key)
		cells[1].SetInt(int64(x.shared))
		cells[2].SetFloat(x.bounds.Estimate)
		cells[3].SetFloat(x.bounds.Low)
		cells[4].SetFloat(x.bounds.High)
		if x.sampled {
			cells[5].SetFloat(x.containment)
		}
	})
}

// rows is alike_rows.
func rows(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	limit, err := a.limit(&args[2])
	if err != nil || args[1].Null() {
		return nil, err
	}
	key, err := a.Keys.arguments(&args[1])
	if err != nil {
		return nil, err
	}
	o, err := c.subject(a, key)
	if o == nil || err != nil {
		return nil, err
	}
	j, err := c.judge(a, limit.said)
	if err != nil {
		return nil, err
	}
	list, err := c.nearest(a, j, o, limit.atLeast, want.Limit)
	return c.answers(a, list), err
}

// rowsLike is alike_rows_like.
func rowsLike(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	limit, err := a.limit(&args[2])
	if err != nil || args[1].Null() {
		return nil, err
	}
	if a.elsewhere() {
		return nil, errors.New(otherBuild(a.Name))
	}
	s, err := c.settingsOf(a)
	if err != nil {
		return nil, err
	}
	text := s.document(args[1].Bytes())
	row, err := s.row.Row(0, text)
	if err != nil || row.Shingles == 0 {
		return nil, err
	}
	// No row has the smallest rowid, so none is taken for the row itself.
	o := &subject{row: math.MinInt64, sketch: bytes.Clone(row.Sketch), features: make([]any, a.profile.K)}
	for _, f := range row.Features {
		o.features[f.Slot] = f.Value
	}
	j, err := c.judge(a, limit.said)
	if err == nil {
		j.Size(o.row, row.Shingles)
		err = j.Give(o.row, text)
	}
	if err != nil {
		return nil, err
	}
	list, err := c.nearest(a, j, o, limit.atLeast, want.Limit)
	return c.answers(a, list), err
}

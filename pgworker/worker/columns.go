package worker

import (
	"strconv"

	"github.com/alike-sql/alike/sketch/aspect"
)

// columns collects rows for unnest, an array a column.
type columns struct {
	keys     []string
	versions []*string
	profile  []int16
	hash     []int64
	shingles []int64
	sketch   [][]byte
	features [][]*int64 // and after them the superfeatures
	indexes  [][]*int64
	passages []*string // each as an array of PostgreSQL
}

func (a *attachment) newColumns() *columns {
	return &columns{features: make([][]*int64, a.profile.K+a.superfeatures), indexes: make([][]*int64, len(a.variants))}
}

func (cs *columns) add(a *attachment, key string, version *string, r *aspect.Row) {
	cs.keys = append(cs.keys, key)
	cs.versions = append(cs.versions, version)
	cs.profile = append(cs.profile, a.profileID)
	cs.hash = append(cs.hash, r.ContentHash)
	cs.shingles = append(cs.shingles, r.Shingles)
	var stored []byte
	if len(r.Sketch) > 0 {
		stored = append(stored, r.Sketch...)
	}
	cs.sketch = append(cs.sketch, stored)
	values := make([]int64, 0, len(r.Features)+len(r.Superfeatures)+len(r.Indexes))
	kept := func(v int64) *int64 {
		values = append(values, v)
		return &values[len(values)-1]
	}
	for i := range cs.features {
		cs.features[i] = append(cs.features[i], nil)
	}
	for _, f := range r.Features {
		cs.features[f.Slot][len(cs.keys)-1] = kept(f.Value)
	}
	for _, f := range r.Superfeatures {
		cs.features[a.profile.K+f.Slot][len(cs.keys)-1] = kept(f.Value)
	}
	for i, x := range r.Indexes {
		var p *int64
		if x.Valid {
			p = kept(x.Value)
		}
		cs.indexes[i] = append(cs.indexes[i], p)
	}
	if a.contains {
		cs.passages = append(cs.passages, spelledArray(r.Passages))
	}
}

// spelledArray is how PostgreSQL spells an array of numbers; nil when there are none.
func spelledArray(values []int64) *string {
	if len(values) == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, v, 10)
	}
	text := string(append(b, '}'))
	return &text
}

// arguments are those of the statement write.
func (cs *columns) arguments() []any {
	args := []any{cs.keys, cs.profile, cs.hash, cs.shingles, cs.sketch}
	for _, f := range cs.features {
		args = append(args, f)
	}
	for _, x := range cs.indexes {
		args = append(args, x)
	}
	if cs.passages != nil {
		args = append(args, cs.passages)
	}
	return args
}

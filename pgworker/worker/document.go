package worker

import (
	"context"
	"fmt"

	"github.com/alike-sql/alike/sketch"
)

// A computer turns the documents of one attachment into the columns of the
// side table. It is used by one goroutine.
type computer struct {
	w        *Worker
	a        *attachment
	sketcher *sketch.Sketcher
	features []sketch.Feature
}

// computed is a row of the side table but for its key. Slices are reused by
// the next document.
type computed struct {
	hash     int64
	shingles int64
	sketch   []byte
	features []sketch.Feature
	indexes  []index
}

type index struct {
	value int64
	ok    bool
}

func (w *Worker) newComputer(a *attachment) (*computer, error) {
	s, err := sketch.NewSketcher(a.profile)
	if err != nil {
		return nil, err
	}
	return &computer{w: w, a: a, sketcher: s}, nil
}

// tooLarge is the error of a document that was not even read.
func (c *computer) tooLarge(size int64) error {
	return fmt.Errorf("the document has %d bytes, the limit is %d", size, c.w.config.MaxDocument)
}

// compute fills in r, but for its hash, which is that of the bytes as stored.
func (c *computer) compute(ctx context.Context, r *computed, doc []byte, media string) error {
	if c.a.mediaFrom == "" {
		media = c.a.media
	}
	if media != "" || c.a.mediaFrom != "" {
		text, err := c.w.extractor.Text(ctx, doc, media)
		if err != nil {
			return err
		}
		doc = text
	}
	c.sketcher.Reset()
	c.sketcher.Document(doc)
	r.shingles = c.sketcher.Shingles()
	r.sketch = c.sketcher.AppendSketch(r.sketch[:0])
	c.features = c.sketcher.AppendFeatures(c.features[:0])
	r.features = c.features
	r.indexes = r.indexes[:0]
	for _, v := range c.a.variants {
		i, ok := v.IndexOf(c.sketcher, doc)
		r.indexes = append(r.indexes, index{i, ok})
	}
	return nil
}

// columns collects rows for unnest, an array a column.
type columns struct {
	keys     []string
	versions []*string
	profile  []int16
	hash     []int64
	shingles []int64
	sketch   [][]byte
	features [][]*int64
	indexes  [][]*int64
}

func (a *attachment) newColumns() *columns {
	return &columns{features: make([][]*int64, a.profile.K), indexes: make([][]*int64, len(a.variants))}
}

func (cs *columns) add(a *attachment, key string, version *string, r *computed) {
	cs.keys = append(cs.keys, key)
	cs.versions = append(cs.versions, version)
	cs.profile = append(cs.profile, a.profileID)
	cs.hash = append(cs.hash, r.hash)
	cs.shingles = append(cs.shingles, r.shingles)
	var stored []byte
	if len(r.sketch) > 0 {
		stored = append(stored, r.sketch...)
	}
	cs.sketch = append(cs.sketch, stored)
	values := make([]int64, len(r.features)+len(r.indexes))
	for i := range cs.features {
		cs.features[i] = append(cs.features[i], nil)
	}
	for i, f := range r.features {
		values[i] = f.Value
		cs.features[f.Slot][len(cs.keys)-1] = &values[i]
	}
	for i, x := range r.indexes {
		var p *int64
		if x.ok {
			values[len(r.features)+i] = x.value
			p = &values[len(r.features)+i]
		}
		cs.indexes[i] = append(cs.indexes[i], p)
	}
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
	return args
}

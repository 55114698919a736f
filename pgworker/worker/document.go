package worker

import (
	"context"
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// A computer turns the documents of one attachment into the columns of the
// side table. It is used by one goroutine.
type computer struct {
	w   *Worker
	a   *attachment
	row *aspect.Computer
}

// newComputer sketches under p, the profile of a or one with more bits.
func (w *Worker) newComputer(a *attachment, p sketch.Profile) (*computer, error) {
	row, err := aspect.New(p, a.variants)
	if err != nil {
		return nil, err
	}
	return &computer{w: w, a: a, row: row}, nil
}

// tooLarge is the error of a document that was not even read.
func (w *Worker) tooLarge(size int64) error {
	return fmt.Errorf("the document has %d bytes, the limit is %d", size, w.config.MaxDocument)
}

// compute returns the row of a document, which the next call overwrites. hash is
// that of its bytes as they are stored.
func (c *computer) compute(ctx context.Context, hash int64, doc []byte, media string) (*aspect.Row, error) {
	if c.a.mediaFrom == "" {
		media = c.a.media
	}
	text := doc
	if media != "" || c.a.mediaFrom != "" {
		var err error
		if text, err = c.w.extractor.Text(ctx, doc, media); err != nil {
			return nil, err
		}
	}
	c.row.Stop = ctx.Err
	return c.row.Row(hash, text)
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
	values := make([]int64, len(r.Features)+len(r.Indexes))
	for i := range cs.features {
		cs.features[i] = append(cs.features[i], nil)
	}
	for i, f := range r.Features {
		values[i] = f.Value
		cs.features[f.Slot][len(cs.keys)-1] = &values[i]
	}
	for i, x := range r.Indexes {
		var p *int64
		if x.Valid {
			values[len(r.Features)+i] = x.Value
			p = &values[len(r.Features)+i]
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

// Package aspect computes the row that an attached table keeps of a document:
// its content hash, its count of shingles, its sketch, its features and its
// similarity indexes. Both engines store what it computes, column by column.
package aspect

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

// A Row is what is kept of a document, but for its key.
type Row struct {
	// ContentHash is that of the bytes as they are stored in the table.
	ContentHash int64
	// Shingles is their count, repeated ones included; 0 means that the document
	// has no token, and then neither sketch nor features nor indexes.
	Shingles int64
	// Sketch is the stored form, empty without a token.
	Sketch []byte
	// Features are in the order of their slots; a group of empty slots has none.
	Features []sketch.Feature
	// Superfeatures are those that KeepSuperfeatures asks for, in the same way.
	Superfeatures []sketch.Feature
	// Indexes has one element for each index of the Computer, in that order.
	Indexes []Index
	// Passages are the values that KeepPassages asks for, ascending.
	Passages []int64
}

// An Index is the value of a similarity index, if the document has it.
type Index struct {
	Value int64
	Valid bool
}

// A Computer computes rows, one document after the other. It keeps its buffers,
// so that a row costs no allocation; it must not be used by two goroutines at once.
type Computer struct {
	// Stop, unless nil, is called between the megabytes of a long document. Its
	// error ends the computation.
	Stop func() error

	sketcher      *sketch.Sketcher
	indexes       []simindex.Variant
	superfeatures bool
	passages      *sketch.Passages
	row           Row
}

// Parse reads the similarity indexes of an attachment. Its error names the first
// that is not one, or that a document cannot have under the profile.
func Parse(p sketch.Profile, names []string) ([]simindex.Variant, error) {
	list := make([]simindex.Variant, len(names))
	for i, name := range names {
		var err error
		if list[i], err = simindex.Parse(name); err != nil {
			return nil, err
		}
		if err := list[i].Check(p); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// New returns a Computer of sketches under a profile and of the similarity
// indexes that Parse returned.
func New(p sketch.Profile, indexes []simindex.Variant) (*Computer, error) {
	return NewWithout(p, indexes, nil)
}

// NewWithout is New for a profile that may name a list of shingles that its sketches leave
// out, as sketch.NewSketcherWithout takes it.
func NewWithout(p sketch.Profile, indexes []simindex.Variant, b *sketch.Boilerplate) (*Computer, error) {
	s, err := sketch.NewSketcherWithout(p, b)
	if err != nil {
		return nil, err
	}
	return &Computer{sketcher: s, indexes: indexes, row: Row{Indexes: make([]Index, len(indexes))}}, nil
}

// KeepPassages has the rows keep values of the passages, for questions on containment.
func (c *Computer) KeepPassages() (err error) {
	c.passages, err = sketch.NewPassages(c.Profile())
	return err
}

// KeepSuperfeatures has the rows keep superfeatures.
func (c *Computer) KeepSuperfeatures() { c.superfeatures = true }

// maxFeatureColumns bounds the features and superfeatures that are columns. A table has room
// beside them for its key and for similarity indexes: SQLite's manual recommends to allow no
// more than 100 columns.
const maxFeatureColumns = 80

// CheckSuperfeatures refuses profiles whose superfeatures cannot be columns.
func CheckSuperfeatures(p sketch.Profile) error {
	n := p.Superfeatures()
	switch {
	case p.R == 1:
		return errors.New("the superfeatures under r=1 are the features; want a profile with r=2 or more")
	case p.K+n > maxFeatureColumns:
		return fmt.Errorf("the superfeatures under k=%d r=%d are %d columns beside %d features, want at most %d together, as k=12 r=2 makes", p.K, p.R, n, p.K, maxFeatureColumns)
	}
	return nil
}

// Profile returns the profile of the sketches.
func (c *Computer) Profile() sketch.Profile { return c.sketcher.Profile() }

// Row computes the row of a document from its text. contentHash is the
// sketch.ContentHash of the bytes in the table, from which the text may have been
// extracted. The next call overwrites the result.
func (c *Computer) Row(contentHash int64, text []byte) (*Row, error) {
	if err := c.sketcher.DocumentUntil(text, c.Stop); err != nil {
		return nil, err
	}
	r := &c.row
	r.ContentHash = contentHash
	r.Shingles = c.sketcher.Shingles()
	r.Sketch = c.sketcher.AppendSketch(r.Sketch[:0])
	r.Features = c.sketcher.AppendFeatures(r.Features[:0])
	if c.superfeatures {
		r.Superfeatures = c.Profile().AppendSuperfeatures(r.Superfeatures[:0], r.Features)
	}
	for i, v := range c.indexes {
		r.Indexes[i].Value, r.Indexes[i].Valid = v.IndexOf(c.sketcher, text)
	}
	if c.passages != nil {
		c.passages.Stop = c.Stop
		var err error
		if r.Passages, _, err = c.passages.Values(text); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Columns are the names of the computed columns of a side table with k features,
// in their order: content_hash, shingles, sketch, f1 to fk, and the column of
// each index.
func Columns(k int, indexes []simindex.Variant) []string {
	list := []string{"content_hash", "shingles", "sketch"}
	for slot := range k {
		list = append(list, FeatureColumn(slot))
	}
	for _, v := range indexes {
		list = append(list, v.Column())
	}
	return list
}

// FeatureColumn is the column of the feature in a slot, counted from 0: f1 and on.
func FeatureColumn(slot int) string { return "f" + strconv.Itoa(slot+1) }

// SuperfeatureColumn is the column of a superfeature, counted from 0: g1 and on.
func SuperfeatureColumn(slot int) string { return "g" + strconv.Itoa(slot+1) }

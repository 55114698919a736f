// Package verify reads documents again to decide the pairs that their sketches leave open.
// Each engine supplies the function that reads a document.
package verify

import (
	"errors"
	"fmt"

	"github.com/alike-sql/alike/sketch"
)

// Confidence is the confidence of all bounds: those that leave a pair open, and those of
// every answer.
const Confidence = 0.95

// cacheBytes bounds the memory for the shingles of documents that a Judge has read.
const cacheBytes = 64 << 20

// A Judge compares documents by their sketches and, where the bounds of the estimate
// contain the threshold, by their shingles. It is not safe for concurrent use.
type Judge[K comparable] struct {
	read     func(K) (text []byte, ok bool, err error)
	stop     func() error
	sketcher *sketch.Sketcher // nil: sketches alone decide
	short    *Short
	size     func(K) (int64, error)
	isShort  map[K]bool
	outside  map[K]bool // of documents that size does not know
	given    map[K][]byte
	// The cache has two generations. When the younger one fills half of cacheBytes, the
	// Judge drops the older one.
	young, old map[K][]byte
	bytes      int
	buffer     []byte
}

// Sketches returns a Judge that reads no document.
func Sketches[K comparable]() *Judge[K] { return &Judge[K]{} }

// Texts returns a Judge that reads documents under a profile. read returns the text of a
// document, valid until the next call. When the document is gone or has changed since it
// was sketched, read returns false for ok, and the sketches decide. b is the list of
// shingles that the sketches leave out, or nil. If stop is not nil, the
// Judge calls it after each megabyte of a long document; its error ends the work.
func Texts[K comparable](p sketch.Profile, b *sketch.Boilerplate, read func(K) (text []byte, ok bool, err error), stop func() error) (*Judge[K], error) {
	if p.Without != 0 && (b == nil || b.Fingerprint() != p.Without) {
		return nil, sketch.ErrBoilerplate
	}
	s, err := sketch.NewSketcherWithout(p.Exact(), b)
	if err != nil {
		return nil, err
	}
	return &Judge[K]{read: read, stop: stop, sketcher: s, given: map[K][]byte{}, young: map[K][]byte{}}, nil
}

// Short is the threshold of short documents: a pair of which a document has fewer than Below
// shingles must reach AtLeast. It is above the threshold of the other pairs.
type Short struct {
	Below   int64   `json:"below"`
	AtLeast float64 `json:"at_least"`
}

// MaxShort is the limit of Below.
const MaxShort = 1_000_000

// maxSizes bounds what a Judge remembers of the lengths of documents.
const maxSizes = 1 << 16

// Raise makes the Judge ask more of short documents. size returns how many shingles a
// document has; the Judge calls it for pairs whose resemblance is between the two thresholds.
// A nil s changes nothing.
func (j *Judge[K]) Raise(s *Short, size func(K) (shingles int64, err error)) {
	if s != nil {
		j.short, j.size, j.isShort, j.outside = s, size, map[K]bool{}, map[K]bool{}
	}
}

// Size tells how many shingles a document has that size of Raise does not know.
func (j *Judge[K]) Size(id K, shingles int64) {
	if j.short != nil {
		j.outside[id] = shingles < j.short.Below
	}
}

// Limit returns the threshold of a pair whose resemblance is within bounds: atLeast, or
// that of Raise if a document is short. The threshold 0, of pairs that people called
// duplicates, stays.
func (j *Judge[K]) Limit(a, b K, i sketch.Interval, atLeast float64) (float64, error) {
	if j.short == nil || atLeast == 0 || i.High < atLeast || i.Low >= j.short.AtLeast {
		return atLeast, nil
	}
	for _, id := range [2]K{a, b} {
		short, known := j.outside[id]
		if !known {
			short, known = j.isShort[id]
		}
		if !known {
			n, err := j.size(id)
			if err != nil {
				return 0, err
			}
			if len(j.isShort) >= maxSizes {
				clear(j.isShort)
			}
			short = n < j.short.Below
			j.isShort[id] = short
		}
		if short {
			return max(atLeast, j.short.AtLeast), nil
		}
	}
	return atLeast, nil
}

// Reads reports whether the Judge reads documents.
func (j *Judge[K]) Reads() bool { return j.sketcher != nil }

// Give supplies the text of a document that read does not know.
func (j *Judge[K]) Give(id K, text []byte) (err error) {
	if j.Reads() {
		j.given[id], err = j.shingles(text)
	}
	return err
}

// Compare returns the resemblance of two documents with its bounds, and whether it reaches
// the threshold. When the documents were read, both bounds equal the resemblance. Sketches
// of builds that make different tokens cannot be compared, and ok is false.
func (j *Judge[K]) Compare(a, b K, x, y []byte, atLeast float64) (i sketch.Interval, ok bool, err error) {
	if open, err := j.Open(x, y, atLeast); !open {
		return i, false, err
	}
	if i, err = sketch.Bounds(x, y, Confidence); err != nil {
		return i, false, err
	}
	if atLeast, err = j.Limit(a, b, i, atLeast); err != nil {
		return i, false, err
	}
	i, err = j.Decide(a, b, i, atLeast)
	return i, err == nil && i.Estimate >= atLeast, err
}

// Decide replaces the bounds by the exact resemblance of the two documents, if the
// threshold lies between the bounds and the documents can be read.
func (j *Judge[K]) Decide(a, b K, i sketch.Interval, atLeast float64) (sketch.Interval, error) {
	if !j.Reads() || i.Low >= atLeast || i.High < atLeast {
		return i, nil
	}
	s, err := j.document(a)
	if s == nil || err != nil {
		return i, err
	}
	t, err := j.document(b)
	if t == nil || err != nil {
		return i, err
	}
	r, err := sketch.Resemblance(s, t)
	return sketch.Interval{Low: r, Estimate: r, High: r}, err
}

// Resemblance is Compare without the bounds, which cost more than an estimate.
func (j *Judge[K]) Resemblance(a, b K, x, y []byte, atLeast float64) (r float64, ok bool, err error) {
	if j.Reads() {
		i, ok, err := j.Compare(a, b, x, y, atLeast)
		return i.Estimate, ok, err
	}
	r, err = sketch.Resemblance(x, y)
	if errors.Is(err, sketch.ErrTokens) {
		return 0, false, nil
	}
	if err == nil {
		atLeast, err = j.Limit(a, b, sketch.Interval{Low: r, Estimate: r, High: r}, atLeast)
	}
	return r, err == nil && r >= atLeast, err
}

// Open reports whether Compare may find that two documents reach the threshold. It reads
// no document, and does not know which documents are short.
func (j *Judge[K]) Open(x, y []byte, atLeast float64) (open bool, err error) {
	if j.Reads() {
		var i sketch.Interval
		i, err = sketch.Bounds(x, y, Confidence)
		open = i.High >= atLeast
	} else {
		var r float64
		r, err = sketch.Resemblance(x, y)
		open = r >= atLeast
	}
	if errors.Is(err, sketch.ErrTokens) {
		return false, nil
	}
	return open && err == nil, err
}

// Has reports whether the Judge has the shingles of a document and need not read it.
func (j *Judge[K]) Has(id K) bool { return j.young[id] != nil || j.old[id] != nil }

// Keep stores the shingles of a document that the caller has read together with others.
func (j *Judge[K]) Keep(id K, text []byte) error {
	s, err := j.shingles(text)
	if s != nil && err == nil {
		j.keep(id, s)
	}
	return err
}

func (j *Judge[K]) keep(id K, s []byte) {
	if j.bytes += len(s); j.bytes > cacheBytes/2 {
		j.old, j.young, j.bytes = j.young, map[K][]byte{}, len(s)
	}
	j.young[id] = s
}

// document returns the sketch of all shingles of a document, or nil when the document
// cannot be read.
func (j *Judge[K]) document(id K) ([]byte, error) {
	if s := j.given[id]; s != nil {
		return s, nil
	}
	if s := j.young[id]; s != nil {
		return s, nil
	}
	s := j.old[id]
	if s == nil {
		text, ok, err := j.read(id)
		if !ok || err != nil {
			return nil, err
		}
		if s, err = j.shingles(text); s == nil || err != nil {
			return nil, err
		}
	}
	j.keep(id, s)
	return s, nil
}

// shingles returns the sketch of all shingles of a text, or nil when the text has none.
func (j *Judge[K]) shingles(text []byte) ([]byte, error) {
	if err := j.sketcher.DocumentUntil(text, j.stop); err != nil {
		return nil, err
	}
	if j.sketcher.Empty() {
		return nil, nil
	}
	j.buffer = j.sketcher.AppendSketch(j.buffer[:0])
	return append([]byte(nil), j.buffer...), nil
}

// From returns the smallest estimate whose upper bound reaches a threshold, for sketches under
// a profile. No pair with a lower estimate can reach the threshold in Compare. From returns
// 0 for families whose sketches have no fixed number of samples.
func From(p sketch.Profile, atLeast float64) (float64, error) {
	if !p.Slots() || p.Family == sketch.Bins {
		return 0, nil
	}
	for matches := range p.T + 1 {
		i, err := sketch.BoundsOf(p, matches, Confidence)
		if err != nil {
			return 0, err
		}
		if i.High >= atLeast {
			return i.Estimate, nil
		}
	}
	return 0, fmt.Errorf("at_least %v, want at most 1", atLeast)
}

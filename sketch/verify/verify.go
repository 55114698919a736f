// Package verify decides pairs of documents that their sketches leave open: it reads
// the documents again. The engines say how a document is read.
package verify

import (
	"errors"
	"fmt"

	"github.com/alike-sql/alike/sketch"
)

// Confidence is that of the bounds by which a pair is open, and of the bounds of every
// answer.
const Confidence = 0.95

// cacheBytes bounds the shingles that a Judge keeps of documents that it has read.
const cacheBytes = 64 << 20

// A Judge compares documents by their sketches and, where the bounds of the estimate
// contain the threshold, by their shingles. It must not be used by two goroutines at
// once.
type Judge[K comparable] struct {
	read     func(K) (text []byte, ok bool, err error)
	stop     func() error
	sketcher *sketch.Sketcher // nil: sketches alone decide
	given    map[K][]byte
	// What was read, in two generations: when the younger one has half of the bytes,
	// the older one is dropped.
	young, old map[K][]byte
	bytes      int
	buffer     []byte
}

// Sketches returns a Judge that reads no document.
func Sketches[K comparable]() *Judge[K] { return &Judge[K]{} }

// Texts returns a Judge of documents under a profile. read returns the text of a
// document, valid until it is called again; it is not ok where the document is gone or
// has changed since it was sketched, and then the sketches decide. stop, unless
// nil, is called between the megabytes of a long document, and its error ends the work.
func Texts[K comparable](p sketch.Profile, read func(K) (text []byte, ok bool, err error), stop func() error) (*Judge[K], error) {
	s, err := sketch.NewSketcher(p.Exact())
	if err != nil {
		return nil, err
	}
	return &Judge[K]{read: read, stop: stop, sketcher: s, given: map[K][]byte{}, young: map[K][]byte{}}, nil
}

// Reads reports whether the Judge reads documents.
func (j *Judge[K]) Reads() bool { return j.sketcher != nil }

// Give tells the text of a document that read does not know.
func (j *Judge[K]) Give(id K, text []byte) (err error) {
	if j.Reads() {
		j.given[id], err = j.shingles(text)
	}
	return err
}

// Compare is the resemblance of two documents with its bounds, which are equal to it
// where the documents were read, and whether it reaches the threshold. Sketches of
// builds that make other tokens are no answer: one of them waits to be made again.
func (j *Judge[K]) Compare(a, b K, x, y []byte, atLeast float64) (i sketch.Interval, ok bool, err error) {
	if open, err := j.Open(x, y, atLeast); !open {
		return i, false, err
	}
	if i, err = sketch.Bounds(x, y, Confidence); err != nil {
		return i, false, err
	}
	i, err = j.Decide(a, b, i, atLeast)
	return i, err == nil && i.Estimate >= atLeast, err
}

// Decide replaces the bounds of two documents by their resemblance where the threshold
// lies between them and the documents can be read.
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
	return r, err == nil && r >= atLeast, err
}

// Open reports whether Compare may find that two documents reach the threshold. It
// reads none.
func (j *Judge[K]) Open(x, y []byte, atLeast float64) (open bool, err error) {
	if j.Reads() {
		var i sketch.Interval
		i, err = sketch.Bounds(x, y, Confidence)
		open = i.High >= atLeast
	} else {
		_, open, err = j.Resemblance(*new(K), *new(K), x, y, atLeast)
	}
	if errors.Is(err, sketch.ErrTokens) {
		return false, nil
	}
	return open && err == nil, err
}

// Has reports whether the document is kept, so that it need not be read.
func (j *Judge[K]) Has(id K) bool { return j.young[id] != nil || j.old[id] != nil }

// Keep keeps a document that was read with others.
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

// document returns the sketch of all shingles of a document, nil where the document
// cannot be had.
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

// shingles returns the sketch of all shingles of a text, nil where it has none.
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

// From is the least estimate, of sketches under a profile, whose bounds reach a
// threshold: the pairs with estimates from there on are all that Compare may find to reach
// the threshold. It is 0 for families whose sketches have no fixed number
// of samples.
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

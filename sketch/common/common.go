// Package common finds the shingles and passages that very many documents share, from
// templates, licences or footers.
package common

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-sql/alike/sketch"
)

// Share is the default share: a shingle that more than this share of the documents have is
// common.
const Share = 0.1

// minRows is the smallest number of documents that must have a common shingle.
const minRows = 3

// maxCounted bounds the number of shingles that a Learner counts at once.
const maxCounted = 1 << 20

// A Learner finds the shingles that more than a share of documents have, in memory that
// does not grow with their number. It needs each document twice and some a third time: pass
// all documents to Add, then all to Count, then to Example until it returns true.
//
// Add counts as Manku and Motwani do (Approximate frequency counts over data streams, 2002,
// lossy counting): from time to time it drops the shingles that have been too rare since they
// first occurred. It never drops a shingle that more than the share of the documents have,
// unless the documents are so long that their shingles do not fit the memory; see Complete.
// Count then counts the remaining shingles exactly.
type Learner[K any] struct {
	shingler *sketch.Shingler
	stop     func() error
	share    float64

	documents, since, drops int // since: documents since the last drop
	counts                  map[uint64]count
	exact                   map[uint64]int
	passages                []Passage[K]
	known                   map[uint64]bool // the shingles in passages
}

// count holds the number of documents in which a shingle was seen since it was last added,
// and how many earlier documents may have had it.
type count struct{ seen, missed int32 }

// A Passage is a text that many documents contain, at least in part.
type Passage[K any] struct {
	Text     string
	Shingles int
	Rows     int     // documents that have the rarest of its shingles
	Share    float64 // Rows as a share of all documents
	Example  K       // a document that has the whole passage
}

// NewLearner returns a Learner for documents under a profile. stop works as in
// sketch.DocumentUntil.
func NewLearner[K any](p sketch.Profile, share float64, stop func() error) (*Learner[K], error) {
	if !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("the share is %v, want above 0 and at most 1", share)
	}
	s, err := sketch.NewShingler(p)
	if err != nil {
		return nil, err
	}
	return &Learner[K]{shingler: s, stop: stop, share: share, counts: map[uint64]count{}, known: map[uint64]bool{}}, nil
}

// Add takes a document for the first time.
func (l *Learner[K]) Add(text []byte) error {
	shingles, err := l.shingler.Shingles(text, l.stop)
	if err != nil {
		return err
	}
	if len(shingles) == 0 {
		return nil
	}
	for _, x := range shingles {
		c, there := l.counts[x]
		if !there {
			c.missed = int32(l.drops)
		}
		c.seen++
		l.counts[x] = c
	}
	l.documents++
	if l.since++; float64(l.since)*l.share >= 10 || len(l.counts) > maxCounted {
		l.since = 0
		l.drops++
		for x, c := range l.counts {
			if int(c.seen+c.missed) <= l.drops {
				delete(l.counts, x)
			}
		}
	}
	return nil
}

// Complete reports whether every shingle that enough documents have is sure to be found.
func (l *Learner[K]) Complete() bool {
	return float64(l.drops) <= l.share*float64(l.documents) || l.drops == 0
}

// enough returns the smallest number of documents that makes a shingle common.
func (l *Learner[K]) enough() int {
	return max(minRows, int(math.Floor(l.share*float64(l.documents)))+1)
}

// Learn passes all documents to Add and then to Count. read gives them, the same ones each
// time.
func (l *Learner[K]) Learn(read func(take func(text []byte) error) error) error {
	for _, take := range []func([]byte) error{l.Add, l.Count} {
		if err := read(take); err != nil {
			return err
		}
	}
	if !l.Complete() {
		return errors.New("the documents are too long to count their shingles in memory; ask for a greater share")
	}
	return nil
}

// Boilerplate returns the common shingles as a list for sketches to leave out, or nil where
// there are none.
func (l *Learner[K]) Boilerplate() (*sketch.Boilerplate, error) {
	list := l.Shingles()
	if len(list) == 0 {
		return nil, nil
	}
	return sketch.NewBoilerplate(list)
}

// Count takes a document for the second time.
func (l *Learner[K]) Count(text []byte) error {
	if l.exact == nil {
		l.exact = map[uint64]int{}
		for x, c := range l.counts {
			if int(c.seen+c.missed) >= l.enough() {
				l.exact[x] = 0
			}
		}
		l.counts = nil
	}
	shingles, err := l.shingler.Shingles(text, l.stop)
	if err != nil {
		return err
	}
	for _, x := range shingles {
		if n, there := l.exact[x]; there {
			l.exact[x] = n + 1
		}
	}
	return nil
}

// common reports whether a shingle is common.
func (l *Learner[K]) common(x uint64) bool { return l.exact[x] >= l.enough() }

// Shingles returns the common shingles in ascending order.
func (l *Learner[K]) Shingles() []uint64 {
	var list []uint64
	for x := range l.exact {
		if l.common(x) {
			list = append(list, x)
		}
	}
	slices.Sort(list)
	return list
}

// Example takes a document for the third time, and reports whether every common shingle has
// been seen in a passage.
func (l *Learner[K]) Example(id K, text []byte) (done bool) {
	l.shingler.Passages(text, l.common, func(passage string, shingles []uint64) bool {
		unknown := false
		rows := math.MaxInt
		for _, x := range shingles {
			unknown = unknown || !l.known[x]
			rows = min(rows, l.exact[x])
		}
		if unknown {
			for _, x := range shingles {
				l.known[x] = true
			}
			l.passages = append(l.passages, Passage[K]{passage, len(shingles), rows, float64(rows) / float64(l.documents), id})
		}
		return true
	})
	return len(l.known) >= len(l.Shingles())
}

// Passages returns the passages that Example has seen, the most frequent first.
func (l *Learner[K]) Passages() []Passage[K] {
	slices.SortStableFunc(l.passages, func(a, b Passage[K]) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(b.Shingles, a.Shingles))
	})
	return l.passages
}

// Package common finds what very many documents share: the shingles of a template, a
// licence, a footer.
package common

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/alike-sql/alike/sketch"
)

// Share is the share of the documents from which on a shingle is common, unless somebody
// says another.
const Share = 0.1

// leastRows is how many documents must have a shingle in any case.
const leastRows = 3

// mostCounted bounds the shingles that a Learner counts at a time.
const mostCounted = 1 << 20

// A Learner finds the shingles that more than a share of documents have, in memory that
// does not grow with the documents. Each is read two times, and some a third time: Add takes
// all of them, then Count takes all of them, then Example takes them until it has seen
// enough.
//
// Add counts as Manku and Motwani do (Approximate frequency counts over data streams, 2002,
// lossy counting): now and then it drops the shingles that have been too rare since they came
// up. What more than the share of the documents have is never dropped, unless documents are
// so long that what they have does not fit the memory; see Complete. Count counts what is
// left anew, and exactly.
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

// count is in how many documents a shingle was seen since it came up, and in how many more
// it may have been before.
type count struct{ seen, missed int32 }

// A Passage is a text that many documents have at least in parts.
type Passage[K any] struct {
	Text     string
	Shingles int
	Rows     int     // that have the rarest of its shingles
	Share    float64 // the same, of all
	Example  K       // a document that has it
}

// NewLearner returns a Learner for documents under a profile. stop is as for
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
	if l.since++; float64(l.since)*l.share >= 10 || len(l.counts) > mostCounted {
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

// Complete reports whether no shingle can have been missed that enough documents have.
func (l *Learner[K]) Complete() bool {
	return float64(l.drops) <= l.share*float64(l.documents) || l.drops == 0
}

// enough is in how many documents a common shingle is.
func (l *Learner[K]) enough() int {
	return max(leastRows, int(math.Floor(l.share*float64(l.documents)))+1)
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

// common reports whether a shingle is.
func (l *Learner[K]) common(x uint64) bool { return l.exact[x] >= l.enough() }

// Shingles are the common ones, ascending.
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

// Passages are what Example has seen, what most documents have first.
func (l *Learner[K]) Passages() []Passage[K] {
	slices.SortStableFunc(l.passages, func(a, b Passage[K]) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(b.Shingles, a.Shingles))
	})
	return l.passages
}

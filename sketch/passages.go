package sketch

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Passages samples a document so that a passage of it, however short beside the whole, is
// found by what is sampled: in each run of a set number of shingles the one with the smallest
// hash is taken. A run that two documents share gives both the same value, so every shared
// passage of 20 words, or 60 characters, has one in common. What is taken from the first
// and the last runs of a passage depends on nothing outside of it either: every value of a document
// that stands word for word in another is a value of the other.
//
// A document of n shingles has about 2n/17 values, at most passageValues: of a longer
// one those whose lowest bits are zero, as many bits as Coarseness tells.
//
// It must not be used by two goroutines at once.
type Passages struct {
	// Stop, unless nil, is called between the megabytes of a long document.
	Stop func() error

	sketcher *Sketcher
	minima   *localMinima
}

// mixer is odd; the high bits of a product depend on all bits of a fingerprint.
const mixer = 0x9e3779b97f4a7c15

// passageValues is about the most that a document has.
const passageValues = 1 << 16

// passageRun is how many tokens the shortest passage has that is found for certain.
func passageRun(s Stream) int {
	switch s {
	case Chars:
		return 60
	case Lines:
		return 8
	}
	return 20
}

// passageShingle is the smallest length of a shingle: shorter ones occur everywhere.
func passageShingle(s Stream) int {
	switch s {
	case Chars:
		return 12
	case Lines:
		return 1
	}
	return 5
}

// Passages is the profile of the shingles that are sampled for containment of documents
// under p: that of every shingle, and of longer ones than those of p where these are short.
func (p Profile) Passages() Profile {
	p = p.Exact()
	p.W, p.Bag = max(min(p.W, passageRun(p.Stream)/2), passageShingle(p.Stream)), false
	return p
}

// NewPassages returns what samples documents under a profile.
func NewPassages(p Profile) (*Passages, error) {
	if p.Stream == Elements {
		return nil, fmt.Errorf("sketch: the stream %s has no passages", p.Stream)
	}
	of := p.Passages()
	s, err := NewSketcher(of)
	if err != nil {
		return nil, err
	}
	m := &localMinima{run: passageRun(of.Stream) - of.W + 1}
	s.sampler = m
	return &Passages{sketcher: s, minima: m}, nil
}

// Values returns the values of a document, ascending, and how many shingles it has. The next
// call overwrites them.
func (x *Passages) Values(doc []byte) (values []int64, shingles int64, err error) {
	if err := x.sketcher.DocumentUntil(doc, x.Stop); err != nil {
		return nil, 0, err
	}
	x.minima.finish()
	shingles = x.sketcher.Shingles()
	coarseness := x.Coarseness(shingles)
	values = x.minima.values[:0]
	for _, v := range x.minima.values {
		if v&(1<<coarseness-1) == 0 {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return slices.Compact(values), shingles, nil
}

// Coarseness is how many of the lowest bits are zero in each value of a document with this many
// shingles.
func (x *Passages) Coarseness(shingles int64) int {
	return bits.Len64(uint64(2 * shingles / int64(x.minima.run+1) / passageValues))
}

// localMinima is a sampler that takes the smallest of each run of shingles, in the order of the
// document.
type localMinima struct {
	run     int
	last    []uint64 // the hashes of the last run
	minimum int      // the position in last of the smallest, the rightmost of equals
	taken   bool     // it is among the values
	values  []int64
}

func (m *localMinima) Reset() {
	m.last, m.values, m.minimum, m.taken = m.last[:0], m.values[:0], 0, false
}

func (m *localMinima) add(xs []uint64) {
	for _, x := range xs {
		// Fingerprints of shingles that differ in their end differ in few bits.
		x *= mixer
		x ^= x >> 32
		x *= mixer
		if len(m.last) == 4*m.run { // keep the last run, but for the shingle that leaves it
			shift := len(m.last) - m.run + 1
			m.last = m.last[:copy(m.last, m.last[shift:])]
			m.minimum -= shift
		}
		m.last = append(m.last, x)
		newest := len(m.last) - 1
		first := max(0, len(m.last)-m.run)
		switch {
		case newest == 0 || x <= m.last[max(m.minimum, 0)] && m.minimum >= first:
			m.minimum, m.taken = newest, false
		case m.minimum < first:
			m.minimum = first
			for i := first + 1; i <= newest; i++ {
				if m.last[i] <= m.last[m.minimum] {
					m.minimum = i
				}
			}
			m.taken = false
		}
		if len(m.last) >= m.run && !m.taken {
			m.values, m.taken = append(m.values, int64(m.last[m.minimum])), true
		}
	}
}

// finish takes the smallest of a document that is shorter than a run.
func (m *localMinima) finish() {
	if len(m.last) > 0 && len(m.values) == 0 {
		m.values = append(m.values, int64(m.last[m.minimum]))
	}
}

func (m *localMinima) appendSample(dst []byte, _ Profile) []byte { return dst }
func (m *localMinima) slots() []uint64                           { return nil }

// A PassagePlan is what the option contains keeps of a document.
type PassagePlan struct {
	Passage          int     // tokens of the shortest passage that is found for certain
	Sampled          float64 // about how many values are kept
	SQLite, Postgres int64   // about how many bytes they take in either engine
}

// PlanPassages says what will be kept of a document with this many tokens, in a table whose keys
// have this many bytes. The tokens may be the mean of many documents.
//
// Each run after the first begins a new value with probability 2/(run+1). In SQLite a value
// is an entry of two b-trees, in PostgreSQL a row, an entry of an index and an element of an array.
// The pages of PostgreSQL's index are 0.9 full when attach has filled it and 0.7 after many
// checkins; 0.75 is between the two.
// The arithmetic is in an order that PostgreSQL repeats.
func PlanPassages(p Profile, tokens float64, keyBytes int) (PassagePlan, error) {
	x, err := NewPassages(p)
	switch {
	case err != nil:
		return PassagePlan{}, err
	case !(tokens >= 0 && tokens <= 1e9):
		return PassagePlan{}, fmt.Errorf("sketch: plan: a document of %v tokens, want 0 to 1000000000", tokens)
	case keyBytes < 1 || keyBytes > 1000:
		return PassagePlan{}, fmt.Errorf("sketch: plan: a key of %d bytes, want 1 to 1000", keyBytes)
	}
	plan := PassagePlan{Passage: passageRun(p.Stream)}
	run := x.minima.run
	shingles := max(1, tokens-float64(plan.Passage-run))
	if tokens > 0 {
		plan.Sampled = (1 + float64(2*max(0, shingles-float64(run)))/float64(run+1)) / float64(int(1)<<x.Coarseness(int64(shingles)))
	}
	array := 24.0
	if tokens == 0 {
		array = 0
	}
	aligned := func(bytes int) float64 { return float64((bytes + 7) / 8 * 8) }
	plan.SQLite = int64(math.Floor(float64(plan.Sampled*(2*float64(14+keyBytes)*1.08)) + 0.5))
	plan.Postgres = int64(math.Floor(float64(plan.Sampled*(aligned(32+keyBytes)+4+(aligned(16+keyBytes)+4)/0.75+8.5)) + array + 0.5))
	return plan, nil
}

// PassageContainment estimates how much of a document is in another from how many of its
// values are values of the other, with an interval that holds the true share with at least
// the confidence given. Of no value nothing can be said: 0 to 1.
func PassageContainment(matches, values int, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if matches < 0 || matches > values {
		return Interval{}, fmt.Errorf("sketch: %d matches of %d values", matches, values)
	}
	return tally{matches, values, values, 64}.bounds(confidence), nil
}

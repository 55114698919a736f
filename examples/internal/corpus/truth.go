package corpus

import (
	"cmp"
	"slices"

	"github.com/alike-sql/alike/sketch"
)

// A Pair of documents, A < B, and their exact resemblance.
type Pair struct {
	A, B        int
	Resemblance float64
}

// A Truth collects the shingles of documents and finds the pairs whose
// resemblance reaches a bound, every one of them and exactly.
type Truth struct {
	sketcher func(doc []byte) []uint64
	sets     [][]uint64
}

// NewTruth returns an empty Truth. shingles gives the set of a document's
// shingles, ascending.
func NewTruth(shingles func(doc []byte) []uint64) *Truth { return &Truth{sketcher: shingles} }

// Add takes the next document.
func (t *Truth) Add(text string) { t.sets = append(t.sets, t.sketcher([]byte(text))) }

// Resemblance returns the exact resemblance of two of the documents.
func (t *Truth) Resemblance(a, b int) float64 { return resemblance(t.sets[a], t.sets[b]) }

func resemblance(a, b []uint64) float64 {
	common, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	if len(a)+len(b) == common {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// Pairs returns every pair of resemblance at least bound.
//
// Two sets of a and b elements that reach it share at least bound·max(a,b) of
// them; so with the elements of every set in one order, rarest first, the
// first a-⌈bound·a⌉+1 of the one and the same number of the other have an
// element in common (prefix filtering, Chaudhuri, Ganti and Kaushik 2006). The
// pairs that share one are verified in full.
func (t *Truth) Pairs(bound float64) []Pair {
	frequency := t.frequencies()
	type posting struct {
		element uint64
		doc     int32
	}
	var postings []posting
	var order []uint64
	for d, set := range t.sets {
		order = append(order[:0], set...)
		slices.SortFunc(order, func(a, b uint64) int {
			return cmp.Or(cmp.Compare(frequency[a], frequency[b]), cmp.Compare(a, b))
		})
		needed := int(bound * float64(len(set)))
		for _, element := range order[:min(len(order), len(order)-needed+1)] {
			if frequency[element] > 0 { // that is, in two documents or more
				postings = append(postings, posting{element, int32(d)})
			}
		}
	}
	slices.SortFunc(postings, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.element, b.element), cmp.Compare(a.doc, b.doc))
	})
	candidates := map[[2]int32]bool{}
	var pairs []Pair
	for len(postings) > 0 {
		n := 1
		for n < len(postings) && postings[n].element == postings[0].element {
			n++
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				a, b := postings[i].doc, postings[j].doc
				if candidates[[2]int32{a, b}] {
					continue
				}
				short, long := len(t.sets[a]), len(t.sets[b])
				if short > long {
					short, long = long, short
				}
				if float64(short) < bound*float64(long) {
					continue
				}
				candidates[[2]int32{a, b}] = true
				if r := resemblance(t.sets[a], t.sets[b]); r >= bound {
					pairs = append(pairs, Pair{int(a), int(b), r})
				}
			}
		}
		postings = postings[n:]
	}
	slices.SortFunc(pairs, func(p, q Pair) int { return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B)) })
	return pairs
}

// frequencies counts the documents of each element that has two or more.
func (t *Truth) frequencies() map[uint64]int32 {
	n := 0
	for _, set := range t.sets {
		n += len(set)
	}
	all := make([]uint64, 0, n)
	for _, set := range t.sets {
		all = append(all, set...)
	}
	slices.Sort(all)
	frequency := map[uint64]int32{}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		if j-i > 1 {
			frequency[all[i]] = int32(j - i)
		}
		i = j
	}
	return frequency
}

// Shingles returns a function that gives a document's set of shingles under a
// profile, from the values of a sketch that keeps all of them.
func Shingles(profile string) (func(doc []byte) []uint64, error) {
	p, err := sketch.ParseProfile(profile + " mod=1")
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	var b []byte
	var sample sketch.Sample
	return func(doc []byte) []uint64 {
		if s.Document(doc); s.Empty() {
			return nil
		}
		b = s.AppendSketch(b[:0])
		if err := sample.Read(b); err != nil {
			panic(err) // what AppendSketch writes is a sketch
		}
		values := make([]uint64, len(sample.Values))
		for i, v := range sample.Values {
			values[i] = v.Value
		}
		return values
	}, nil
}

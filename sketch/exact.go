package sketch

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/token"
)

// Tokens returns the canonical tokens of a document, in order. A profile that
// is not valid has none, and so has a document that CheckDocument refuses.
func Tokens(p Profile, doc []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		if p.Validate() != nil {
			return
		}
		if p.Stream == Elements {
			set, _ := readSet(doc)
			for _, element := range set.elements {
				if !yield(element) {
					return
				}
			}
			return
		}
		z := token.New(p.tokenSettings())
		var t token.Tokens
		for {
			t.Reset()
			n := z.Next(&t, doc, true)
			for _, s := range t.Spans {
				if !yield(string(t.Text[s.Start:s.End])) {
					return
				}
			}
			if doc = doc[n:]; len(doc) == 0 {
				return
			}
		}
	}
}

// Shingles returns the shingles of a document, in order and with those that
// repeat: the tokens of each joined by blanks, and the fingerprint that the
// sampling families are given, which in a bag is labelled with its occurrence. An element
// that has a weight is there once.
func Shingles(p Profile, doc []byte) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		if p.Validate() != nil {
			return
		}
		if p.Stream == Elements {
			p.W = 1
		}
		window := kernel.NewWindow(p.W)
		labels := kernel.Labeller{}
		var texts []string
		var fingerprints, shingles []uint64
		give := func(short bool) bool {
			shingles = window.Append(shingles[:0], fingerprints, short)
			if p.Bag {
				labels.Label(shingles)
			}
			for _, x := range shingles {
				if !yield(strings.Join(texts, " "), x) {
					return false
				}
			}
			return true
		}
		for token := range Tokens(p, doc) {
			if len(texts) == p.W {
				texts = texts[:copy(texts, texts[1:])]
				fingerprints = fingerprints[:copy(fingerprints, fingerprints[1:])]
			}
			texts = append(texts, token)
			fingerprints = append(fingerprints, kernel.TokenFingerprint([]byte(token)))
			if len(texts) == p.W && !give(false) {
				return
			}
		}
		if len(texts) < p.W {
			give(true)
		}
	}
}

// A reading is a document as the numbers of its tokens and of its shingles.
type reading struct {
	tokens   []int
	shingles []int
	length   int // tokens in a shingle, but for the only one of a shorter document
}

// A numbering gives equal tokens and equal shingles equal numbers, in as many
// documents as it reads: what is computed from them is exact and owes nothing to
// fingerprints.
type numbering struct {
	profile  Profile
	window   *kernel.Window
	tokens   map[string]int
	texts    []string // of the tokens
	shingles map[uint64]int
	examples [][]int // of the shingles: their tokens
}

func newNumbering(p Profile) (*numbering, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	if p.Stream == Elements {
		p.W = 1
	}
	return &numbering{profile: p, window: kernel.NewWindow(p.W), tokens: make(map[string]int), shingles: make(map[uint64]int)}, nil
}

func (n *numbering) read(doc []byte) reading {
	var r reading
	var fingerprints []uint64
	for token := range Tokens(n.profile, doc) {
		number, known := n.tokens[token]
		if !known {
			number = len(n.texts)
			n.tokens[token] = number
			n.texts = append(n.texts, token)
		}
		r.tokens = append(r.tokens, number)
		fingerprints = append(fingerprints, kernel.TokenFingerprint([]byte(token)))
	}
	r.length = min(n.profile.W, len(r.tokens))
	for i, x := range n.window.Append(nil, fingerprints, true) {
		r.shingles = append(r.shingles, n.shingle(x, r.tokens[i:i+r.length]))
	}
	return r
}

// shingle returns the number of a shingle with the fingerprint x. Others with
// that fingerprint are at those that follow it.
func (n *numbering) shingle(x uint64, tokens []int) int {
	for ; ; x++ {
		number, known := n.shingles[x]
		if !known {
			number = len(n.examples)
			n.shingles[x] = number
			n.examples = append(n.examples, tokens)
		}
		if slices.Equal(n.examples[number], tokens) {
			return number
		}
	}
}

// counts returns how often each shingle occurs: once, where repetitions do not
// count.
func (n *numbering) counts(r reading) map[int]float64 {
	counts := make(map[int]float64)
	for _, x := range r.shingles {
		if counts[x]++; !n.profile.Bag && n.profile.Family != Weighted {
			counts[x] = 1
		}
	}
	return counts
}

// exactCounts returns the sizes of A∩B, A and B. For bags these are the sizes of the
// labelled sets (option A of Broder 1997, section 2), as also for the family
// weighted, where an occurrence is a weight of one.
func exactCounts(p Profile, a, b []byte) (both, inA, inB float64, err error) {
	n, err := newNumbering(p)
	if err != nil {
		return 0, 0, 0, err
	}
	if p.Stream == Elements {
		as, err := readSet(a)
		if err != nil {
			return 0, 0, 0, err
		}
		bs, err := readSet(b)
		if err != nil {
			return 0, 0, 0, err
		}
		both, inA, inB = common(as.measures(p), bs.measures(p))
		return both, inA, inB, nil
	}
	both, inA, inB = common(n.counts(n.read(a)), n.counts(n.read(b)))
	return both, inA, inB, nil
}

// common returns the sizes of two sets and of what they have in common. It adds in one
// order, so that fractions give the same sum each time.
func common[K cmp.Ordered](as, bs map[K]float64) (both, inA, inB float64) {
	for _, x := range slices.Sorted(maps.Keys(as)) {
		both += min(as[x], bs[x])
		inA += as[x]
	}
	for _, x := range slices.Sorted(maps.Keys(bs)) {
		inB += bs[x]
	}
	return both, inA, inB
}

// ExactResemblance returns |A∩B| / |A∪B| of the shingles of two documents
// themselves, without sampling. It reports false when a document has none:
// such a document resembles no other.
func ExactResemblance(p Profile, a, b []byte) (float64, bool, error) {
	both, inA, inB, err := exactCounts(p, a, b)
	if err != nil || inA == 0 || inB == 0 {
		return 0, false, err
	}
	return both / (inA + inB - both), true, nil
}

// ExactContainment returns |A∩B| / |A|, how much of a is in b, without
// sampling. It reports false when a document has no shingle.
func ExactContainment(p Profile, a, b []byte) (float64, bool, error) {
	both, inA, inB, err := exactCounts(p, a, b)
	if err != nil || inA == 0 || inB == 0 {
		return 0, false, err
	}
	return both / inA, true, nil
}

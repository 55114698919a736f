// Package simindex reduces a document to a single number, its similarity index,
// that a range scan finds. A [Variant] is one way of doing so.
//
// Roth 2011 gives fourteen methods on three streams of tokens, with four
// variations and the parameters k and w. They are written as in his Table 9,
// 43B/40: method 43, variation B, k-grams of 40 tokens. His tracking numbers 1 to
// 14 are the methods on characters, 21 to 34 on words, 41 to 54 on Soundex codes
// (Table 2; characters have no method 13). Methods 5, 6 and their kin take the
// window of the winnowing as well: 45B/40/100.
//
// All methods but 13 fingerprint each run of k tokens by Java's
// String.hashCode, a signed 32-bit number. Odd methods sum fingerprints in signed
// 64 bits, even ones take their Rabin fingerprint of degree 64:
//
//	 1  2   all of them
//	 3  4   those divisible by 25
//	 5  6   those that winnowing with a window of w keeps
//	 7  8   the 400 lowest
//	 9 10   the 400 highest
//	11 12   a random third, the same random numbers for each document
//	13      one for each of the 200 most frequent words
//	14      k-grams of fingerprints, repeated until one is left
//
//	    characters             words and Soundex codes
//	A   as they are            as they are
//	B   without stop words     without stop words
//	C   without vowels         without duplicates
//	D   without either         without either
//
// Sums of signed numbers behave as a random walk: two documents that differ in
// one line can lie far apart, and the range of 30 % around a sum holds a good
// part of any collection. The indexes are here as Roth defined them, for those
// who use them; features find near-duplicates reliably. So do the two variants
// that are ours, which depend on a profile:
//
//   - forest/3: a byte of each of eight minima (see [sketch.Sketcher.Forest]). Documents
//     of resemblance ρ share the first byte with probability about ρ.
//   - length: the number of shingles, repeated ones once unless the profile
//     makes bags. Resemblance ρ means lengths of a ratio of ρ at least, so a
//     range of lengths loses nothing.
package simindex

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/alike-sql/alike/sketch"
)

// A Variant names one way of computing a similarity index. Variants can be
// compared with ==.
type Variant struct {
	method    uint8 // 1 to 14, forest or length
	stream    uint8 // characters, words or soundex
	variation byte  // 'A' to 'D'
	k, w      int32 // w is 0 for the methods without winnowing; k is the number of a forest
}

// The streams of Roth 2011, section 3.4; his tracking numbers are method plus
// 20 times the stream.
const (
	characters = iota
	words
	soundex
)

const (
	methods  = 14
	frequent = 13 // the method that works on words, not on k-grams
	maxParam = 10000

	forest = 15
	length = 16
)

// Parse reads a variant as Variant.String writes it. A window after a
// method that does not winnow is allowed, since Roth always names one, and
// forgotten.
func Parse(s string) (Variant, error) {
	fail := func(format string, args ...any) (Variant, error) {
		return Variant{}, fmt.Errorf("sketch: similarity index %q: "+format, append([]any{s}, args...)...)
	}
	if strings.EqualFold(s, "length") {
		return Variant{method: length}, nil
	}
	name, params, _ := strings.Cut(s, "/")
	if strings.EqualFold(name, "forest") {
		i, err := strconv.ParseUint(params, 10, 32)
		if err != nil || i > maxParam {
			return fail("number %q, want 0 to %d", params, maxParam)
		}
		return Variant{method: forest, k: int32(i)}, nil
	}
	if len(name) < 2 {
		return fail("want a method, a variation and k as in 43B/40, or length, or forest/0")
	}
	number, err := strconv.ParseUint(name[:len(name)-1], 10, 8)
	if err != nil {
		return fail("want a method, a variation and k as in 43B/40, or length, or forest/0")
	}
	v := Variant{method: uint8(number % 20), stream: uint8(number / 20), variation: name[len(name)-1] &^ 0x20}
	if v.method < 1 || v.method > methods || v.stream > soundex {
		return fail("method %d, want 1 to 14, 21 to 34 or 41 to 54", number)
	}
	if v.method == frequent && v.stream == characters {
		return fail("method 13, the most frequent words, has no form for characters; want 33 or 53")
	}
	if v.variation < 'A' || v.variation > 'D' {
		return fail("variation %q, want A, B, C or D", name[len(name)-1:])
	}
	k, w, hasWindow := strings.Cut(params, "/")
	if v.k, err = parseParam(k); err != nil {
		return fail("k %w", err)
	}
	if !hasWindow && v.winnows() {
		return fail("method %d winnows, want its window too, as in %d%c/%d/100", number, number, v.variation, v.k)
	}
	if hasWindow {
		if v.w, err = parseParam(w); err != nil {
			return fail("window %w", err)
		}
		if !v.winnows() {
			v.w = 0
		}
	}
	return v, nil
}

func parseParam(s string) (int32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 1 || n > maxParam {
		return 0, fmt.Errorf("%q, want 1 to %d", s, maxParam)
	}
	return int32(n), nil
}

// String gives the one spelling of v.
func (v Variant) String() string {
	switch v.method {
	case forest:
		return "forest/" + strconv.Itoa(int(v.k))
	case length:
		return "length"
	}
	b := strconv.AppendInt(nil, int64(v.method)+20*int64(v.stream), 10)
	b = append(b, v.variation, '/')
	b = strconv.AppendInt(b, int64(v.k), 10)
	if v.winnows() {
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(v.w), 10)
	}
	return string(b)
}

// A Kind says what a similarity index is taken from and how a range is asked for.
type Kind uint8

const (
	// Roth indexes are taken from the text; a range is a fraction on either side.
	Roth Kind = iota
	// Forest indexes are taken from the sketch; a range is a common prefix.
	Forest
	// Length is taken from the set of shingles; a range is a fraction on either side.
	Length
)

// Kind returns the kind of v.
func (v Variant) Kind() Kind {
	switch v.method {
	case forest:
		return Forest
	case length:
		return Length
	}
	return Roth
}

// Column is the name of the SQL column that keeps the index: si_43b_40 for 43B/40.
func (v Variant) Column() string {
	return "si_" + strings.ToLower(strings.ReplaceAll(v.String(), "/", "_"))
}

func (v Variant) winnows() bool { return v.method == 5 || v.method == 6 }

// Variants lists the combinations of Roth's experiment: every method, stream
// and variation with the four pairs (k, w) of his Table 5. There are 656; his
// 672 count a method 13 for characters that he says does not exist.
func Variants() []Variant {
	runs := [...]struct{ k, w int32 }{{4, 5}, {8, 12}, {16, 25}, {40, 100}}
	list := make([]Variant, 0, 656)
	for _, run := range runs {
		for stream := uint8(characters); stream <= soundex; stream++ {
			for method := uint8(1); method <= methods; method++ {
				if method == frequent && stream == characters {
					continue
				}
				for variation := byte('A'); variation <= 'D'; variation++ {
					v := Variant{method: method, stream: stream, variation: variation, k: run.k}
					if v.winnows() {
						v.w = run.w
					}
					list = append(list, v)
				}
			}
		}
	}
	return list
}

// Check reports whether documents can have the index under a profile: a forest
// needs eight minima of its own, and the methods of Roth need a text.
func (v Variant) Check(p sketch.Profile) error {
	switch forests := p.T / 8; {
	case v.method < forest && p.Stream == sketch.Elements:
		return fmt.Errorf("sketch: similarity index %s: the stream elements has no text; want length or forest/0", v)
	case v.method != forest || int(v.k) < forests:
		return nil
	case forests == 0:
		return fmt.Errorf("sketch: similarity index %s: t=%d is too few minima for any", v, p.T)
	default:
		return fmt.Errorf("sketch: similarity index %s: t=%d gives forest/0 to forest/%d", v, p.T, forests-1)
	}
}

// Index computes the similarity index of doc; forest and length are taken under
// the default profile, the bytes of a forest from its slots. It reports false for a
// document without a token and where Check fails. It does so too where a method of Roth's gives 0, since the range around
// 0 holds nothing, not even itself.
func (v Variant) Index(doc []byte) (int64, bool) {
	if v.method < forest {
		return v.roth(doc)
	}
	s := sketchers.Get().(*sketch.Sketcher)
	defer sketchers.Put(s)
	s.Document(doc)
	return v.IndexOf(s, doc)
}

// IndexOf computes the similarity index of doc, which s has just taken; forest
// and length are those of its profile.
func (v Variant) IndexOf(s *sketch.Sketcher, doc []byte) (int64, bool) {
	switch v.method {
	case forest:
		return s.Forest(int(v.k))
	case length:
		return s.Length(doc), !s.Empty()
	}
	return v.roth(doc)
}

func (v Variant) roth(doc []byte) (int64, bool) {
	s := scratches.Get().(*scratch)
	s.read(v, doc)
	var si int64
	if v.method == frequent {
		si = s.sumFrequent()
	} else {
		si = v.reduce(s)
	}
	if s.small() {
		scratches.Put(s)
	}
	return si, si != 0
}

var sketchers = sync.Pool{New: func() any {
	p, err := sketch.ParseProfile("")
	if err != nil {
		panic(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		panic(err)
	}
	return s
}}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Fraction is the half width of the range that Roth chose: 30 %.
const Fraction = 0.3

// Low gives the open lower bound of the range of documents similar to one
// with index si: si less the fraction of its magnitude (Roth 2011, Figure 2),
// rounded outwards to a whole number, which an index of integers looks up. The
// range of whole numbers is the same.
func Low(si int64, fraction float64) int64 {
	return nearestInteger(math.Floor(float64(si) - spread(si, fraction)))
}

// High gives the open upper bound of the range whose lower bound is Low.
func High(si int64, fraction float64) int64 {
	return nearestInteger(math.Ceil(float64(si) + spread(si, fraction)))
}

// spread is the fraction of the magnitude of si. The conversion of the product
// keeps a processor from fusing it with what follows, which would round differently.
func spread(si int64, fraction float64) float64 {
	return float64(math.Abs(float64(si) * min(fraction, 1e100)))
}

func nearestInteger(x float64) int64 {
	switch {
	case x >= 1<<63:
		return math.MaxInt64
	case x <= -1<<63:
		return math.MinInt64
	}
	return int64(x)
}

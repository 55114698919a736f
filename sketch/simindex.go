package sketch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// A Variant names one way of reducing a document to a single number, its
// similarity index, that a range scan finds. Variants can be compared with ==.
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
//   - forest/3: a byte of each of eight minima (see Sketcher.Forest). Documents
//     of resemblance ρ share the first byte with probability about ρ.
//   - length: the number of shingles, repeated ones once unless the profile
//     makes bags. Resemblance ρ means lengths of a ratio of ρ at least, so a
//     range of lengths loses nothing.
type Variant struct {
	method    uint8 // 1 to 14, siForest or siLength
	stream    uint8 // a siStream
	variation byte  // 'A' to 'D'
	k, w      int32 // w is 0 for the methods without winnowing; k is the number of a forest
}

// The streams of Roth 2011, section 3.4; his tracking numbers are method plus
// 20 times the stream.
const (
	siCharacters = iota
	siWords
	siSoundex
)

const (
	siMethods  = 14
	siFrequent = 13 // the method that works on words, not on k-grams
	siMaxParam = 10000

	siForest = 15
	siLength = 16
)

// ParseVariant reads a variant as Variant.String writes it. A window after a
// method that does not winnow is allowed, since Roth always names one, and
// forgotten.
func ParseVariant(s string) (Variant, error) {
	fail := func(format string, args ...any) (Variant, error) {
		return Variant{}, fmt.Errorf("sketch: similarity index %q: "+format, append([]any{s}, args...)...)
	}
	if strings.EqualFold(s, "length") {
		return Variant{method: siLength}, nil
	}
	name, params, _ := strings.Cut(s, "/")
	if strings.EqualFold(name, "forest") {
		i, err := strconv.ParseUint(params, 10, 32)
		if err != nil || i > siMaxParam {
			return fail("number %q, want 0 to %d", params, siMaxParam)
		}
		return Variant{method: siForest, k: int32(i)}, nil
	}
	if len(name) < 2 {
		return fail("want a method, a variation and k as in 43B/40")
	}
	number, err := strconv.ParseUint(name[:len(name)-1], 10, 8)
	if err != nil {
		return fail("want a method, a variation and k as in 43B/40")
	}
	v := Variant{method: uint8(number % 20), stream: uint8(number / 20), variation: name[len(name)-1] &^ 0x20}
	if v.method < 1 || v.method > siMethods || v.stream > siSoundex {
		return fail("method %d, want 1 to 14, 21 to 34 or 41 to 54", number)
	}
	if v.method == siFrequent && v.stream == siCharacters {
		return fail("method 13, the most frequent words, has no form for characters; want 33 or 53")
	}
	if v.variation < 'A' || v.variation > 'D' {
		return fail("variation %q, want A, B, C or D", name[len(name)-1:])
	}
	k, w, hasWindow := strings.Cut(params, "/")
	if v.k, err = siParam(k); err != nil {
		return fail("k %w", err)
	}
	if !hasWindow && v.winnows() {
		return fail("method %d winnows, want its window too, as in %d%c/%d/100", number, number, v.variation, v.k)
	}
	if hasWindow {
		if v.w, err = siParam(w); err != nil {
			return fail("window %w", err)
		}
		if !v.winnows() {
			v.w = 0
		}
	}
	return v, nil
}

func siParam(s string) (int32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 1 || n > siMaxParam {
		return 0, fmt.Errorf("%q, want 1 to %d", s, siMaxParam)
	}
	return int32(n), nil
}

// String gives the one spelling of v.
func (v Variant) String() string {
	switch v.method {
	case siForest:
		return "forest/" + strconv.Itoa(int(v.k))
	case siLength:
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

func (v Variant) winnows() bool { return v.method == 5 || v.method == 6 }

// Variants lists the combinations of Roth's experiment: every method, stream
// and variation with the four pairs (k, w) of his Table 5. There are 656; his
// 672 count a method 13 for characters that he says does not exist.
func Variants() []Variant {
	runs := [...]struct{ k, w int32 }{{4, 5}, {8, 12}, {16, 25}, {40, 100}}
	list := make([]Variant, 0, 656)
	for _, run := range runs {
		for stream := uint8(siCharacters); stream <= siSoundex; stream++ {
			for method := uint8(1); method <= siMethods; method++ {
				if method == siFrequent && stream == siCharacters {
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
// needs eight minima of its own.
func (v Variant) Check(p Profile) error {
	switch forests := p.T / 8; {
	case v.method != siForest || int(v.k) < forests:
		return nil
	case forests == 0:
		return fmt.Errorf("sketch: similarity index %s: t=%d is too few minima for any", v, p.T)
	default:
		return fmt.Errorf("sketch: similarity index %s: t=%d gives forest/0 to forest/%d", v, p.T, forests-1)
	}
}

// Index computes the similarity index of doc; forest and length are taken under
// the default profile, the bytes of a forest from its slots. It reports false for a document without a token and where Check
// fails. It does so too where a method of Roth's gives 0, since the range around
// 0 holds nothing, not even itself.
func (v Variant) Index(doc []byte) (int64, bool) {
	if v.method < siForest {
		return v.roth(doc)
	}
	s := siSketchers.Get().(*Sketcher)
	defer siSketchers.Put(s)
	s.Document(doc)
	return v.IndexOf(s, doc)
}

// IndexOf computes the similarity index of doc, which s has just taken; forest
// and length are those of its profile.
func (v Variant) IndexOf(s *Sketcher, doc []byte) (int64, bool) {
	switch v.method {
	case siForest:
		return s.Forest(int(v.k))
	case siLength:
		return s.length(doc), !s.Empty()
	}
	return v.roth(doc)
}

// length counts the shingles of doc, which s has just taken, as resemblance
// under its profile counts them.
func (s *Sketcher) length(doc []byte) int64 {
	if s.profile.Bag || s.profile.Family == Weighted {
		return s.seen // repeated shingles count
	}
	if s.counter == nil {
		// The multiples of 1 are all fingerprints, each once.
		p := s.profile
		p.Family, p.Modulus, p.Size, p.Bits = Mod, 1, 0, 64
		var err error
		if s.counter, err = NewSketcher(p); err != nil {
			panic(err)
		}
	}
	s.counter.Document(doc)
	all := s.counter.sampler.(*list)
	all.tidy()
	return int64(len(all.values))
}

func (v Variant) roth(doc []byte) (int64, bool) {
	s := siScratches.Get().(*siScratch)
	s.read(v, doc)
	var si int64
	if v.method == siFrequent {
		si = s.sumFrequent()
	} else {
		si = v.reduce(s)
	}
	if s.small() {
		siScratches.Put(s)
	}
	return si, si != 0
}

var siSketchers = sync.Pool{New: func() any {
	s, err := NewSketcher(defaultProfile)
	if err != nil {
		panic(err)
	}
	return s
}}

var siScratches = sync.Pool{New: func() any { return new(siScratch) }}

// SIFraction is the half width of the range that Roth chose: 30 %.
const SIFraction = 0.3

// SILow gives the open lower bound of the range of documents similar to one
// with index si: si less the fraction of its magnitude (Roth 2011, Figure 2).
func SILow(si int64, fraction float64) float64 {
	// The conversion of the product keeps a processor from fusing it with the
	// difference, which would round differently.
	return float64(si) - float64(math.Abs(float64(si)*fraction))
}

// SIHigh gives the open upper bound of the range whose lower bound is SILow.
func SIHigh(si int64, fraction float64) float64 {
	return float64(si) + float64(math.Abs(float64(si)*fraction))
}

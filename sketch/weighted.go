package sketch

import (
	"fmt"
	"math"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// weighted is consistent weighted sampling (Ioffe 2010, "Improved consistent
// sampling, weighted minhash and L1 sketching", section 3; the idea is that of
// Manasse, McSherry and Talwar): two slots are equal with probability
// sum(min of the weights) / sum(max of the weights). The weight of a shingle
// of a document is the number of its occurrences, so that the resemblance is
// that of the bags.
//
// For the element x of weight S, slot i draws r and c from Gamma(2,1) and β
// from 0 to 1, all by x and i alone. The logarithm of S, rounded down on the
// grid of step r with an offset of β, is r·(k-β), k = floor(ln S/r + β), and
// the element's order is
//
//	ln a = ln c - r·(k-β+1)
//
// The slot keeps the smallest. Heavier elements have smaller orders, and the order
// depends on S through k alone: the lesser of two slots is the slot of the
// union, in which an element has the greater of its weights. A slot is stored
// as the bits of ln a, arranged to ascend with it.
//
// The arithmetic is + - * / on IEEE doubles with every product rounded, and
// logarithm below, so that every processor computes the same bits:
//
//	h = a_i·x + b_i mod 2^64, the permutations of classic
//	A = mix(h), B and C likewise with the multipliers of the rounds 1 and 2
//	uniform(v) = (v + 0.5) / 2^32 for the upper and the lower half of each
//	u = uniform(A's upper) * uniform(A's lower), v = the same of B
//	β = uniform(C's upper)
//	r = -logarithm(u), c = -logarithm(v)
//	k = floor(logarithm(S)/r + β), ln a = logarithm(c) - r*(k-β+1)
//
// The weights of equal elements add up, so that they are all held until the
// sample is asked for: memory grows with the number of different elements.
type weighted struct {
	slotted
	kernel.Permutations
	weights map[uint64]float64
	within  []float64 // an element whose a is above this has no chance in the slot
	sampled bool      // the slots are those of the weights
}

func newWeighted(t int) *weighted {
	w := &weighted{slotted: newSlotted(t), Permutations: kernel.FirstPermutations(t), weights: map[uint64]float64{}, within: make([]float64, t)}
	w.Reset()
	return w
}

func (w *weighted) Reset() {
	w.slotted.Reset()
	clear(w.weights)
	for i := range w.within {
		w.within[i] = math.Inf(1)
	}
	w.sampled = true
}

func (w *weighted) add(xs []uint64) {
	for _, x := range xs {
		w.weights[x]++
	}
	w.sampled = false
}

// weigh adds to the weight of x.
func (w *weighted) weigh(x uint64, weight float64) error {
	sum := w.weights[x] + weight
	if math.IsInf(sum, 0) {
		return fmt.Errorf("sketch: the weights of an element add up to more than %v", math.MaxFloat64)
	}
	w.weights[x] = sum
	w.sampled = false
	return nil
}

func (w *weighted) slots() []uint64 {
	if !w.sampled {
		for x, weight := range w.weights {
			w.sample(x, weight)
		}
		w.sampled = true
	}
	return w.m
}

func (w *weighted) appendSample(dst []byte, p Profile) []byte {
	w.slots()
	return w.slotted.appendSample(dst, p)
}

func uniform(v uint64) float64 { return float64((float64(uint32(v)) + 0.5) * 0x1p-32) }

// sample lowers the slots for one element.
//
// Few elements have a chance in a slot: k-β is at most ln S/r, hence a is at
// least c·exp(-r)/S. There exp(-r) is u, and c = -ln v is at least
// 3(1-v²)/(1+4v+v²): both are 0 at v = 1, and the derivative of the difference
// is -(1-v)⁴/(v(1+4v+v²)²). This bound spares the logarithms; it leaves room for
// every rounding, so that it decides nothing but the time.
func (w *weighted) sample(x uint64, weight float64) {
	log := logarithm(weight)
	ia, ib, within, m := w.A[:len(w.m)], w.B[:len(w.m)], w.within[:len(w.m)], w.m
	for i := range m {
		h := ia[i]*x + ib[i]
		a, b := kernel.MixRound(h, 0), kernel.MixRound(h, 1)
		u := float64(uniform(a>>32) * uniform(a))
		v := float64(uniform(b>>32) * uniform(b))
		if 3*(1-v)*(1+v)*u >= within[i]*weight*(1+v*(4+v)) {
			continue
		}
		beta := uniform(kernel.MixRound(h, 2) >> 32)
		r := -logarithm(u)
		k := math.Floor(log/r + beta)
		order := logarithm(-logarithm(v)) - float64(r*(k-beta+1))
		if s := ascending(order); s < m[i] {
			m[i] = s
			// Nothing near the smallest double, where its precision ends.
			within[i] = math.Exp(max(order, -600)) * (1 + 1e-9)
		}
	}
}

// ascending returns the bits of f, arranged so that they ascend with it.
func ascending(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// logarithm is the natural logarithm of a positive number, to about two units
// in the last place. It stands in for math.Log, which is assembly on some
// processors and fused on others: its bits are the same on all.
//
// x = m·2^e with m from √½ to √2; with s = (m-1)/(m+1),
// ln m = 2(s + s³/3 + s⁵/5 + …).
func logarithm(x float64) float64 {
	e := 0
	b := math.Float64bits(x)
	if b>>52 == 0 { // subnormal
		b = math.Float64bits(x * 0x1p54)
		e = -54
	}
	e += int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m *= 0.5
		e++
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 0.0
	for _, c := range &oddReciprocals {
		p = float64(z * (p + c))
	}
	return float64(float64(e)*math.Ln2) + (float64(2*s) + float64(float64(2*s)*p))
}

// oddReciprocals are the coefficients of the series: its next term is below
// (3-√8)^24 / 25, less than 2^-60 of the first.
var oddReciprocals = [...]float64{1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3}

// maxReplicas is the largest weight that a family without real weights takes.
const maxReplicas = 1e6

const replicaPiece = 1024 // occurrences handed to the sampler at once

// AddWeighted adds an element with a weight, one of Manasse's "important
// features". The weights of equal elements add up, and a
// weight of 0 adds nothing.
//
// Under the family weighted a weight is any number that is not negative. The
// other families take whole numbers to a million and add the element that
// number of times, each with its occurrence number, as a bag does; under a profile of
// sets the first is the element as AddElement adds it.
func (s *Sketcher) AddWeighted(element []byte, weight float64) error {
	if !(weight >= 0) || math.IsInf(weight, 0) {
		return fmt.Errorf("sketch: weight %v, want a finite number of at least 0", weight)
	}
	if weight == 0 {
		return nil
	}
	x := kernel.ElementShingle(element)
	if w, ok := s.sampler.(*weighted); ok {
		if err := w.weigh(x, weight); err != nil {
			return err
		}
		s.seen++
		s.taken++
		return nil
	}
	if weight != math.Floor(weight) {
		return fmt.Errorf("sketch: weight %v under the family %s, want a whole number; the family weighted takes fractions", weight, s.profile.Family)
	}
	if weight > maxReplicas {
		return fmt.Errorf("sketch: weight %v under the family %s, want at most %d; the family weighted takes more", weight, s.profile.Family, int(maxReplicas))
	}
	for left := int(weight); left > 0; {
		piece := s.shingles[:0]
		for ; left > 0 && len(piece) < replicaPiece; left-- {
			piece = append(piece, x)
		}
		s.shingles = piece
		if !s.profile.Bag {
			s.replicate(piece)
		}
		s.wait(piece...)
	}
	return nil
}

// replicate gives all but the first of the occurrences of an element in a set
// their numbers.
func (s *Sketcher) replicate(xs []uint64) {
	if s.replicas == nil {
		s.replicas = kernel.Labeller{}
	}
	for i, x := range xs {
		n := s.replicas[x] + 1
		s.replicas[x] = n
		if n > 1 {
			xs[i] = kernel.Occurrence(x, n)
		}
	}
}

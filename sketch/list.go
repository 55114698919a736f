package sketch

import (
	"math/bits"
	"slices"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// scaledMost is the most values that a scaled sample keeps.
const scaledMost = 100

// list is the samplers of Broder 1997, section 3, that keep values rather than
// slots. The random permutation of the theorem is mix.
//
//   - bottom: MIN_s, the s smallest; after MOD_m when there is a modulus (the
//     economy of section 4.1).
//   - mod: MOD_m, the multiples of m. It grows with the document.
//   - scaled: L_i, the multiples of 2^i. The paper takes i from the length of
//     the document, so that 50 to 100 values are expected; we take the smallest i
//     that leaves at most 100, which expects the same, holds for documents that
//     repeat themselves, and makes the sample a function of the set: the union
//     of two samples is the sample of the union.
type list struct {
	divisor
	size     int // bottom: how many are kept, 0 for all
	scaled   bool
	exponent int // scaled: the values kept are multiples of 2^exponent

	values    []uint64
	sorted    int    // values[:sorted] ascend
	threshold uint64 // bottom: values from here on cannot be among the smallest
	room      int    // when len(values) reaches it, they are tidied
	features  *classic
}

const listRoom = 512

func newList(p Profile) *list {
	l := &list{divisor: newDivisor(max(p.Modulus, 1)), size: p.Size, scaled: p.Family == Scaled, features: newClassic(p.T)}
	l.Reset()
	return l
}

func (l *list) Reset() {
	l.values, l.sorted, l.exponent = l.values[:0], 0, 0
	l.threshold = ^uint64(0)
	l.room = max(listRoom, 4*l.size)
}

func (l *list) add(xs []uint64) {
	low := uint64(1)<<l.exponent - 1
	for _, x := range xs {
		h := kernel.Mix(x)
		if h > l.threshold || h&low != 0 || !l.divides(h) {
			continue
		}
		if l.values = append(l.values, h); len(l.values) >= l.room {
			l.tidy()
			low = uint64(1)<<l.exponent - 1
		}
	}
}

// tidy sorts the values, drops repeated ones and those that are not kept.
func (l *list) tidy() {
	if l.sorted < len(l.values) {
		slices.Sort(l.values)
		l.values = slices.Compact(l.values)
	}
	if l.size > 0 && len(l.values) >= l.size {
		l.values = l.values[:l.size]
		l.threshold = l.values[l.size-1]
	}
	for l.scaled && len(l.values) > scaledMost {
		l.exponent++
		l.values = coarser(l.values, l.exponent)
	}
	l.sorted = len(l.values)
	l.room = max(listRoom, 4*l.size, 2*len(l.values))
}

// coarser keeps the multiples of 2^exponent: L_(i+1) from L_i.
func coarser(values []uint64, exponent int) []uint64 {
	kept := values[:0]
	for _, v := range values {
		if v&(1<<exponent-1) == 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

func (l *list) appendSample(dst []byte, p Profile) []byte {
	l.tidy()
	return appendValues(appendHeader(dst, p, l.exponent), l.values)
}

// slots are the classic minima over the values kept: a sample of the sample,
// from which features are made.
func (l *list) slots() []uint64 {
	l.tidy()
	l.features.Reset()
	return l.features.over(l.values)
}

// A divisor tells multiples of m without a division (Granlund and Montgomery
// 1994, section 9): for m = odd·2^e, n·odd^-1 rotated right by e is at most
// (2^64-1)/m for the multiples alone.
type divisor struct {
	inverse uint64
	rotate  int
	limit   uint64
}

func newDivisor(m int) divisor {
	e := bits.TrailingZeros(uint(m))
	odd := uint64(m) >> e
	inverse := odd // correct to 3 bits; each step doubles them
	for range 5 {
		inverse *= 2 - odd*inverse
	}
	return divisor{inverse, 64 - e, ^uint64(0) / uint64(m)}
}

func (d divisor) divides(n uint64) bool {
	return bits.RotateLeft64(n*d.inverse, d.rotate) <= d.limit
}

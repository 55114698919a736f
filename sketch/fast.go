package sketch

import (
	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// fast is fast similarity sketching (Dahlgaard, Knudsen and Thorup 2017) with
// three rounds and a fallback. In each round a shingle falls into one of t
// bins; a bin keeps its smallest value of the earliest round that reached it, and
// a bin that no round reached keeps the minimum of its own permutation. The
// number of the round is the top of the value, so that the lesser of two
// slots is the slot of the union.
//
// A document with many more shingles than bins is done after the first round:
// one hash a shingle instead of t.
type fast struct {
	slotted
	kernel.Permutations
	full bool // the first round has filled every bin

	own *kernel.OwnMinima
}

func newFast(t int) *fast {
	return &fast{slotted: newSlotted(t), Permutations: kernel.FirstPermutations(t), own: kernel.NewOwnMinima(t)}
}

func (f *fast) Reset() {
	f.slotted.Reset()
	f.full = false
}

func (f *fast) add(xs []uint64) {
	if len(xs) == 0 {
		return
	}
	if f.full {
		kernel.Bins(f.m, xs, 0)
		return
	}
	f.full = kernel.Rounds(f.m, f.A, f.B, xs, f.own)
}

// bins is Ping Li's one permutation hashing as Manasse describes it: the first
// round of fast alone. A bin may stay empty; an empty bin differs from any
// other, and a pair of empty ones does not count.
//
// That rule is for the estimate. In a feature an empty bin is a value like any
// other, so that short documents share
// features more often than ρ^s says: at 100 shingles in 84 bins and a
// resemblance of 0.77, two of twelve features in 91 % of the pairs, not 60 %.
type bins struct{ slotted }

func newBins(t int) *bins { return &bins{newSlotted(t)} }

func (b *bins) add(xs []uint64) { kernel.Bins(b.m, xs, 0) }

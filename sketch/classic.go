package sketch

import (
	"sync"

	"github.com/alike-sql/alike/sketch/internal/splitmix"
)

// emptySlot is a slot that nothing was counted into.
const emptySlot = ^uint64(0)

// A sampler is what a family does with the fingerprints of a document's
// shingles: it takes them in any order and any number of times, and what it
// holds depends on their set alone.
type sampler interface {
	reset()
	add(xs []uint64)
	// appendSample writes the stored sample under p, which has the
	// sampler's family; sample returns its 64-bit slots.
	appendSample(dst []byte, p Profile) []byte
	slots() []uint64
}

// newSampler returns the sampler of a profile.
func newSampler(p Profile) sampler {
	switch p.Family {
	case Bottom, Mod, Scaled:
		return newList(p)
	case Fast:
		return newFast(p.T)
	case Bins:
		return newBins(p.T)
	case Lean:
		return newLean(p.T)
	case LeanZeros:
		return newLeanZeros(p.T)
	case LeanBiased:
		return newLeanBiased(p.T)
	case Weighted:
		return newWeighted(p.T)
	}
	return newClassic(p.T)
}

// permutations are the constants of the linear permutations a·x+b mod 2^64 of
// Broder 2000, section 2, a odd: the sequence of splitmix64 from the seed 2000,
// a and b in turn. Every t uses the first ones.
type permutations struct{ a, b []uint64 }

var allPermutations = sync.OnceValue(func() (c permutations) {
	next := splitmix.New(2000)
	for range wordCount {
		c.a = append(c.a, next()|1)
		c.b = append(c.b, next())
	}
	return c
})

func firstPermutations(t int) permutations {
	c := allPermutations()
	return permutations{c.a[:t], c.b[:t]}
}

// slotted is what the samplers with slots share: a minimum for each slot, so
// that the union of two samples is the lesser of each.
type slotted struct{ m []uint64 }

func newSlotted(t int) slotted {
	s := slotted{make([]uint64, t)}
	s.reset()
	return s
}

func (s *slotted) reset() { fillEmpty(s.m) }

// fillEmpty empties slots. Copying is quicker than a loop.
func fillEmpty(m []uint64) {
	for len(m) > 0 {
		m = m[copy(m, emptySlots[:]):]
	}
}

var emptySlots = func() (m [128]uint64) {
	for i := range m {
		m[i] = emptySlot
	}
	return m
}()

func (s *slotted) slots() []uint64 { return s.m }

func (s *slotted) appendSample(dst []byte, p Profile) []byte {
	return appendSlots(appendHeader(dst, p, 0), p, s.m)
}

// classic keeps the minimum of each of t permutations (Broder 2000, section 2).
type classic struct {
	slotted
	permutations
}

func newClassic(t int) *classic { return &classic{newSlotted(t), firstPermutations(t)} }

func (c *classic) add(xs []uint64) { minimaKernel(c.m, c.a, c.b, xs) }

// over returns the slots of a set given at once.
func (c *classic) over(xs []uint64) []uint64 {
	c.add(xs)
	return c.m
}

package sketch

import (
	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A sampler is what a family does with the fingerprints of a document's
// shingles: it takes them in any order and any number of times, and what it
// holds depends on their set alone.
type sampler interface {
	Reset()
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

// slotted is what the samplers with slots share: a minimum for each slot, so
// that the union of two samples is the lesser of each.
type slotted struct{ m []uint64 }

func newSlotted(t int) slotted {
	s := slotted{make([]uint64, t)}
	s.Reset()
	return s
}

func (s *slotted) Reset() { kernel.FillEmpty(s.m) }

func (s *slotted) slots() []uint64 { return s.m }

func (s *slotted) appendSample(dst []byte, p Profile) []byte {
	return appendSlots(appendHeader(dst, p, 0), p, s.m)
}

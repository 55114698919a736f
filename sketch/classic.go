package sketch

import (
	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// classic keeps the minimum of each of t permutations (Broder 2000, section 2).
type classic struct {
	slotted
	kernel.Permutations
}

func newClassic(t int) *classic { return &classic{newSlotted(t), kernel.FirstPermutations(t)} }

func (c *classic) add(xs []uint64) { kernel.Minima(c.m, c.A, c.B, xs) }

// over returns the slots of a set given at once.
func (c *classic) over(xs []uint64) []uint64 {
	c.add(xs)
	return c.m
}

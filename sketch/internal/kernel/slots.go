package kernel

import (
	"sync"

	"github.com/alike-sql/alike/sketch/internal/splitmix"
)

// EmptySlot is a slot that nothing was counted into.
const EmptySlot = ^uint64(0)

// FillEmpty empties slots. Copying is quicker than a loop.
func FillEmpty(m []uint64) {
	for len(m) > 0 {
		m = m[copy(m, emptySlots[:]):]
	}
}

var emptySlots = func() (m [128]uint64) {
	for i := range m {
		m[i] = EmptySlot
	}
	return m
}()

// WordCount is how many permutations there are.
const WordCount = 4096

// Permutations are the constants of the linear permutations a·x+b mod 2^64 of
// Broder 2000, section 2, a odd: the sequence of splitmix64 from the seed 2000,
// a and b in turn. Every t uses the first ones.
type Permutations struct{ A, B []uint64 }

var AllPermutations = sync.OnceValue(func() (c Permutations) {
	next := splitmix.New(2000)
	for range WordCount {
		c.A = append(c.A, next()|1)
		c.B = append(c.B, next())
	}
	return c
})

func FirstPermutations(t int) Permutations {
	c := AllPermutations()
	return Permutations{c.A[:t], c.B[:t]}
}

// Word returns 64 random bits of x: the j-th of its words.
func (c Permutations) Word(x uint64, j int) uint64 {
	j &= WordCount - 1
	return Fold(c.A[j]*x + c.B[j])
}

// Extension returns the fresh bits that x draws as a contender in slot i.
func (c Permutations) Extension(x uint64, i int) uint64 { return Mix(c.A[i]*x + c.B[i]) }

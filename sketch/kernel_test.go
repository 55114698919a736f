package sketch

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// An implementation is a way to run the kernels.
type implementation struct {
	name   string
	choose func()
}

// withEach runs f with each implementation that this machine has.
func withEach(tb testing.TB, f func(name string)) {
	all := implementations()
	tb.Cleanup(all[0].choose)
	for _, i := range all {
		i.choose()
		f(i.name)
	}
	all[0].choose()
}

// around is 0 to 70 and the neighbours of the block sizes of the kernels.
var around = func() (sizes []int) {
	for n := range 71 {
		sizes = append(sizes, n)
	}
	for _, n := range []int{88, 96, 128, 176, 256, 512, 700} {
		sizes = append(sizes, n-1, n, n+1)
	}
	return sizes
}()

func randomValues(random *rand.Rand, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		x[i] = random.Uint64()
		switch random.IntN(16) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = ^uint64(0)
		case 2:
			x[i] >>= random.IntN(64)
		case 3:
			x[i] = 1<<63 | x[i]>>40
		}
	}
	return x
}

// guarded returns a copy of x with canaries behind it, and whether they live.
func guarded(x []uint64) ([]uint64, func() bool) {
	const canary, n = 0x5ca1ab1e0ddba11, 24
	c := append(slices.Clone(x), make([]uint64, n)...)
	for i := range n {
		c[len(x)+i] = canary
	}
	return c[:len(x):len(x)], func() bool {
		return !slices.ContainsFunc(c[len(x):], func(v uint64) bool { return v != canary })
	}
}

func TestMinimaKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 1))
	withEach(t, func(name string) {
		check := func(slots, n int) {
			start, xs := randomValues(random, slots), randomValues(random, n)
			a, b := randomValues(random, slots), randomValues(random, slots)
			if slots%2 == 0 {
				for i := range start {
					start[i] = emptySlot
				}
			}
			want := slices.Clone(start)
			minimaGeneric(want, a, b, xs)
			got, intact := guarded(start)
			minimaKernel(got, a, b, xs)
			if !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: minima of %d slots over %d values differ", name, slots, n)
			}
		}
		for _, slots := range around {
			check(slots, 5)
		}
		for _, n := range around {
			check(84, n)
		}
	})
}

func FuzzMinimaKernel(f *testing.F) {
	f.Add(uint16(84), []byte("twenty-four bytes or so."))
	f.Fuzz(func(t *testing.T, slots uint16, data []byte) {
		xs := words64(data)
		p := firstPermutations(int(slots % 400))
		start := make([]uint64, len(p.a))
		for i := range start {
			start[i] = emptySlot >> (i % 3)
		}
		want := slices.Clone(start)
		minimaGeneric(want, p.a, p.b, xs)
		withEach(t, func(name string) {
			got := slices.Clone(start)
			minimaKernel(got, p.a, p.b, xs)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: minima of %d slots over %x differ", name, len(start), xs)
			}
		})
	})
}

// words64 are the whole 8-byte words of data.
func words64(data []byte) []uint64 {
	x := make([]uint64, len(data)/8)
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return x
}

// benchmarkEach runs f with each implementation and number of 64-bit values.
func benchmarkEach(b *testing.B, sizes []int, f func(xs []uint64)) {
	withEach(b, func(name string) {
		for _, n := range sizes {
			xs := randomValues(rand.New(rand.NewPCG(1, 2)), n)
			b.Run(fmt.Sprintf("impl=%s/size=%dB", name, 8*n), func(b *testing.B) {
				b.SetBytes(int64(8 * n))
				for b.Loop() {
					f(xs)
				}
			})
		}
	})
}

func BenchmarkMinima(b *testing.B) {
	for _, t := range []int{84, 128} {
		b.Run(fmt.Sprintf("t=%d", t), func(b *testing.B) {
			c := newClassic(t)
			benchmarkEach(b, []int{64, 512}, func(xs []uint64) { minimaKernel(c.m, c.a, c.b, xs) })
		})
	}
}

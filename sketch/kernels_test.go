package sketch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/kerneltest"
	"github.com/alike-sql/alike/sketch/internal/token"
)

// FuzzKernels takes a text through all kernels and compares what comes out.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("The quick brown fox jumps over the lazy dog and an internationalisation or two."), byte(4), byte(84))
	f.Add(bytes.Repeat([]byte("a bc def "), 90), byte(1), byte(3))
	f.Fuzz(func(t *testing.T, text []byte, w, slots byte) {
		type result struct {
			taken                           int
			fingerprints, shingles, minima  []uint64
			bins, features, stored, compare []uint64
		}
		var first result
		win := kernel.NewWindow(int(w)%40 + 1)
		c := newClassic(int(slots) + 1)
		kernel.Each(func(name string) {
			var r result
			var tok token.Tokens
			r.taken = tok.AsciiWords(text, true, true, nil)
			r.fingerprints = tok.AppendFingerprints(nil)
			r.shingles = win.Append(nil, r.fingerprints, true)
			c.Reset()
			c.add(r.shingles)
			r.minima = slices.Clone(c.m)
			r.bins = make([]uint64, int(slots)+1)
			for i := range r.bins {
				r.bins[i] = kernel.EmptySlot
			}
			for round := range kernel.FastRounds {
				kernel.Bins(r.bins, r.shingles, round)
			}
			rounds := newFast(int(slots) + 1)
			rounds.add(r.shingles)
			r.bins = append(r.bins, rounds.m...)
			var stored []byte
			for _, m := range c.m {
				stored = binary.BigEndian.AppendUint64(stored, m)
			}
			s := min(len(c.m), int(w)%20+1)
			r.stored = make([]uint64, min(64, len(c.m)/s))
			kernel.Features(r.stored, stored, s, kernel.BigEndian)
			for _, f := range appendFeatures(nil, c.m, len(r.stored), s) {
				r.features = append(r.features, uint64(f.Value))
			}
			for _, b := range []int{8, 64} {
				r.compare = append(r.compare, uint64(kernel.Differing(stored, slices.Concat(stored[8:], stored[:8]), b)))
			}
			if name == kernel.Implementations()[0].Name {
				first = r
			} else if !reflect.DeepEqual(r, first) {
				t.Fatalf("%s gives %+v, want %+v", name, r, first)
			}
		})
	})
}

// Once its buffers have grown, a Sketcher allocates nothing.
func TestTextAllocations(t *testing.T) {
	doc := kerneltest.SameEnglish(20000)
	kernel.Each(func(name string) {
		for _, settings := range []string{"words", "words fast", "words bins t=128", "words bits=8"} {
			s := mustSketcher(t, settings)
			var stored []byte
			var features []Feature
			run := func() {
				for _, n := range []int{len(doc), 500, 3} {
					s.Document(doc[:n])
					stored = s.AppendSketch(stored[:0])
					features = s.AppendFeatures(features[:0])
				}
			}
			run()
			if n := testing.AllocsPerRun(20, run); n > 0 {
				t.Errorf("%s, %s: %v allocations for three documents", name, settings, n)
			}
		}
		a, b := storedPair(t, "words"), storedPair(t, "words bits=8")
		features := make([]Feature, 0, 12)
		if n := testing.AllocsPerRun(20, func() {
			_, _ = Resemblance(a[0], a[1])
			_, _ = Resemblance(b[0], b[1])
			_, _ = Resemblance(a[0], b[1])
			features, _ = Features(features[:0], a[0])
			_, _ = Shared(a[0], a[1])
		}); n > 0 {
			t.Errorf("%s: %v allocations for three resemblances, features and those shared", name, n)
		}
	})
}

// A document taken in pieces of any lengths has the slots of the definition.
func TestFastPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 5))
	kernel.Each(func(name string) {
		for range 300 {
			slots := 1 + random.IntN(200)
			f, xs := newFast(slots), kerneltest.RandomValues(random, random.IntN(6*slots))
			want := make([]uint64, slots)
			kernel.FillEmpty(want)
			for round := range kernel.FastRounds {
				for _, x := range xs {
					h := kernel.MixRound(x, round)
					bin := h >> 32 * uint64(slots) >> 32
					want[bin] = min(want[bin], uint64(round)<<62|h>>2)
				}
			}
			for i := range want {
				for _, x := range xs {
					want[i] = min(want[i], 3<<62|(f.A[i]*x+f.B[i])>>2)
				}
			}
			for len(xs) > 0 {
				n := 1 + random.IntN(len(xs))
				f.add(xs[:n])
				xs = xs[n:]
			}
			if !slices.Equal(f.m, want) {
				t.Fatalf("%s: %d slots differ", name, slots)
			}
		}
	})
}

package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
	"github.com/alike-sql/alike/sketch/rabin"
)

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
	Each(func(name string) {
		check := func(slots, n int) {
			start, xs := kerneltest.RandomValues(random, slots), kerneltest.RandomValues(random, n)
			a, b := kerneltest.RandomValues(random, slots), kerneltest.RandomValues(random, slots)
			if slots%2 == 0 {
				for i := range start {
					start[i] = EmptySlot
				}
			}
			want := slices.Clone(start)
			minimaGeneric(want, a, b, xs)
			got, intact := guarded(start)
			Minima(got, a, b, xs)
			if !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: minima of %d slots over %d values differ", name, slots, n)
			}
		}
		for _, slots := range kerneltest.Around {
			check(slots, 5)
		}
		for _, n := range kerneltest.Around {
			check(84, n)
		}
	})
}

func FuzzMinimaKernel(f *testing.F) {
	f.Add(uint16(84), []byte("twenty-four bytes or so."))
	f.Fuzz(func(t *testing.T, slots uint16, data []byte) {
		xs := words64(data)
		p := FirstPermutations(int(slots % 400))
		start := make([]uint64, len(p.A))
		for i := range start {
			start[i] = EmptySlot >> (i % 3)
		}
		want := slices.Clone(start)
		minimaGeneric(want, p.A, p.B, xs)
		Each(func(name string) {
			got := slices.Clone(start)
			Minima(got, p.A, p.B, xs)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: minima of %d slots over %x differ", name, len(start), xs)
			}
		})
	})
}

func TestShingleKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 2))
	Each(func(name string) {
		check := func(w, n int) {
			tokens, win := kerneltest.RandomValues(random, w+n-1), NewWindow(w)
			want := make([]uint64, n)
			shingleGeneric(win, tokens, want)
			for i, h := range want {
				if h != ShingleOf(tokens[i:i+w]) {
					t.Fatalf("w=%d: shingle %d slid to is not the one of its tokens", w, i)
				}
			}
			got, intact := guarded(make([]uint64, n))
			shingleKernel(win, slices.Clip(tokens), got)
			if !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: %d shingles of %d tokens differ", name, n, w)
			}
		}
		for _, n := range kerneltest.Around[1:] {
			check(4, n)
		}
		for w := range 70 {
			check(w+1, 21)
		}
	})
}

// binsBefore returns a possible state of the slots: empty slots, those of a few
// or of many values in some rounds, and of the fallback.
func binsBefore(random *rand.Rand, slots int) []uint64 {
	m := make([]uint64, slots)
	FillEmpty(m)
	for round := range FastRounds {
		binsOf(m, kerneltest.RandomValues(random, slots*random.IntN(4)*random.IntN(2)), round)
	}
	for i, v := range m {
		if v == EmptySlot && random.IntN(8) == 0 {
			m[i] = fallbackBound | random.Uint64()>>2
		}
	}
	return m
}

func TestBinsKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 3))
	Each(func(name string) {
		check := func(start, xs []uint64, round int) {
			t.Helper()
			want, open := slices.Clone(start), 0
			for _, v := range start {
				if v>>roundShift >= uint64(round) {
					open++
				}
			}
			binsOf(want, xs, round)
			got, intact := guarded(start)
			if n := Bins(got, xs, round); n != open || !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: round %d of %d values in %d bins differs; %d open, want %d", name, round, len(xs), len(start), n, open)
			}
		}
		for round := range FastRounds {
			for _, n := range kerneltest.Around {
				for range 4 {
					check(binsBefore(random, 84), kerneltest.RandomValues(random, n), round)
					check(binsBefore(random, n+1), kerneltest.RandomValues(random, 100), round)
				}
			}
			check(binsBefore(random, 4096), kerneltest.RandomValues(random, 10000), round)
			check(binsBefore(random, 84), kerneltest.RandomValues(random, 10000), round)
		}
		// One bin alone is open in the second round.
		xs := kerneltest.RandomValues(random, 2000)
		for _, slots := range []int{1, 3, 84, 128} {
			for open := range slots {
				m := make([]uint64, slots)
				m[open] = EmptySlot
				check(m, xs, 1)
			}
		}
	})
}

func TestFallbackKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 4))
	Each(func(name string) {
		for _, slots := range kerneltest.Around[1:] {
			for _, n := range []int{0, 1, 7, 8, 100} {
				m, xs, p := binsBefore(random, slots), kerneltest.RandomValues(random, n), FirstPermutations(slots)
				want := slices.Clone(m)
				for i, v := range want { // the definition
					for _, x := range xs {
						if v >= 3<<62 {
							want[i] = min(want[i], 3<<62|(p.A[i]*x+p.B[i])>>2)
						}
					}
				}
				got, intact := guarded(m)
				if fallbackKernel(got, p.A, p.B, xs, NewOwnMinima(slots)); !slices.Equal(got, want) || !intact() {
					t.Fatalf("%s: fallback of %d values for %d slots differs", name, n, slots)
				}
			}
		}
	})
}

func TestRoundsKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 6))
	Each(func(name string) {
		check := func(m, xs []uint64) {
			t.Helper()
			p, want := FirstPermutations(len(m)), slices.Clone(m)
			for round := range FastRounds {
				binsOf(want, xs, round)
			}
			for i := range want {
				for _, x := range xs {
					want[i] = min(want[i], 3<<62|(p.A[i]*x+p.B[i])>>2)
				}
			}
			got, intact := guarded(m)
			if Rounds(got, p.A, p.B, xs, NewOwnMinima(len(m))); !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: all rounds of %d values in %d bins differ", name, len(xs), len(m))
			}
		}
		empty := func(slots int) []uint64 {
			m := make([]uint64, slots)
			FillEmpty(m)
			return m
		}
		for _, slots := range append([]int{84, 120, 128, 129, 200}, kerneltest.Around[1:]...) {
			for _, n := range append([]int{84, 120, 127, 128, 129, 200}, kerneltest.Around...) {
				check(empty(slots), kerneltest.RandomValues(random, n))
				check(binsBefore(random, slots), kerneltest.RandomValues(random, n))
			}
		}
		// All in one bin, and one value again and again.
		for _, n := range []int{1, 127, 128} {
			x := random.Uint64()
			check(empty(84), slices.Repeat([]uint64{x}, n))
			var same []uint64
			for len(same) < n {
				if y := random.Uint64(); MixRound(y, 0)>>57 == 0 {
					same = append(same, y)
				}
			}
			check(empty(84), same)
		}
	})
}

func TestCutKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 7))
	Each(func(name string) {
		for _, n := range kerneltest.Around {
			slots := kerneltest.RandomValues(random, n)
			out, want := make([]byte, n+64), make([]byte, n+64)
			for i, v := range slots { // a prefix of its 16 bits
				want[i] = byte(Cut(v, 16) >> 8)
			}
			if CutBytes(out, slots); !bytes.Equal(out, want) {
				t.Fatalf("%s: 8 bits of %d slots are %x, want %x", name, n, out, want)
			}
		}
	})
}

func TestFeatureKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 8))
	Each(func(name string) {
		for k := 1; k <= 64; k++ {
			for _, s := range []int{1, 2, 3, 5, 7, 8, 9, 14, 15, 16, 17, 40, 255} {
				slots := kerneltest.RandomValues(random, k*s+k%3)
				var stored, native []byte
				for _, m := range slots {
					stored = binary.BigEndian.AppendUint64(stored, m)
					native = binary.NativeEndian.AppendUint64(native, m)
				}
				want := make([]uint64, k)
				for g := range want { // the definition
					sum := Features64.Mul(uint64(g+1), Features64.wordPower(s+1))
					for j := range s {
						sum ^= Features64.Mul(slots[g*s+j], Features64.wordPower(s-j))
					}
					want[g] = sum
				}
				for order, bytes := range map[SlotOrder][]byte{NativeEndian: native, BigEndian: stored} {
					got, intact := guarded(make([]uint64, k))
					Features(got, slices.Clip(bytes), s, order)
					if !slices.Equal(got, want) || !intact() {
						t.Fatalf("%s: %d features of %d slots differ", name, k, s)
					}
				}
				if s > 40 && k > 3 {
					break
				}
			}
		}
	})
}

func TestDifferingKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 7))
	Each(func(name string) {
		for _, n := range kerneltest.Around {
			for _, b := range []int{1, 2, 4, 8, 64} {
				bytes := n * max(1, b/8)
				p, q := make([]byte, bytes), make([]byte, bytes)
				for i := range p {
					p[i] = byte(random.UintN(256))
					q[i] = p[i]
				}
				for range random.IntN(n + 1) {
					q[random.IntN(bytes)] ^= 1 << random.IntN(8)
				}
				slots, want := bytes*8/b, 0
				for i := range slots { // a bit at a time
					differ := false
					for bit := i * b; bit < (i+1)*b; bit++ {
						differ = differ || (p[bit/8]^q[bit/8])>>(7-bit%8)&1 != 0
					}
					if differ {
						want++
					}
				}
				if got := Differing(p, q, b); got != want {
					t.Fatalf("%s: %d of %d slots of %d bits differ, want %d", name, got, slots, b, want)
				}
			}
		}
	})
}

func checkEdges(t *testing.T, name string, src []byte, fold byte) {
	t.Helper()
	const base = 1000
	room := len(src) + EdgesSlack
	text, edges := make([]byte, room), make([]uint32, room)
	count, done := Edges(text, edges, src, base, fold, nil)
	// The definition, a byte at a time.
	var want []uint32
	n, inside := 0, false
	for ; n < len(src) && src[n] < 0x80; n++ {
		c := src[n] | 0x20
		if word := c >= 'a' && c <= 'z' || src[n] >= '0' && src[n] <= '9'; word != inside {
			want = append(want, uint32(base+n))
			inside = word
		}
		if text[n] != src[n]|fold {
			t.Fatalf("%s: byte %d of %q became %q", name, n, src, text[n])
		}
	}
	if done != n || !slices.Equal(edges[:count], want) {
		t.Fatalf("%s: edges of %q are %d to %d, want %d to %d", name, src, edges[:count], done, want, n)
	}
}

func TestEdgesKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 4))
	Each(func(name string) {
		for _, n := range append(kerneltest.Around, 4095, 4096, 4097) {
			for range 10 {
				src := kerneltest.AsciiText(random, n)
				checkEdges(t, name, src, 0x20)
				checkEdges(t, name, src, 0)
				if n > 0 {
					src[random.IntN(n)] |= 0x80
					checkEdges(t, name, src, 0x20)
				}
			}
		}
		for _, pattern := range []string{"a", " ", "a ", "aa  "} {
			for n := range 200 {
				checkEdges(t, name, bytes.Repeat([]byte(pattern), n), 0x20)
			}
		}
	})
}

func FuzzEdgesKernel(f *testing.F) {
	f.Add([]byte("The quick brown fox, 2 lazy dogs; caf\xc3\xa9. And then some more text for a whole block"))
	f.Fuzz(func(t *testing.T, src []byte) {
		Each(func(name string) {
			checkEdges(t, name, src, 0x20)
			checkEdges(t, name, src, 0)
		})
	})
}

// spacedOf is the definition of Spaced.
func spacedOf(src []byte, table *[256]byte, blank bool) (out []byte, done int) {
	for ; done < len(src) && table[src[done]] != 0; done++ {
		c := table[src[done]]
		if c != ' ' || !blank {
			out = append(out, c)
		}
		blank = c == ' '
	}
	return out, done
}

func checkSpaced(t *testing.T, name string, src []byte, blank bool) {
	t.Helper()
	var table [256]byte
	for c := range byte(0x80) {
		table[c] = ' '
		if WordBytes(uint64(c)) != 0 || c == '$' {
			table[c] = c | 0x20
		}
	}
	want, end := spacedOf(src, &table, blank)
	out := make([]byte, len(src)+EdgesSlack+8)
	for i := range 8 {
		out[len(src)+EdgesSlack+i] = 0xCA
	}
	n, done := Spaced(out[:len(src)+EdgesSlack:len(src)+EdgesSlack], slices.Clip(src), &table, blank)
	if done != end || !bytes.Equal(out[:n], want) || !bytes.Equal(out[len(src)+EdgesSlack:], bytes.Repeat([]byte{0xCA}, 8)) {
		t.Fatalf("%s: %q became %q to %d, want %q to %d", name, src, out[:n], done, want, end)
	}
}

func TestSpacedKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 10))
	Each(func(name string) {
		for _, n := range append(kerneltest.Around, 4095, 4096, 4097) {
			for i := range 10 {
				src := kerneltest.AsciiText(random, n)
				checkSpaced(t, name, src, i%2 == 0)
				if n > 0 {
					src[random.IntN(n)] |= 0x80
					checkSpaced(t, name, src, i%2 == 0)
				}
			}
		}
	})
}

func checkCharacters(t *testing.T, name string, text []byte) {
	t.Helper()
	var want []uint64
	for rest := text; len(rest) > 0; {
		_, size := utf8.DecodeRune(rest)
		want = append(want, TokenFingerprint(rest[:size]))
		rest = rest[size:]
	}
	out, intact := guarded(make([]uint64, len(text)+CharacterSlack))
	n := Characters(out, append(slices.Clone(text), make([]byte, TokenSlack)...)[:len(text)])
	if !slices.Equal(out[:n], want) || !intact() {
		t.Fatalf("%s: the characters of %q are %x, want %x", name, text, out[:n], want)
	}
}

func TestCharactersKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 11))
	Each(func(name string) {
		for _, n := range append(kerneltest.Around, 4096) {
			for rare := 1; rare < 40; rare += 5 {
				checkCharacters(t, name, bytes.ToValidUTF8(kerneltest.OtherText(random, n, rare), []byte("💣")))
				checkCharacters(t, name, kerneltest.AsciiText(random, n))
			}
		}
	})
}

func FuzzCharactersKernel(f *testing.F) {
	f.Add([]byte("C++ costs $5, 中文 and caf\xc3\xa9 \xf0\x9f\x92\xa3. And then some more text for a whole block, and its end"), true)
	f.Fuzz(func(t *testing.T, src []byte, blank bool) {
		Each(func(name string) {
			checkSpaced(t, name, src, blank)
			checkCharacters(t, name, bytes.ToValidUTF8(src, []byte("?")))
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
	Each(func(name string) {
		for _, n := range sizes {
			xs := kerneltest.RandomValues(rand.New(rand.NewPCG(1, 2)), n)
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
			m, p := make([]uint64, t), FirstPermutations(t)
			benchmarkEach(b, []int{64, 512}, func(xs []uint64) { Minima(m, p.A, p.B, xs) })
		})
	}
}

func BenchmarkShingle(b *testing.B) {
	for _, w := range []int{1, 4, 9, 32, 64} {
		win := NewWindow(w)
		out := make([]uint64, 1024)
		b.Run(fmt.Sprintf("w=%d", w), func(b *testing.B) {
			benchmarkEach(b, []int{512}, func(xs []uint64) { shingleKernel(win, xs, out[:len(xs)-w+1]) })
		})
	}
}

func BenchmarkBins(b *testing.B) {
	m := make([]uint64, 84)
	for _, first := range []bool{true, false} {
		b.Run(fmt.Sprintf("empty=%v", first), func(b *testing.B) {
			benchmarkEach(b, []int{64, 512}, func(xs []uint64) {
				for i := range m {
					m[i] = EmptySlot >> 2
					if !first {
						m[i] >>= 6
					}
				}
				Bins(m, xs, 0)
			})
		})
	}
}

func BenchmarkRounds(b *testing.B) {
	m, p, own := make([]uint64, 84), FirstPermutations(84), NewOwnMinima(84)
	benchmarkEach(b, []int{10, 40, 90, 128, 256}, func(xs []uint64) {
		FillEmpty(m)
		Rounds(m, p.A, p.B, xs, own)
	})
}

// binsOf is the definition of Bins.
func binsOf(m, xs []uint64, round int) {
	for _, x := range xs {
		h := MixRound(x, round)
		bin := h >> 32 * uint64(len(m)) >> 32
		m[bin] = min(m[bin], uint64(round)<<62|h>>2)
	}
}

// The published polynomials are those that the seeds draw.
func TestPublishedPolynomials(t *testing.T) {
	for seed, p := range map[uint64]rabin.Polynomial{1997: ShinglePolynomial, 2000: FeaturePolynomial, 2011: LabelPolynomial} {
		if got := rabin.DrawPolynomial(64, seed); got != p {
			t.Errorf("seed %d draws %#x, published is %#x", seed, got.Low, p.Low)
		}
	}
}

// The shingles of sketches are the two-level form under the published
// polynomial.
func TestTwoLevels(t *testing.T) {
	f, err := rabin.NewFingerprinter(ShinglePolynomial)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(40, 3))
	for range 300 {
		var tokens [][]byte
		var level []uint64
		for range random.IntN(7) {
			token := make([]byte, random.IntN(40))
			for i := range token {
				token[i] = byte(random.Uint32())
			}
			tokens = append(tokens, token)
			level = append(level, TokenFingerprint(token))
			reversed := slices.Clone(token)
			slices.Reverse(reversed)
			if got, want := TokenFingerprint(token), f.Fingerprint(reversed); got != want {
				t.Fatalf("token %x: %#x, want %#x", token, got, want)
			}
		}
		if got, want := f.Shingle(tokens...), ShingleOf(level); got != want {
			t.Fatalf("shingle %x: %#x, want %#x", tokens, got, want)
		}
	}
}

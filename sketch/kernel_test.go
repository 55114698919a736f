package sketch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"
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

func TestShingleKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 2))
	withEach(t, func(name string) {
		check := func(w, n int) {
			tokens, win := randomValues(random, w+n-1), newWindow(w)
			want := make([]uint64, n)
			shingleGeneric(win, tokens, want)
			for i, h := range want {
				if h != shingleOf(tokens[i:i+w]) {
					t.Fatalf("w=%d: shingle %d slid to is not the one of its tokens", w, i)
				}
			}
			got, intact := guarded(make([]uint64, n))
			shingleKernel(win, slices.Clip(tokens), got)
			if !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: %d shingles of %d tokens differ", name, n, w)
			}
		}
		for _, n := range around[1:] {
			check(4, n)
		}
		for w := range 70 {
			check(w+1, 21)
		}
	})
}

// binsOf is the definition of binsKernel.
func binsOf(m, xs []uint64, round int) {
	for _, x := range xs {
		h := mixRound(x, round)
		bin := h >> 32 * uint64(len(m)) >> 32
		m[bin] = min(m[bin], uint64(round)<<62|h>>2)
	}
}

// binsBefore returns a possible state of the slots: empty slots, those of a few
// or of many values in some rounds, and of the fallback.
func binsBefore(random *rand.Rand, slots int) []uint64 {
	m := make([]uint64, slots)
	fillEmpty(m)
	for round := range fastRounds {
		binsOf(m, randomValues(random, slots*random.IntN(4)*random.IntN(2)), round)
	}
	for i, v := range m {
		if v == emptySlot && random.IntN(8) == 0 {
			m[i] = fallbackBound | random.Uint64()>>2
		}
	}
	return m
}

func TestBinsKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 3))
	withEach(t, func(name string) {
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
			if n := binsKernel(got, xs, round); n != open || !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: round %d of %d values in %d bins differs; %d open, want %d", name, round, len(xs), len(start), n, open)
			}
		}
		for round := range fastRounds {
			for _, n := range around {
				for range 4 {
					check(binsBefore(random, 84), randomValues(random, n), round)
					check(binsBefore(random, n+1), randomValues(random, 100), round)
				}
			}
			check(binsBefore(random, 4096), randomValues(random, 10000), round)
			check(binsBefore(random, 84), randomValues(random, 10000), round)
		}
		// One bin alone is open in the second round.
		xs := randomValues(random, 2000)
		for _, slots := range []int{1, 3, 84, 128} {
			for open := range slots {
				m := make([]uint64, slots)
				m[open] = emptySlot
				check(m, xs, 1)
			}
		}
	})
}

func TestFallbackKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 4))
	withEach(t, func(name string) {
		for _, slots := range around[1:] {
			for _, n := range []int{0, 1, 7, 8, 100} {
				m, xs, p := binsBefore(random, slots), randomValues(random, n), firstPermutations(slots)
				want := slices.Clone(m)
				for i, v := range want { // the definition
					for _, x := range xs {
						if v >= 3<<62 {
							want[i] = min(want[i], 3<<62|(p.a[i]*x+p.b[i])>>2)
						}
					}
				}
				got, intact := guarded(m)
				if fallbackKernel(got, p.a, p.b, xs, newOwnMinima(slots)); !slices.Equal(got, want) || !intact() {
					t.Fatalf("%s: fallback of %d values for %d slots differs", name, n, slots)
				}
			}
		}
	})
}

func TestRoundsKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 6))
	withEach(t, func(name string) {
		check := func(m, xs []uint64) {
			t.Helper()
			p, want := firstPermutations(len(m)), slices.Clone(m)
			for round := range fastRounds {
				binsOf(want, xs, round)
			}
			for i := range want {
				for _, x := range xs {
					want[i] = min(want[i], 3<<62|(p.a[i]*x+p.b[i])>>2)
				}
			}
			got, intact := guarded(m)
			if roundsKernel(got, p.a, p.b, xs, newOwnMinima(len(m))); !slices.Equal(got, want) || !intact() {
				t.Fatalf("%s: all rounds of %d values in %d bins differ", name, len(xs), len(m))
			}
		}
		empty := func(slots int) []uint64 {
			m := make([]uint64, slots)
			fillEmpty(m)
			return m
		}
		for _, slots := range append([]int{84, 120, 128, 129, 200}, around[1:]...) {
			for _, n := range append([]int{84, 120, 127, 128, 129, 200}, around...) {
				check(empty(slots), randomValues(random, n))
				check(binsBefore(random, slots), randomValues(random, n))
			}
		}
		// All in one bin, and one value again and again.
		for _, n := range []int{1, 127, 128} {
			x := random.Uint64()
			check(empty(84), slices.Repeat([]uint64{x}, n))
			var same []uint64
			for len(same) < n {
				if y := random.Uint64(); mixRound(y, 0)>>57 == 0 {
					same = append(same, y)
				}
			}
			check(empty(84), same)
		}
	})
}

func TestCutKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 7))
	withEach(t, func(name string) {
		for _, n := range around {
			slots := randomValues(random, n)
			out, want := make([]byte, n+64), make([]byte, n+64)
			for i, v := range slots { // a prefix of its 16 bits
				want[i] = byte(cut(v, 16) >> 8)
			}
			if cutKernel(out, slots); !bytes.Equal(out, want) {
				t.Fatalf("%s: 8 bits of %d slots are %x, want %x", name, n, out, want)
			}
		}
	})
}

// A document taken in pieces of any lengths has the slots of the definition.
func TestFastPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 5))
	withEach(t, func(name string) {
		for range 300 {
			slots := 1 + random.IntN(200)
			f, xs := newFast(slots), randomValues(random, random.IntN(6*slots))
			want := make([]uint64, slots)
			fillEmpty(want)
			for round := range fastRounds {
				binsOf(want, xs, round)
			}
			for i := range want {
				for _, x := range xs {
					want[i] = min(want[i], 3<<62|(f.a[i]*x+f.b[i])>>2)
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

func TestFeatureKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 8))
	withEach(t, func(name string) {
		for k := 1; k <= 64; k++ {
			for _, s := range []int{1, 2, 3, 5, 7, 8, 9, 14, 15, 16, 17, 40, 255} {
				slots := randomValues(random, k*s+k%3)
				var stored, native []byte
				for _, m := range slots {
					stored = binary.BigEndian.AppendUint64(stored, m)
					native = binary.NativeEndian.AppendUint64(native, m)
				}
				want := make([]uint64, k)
				for g := range want { // the definition
					sum := features64.Mul(uint64(g+1), features64.wordPower(s+1))
					for j := range s {
						sum ^= features64.Mul(slots[g*s+j], features64.wordPower(s-j))
					}
					want[g] = sum
				}
				for order, bytes := range map[slotOrder][]byte{nativeEndian: native, bigEndian: stored} {
					got, intact := guarded(make([]uint64, k))
					featureKernel(got, slices.Clip(bytes), s, order)
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
	withEach(t, func(name string) {
		for _, n := range around {
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
				x := blob{Profile: Profile{T: bytes * 8 / b, Bits: b}, payload: p}
				y := blob{Profile: Profile{T: bytes * 8 / b, Bits: b}, payload: q}
				want := 0
				for i := range x.T {
					if x.slot(i) != y.slot(i) {
						want++
					}
				}
				if got := differingKernel(p, q, b); got != want {
					t.Fatalf("%s: %d of %d slots of %d bits differ, want %d", name, got, x.T, b, want)
				}
			}
		}
	})
}

// asciiText is text for the word kernels: mostly words, with runs and rubbish.
func asciiText(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+200)
	for len(text) < n {
		switch random.IntN(20) {
		case 0:
			text = append(text, byte(random.UintN(128)))
		case 1:
			for range random.IntN(200) {
				text = append(text, "aZ"[random.IntN(2)])
			}
		case 2:
			for range random.IntN(80) {
				text = append(text, "x."[len(text)&1])
			}
		}
		for range random.IntN(12) {
			text = append(text, "abcdefghijklmnopqrstuvwxyzABCXYZ0189"[random.IntN(36)])
		}
		for range random.IntN(3) {
			text = append(text, " ,@[`{/:\n\x00\x7f"[random.IntN(11)])
		}
	}
	return text[:n]
}

func checkEdges(t *testing.T, name string, src []byte, fold byte) {
	t.Helper()
	const base = 1000
	room := len(src) + edgesSlack
	text, edges := make([]byte, room), make([]uint32, room)
	count, done := edgesKernel(text, edges, src, base, fold, nil)
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
	withEach(t, func(name string) {
		for _, n := range append(around, 4095, 4096, 4097) {
			for range 10 {
				src := asciiText(random, n)
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
		withEach(t, func(name string) {
			checkEdges(t, name, src, 0x20)
			checkEdges(t, name, src, 0)
		})
	})
}

// otherText is text of many scripts, with characters that are not plain and
// bytes that are not UTF-8 now and then; the rarer they are, the longer it goes
// without.
func otherText(random *rand.Rand, n, rare int) []byte {
	scripts := []struct{ first, last rune }{
		{' ', '~'}, {' ', '~'}, {0xA0, 0xFF}, {0x400, 0x45F}, {0x410, 0x44F}, {0x391, 0x3CE}, {0x100, 0x17F}, {0x5D0, 0x5EA}, {0x620, 0x64A}, {0x2010, 0x2027}, {0x80, 0x7FF},
	}
	text := make([]byte, 0, n+32)
	for len(text) < n {
		script := scripts[random.IntN(len(scripts))]
		for range random.IntN(24) {
			text = utf8.AppendRune(text, script.first+random.Int32N(script.last-script.first+1))
			if random.IntN(6) == 0 {
				text = append(text, ' ')
			}
		}
		if random.IntN(rare) == 0 {
			switch random.IntN(4) {
			case 0:
				text = append(text, byte(0x80|random.UintN(128)))
			case 1:
				text = utf8.AppendRune(text, random.Int32N(0x11000))
			case 2:
				text = utf8.AppendRune(text, 0x300+random.Int32N(0x70))
			case 3:
				text = utf8.AppendRune(text, 0x2000+random.Int32N(0x70))
			}
		}
	}
	return text[:n]
}

// The kernel's words of plain text are those of the table of letters, and go as
// far as the text is plain.
func TestPlainEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 9))
	withEach(t, func(name string) {
		if !plainKernel() {
			return
		}
		for round := range 6000 {
			size := random.IntN(300)
			if round%50 == 0 {
				size = 4096
			}
			src := otherText(random, size, 1+round%40)
			for _, a := range []*alphabet{&foldedAlphabet, &casedAlphabet} {
				var fold byte
				if a.fold {
					fold = 0x20
				}
				text, edges := make([]byte, len(src)+edgesSlack), make([]uint32, len(src)+edgesSlack)
				count, done := edgesKernel(text, edges, src, 0, fold, plainOf(a))
				var want []uint32
				form := make([]byte, 0, len(src))
				n, inside := 0, false
				for n < len(src) {
					r, size := utf8.DecodeRune(src[n:])
					l := a.letter(r)
					word := l.class() == classWord || l.class() == classDigit
					if l.joins() || r == utf8.RuneError || size == 3 && r>>6 != 0x2000>>6 || size > 3 || size > 1 && word && l.length() != size {
						break
					}
					if !word && size > 1 && !separatesAll(a, r) {
						break
					}
					if word != inside {
						want, inside = append(want, uint32(n)), word
					}
					if word {
						form = append(form, byte(l), byte(l>>8))[:n+size]
					} else {
						form = append(form, text[n:n+size]...)
					}
					n += size
				}
				if done != n || !slices.Equal(edges[:count], want) || !bytes.Equal(text[:n], form) {
					t.Fatalf("%s: edges of %q are %d to %d, want %d to %d;\n%q\n%q", name, src, edges[:count], done, want, n, text[:n], form)
				}
			}
		}
	})
}

// separatesAll reports whether a character reads as separators alone.
func separatesAll(a *alphabet, r rune) bool {
	c := newCanonicaliser(a.fold)
	c.put(r)
	c.flush()
	for _, f := range string(c.out) {
		if k := classOf(f); k != classOther && k != classSpace {
			return false
		}
	}
	return len(c.out) > 0
}

// Whatever kernel finds them, the words are those of the slow path.
func TestWordsOfEachKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 10))
	for round := range 400 {
		doc := otherText(random, random.IntN(6000), 1+round%60)
		for _, settings := range []string{"text", "text case"} {
			p := mustProfile(t, settings)
			var want []string
			slow := newCanonicaliser(p.folds())
			for rest := doc; len(rest) > 0; {
				r, size := utf8.DecodeRune(rest)
				slow.put(r)
				rest = rest[size:]
			}
			slow.flush()
			b := builder{tokens: new(tokens)}
			for _, r := range string(slow.out) {
				b.word(classOf(r), []byte(string(r))...)
			}
			b.close()
			for _, s := range b.spans {
				want = append(want, string(b.text[s.start:s.end]))
			}
			withEach(t, func(name string) {
				if got := slices.Collect(Tokens(p, doc)); !slices.Equal(got, want) {
					t.Fatalf("%s, %s: the words of %q are\n%q, want\n%q", name, settings, doc, got, want)
				}
			})
		}
	}
}

func FuzzWordsOfEachKernel(f *testing.F) {
	random := rand.New(rand.NewPCG(84, 11))
	for range 20 {
		f.Add(otherText(random, 200, 10), true)
	}
	f.Fuzz(func(t *testing.T, doc []byte, fold bool) {
		p := mustProfile(t, "text")
		p.OtherCase = !fold
		var first []string
		withEach(t, func(name string) {
			got := slices.Collect(Tokens(p, doc))
			if name == implementations()[0].name {
				first = got
			} else if !slices.Equal(got, first) {
				t.Fatalf("%s: the words of %q are\n%q, want\n%q", name, doc, got, first)
			}
		})
	})
}

func TestFingerprintKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 5))
	withEach(t, func(name string) {
		for _, n := range around {
			var tok tokens
			for range n {
				start := len(tok.text)
				for range 1 + random.IntN([]int{7, 15, 40}[n%3]) {
					tok.text = append(tok.text, byte(random.UintN(256)))
				}
				tok.spans = append(tok.spans, span{uint32(start), uint32(len(tok.text))})
				tok.text = append(tok.text, asciiText(random, random.IntN(5))...)
			}
			before := []uint64{1, 2, 3}
			got := tok.appendFingerprints(before)
			for i, s := range tok.spans {
				if want := tokenFingerprint(tok.text[s.start:s.end]); got[3+i] != want {
					t.Fatalf("%s: the fingerprint of %q is %#x, want %#x", name, tok.text[s.start:s.end], got[3+i], want)
				}
			}
			if len(got) != 3+n || !slices.Equal(got[:3], before) {
				t.Fatalf("%s: %d fingerprints after 3, want %d", name, len(got)-3, n)
			}
		}
	})
}

// The ASCII path gives the words of the general one, wherever a piece ends.
func TestAsciiWords(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 6))
	withEach(t, func(name string) {
		for round := range 300 {
			src := asciiText(random, random.IntN(9000))
			if len(src) > 0 && round%2 == 0 {
				src[random.IntN(len(src))] = 0xe9
			}
			final := round%3 > 0
			var got tokens
			got.text = append(got.text, "before"...)
			n := got.asciiWords(src, true, final, nil)
			var want []string
			for _, w := range bytes.FieldsFunc(bytes.ToLower(src[:n]), func(r rune) bool { return wordBytes(uint64(r)) == 0 }) {
				want = append(want, string(w))
			}
			var have []string
			for _, s := range got.spans {
				have = append(have, string(got.text[s.start:s.end]))
			}
			if !slices.Equal(have, want) {
				t.Fatalf("%s: the words of %q are %q, want %q", name, src[:n], have, want)
			}
			if n > 0 && n < len(src) && wordBytes(uint64(src[n-1])) != 0 && wordBytes(uint64(src[n])) != 0 {
				t.Fatalf("%s: a piece ends in a word, %q|%q", name, src[:n], src[n:])
			}
			if n > 0 && (n < len(src) && src[n] >= 0x80 || n == len(src) && !final) {
				t.Fatalf("%s: a piece ends where a mark may follow: %q|%q", name, src[:n], src[n:])
			}
			if n == 0 && len(src) > 1 && src[0] < 0x80 && final && len(want) > 1 {
				t.Fatalf("%s: nothing was taken of %q", name, src)
			}
		}
	})
}

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
		win := newWindow(int(w)%40 + 1)
		c := newClassic(int(slots) + 1)
		withEach(t, func(name string) {
			var r result
			var tok tokens
			r.taken = tok.asciiWords(text, true, true, nil)
			r.fingerprints = tok.appendFingerprints(nil)
			r.shingles = win.append(nil, r.fingerprints, true)
			c.reset()
			c.add(r.shingles)
			r.minima = slices.Clone(c.m)
			r.bins = make([]uint64, int(slots)+1)
			for i := range r.bins {
				r.bins[i] = emptySlot
			}
			for round := range fastRounds {
				binsKernel(r.bins, r.shingles, round)
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
			featureKernel(r.stored, stored, s, bigEndian)
			for _, f := range appendFeatures(nil, c.m, len(r.stored), s) {
				r.features = append(r.features, uint64(f.Value))
			}
			for _, b := range []int{8, 64} {
				r.compare = append(r.compare, uint64(differingKernel(stored, slices.Concat(stored[8:], stored[:8]), b)))
			}
			if name == implementations()[0].name {
				first = r
			} else if !reflect.DeepEqual(r, first) {
				t.Fatalf("%s gives %+v, want %+v", name, r, first)
			}
		})
	})
}

// Once its buffers have grown, a Sketcher allocates nothing.
func TestTextAllocations(t *testing.T) {
	doc := sameEnglish(20000)
	withEach(t, func(name string) {
		for _, settings := range []string{"text", "text fast", "text bins t=128", "text bits=8"} {
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
		a, b := storedPair(t, "text"), storedPair(t, "text bits=8")
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

func BenchmarkShingle(b *testing.B) {
	for _, w := range []int{1, 4, 9, 32, 64} {
		win := newWindow(w)
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
					m[i] = emptySlot >> 2
					if !first {
						m[i] >>= 6
					}
				}
				binsKernel(m, xs, 0)
			})
		})
	}
}

func BenchmarkRounds(b *testing.B) {
	f := newFast(84)
	benchmarkEach(b, []int{10, 40, 90, 128, 256}, func(xs []uint64) {
		f.slotted.reset()
		roundsKernel(f.m, f.a, f.b, xs, f.own)
	})
}

func BenchmarkEdges(b *testing.B) {
	text, edges := make([]byte, 5000), make([]uint32, 5000)
	withEach(b, func(name string) {
		for _, n := range []int{500, 4096} {
			src := sameEnglish(n)
			b.Run(fmt.Sprintf("impl=%s/size=%dB", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					edgesKernel(text, edges, src, 0, 0x20, nil)
				}
			})
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	withEach(b, func(name string) {
		for _, n := range []int{500, 4096} {
			var t tokens
			t.asciiWords(sameEnglish(n), true, true, nil)
			out := make([]uint64, 0, 5000)
			b.Run(fmt.Sprintf("impl=%s/size=%dB", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					t.appendFingerprints(out)
				}
			})
		}
	})
}

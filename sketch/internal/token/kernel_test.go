package token

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// The kernel's words of plain text are those of the table of letters, and go as
// far as the text is plain.
func TestPlainEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 9))
	kernel.Each(func(name string) {
		if !kernel.KnowsPlain() {
			return
		}
		for round := range 6000 {
			size := random.IntN(300)
			if round%50 == 0 {
				size = 4096
			}
			src := kerneltest.OtherText(random, size, 1+round%40)
			for _, a := range []*alphabet{&foldedAlphabet, &casedAlphabet} {
				var fold byte
				if a.fold {
					fold = 0x20
				}
				text, edges := make([]byte, len(src)+kernel.EdgesSlack), make([]uint32, len(src)+kernel.EdgesSlack)
				count, done := kernel.Edges(text, edges, src, 0, fold, plainOf(a))
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
		doc := kerneltest.OtherText(random, random.IntN(6000), 1+round%60)
		for _, fold := range []bool{true, false} {
			settings := Settings{Stream: Words, Fold: fold}
			var want []string
			slow := newCanonicaliser(fold)
			for rest := doc; len(rest) > 0; {
				r, size := utf8.DecodeRune(rest)
				slow.put(r)
				rest = rest[size:]
			}
			slow.flush()
			b := builder{Tokens: new(Tokens)}
			for _, r := range string(slow.out) {
				b.word(classOf(r), []byte(string(r))...)
			}
			b.close()
			for _, s := range b.Spans {
				want = append(want, string(b.Text[s.Start:s.End]))
			}
			kernel.Each(func(name string) {
				if got := tokensOf(settings, doc); !slices.Equal(got, want) {
					t.Fatalf("%s, %v: the words of %q are\n%q, want\n%q", name, settings, doc, got, want)
				}
			})
		}
	}
}

func FuzzWordsOfEachKernel(f *testing.F) {
	random := rand.New(rand.NewPCG(84, 11))
	for range 20 {
		f.Add(kerneltest.OtherText(random, 200, 10), true)
	}
	f.Fuzz(func(t *testing.T, doc []byte, fold bool) {
		settings := Settings{Stream: Words, Fold: fold}
		var first []string
		kernel.Each(func(name string) {
			got := tokensOf(settings, doc)
			if name == kernel.Implementations()[0].Name {
				first = got
			} else if !slices.Equal(got, first) {
				t.Fatalf("%s: the words of %q are\n%q, want\n%q", name, doc, got, first)
			}
		})
	})
}

func TestFingerprintKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 5))
	kernel.Each(func(name string) {
		for _, n := range kerneltest.Around {
			var tok Tokens
			for range n {
				start := len(tok.Text)
				for range 1 + random.IntN([]int{7, 15, 40}[n%3]) {
					tok.Text = append(tok.Text, byte(random.UintN(256)))
				}
				tok.Spans = append(tok.Spans, kernel.Span{Start: uint32(start), End: uint32(len(tok.Text))})
				tok.Text = append(tok.Text, kerneltest.AsciiText(random, random.IntN(5))...)
			}
			before := []uint64{1, 2, 3}
			got := tok.AppendFingerprints(before)
			for i, s := range tok.Spans {
				if want := kernel.TokenFingerprint(tok.Text[s.Start:s.End]); got[3+i] != want {
					t.Fatalf("%s: the fingerprint of %q is %#x, want %#x", name, tok.Text[s.Start:s.End], got[3+i], want)
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
	kernel.Each(func(name string) {
		for round := range 300 {
			src := kerneltest.AsciiText(random, random.IntN(9000))
			if len(src) > 0 && round%2 == 0 {
				src[random.IntN(len(src))] = 0xe9
			}
			final := round%3 > 0
			var got Tokens
			got.Text = append(got.Text, "before"...)
			n := got.AsciiWords(src, true, final, nil)
			var want []string
			for _, w := range bytes.FieldsFunc(bytes.ToLower(src[:n]), func(r rune) bool { return kernel.WordBytes(uint64(r)) == 0 }) {
				want = append(want, string(w))
			}
			var have []string
			for _, s := range got.Spans {
				have = append(have, string(got.Text[s.Start:s.End]))
			}
			if !slices.Equal(have, want) {
				t.Fatalf("%s: the words of %q are %q, want %q", name, src[:n], have, want)
			}
			if n > 0 && n < len(src) && kernel.WordBytes(uint64(src[n-1])) != 0 && kernel.WordBytes(uint64(src[n])) != 0 {
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

func BenchmarkEdges(b *testing.B) {
	text, edges := make([]byte, 5000), make([]uint32, 5000)
	kernel.Each(func(name string) {
		for _, n := range []int{500, 4096} {
			src := kerneltest.SameEnglish(n)
			b.Run(fmt.Sprintf("impl=%s/size=%dB", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					kernel.Edges(text, edges, src, 0, 0x20, nil)
				}
			})
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	kernel.Each(func(name string) {
		for _, n := range []int{500, 4096} {
			var t Tokens
			t.AsciiWords(kerneltest.SameEnglish(n), true, true, nil)
			out := make([]uint64, 0, 5000)
			b.Run(fmt.Sprintf("impl=%s/size=%dB", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					t.AppendFingerprints(out)
				}
			})
		}
	})
}

// definedSpaced is the definition of the stream chars, over the canonical text as a whole.
func definedSpaced(doc []byte, fold bool) (list []string) {
	slow := newCanonicaliser(fold)
	for rest := doc; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		slow.put(r)
		rest = rest[size:]
	}
	slow.flush()
	var between, before []rune // what separates, and the last character with its marks
	for _, r := range string(slow.out) {
		k := classOf(r)
		if k != classWord && k != classDigit && k != classMark && k != classAlone && (k == classSpace || k == classControl || !isSymbol(r)) {
			between = append(between, r)
			continue
		}
		line := len(before) > 0 && classOf(before[0]) == classAlone && k == classAlone && !slices.ContainsFunc(between, func(r rune) bool {
			return classOf(r) != classSpace && classOf(r) != classControl
		})
		if list == nil || len(between) > 0 && !line {
			list = append(list, " ")
		}
		if k != classMark || len(between) > 0 {
			before = before[:0]
		}
		before, between = append(before, r), nil
		list = append(list, string(r))
	}
	if list != nil {
		list = append(list, " ")
	}
	return list
}

func checkCharacters(t *testing.T, doc []byte, fold bool, piece int) {
	t.Helper()
	want := definedSpaced(doc, fold)
	settings := Settings{Stream: Chars, Fold: fold}
	var prints []uint64
	for _, token := range want {
		prints = append(prints, kernel.TokenFingerprint([]byte(token)))
	}
	kernel.Each(func(name string) {
		if got := tokenize(settings, doc, func() int { return piece }); !slices.Equal(got, want) {
			t.Fatalf("%s, fold %v: the characters of %q in pieces of %d are\n%q, want\n%q", name, fold, doc, piece, got, want)
		}
		z, only := New(settings), Tokens{FingerprintsOnly: true}
		var got []uint64
		for rest := doc; ; {
			only.Reset()
			n := z.Next(&only, rest, true)
			got = only.AppendFingerprints(got)
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		if !slices.Equal(got, prints) {
			t.Fatalf("%s, fold %v: the fingerprints of the characters of %q are %x, want %x", name, fold, doc, got, prints)
		}
	})
}

// The characters are those of the definition, with every kernel and in any pieces.
func TestCharactersKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 12))
	scripts := [][2]rune{{' ', '~'}, {' ', '~'}, {' ', '@'}, {0x80, 0x17F}, {0x300, 0x36F}, {0x600, 0x6FF}, {0x900, 0x97F}, {0xE00, 0xE7F}, {0x1100, 0x11FF}, {0x2000, 0x206F}, {0x2190, 0x21FF}, {0x3000, 0x30FF}, {0x4E00, 0x4FFF}, {0xAC00, 0xADFF}, {0x1F300, 0x1F6FF}}
	for round := range kerneltest.Trials(6000) {
		var doc []byte
		for n := random.IntN(300); len(doc) < n; {
			script := scripts[random.IntN(len(scripts))]
			for range random.IntN(24) {
				if doc = utf8.AppendRune(doc, script[0]+random.Int32N(script[1]-script[0]+1)); random.IntN(8) == 0 {
					doc = append(doc, " \n\x80"[random.IntN(3)])
				}
			}
		}
		if round%50 == 0 {
			doc = append(doc, kerneltest.OtherText(random, 9000, 1+round%40)...)
		}
		checkCharacters(t, doc, round%2 == 0, 1+random.IntN(len(doc)+1))
	}
}

func FuzzCharactersOfEachKernel(f *testing.F) {
	for _, text := range texts {
		if len(text) < 1000 {
			f.Add([]byte(text), true, uint8(7))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, fold bool, piece uint8) { checkCharacters(t, doc, fold, 1+int(piece)) })
}

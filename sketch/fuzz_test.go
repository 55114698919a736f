package sketch

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Whatever a document is and however it is cut: its tokens are well formed, the
// pieces do not show, and what is held between them is bounded.
func FuzzTokens(f *testing.F) {
	for i, text := range texts {
		if len(text) < 1000 {
			f.Add(uint8(i), uint8(i*7), uint16(i*31), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, stream, filters uint8, cut uint16, doc []byte) {
		p := Profile{Stream: Stream(stream % uint8(Elements)), W: 1, OtherCase: filters&1 != 0, StopWords: filters&2 != 0, Vowels: filters&4 != 0, Duplicates: filters&8 != 0}
		want := whole(p, doc)
		for _, token := range want {
			if token == "" || len(token) > maxToken || !utf8.ValidString(token) {
				t.Fatalf("%+v: token %q", p, token)
			}
		}
		// Two pieces, and pieces of a few bytes.
		first := true
		if got := tokenize(p, doc, func() int {
			if first {
				first = false
				return int(cut)
			}
			return len(doc)
		}); !slices.Equal(got, want) {
			t.Fatalf("%+v: %q cut at %d:\n got %q\nwant %q", p, doc, cut, got, want)
		}
		if got := tokenize(p, doc, func() int { return 1 + int(cut%5) }); !slices.Equal(got, want) {
			t.Fatalf("%+v: %q in pieces of %d:\n got %q\nwant %q", p, doc, 1+cut%5, got, want)
		}

		z := newTokenizer(p)
		var b tokens
		for rest := doc; len(rest) > 0; {
			b.reset()
			n := z.next(&b, rest, false)
			if rest = rest[n:]; n == 0 && len(rest) >= utf8.UTFMax {
				t.Fatalf("%+v: %d bytes are left of %q", p, len(rest), doc)
			}
			// A character of 2 bytes can become 18 of up to 3.
			if len(b.text) > 40*pieceSize || len(b.spans) > 20*pieceSize {
				t.Fatalf("%+v: %d bytes in %d tokens of one piece of %q", p, len(b.text), len(b.spans), doc)
			}
			if n == 0 {
				break
			}
		}
	})
}

// Words are those that the libraries give for the whole text.
func FuzzWords(f *testing.F) {
	for _, text := range texts {
		if len(text) < 1000 {
			f.Add(true, text)
		}
	}
	f.Fuzz(func(t *testing.T, fold bool, text string) {
		marks := 0
		for _, r := range text {
			if classOf(r) == classUnassigned {
				return // newer than our tables
			}
			if unicode.Is(unicode.M, r) {
				marks++
			}
		}
		if marks > 15 || len(text) > maxToken/16 {
			return // the library counts marks in a row otherwise
		}
		want := literalWords(text, fold)
		if got := whole(Profile{Stream: Words, OtherCase: !fold, W: 1}, []byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%+q, fold %v:\n got %+q\nwant %+q", text, fold, got, want)
		}
	})
}

// The words and URLs of a page are those that golang.org/x/net/html gives, but
// where that departs from the standard.
func FuzzPage(f *testing.F) {
	for _, text := range texts {
		if strings.Contains(text, "<") {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		lower := strings.ToLower(text)
		switch {
		case len(text) > 1000, !utf8.ValidString(text), strings.ContainsFunc(text, func(r rune) bool { return classOf(r) == classUnassigned }):
			return
		case strings.Contains(lower, "<!--") && strings.Contains(lower, "script"):
			return // it leaves the escaped state of a script too early
		case strings.ContainsFunc(text, unicode.IsDigit) && strings.Contains(text, "&#") && len(text) > 8:
			return // its numbers overflow
		}
		want := literalPage(text, true)
		if got := whole(Profile{Stream: HTML, W: 1}, []byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	})
}

// Whatever two stored sketches are, the answer is an error or a number, and one
// that passes the check is as AppendSketch writes it.
func FuzzStored(f *testing.F) {
	for _, settings := range everyFamily {
		s := mustSketcher(f, settings)
		s.Document(numberedWords(0, 30))
		a := s.AppendSketch(nil)
		s.Document(numberedWords(10, 40))
		f.Add(a, s.AppendSketch(nil))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		unit := func(what string, r float64, err error) {
			if err == nil && !(r >= 0 && r <= 1) {
				t.Fatalf("%s of %x and %x: %v", what, a, b, r)
			}
		}
		r, err := Resemblance(a, b)
		unit("resemblance", r, err)
		c, err := Containment(a, b)
		unit("containment", c, err)
		if i, err := Bounds(a, b, 0.95); err == nil && !(0 <= i.Low && i.Low <= i.Estimate && i.Estimate <= i.High && i.High <= 1) {
			t.Fatalf("bounds of %x and %x: %v", a, b, i)
		}
		if n, err := Size(a); err == nil && (math.IsNaN(n) || n < 0) {
			t.Fatalf("size of %x: %v", a, n)
		}
		_, _ = Shared(a, b)
		_, _ = Alike(a, b)
		_, _ = Features(nil, a)
		_, _ = Superfeatures(nil, a)
		var m Merger
		if m.Add(a) == nil && m.Add(b) == nil {
			_, _ = m.AppendSketch(nil)
		}
		p, err := ProfileOf(a)
		if err != nil {
			return
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p {
			t.Fatalf("profile %q of %x reads as %q, %v", p, a, again, err)
		}
		if Check(a) != nil {
			return
		}
		if self, err := Resemblance(a, a); err != nil || self != 1 && len(a) > headerSize {
			t.Fatalf("%x resembles itself %v, %v", a, self, err)
		}
		if same, err := Cut(nil, a, p.Bits); err != nil || !bytes.Equal(same, a) {
			t.Fatalf("%x cut to its own %d bits is %x, %v", a, p.Bits, same, err)
		}
		var one Merger
		if one.Add(a) == nil {
			if same, err := one.AppendSketch(nil); err != nil || !bytes.Equal(same, a) {
				t.Fatalf("%x merged with nothing is %x, %v", a, same, err)
			}
		}
	})
}

func FuzzProfile(f *testing.F) {
	for _, settings := range everyFamily {
		f.Add(settings)
	}
	f.Fuzz(func(t *testing.T, settings string) {
		p, err := ParseProfile(settings)
		if err != nil {
			return
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p {
			t.Fatalf("%q is %q, which reads as %q, %v", settings, p, again, err)
		}
	})
}

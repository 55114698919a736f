package token

import (
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
		p := Settings{Stream: Stream(stream % uint8(Elements)), Fold: filters&1 != 0, StopWords: filters&2 != 0, Vowels: filters&4 != 0, Duplicates: filters&8 != 0}
		want := tokensOf(p, doc)
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

		z := New(p)
		var b Tokens
		for rest := doc; len(rest) > 0; {
			b.Reset()
			n := z.Next(&b, rest, false)
			if rest = rest[n:]; n == 0 && len(rest) >= utf8.UTFMax {
				t.Fatalf("%+v: %d bytes are left of %q", p, len(rest), doc)
			}
			// A character of 2 bytes can become 18 of up to 3.
			if len(b.Text) > 40*pieceSize || len(b.Spans) > 20*pieceSize {
				t.Fatalf("%+v: %d bytes in %d tokens of one piece of %q", p, len(b.Text), len(b.Spans), doc)
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
		if got := tokensOf(Settings{Stream: Words, Fold: fold}, []byte(text)); !slices.Equal(got, want) {
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
		if got := tokensOf(Settings{Stream: HTML, Fold: true}, []byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	})
}

package token

import (
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// filtered leaves out of another tokenizer's tokens what the settings do not
// want, in this order: stop words, numbers, tokens of letters and digits, vowels,
// words without a Soundex code, tokens that were there before. The stream chars is
// the characters of what remains.
type filtered struct {
	Tokenizer
	settings Settings
	seen     map[uint64]struct{} // the fingerprints of tokens, for Duplicates

	// Of chars:
	begun  bool // there was a character
	blank  bool // a blank comes before the next one
	spaced []byte
}

func (f *filtered) Reset() {
	f.Tokenizer.Reset()
	clear(f.seen)
	f.begun, f.blank = false, false
}

func (f *filtered) Next(t *Tokens, src []byte, final bool) int {
	first, base := len(t.Spans), len(t.Text)
	n := f.Tokenizer.Next(t, src, final)
	kept := t.Spans[:first]
	for _, s := range t.Spans[first:] {
		if f.settings.Stream == Chars && t.Text[s.Start] == ' ' {
			kept = append(kept, s)
			continue
		}
		if f.settings.Numbers || f.settings.IDs {
			digits, letters := contents(t.Text[s.Start:s.End])
			if digits && (f.settings.Numbers && !letters || f.settings.IDs && letters) {
				continue
			}
		}
		if f.settings.StopWords && isStopWord(t.Text[s.Start:s.End]) {
			continue
		}
		if f.settings.Vowels {
			s.End = s.Start + uint32(len(dropVowels(t.Text[s.Start:s.End])))
		}
		if f.settings.Stream == Soundex {
			end := len(t.Text)
			t.Text = AppendSoundex(t.Text, t.Text[s.Start:s.End])
			s = kernel.Span{Start: uint32(end), End: uint32(len(t.Text))}
		}
		if s.Start == s.End {
			continue
		}
		if f.settings.Duplicates {
			x := kernel.TokenFingerprint(t.Text[s.Start:s.End])
			if _, again := f.seen[x]; again {
				continue
			}
			f.seen[x] = struct{}{}
		}
		kept = append(kept, s)
	}
	t.Spans = kept
	if f.settings.Stream == Chars {
		f.space(t, first)
		if final && n == len(src) && f.begun {
			f.spaced = append(f.spaced, ' ')
		}
		t.Text, t.Spans = t.Text[:base], t.Spans[:first]
		t.characters(f.spaced)
	}
	return n
}

// space makes text of the words and the blanks of t, from a span on, with one
// blank before the first, however many words were dropped between two that remain.
func (f *filtered) space(t *Tokens, first int) {
	f.spaced = f.spaced[:0]
	for _, s := range t.Spans[first:] {
		word := t.Text[s.Start:s.End]
		if word[0] == ' ' {
			f.blank = true
			continue
		}
		if f.blank || !f.begun {
			f.spaced = append(f.spaced, ' ')
		}
		f.begun, f.blank = true, false
		f.spaced = append(f.spaced, word...)
	}
}

// contents tells whether a token has digits, and whether it has letters.
func contents(token []byte) (digits, letters bool) {
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		switch factsOf(r).class[r&(blockSize-1)] {
		case classDigit:
			digits = true
		case classWord, classAlone:
			letters = true
		}
		token = token[size:]
	}
	return digits, letters
}

// isStopWord reports whether word is a stop word in any case.
func isStopWord(word []byte) bool {
	var lower [maxStopWord]byte
	if len(word) > len(lower) {
		return false
	}
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return IsStopWord(lower[:len(word)])
}

// dropVowels takes the letters a, e, i, o and u out of word, in place.
func dropVowels(word []byte) []byte {
	kept := word[:0]
	for _, c := range word {
		switch c | 0x20 {
		case 'a', 'e', 'i', 'o', 'u':
			if c >= 'A' && c < utf8.RuneSelf {
				continue
			}
		}
		kept = append(kept, c)
	}
	return kept
}

package sketch

import "unicode/utf8"

// filtered leaves out of another tokenizer's tokens what its profile does not
// want, in this order: stop words, numbers, tokens of letters and digits, vowels,
// words without a Soundex code, tokens that were there before. The stream chars is
// the characters of what remains.
type filtered struct {
	tokenizer
	profile Profile
	seen    map[uint64]struct{} // the fingerprints of tokens, for Duplicates

	// Of chars:
	begun  bool // there was a character
	blank  bool // a blank comes before the next one
	spaced tokens
}

func (f *filtered) reset() {
	f.tokenizer.reset()
	clear(f.seen)
	f.begun, f.blank = false, false
}

func (f *filtered) next(t *tokens, src []byte, final bool) int {
	first, base := len(t.spans), len(t.text)
	n := f.tokenizer.next(t, src, final)
	kept := t.spans[:first]
	for _, s := range t.spans[first:] {
		if f.profile.Stream == Chars && t.text[s.start] == ' ' {
			kept = append(kept, s)
			continue
		}
		if f.profile.Numbers || f.profile.IDs {
			digits, letters := contents(t.text[s.start:s.end])
			if digits && (f.profile.Numbers && !letters || f.profile.IDs && letters) {
				continue
			}
		}
		if f.profile.StopWords && isStopWord(t.text[s.start:s.end]) {
			continue
		}
		if f.profile.Vowels {
			s.end = s.start + uint32(len(dropVowels(t.text[s.start:s.end])))
		}
		if f.profile.Stream == Soundex {
			end := len(t.text)
			t.text = AppendSoundex(t.text, t.text[s.start:s.end])
			s = span{uint32(end), uint32(len(t.text))}
		}
		if s.start == s.end {
			continue
		}
		if f.profile.Duplicates {
			x := tokenFingerprint(t.text[s.start:s.end])
			if _, again := f.seen[x]; again {
				continue
			}
			f.seen[x] = struct{}{}
		}
		kept = append(kept, s)
	}
	t.spans = kept
	if f.profile.Stream == Chars {
		f.space(t, first)
		if final && n == len(src) && f.begun {
			f.spaced.append(" ")
		}
		t.text, t.spans = t.text[:base], t.spans[:first]
		for _, s := range f.spaced.spans {
			t.spans = append(t.spans, span{uint32(base) + s.start, uint32(base) + s.end})
		}
		t.text = append(t.text, f.spaced.text...)
	}
	return n
}

// space takes the words and the blanks of t, from a span on, apart into
// characters: with one blank before the first, however many words were dropped
// between two that remain.
func (f *filtered) space(t *tokens, first int) {
	f.spaced.reset()
	for _, s := range t.spans[first:] {
		word := t.text[s.start:s.end]
		if word[0] == ' ' {
			f.blank = true
			continue
		}
		if f.blank || !f.begun {
			f.spaced.append(" ")
		}
		f.begun, f.blank = true, false
		for len(word) > 0 {
			_, size := utf8.DecodeRune(word)
			f.spaced.append(string(word[:size]))
			word = word[size:]
		}
	}
}

// append adds a token.
func (t *tokens) append(token string) {
	at := uint32(len(t.text))
	t.text = append(t.text, token...)
	t.spans = append(t.spans, span{at, uint32(len(t.text))})
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

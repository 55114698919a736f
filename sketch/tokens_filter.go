package sketch

import "unicode/utf8"

// filtered leaves out of another tokenizer's tokens what its profile does not
// want, in this order: stop words, vowels, words without a Soundex code, tokens
// that were there before. The stream chars is the characters of what remains.
type filtered struct {
	tokenizer
	profile Profile
	seen    map[uint64]struct{} // the fingerprints of tokens, for Duplicates
	spans   []span
}

func (f *filtered) reset() {
	f.tokenizer.reset()
	clear(f.seen)
}

func (f *filtered) next(t *tokens, src []byte, final bool) int {
	first := len(t.spans)
	n := f.tokenizer.next(t, src, final)
	kept := t.spans[:first]
	for _, s := range t.spans[first:] {
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
		f.spans = append(f.spans[:0], t.spans[first:]...)
		t.spans = t.spans[:first]
		for _, s := range f.spans {
			for i := s.start; i < s.end; {
				_, size := utf8.DecodeRune(t.text[i:s.end])
				t.spans = append(t.spans, span{i, i + uint32(size)})
				i += uint32(size)
			}
		}
	}
	return n
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

package token

import "unicode/utf8"

// spaced are the words of the stream chars, with a token of one blank for what
// separates two of them. Symbols belong to words here: in short texts they carry
// meaning, as in C++, $5 or an emoji. White space between two characters of
// scripts that are written without blanks is a line that ends, and separates
// nothing.
type spaced struct {
	reader
	builder
	begun bool // there was a word
	gap   gap
	alone bool // the last character is of classAlone, but for the marks after it
}

// A gap is what stands between a character and the one before.
type gap uint8

const (
	noGap       gap = iota
	whiteSpace      // white space and controls
	punctuation     // anything else that separates, perhaps with white space
)

func newSpaced(fold bool) *spaced { return &spaced{reader: newReader(fold)} }

func (s *spaced) Reset() {
	s.reader.Reset()
	s.builder.Reset()
	s.begun, s.gap, s.alone = false, noGap, false
}

func (s *spaced) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > pieceSize {
		src, final = src[:pieceSize], false
	}
	end := anything
	if final {
		end = nothing
	}
	n := s.reader.feed(src, end)
	s.begin(t)
	for text := s.reader.text; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		s.character(r, text[:size])
		text = text[size:]
	}
	s.reader.text = s.reader.text[:0]
	s.finish(final)
	return n
}

// character takes a character of canonical text.
func (s *spaced) character(r rune, form []byte) {
	k := factsOf(r).class[r&(blockSize-1)]
	switch {
	case k == classSpace || k == classControl:
		s.gap = max(s.gap, whiteSpace)
		s.close()
		return
	case isSymbol(r):
		k = classWord
	case !k.inWord():
		s.gap = punctuation
		s.close()
		return
	}
	wrapped := s.gap == whiteSpace && s.alone && k == classAlone
	if s.begun && s.gap != noGap && !wrapped {
		s.Text = append(s.Text, ' ')
		s.close()
	}
	s.alone = k == classAlone || k == classMark && s.alone && s.gap == noGap
	s.begun, s.gap = true, noGap
	s.word(k, form...)
}

// isSymbol reports whether a character that is no letter belongs to words in
// the stream chars: # $ % & + < = > @, the signs of money and of measure, arrows,
// mathematics, pictures.
func isSymbol(r rune) bool {
	switch {
	case r < 0xA2:
		return r >= '#' && r <= '&' || r == '+' || r >= '<' && r <= '>' || r == '@'
	case r < 0x2000:
		return r <= 0xA9 && r != 0xA6 && r != 0xA8 || r == 0xAC || r == 0xAE || r == 0xB0 || r == 0xB1 || r == 0xD7 || r == 0xF7
	}
	return r >= 0x20A0 && r <= 0x20CF || r >= 0x2100 && r <= 0x2BFF || r >= 0x1F000 && r <= 0x1FAFF
}

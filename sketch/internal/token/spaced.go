package token

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A spacer makes the text of the stream chars: the words of a document with one
// blank before each and one after the last. Symbols belong to words here: in short
// texts they carry meaning, as in C++, $5 or an emoji. White space between two characters of
// scripts that are written without blanks is a line that ends, and separates
// nothing.
type spacer struct {
	alphabet *alphabet
	ascii    *[256]byte // see kernel.Spaced
	slow     *canonicaliser
	out      []byte
	begun    bool // there was a character
	blank    bool // the last thing that was given is a blank, or nothing was
	gap      gap  // after a character of classAlone; after another the blank is given at once
	alone    bool // the last character is of classAlone, but for the marks after it
}

// A gap is what stands between a character and the one before.
type gap uint8

const (
	noGap       gap = iota
	whiteSpace      // white space and controls
	punctuation     // anything else that separates, perhaps with white space
)

// spacedLetters are the characters of ASCII as the stream chars has them, the
// separators as blanks. Other bytes are 0.
var spacedLetters = func() (tables [2][256]byte) {
	for c := range byte(utf8.RuneSelf) {
		tables[0][c], tables[1][c] = ' ', ' '
		if asciiLetters[0][c] != 0 || isSymbol(rune(c)) {
			tables[0][c], tables[1][c] = c, max(c, asciiLetters[1][c])
		}
	}
	return tables
}()

func newSpacer(fold bool) spacer {
	s := spacer{alphabet: alphabetOf(fold), ascii: &spacedLetters[0], slow: newCanonicaliser(fold), blank: true}
	if fold {
		s.ascii = &spacedLetters[1]
	}
	return s
}

func (s *spacer) Reset() {
	s.slow.Reset()
	s.begun, s.blank, s.gap, s.alone = false, true, noGap, false
}

// feed makes out of src and returns how many bytes it took, as words do.
func (s *spacer) feed(src []byte, final bool) int {
	end := anything
	if final {
		end = nothing
	}
	s.out = s.out[:0]
	i := 0
	for i < len(src) {
		if !s.slow.active {
			begin := i
			i += s.feedASCII(src[i:], end)
			if i = s.quick(src, i, end); i > begin {
				continue
			}
		}
		r, size := decode(src[i:], end)
		if size == 0 {
			break
		}
		if s.slow.active && !s.alphabet.letter(r).joins() {
			s.settle()
			continue
		}
		s.slow.put(r)
		i += size
		s.drain()
	}
	if end == nothing {
		s.settle()
		if !s.blank {
			s.out, s.blank = append(s.out, ' '), true
		}
	}
	return i
}

// feedASCII takes the ASCII that src begins with, but for a last character with
// which what follows may combine: no separator combines with anything.
func (s *spacer) feedASCII(src []byte, end ending) int {
	first := 0
	if !s.begun || s.alone {
		for first < len(src) && s.ascii[src[first]] == ' ' {
			first++
		}
		if first == len(src) || src[first] >= utf8.RuneSelf {
			return 0
		}
		if !s.begun || s.gap != noGap || first > 0 {
			s.out, s.blank = append(s.out, ' '), true
		}
		s.begun, s.gap, s.alone = true, noGap, false
	}
	at, before := len(s.out), s.blank
	s.out = slices.Grow(s.out, len(src)-first+kernel.EdgesSlack)
	n, done := kernel.Spaced(s.out[at:cap(s.out)], src[first:], s.ascii, before)
	if s.out = s.out[:at+n]; n > 0 {
		s.blank = s.out[at+n-1] == ' '
	}
	i := first + done
	if s.blank || i == len(src) && end == nothing {
		return i
	}
	if i < len(src) {
		if r, size := decode(src[i:], end); size > 0 && !s.alphabet.letter(r).joins() {
			return i
		}
	}
	if done > 0 {
		i--
		s.out = s.out[:at+n-1]
		s.blank = n == 1 && before || n > 1 && s.out[at+n-2] == ' '
	}
	return i
}

// quick takes text of one look-up a character, as far as that goes, and returns
// where it ends: before a character that may combine with one beside it, or
// has a long form, or before ASCII that is worth the kernel's while.
func (s *spacer) quick(src []byte, i int, end ending) int {
	s.out = slices.Grow(s.out, 4*(len(src)-i)+8)
	free := i // what begins before it are marks that stay where they are
	l, size := s.look(src[i:], end)
	for size > 0 && l.length() > 0 {
		if i < free {
			s.put(l)
			i += size
			l, size = s.look(src[i:], end)
			continue
		}
		if l.joins() || src[i] < utf8.RuneSelf && s.begun && !s.alone && i+asciiRun <= len(src) && isASCII(src[i:i+asciiRun]) {
			break
		}
		next := i + size
		l2, size2 := s.look(src[next:], end)
		if size2 == 0 && (next < len(src) || end != nothing) {
			break
		}
		if l2.joins() {
			n := s.marks(src[next:], end)
			if n == 0 {
				break
			}
			free = next + n
		}
		s.put(l)
		i, l, size = next, l2, size2
	}
	return i
}

// look returns the letter that src begins with and its length, 0 where that is
// not known yet.
func (s *spacer) look(src []byte, end ending) (letter, int) {
	if len(src) > 0 && src[0] < utf8.RuneSelf {
		return s.alphabet.letter(rune(src[0])), 1
	}
	if len(src) == 0 {
		return 0, 0
	}
	r, size := decode(src, end)
	if size == 0 {
		return 0, 0
	}
	return s.alphabet.letter(r), size
}

// marks returns how many bytes the marks at the beginning of src have, if they stay
// where they are: they combine with no character and are in canonical order. Otherwise 0.
func (s *spacer) marks(src []byte, end ending) int {
	order := uint8(0)
	for i, count := 0, 0; count <= maxPlainMarks; count++ {
		l, size := s.look(src[i:], end)
		switch {
		case size == 0 && (i < len(src) || end != nothing):
			return 0
		case !l.joins():
			return i
		case l.length() == 0:
			return 0
		}
		r, _ := utf8.DecodeRune(src[i:])
		if ccc := s.alphabet.block(r).ccc[r&(blockSize-1)]; ccc < order {
			return 0
		} else {
			order = ccc
		}
		i += size
	}
	return 0
}

// put takes a character as it reads when nothing combines with it.
func (s *spacer) put(l letter) {
	if !s.keeps(l.class(), l&letterSymbol != 0) {
		return
	}
	at := len(s.out)
	s.out = binary.LittleEndian.AppendUint32(s.out, uint32(l))[:at+l.length()]
}

// keeps reports whether a character is kept, and gives the blank before it, or
// where it separates the one after the last.
func (s *spacer) keeps(k class, symbol bool) bool {
	switch {
	case !symbol && !k.inWord():
		if !s.alone {
			if !s.blank {
				s.out, s.blank = append(s.out, ' '), true
			}
		} else if k == classSpace || k == classControl {
			s.gap = max(s.gap, whiteSpace)
		} else {
			s.gap = punctuation
		}
		return false
	case s.gap == whiteSpace && k == classAlone:
		// A line that ends.
	case s.gap != noGap || !s.begun:
		s.out = append(s.out, ' ')
	}
	s.alone = k == classAlone || k == classMark && s.alone && s.gap == noGap
	s.begun, s.blank, s.gap = true, false, noGap
	return true
}

func (s *spacer) settle() {
	if s.slow.active {
		s.slow.flush()
		s.drain()
	}
}

// drain takes what the slow path has given.
func (s *spacer) drain() {
	for text := s.slow.out; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		k := factsOf(r).class[r&(blockSize-1)]
		if s.keeps(k, isSymbol(r)) {
			s.out = append(s.out, text[:size]...)
		}
		text = text[size:]
	}
	s.slow.out = s.slow.out[:0]
}

// singles are the stream chars.
type singles struct{ spacer }

// charPiece is the most bytes that are taken at a time: each becomes eight.
const charPiece = 2048

func (c *singles) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > charPiece {
		src, final = src[:charPiece], false
	}
	n := c.feed(src, final)
	t.characters(c.out)
	return n
}

// characters appends text of which each character is a token.
func (t *Tokens) characters(text []byte) {
	at := len(t.Text)
	t.Text = append(t.Text, text...)
	if t.FingerprintsOnly {
		t.each = true
		return
	}
	for at < len(t.Text) {
		_, size := utf8.DecodeRune(t.Text[at:])
		t.Spans = append(t.Spans, kernel.Span{Start: uint32(at), End: uint32(at + size)})
		at += size
	}
}

// spaced are the words of the stream chars, with a token of one blank for what
// separates two of them: what the filters look at.
type spaced struct {
	spacer
	builder
}

func (s *spaced) Reset() {
	s.spacer.Reset()
	s.builder.Reset()
}

func (s *spaced) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > charPiece {
		src, final = src[:charPiece], false
	}
	n := s.feed(src, final)
	s.begin(t)
	for text := s.out; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		switch k := factsOf(r).class[r&(blockSize-1)]; {
		case r == ' ':
			s.close()
			s.Text = append(s.Text, ' ')
			s.close()
		case isSymbol(r):
			s.word(classWord, text[:size]...)
		default:
			s.word(k, text[:size]...)
		}
		text = text[size:]
	}
	s.finish(final)
	return n
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

package token

import (
	"strings"
	"unicode/utf8"
)

// A reader makes canonical text of a document, for the tokenizers that look at
// more than words.
type reader struct {
	alphabet *alphabet
	slow     *canonicaliser
	text     []byte // canonical, not yet used
}

func newReader(fold bool) reader {
	return reader{alphabet: alphabetOf(fold), slow: newCanonicaliser(fold)}
}

func (c *reader) Reset() {
	c.slow.Reset()
	c.text = c.text[:0]
}

// feed appends the canonical form of src to text and returns how many bytes it
// took, as words do.
func (c *reader) feed(src []byte, end ending) int {
	i := 0
	for i < len(src) {
		// ASCII, but for the last of a run.
		k := i
		for k < len(src) && src[k] < utf8.RuneSelf {
			k++
		}
		if k > i+1 {
			c.settle()
			at := len(c.text)
			c.text = append(c.text, src[i:k-1]...)
			if c.alphabet.fold {
				lower(c.text[at:])
			}
			i = k - 1
		}
		r, size := decode(src[i:], end)
		if size == 0 {
			break
		}
		l := c.alphabet.letter(r)
		if c.slow.active && !l.joins() {
			c.settle()
		}
		next, more := rune(0), 0
		if i+size < len(src) {
			next, more = decode(src[i+size:], end)
		}
		if l.joins() || more == 0 || c.alphabet.letter(next).joins() {
			c.slow.put(r)
		} else {
			c.letter(r, l)
		}
		c.drain()
		i += size
	}
	if end == nothing {
		c.settle()
	}
	return i
}

// lower folds the case of ASCII.
func lower(text []byte) {
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			text[i] = c | 0x20
		}
	}
}

func (c *reader) settle() {
	if c.slow.active {
		c.slow.flush()
		c.drain()
	}
}

func (c *reader) drain() {
	if len(c.slow.out) > 0 {
		c.text = append(c.text, c.slow.out...)
		c.slow.out = c.slow.out[:0]
	}
}

func (c *reader) letter(r rune, l letter) {
	n := l.length()
	if n == 0 {
		c.text = append(c.text, c.alphabet.long(r, l)...)
		return
	}
	at := len(c.text)
	c.text = append(c.text, byte(l), byte(l>>8), byte(l>>16))[:at+n]
}

// lines are the lines of a document that are not blank, as text: without white
// space at either end, and with one blank for white space within. LF, CR, NEL,
// LS and PS end a line.
type lines struct {
	reader
	builder
	blank bool // white space since the last character of the open line
}

func newLines(fold bool) *lines { return &lines{reader: newReader(fold)} }

func (l *lines) Reset() {
	l.reader.Reset()
	l.builder.Reset()
	l.blank = false
}

func (l *lines) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > pieceSize {
		src, final = src[:pieceSize], false
	}
	end := anything
	if final {
		end = nothing
	}
	n := l.reader.feed(src, end)
	l.begin(t)
	for text := l.reader.text; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029:
			l.close()
			l.blank = false
		case factsOf(r).class[r&(blockSize-1)] == classSpace:
			l.blank = true
		default:
			if l.blank && l.state != noToken {
				t.Text = append(t.Text, ' ')
			}
			t.Text = append(t.Text, text[:size]...)
			l.blank, l.state = false, runToken
		}
		text = text[size:]
	}
	l.reader.text = l.reader.text[:0]
	l.finish(final)
	return n
}

// code is source text: identifiers, numbers, operators and the other symbols.
// Comments and strings are divided like the rest; white space only separates.
//
//   - An identifier is a run of letters, marks, numbers and low lines. As in
//     words, a character of classAlone is a token by itself.
//   - A number is such a run that begins with a digit; a full stop between it
//     and another digit is part of it.
//   - An operator is the longest of the list that fits, or else one character.
type code struct {
	reader
	builder
}

func newCode(fold bool) *code { return &code{reader: newReader(fold)} }

func (c *code) Reset() {
	c.reader.Reset()
	c.builder.Reset()
}

// operators of more than one character, in C and its descendants.
var operators = func() map[string]bool {
	m := make(map[string]bool)
	for _, o := range strings.Fields(`
		== != <= >= && || ++ -- += -= *= /= %= &= |= ^= << >> -> => :: := <- &^ ** ?? ?. .. // /* */ ##
		=== !== <=> <<= >>= >>> ... **= //= &&= ||= ??= &^= ->* >>>=`) {
		m[o] = true
	}
	return m
}()

// codeAhead is more than a token's kind can depend on.
const codeAhead = 16

func (c *code) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > pieceSize {
		src, final = src[:pieceSize], false
	}
	end := anything
	if final {
		end = nothing
	}
	n := c.reader.feed(src, end)
	c.begin(t)
	text := c.reader.text
	i := 0
	for i < len(text) && (final || len(text)-i >= codeAhead) {
		r, size := utf8.DecodeRune(text[i:])
		k := factsOf(r).class[r&(blockSize-1)]
		form := text[i : i+size]
		switch {
		case r == '_' || k.inWord():
			if k == classDigit && c.state == noToken {
				t.Text, c.state = append(t.Text, form...), numberToken
				break
			}
			if r == '_' {
				k = classWord
			}
			c.word(k, form...)
		case k == classSpace || k == classControl:
			c.close()
		case r == '.' && c.state == numberToken && digitAt(text[i+1:]):
			t.Text = append(t.Text, '.')
		default:
			c.close()
			for n := min(4, len(text)-i); n > size; n-- {
				if operators[string(text[i:i+n])] {
					size = n
				}
			}
			t.Text = append(t.Text, text[i:i+size]...)
			c.close()
		}
		i += size
	}
	c.reader.text = text[:copy(text, text[i:])]
	c.finish(final)
	return n
}

func digitAt(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return factsOf(r).class[r&(blockSize-1)] == classDigit
}

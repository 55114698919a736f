package sketch

import (
	"encoding/binary"
	"unicode/utf8"
)

// An ending says what follows a piece of text.
type ending uint8

const (
	anything   ending = iota // perhaps the rest of a character
	characters               // whole characters, which may combine with the last one
	nothing                  // nothing that combines with it
)

// words are maximal runs of letters, marks and numbers of canonical text; every
// other character separates. A letter or number of a script that is written
// without blanks (Han, Hiragana, Thai, Lao, Khmer, Myanmar) is a word by
// itself, with the marks after it.
type words struct {
	builder
	alphabet *alphabet
	ascii    *[256]byte
	slow     *canonicaliser
}

// asciiLetters are the letters and digits of ASCII as they read in canonical
// text; 0 is a separator and the rest is 0x80.
var asciiLetters = func() (tables [2][256]byte) {
	for c := range 256 {
		switch {
		case c >= 0x80:
			tables[0][c], tables[1][c] = 0x80, 0x80
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			tables[0][c], tables[1][c] = byte(c), byte(c)
			if c >= 'A' {
				tables[1][c] |= 0x20
			}
		}
	}
	return tables
}()

func newWords(fold bool) *words {
	w := &words{alphabet: alphabetOf(fold), ascii: &asciiLetters[0], slow: newCanonicaliser(fold)}
	if fold {
		w.ascii = &asciiLetters[1]
	}
	return w
}

func (w *words) reset() {
	w.builder.reset()
	w.slow.reset()
}

func (w *words) next(t *tokens, src []byte, final bool) int {
	if w.state == noToken && !w.slow.active {
		if n := t.asciiWords(src, w.alphabet.fold, final); n > 0 {
			return n
		}
	}
	if len(src) > pieceSize {
		src, final = src[:pieceSize], false
	}
	end := anything
	if final {
		end = nothing
	}
	w.begin(t)
	n := w.feed(src, end)
	w.finish(final)
	return n
}

// feed takes a piece of text and returns how many of its bytes it took: all
// but the beginning of a character that anything could complete.
func (w *words) feed(src []byte, end ending) int {
	i := 0
	for i < len(src) {
		if !w.slow.active {
			if src[i] < utf8.RuneSelf {
				i = w.feedASCII(src, i, end)
			} else if n := w.feedLetters(src, i, end); n > i {
				i = n
			} else {
				return i
			}
			continue
		}
		r, size := decode(src[i:], end)
		if size == 0 {
			return i
		}
		if !w.alphabet.letter(r).joins() {
			w.settle()
			continue
		}
		w.slow.put(r)
		i += size
		w.drain()
	}
	if end == nothing {
		w.settle()
	}
	return i
}

// decode returns the first character of src; its size is 0 when src ends in
// the middle of a character that anything may follow.
func decode(src []byte, end ending) (rune, int) {
	if end == anything && !utf8.FullRune(src) {
		return 0, 0
	}
	return utf8.DecodeRune(src)
}

// settle gives out what the slow path holds: the next character does not
// combine with it.
func (w *words) settle() {
	if w.slow.active {
		w.slow.flush()
		w.drain()
	}
}

// drain takes what the slow path has given out.
func (w *words) drain() {
	w.forms(w.slow.out)
	w.slow.out = w.slow.out[:0]
}

// forms takes canonical text.
func (w *words) forms(text []byte) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		w.word(factsOf(r).class[r&(blockSize-1)], text[:size]...)
		text = text[size:]
	}
}

// feedASCII takes the ASCII at src[i:]. Its last character goes to the slow
// path when what follows may combine with it.
func (w *words) feedASCII(src []byte, i int, end ending) int {
	letters := w.ascii
	for i < len(src) && src[i] < utf8.RuneSelf {
		if w.state == noToken {
			if n := w.asciiWords(src[i:], w.alphabet.fold, end == nothing); n > 0 {
				w.open = len(w.text)
				i += n
				continue
			}
		}
		// The rest of a word, which ends no later than the ASCII does.
		if c := letters[src[i]]; c == 0 {
			w.close()
			i++
			continue
		} else if w.state == aloneToken {
			w.close()
		}
		w.state = runToken
		for ; i < len(src); i++ {
			c := letters[src[i]]
			if c == 0 || c >= utf8.RuneSelf {
				break
			}
			w.text = append(w.text, c)
		}
	}
	if i == len(src) {
		if end == nothing {
			return i
		}
	} else if r, size := decode(src[i:], end); size > 0 && !w.alphabet.letter(r).joins() {
		return i
	}
	last := src[i-1]
	if letters[last] != 0 {
		w.text = w.text[:len(w.text)-1]
		if len(w.text) == w.open {
			w.state = noToken
		}
	}
	w.slow.put(rune(last))
	return i
}

// mostPlainMarks is how many marks the fast path takes after a character; far
// fewer than mostMarks.
const mostPlainMarks = 8

// feedLetters takes the text at src[i:], which is not ASCII, to the next ASCII
// or to a character that the slow path has begun.
func (w *words) feedLetters(src []byte, i int, end ending) int {
	r, size := decode(src[i:], end)
	for size > 0 {
		if r < utf8.RuneSelf {
			return i
		}
		l := w.alphabet.letter(r)
		j := i + size
		var next rune
		next, size = 0, 0
		if j < len(src) {
			next, size = decode(src[j:], end)
		}
		if size == 0 && (j < len(src) || end != nothing) || l.joins() && l.length() == 0 {
			w.slow.put(r)
			return j
		}
		if size > 0 && w.alphabet.letter(next).joins() {
			// Marks that follow in canonical order and combine with nothing
			// before them stay as they are.
			order, k := uint8(0), j
			if l.joins() {
				order = w.alphabet.ccc(r)
			}
			plain := l.length() > 0
			for range mostPlainMarks {
				m := w.alphabet.letter(next)
				ccc := w.alphabet.ccc(next)
				if plain = plain && m.length() > 0 && ccc >= order; !plain {
					break
				}
				order = ccc
				k += size
				next, size = 0, 0
				if k < len(src) {
					next, size = decode(src[k:], end)
				}
				if size == 0 || !w.alphabet.letter(next).joins() {
					break
				}
			}
			if !plain || size == 0 && (k < len(src) || end != nothing) || size > 0 && w.alphabet.letter(next).joins() {
				w.slow.put(r)
				return j
			}
			w.letter(r, l)
			for j < k {
				m, n := utf8.DecodeRune(src[j:k])
				w.letter(m, w.alphabet.letter(m))
				j += n
			}
		} else {
			w.letter(r, l)
		}
		i, r = j, next
	}
	return i
}

// letter takes a character as it reads when nothing combines with it.
func (w *words) letter(r rune, l letter) {
	length := l.length()
	if length == 0 {
		w.forms([]byte(w.alphabet.long(r, l)))
		return
	}
	switch k := l.class(); k {
	case classWord, classDigit:
		if w.state == aloneToken {
			w.close()
		}
		w.state = runToken
	case classAlone:
		if w.state != noToken {
			w.close()
		}
		w.state = aloneToken
	case classMark:
		if w.state == noToken {
			w.state = runToken
		}
	default:
		if w.state != noToken {
			w.close()
		}
		return
	}
	at := len(w.text)
	w.text = binary.LittleEndian.AppendUint32(w.text, uint32(l))[:at+length]
}

package token

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kernel"
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
	plain    *kernel.PlainTable // of the kernel, once there is text that is not ASCII
	two      *kernel.PlainTable // of quick
	patience int                // how far quick goes before the kernel is tried again
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

func (w *words) Reset() {
	w.builder.Reset()
	w.slow.Reset()
}

func (w *words) Next(t *Tokens, src []byte, final bool) int {
	if w.state == noToken && !w.slow.active {
		if n := t.AsciiWords(src, w.alphabet.fold, final, w.plain); n > 0 {
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
	if w.plain == nil && kernel.KnowsPlain() {
		w.plain = plainOf(w.alphabet)
	}
	for i < len(src) {
		if !w.slow.active {
			begin := i
			if w.plain != nil {
				if w.state != noToken && w.ascii[src[i]] == 0 {
					w.close()
				}
				if n := w.plainWords(src[i:], end); n > 0 {
					i += n
					continue
				}
			}
			if src[i] < utf8.RuneSelf && isASCII(src[i:min(i+asciiRun, len(src))]) {
				i = w.feedASCII(src, i, end)
			} else if i = w.quick(src, i); i > begin {
				continue
			} else if src[i] < utf8.RuneSelf {
				i = w.feedASCII(src, i, end)
			} else {
				i = w.feedLetter(src, i, end)
			}
			if i == begin {
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

// plainWords takes the words that the kernel knows. Where it does not get far,
// it is asked again less often.
func (w *words) plainWords(src []byte, end ending) int {
	if w.state != noToken {
		return 0
	}
	n := w.AsciiWords(src, w.alphabet.fold, end == nothing, w.plain)
	w.open = len(w.Text)
	if w.patience = min(2*w.patience+32, 1024); n >= 64 {
		w.patience = 0
	}
	return n
}

// asciiAhead reports whether the next asciiRun bytes are ASCII.
func asciiAhead(src []byte) bool {
	return len(src) >= asciiRun && (binary.LittleEndian.Uint64(src)|binary.LittleEndian.Uint64(src[8:]))&kernel.Highs8 == 0
}

// asciiRun is how much ASCII is worth the kernel's while in other text.
const asciiRun = 16

func isASCII(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if binary.LittleEndian.Uint64(text)&kernel.Highs8 != 0 {
			return false
		}
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decode returns the first character of src; its size is 0 when src ends in
// the middle of a character that anything may follow.
func decode(src []byte, end ending) (rune, int) {
	if end == anything && !utf8.FullRune(src) {
		return 0, 0
	}
	return utf8.DecodeRune(src)
}

// settle emits what the slow path holds: the next character does not
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
			if n := w.AsciiWords(src[i:], w.alphabet.fold, end == nothing, w.plain); n > 0 {
				w.open = len(w.Text)
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
			w.Text = append(w.Text, c)
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
		w.Text = w.Text[:len(w.Text)-1]
		if len(w.Text) == w.open {
			w.state = noToken
		}
	}
	w.slow.put(rune(last))
	return i
}

// maxPlainMarks is how many marks the fast path takes after a character; far
// fewer than maxMarks.
const maxPlainMarks = 8

// leads are the blocks of the characters that begin with a byte below 0xE0;
// bytes that begin none have the block that is never made.
var leads = func() (table [256]uint16) {
	for c := range table {
		switch {
		case c < utf8.RuneSelf:
			table[c] = uint16(c >> blockBits)
		case c >= 0xC2 && c < 0xE0:
			table[c] = uint16(c & 0x1F)
		default:
			table[c] = noBlock
		}
	}
	return table
}()

// What becomes of a token by its state and the class of the next character: the
// next state, and whether the token is closed first and the character kept.
const (
	keeps  = 4
	closes = 8
)

var actions = func() (table [4][8]state) {
	for s := range table {
		for k := range table[s] {
			b := builder{Tokens: &Tokens{Text: make([]byte, min(1, s))}, state: state(s)}
			b.word(class(k), 'x')
			table[s][k] = b.state
			if len(b.Spans) > 0 {
				table[s][k] |= closes
			}
			if class(k).inWord() {
				table[s][k] |= keeps
			}
		}
	}
	return table
}()

// wordBytes returns the letters and digits of ASCII at the beginning of eight bytes, with the
// bits of folds set in the letters, and how many there are. The other bytes are undefined.
func wordBytes(x, folds uint64) (uint64, int) {
	const ones = kernel.Highs8 >> 7
	low := x &^ kernel.Highs8
	lower := low | ones*0x20
	letters := (lower + ones*(0x80-'a')) &^ (lower + ones*(0x7F-'z')) & kernel.Highs8
	digits := (low + ones*(0x80-'0')) &^ (low + ones*(0x7F-'9')) & kernel.Highs8
	others := kernel.Highs8&^(letters|digits) | x&kernel.Highs8
	return low | letters>>2&folds, bits.TrailingZeros64(others) >> 3
}

// latin takes letters and digits of ASCII, eight at once, plain letters of two bytes, which
// combine with nothing before them, and the ASCII between words, from inside a word on. size
// is how many bytes of text the last character has; a separator has none. Past limit it ends
// with a word.
func (w *words) latin(src []byte, next, limit int, text []byte, spans []kernel.Span, at, open, count, size int) (int, int, int, int, int) {
	ascii, two, folds, wide := w.ascii, &w.two.Two, uint64(0), size == 2
	if w.alphabet.fold {
		folds = kernel.Highs8 >> 2
	}
	for next+12 <= len(src) {
		if c0, c1 := src[next], src[next+1]; c0 >= utf8.RuneSelf {
			row := &two[c0&0x1F]
			low := row[1][c1&0x3F]
			if low == 0 || c0&0xE0 != 0xC0 || c1&0xC0 != 0x80 {
				break
			}
			text[at], text[at+1] = low, row[0][c1&0x3F]
			at += 2
			next += 2
			size, wide = 2, true
			continue
		}
		if x, n := wordBytes(binary.LittleEndian.Uint64(src[next:]), folds); n > 0 {
			binary.LittleEndian.PutUint64(text[at:], x)
			at += n
			next += n
			size = 1
			continue
		}
		if at-open > maxToken {
			break
		}
		spans[count] = kernel.Span{Start: uint32(open), End: uint32(at)}
		count++
		open, size = at, 0
		for next++; next+4 <= len(src) && src[next] < utf8.RuneSelf && ascii[src[next]] == 0; {
			next++
		}
		// After a word of ASCII alone there may be more for the kernel.
		if next > limit || !wide && asciiAhead(src[next:]) {
			break
		}
		wide = false
	}
	return next, at, open, count, size
}

// quick takes text of one look-up a character, as far as that goes, and returns
// where it ends: before a character that the others have to look at. A
// character is taken when the one after it is known not to combine with it, or
// to be a mark that stays where it is, because it combines with no character and is in
// canonical order. Where a later mark turns out to be another, the character
// and its marks are given back.
//
// It is one long loop because its state then stays in registers: cut into functions by
// topic it took 6 % longer for Greek and 12 % for Korean.
func (w *words) quick(src []byte, i int) int {
	w.Text = slices.Grow(w.Text, 2*(len(src)-i)+8)
	w.Spans = slices.Grow(w.Spans, len(src)-i+1)
	text, spans := w.Text[:cap(w.Text)], w.Spans[:cap(w.Spans)]
	if w.two == nil {
		w.two = plainOf(w.alphabet)
	}
	blocks, ascii := &w.alphabet.blocks, w.ascii
	at, open, count, now := len(w.Text), w.open, len(w.Spans), w.state
	// The last character read is not yet taken; it begins at i.
	last, have := letter(0), false
	// What there was before the character that marks follow, if any do.
	type before struct {
		i, at, open, count int
		state              state
	}
	var base before
	marks, order := 0, uint8(0)
	begin, patience := i, w.patience
	if w.plain == nil {
		patience = len(src)
	}
	for next := i; next+4 <= len(src); {
		b0 := int(src[next])
		if patient := next-begin <= patience; !patient && have && src[i] < utf8.RuneSelf && last.class() <= classControl {
			break
		} else if have && last.class() <= classControl && b0 < utf8.RuneSelf && asciiAhead(src[next:]) {
			break
		}
		if b0 < 0xE0 && now == runToken && have && marks == 0 && ascii[b0] != 0 && last.class() == classWord && last.length() <= 2 {
			began, size := next, last.length()
			binary.LittleEndian.PutUint16(text[at:], uint16(last))
			next, at, open, count, size = w.latin(src, next, begin+patience, text, spans, at+size, open, count, size)
			at -= size
			if next > began {
				i = next - max(size, 1)
				if at == open {
					now = noToken
				}
				if size == 0 { // the last character is a separator
					last = w.alphabet.letter(rune(src[i]))
				} else {
					last = letter(binary.LittleEndian.Uint16(text[at:])&(1<<(8*size)-1)) | letter(size)<<letterLength | letter(classWord)<<letterClass
				}
				continue
			}
		}
		// One byte or two, without a branch.
		more := b0 >> 7
		c := int(src[next+more])
		block, size := int(leads[b0]), 1+more
		if b0 >= 0xE0 {
			block, size = b0&0xF<<blockBits|c&0x3F, 3
			if b0 >= 0xF0 || c&0xC0 != 0x80 || block < 0x800>>blockBits || block&^0x1F == 0xD800>>blockBits {
				break
			}
			c = int(src[next+2])
		}
		b := blocks[block].Load()
		if b == nil || (c^0x80)&0xC0&-more != 0 {
			break
		}
		l := b.letter[c&(blockSize-1)]
		if l.length() == 0 {
			break
		}
		if !l.joins() {
			marks = 0
		} else {
			if marks == 0 {
				base, order = before{i, at, open, count, now}, 0
			}
			ccc := b.ccc[c&(blockSize-1)]
			if marks++; ccc < order || marks > maxPlainMarks {
				break
			}
			order = ccc
		}
		if have {
			do := actions[now&3][last.class()]
			if do&closes != 0 {
				if at-open > maxToken {
					break
				}
				spans[count] = kernel.Span{Start: uint32(open), End: uint32(at)}
				count++
				open = at
			}
			binary.LittleEndian.PutUint32(text[at:], uint32(last))
			at += last.length() & -int(do>>2&1)
			now = do & 3
		}
		last, have = l, true
		i = next
		next += size
	}
	if marks > 0 {
		i, at, open, count, now = base.i, base.at, base.open, base.count, base.state
	}
	w.Text, w.Spans, w.open, w.state = text[:at], spans[:count], open, now
	return i
}

// feedLetter takes the character at src[i:], which is not ASCII, or begins the
// slow path with it.
func (w *words) feedLetter(src []byte, i int, end ending) int {
	r, size := decode(src[i:], end)
	if size == 0 {
		return i
	}
	l := w.alphabet.letter(r)
	i += size
	next, size := rune(0), 0
	if i < len(src) {
		next, size = decode(src[i:], end)
	}
	if size == 0 && (i < len(src) || end != nothing) || l.joins() && l.length() == 0 || size > 0 && w.alphabet.letter(next).joins() {
		w.slow.put(r)
	} else {
		w.letter(r, l)
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
	at := len(w.Text)
	w.Text = binary.LittleEndian.AppendUint32(w.Text, uint32(l))[:at+length]
}

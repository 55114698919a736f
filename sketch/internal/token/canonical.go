package token

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The canonical text of a document is NFKC(fold(NFKC(text))), or NFKC(text)
// where case is kept, without the characters that are invisible. Each byte that
// is not UTF-8 is replaced by U+FFFD first, and of combining marks more than 30
// in a row are kept apart by the stream-safe process of UAX #15, section 13, so
// that bounded memory is enough.
//
// The characters are those of Unicode 15.0.0, whatever the libraries know:
// classRanges and foldings pin them, and the normalization of a character once
// assigned never changes. Others stay as they are. A test compares every
// character with what another library of that version makes of it.

// A class is what a character of the canonical text is to a tokenizer.
type class uint8

const (
	classOther      class = iota // punctuation and symbols
	classSpace                   // White_Space
	classControl                 // Cc and Cf
	classWord                    // letters and numbers
	classDigit                   // decimal digits
	classAlone                   // letters and numbers that are words by themselves
	classMark                    // M: belongs to the character before
	classUnassigned              // as classOther
)

// wordClasses are the classes that words are made of.
const wordClasses = 1<<classWord | 1<<classDigit | 1<<classAlone | 1<<classMark

func (c class) inWord() bool { return wordClasses>>c&1 != 0 }

const (
	blockBits = 6 // those of the last byte of a character's UTF-8
	blockSize = 1 << blockBits
	blocks    = (utf8.MaxRune + 1) >> blockBits
)

// facts are what normalization needs to know of a block of characters.
type facts struct {
	class         [blockSize]class
	ccc           [blockSize]uint8  // canonical combining class
	decomposition [blockSize]string // full compatibility decomposition, or empty
	folding       [blockSize]string // full case folding, or empty
	backward      [blockSize]bool   // the second of a pair that composes
}

var (
	allFacts [blocks]atomic.Pointer[facts]
	// Most blocks have characters of one class and nothing else.
	plainFacts = sync.OnceValue(func() *[8]facts {
		list := new([8]facts)
		for k := range list {
			for i := range list[k].class {
				list[k].class[i] = class(k)
			}
		}
		return list
	})
)

// factsOf returns the facts of the block that r is in; they are made when a
// text first needs them.
func factsOf(r rune) *facts {
	if f := allFacts[uint32(r)>>blockBits].Load(); f != nil {
		return f
	}
	f := makeFacts(r &^ (blockSize - 1))
	if plain := &plainFacts()[f.class[0]]; *f == *plain {
		f = plain
	}
	allFacts[uint32(r)>>blockBits].Store(f)
	return f
}

func makeFacts(first rune) *facts {
	f := new(facts)
	for i := range f.class {
		r := first + rune(i)
		f.class[i] = classOf(r)
		if f.class[i] == classUnassigned || !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		f.ccc[i] = norm.NFD.PropertiesString(s).CCC()
		if d := norm.NFKD.String(s); d != s {
			f.decomposition[i] = d
		}
		f.folding[i] = fullFoldings()[r]
		f.backward[i] = secondOfPair(r)
	}
	return f
}

// decomposition returns the full compatibility decomposition of r, empty when
// that is r.
func decomposition(r rune) string { return factsOf(r).decomposition[r&(blockSize-1)] }

// folding returns the full case folding of r, empty when that is r.
func folding(r rune) string { return factsOf(r).folding[r&(blockSize-1)] }

// fullFoldings are the characters that full case folding changes, and what they
// become. (cases.Fold of golang.org/x/text swaps the two cases of Cherokee.)
var fullFoldings = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string)
	for entry := range strings.Lines(foldings) {
		r, size := utf8.DecodeRuneInString(entry)
		m[r] = entry[size : len(entry)-1]
	}
	return m
})

// firstOf returns the first character of s, which stands for r when it is empty.
func firstOf(s string, r rune) rune {
	if s != "" {
		r, _ = utf8.DecodeRuneInString(s)
	}
	return r
}

func combiningClass(r rune) uint8 { return factsOf(r).ccc[r&(blockSize-1)] }

// classOf looks a character up in classRanges.
func classOf(r rune) class {
	low, high := 0, len(classRanges)
	for high-low > 1 {
		if middle := (low + high) / 2; classRanges[middle]>>3 <= uint32(r) {
			low = middle
		} else {
			high = middle
		}
	}
	return class(classRanges[low] & 7)
}

// Hangul syllables (Unicode, section 3.12).
const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7
	hangulLs, hangulVs, hangulTs       = 19, 21, 28
)

// A pair of characters that canonical composition makes one of.
type pair struct{ first, second rune }

var pairs = sync.OnceValue(func() map[pair]rune {
	m := make(map[pair]rune)
	for _, r := range composites {
		whole := norm.NFD.String(string(r))
		second, size := utf8.DecodeLastRuneInString(whole)
		first, _ := utf8.DecodeRuneInString(norm.NFC.String(whole[:len(whole)-size]))
		m[pair{first, second}] = r
	}
	return m
})

var seconds = sync.OnceValue(func() map[rune]bool {
	m := make(map[rune]bool)
	for p := range pairs() {
		m[p.second] = true
	}
	for v := range rune(hangulVs) {
		m[hangulV+v] = true
	}
	for t := range rune(hangulTs - 1) {
		m[hangulT+1+t] = true
	}
	return m
})

func secondOfPair(r rune) bool { return seconds()[r] }

// compose returns the character that two compose to, or 0.
func compose(first, second rune) rune {
	switch {
	case first >= hangulL && first < hangulL+hangulLs && second >= hangulV && second < hangulV+hangulVs:
		return hangulS + ((first-hangulL)*hangulVs+second-hangulV)*hangulTs
	case first >= hangulS && first < hangulS+hangulLs*hangulVs*hangulTs && (first-hangulS)%hangulTs == 0 && second > hangulT && second < hangulT+hangulTs:
		return first + second - hangulT
	}
	return pairs()[pair{first, second}]
}

// A mark is a character with a combining class.
type mark struct {
	r   rune
	ccc uint8
}

// A composer makes NFKC of characters that are decomposed already: it holds
// the last starter and the marks after it, in canonical order, and gives them
// out when the next starter does not combine with them.
type composer struct {
	out     func(rune)
	starter rune
	started bool // there is a starter
	marks   []mark
}

func (c *composer) put(r rune, ccc uint8) {
	if ccc != 0 {
		i := len(c.marks)
		c.marks = append(c.marks, mark{})
		for ; i > 0 && c.marks[i-1].ccc > ccc; i-- {
			c.marks[i] = c.marks[i-1]
		}
		c.marks[i] = mark{r, ccc}
		return
	}
	c.combine()
	if len(c.marks) == 0 && c.started {
		if whole := compose(c.starter, r); whole != 0 {
			c.starter = whole
			return
		}
	}
	c.give()
	c.starter, c.started = r, true
}

// decompose puts the decomposition of r.
func (c *composer) decompose(r rune) {
	whole := decomposition(r)
	if whole == "" {
		c.put(r, combiningClass(r))
	}
	for _, d := range whole {
		c.put(d, combiningClass(d))
	}
}

// combine composes the starter with those of its marks that no other blocks.
func (c *composer) combine() {
	if !c.started {
		return
	}
	kept := c.marks[:0]
	for _, m := range c.marks {
		if len(kept) == 0 || kept[len(kept)-1].ccc < m.ccc {
			if whole := compose(c.starter, m.r); whole != 0 {
				c.starter = whole
				continue
			}
		}
		kept = append(kept, m)
	}
	c.marks = kept
}

func (c *composer) give() {
	if c.started {
		c.out(c.starter)
	}
	for _, m := range c.marks {
		c.out(m.r)
	}
	c.started, c.marks = false, c.marks[:0]
}

func (c *composer) flush() {
	c.combine()
	c.give()
}

// A canonicaliser makes canonical text a character at a time. It is the slow
// path, for characters that combine, and the definition of the fast one.
type canonicaliser struct {
	before composer // NFKC of the text
	after  composer // NFKC of its folding
	row    int      // marks at the end of the text, decomposed
	active bool     // something is held
	out    []byte   // canonical text that was given out
}

// maxMarks is the most combining marks in a row (UAX #15, section 13).
const maxMarks = 30

const graphemeJoiner = 0x034F

// invisible reports whether a character is dropped from canonical text: it says
// how text is to be shown, joined or broken (Unicode's Default_Ignorable, but for
// the zero width space, which separates words, and for fillers).
func invisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == 0xAD, r == graphemeJoiner, r == 0x61C, r >= 0x180B && r <= 0x180F, r >= 0x200C && r <= 0x200F, r >= 0x202A && r <= 0x202E,
		r >= 0x2060 && r <= 0x206F, r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

func newCanonicaliser(fold bool) *canonicaliser {
	c := new(canonicaliser)
	c.before.out = func(r rune) {
		if !invisible(r) {
			c.out = utf8.AppendRune(c.out, r)
		}
	}
	if fold {
		c.after.out = c.before.out
		c.before.out = func(r rune) {
			f := folding(r)
			if f == "" {
				c.after.decompose(r)
			}
			for _, r := range f {
				c.after.decompose(r)
			}
		}
	}
	return c
}

// put takes the next character of the text.
func (c *canonicaliser) put(r rune) {
	c.active = true
	first, last, n := 0, 0, 0 // marks at the beginning and at the end, characters
	count := func(d rune) {
		n++
		if last++; combiningClass(d) == 0 {
			last = 0
		}
		if last == n {
			first = n
		}
	}
	whole := decomposition(r)
	if whole == "" {
		count(r)
	}
	for _, d := range whole {
		count(d)
	}
	if c.row+first > maxMarks {
		c.before.put(graphemeJoiner, 0)
		c.row = 0
	}
	if c.row += last; last < n {
		c.row = last
	}
	c.before.decompose(r)
}

// flush emits the held characters: the next character does not combine with it.
func (c *canonicaliser) flush() {
	c.before.flush()
	c.after.flush()
	c.row, c.active = 0, false
}

// Reset forgets what is held.
func (c *canonicaliser) Reset() {
	for _, p := range []*composer{&c.before, &c.after} {
		p.started, p.marks = false, p.marks[:0]
	}
	c.row, c.active, c.out = 0, false, c.out[:0]
}

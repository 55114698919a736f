package sketch

import (
	"slices"
	"sync"
	"unsafe"
)

// edgesSlack is how many bytes and edges past the source edgesKernel may write.
const edgesSlack = 64

// tokenSlack is how many bytes behind the last token fingerprintKernel may read.
const tokenSlack = 16

// asciiWords appends the words at the beginning of src as far as it is ASCII,
// or plain where there is a table and a kernel for it, and returns how many
// bytes they and the separators between took: no more than maxToken, so that a
// longer word is left to others.
//
// Unless the text goes on with ASCII, it leaves the last character too: a mark
// that follows could compose with it, such as = and U+0338 to U+2260.
func (t *tokens) asciiWords(src []byte, folds, final bool, plain *plainTable) int {
	piece := src[:min(len(src), maxToken)]
	if len(piece) == 0 || piece[0] >= 0x80 && plain == nil {
		return 0
	}
	base := len(t.text)
	t.text = slices.Grow(t.text, len(piece)+edgesSlack)
	first := len(t.spans)
	t.spans = slices.Grow(t.spans, (len(piece)+edgesSlack)/2+1)
	var fold byte
	if folds {
		fold = 0x20
	}
	free := t.spans[first:cap(t.spans)]
	edges := unsafe.Slice(&free[0].start, 2*len(free))
	count, n := edgesKernel(t.text[base:cap(t.text)], edges, piece, uint32(base), fold, plain)
	if n == 0 {
		return 0
	}
	whole := n
	switch ends := n == len(src); {
	case count&1 == 0:
		if ends && !final || !ends && src[n] >= 0x80 {
			for whole--; whole > 0 && src[whole]&0xC0 == 0x80; {
				whole--
			}
		}
	case ends && final:
		edges[count] = uint32(base + n)
		count++
	default: // the last word may go on
		count--
		whole = int(edges[count]) - base
	}
	t.text = t.text[:base+whole]
	t.spans = t.spans[:first+count/2]
	return whole
}

// appendFingerprints appends the fingerprints of the tokens.
func (t *tokens) appendFingerprints(dst []uint64) []uint64 {
	n := len(dst)
	dst = grow(dst, n+len(t.spans))
	t.text = slices.Grow(t.text, tokenSlack)
	fingerprintKernel(dst[n:], t.text, t.spans)
	return dst
}

// A plainTable says which characters of two bytes are plain: those that keep
// two bytes in canonical text, combine with nothing before them, and are either
// of a word or separate words. By the first byte less 0xC0, and the low bits of
// the second, it has the second byte of the canonical form, 0 if the character
// is not plain, and the first one, 0 if it separates. Last are the characters
// from U+2000 to U+203F that separate.
type plainTable struct {
	two         [32][2][64]byte
	punctuation [64]byte
}

var plainTables = [2]func() *plainTable{
	sync.OnceValue(func() *plainTable { return newPlainTable(&casedAlphabet) }),
	sync.OnceValue(func() *plainTable { return newPlainTable(&foldedAlphabet) }),
}

// plainOf returns the table of an alphabet.
func plainOf(a *alphabet) *plainTable {
	if a.fold {
		return plainTables[1]()
	}
	return plainTables[0]()
}

func newPlainTable(a *alphabet) *plainTable {
	p := new(plainTable)
	separates := func(r rune) bool {
		l := a.letter(r)
		form := string([]byte{byte(l), byte(l >> 8), byte(l >> 16)}[:l.length()])
		if form == "" {
			form = a.long(r, l)
		}
		for _, f := range form {
			if k := classOf(f); k != classOther && k != classSpace {
				return false
			}
		}
		return form != "" && !l.joins()
	}
	for r := rune(0x80); r < 0x800; r++ {
		row, i := &p.two[r>>6], r&63
		l := a.letter(r)
		switch word := l.class() == classWord || l.class() == classDigit; {
		case word && l.length() == 2 && !l.joins():
			row[0][i], row[1][i] = byte(l>>8), byte(l)
		case separates(r):
			row[0][i] = 0x80
		}
	}
	for i := range p.punctuation {
		if separates(0x2000 + rune(i)) {
			p.punctuation[i] = 1
		}
	}
	return p
}

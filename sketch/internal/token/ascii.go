package token

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// AsciiWords appends the words at the beginning of src as far as it is ASCII,
// or plain where there is a table and a kernel for it, and returns how many
// bytes they and the separators between took: no more than maxToken, so that a
// longer word is left to others.
//
// Unless the text goes on with ASCII, it leaves the last character too: a mark
// that follows could compose with it, such as = and U+0338 to U+2260.
func (t *Tokens) AsciiWords(src []byte, folds, final bool, plain *kernel.PlainTable) int {
	piece := src[:min(len(src), maxToken)]
	if len(piece) == 0 || piece[0] >= 0x80 && plain == nil {
		return 0
	}
	base := len(t.Text)
	t.Text = slices.Grow(t.Text, len(piece)+kernel.EdgesSlack)
	first := len(t.Spans)
	t.Spans = slices.Grow(t.Spans, (len(piece)+kernel.EdgesSlack)/2+1)
	var fold byte
	if folds {
		fold = 0x20
	}
	free := t.Spans[first:cap(t.Spans)]
	edges := unsafe.Slice(&free[0].Start, 2*len(free))
	count, n := kernel.Edges(t.Text[base:cap(t.Text)], edges, piece, uint32(base), fold, plain)
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
	t.Text = t.Text[:base+whole]
	t.Spans = t.Spans[:first+count/2]
	return whole
}

// AppendFingerprints appends the fingerprints of the tokens.
func (t *Tokens) AppendFingerprints(dst []uint64) []uint64 {
	n := len(dst)
	if t.each {
		t.Text = slices.Grow(t.Text, kernel.TokenSlack)
		dst = kernel.Grow(dst, n+len(t.Text)+kernel.CharacterSlack)
		return dst[:n+kernel.Characters(dst[n:], t.Text)]
	}
	dst = kernel.Grow(dst, n+len(t.Spans))
	t.Text = slices.Grow(t.Text, kernel.TokenSlack)
	kernel.Fingerprints(dst[n:], t.Text, t.Spans)
	return dst
}

var plainTables = [2]func() *kernel.PlainTable{
	sync.OnceValue(func() *kernel.PlainTable { return newPlainTable(&casedAlphabet) }),
	sync.OnceValue(func() *kernel.PlainTable { return newPlainTable(&foldedAlphabet) }),
}

// plainOf returns the table of an alphabet.
func plainOf(a *alphabet) *kernel.PlainTable {
	if a.fold {
		return plainTables[1]()
	}
	return plainTables[0]()
}

func newPlainTable(a *alphabet) *kernel.PlainTable {
	p := new(kernel.PlainTable)
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
		row, i := &p.Two[r>>6], r&63
		l := a.letter(r)
		switch word := l.class() == classWord || l.class() == classDigit; {
		case word && l.length() == 2 && !l.joins():
			row[0][i], row[1][i] = byte(l>>8), byte(l)
		case separates(r):
			row[0][i] = 0x80
		}
	}
	for i := range p.Punctuation {
		if separates(0x2000 + rune(i)) {
			p.Punctuation[i] = 1
		}
	}
	return p
}

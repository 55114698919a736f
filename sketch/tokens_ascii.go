package sketch

import (
	"slices"
	"unsafe"
)

// edgesSlack is how many bytes and edges past the source edgesKernel may write.
const edgesSlack = 64

// tokenSlack is how many bytes behind the last token fingerprintKernel may read.
const tokenSlack = 16

// asciiWords appends the words at the beginning of src as far as it is ASCII,
// and returns how many bytes they and the separators between took. Text that
// canonical decomposition and composition leave alone goes this way at once;
// it takes no more than maxToken bytes and leaves a longer word to others.
//
// Unless the text goes on with ASCII, it leaves the last character too: a mark
// that follows could compose with it, such as = and U+0338 to U+2260.
func (t *tokens) asciiWords(src []byte, folds, final bool) int {
	piece := src[:min(len(src), maxToken)]
	if len(piece) == 0 || piece[0] >= 0x80 {
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
	count, n := edgesKernel(t.text[base:cap(t.text)], edges, piece, uint32(base), fold)
	whole := n
	switch ends := n == len(src); {
	case count&1 == 0:
		if ends && !final || !ends && src[n] >= 0x80 {
			whole--
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

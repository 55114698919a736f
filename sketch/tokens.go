package sketch

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// tokens are the canonical tokens of a piece of a document: "any two documents
// that differ only in formatting or other information that we chose to ignore
// will be reduced to the same sequence" (Broder 1997, section 2).
type tokens struct {
	text  []byte // canonical UTF-8
	spans []span // of text, in order
}

type span struct{ start, end uint32 }

func (t *tokens) reset() { t.text, t.spans = t.text[:0], t.spans[:0] }

// maxToken is the most bytes of a token; a longer one is several, as in Broder
// 1997, section 4.3.
const maxToken = 4096

// A tokenizer reduces a document to its tokens, a piece at a time, so that the
// memory it takes does not grow with the document. The pieces do not show: the
// tokens are those of the document given at once.
type tokenizer interface {
	// next appends the tokens at the beginning of src and returns how many of
	// its bytes they took. Unless final, it leaves a tail that more text could
	// change; 0 asks for more text.
	next(t *tokens, src []byte, final bool) int
	reset()
}

func newTokenizer(p Profile) tokenizer {
	return &words{fold: p.folds()}
}

const pieceSize = 6144

// words are maximal runs of letters, marks and digits.
type words struct {
	fold   bool
	caser  cases.Caser
	folded []byte
}

func (w *words) reset() {}

func (w *words) next(t *tokens, src []byte, final bool) int {
	if n := t.asciiWords(src, w.fold, final); n > 0 {
		return n
	}
	n := len(src)
	if n > pieceSize {
		n = pieceSize
		for n < len(src) && asciiWord[src[n]] != 0 {
			n++
		}
	}
	if n == len(src) && !final {
		for n > 0 && asciiWord[src[n-1]] != 0 {
			n--
		}
	}
	text := norm.NFKC.Bytes(src[:n])
	if w.fold {
		text = norm.NFKC.Bytes(cases.Fold().Bytes(text))
	}
	start := len(t.text)
	flush := func() {
		if len(t.text) > start {
			t.spans = append(t.spans, span{uint32(start), uint32(len(t.text))})
		}
		start = len(t.text)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.In(r, unicode.L, unicode.M, unicode.N) {
			t.text = append(t.text, text[:size]...)
		} else {
			flush()
		}
		text = text[size:]
	}
	flush()
	return n
}

// asciiWord is 0 for the bytes that end a word.
var asciiWord = func() (table [256]byte) {
	for c := range table {
		if c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			table[c] = 1
		}
	}
	return table
}()

// Package token reduces documents to their canonical tokens: words, characters,
// lines, Soundex codes, the words and URLs of a page, or the tokens of source code.
// Canonical text and the rules of each stream are specified in sketch/FORMAT.md.
package token

import (
	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// Tokens are the canonical tokens of a piece of a document: "any two documents
// that differ only in formatting or other information that we chose to ignore
// will be reduced to the same sequence" (Broder 1997, section 2).
type Tokens struct {
	Text  []byte        // canonical UTF-8
	Spans []kernel.Span // of text, in order

	// FingerprintsOnly says that Spans are not needed: where the tokens are all the
	// characters of Text there are then none.
	FingerprintsOnly bool
	each             bool // each character of Text is a token
}

func (t *Tokens) Reset() { t.Text, t.Spans = t.Text[:0], t.Spans[:0] }

// maxToken is the most bytes of a token; a longer one is several, as in Broder
// 1997, section 4.3.
const maxToken = 4096

// A Tokenizer reduces a document to its tokens, a piece at a time, so that the
// memory it takes does not grow with the document. The pieces do not show: the
// tokens are those of the document given at once.
type Tokenizer interface {
	// next appends the tokens at the beginning of src and returns how many of
	// its bytes they took. Unless final, it leaves a tail that more text could
	// change; 0 asks for more text.
	Next(t *Tokens, src []byte, final bool) int
	Reset()
}

// New returns the tokenizer of settings.
func New(s Settings) Tokenizer {
	var z Tokenizer
	switch s.Stream {
	case Lines:
		z = newLines(s.Fold)
	case HTML, Page:
		z = newPage(s.Fold, s.Stream == HTML)
	case Code:
		z = newCode(s.Fold)
	case Chars:
		z = &singles{newSpacer(s.Fold)}
	default:
		z = newWords(s.Fold)
	}
	filters := s.StopWords || s.Vowels || s.Duplicates || s.Numbers || s.IDs
	if filters && s.Stream == Chars {
		z = &spaced{spacer: newSpacer(s.Fold)}
	}
	if filters || s.Stream == Soundex {
		z = &filtered{Tokenizer: z, settings: s, seen: make(map[uint64]struct{})}
	}
	if s.Dates {
		z = &dated{Tokenizer: z}
	}
	return z
}

// pieceSize is the most bytes that a tokenizer takes in a call: what is made
// of them stays in the fastest memory.
const pieceSize = 6144

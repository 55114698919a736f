package sketch

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
	var z tokenizer
	switch p.Stream {
	case Lines:
		z = newLines(p.folds())
	case HTML, Page:
		z = newPage(p.folds(), p.Stream == HTML)
	case Code:
		z = newCode(p.folds())
	case Chars:
		z = newSpaced(p.folds())
	default:
		z = newWords(p.folds())
	}
	if p.StopWords || p.Vowels || p.Duplicates || p.Numbers || p.IDs || p.Stream == Chars || p.Stream == Soundex {
		z = &filtered{tokenizer: z, profile: p, seen: make(map[uint64]struct{})}
	}
	return z
}

// pieceSize is the most bytes that a tokenizer takes in a call: what is made
// of them stays in the fastest memory.
const pieceSize = 6144

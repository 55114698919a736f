package token

// A Stream says what the tokens of a document are.
type Stream uint8

const (
	Chars Stream = iota
	Words
	Lines
	Soundex
	HTML
	Code
	Elements // no tokens: what the caller gives, as it is
	Page
)

// Streams are the names of the streams, and what is theirs.
var Streams = [...]struct {
	name  string
	folds bool // whether case is folded unless the profile says otherwise
}{
	Chars: {"chars", true}, Words: {"words", true}, Lines: {"lines", false}, Soundex: {"soundex", true},
	HTML: {"html", true}, Code: {"code", false}, Elements: {"elements", false}, Page: {"page", true},
}

func (s Stream) String() string { return Streams[s].name }

// Folds reports whether case is folded unless the profile says otherwise.
func (s Stream) Folds() bool { return Streams[s].folds }

// Settings decide the tokens of a text.
type Settings struct {
	Stream     Stream
	Fold       bool // case is folded
	StopWords  bool // English stop words are dropped
	Vowels     bool // the vowels a, e, i, o, u are dropped
	Duplicates bool // a token seen before is dropped
	Numbers    bool // numbers are dropped
	IDs        bool // tokens of letters and digits are dropped
	Dates      bool // dates and times are dropped
}

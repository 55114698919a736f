package compare

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch"
)

// A text is split into words, which are compared in the canonical form of the profile and
// shown as they are in the text. Characters that the profile ignores, mostly punctuation,
// belong to the word before them.
type words struct {
	text  string
	spans []span
	ids   []int32 // equal for words with the same canonical form
}

type span struct{ start, end int }

// A folder numbers words by their canonical form.
type folder struct {
	profile   sketch.Profile
	words     map[string]int32 // as they stand
	canonical map[string]int32
}

func newFolder(p sketch.Profile) *folder {
	p.W = 1
	if p.Stream == sketch.HTML || p.Stream == sketch.Page || p.Stream == sketch.Elements || p.Stream == sketch.Chars {
		// It reads one word at a time, so that markup is shown as text.
		p.ReverseFolding = p.Stream == sketch.Elements || p.ReverseFolding
		p.Stream = sketch.Words
	}
	return &folder{p, map[string]int32{}, map[string]int32{}}
}

// ignored is the number of all words that the profile ignores.
const ignored = 0

func (f *folder) number(word string) int32 {
	if id, ok := f.words[word]; ok {
		return id
	}
	var b strings.Builder
	for token := range sketch.Tokens(f.profile, []byte(word)) {
		b.WriteString(token)
		b.WriteByte(0)
	}
	id := int32(ignored)
	if b.Len() > 0 {
		var ok bool
		if id, ok = f.canonical[b.String()]; !ok {
			id = int32(len(f.canonical)) + 1
			f.canonical[b.String()] = id
		}
	}
	f.words[word] = id
	return id
}

// read splits a text into words.
func (f *folder) read(text string) words {
	w := words{text: text}
	add := func(start, end int) {
		if id := f.number(text[start:end]); id != ignored {
			w.spans, w.ids = append(w.spans, span{start, end}), append(w.ids, id)
		}
	}
	start := -1
	for i, r := range text {
		letter := unicode.In(r, unicode.L, unicode.M, unicode.N) || start >= 0 && (r == '\'' || r == '’')
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		if start >= 0 && (!letter || alone) {
			add(start, i)
			start = -1
		}
		switch {
		case alone || !letter && !unicode.IsSpace(r):
			_, size := utf8.DecodeRuneInString(text[i:]) // a byte that is not UTF-8 is one byte long
			add(i, i+size)
		case letter && start < 0:
			start = i
		}
	}
	if start >= 0 {
		add(start, len(text))
	}
	return w
}

// bounds returns the byte offsets of the text from word i up to word j.
func (w *words) bounds(i, j int) (start, end int) {
	end = len(w.text)
	if i > 0 {
		start = w.spans[i].start
	}
	if j < len(w.spans) {
		end = w.spans[j].start
	}
	return start, end
}

func (w *words) between(i, j int) string {
	start, end := w.bounds(i, j)
	return w.text[start:end]
}

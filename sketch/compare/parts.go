package compare

import (
	"strings"
	"unicode"
)

// A Part is a passage that both texts have, or only the left or the right one.
type Part struct {
	Of   Side
	Text string
}

// A Side says which of two texts a Part belongs to.
type Side int

const (
	Both Side = iota
	Left
	Right
)

// Parts merges two texts into one, in which common passages appear once. It compares words
// and blanks byte by byte.
func Parts(left, right string) []Part {
	numbers := map[string]int32{}
	x, y := exact(left, numbers), exact(right, numbers)
	var parts []Part
	add := func(side Side, text string) {
		switch last := len(parts) - 1; {
		case text == "":
		case last >= 0 && parts[last].Of == side:
			parts[last].Text += text
		default:
			parts = append(parts, Part{side, text})
		}
	}
	slice := func(w *words, i, j int) string {
		if i == j {
			return ""
		}
		return w.text[w.spans[i].start:w.spans[j-1].end]
	}
	atX, atY := 0, 0
	for _, b := range append(align(x.ids, y.ids), block{len(x.ids), len(y.ids), 0}) {
		add(Left, slice(&x, atX, b.x))
		add(Right, slice(&y, atY, b.y))
		add(Both, slice(&x, b.x, b.x+b.n))
		atX, atY = b.x+b.n, b.y+b.n
	}
	return parts
}

// exact splits a text into words, runs of blanks, and single other characters.
func exact(text string, numbers map[string]int32) words {
	w := words{text: strings.ToValidUTF8(text, "\uFFFD")}
	kind := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 1
		case r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			return 2
		}
		return 0
	}
	start, before := 0, 0
	end := func(at int) {
		if at == start {
			return
		}
		word := w.text[start:at]
		id, ok := numbers[word]
		if !ok {
			id = int32(len(numbers)) + 1
			numbers[word] = id
		}
		w.spans, w.ids = append(w.spans, span{start, at}), append(w.ids, id)
		start = at
	}
	for i, r := range w.text {
		k := kind(r)
		if k == 0 || k != before {
			end(i)
		}
		before = k
	}
	end(len(w.text))
	return w
}

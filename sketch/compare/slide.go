package compare

import (
	"strings"
	"unicode"
)

// slide moves a passage that only one text has to the beginning of a sentence. "A. The b. The
// c." beside "A. The c." has either "b. The" or "The b." in addition; the second reads better.
func slide(x, y *words, blocks []block) {
	for i := 0; i+1 < len(blocks); i++ {
		p, q := &blocks[i], &blocks[i+1]
		gapX, gapY := q.x-p.x-p.n, q.y-p.y-p.n
		w, start, gap := x, p.x+p.n, gapX
		if gapX == 0 {
			w, start, gap = y, p.y+p.n, gapY
		} else if gapY > 0 {
			continue
		}
		// How far to the left, and to the right, the gap can go.
		for by := range min(p.n, gap) + 1 {
			if by > 0 && w.ids[start-by] != w.ids[start-by+gap] {
				break
			}
			if w.begins(start - by) {
				p.n -= by
				q.x, q.y, q.n = q.x-by, q.y-by, q.n+by
				break
			}
		}
	}
}

// begins says whether a sentence or a line begins with word i.
func (w *words) begins(i int) bool {
	if i == 0 {
		return true
	}
	between := w.text[w.spans[i-1].end:w.spans[i].start]
	if strings.ContainsAny(between, "\n。！？") {
		return true
	}
	trimmed := strings.TrimRightFunc(between, unicode.IsSpace)
	return trimmed != between && strings.ContainsAny(trimmed, ".!?")
}

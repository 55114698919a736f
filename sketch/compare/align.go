package compare

import (
	"cmp"
	"slices"
)

// A block is a run of words that two texts have in common.
type block struct{ x, y, n int }

// align finds the words that two texts have in common, in order. It starts with the words at
// both ends and continues between words that each text has once (Cohen's patience diff).
// Where there are no such words it takes the longest common subsequence, if its table is
// small enough.
func align(x, y []int32) []block {
	a := aligner{x: x, y: y, budget: 40 * (len(x) + len(y) + 1000)}
	a.part(0, len(x), 0, len(y))
	return a.tidy()
}

type aligner struct {
	x, y   []int32
	blocks []block
	budget int // words that may still be looked at; without budget the rest counts as different
}

// lcsCells bounds the table of a longest common subsequence.
const lcsCells = 1 << 18

func (a *aligner) add(x, y, n int) {
	if n == 0 {
		return
	}
	if last := len(a.blocks) - 1; last >= 0 && a.blocks[last].x+a.blocks[last].n == x && a.blocks[last].y+a.blocks[last].n == y {
		a.blocks[last].n += n
		return
	}
	a.blocks = append(a.blocks, block{x, y, n})
}

func (a *aligner) part(x0, x1, y0, y1 int) {
	n := 0
	for x0+n < x1 && y0+n < y1 && a.x[x0+n] == a.y[y0+n] {
		n++
	}
	a.add(x0, y0, n)
	x0, y0 = x0+n, y0+n
	for n = 0; x0 < x1-n && y0 < y1-n && a.x[x1-1-n] == a.y[y1-1-n]; n++ {
	}
	x1, y1 = x1-n, y1-n
	if a.budget -= x1 - x0 + y1 - y0; x0 < x1 && y0 < y1 && a.budget > 0 {
		if anchors := a.anchors(x0, x1, y0, y1); anchors != nil {
			for _, at := range anchors {
				a.part(x0, at.x, y0, at.y)
				a.add(at.x, at.y, 1)
				x0, y0 = at.x+1, at.y+1
			}
			a.part(x0, x1, y0, y1)
		} else if (x1-x0)*(y1-y0) <= lcsCells {
			a.common(x0, x1, y0, y1)
		}
	}
	a.add(x1, y1, n)
}

// anchors returns the longest list of words that each part has once and that are in the same
// order in both: the longest ascending subsequence.
func (a *aligner) anchors(x0, x1, y0, y1 int) []block {
	type places struct{ x, y int } // -1 is none, -2 is several
	at := make(map[int32]places, x1-x0)
	for i := x0; i < x1; i++ {
		if p, ok := at[a.x[i]]; ok {
			p.x = -2
			at[a.x[i]] = p
		} else {
			at[a.x[i]] = places{i, -1}
		}
	}
	for j := y0; j < y1; j++ {
		if p, ok := at[a.y[j]]; ok {
			if p.y == -1 {
				p.y = j
			} else {
				p.y = -2
			}
			at[a.y[j]] = p
		}
	}
	var unique []block
	for i := x0; i < x1; i++ {
		if p := at[a.x[i]]; p.x == i && p.y >= 0 {
			unique = append(unique, block{p.x, p.y, 1})
		}
	}
	// Patience sorting: the top of each pile, and what lay on top of the pile
	// before when a card was put down.
	var tops []int
	before := make([]int, len(unique))
	for i, p := range unique {
		pile, _ := slices.BinarySearchFunc(tops, p.y, func(top, y int) int { return cmp.Compare(unique[top].y, y) })
		before[i] = -1
		if pile > 0 {
			before[i] = tops[pile-1]
		}
		if pile == len(tops) {
			tops = append(tops, i)
		} else {
			tops[pile] = i
		}
	}
	if tops == nil {
		return nil
	}
	chain := make([]block, len(tops))
	for i, n := tops[len(tops)-1], len(tops)-1; i >= 0; i, n = before[i], n-1 {
		chain[n] = unique[i]
	}
	return chain
}

// common finds the longest common subsequence by dynamic programming.
func (a *aligner) common(x0, x1, y0, y1 int) {
	n, m := x1-x0, y1-y0
	length := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a.x[x0+i] == a.y[y0+j] {
				length[i*(m+1)+j] = length[(i+1)*(m+1)+j+1] + 1
			} else {
				length[i*(m+1)+j] = max(length[(i+1)*(m+1)+j], length[i*(m+1)+j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a.x[x0+i] == a.y[y0+j]:
			a.add(x0+i, y0+j, 1)
			i, j = i+1, j+1
		case length[(i+1)*(m+1)+j] >= length[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}

// tidy drops single common words between long differences: "the" and "of" do not
// link two sentences.
func (a *aligner) tidy() []block {
	var kept []block
	x, y := 0, 0
	for i, b := range a.blocks {
		nextX, nextY := len(a.x), len(a.y)
		if i+1 < len(a.blocks) {
			nextX, nextY = a.blocks[i+1].x, a.blocks[i+1].y
		}
		before := max(b.x-x, b.y-y)
		after := max(nextX-b.x-b.n, nextY-b.y-b.n)
		if b.n <= 2 && b.x > 0 && b.x+b.n < len(a.x) && min(before, after) >= 2*b.n {
			continue
		}
		kept = append(kept, b)
		x, y = b.x+b.n, b.y+b.n
	}
	return kept
}

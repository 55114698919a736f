package main

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// What a person calls the same: texts whose ratio is at least sameRatio. The ratio of two
// texts is twice the length of their longest common subsequence as a share of both lengths, in
// characters, case and white space folded.
const (
	sameRatio = 0.9
	trueRatio = 0.6 // a pair below it is a wrong answer
)

// A foldedText is a text as the ratio reads it.
type foldedText struct {
	runes []rune
	grams []uint16 // how often pairs of characters occur, by their hash
}

// readLimit is how many characters of a text count.
const readLimit = 10_000

func newFoldedText(text string) *foldedText {
	t := &foldedText{runes: []rune(strings.ToLower(strings.Join(strings.Fields(text), " "))), grams: make([]uint16, 512)}
	t.runes = t.runes[:min(len(t.runes), readLimit)]
	for i := 1; i < len(t.runes); i++ {
		t.grams[(uint32(t.runes[i-1])*31+uint32(t.runes[i]))*2654435761>>23]++
	}
	return t
}

// canReach reports whether the ratio of two texts can be that large: each inserted or deleted
// character touches at most two pairs of neighbours.
func (t *foldedText) canReach(u *foldedText, ratio float64) bool {
	m, n := len(t.runes), len(u.runes)
	if 2*float64(min(m, n)) < ratio*float64(m+n) {
		return false
	}
	common := 0
	for i := range t.grams {
		common += int(min(t.grams[i], u.grams[i]))
	}
	return float64(common) >= float64(max(m, n)-1)-2*(1-ratio)*float64(m+n)
}

// A ratioOf compares one text with many, 64 characters at a time: the rows of the table of
// the longest common subsequence as bits (Hyyrö 2004).
type ratioOf struct {
	text  *foldedText
	masks map[rune][]uint64
	row   []uint64
}

func newRatioOf(t *foldedText) *ratioOf {
	words := (len(t.runes) + 63) / 64
	r := &ratioOf{text: t, masks: map[rune][]uint64{}, row: make([]uint64, words)}
	for i, c := range t.runes {
		if r.masks[c] == nil {
			r.masks[c] = make([]uint64, words)
		}
		r.masks[c][i/64] |= 1 << (i % 64)
	}
	return r
}

func (r *ratioOf) to(u *foldedText) float64 {
	m, n := len(r.text.runes), len(u.runes)
	if m+n == 0 {
		return 1
	}
	for i := range r.row {
		r.row[i] = ^uint64(0)
	}
	for _, c := range u.runes {
		mask := r.masks[c]
		if mask == nil {
			continue
		}
		carry := uint64(0)
		for i, v := range r.row {
			both := v & mask[i]
			var sum uint64
			sum, carry = bits.Add64(v, both, carry)
			r.row[i] = sum | v&^mask[i]
		}
	}
	common := 0
	for i, v := range r.row {
		if last := m - 64*i; last < 64 {
			v |= ^uint64(0) << last
		}
		common += bits.OnesCount64(^v)
	}
	return 2 * float64(common) / float64(m+n)
}

// samePairs is every pair that a person calls the same.
func samePairs(texts []*foldedText) (pairs [][2]int) {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(texts[a].runes), len(texts[b].runes)) })
	for at, i := range order {
		var r *ratioOf
		for _, j := range order[at+1:] {
			if float64(len(texts[j].runes))*sameRatio > float64(len(texts[i].runes))*(2-sameRatio) {
				break
			}
			if !texts[i].canReach(texts[j], sameRatio) {
				continue
			}
			if r == nil {
				r = newRatioOf(texts[i])
			}
			if r.to(texts[j]) >= sameRatio {
				pairs = append(pairs, [2]int{min(i, j), max(i, j)})
			}
		}
	}
	return pairs
}

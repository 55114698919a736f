package sketch

import (
	"cmp"
	"slices"
	"strings"
)

// A Passage is a run of consecutive shingles, as text.
type Passage struct {
	Kind   string // both, left or right: the documents that have its shingles
	Text   string // its tokens joined by blanks
	Tokens int    // how many these are
	Left   int    // the place of its first token in the left document, from 0, or -1
	Right  int    // and in the right one
}

// maxPlaces is how many of the places where a shingle occurs Explain tries to
// find a longer passage.
const maxPlaces = 32

// Explain shows what the resemblance of two documents is made of: the passages
// that they have in common, the longest first, then those of the left document
// alone and those of the right one alone.
//
// A passage is maximal: it goes on as far as its shingles do. Neighbouring
// passages share up to w-1 tokens, as shingles do. Each place of the left
// document is in one passage; where the right document has it several times,
// the place that continues longest is shown. The time is proportional to the
// length of the documents.
func Explain(p Profile, a, b []byte) ([]Passage, error) {
	n, err := newNumbering(p)
	if err != nil {
		return nil, err
	}
	for _, doc := range [][]byte{a, b} {
		if err := CheckDocument(p, doc); err != nil {
			return nil, err
		}
	}
	left, right := n.read(a), n.read(b)

	// The places of each shingle of the right document: the first, and for
	// each place the next.
	first := make(map[int]int)
	next := make([]int, len(right.shingles))
	for j := len(right.shingles) - 1; j >= 0; j-- {
		next[j] = -1
		if k, ok := first[right.shingles[j]]; ok {
			next[j] = k
		}
		first[right.shingles[j]] = j
	}

	var both []Passage
	leftOnly := make([]bool, len(left.shingles))
	follows := -1 // where the passage before ended in the right document
	for i := 0; i < len(left.shingles); {
		j, ok := first[left.shingles[i]]
		if !ok {
			leftOnly[i] = true
			i++
			continue
		}
		at, length := -1, 0
		try := func(j int) {
			k := 0
			for i+k < len(left.shingles) && j+k < len(right.shingles) && left.shingles[i+k] == right.shingles[j+k] {
				k++
			}
			if k > length {
				at, length = j, k
			}
		}
		if follows >= 0 && follows < len(right.shingles) {
			try(follows)
		}
		for tried := 0; j >= 0 && tried < maxPlaces; tried++ {
			try(j)
			j = next[j]
		}
		both = append(both, n.passage("both", left, i, length, i, at))
		i += length
		follows = at + length
	}

	inLeft := make(map[int]bool, len(left.shingles))
	for _, x := range left.shingles {
		inLeft[x] = true
	}
	rightOnly := make([]bool, len(right.shingles))
	for j, x := range right.shingles {
		rightOnly[j] = !inLeft[x]
	}
	passages := longestFirst(both)
	passages = append(passages, longestFirst(n.runs("left", left, leftOnly))...)
	return append(passages, longestFirst(n.runs("right", right, rightOnly))...), nil
}

// passage makes a passage of the shingles of r from i on.
func (n *numbering) passage(kind string, r reading, i, shingles, left, right int) Passage {
	tokens := r.tokens[i : i+shingles-1+r.length]
	texts := make([]string, len(tokens))
	for k, x := range tokens {
		texts[k] = n.texts[x]
	}
	return Passage{kind, strings.Join(texts, " "), len(tokens), left, right}
}

// runs makes passages of the runs of the shingles that are only in r.
func (n *numbering) runs(kind string, r reading, only []bool) (list []Passage) {
	for i := 0; i < len(only); i++ {
		k := i
		for k < len(only) && only[k] {
			k++
		}
		if k == i {
			continue
		}
		left, right := i, -1
		if kind == "right" {
			left, right = -1, i
		}
		list = append(list, n.passage(kind, r, i, k-i, left, right))
		i = k
	}
	return list
}

func longestFirst(list []Passage) []Passage {
	slices.SortStableFunc(list, func(a, b Passage) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return list
}

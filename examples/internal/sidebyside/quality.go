package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// bandFloors are the smallest resemblances of the bands; the last holds the documents
// whose shingles are the same.
var bandFloors = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1}

func band(resemblance float64) int {
	b := -1
	for b+1 < len(bandFloors) && resemblance >= bandFloors[b+1] {
		b++
	}
	return b
}

// Quality is what a contender's answers are worth: pairs of documents, by band
// of their true resemblance.
type quality struct {
	True    []int // pairs that there are
	Found   []int // of them, in the answers
	Below   int   // answers below one half
	Above85 [2]int
	Queries int // how many documents it was asked about; 0 for all pairs
}

// recall returns the share of the true pairs from a band up that were found.
func (q *quality) recall(from int) (float64, int) {
	found, there := 0, 0
	for b := from; b < len(q.True); b++ {
		found, there = found+q.Found[b], there+q.True[b]
	}
	return ratio(found, there), there
}

// precision returns the share of the answers that are truly in a band or above.
func (q *quality) precision(from int) (float64, int) {
	good := 0
	for _, n := range q.Found[from:] {
		good += n
	}
	return ratio(good, q.answers()), q.answers()
}

func (q *quality) answers() int {
	n := q.Below
	for _, found := range q.Found {
		n += found
	}
	return n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func key(a, b int) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(a)<<32 | uint64(b)
}

// judge compares a file of answers, a pair of numbers a line, with the truth.
// With questions only the pairs that have one of them count.
func judge(c *collection, n int, answers string, questions []int) (*quality, error) {
	q := &quality{True: make([]int, len(bandFloors)), Found: make([]int, len(bandFloors)), Queries: len(questions)}
	var asked map[int]bool
	if questions != nil {
		asked = map[int]bool{}
		for _, i := range questions {
			asked[i] = true
		}
	}
	truth := map[uint64]float64{}
	for _, p := range c.pairs(n) {
		if asked == nil || asked[p.A] || asked[p.B] {
			truth[key(p.A, p.B)] = p.Resemblance
			q.True[band(p.Resemblance)]++
			if p.Resemblance >= 0.85 {
				q.Above85[1]++
			}
		}
	}
	f, err := os.Open(answers)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seen := map[uint64]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		left, right, _ := strings.Cut(lines.Text(), "\t")
		a, errA := strconv.Atoi(left)
		b, errB := strconv.Atoi(right)
		if errA != nil || errB != nil || a < 0 || b < 0 || a >= n || b >= n {
			return nil, fmt.Errorf("answer %q: want two numbers below %d", lines.Text(), n)
		}
		k := key(a, b)
		if a == b || seen[k] {
			continue
		}
		seen[k] = true
		r, ok := truth[k]
		if !ok {
			q.Below++
			continue
		}
		q.Found[band(r)]++
		if r >= 0.85 {
			q.Above85[0]++
		}
	}
	return q, lines.Err()
}

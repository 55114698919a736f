// Package passagetest makes pages in which passages are looked for, in benchmarks.
package passagetest

import (
	"fmt"
	"math/rand/v2"
)

// Page returns the words of the n-th page, from 0 on: 400 words of which few are frequent, 2.6 KB. Each
// tenth page is the one before it with a word changed.
func Page(n int) []string {
	edited := n%10 == 9
	if edited {
		n--
	}
	r := rand.New(rand.NewPCG(2000, uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 8, 49999)
	words := make([]string, 400)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", 10000+zipf.Uint64())
	}
	if edited {
		words[r.IntN(len(words))] = "changed"
	}
	return words
}

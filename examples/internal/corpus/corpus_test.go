package corpus

import (
	"hash/fnv"
	"math"
	"strings"
	"testing"
)

func TestGeneratorIsSeeded(t *testing.T) {
	sum := func(seed uint64) uint64 {
		g, h := New(seed, 500, 0.3), fnv.New64a()
		for range 500 {
			h.Write([]byte(g.Next().Text))
		}
		return h.Sum64()
	}
	if a, b := sum(1), sum(1); a != b {
		t.Errorf("the same seed gives %x and %x", a, b)
	}
	if a, b := sum(1), sum(2); a == b {
		t.Error("two seeds give the same documents")
	}
}

func TestGeneratedText(t *testing.T) {
	g := New(1, 500, 0.3)
	total, words, counts := 0, 0, make([]int, edits)
	for i := range 3000 {
		d := g.Next()
		total += len(d.Text)
		words += len(strings.Fields(d.Text))
		counts[d.Edit]++
		if (d.Edit == Original) != (d.Of == i) {
			t.Fatalf("document %d: %s of %d", i, d.Edit, d.Of)
		}
	}
	if mean := float64(total) / 3000; math.Abs(mean-500) > 60 {
		t.Errorf("documents of %.0f bytes, want about 500", mean)
	}
	if length := float64(total) / float64(words); length < 5 || length > 7 {
		t.Errorf("%.1f bytes a word, want 5 to 7 as in English", length)
	}
	for e, n := range counts {
		if n < 50 {
			t.Errorf("%d documents %s, want at least 50", n, Edit(e))
		}
	}
}

func TestTruthAgainstEveryPair(t *testing.T) {
	for _, bound := range []float64{0.3, 0.5, 0.8} {
		shingles, err := Shingles("words w=4")
		if err != nil {
			t.Fatal(err)
		}
		g, truth := New(3, 400, 0.5), NewTruth(shingles)
		for range 400 {
			truth.Add(g.Next().Text)
		}
		truth.Add("")
		truth.Add("")
		got := map[[2]int]float64{}
		for _, p := range truth.Pairs(bound) {
			got[[2]int{p.A, p.B}] = p.Resemblance
		}
		want := 0
		for a := range 402 {
			for b := a + 1; b < 402; b++ {
				if r := truth.Resemblance(a, b); r >= bound {
					want++
					if got[[2]int{a, b}] != r {
						t.Errorf("bound %v: pair %d, %d at %v is missing", bound, a, b, r)
					}
				}
			}
		}
		if len(got) != want || want < 50 {
			t.Errorf("bound %v: %d pairs, want %d", bound, len(got), want)
		}
	}
}

package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// slowRatio is the ratio by the table of the longest common subsequence.
func slowRatio(a, b []rune) float64 {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(max(1, len(a)+len(b)))
}

// Every pair that a person calls the same is found, whatever the lengths of the texts, and the
// ratio of two texts is that of the table.
func TestSamePairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var texts []*foldedText
	for range 300 {
		text := make([]byte, random.IntN(220))
		for i := range text {
			text[i] = "abcdefghijklmnop"[random.IntN(16)]
		}
		if len(texts) > 0 && random.IntN(2) == 0 {
			text = []byte(string(texts[random.IntN(len(texts))].runes))
			for range random.IntN(1 + len(text)/8) {
				text[random.IntN(len(text))] = 'z'
			}
		}
		texts = append(texts, newFoldedText(string(text)))
	}
	found := map[[2]int]bool{}
	for _, p := range samePairs(texts) {
		found[p] = true
	}
	same := 0
	for j := range texts {
		for i := range j {
			want := slowRatio(texts[i].runes, texts[j].runes)
			if len(texts[i].runes)+len(texts[j].runes) == 0 {
				want = 1
			}
			if got := newRatioOf(texts[i]).to(texts[j]); got != want {
				t.Fatalf("the ratio of %q and %q is %v, want %v", string(texts[i].runes), string(texts[j].runes), got, want)
			}
			if want >= sameRatio {
				same++
			}
			if found[[2]int{i, j}] != (want >= sameRatio) {
				t.Errorf("%q and %q of ratio %v: found %v", string(texts[i].runes), string(texts[j].runes), want, found[[2]int{i, j}])
			}
		}
	}
	if same < 50 {
		t.Errorf("%d pairs are the same, want 50 to say something", same)
	}
}

// A small collection goes through every contender, and the page shows each.
func TestKinds(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := runKinds(context.Background(), "ocr", 300, out, module); err != nil {
		t.Fatal(err)
	}
	results, err := readKinds(out)
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	r := results[0]
	if r.Rows != 300 || r.Versions != 150 || r.Same < 100 || r.Chosen != "paragraphs" || r.Bytes < 200 || *r.Held < 0.9 {
		t.Errorf("%+v", r)
	}
	for _, name := range kindContenders {
		a := r.Answers[name]
		if a == nil || a.Recall < 0.97 && name == "alike" || a.Recall < 0.9 || a.Pairs < 50 || *a.True < 0.9 || a.Fill <= 0 || a.Question <= 0 || name != "gaoya" && name != "pg_trgm" && *a.Within < 0.9 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	page := kindsPage(results)
	for _, name := range append([]string{"| ocr | 300 |"}, kindContenders...) {
		if !strings.Contains(page, name) {
			t.Errorf("the page lacks %s", name)
		}
	}
	// The results that are committed are of the collections that there are, and the page is theirs.
	kept, err := readKinds(filepath.Join(module, "results"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) < 14 {
		t.Errorf("%d collections have results, want at least 14", len(kept))
	}
}

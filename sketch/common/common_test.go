package common_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/common"
)

const licence = "permission is hereby granted free of charge to any person who gets a copy of this software"

func documents(n int) []string {
	random := rand.New(rand.NewPCG(7, 8))
	var list []string
	for i := range n {
		words := make([]string, 30)
		for j := range words {
			words[j] = fmt.Sprint("word", random.IntN(100_000))
		}
		text := strings.Join(words, " ")
		if i%5 == 0 {
			text += " " + licence
		}
		if i%25 == 3 {
			text = "copyright by the authors all rights reserved " + text
		}
		list = append(list, text)
	}
	return list
}

func learn(t *testing.T, settings string, share float64, texts []string) *common.Learner[int] {
	t.Helper()
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	l, err := common.NewLearner[int](p, share, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := l.Add([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range texts {
		if err := l.Count([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range texts {
		if l.Example(i, []byte(text)) {
			break
		}
	}
	return l
}

// What is found is what counting every shingle's documents in a map finds, by the texts
// of the shingles.
func TestLearner(t *testing.T) {
	texts := append(documents(3000), "", "...", strings.Repeat(licence+" ", 3))
	for _, settings := range []string{"words w=4", "chars w=5", "words w=2 bag", "weighted"} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		documents := 0
		for _, text := range texts {
			seen := map[string]bool{}
			for shingle := range sketch.Shingles(p, []byte(text)) {
				seen[shingle] = true
			}
			if len(seen) > 0 {
				documents++
			}
			for shingle := range seen {
				rows[shingle]++
			}
		}
		for _, share := range []float64{0.03, 0.1, 0.5} {
			want := 0
			for _, n := range rows {
				if float64(n) > share*float64(documents) {
					want++
				}
			}
			l := learn(t, settings, share, texts)
			if got := len(l.Shingles()); got != want || !l.Complete() || !slices.IsSorted(l.Shingles()) {
				t.Errorf("%s, %v: %d shingles, want %d; complete: %v", settings, share, got, want, l.Complete())
			}
			found := ""
			for _, p := range l.Passages() {
				found += fmt.Sprintf("%s: %d in %d, as in %d\n", p.Text, p.Shingles, p.Rows, p.Example)
			}
			if has := strings.Contains(found, licence+": "); settings == "words w=4" && has != (share < 0.2) {
				t.Errorf("%v: the licence is found: %v, in\n%s", share, has, found)
			}
			if has := strings.Contains(found, "copyright by the authors all rights reserved: 4 in 120, as in 3"); settings == "words w=4" && has != (share < 0.04) {
				t.Errorf("%v: the copyright is found: %v, in\n%s", share, has, found)
			}
		}
	}
}

// Few documents, or none, have nothing in common that three of them do not have.
func TestLearnerOfFew(t *testing.T) {
	for _, v := range []struct {
		texts []string
		want  int
	}{{nil, 0}, {[]string{""}, 0}, {[]string{licence, licence}, 0}, {[]string{licence, licence, licence}, 14}, {[]string{"x", "x", "x", "y"}, 1}} {
		l := learn(t, "words w=4", 0.1, v.texts)
		if got := len(l.Shingles()); got != v.want {
			t.Errorf("%d documents: %d shingles, want %d", len(v.texts), got, v.want)
		}
		for _, p := range l.Passages() {
			if p.Rows != 3 || p.Share != 3/float64(len(v.texts)) {
				t.Errorf("%+v", p)
			}
		}
	}
	if _, err := common.NewLearner[int](sketch.Profile{}, 0.1, nil); err == nil {
		t.Error("no profile, and no error")
	}
	for _, share := range []float64{0, -1, 1.1} {
		if _, err := common.NewLearner[int](sketch.Profile{}, share, nil); err == nil || !strings.Contains(err.Error(), "want above 0 and at most 1") {
			t.Errorf("a share of %v: %v", share, err)
		}
	}
	stop := errors.New("stop")
	p, err := sketch.ParseProfile("")
	if err != nil {
		t.Fatal(err)
	}
	l, err := common.NewLearner[int](p, 0.1, func() error { return stop })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add([]byte(strings.Repeat(licence+" ", 20_000))); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of stop", err)
	}
}

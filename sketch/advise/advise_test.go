package advise_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/advise"
)

// Against the table of the longest common subsequence, cell by cell.
func TestRatio(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		text := func() string {
			r := make([]rune, random.IntN(150))
			for i := range r {
				r[i] = []rune("abcé日")[random.IntN(5)]
			}
			return string(r)
		}
		a, b := text(), text()
		x, y := []rune(a), []rune(b)
		longest := make([][]int, len(x)+1)
		for i := range longest {
			longest[i] = make([]int, len(y)+1)
			for j := 1; i > 0 && j <= len(y); j++ {
				if longest[i][j] = max(longest[i-1][j], longest[i][j-1]); x[i-1] == y[j-1] {
					longest[i][j] = longest[i-1][j-1] + 1
				}
			}
		}
		want := 0.0
		if len(x) > 0 && len(y) > 0 {
			want = 2 * float64(longest[len(x)][len(y)]) / float64(len(x)+len(y))
		}
		if got := advise.Ratio(a, b); got != want {
			t.Fatalf("%q and %q: %v, want %v", a, b, got, want)
		}
	}
	if got := advise.Ratio("One  two", "ONE TWO"); got != 1 {
		t.Errorf("texts that differ in case and blanks: %v, want 1", got)
	}
}

// titles are short texts, some a word apart.
func titles(n int) []string {
	random := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("library for parsing fast simple tool viewer editor python ruby client server terminal network graphical daemon utility wrapper bindings documentation tests common files plugin engine game puzzle image audio video stream codec archive format")
	var list []string
	for len(list) < n {
		title := make([]string, 5+random.IntN(5))
		for i := range title {
			title[i] = words[random.IntN(len(words))]
		}
		list = append(list, strings.Join(title, " "))
		if random.IntN(3) == 0 {
			title[random.IntN(len(title))] = words[random.IntN(len(words))]
			list = append(list, strings.Join(title, " "))
		}
	}
	return list[:n]
}

// What is told of a sample is what counting its pairs one by one gives.
func TestPresets(t *testing.T) {
	texts := append(titles(150), "", "...")
	list, reason, err := advise.Presets(texts, 1_000_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	chosen, why := sketch.Look(texts)
	if reason != why {
		t.Errorf("the reason is %q, want that of the look, %q", reason, why)
	}
	for _, a := range list {
		if a.Layout != "parts" {
			t.Errorf("%s: the layout for a million rows is %s, want parts", a.Preset, a.Layout)
		}
	}
	if got := advise.Layout(advise.PartsFrom - 1); got != "columns" {
		t.Errorf("the layout for fewer rows is %s, want columns", got)
	}
	byName := map[string]advise.Advice{}
	for _, a := range list {
		byName[a.Preset] = a
		if a.Chosen != (a.Preset == chosen) {
			t.Errorf("%s: chosen is %v, and the look chooses %s", a.Preset, a.Chosen, chosen)
		}
	}
	for _, name := range []string{"short", "prose", "records"} {
		checkAdvice(t, texts, byName[name])
	}
	if short, prose := byName["short"], byName["prose"]; short.Edited <= prose.Edited || len(prose.Missed) == 0 || len(short.Only) > 0 {
		t.Errorf("titles: short finds %v of the edited ones, prose %v, and misses %v", short.Edited, prose.Edited, prose.Missed)
	}
}

// sketches are the sketches of texts as a side table keeps them, and whole.
func sketches(t *testing.T, p sketch.Profile, texts []string) (stored, whole [][]byte) {
	t.Helper()
	for _, bits := range []int{4, 64} {
		p.Bits = bits
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		var list [][]byte
		for _, text := range texts {
			s.Document([]byte(text))
			list = append(list, s.AppendSketch(nil))
		}
		stored, whole = whole, list
	}
	return stored, whole
}

// checkAdvice counts the pairs of texts one by one and compares what the advice says of them.
func checkAdvice(t *testing.T, texts []string, a advise.Advice) {
	t.Helper()
	name := a.Preset
	p, err := sketch.ParseProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	stored, whole := sketches(t, p, texts)
	pairs, found, answers, candidates, near, nearFound := 0, 0, 0, 0, 0, 0
	for i := range texts {
		for j := range i {
			exact, ok, err := sketch.ExactResemblance(p, []byte(texts[i]), []byte(texts[j]))
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			shared, err := sketch.Shared(whole[i], whole[j])
			if err != nil {
				t.Fatal(err)
			}
			estimate, err := sketch.Resemblance(stored[i], stored[j])
			if err != nil {
				t.Fatal(err)
			}
			answer := shared > 0 && estimate >= a.AtLeast
			count := func(n *int, yes bool) {
				if yes {
					*n++
				}
			}
			count(&candidates, shared > 0)
			count(&answers, answer)
			count(&pairs, exact >= a.AtLeast)
			count(&found, exact >= a.AtLeast && answer)
			count(&near, exact >= 0.6 && exact <= 0.7)
			count(&nearFound, exact >= 0.6 && exact <= 0.7 && shared > 0)
		}
	}
	if pairs != a.Pairs || answers != a.Answers || math.Abs(float64(found)-a.Recall*float64(max(pairs, 1))) > 1e-9 && pairs > 0 {
		t.Errorf("%s: %d pairs, %v of them found, %d answers; want %d, %d, %d", name, a.Pairs, a.Recall*float64(a.Pairs), a.Answers, pairs, found, answers)
	}
	n := float64(len(texts))
	if want := 2 * float64(candidates) / n * 999_999 / (n - 1); math.Abs(want-a.Candidates) > 1e-6*want {
		t.Errorf("%s: %v candidates a row, want %v", name, a.Candidates, want)
	}
	if point := a.Curve[1]; point.Pairs != near || near > 0 && math.Abs(point.Measured-float64(nearFound)/float64(near)) > 1e-9 {
		t.Errorf("%s: %+v, want %d pairs, %d of them found", name, point, near, nearFound)
	}
	if want, _ := sketch.ThresholdRecall(p.K, p.S, a.AtLeast); a.Expected != want || a.Same < 0 || a.Same > 1 || a.Edited <= 0 || a.Edited > 1 || a.Seconds <= 0 || a.Bytes < 500 {
		t.Errorf("%s: %+v", name, a)
	}
}

// A sample of hardly anything, and an interrupt.
func TestPresetsOddly(t *testing.T) {
	for _, texts := range [][]string{nil, {""}, {"one"}, {"one", "one"}, {"\xff\xfe", strings.Repeat("x", 100_000), " "}, {strings.Repeat("日本語", 300), "日"}} {
		list, reason, err := advise.Presets(texts, 0, nil)
		if err != nil || len(list) < 5 || reason == "" {
			t.Errorf("%.20q: %d presets, %q, %v", texts, len(list), reason, err)
		}
		for _, a := range list {
			if s := fmt.Sprint(a); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Errorf("%.20q: %s", texts, s)
			}
		}
	}
	stop, calls := errors.New("stop"), 0
	if _, _, err := advise.Presets(titles(50), 50, func() error {
		if calls++; calls > 100 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of stop", err)
	}
	if advise.Enough(99, 2<<20) || !advise.Enough(100, 2<<20) || !advise.Enough(1000, 1) || !advise.Enough(1, 9<<20) || advise.Enough(999, 1000) {
		t.Error("a sample is complete too early or too late")
	}
}

package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The examples of Broder 1997, section 2.
func TestRoses(t *testing.T) {
	const (
		a = "a rose is a rose is a rose"
		b = "a rose is a flower which is a rose"
	)
	for _, c := range []struct {
		settings string
		a, b     string
		want     float64
	}{
		{"words w=1 bag", a, b, 0.7},
		{"words w=2 bag", a, b, 0.5},
		{"words w=3 bag", a, b, 0.3},
		{"words w=1 set", a, b, 0.6},
		{"words w=2 set", a, b, 0.5},
		{"words w=3 set", a, b, 3.0 / 7}, // 42.857 %
		{"words w=2 set", "a c a b a", "a b a c a", 1},
		{"words w=2 bag", "a c a b a", "a b a c a", 1},
		{"words w=3 bag", "a c a b a", "a b a c a", 0.5},
		{"words w=1 bag", "b a a c", "c a b a", 1},
		{"words w=1 weighted", a, b, 0.7},
		{"words w=4", "a rose", "A Rose!", 1},
		{"words w=4", "a rose", "a rose is", 0},
	} {
		got, ok, err := ExactResemblance(mustProfile(t, c.settings), []byte(c.a), []byte(c.b))
		if err != nil || !ok || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %q resembles %q %v, %v, %v, want %v", c.settings, c.a, c.b, got, ok, err, c.want)
		}
	}
	var got []string
	for text := range Shingles(mustProfile(t, "words w=4"), []byte(a)) {
		got = append(got, text)
	}
	want := []string{"a rose is a", "rose is a rose", "is a rose is", "a rose is a", "rose is a rose"}
	if !slices.Equal(got, want) {
		t.Errorf("the 4-shingling is %q, want %q", got, want)
	}
	for settings, want := range map[string]int64{"words w=4": 3, "words w=4 bag": 5, "words w=4 weighted": 5, "words w=9": 1, "lines": 1} {
		p := mustProfile(t, settings)
		if _, got, _, err := exactCounts(p, []byte(a), nil); err != nil || got != float64(want) {
			t.Errorf("%s: %v shingles, %v, want %d", settings, got, err, want)
		}
		s := mustSketcher(t, settings)
		s.Document([]byte(a))
		if got := s.Length([]byte(a)); got != want {
			t.Errorf("%s: the length is %d, want %d", settings, got, want)
		}
	}
}

func TestExactContainment(t *testing.T) {
	p := mustProfile(t, "words w=2")
	got, ok, err := ExactContainment(p, []byte("b c d"), []byte("a b c d e"))
	if got != 1 || !ok || err != nil {
		t.Errorf("a part: %v, %v, %v, want 1", got, ok, err)
	}
	got, _, _ = ExactContainment(p, []byte("a b c d e"), []byte("b c d"))
	if got != 0.5 {
		t.Errorf("the whole: %v, want 0.5", got)
	}
	if _, ok, err := ExactContainment(p, []byte("!"), []byte("b c d")); ok || err != nil {
		t.Errorf("no token: %v, %v", ok, err)
	}
	if _, ok, err := ExactResemblance(p, []byte("!"), []byte("?")); ok || err != nil {
		t.Errorf("no tokens: %v, %v", ok, err)
	}
	if _, _, err := ExactResemblance(Profile{}, nil, nil); err == nil || !strings.Contains(err.Error(), "w=0") {
		t.Errorf("the empty profile: %v", err)
	}
}

// What Tokens and Shingles show is what a Sketcher samples.
func TestShinglesAreSampled(t *testing.T) {
	for _, stream := range []string{"chars", "words", "lines", "soundex", "html", "code", "page"} {
		for _, more := range []string{"", " bag", " duplicates"} {
			p := mustProfile(t, stream+" w=3 mod=1"+more)
			for _, text := range []string{"", "a", "A rose is a rose, is a ROSE!", "我能吞下玻璃而不伤身体。カタカナ", "cafe\u0301 x\u0301\u0323 \xff", "<p>one<b>two</b> <a href=x>three</a>", "one\ntwo\n\nthree"} {
				s, err := NewSketcher(p)
				if err != nil {
					t.Fatal(err)
				}
				s.Document([]byte(text))
				l := newList(p)
				n := int64(0)
				for _, x := range Shingles(p, []byte(text)) {
					l.add([]uint64{x})
					n++
				}
				if got := s.Shingles(); got != n {
					t.Fatalf("%s, %.60q: %d shingles, want %d", p, text, got, n)
				}
				if want := l.appendSample(nil, p); n > 0 && string(s.AppendSketch(nil)) != string(want) {
					t.Fatalf("%s, %.60q: other shingles", p, text)
				}
			}
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		settings, a, b string
		want           []Passage
	}{
		{"words w=2", "a rose is a rose", "a rose is a flower", []Passage{
			{"both", "a rose is a", 4, 0, 0},
			{"both", "a rose", 2, 3, 0},
			{"right", "a flower", 2, -1, 3},
		}},
		{"words w=2", "one two three FOUR five six", "Two, three; 4 five six seven", []Passage{
			{"both", "two three", 2, 1, 0},
			{"both", "five six", 2, 4, 3},
			{"left", "three four five", 3, 2, -1},
			{"left", "one two", 2, 0, -1},
			{"right", "three 4 five", 3, -1, 1},
			{"right", "six seven", 2, -1, 4},
		}},
		{"words w=4", "a b", "a b", []Passage{{"both", "a b", 2, 0, 0}}},
		{"words w=4", "a b", "a b c", []Passage{{"left", "a b", 2, 0, -1}, {"right", "a b c", 3, -1, 0}}},
		{"words w=1", "x y z", "x q x y z", []Passage{{"both", "x y z", 3, 0, 2}, {"right", "q", 1, -1, 1}}},
		{"words", "", "!", nil},
	} {
		got, err := Explain(mustProfile(t, c.settings), []byte(c.a), []byte(c.b))
		if err != nil || len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q and %q: %v\n got %v\nwant %v", c.settings, c.a, c.b, err, got, c.want)
		}
	}
	if _, err := Explain(Profile{}, nil, nil); err == nil {
		t.Error("the empty profile explains something")
	}
}

// The passages have every shingle, on the side where it is, whatever repeats.
func TestExplainCovers(t *testing.T) {
	p := mustProfile(t, "words w=3")
	repeat := strings.Repeat("a a b ", 3000)
	for _, c := range [][2]string{{repeat, repeat + "c"}, {repeat, "a " + repeat}, {string(numberedWords(0, 900)), string(numberedWords(300, 1200))}} {
		list, err := Explain(p, []byte(c[0]), []byte(c[1]))
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]map[string]bool{"both": {}, "left": {}, "right": {}}
		for _, passage := range list {
			if n := len(strings.Fields(passage.Text)); n != passage.Tokens {
				t.Fatalf("%v has %d tokens", passage, n)
			}
			for text := range Shingles(p, []byte(passage.Text)) {
				kinds[passage.Kind][text] = true
			}
		}
		in := [2]map[string]bool{{}, {}}
		for i := range in {
			for text := range Shingles(p, []byte(c[i])) {
				in[i][text] = true
			}
		}
		for i, kind := range []string{"left", "right"} {
			for text := range in[i] {
				if want := !in[1-i][text]; kinds[kind][text] != want || kinds["both"][text] == want {
					t.Fatalf("%q: %s %v, both %v", text, kind, kinds[kind][text], kinds["both"][text])
				}
			}
		}
		if !slices.IsSortedFunc(list[:slices.IndexFunc(append(list, Passage{}), func(p Passage) bool { return p.Kind != "both" })],
			func(a, b Passage) int { return b.Tokens - a.Tokens }) {
			t.Error("the longest is not first")
		}
	}
}

func BenchmarkExactResemblance(b *testing.B) {
	p := mustProfile(b, "words")
	doc := []byte(fmt.Sprint(strings.Repeat("the quick brown fox jumps over the lazy dog ", 100)))
	b.SetBytes(int64(2 * len(doc)))
	for b.Loop() {
		if _, _, err := ExactResemblance(p, doc, doc); err != nil {
			b.Fatal(err)
		}
	}
}

// The distance 1 - resemblance is a metric (Broder 1997, section 2), and so is the share of
// slots that differ, the estimate of it that whole minima give.
func TestDistanceIsAMetric(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, settings := range []string{"words w=1", "words w=3", "chars w=4", "words w=2 bag", "words classic bits=64 t=60 k=6 s=5", "words fast bits=64"} {
		p, err := ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			var texts [3][]byte
			var stored [3][]byte
			for i := range texts {
				words := make([]string, 4+r.IntN(30))
				for j := range words {
					words[j] = fmt.Sprint("w", r.IntN(12))
				}
				texts[i] = []byte(strings.Join(words, " "))
				s.Document(texts[i])
				stored[i] = s.AppendSketch(nil)
			}
			var exact, estimated [3][3]float64
			for i := range texts {
				for j := range texts {
					x, ok, err := ExactResemblance(p, texts[i], texts[j])
					if err != nil || !ok {
						t.Fatal(ok, err)
					}
					c, err := Compare(stored[i], stored[j])
					if err != nil {
						t.Fatal(err)
					}
					exact[i][j], estimated[i][j] = 1-x, 1-c.Resemblance
				}
			}
			distances := [][3][3]float64{exact}
			if p.Bits == 64 { // fewer bits agree by luck, and estimates below 0 are cut
				distances = append(distances, estimated)
			}
			for _, d := range distances {
				for i := range 3 {
					if d[i][i] != 0 {
						t.Fatalf("%s: %q is %v from itself", settings, texts[i], d[i][i])
					}
					j, k := (i+1)%3, (i+2)%3
					if d[i][j] != d[j][i] {
						t.Fatalf("%s: %v one way, %v the other", settings, d[i][j], d[j][i])
					}
					if d[i][j] > d[i][k]+d[k][j]+1e-12 {
						t.Fatalf("%s: %v is more than %v and %v: %q", settings, d[i][j], d[i][k], d[k][j], texts)
					}
				}
			}
		}
	}
}

package verify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/verify"
)

// documents resemble the first of their group more or less.
func documents() []string {
	random := rand.New(rand.NewPCG(3, 4))
	var list []string
	for group := range 6 {
		for n := range 8 {
			words := make([]string, 60)
			for i := range words {
				words[i] = fmt.Sprint("w", group, "x", i)
			}
			for range n {
				words[random.IntN(60)] = fmt.Sprint("e", random.IntN(1000))
			}
			list = append(list, strings.Join(words, " "))
		}
	}
	return list
}

func sketches(t *testing.T, p sketch.Profile, texts []string) [][]byte {
	t.Helper()
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]byte
	for _, text := range texts {
		s.Document([]byte(text))
		list = append(list, s.AppendSketch(nil))
	}
	return list
}

// Every pair is decided as the texts and the bounds say, and only open pairs are read.
func TestCompare(t *testing.T) {
	texts := documents()
	texts = append(texts, "gone", "other words than those that were sketched")
	for _, settings := range []string{"words bits=8", "prose bits=4", "words bag bins", "words bottom=50"} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		stored := sketches(t, p, texts)
		reads := 0
		j, err := verify.Texts(p, nil, func(i int) ([]byte, bool, error) {
			reads++
			return []byte(texts[i]), i < len(texts)-2, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		exact, open := 0, 0
		for _, atLeast := range []float64{0.3, 0.5, 0.7} {
			from, err := verify.From(p, atLeast)
			if err != nil {
				t.Fatal(err)
			}
			for a := range texts {
				for b := range a {
					bounds, err := sketch.Bounds(stored[a], stored[b], 0.95)
					if err != nil {
						t.Fatal(err)
					}
					before := reads
					got, ok, err := j.Compare(a, b, stored[a], stored[b], atLeast)
					if err != nil {
						t.Fatal(err)
					}
					if (bounds.Low >= atLeast || bounds.High < atLeast) && reads != before {
						t.Fatalf("%s: %d and %d were read, and their bounds are %v", settings, a, b, bounds)
					}
					want := bounds
					if bounds.Low < atLeast && bounds.High >= atLeast && a < len(texts)-2 {
						r, _, err := sketch.ExactResemblance(p, []byte(texts[a]), []byte(texts[b]))
						if err != nil {
							t.Fatal(err)
						}
						want = sketch.Interval{Low: r, Estimate: r, High: r}
						exact++
					}
					if want.High < atLeast {
						want = sketch.Interval{} // not asked for
					}
					if got.High < atLeast {
						got = sketch.Interval{}
					}
					if got != want || ok != (want.Estimate >= atLeast) {
						t.Fatalf("%s from %v: %d and %d: %v, want %v", settings, atLeast, a, b, got, want)
					}
					may, err := j.Open(stored[a], stored[b], atLeast)
					if err != nil || may != (bounds.High >= atLeast) || may && from > bounds.Estimate {
						t.Fatalf("%s from %v: bounds %v: open %v, %v; estimates from %v", settings, atLeast, bounds, may, err, from)
					}
					if may {
						open++
					}
				}
			}
		}
		if exact < 50 || open < 100 {
			t.Errorf("%s: %d pairs read, %d open: the documents are too easy", settings, exact, open)
		}
		if reads > len(texts)+20 {
			t.Errorf("%s: %d reads of %d documents", settings, reads, len(texts))
		}
	}
}

// What is kept is bounded, and a document is read again when it was let go.
func TestMemory(t *testing.T) {
	p, err := sketch.ParseProfile("chars w=8 k=64 s=1 t=64 r=1 bits=1")
	if err != nil {
		t.Fatal(err)
	}
	const length = 800_000
	random := rand.New(rand.NewPCG(5, 6))
	letters := make([]byte, 2*length)
	for i := range letters {
		letters[i] = byte('a' + random.IntN(26))
	}
	text := func(i int) []byte { return letters[i*length/16:][:length] }
	stored := sketches(t, p, []string{"abcdefghijklmnop", "abcdefghijklmnxx"})
	reads := map[int]int{}
	j, err := verify.Texts(p, nil, func(i int) ([]byte, bool, error) { reads[i]++; return text(i), true, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1} {
		got, _, err := j.Compare(0, i, stored[0], stored[1], 0.6)
		if want := float64(16-i) / float64(16+i); err != nil || math.Abs(got.Estimate-want) > 1e-4 || got.Low != got.High {
			t.Fatalf("document %d: %v, %v, want %v", i, got, err, want)
		}
	}
	if reads[1] != 2 || reads[2] != 1 || reads[0] != 1 {
		t.Errorf("document 1 was read %d times, want 2; 2 %d times and the one in use %d times, want 1", reads[1], reads[2], reads[0])
	}
}

func TestErrors(t *testing.T) {
	p, err := sketch.ParseProfile("words bits=8")
	if err != nil {
		t.Fatal(err)
	}
	texts := documents()
	stored := sketches(t, p, texts)
	failure := errors.New("the disk")
	j, err := verify.Texts(p, nil, func(int) ([]byte, bool, error) { return nil, false, failure }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Compare(0, 4, stored[0], stored[4], 0.7); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the read", err)
	}
	if err := j.Give(0, []byte(texts[0])); err != nil {
		t.Fatal(err)
	}
	if err := j.Give(4, []byte(texts[4])); err != nil {
		t.Fatal(err)
	}
	if got, _, err := j.Compare(0, 4, stored[0], stored[4], 0.7); err != nil || got.Low != got.High {
		t.Errorf("two documents that were given: %v, %v", got, err)
	}
	if _, err := verify.Texts[int](sketch.Profile{}, nil, nil, nil); err == nil {
		t.Error("no profile, and no error")
	}
	if none, ok, err := verify.Sketches[int]().Compare(0, 4, stored[0], stored[4], 0.99); err != nil || ok {
		t.Errorf("%v, %v", none, err)
	}
	stop := errors.New("stop")
	if j, err = verify.Texts(p, nil, func(int) ([]byte, bool, error) { return []byte(strings.Repeat("long words ", 300_000)), true, nil }, func() error { return stop }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Compare(0, 4, stored[0], stored[4], 0.7); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of stop", err)
	}
}

package sketch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bookWords is a text of words that are as frequent as those of a language.
func bookWords(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", int(3000/(1+r.ExpFloat64()*r.Float64()*300)))
	}
	return words
}

// The smallest of every run, found as the definition says.
func definedMinima(t *testing.T, p Profile, doc string) []int64 {
	t.Helper()
	of := p.Passages()
	run := passageRun(of.Stream) - of.W + 1
	var hashes []uint64
	for _, x := range Shingles(of, []byte(doc)) {
		const odd = 0x9e3779b97f4a7c15
		x *= odd
		x ^= x >> 32
		hashes = append(hashes, x*odd)
	}
	var values []int64
	for i := range hashes {
		if end := min(i+run, len(hashes)); end-i == run || i == 0 && len(hashes) > 0 {
			values = append(values, int64(slices.Min(hashes[i:end])))
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func TestPassageValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, settings := range []string{"words", "prose", "short", "words w=12", "words bag", "lines", "code", "web", "words mod=3", "unsegmented"} {
		p := mustProfile(t, settings)
		x, err := NewPassages(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 4, 5, 10, 19, 20, 21, 22, 50, 63, 64, 65, 66, 80, 400, 5000} {
			separator := map[bool]string{true: "\n", false: " "}[p.Stream == Lines]
			doc := strings.Join(bookWords(r, n), separator)
			values, shingles, err := x.Values([]byte(doc))
			if want := definedMinima(t, p, doc); err != nil || !slices.Equal(values, want) {
				t.Fatalf("%s, %d words: %v, %d values, want %d", settings, n, err, len(values), len(want))
			}
			if p.Stream == Words && n > 100 {
				if per := float64(len(values)) / float64(shingles); per < 0.08 || per > 0.25 {
					t.Errorf("%s: %.3f values a shingle", settings, per)
				}
			}
		}
	}
	if _, err := NewPassages(mustProfile(t, "elements")); err == nil {
		t.Error("elements have passages")
	}
}

// Every value of a passage is one of the text that it stands in, wherever that is, and a
// passage of 20 words has one.
func TestPassagesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	x, err := NewPassages(mustProfile(t, "prose"))
	if err != nil {
		t.Fatal(err)
	}
	book := bookWords(r, 30_000)
	values, _, err := x.Values([]byte(strings.Join(book, " ")))
	if err != nil {
		t.Fatal(err)
	}
	values = slices.Clone(values)
	for range 3000 {
		length := []int{20, 21, 25, 30, 50, 100, 300}[r.IntN(7)]
		at := r.IntN(len(book) - length)
		of, _, err := x.Values([]byte("  " + strings.ToUpper(strings.Join(book[at:at+length], ", "))))
		if err != nil || len(of) == 0 {
			t.Fatal(err, len(of))
		}
		for _, v := range of {
			if _, found := slices.BinarySearch(values, v); !found {
				t.Fatalf("a value of the words %d to %d is none of the book's", at, at+length)
			}
		}
	}
}

// A very long document has no more values than are bounded, all of which are values at less
// coarseness.
func TestPassagesOfLongDocuments(t *testing.T) {
	x, err := NewPassages(mustProfile(t, "words"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 2_000_000 {
		fmt.Fprint(&b, "w", i*7919%1_000_003, " ")
	}
	values, shingles, err := x.Values([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := x.Coarseness(shingles); n != 2 || len(values) > passageValues || len(values) < passageValues/4 {
		t.Errorf("%d values of %d shingles, coarseness %d", len(values), shingles, n)
	}
	for _, v := range values {
		if v&3 != 0 {
			t.Fatalf("the value %x", v)
		}
	}
	if n := x.Coarseness(500_000); n != 0 {
		t.Errorf("coarseness %d of 500,000 shingles, want 0", n)
	}
}

func TestPassageContainment(t *testing.T) {
	for _, c := range []struct {
		matches, values int
		low, high       float64
	}{{0, 0, 0, 1}, {1, 1, 0.02, 1}, {0, 1, 0, 0.98}, {50, 50, 0.92, 1}, {25, 50, 0.35, 0.65}} {
		i, err := PassageContainment(c.matches, c.values, 0.95)
		if err != nil || i.Low < c.low || i.High > c.high || i.Low > i.Estimate || i.High < i.Estimate {
			t.Errorf("%d of %d: %+v, %v", c.matches, c.values, i, err)
		}
	}
	if _, err := PassageContainment(2, 1, 0.95); err == nil {
		t.Error("2 of 1")
	}
}

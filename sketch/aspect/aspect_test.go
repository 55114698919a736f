package aspect_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

func computer(t testing.TB, profile string, indexes ...string) *aspect.Computer {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	variants, err := aspect.Parse(p, indexes)
	if err != nil {
		t.Fatal(err)
	}
	c, err := aspect.New(p, variants)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A row is what the functions of sketch and simindex say, each asked by itself,
// whatever document came before it.
func TestRow(t *testing.T) {
	for _, profile := range []string{"words", "words bits=8", "words bag", "scaled", "bins", "weighted", "web", "chars"} {
		names := []string{"43B/40", "1A/8", "forest/0", "length"}
		c := computer(t, profile, names...)
		for _, doc := range []string{
			strings.Repeat("the quick brown fox jumps over the lazy dog and runs away ", 40),
			"one two three", "", "!!!", "a b c d e f a b c d e f",
		} {
			text := strings.ToUpper(doc)
			got, err := c.Row(sketch.ContentHash([]byte(doc)), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			s, err := sketch.NewSketcher(c.Profile())
			if err != nil {
				t.Fatal(err)
			}
			s.Document([]byte(text))
			if want := sketch.ContentHash([]byte(doc)); got.ContentHash != want {
				t.Errorf("%s, %.20q: content hash %d, want %d", profile, doc, got.ContentHash, want)
			}
			if got.Shingles != s.Shingles() {
				t.Errorf("%s, %.20q: %d shingles, want %d", profile, doc, got.Shingles, s.Shingles())
			}
			if want := s.AppendSketch(nil); !bytes.Equal(got.Sketch, want) {
				t.Errorf("%s, %.20q: sketch %x, want %x", profile, doc, got.Sketch, want)
			}
			if want := s.AppendFeatures(nil); !slices.Equal(got.Features, want) {
				t.Errorf("%s, %.20q: features %v, want %v", profile, doc, got.Features, want)
			}
			for i, name := range names {
				v, err := simindex.Parse(name)
				if err != nil {
					t.Fatal(err)
				}
				value, ok := v.IndexOf(s, []byte(text))
				if want := (aspect.Index{Value: value, Valid: ok}); got.Indexes[i] != want {
					t.Errorf("%s, %.20q: %s is %v, want %v", profile, doc, name, got.Indexes[i], want)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	p, err := sketch.ParseProfile("t=8 k=1 s=8 r=1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := aspect.Parse(p, []string{"length", "forest/1"}); err == nil || !strings.Contains(err.Error(), "forest/1") {
		t.Errorf("forest/1 of eight slots: error %v, want forest/1 named", err)
	}
	if _, err := aspect.Parse(p, []string{"length", "nonsense"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v, want nonsense named", err)
	}
	if p, err = sketch.ParseProfile("elements"); err != nil {
		t.Fatal(err)
	}
	if _, err := aspect.Parse(p, []string{"length", "forest/0", "43B/40"}); err == nil || !strings.Contains(err.Error(), "43B/40: the stream elements has no text") {
		t.Errorf("43B/40 of sets: error %v, want it named", err)
	}
	c := computer(t, "elements", "length", "forest/0")
	if row, err := c.Row(7, []byte(`["a", "b", "a"]`)); err != nil || row.Shingles != 3 || len(row.Sketch) == 0 || row.Indexes[0] != (aspect.Index{Value: 2, Valid: true}) {
		t.Errorf("the row of a set is %+v, %v", row, err)
	}
	if _, err := c.Row(7, []byte("a, b")); err == nil || !strings.Contains(err.Error(), "array or an object") {
		t.Errorf("the row of what is no set: error %v", err)
	}
	if _, err := aspect.New(sketch.Profile{}, nil); err == nil {
		t.Error("a profile without settings makes a Computer")
	}
}

// A long document can be given up, and the next one does not notice.
func TestStop(t *testing.T) {
	long := []byte(strings.Repeat("words that make a document long ", 3<<20/32))
	c := computer(t, "words")
	want, err := c.Row(1, long)
	if err != nil {
		t.Fatal(err)
	}
	stored := bytes.Clone(want.Sketch)
	shingles := want.Shingles

	stopped, calls := errors.New("stopped"), 0
	c.Stop = func() error {
		if calls++; calls == 2 {
			return stopped
		}
		return nil
	}
	if _, err := c.Row(1, long); !errors.Is(err, stopped) {
		t.Fatalf("error %v, want that of Stop", err)
	}
	if calls != 2 {
		t.Errorf("Stop was called %d times, want 2", calls)
	}
	c.Stop = func() error { return nil }
	got, err := c.Row(1, long)
	if err != nil {
		t.Fatal(err)
	}
	if got.Shingles != shingles || !bytes.Equal(got.Sketch, stored) {
		t.Errorf("in pieces %d shingles, want %d, and the same sketch", got.Shingles, shingles)
	}
}

func TestColumns(t *testing.T) {
	p, err := sketch.ParseProfile("words")
	if err != nil {
		t.Fatal(err)
	}
	variants, err := aspect.Parse(p, []string{"43b/40", "45B/40/100", "forest/3", "LENGTH"})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(aspect.Columns(2, variants), " ")
	if want := "content_hash shingles sketch f1 f2 si_43b_40 si_45b_40_100 si_forest_3 si_length"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	kinds := []simindex.Kind{simindex.Roth, simindex.Roth, simindex.Forest, simindex.Length}
	for i, v := range variants {
		if v.Kind() != kinds[i] {
			t.Errorf("%s has the kind %d, want %d", v, v.Kind(), kinds[i])
		}
	}
}

func TestRowAllocatesNothing(t *testing.T) {
	c := computer(t, "words bits=8", "43B/40", "length", "forest/0")
	doc := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog ", 60))
	allocs := testing.AllocsPerRun(20, func() {
		if _, err := c.Row(1, doc); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a row, want none", allocs)
	}
}

package sketch

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestAddElement adds elements one at a time, with the sample read in between, and all
// together: the sketches are the same.
func TestAddElement(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, profile := range []string{"elements", "elements t=84 k=12 s=7 bits=8", "elements bottom=200", "elements classic", "words w=2", "chars w=4", "elements bag", "elements mod=2"} {
		p, err := ParseProfile(profile)
		if err != nil {
			t.Fatal(err)
		}
		together, apart := newTestSketcher(t, p), newTestSketcher(t, p)
		for _, n := range []int{0, 1, 2, 100, elementsAtOnce, elementsAtOnce + 1, 3000} {
			together.Reset()
			apart.Reset()
			for i := range n {
				element := make([]byte, random.IntN(40))
				if i%500 == 0 {
					element = make([]byte, random.IntN(2*elementBytes))
				}
				for j := range element {
					element[j] = byte(random.Uint32())
				}
				for _, s := range []*Sketcher{together, apart} {
					if i%3 > 0 {
						s.AddElement(element)
					} else if err := s.AddWeighted(element, 1); err != nil {
						t.Fatal(err)
					}
				}
				if got := apart.Shingles(); got != int64(i+1) {
					t.Fatalf("%s: %d shingles after %d elements", profile, got, i+1)
				}
			}
			a, b := together.AppendSketch(nil), apart.AppendSketch(nil)
			if !bytes.Equal(a, b) || (n > 0) == (len(a) == 0) {
				t.Errorf("%s: %d elements together give % x, one at a time % x", profile, n, a, b)
			}
		}
		// The document before is forgotten, also what of it was not sampled yet.
		together.Reset()
		together.AddElement([]byte("of the set before"))
		together.Reset()
		if !together.Empty() {
			t.Errorf("%s: an element of the set before is left", profile)
		}
	}
}

// A set that is a document is counted, and its elements are shingles that others look for.
func TestDocumentThatIsASet(t *testing.T) {
	p, err := ParseProfile("elements")
	if err != nil {
		t.Fatal(err)
	}
	set := []byte(`["a", "b", "a"]`)
	s := newTestSketcher(t, p)
	s.Document(set)
	if n, length := s.Shingles(), s.Length(set); n != 3 || length != 2 {
		t.Errorf("%d elements, %d of them different, want 3 and 2", n, length)
	}
	all, err := NewShingler(p)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := all.Shingles(set, nil); err != nil || len(found) != 2 {
		t.Errorf("the shingles %v (error %v), want two", found, err)
	}
}

// An element is a shingle of one token, whatever its length.
func TestElementIsOneToken(t *testing.T) {
	p, err := ParseProfile("words w=1 t=84 k=12 s=7 bits=8")
	if err != nil {
		t.Fatal(err)
	}
	text, set := newTestSketcher(t, p), newTestSketcher(t, p)
	text.Document([]byte("each of these words is an element by itself"))
	for _, word := range bytes.Fields([]byte("each of these words is an element by itself")) {
		set.AddElement(word)
	}
	if a, b := text.AppendSketch(nil), set.AppendSketch(nil); !bytes.Equal(a, b) {
		t.Errorf("the text gives % x, the set of its words % x", a, b)
	}
}

func newTestSketcher(t *testing.T, p Profile) *Sketcher {
	t.Helper()
	s, err := NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkAddElement(b *testing.B) {
	benchmarkElements(b, func(s *Sketcher, e []byte) { s.AddElement(e) })
}

func BenchmarkAddWeighted(b *testing.B) {
	benchmarkElements(b, func(s *Sketcher, e []byte) { _ = s.AddWeighted(e, 1) })
}

func benchmarkElements(b *testing.B, add func(*Sketcher, []byte)) {
	p, err := ParseProfile("elements t=84 k=12 s=7 bits=8")
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewSketcher(p)
	if err != nil {
		b.Fatal(err)
	}
	var set [][]byte
	for i := range 87 {
		set = append(set, bytes.Repeat([]byte{byte(i)}, 24))
	}
	var stored []byte
	for b.Loop() {
		s.Reset()
		for _, e := range set {
			add(s, e)
		}
		stored = s.AppendSketch(stored[:0])
	}
}

package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// sketchOfSet is the sketch of a set of numbers.
func sketchOfSet(t testing.TB, s *sketch.Sketcher, set []uint64) []byte {
	t.Helper()
	s.Reset()
	for _, x := range set {
		s.AddElement(fmt.Appendf(nil, "%x", x))
	}
	return s.AppendSketch(nil)
}

// families of sets: each member shares share of its elements with the first.
func setFamilies(r *rand.Rand, families, members, size int, share float64) (sets [][]uint64, family []int) {
	first := make([][]uint64, families)
	for f := range first {
		first[f] = make([]uint64, size)
		for i := range first[f] {
			first[f][i] = r.Uint64()
		}
	}
	for range members {
		for f := range first {
			set := make([]uint64, size)
			for i := range set {
				if set[i] = r.Uint64(); r.Float64() < share {
					set[i] = first[f][i]
				}
			}
			sets, family = append(sets, set), append(family, f)
		}
	}
	return sets, family
}

var greedyProfiles = []string{"words", "words fast", "words bins", "words bottom=100", "words bottom=50 mod=2", "words mod=4", "words scaled"}

// The hash table changes the time, not the clusters: the same as from comparing
// every sketch with every representative.
func TestGreedyBruteForce(t *testing.T) {
	for _, name := range greedyProfiles {
		p, err := sketch.ParseProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 44))
			// Near the threshold, so that estimates fall on either side of it.
			sets, _ := setFamilies(r, 8, 12, 200, 0.72+0.06*float64(seed))
			g, err := NewGreedy(GreedyOptions{FingerprintLimit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			type cluster struct {
				name   uint64
				sketch []byte
			}
			var clusters []cluster
			for i, set := range sets {
				b := sketchOfSet(t, s, set)
				best, highest := -1, 0.5
				for j, c := range clusters {
					e, err := sketch.Resemblance(b, c.sketch)
					if err != nil {
						t.Fatal(err)
					}
					if e > highest || e == highest && best < 0 {
						best, highest = j, e
					}
				}
				if best < 0 {
					best = len(clusters)
					clusters = append(clusters, cluster{uint64(i) + 7, b})
				}
				got, err := g.Add(uint64(i)+7, b)
				if err != nil || got != clusters[best].name {
					t.Fatalf("%s: document %d in cluster %d, want %d, %v", name, i, got, clusters[best].name, err)
				}
			}
			if g.Clusters() != len(clusters) || len(clusters) < 8 {
				t.Errorf("%s: %d clusters, want %d", name, g.Clusters(), len(clusters))
			}
		}
	}
}

// Families that are well apart come out whole, by either representative.
func TestGreedyFamilies(t *testing.T) {
	for _, name := range greedyProfiles {
		p, err := sketch.ParseProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, popular := range []bool{false, true} {
			r := rand.New(rand.NewPCG(3, 44))
			sets, family := setFamilies(r, 20, 10, 200, 0.97)
			g, err := NewGreedy(GreedyOptions{Popular: popular})
			if err != nil {
				t.Fatal(err)
			}
			of := map[uint64]int{}
			for i, set := range sets {
				name, err := g.Add(uint64(i), sketchOfSet(t, s, set))
				if err != nil {
					t.Fatal(err)
				}
				if f, known := of[name]; known && f != family[i] {
					t.Errorf("%s: families %d and %d in one cluster", p, f, family[i])
				}
				of[name] = family[i]
			}
			if g.Clusters() != 20 {
				t.Errorf("%s, popular %v: %d clusters, want 20", p, popular, g.Clusters())
			}
		}
	}
}

// When the first member is a stray one, the most popular fingerprints are
// those of the middle all the same.
func TestGreedyPopular(t *testing.T) {
	for _, name := range greedyProfiles {
		p, err := sketch.ParseProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(4, 44))
		middle := make([]uint64, 400)
		for i := range middle {
			middle[i] = r.Uint64()
		}
		near := func(share float64) []uint64 {
			set := make([]uint64, len(middle))
			for i := range set {
				if set[i] = middle[i]; r.Float64() > share {
					set[i] = r.Uint64()
				}
			}
			return set
		}
		sketches := [][]byte{sketchOfSet(t, s, near(0.75))}
		for range 100 {
			sketches = append(sketches, sketchOfSet(t, s, near(0.9)))
		}
		var found [2]float64
		for i, popular := range []bool{false, true} {
			g, err := NewGreedy(GreedyOptions{Resemblance: 0.25, Popular: popular})
			if err != nil {
				t.Fatal(err)
			}
			for id, b := range sketches {
				if _, err := g.Add(uint64(id), b); err != nil {
					t.Fatal(err)
				}
			}
			if g.Clusters() != 1 {
				t.Fatalf("%s: %d clusters", p, g.Clusters())
			}
			if err := sketch.Check(g.clusters[0].representative); err != nil {
				t.Errorf("%s: %v", p, err)
			}
			if found[i], err = sketch.Resemblance(g.clusters[0].representative, sketchOfSet(t, s, middle)); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%-60s resemblance to the middle: first %.2f, popular %.2f", p, found[0], found[1])
		if found[1] < 0.9 || found[0] > 0.8 {
			t.Errorf("%s: resemblance to the middle: first %v, popular %v", p, found[0], found[1])
		}
	}
}

// The table leads from a fingerprint to the clusters that it represents now, to all of
// them as far as the limit allows.
func TestGreedyTable(t *testing.T) {
	p, err := sketch.ParseProfile("words mod=4")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 2, 1000} {
		sets, _ := setFamilies(rand.New(rand.NewPCG(8, 44)), 5, 12, 100, 0.75)
		g, err := NewGreedy(GreedyOptions{Resemblance: 0.4, Popular: true, FingerprintLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for id, set := range sets {
			if _, err := g.Add(uint64(id), sketchOfSet(t, s, set)); err != nil {
				t.Fatal(err)
			}
			entries, prints := 0, 0
			for print, of := range g.table {
				if entries += len(of); len(of) == 0 || len(of) > limit {
					t.Fatalf("limit %d: a fingerprint of %d clusters", limit, len(of))
				}
				for _, c := range of {
					if !slices.Contains(g.clusters[c].prints, print) {
						t.Fatalf("limit %d, document %d: the table has a fingerprint that cluster %d no longer has", limit, id, c)
					}
				}
			}
			for _, c := range g.clusters {
				prints += len(c.prints)
			}
			if limit == 1000 && entries != prints {
				t.Fatalf("document %d: %d entries of %d fingerprints", id, entries, prints)
			}
		}
	}
}

func TestGreedyErrors(t *testing.T) {
	for _, c := range []struct {
		o    GreedyOptions
		want string
	}{
		{GreedyOptions{Resemblance: 1.5}, "sketch: greedy: resemblance 1.5, want above 0 and at most 1"},
		{GreedyOptions{Resemblance: math.NaN()}, "sketch: greedy: resemblance NaN, want above 0 and at most 1"},
		{GreedyOptions{FingerprintLimit: -1}, "sketch: greedy: -1 clusters a fingerprint, want at least 1"},
	} {
		if _, err := NewGreedy(c.o); fmt.Sprint(err) != c.want {
			t.Errorf("%q, want %q", fmt.Sprint(err), c.want)
		}
	}
	g, err := NewGreedy(GreedyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sketches := map[string][]byte{}
	for _, name := range []string{"words", "words bits=8", "web"} {
		p, err := sketch.ParseProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		sketches[name] = sketchOfSet(t, s, []uint64{1, 2, 3})
	}
	if _, err := g.Add(1, []byte("no sketch")); fmt.Sprint(err) != "sketch: decode: 9 bytes, want at least 22" {
		t.Errorf("%v", err)
	}
	if _, err := g.Add(1, sketches["words"]); err != nil {
		t.Error(err)
	}
	if _, err := g.Add(2, sketches["web"]); !errors.Is(err, sketch.ErrProfile) {
		t.Errorf("two profiles: %v", err)
	}
	g, err = NewGreedy(GreedyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Add(1, sketches["words bits=8"]); err == nil {
		t.Error("took a sketch of eight bits a minimum")
	}
	if _, err := g.Add(1, sketches["words"]); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

func BenchmarkGreedy(b *testing.B) {
	p, err := sketch.ParseProfile("words")
	if err != nil {
		b.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		b.Fatal(err)
	}
	sets, _ := setFamilies(rand.New(rand.NewPCG(3, 44)), 500, 4, 100, 0.97)
	sketches := make([][]byte, len(sets))
	bytes := 0
	for i, set := range sets {
		sketches[i] = sketchOfSet(b, s, set)
		bytes += len(sketches[i])
	}
	for _, popular := range []bool{false, true} {
		b.Run(fmt.Sprintf("popular=%v", popular), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			for b.Loop() {
				g, err := NewGreedy(GreedyOptions{Popular: popular})
				if err != nil {
					b.Fatal(err)
				}
				for i, sk := range sketches {
					if _, err := g.Add(uint64(i), sk); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

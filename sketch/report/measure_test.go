package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Connected pairs that agree with each other are worth one; others count each.
func TestWeigh(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  int // pairs of a cluster
		found func(cluster, pair int) bool
		want  float64 // of 60 pairs, half of them found
	}{
		{"each on its own", 1, func(cluster, _ int) bool { return cluster%2 == 0 }, 60},
		{"clusters of one mind", 4, func(cluster, _ int) bool { return cluster < 8 }, 15},
		{"clusters that are mixed", 4, func(_, pair int) bool { return pair%2 == 0 }, 60},
	} {
		kin := kinship{}
		var trials []trial
		share := 0.0
		for i := range 60 {
			cluster, pair := i/c.size, i%c.size
			first := cluster*100 + pair // a chain of rows: each pair has a row of the one before
			kin.join(first+1, first)
			trials = append(trials, trial{row: first, weight: 2, found: c.found(cluster, pair)})
			if trials[i].found {
				share += 1. / 60
			}
		}
		found, worth := weigh(trials, kin)
		if math.Abs(found-share) > 1e-9 || math.Abs(worth-c.want) > 1e-9 {
			t.Errorf("%s: %v found, worth %v, want %v and %v", c.name, found, worth, share, c.want)
		}
	}
	// Weights that differ, and trials that all end in one way.
	if found, worth := weigh([]trial{{0, 3, true}, {2, 1, true}}, kinship{}); found != 1 || worth != 1.6 {
		t.Errorf("%v found, worth %v, want 1 and 1.6", found, worth)
	}
	if found, worth := weigh(nil, kinship{}); found != 0 || worth != 0 {
		t.Errorf("nothing: %v, worth %v", found, worth)
	}
}

// Each of a thousand pairs is in the sample as often as any other.
func TestSampled(t *testing.T) {
	const pairs, rounds = 1000, 2000
	random := rand.New(rand.NewPCG(1, 1))
	times := make([]float64, pairs)
	for range rounds {
		var sample []pair
		for i := range pairs {
			sample = sampled(sample, pair{a: i}, int64(i+1), random)
		}
		if len(sample) != bandPairs {
			t.Fatalf("the sample has %d pairs, want %d", len(sample), bandPairs)
		}
		for _, p := range sample {
			times[p.a]++
		}
	}
	chance := float64(bandPairs) / pairs
	for i, n := range times {
		if off := (n - rounds*chance) / math.Sqrt(rounds*chance*(1-chance)); math.Abs(off) > 5 {
			t.Errorf("pair %d is in %.0f of %d samples, want about %.0f", i, n, rounds, rounds*chance)
		}
	}
}

func TestBandOf(t *testing.T) {
	for _, c := range []struct {
		resemblance float64
		want        int
	}{{0, 0}, {0.049, 0}, {0.051, 1}, {0.5, 10}, {0.949, 18}, {0.951, 19}, {1, 19}} {
		if got := bandOf(c.resemblance); got != c.want {
			t.Errorf("a resemblance of %g is in band %d, want %d", c.resemblance, got, c.want)
		}
	}
}

// A row is in two pairs of a sample at most.
func TestApart(t *testing.T) {
	got := apart([]pair{{a: 1, b: 0}, {a: 2, b: 0}, {a: 3, b: 0}, {a: 2, b: 1}, {a: 2, b: 3}, {a: 4, b: 3}})
	if want := []pair{{a: 1, b: 0}, {a: 2, b: 0}, {a: 2, b: 1}, {a: 4, b: 3}}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestSizeBands(t *testing.T) {
	for n := 2; n < 3000; n++ {
		if low, high := bandSizes(sizeBand(n)); n < low || n > high {
			t.Errorf("%d is in the band from %d to %d", n, low, high)
		}
	}
}

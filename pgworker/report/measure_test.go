package report

import (
	"math"
	"testing"
)

// Pairs that hang together and say the same are worth one; those that do not, as
// many as they are.
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

package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/alike-sql/alike/sketch"
)

// GreedyOptions say how a Greedy works.
type GreedyOptions struct {
	// Resemblance is how much a document must resemble a cluster to join it,
	// above 0 and at most 1. Defaults to 0.5, that of Broder 1997.
	Resemblance float64

	// Popular lets the most popular fingerprints of its members represent a
	// cluster: in every slot the most frequent one; in lists as many as a
	// member has. It costs more than the default, the first member alone, and
	// follows a cluster that drifts.
	Popular bool

	// FingerprintLimit is how many clusters are remembered for one
	// fingerprint. Others that share it must be found by another fingerprint.
	// Defaults to 64.
	FingerprintLimit int
}

// Greedy clusters documents in one pass over their sketches, as Broder 1997,
// section 4.4, proposes: a new sketch joins the cluster whose representative
// it resembles most, if that is enough, and begins a cluster otherwise. A hash
// table from fingerprints to the clusters they represent makes the pass linear.
// All of it is in memory, some kilobytes a cluster; for large collections there
// is Finder. Members of a cluster resemble its representative, so chains do
// not form, but the clusters depend on the order of the documents.
// It is not for concurrent use.
type Greedy struct {
	options  GreedyOptions
	profile  sketch.Profile
	sample   sketch.Sample // of the last document: its fingerprints
	clusters []greedyCluster
	table    map[sketch.Sampled][]int32

	counts  []int32 // of shared fingerprints, for each cluster; zero between calls
	touched []int32
}

type greedyCluster struct {
	name           uint64
	members        int
	representative []byte

	// Popular only.
	prints     []sketch.Sampled // of the representative
	popularity map[sketch.Sampled]int
	printsSum  int // of all members, those of the exponent
	exponent   int // scaled: the coarsest member's
	renewal    int // the number of members at which to look again
}

// NewGreedy checks the options.
func NewGreedy(o GreedyOptions) (*Greedy, error) {
	o.Resemblance = cmp.Or(o.Resemblance, 0.5)
	o.FingerprintLimit = cmp.Or(o.FingerprintLimit, 64)
	switch {
	case !(o.Resemblance > 0 && o.Resemblance <= 1):
		return nil, fmt.Errorf("sketch: greedy: resemblance %v, want above 0 and at most 1", o.Resemblance)
	case o.FingerprintLimit < 1:
		return nil, fmt.Errorf("sketch: greedy: %d clusters a fingerprint, want at least 1", o.FingerprintLimit)
	}
	return &Greedy{options: o, table: map[sketch.Sampled][]int32{}}, nil
}

// Clusters is the number of clusters so far.
func (g *Greedy) Clusters() int { return len(g.clusters) }

// Add puts a document into a cluster and returns the cluster's name, the id of
// its first member. The sketches must be of one profile and keep whole minima.
func (g *Greedy) Add(id uint64, stored []byte) (cluster uint64, err error) {
	if err := g.sample.Read(stored); err != nil {
		return 0, err
	}
	if len(g.clusters) > 0 {
		if err := g.profile.Comparable(g.sample.Profile); err != nil {
			return 0, err
		}
	}
	g.profile = g.sample.Profile
	best, err := g.nearest(stored)
	if err != nil {
		return 0, err
	}
	if best < 0 {
		best = len(g.clusters)
		g.clusters = append(g.clusters, greedyCluster{name: id, renewal: 3, exponent: g.sample.Exponent})
		g.counts = append(g.counts, 0)
		g.represent(best, slices.Clone(stored), g.sample.Values)
	}
	c := &g.clusters[best]
	c.members++
	if g.options.Popular {
		g.popular(best)
	}
	return c.name, nil
}

// nearest is the cluster that the last document, whose sketch it is given,
// resembles most, the earlier one of equals, or -1.
func (g *Greedy) nearest(stored []byte) (best int, err error) {
	defer func() {
		for _, c := range g.touched {
			g.counts[c] = 0
		}
		g.touched = g.touched[:0]
	}()
	for _, p := range g.sample.Values {
		for _, c := range g.table[p] {
			if g.counts[c] == 0 {
				g.touched = append(g.touched, c)
			}
			g.counts[c]++
		}
	}
	// An estimate compares at least as many samples as the sketch has, but
	// for scaled, where the other may make it coarser.
	minShared := g.options.Resemblance * float64(len(g.sample.Values))
	if g.profile.Family == sketch.Scaled {
		minShared = 0
	}
	best, highest := -1, g.options.Resemblance
	slices.Sort(g.touched)
	for _, c := range g.touched {
		if float64(g.counts[c]) < minShared-1e-9 {
			continue
		}
		r, err := sketch.Resemblance(stored, g.clusters[c].representative)
		if err != nil {
			return 0, err
		}
		if r > highest || r == highest && best < 0 {
			best, highest = int(c), r
		}
	}
	return best, nil
}

// represent makes a sketch the representative of a cluster.
func (g *Greedy) represent(cluster int, stored []byte, prints []sketch.Sampled) {
	c := &g.clusters[cluster]
	for _, p := range c.prints {
		of := g.table[p]
		if i := slices.Index(of, int32(cluster)); i >= 0 {
			if of = slices.Delete(of, i, i+1); len(of) == 0 {
				delete(g.table, p)
			} else {
				g.table[p] = of
			}
		}
	}
	for _, p := range prints {
		if of := g.table[p]; len(of) < g.options.FingerprintLimit {
			g.table[p] = append(of, int32(cluster))
		}
	}
	c.representative = stored
	if g.options.Popular {
		c.prints = slices.Clone(prints)
	}
}

// popular counts the fingerprints of a cluster's new member and, whenever the
// cluster has grown by a quarter, renews its representative. Fingerprints
// that are far from popular are forgotten then.
func (g *Greedy) popular(cluster int) {
	c := &g.clusters[cluster]
	if c.popularity == nil {
		c.popularity = map[sketch.Sampled]int{}
	}
	if c.exponent < g.sample.Exponent {
		c.exponent, c.printsSum = g.sample.Exponent, 0
		for p, n := range c.popularity {
			if multipleOf(p, c.exponent) {
				c.printsSum += n
			} else {
				delete(c.popularity, p)
			}
		}
	}
	for _, p := range g.sample.Values {
		if multipleOf(p, c.exponent) {
			c.popularity[p]++
			c.printsSum++
		}
	}
	if c.members < c.renewal {
		return
	}
	c.renewal = c.members + max(1, c.members/4)

	ranked := make([]sketch.Sampled, 0, len(c.popularity))
	for p := range c.popularity {
		ranked = append(ranked, p)
	}
	slices.SortFunc(ranked, func(a, b sketch.Sampled) int {
		return cmp.Or(cmp.Compare(c.popularity[b], c.popularity[a]), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Slot, b.Slot))
	})
	size := (c.printsSum + c.members/2) / c.members
	for _, p := range ranked[min(len(ranked), 8*size):] {
		delete(c.popularity, p)
	}
	majority := sketch.Sample{Profile: g.profile, Exponent: c.exponent}
	if g.profile.Slots() {
		taken := make([]bool, g.profile.T)
		for _, p := range ranked {
			if !taken[p.Slot] {
				taken[p.Slot] = true
				majority.Values = append(majority.Values, p)
			}
		}
	} else {
		majority.Values = ranked[:min(size, len(ranked))]
		slices.SortFunc(majority.Values, func(a, b sketch.Sampled) int { return cmp.Compare(a.Value, b.Value) })
	}
	g.represent(cluster, majority.AppendSketch(nil), majority.Values)
}

// multipleOf says whether a sketch reduced to 2^exponent keeps the value. Only
// scaled sketches have an exponent above 0.
func multipleOf(p sketch.Sampled, exponent int) bool { return p.Value&(1<<exponent-1) == 0 }

package sketch

import (
	"cmp"
	"fmt"
	"slices"
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
// is Clusterer. Members of a cluster resemble its representative, so chains do
// not form, but the clusters depend on the order of the documents.
// It is not for concurrent use.
type Greedy struct {
	options  GreedyOptions
	begun    bool
	profile  Profile
	clusters []greedyCluster
	table    map[sampled][]int32

	counts  []int32 // of shared fingerprints, for each cluster; zero between calls
	touched []int32
	prints  []sampled
}

// sampled is one fingerprint of a sketch. In lists the slot is 0.
type sampled struct {
	value uint64
	slot  int32
}

// multipleOf says whether a sketch reduced to 2^exponent keeps the value. Only
// scaled sketches have an exponent above 0.
func (p sampled) multipleOf(exponent int) bool { return p.value&(1<<exponent-1) == 0 }

type greedyCluster struct {
	name           uint64
	members        int
	representative []byte

	// Popular only.
	prints     []sampled // of the representative
	popularity map[sampled]int
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
	return &Greedy{options: o, table: map[sampled][]int32{}}, nil
}

// Clusters is the number of clusters so far.
func (g *Greedy) Clusters() int { return len(g.clusters) }

// Add puts a document into a cluster and returns the cluster's name, the id of
// its first member. The sketches must be of one profile and keep whole minima.
func (g *Greedy) Add(id uint64, sketch []byte) (cluster uint64, err error) {
	k, err := parse(sketch)
	if err != nil {
		return 0, err
	}
	if g.begun && k.Profile != g.profile {
		return 0, fmt.Errorf("%w: %q and %q", ErrProfile, g.profile, k.Profile)
	}
	if g.prints, err = k.appendPrints(g.prints[:0]); err != nil {
		return 0, err
	}
	g.begun, g.profile = true, k.Profile
	best, err := g.nearest(sketch)
	if err != nil {
		return 0, err
	}
	if best < 0 {
		best = len(g.clusters)
		g.clusters = append(g.clusters, greedyCluster{name: id, renewal: 3, exponent: k.exponent})
		g.counts = append(g.counts, 0)
		g.represent(best, slices.Clone(sketch), g.prints)
	}
	c := &g.clusters[best]
	c.members++
	if g.options.Popular {
		g.popular(best, &k)
	}
	return c.name, nil
}

// appendPrints appends the fingerprints of a sketch.
func (k *blob) appendPrints(dst []sampled) ([]sampled, error) {
	if !k.Slots() {
		values, err := k.values()
		for _, v := range values {
			dst = append(dst, sampled{v, 0})
		}
		return dst, err
	}
	slots, err := k.whole("greedy clustering")
	for i, v := range slots {
		if v != emptySlot || k.Family != Bins {
			dst = append(dst, sampled{v, int32(i)})
		}
	}
	return dst, err
}

// nearest is the cluster that the sketch, whose fingerprints are in g.prints,
// resembles most, the earlier one of equals, or -1.
func (g *Greedy) nearest(sketch []byte) (best int, err error) {
	defer func() {
		for _, c := range g.touched {
			g.counts[c] = 0
		}
		g.touched = g.touched[:0]
	}()
	for _, p := range g.prints {
		for _, c := range g.table[p] {
			if g.counts[c] == 0 {
				g.touched = append(g.touched, c)
			}
			g.counts[c]++
		}
	}
	// An estimate compares at least as many samples as the sketch has, but
	// for scaled, where the other may make it coarser.
	least := g.options.Resemblance * float64(len(g.prints))
	if g.profile.Family == Scaled {
		least = 0
	}
	best, most := -1, g.options.Resemblance
	slices.Sort(g.touched)
	for _, c := range g.touched {
		if float64(g.counts[c]) < least-1e-9 {
			continue
		}
		r, err := Resemblance(sketch, g.clusters[c].representative)
		if err != nil {
			return 0, err
		}
		if r > most || r == most && best < 0 {
			best, most = int(c), r
		}
	}
	return best, nil
}

// represent makes a sketch the representative of a cluster.
func (g *Greedy) represent(cluster int, sketch []byte, prints []sampled) {
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
	c.representative = sketch
	if g.options.Popular {
		c.prints = slices.Clone(prints)
	}
}

// popular counts the fingerprints of a cluster's new member and, whenever the
// cluster has grown by a quarter, renews its representative. Fingerprints
// that are far from popular are forgotten then.
func (g *Greedy) popular(cluster int, k *blob) {
	c := &g.clusters[cluster]
	if c.popularity == nil {
		c.popularity = map[sampled]int{}
	}
	if c.exponent < k.exponent {
		c.exponent, c.printsSum = k.exponent, 0
		for p, n := range c.popularity {
			if p.multipleOf(c.exponent) {
				c.printsSum += n
			} else {
				delete(c.popularity, p)
			}
		}
	}
	for _, p := range g.prints {
		if p.multipleOf(c.exponent) {
			c.popularity[p]++
			c.printsSum++
		}
	}
	if c.members < c.renewal {
		return
	}
	c.renewal = c.members + max(1, c.members/4)

	ranked := make([]sampled, 0, len(c.popularity))
	for p := range c.popularity {
		ranked = append(ranked, p)
	}
	slices.SortFunc(ranked, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(c.popularity[b], c.popularity[a]), cmp.Compare(a.value, b.value), cmp.Compare(a.slot, b.slot))
	})
	size := (c.printsSum + c.members/2) / c.members
	for _, p := range ranked[min(len(ranked), 8*size):] {
		delete(c.popularity, p)
	}
	var prints []sampled
	sketch := appendHeader(nil, g.profile, c.exponent)
	if g.profile.Slots() {
		slots := make([]uint64, g.profile.T)
		for i := range slots {
			slots[i] = emptySlot
		}
		taken := make([]bool, g.profile.T)
		for _, p := range ranked {
			if !taken[p.slot] {
				slots[p.slot], taken[p.slot] = p.value, true
				prints = append(prints, p)
			}
		}
		sketch = appendSlots(sketch, g.profile, slots)
	} else {
		prints = ranked[:min(size, len(ranked))]
		slices.SortFunc(prints, func(a, b sampled) int { return cmp.Compare(a.value, b.value) })
		for _, p := range prints {
			sketch = appendValues(sketch, []uint64{p.value})
		}
	}
	g.represent(cluster, sketch, prints)
}

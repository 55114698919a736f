package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

// half is the resemblance at which Broder 1997 clusters.
const half = 0.5

// A collection is documents with what was computed of each.
type collection struct {
	documents []document
	hashes    []int64   // of the page: equal for identical documents
	sketches  [][]byte  // 84 minima
	features  [][]int64 // the filter's 6
	shingles  [][]int64 // 64 of the minima, one by one
	exact     *corpus.Truth
}

// sketchAll leaves out documents without a word.
func sketchAll(documents []document) (*collection, error) {
	var sketchers []*sketch.Sketcher
	for _, settings := range []string{
		profile,
		// Features of one minimum each: the shingles that phase two of the
		// clustering sorts.
		profile + " k=64 s=1 r=32",
	} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			return nil, err
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			return nil, err
		}
		sketchers = append(sketchers, s)
	}
	shingles, err := corpus.Shingles(profile)
	if err != nil {
		return nil, err
	}
	c := &collection{exact: corpus.NewTruth(shingles)}
	filter, single := sketchers[0], sketchers[1]
	for _, d := range documents {
		if filter.Document(d.page); filter.Empty() {
			continue
		}
		single.Document(d.page)
		c.documents = append(c.documents, d)
		c.hashes = append(c.hashes, sketch.ContentHash(d.page))
		c.sketches = append(c.sketches, filter.AppendSketch(nil))
		c.features = append(c.features, values(filter))
		c.shingles = append(c.shingles, values(single))
		c.exact.Add(string(d.page))
	}
	return c, nil
}

func values(s *sketch.Sketcher) []int64 {
	var values []int64
	for _, f := range s.AppendFeatures(nil) {
		values = append(values, f.Value)
	}
	return values
}

func (c *collection) resemblance(a, b uint64) (float64, error) {
	return sketch.Resemblance(c.sketches[a], c.sketches[b])
}

// finder takes all documents by features. Every pair of them counts, however
// popular the feature is.
func (c *collection) finder(features [][]int64, o cluster.Options) (*cluster.Finder, error) {
	o.FeatureLimit, o.Linkage = max(4, len(c.documents)), cluster.Single
	finder, err := cluster.New(o)
	if err != nil {
		return nil, err
	}
	for i, f := range features {
		if err := finder.Add(uint64(i), f); err != nil {
			finder.Close()
			return nil, err
		}
	}
	return finder, nil
}

// fourPhases clusters as Broder 2000, section 2: sort the shingles of the
// sketches, count what each two documents share, link those that share enough.
func (c *collection) fourPhases() ([]uint64, error) {
	finder, err := c.finder(c.shingles, cluster.Options{Verify: c.resemblance, Resemblance: half})
	if err != nil {
		return nil, err
	}
	return clusters(finder)
}

// filtered links the documents that share two features, and looks no further.
func (c *collection) filtered() ([]uint64, error) {
	finder, err := c.finder(c.features, cluster.Options{Shared: r})
	if err != nil {
		return nil, err
	}
	return clusters(finder)
}

func clusters(finder *cluster.Finder) ([]uint64, error) {
	defer finder.Close()
	var of []uint64
	_, err := finder.Clusters(context.Background(), func(m cluster.Member) error {
		of = append(of, m.Cluster)
		return nil
	})
	return of, err
}

// greedy clusters as Broder 1997, section 4.4: each document joins the cluster
// whose first member it resembles most, or begins one.
func (c *collection) greedy() ([]uint64, error) {
	g, err := cluster.NewGreedy(cluster.GreedyOptions{Resemblance: half})
	if err != nil {
		return nil, err
	}
	var of []uint64
	for i, s := range c.sketches {
		cluster, err := g.Add(uint64(i), s)
		if err != nil {
			return nil, err
		}
		of = append(of, cluster)
	}
	return of, nil
}

// A tally is what Broder 1997 reports of a clustering. A cluster has two
// documents at least.
type tally struct {
	clusters, inClusters   int
	identical, inIdentical int // clusters of identical documents only
}

func (c *collection) tally(of []uint64) (t tally, members map[uint64][]int) {
	members = map[uint64][]int{}
	for i, cluster := range of {
		members[cluster] = append(members[cluster], i)
	}
	for _, m := range members {
		if len(m) < 2 {
			continue
		}
		t.clusters++
		t.inClusters += len(m)
		if !slices.ContainsFunc(m, func(i int) bool { return c.hashes[i] != c.hashes[m[0]] }) {
			t.identical++
			t.inIdentical += len(m)
		}
	}
	return t, members
}

func (c *collection) report(out io.Writer) error {
	linked, err := c.fourPhases()
	if err != nil {
		return err
	}
	joined, err := c.greedy()
	if err != nil {
		return err
	}
	his := tally{clusters: 3_600_000, inClusters: 12_300_000, identical: 2_100_000, inIdentical: 5_300_000}
	ours, members := c.tally(linked)
	other, _ := c.tally(joined)
	columns := []struct {
		tally
		documents int
	}{{his, 30_000_000}, {ours, len(c.documents)}, {other, len(c.documents)}}
	fmt.Fprintf(out, "Clusters at a resemblance of %.0f %%      AltaVista, 1996       four phases            greedy\n", 100*half)
	row := func(name string, count func(tally) (n int, documents bool)) {
		fmt.Fprintf(out, "%-33s", name)
		for _, column := range columns {
			n, documents := count(column.tally)
			part := ""
			if documents {
				part = fmt.Sprintf("%.0f %%", 100*float64(n)/float64(column.documents))
			}
			fmt.Fprintf(out, " %11s %5s", number(n), part)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%-33s", "documents")
	for _, column := range columns {
		fmt.Fprintf(out, " %11s %5s", number(column.documents), "")
	}
	fmt.Fprintln(out)
	row("clusters", func(t tally) (int, bool) { return t.clusters, false })
	row("  documents in them", func(t tally) (int, bool) { return t.inClusters, true })
	row("of identical documents only", func(t tally) (int, bool) { return t.identical, false })
	row("  documents in them", func(t tally) (int, bool) { return t.inIdentical, true })
	row("the other clusters", func(t tally) (int, bool) { return t.clusters - t.identical, false })
	row("  documents in them", func(t tally) (int, bool) { return t.inClusters - t.inIdentical, true })

	largest := make([][]int, 0, len(members))
	for _, m := range members {
		if len(m) > 1 {
			largest = append(largest, m)
		}
	}
	slices.SortFunc(largest, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0]))
	})
	fmt.Fprintln(out, "\nThe largest, with two members each")
	for _, m := range largest[:min(5, len(largest))] {
		fmt.Fprintf(out, "%6d  %s\n        %s\n", len(m), c.documents[m[0]].name, c.documents[m[len(m)-1]].name)
	}
	return c.reportFilter(out)
}

// number writes the millions of 1997 as the paper does.
func number(n int) string {
	if n < 1_000_000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// bands of resemblance, by their lower ends.
var bands = []float64{1, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0}

// reportFilter says which of the pairs that the sketches find share two of the
// six features.
func (c *collection) reportFilter(out io.Writer) error {
	type band struct {
		pairs, kept int
		expected    float64
	}
	found := make([]band, len(bands))
	finder, err := c.finder(c.shingles, cluster.Options{Verify: c.resemblance, Resemblance: half})
	if err != nil {
		return err
	}
	defer finder.Close()
	if _, err = finder.Pairs(context.Background(), func(p cluster.Pair) error {
		exact := c.exact.Resemblance(int(p.A), int(p.B))
		b := &found[slices.IndexFunc(bands, func(from float64) bool { return exact >= from })]
		b.pairs++
		b.expected += sketch.FilterProbability(k, s, r, exact)
		if c.shared(p.A, p.B) >= r {
			b.kept++
		}
		return nil
	}); err != nil {
		return err
	}
	fmt.Fprint(out, "\nOf the pairs that the full sketches find, the filter keeps\n\nexact resemblance     pairs      kept   by P(6,14,2)\n")
	for i, b := range found {
		name := fmt.Sprintf("%.2f to %.2f", bands[i], bands[max(0, i-1)])
		switch {
		case i == 0:
			name = "1"
		case i == len(bands)-1:
			name = "below 0.50"
		}
		kept, expected := "", ""
		if b.pairs > 0 {
			kept = fmt.Sprintf("%.1f %%", 100*float64(b.kept)/float64(b.pairs))
			expected = fmt.Sprintf("%.1f %%", 100*b.expected/float64(b.pairs))
		}
		fmt.Fprintf(out, "%-17s %9d %9s %14s\n", name, b.pairs, kept, expected)
	}

	linked, err := c.filtered()
	if err != nil {
		return err
	}
	t, _ := c.tally(linked)
	dropped := t.inClusters - t.clusters
	_, err = fmt.Fprintf(out, "\nAn index that keeps one of each group that the filter links holds %d of the %d documents, %.0f %% fewer.\n",
		len(c.documents)-dropped, len(c.documents), 100*float64(dropped)/float64(len(c.documents)))
	return err
}

func (c *collection) shared(a, b uint64) int {
	n := 0
	for slot, f := range c.features[a] {
		if f == c.features[b][slot] {
			n++
		}
	}
	return n
}

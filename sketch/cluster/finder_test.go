package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type document struct {
	id       uint64
	features []int64
}

// tinyFinder has so little memory that everything spills.
func tinyFinder(t *testing.T, o Options, create func(string) (storage, error)) *Finder {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	c, err := newFinder(o, create)
	if err != nil {
		t.Fatal(err)
	}
	c.options.Memory = 1 << 13 // two sorters of 256 records, one page of ids, 32 slots of pairs
	c.features.limit = sorterMinRecords
	c.ids = newPagedWords(c.temp, 0)
	c.linker.forest.nodes = newPagedWords(c.temp, 0)
	c.linker.words = []*pagedWords{c.linker.forest.nodes}
	return c
}

func add(t *testing.T, c *Finder, documents []document) {
	t.Helper()
	for _, d := range documents {
		if err := c.Add(d.id, d.features); err != nil {
			t.Fatal(err)
		}
	}
}

// mix maps each number to a number that looks random.
func mix(x uint64) uint64 { return rand.NewPCG(x, 0).Uint64() }

// randomDocuments share features by chance, have some twice, have ids in no
// order, and some have none.
func randomDocuments(r *rand.Rand, n, features, values int) []document {
	ids := r.Perm(10 * n)
	documents := make([]document, n)
	for i := range documents {
		d := document{id: uint64(ids[i]) + math.MaxUint64/2}
		for range r.IntN(features + 1) {
			d.features = append(d.features, int64(mix(uint64(r.IntN(values)))))
		}
		documents[i] = d
	}
	return documents
}

// bruteShared counts the features of every two documents.
func bruteShared(documents []document) map[[2]int]int {
	shared := map[[2]int]int{}
	for j, b := range documents {
		for i, a := range documents[:j] {
			n := 0
			seen := map[int64]bool{}
			for _, f := range a.features {
				if !seen[f] && slices.Contains(b.features, f) {
					n++
				}
				seen[f] = true
			}
			if n > 0 {
				shared[[2]int{i, j}] = n
			}
		}
	}
	return shared
}

// bruteComponents names every document by the smallest id that it is linked to.
func bruteComponents(documents []document, linked func(i, j int) bool) []Member {
	members := make([]Member, len(documents))
	for i, d := range documents {
		members[i] = Member{d.id, d.id}
	}
	for changed := true; changed; {
		changed = false
		for i := range documents {
			for j := range i {
				if members[i].Cluster != members[j].Cluster && linked(j, i) {
					lowest := min(members[i].Cluster, members[j].Cluster)
					members[i].Cluster, members[j].Cluster = lowest, lowest
					changed = true
				}
			}
		}
	}
	return members
}

func readPairs(t *testing.T, c *Finder) ([]Pair, Report) {
	t.Helper()
	var pairs []Pair
	report, err := c.Pairs(t.Context(), func(p Pair) error { pairs = append(pairs, p); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return pairs, report
}

func readClusters(t *testing.T, c *Finder) ([]Member, Report) {
	t.Helper()
	var members []Member
	report, err := c.Clusters(t.Context(), func(m Member) error { members = append(members, m); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return members, report
}

// Pairs and chains against brute force, in memory and spilled.
func TestClusterBruteForce(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2000))
		documents := randomDocuments(r, 150, 12, 300+200*int(seed))
		shared := bruteShared(documents)
		for threshold := 1; threshold <= 4; threshold++ {
			var wantPairs []Pair
			for ij, n := range shared {
				if a, b := documents[ij[0]].id, documents[ij[1]].id; n >= threshold {
					wantPairs = append(wantPairs, Pair{A: min(a, b), B: max(a, b), Shared: n})
				}
			}
			order := func(a, b Pair) int { return compareRecords(record{a.A, a.B}, record{b.A, b.B}) }
			slices.SortFunc(wantPairs, order)
			wantMembers := bruteComponents(documents, func(i, j int) bool { return shared[[2]int{i, j}] >= threshold })
			// A verdict that no shared feature foretells, but that depends on the pair.
			even := func(a, b uint64) (float64, error) { return float64(mix(a^b)%2) + 0.25, nil }
			wantVerified := bruteComponents(documents, func(i, j int) bool {
				e, _ := even(documents[i].id, documents[j].id)
				return shared[[2]int{i, j}] >= threshold && e >= 1
			})

			for _, tiny := range []bool{false, true} {
				name := fmt.Sprintf("seed=%d/shared=%d/tiny=%v", seed, threshold, tiny)
				o := Options{Shared: threshold, FeatureLimit: 1000}
				make := func(o Options) *Finder {
					if tiny {
						return tinyFinder(t, o, createTemp)
					}
					c, err := New(o)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				c := make(o)
				add(t, c, documents)
				pairs, report := readPairs(t, c)
				slices.SortFunc(pairs, order)
				if !slices.Equal(pairs, wantPairs) || report.Pairs != int64(len(pairs)) || report.Documents != len(documents) || (report.TempBytes > 0) != tiny {
					t.Fatalf("%s: %d pairs, want %d; %+v", name, len(pairs), len(wantPairs), report)
				}
				c = make(o)
				add(t, c, documents)
				if members, report := readClusters(t, c); !slices.Equal(members, wantMembers) {
					t.Fatalf("%s: clusters differ; %+v", name, report)
				} else {
					checkReport(t, name, members, report)
				}
				o.Verify, o.Resemblance, o.Linkage = even, 1, Single
				c = make(o)
				add(t, c, documents)
				if members, report := readClusters(t, c); !slices.Equal(members, wantVerified) {
					t.Fatalf("%s: verified chains differ; %+v", name, report)
				}
				c = make(o)
				add(t, c, documents)
				pairs, report = readPairs(t, c)
				for _, p := range pairs {
					if e, _ := even(p.A, p.B); e < 1 || p.Resemblance != 1 {
						t.Fatalf("%s: pair %+v", name, p)
					}
				}
				if report.Verified != int64(len(wantPairs)) {
					t.Fatalf("%s: %d verified, want %d", name, report.Verified, len(wantPairs))
				}
			}
		}
	}
}

func checkReport(t *testing.T, name string, members []Member, report Report) {
	t.Helper()
	sizes := map[uint64]int{}
	for _, m := range members {
		sizes[m.Cluster]++
	}
	clusters, clustered, largest := 0, 0, 0
	for _, n := range sizes {
		if n > 1 {
			clusters++
			clustered += n
			largest = max(largest, n)
		}
	}
	if report.Clusters != clusters || report.Clustered != clustered || report.Largest != largest || report.Pairs != int64(clustered-clusters) {
		t.Errorf("%s: %d clusters of %d documents, the largest %d; %+v", name, clusters, clustered, largest, report)
	}
}

// Hostile inputs: what is one flood of copies is one cluster, what shares
// nothing stays apart, and the number of pairs is not the square.
func TestClusterHostile(t *testing.T) {
	const n = 600
	same := func(a, b uint64) (float64, error) { return 1, nil }
	features := func(from int) []int64 {
		f := make([]int64, 12)
		for i := range f {
			f[i] = int64(mix(uint64(from + i)))
		}
		return f
	}
	for _, c := range []struct {
		name     string
		document func(i int) []int64
		verify   func(a, b uint64) (float64, error)
		clusters int // with one shared feature, then with two
		two      int
		hot      int
	}{
		{"identical", func(int) []int64 { return features(0) }, same, 1, 1, 12},
		{"distinct", func(i int) []int64 { return features(12 * i) }, same, n, n, 0},
		{"none", func(i int) []int64 { return nil }, same, n, n, 0},
		{"one hot feature", func(i int) []int64 { return append(features(12*i), -1, 0, math.MinInt64) }, func(a, b uint64) (float64, error) { return 0, nil }, n, n, 3},
		{"chain", func(i int) []int64 { return features(10 * i) }, same, 1, 1, 0},
		{"two floods", func(i int) []int64 { return features(i % 2 * 100) }, same, 2, 2, 24},
		// Each document lacks one of twelve features that all others have.
		{"nearly identical", func(i int) []int64 { f := features(0); f[i%12] = int64(i); return f }, same, 1, 1, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents := make([]document, n)
			for i := range documents {
				documents[i] = document{uint64(n - i), c.document(i)}
			}
			for _, verified := range []bool{false, true} {
				for shared := 1; shared <= 2; shared++ {
					o := Options{Shared: shared}
					if verified {
						o.Verify, o.Resemblance = c.verify, 0.5
					} else if c.name == "one hot feature" {
						continue // unverified, a feature that all share makes them one
					}
					k := tinyFinder(t, o, createTemp)
					add(t, k, documents)
					members, report := readClusters(t, k)
					names := map[uint64]bool{}
					for _, m := range members {
						names[m.Cluster] = true
					}
					want := c.clusters
					if shared == 2 {
						want = c.two
					}
					if len(names) != want || report.HotCount != c.hot || len(report.Hot) != c.hot {
						t.Errorf("shared=%d verified=%v: %d clusters, want %d; %d hot, want %d", shared, verified, len(names), want, report.HotCount, c.hot)
					}
					if report.Verified > 100*n {
						t.Errorf("shared=%d verified=%v: %d checks of %d documents", shared, verified, report.Verified, n)
					}
					checkReport(t, c.name, members, report)
					for _, h := range report.Hot {
						if h.Documents <= defaultFeatureLimit || h.Documents > n {
							t.Errorf("hot feature %+v", h)
						}
					}
				}
			}
		})
	}
}

// In a hot feature a document is paired with the first four and with the four before it;
// one in which a feature is twice counts once.
func TestClusterHotPairs(t *testing.T) {
	for n := 2; n < 20; n++ {
		c := tinyFinder(t, Options{FeatureLimit: 6}, createTemp)
		for id := range uint64(n) {
			if err := c.Add(id, []int64{7, 7}); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for a := range n {
			for b := a + 1; b < n; b++ {
				if n <= 6 || a < 4 || b-a <= 4 {
					want = append(want, fmt.Sprintf("%02d-%02d", a, b))
				}
			}
		}
		var got []string
		pairs, report := readPairs(t, c)
		for _, p := range pairs {
			got = append(got, fmt.Sprintf("%02d-%02d", p.A, p.B))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || (report.HotCount == 1) != (n > 6) {
			t.Errorf("%d documents: %v, want %v; %d hot features", n, got, want, report.HotCount)
		}
	}
}

// Of the later documents that share features with one, the clusters come from those that
// share most, and each is verified once.
func TestClusterPartners(t *testing.T) {
	for partners, want := range []string{
		"[0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4]", // 0 is all
		"[0-2 1-2 2-3 3-4]",
		"[0-2 0-3 1-2 1-3 2-3 2-4 3-4]",
	} {
		var asked []string
		c := tinyFinder(t, Options{Partners: partners, Resemblance: 1, Dir: t.TempDir(), Verify: func(a, b uint64) (float64, error) {
			asked = append(asked, fmt.Sprintf("%d-%d", a, b))
			return 0, nil
		}}, createTemp)
		for id, features := range [][]int64{{1, 2}, {1}, {1, 2, 3}, {1, 2, 3}, {1, 3}} {
			if err := c.Add(uint64(id), features); err != nil {
				t.Fatal(err)
			}
		}
		if _, report := readClusters(t, c); report.Verified != int64(len(asked)) {
			t.Errorf("%d verified, %d asked", report.Verified, len(asked))
		}
		slices.Sort(asked)
		if fmt.Sprint(asked) != want {
			t.Errorf("%d partners: %v, want %s", partners, asked, want)
		}
	}
}

func TestClusterOptions(t *testing.T) {
	verify := func(a, b uint64) (float64, error) { return 1, nil }
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Shared: -1}, "sketch: cluster: -1 shared features, want at least 1"},
		{Options{Memory: 1000}, "sketch: cluster: 1000 bytes of memory, want at least 1048576"},
		{Options{FeatureLimit: 3}, "sketch: cluster: at most 3 documents a feature, want at least 4"},
		{Options{Partners: -1}, "sketch: cluster: -1 partners, want at least 0"},
		{Options{Representatives: -1}, "sketch: cluster: -1 representatives, want at least 1"},
		{Options{Verify: verify}, "sketch: cluster: resemblance 0, want above 0 and at most 1"},
		{Options{Verify: verify, Resemblance: math.NaN()}, "sketch: cluster: resemblance NaN, want above 0 and at most 1"},
	} {
		if _, err := New(c.o); fmt.Sprint(err) != c.want {
			t.Errorf("%q, want %q", fmt.Sprint(err), c.want)
		}
	}
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if members, _ := readClusters(t, c); len(members) != 0 {
		t.Errorf("%d members of nothing, want 0", len(members))
	}
	if err := c.Add(1, nil); !errors.Is(err, errClusterUsed) {
		t.Errorf("added after reading: %v", err)
	}
	if _, err := c.Pairs(t.Context(), nil); !errors.Is(err, errClusterUsed) {
		t.Errorf("read twice: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Errors of the caller's functions and a context that is done stop the work,
// wherever it is.
func TestClusterStop(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	documents := randomDocuments(r, 800, 6, 600)
	stop := errors.New("enough")
	for _, o := range []Options{{Shared: 1}, {Shared: 2}, {Shared: 1, Resemblance: 0.75}, {Shared: 1, Resemblance: 0.75, Linkage: Single}} {
		o.Dir = t.TempDir()
		for after := 1; after < 2000; after = after*5 + 1 {
			for _, way := range []string{"emit", "verify", "cancel", "cancelled before"} {
				ctx, cancel := context.WithCancelCause(t.Context())
				calls := 0
				call := func(name string) error {
					if way != name && way != "cancel" {
						return nil
					}
					if calls++; calls != after {
						return nil
					}
					if way == "cancel" {
						cancel(stop)
						return nil
					}
					return stop
				}
				if o.Resemblance > 0 {
					o.Verify = func(a, b uint64) (float64, error) { return 0.8, call("verify") }
				} else if way == "verify" {
					continue
				}
				f := &faults{left: math.MaxInt}
				c := tinyFinder(t, o, f.create)
				add(t, c, documents)
				if way == "cancelled before" {
					cancel(stop)
				}
				var err error
				if after%2 == 0 {
					_, err = c.Pairs(ctx, func(Pair) error { return call("emit") })
				} else {
					_, err = c.Clusters(ctx, func(Member) error { return call("emit") })
				}
				if want := calls >= after+2*cancelEvery || way == "cancelled before" || way != "cancel" && calls >= after; want && !errors.Is(err, stop) || err != nil && !errors.Is(err, stop) {
					t.Fatalf("%s after %d calls: %v after %d", way, after, err, calls)
				}
				if f.open != 0 {
					t.Fatalf("%s after %d calls: %d files open", way, after, f.open)
				}
				cancel(nil)
			}
		}
	}
}

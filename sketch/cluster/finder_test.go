package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
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
	c.forest.nodes = newPagedWords(c.temp, 0)
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

// mix gives each number one that looks random.
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

// bruteComponents names every document by the least id that it is linked to.
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
					least := min(members[i].Cluster, members[j].Cluster)
					members[i].Cluster, members[j].Cluster = least, least
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
				o.Verify, o.Resemblance, o.Chains = even, 1, true
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

// line is documents on a line: two resemble each other the more, the nearer
// they are, so that 1 - resemblance is a metric.
type line struct {
	at    map[uint64]float64
	calls int
}

func (l *line) verify(a, b uint64) (float64, error) {
	l.calls++
	return max(0, 1-math.Abs(l.at[a]-l.at[b])), nil
}

// No chain: every two of a small cluster resemble each other, any two of a
// large one at least 2t-1, and what is left apart has a reason.
func TestClusterLinkage(t *testing.T) {
	const threshold = 0.9
	for _, c := range []struct {
		name            string
		n               int
		width           float64
		representatives int
		copies          int
	}{
		{"chain", 200, 10, 0, 1},
		{"dense chain", 800, 2, 0, 1},
		{"one representative", 500, 4, 1, 1},
		{"few representatives", 500, 4, 5, 1},
		{"copies", 600, 6, 0, 6},
		{"copies, one representative", 600, 6, 1, 20},
	} {
		for _, seed := range []uint64{0, 2} {
			r := rand.New(rand.NewPCG(seed, 1997))
			l := line{at: map[uint64]float64{}}
			var documents []document
			for i := range c.n {
				id := uint64(r.Uint32())<<8 | uint64(i%256)
				where := float64(i/c.copies*c.copies) / float64(c.n) * c.width
				if seed == 2 && c.copies == 1 {
					where = r.Float64() * c.width
				}
				l.at[id] = where
				// Features are the places around, so that near ones share some.
				var f []int64
				for cell := int64(math.Floor((where - 0.1) * 20)); cell <= int64((where+0.1)*20); cell++ {
					f = append(f, cell)
				}
				documents = append(documents, document{id, f})
			}
			o := Options{Shared: 2, Verify: l.verify, Resemblance: threshold, Representatives: c.representatives, FeatureLimit: 1000}
			k := tinyFinder(t, o, createTemp)
			add(t, k, documents)
			members, report := readClusters(t, k)
			checkReport(t, c.name, members, report)
			if report.Verified != int64(l.calls) {
				t.Errorf("%s: %d calls, %d reported", c.name, l.calls, report.Verified)
			}
			clusters := map[uint64][]uint64{}
			for _, m := range members {
				clusters[m.Cluster] = append(clusters[m.Cluster], m.ID)
			}
			representatives := c.representatives
			if representatives == 0 {
				representatives = defaultRepresentatives
			}
			var reach []float64
			for name, ids := range clusters {
				if name != slices.Min(ids) {
					t.Fatalf("%s: cluster %d has the least id %d", c.name, name, slices.Min(ids))
				}
				low, high := math.Inf(1), math.Inf(-1)
				distinct := map[float64]bool{}
				for _, id := range ids {
					low, high = min(low, l.at[id]), max(high, l.at[id])
					distinct[l.at[id]] = true
				}
				worst := 1 - (high - low)
				if len(distinct) <= representatives && worst < threshold-1e-12 {
					t.Errorf("%s: a cluster of %d whose ends resemble each other %v", c.name, len(distinct), worst)
				}
				if worst < 2*threshold-1-1e-12 {
					t.Errorf("%s: a cluster of %d whose ends resemble each other %v", c.name, len(distinct), worst)
				}
				reach = append(reach, high-low)
			}
			// Copies are never parted.
			for _, ids := range clusters {
				for other, more := range clusters {
					if l.at[other] == l.at[ids[0]] && other != slices.Min(ids) && slices.ContainsFunc(more, func(id uint64) bool { return l.at[id] == l.at[ids[0]] }) {
						t.Errorf("%s: copies at %v in two clusters", c.name, l.at[ids[0]])
					}
				}
			}
			t.Logf("%-28s %4d documents, %4d clusters, widest %.3f, %d checks", c.name, c.n, len(clusters), slices.Max(reach), l.calls)

			o.Chains = true
			l.calls = 0
			k = tinyFinder(t, o, createTemp)
			add(t, k, documents)
			if _, report := readClusters(t, k); c.name == "chain" && seed < 2 && report.Largest != c.n {
				t.Errorf("asked for chains: the largest has %d of %d", report.Largest, c.n)
			}
		}
	}
}

// A document does not join its second best friends: the best pair is first.
func TestClusterBestFirst(t *testing.T) {
	l := line{at: map[uint64]float64{1: 0, 2: 0.24, 3: 0.26}}
	c, err := New(Options{Verify: l.verify, Resemblance: 0.75})
	if err != nil {
		t.Fatal(err)
	}
	for id := uint64(1); id <= 3; id++ {
		if err := c.Add(id, []int64{7}); err != nil {
			t.Fatal(err)
		}
	}
	members, _ := readClusters(t, c)
	if want := []Member{{1, 1}, {2, 2}, {3, 2}}; !slices.Equal(members, want) {
		t.Errorf("%v, want %v", members, want)
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
		t.Errorf("%d members of nothing", len(members))
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

// failing is a temporary file whose operations fail from the n-th on.
type failing struct {
	storage
	f *faults
}

type faults struct {
	left int // operations until the failure
	open int
	err  error
}

func (f *faults) step() error {
	if f.left--; f.left < 0 {
		return f.err
	}
	return nil
}

func (f *faults) create(dir string) (storage, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	s, err := createTemp(dir)
	if err == nil {
		f.open++
	}
	return failing{s, f}, err
}

func (s failing) WriteAt(b []byte, at int64) (int, error) {
	if err := s.f.step(); err != nil {
		return 0, err
	}
	return s.storage.WriteAt(b, at)
}

func (s failing) ReadAt(b []byte, at int64) (int, error) {
	if err := s.f.step(); err != nil {
		return 0, err
	}
	return s.storage.ReadAt(b, at)
}

func (s failing) Close() error {
	s.f.open--
	return s.storage.Close()
}

// Whatever operation on a temporary file fails, the error comes out, and
// nothing is left open or behind.
func TestClusterFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	documents := randomDocuments(r, 600, 6, 400)
	full := errors.New("no space left on device")
	verify := func(a, b uint64) (float64, error) { return 0.5 + float64(mix(a^b)%3)/4, nil }
	for _, o := range []Options{{Shared: 1}, {Shared: 2}, {Shared: 1, Verify: verify, Resemblance: 0.75}, {Shared: 1, Verify: verify, Resemblance: 0.75, Chains: true}} {
		o.Dir = t.TempDir()
		failures := 0
		for n := 0; ; n = n*6/5 + 1 {
			f := &faults{left: n, err: full}
			c := tinyFinder(t, o, f.create)
			var err error
			for _, d := range documents {
				if err = c.Add(d.id, d.features); err != nil {
					if again := c.Add(d.id, d.features); again != err {
						t.Fatalf("after %v came %v", err, again)
					}
					break
				}
			}
			_, read := c.Clusters(t.Context(), func(Member) error { return nil })
			if err != nil && read != err {
				t.Fatalf("after %v came %v", err, read)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if f.open != 0 {
				t.Fatalf("operation %d: %d files open", n, f.open)
			}
			if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
				t.Fatalf("operation %d: %d files left, %v", n, len(left), err)
			}
			if f.left >= 0 {
				if read != nil {
					t.Fatal(read)
				}
				break
			}
			if !errors.Is(read, full) || !strings.HasPrefix(read.Error(), "sketch: cluster: ") || !strings.Contains(read.Error(), o.Dir) {
				t.Fatalf("operation %d: %v", n, read)
			}
			failures++
		}
		if failures < 15 {
			t.Errorf("%+v: %d failures tried", o, failures)
		}
	}
}

// A read that returns too little, as from a file that something cut short.
type short struct{ storage }

func (s short) ReadAt(b []byte, at int64) (int, error) { return len(b) / 2, io.ErrUnexpectedEOF }

func TestClusterShortRead(t *testing.T) {
	c := tinyFinder(t, Options{}, func(dir string) (storage, error) {
		f, err := createTemp(dir)
		return short{f}, err
	})
	add(t, c, randomDocuments(rand.New(rand.NewPCG(1, 1)), 500, 6, 900))
	if _, err := c.Pairs(t.Context(), func(Pair) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// Errors of the caller's functions and a context that is done stop the work,
// wherever it is.
func TestClusterStop(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	documents := randomDocuments(r, 800, 6, 600)
	stop := errors.New("enough")
	for _, o := range []Options{{Shared: 1}, {Shared: 2}, {Shared: 1, Resemblance: 0.75}, {Shared: 1, Resemblance: 0.75, Chains: true}} {
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

// A Finder that is given up needs nothing but Close.
func TestClusterAbandoned(t *testing.T) {
	f := &faults{left: math.MaxInt}
	c := tinyFinder(t, Options{}, f.create)
	add(t, c, randomDocuments(rand.New(rand.NewPCG(1, 1)), 3000, 6, 900))
	if f.open != 2 {
		t.Errorf("%d files open, want 2", f.open)
	}
	if err := c.Close(); err != nil || f.open != 0 {
		t.Errorf("%v, %d files open", err, f.open)
	}
	if err := c.Add(1, nil); err == nil {
		t.Error("added after Close")
	}
}

// A file that cannot be removed while it is open is removed when closed.
func TestNamedTemp(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := (namedTemp{f}).Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	if _, err := createTemp(t.TempDir() + "/nowhere"); err == nil {
		t.Error("a file in a folder that does not exist")
	}
}

func TestSorter(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 5000, 30000} {
		for _, kind := range []string{"random", "few", "same", "ascending", "descending"} {
			for _, sum := range []bool{false, true} {
				r := rand.New(rand.NewPCG(uint64(n), 3))
				f := &faults{left: math.MaxInt}
				s := newSorter(tempDir{t.TempDir(), f.create}, 0, sum)
				var want []record
				for i := range n {
					rec := record{r.Uint64(), uint64(i) + 1}
					switch kind {
					case "few":
						rec.hi = rec.hi % 100 << 50
					case "same":
						rec.hi = math.MaxUint64
					case "ascending":
						rec.hi = uint64(i)
					case "descending":
						rec.hi = uint64(n - i)
					}
					want = append(want, rec)
					if err := s.add(rec); err != nil {
						t.Fatal(err)
					}
				}
				slices.SortFunc(want, compareRecords)
				if sum {
					added := want[:0]
					for _, rec := range want {
						if len(added) > 0 && added[len(added)-1].hi == rec.hi {
							added[len(added)-1].lo += rec.lo
						} else {
							added = append(added, rec)
						}
					}
					want = added
				}
				var got []record
				if err := s.drain(t.Context(), func(r record) error { got = append(got, r); return nil }); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) || f.open != 0 {
					t.Fatalf("%d %s records, sum %v: %d came out, %d files open", n, kind, sum, len(got), f.open)
				}
				if cap(s.buf) > sorterMinRecords {
					t.Fatalf("%d records in memory", cap(s.buf))
				}
			}
		}
	}
}

func TestPagedWords(t *testing.T) {
	for _, memory := range []int{0, 4 * pageBytes, 1 << 30} {
		r := rand.New(rand.NewPCG(1, 4))
		f := &faults{left: math.MaxInt}
		p := newPagedWords(tempDir{t.TempDir(), f.create}, memory)
		var want []uint64
		for range 20000 {
			switch v := r.Uint64(); {
			case len(want) == 0 || v%3 > 0:
				want = append(want, v)
				if err := p.append(v); err != nil {
					t.Fatal(err)
				}
			case v%6 == 0:
				i := r.IntN(len(want))
				want[i] = v
				if err := p.set(i, v); err != nil {
					t.Fatal(err)
				}
			default:
				i := r.IntN(len(want))
				if got, err := p.get(i); err != nil || got != want[i] {
					t.Fatalf("word %d of %d is %d, want %d, %v", i, len(want), got, want[i], err)
				}
			}
		}
		if pages := len(p.slots); pages > max(1, memory/pageBytes) || (f.open > 0) != (memory < 1<<20) {
			t.Errorf("%d bytes: %d pages, %d files", memory, pages, f.open)
		}
		if err := p.close(); err != nil || f.open != 0 {
			t.Errorf("%v, %d files open", err, f.open)
		}
	}
}

// manyDocuments is a collection made as it is read, a tenth in clusters of 2
// to 9, of which each member has kept each of 12 features of the first with
// probability 3/4.
func manyDocuments(n int, each func(id uint64, features []int64) error) error {
	r := rand.New(rand.NewPCG(12, 10))
	var first, f [12]int64
	cluster := 0
	for i := range n {
		if cluster > 0 {
			cluster--
			for j := range f {
				if f[j] = first[j]; r.IntN(4) == 0 {
					f[j] = r.Int64()
				}
			}
		} else {
			for j := range f {
				first[j] = r.Int64()
			}
			if f = first; r.IntN(45) == 0 {
				cluster = 1 + r.IntN(8)
			}
		}
		if err := each(uint64(i)+1, f[:]); err != nil {
			return err
		}
	}
	return nil
}

// The memory is a setting. ALIKE_DOCUMENTS and ALIKE_MEMORY (bytes) make it
// the long form: ten million documents in 256 MB.
func TestClusterMemory(t *testing.T) {
	setting := func(name string, otherwise int) int {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	documents := 200_000
	if testing.Short() {
		documents = 50_000
	}
	documents, memory := setting("ALIKE_DOCUMENTS", documents), setting("ALIKE_MEMORY", 8<<20)
	verify := func(a, b uint64) (float64, error) { return 0.8, nil }
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"shared=1", Options{}},
		{"shared=2", Options{Shared: 2}},
		{"shared=1 verified", Options{Verify: verify, Resemblance: 0.75}},
	} {
		o := c.o
		o.Memory, o.Dir = memory, t.TempDir()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		before, most := stats.HeapAlloc, uint64(0)
		calls := 0
		watch := func() {
			if calls++; calls%(documents/200) == 0 {
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapAlloc-min(before, stats.HeapAlloc))
			}
		}
		k, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = manyDocuments(documents, func(id uint64, features []int64) error {
			watch()
			return k.Add(id, features)
		})
		if err != nil {
			t.Fatal(err)
		}
		added := time.Since(start)
		watched := k.options.Verify
		if watched != nil {
			k.options.Verify = func(a, b uint64) (float64, error) { watch(); return watched(a, b) }
		}
		report, err := k.Clusters(t.Context(), func(Member) error { watch(); return nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-18s %d documents, %d features: added in %.1f s, clustered in %.1f s, at most %.1f of %.1f MB, %.1f MB of temporary files; %d clusters of %d documents, the largest %d",
			c.name, report.Documents, report.Features, added.Seconds(), (time.Since(start) - added).Seconds(),
			float64(most)/(1<<20), float64(memory)/(1<<20), float64(report.TempBytes)/(1<<20), report.Clusters, report.Clustered, report.Largest)
		if most > uint64(memory) {
			t.Errorf("%s: %d bytes of heap, the setting is %d", c.name, most, memory)
		}
		if share := float64(report.Clustered) / float64(documents); share < 0.1 || share > 0.15 || report.Largest > 9 {
			t.Errorf("%s: %v of the documents in clusters, the largest of %d", c.name, share, report.Largest)
		}
		if report.TempBytes == 0 {
			t.Errorf("%s: everything fitted", c.name)
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	const documents = 100_000
	for _, shared := range []int{1, 2} {
		for _, memory := range []int{4 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("shared=%d/memory=%dMB", shared, memory>>20), func(b *testing.B) {
				b.SetBytes(documents * 12 * 8)
				for b.Loop() {
					c, err := New(Options{Shared: shared, Memory: memory, Dir: b.TempDir()})
					if err != nil {
						b.Fatal(err)
					}
					if err := manyDocuments(documents, c.Add); err != nil {
						b.Fatal(err)
					}
					if _, err := c.Clusters(b.Context(), func(Member) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		r := rand.New(rand.NewPCG(1, 1))
		shuffled, a := make([]record, n), make([]record, n)
		for i := range shuffled {
			shuffled[i] = record{r.Uint64(), uint64(i)}
		}
		for name, sort := range map[string]func([]record){"flag": sortRecords, "pdq": func(a []record) { slices.SortFunc(a, compareRecords) }} {
			b.Run(fmt.Sprintf("%s/records=%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n) * recordBytes)
				for b.Loop() {
					copy(a, shuffled)
					sort(a)
				}
			})
		}
	}
}

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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
					t.Fatalf("%s: cluster %d has the smallest id %d", c.name, name, slices.Min(ids))
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

			o.Linkage = Single
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

package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever is marked, in every mode: distinct documents are in no pair and in
// no cluster together, duplicates are unless that contradicts, clusters hang
// together by pairs, and two that a pair links are apart for a reason.
func TestMarks(t *testing.T) {
	for seed := range uint64(8) {
		m := randomMarks(seed)
		for _, o := range []Options{{Shared: 1}, {Shared: 2}, {Shared: 1, Verify: nearlyAll, Resemblance: 0.5}, {Shared: 2, Verify: nearlyAll, Resemblance: 0.5, Linkage: Single}} {
			name := fmt.Sprintf("seed=%d/shared=%d/verify=%v/linkage=%v", seed, o.Shared, o.Verify != nil, o.Linkage)
			m.checkPairs(t, name, o)
			m.checkClusters(t, name, o)
		}
	}
}

func nearlyAll(a, b uint64) (float64, error) { return 0.9 + float64(mix(a^b)%2)/10, nil }

// marked are documents and what a person said of some of their pairs, by the places of
// the documents.
type marked struct {
	documents                   []document
	shared                      map[[2]int]int
	marks                       map[[2]int]bool // whether a pair is a duplicate
	linked, distinct, duplicate [][2]int
}

func randomMarks(seed uint64) *marked {
	m, r := &marked{}, rand.New(rand.NewPCG(seed, 7))
	m.documents = randomDocuments(r, 200, 5, 400)
	m.shared = bruteShared(m.documents)
	for ij := range m.shared {
		m.linked = append(m.linked, ij)
	}
	slices.SortFunc(m.linked, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	m.marks = map[[2]int]bool{}
	for range 40 {
		ij := m.linked[r.IntN(len(m.linked))]
		m.marks[ij] = false
		i, j := r.IntN(len(m.documents)), r.IntN(len(m.documents))
		if i != j {
			m.marks[[2]int{min(i, j), max(i, j)}] = r.IntN(4) > 0
		}
	}
	for ij, dup := range m.marks {
		if dup {
			m.duplicate = append(m.duplicate, ij)
		} else {
			m.distinct = append(m.distinct, ij)
		}
	}
	return m
}

func (m *marked) finder(t *testing.T, o Options) *Finder {
	c := tinyFinder(t, o, createTemp)
	for ij, dup := range m.marks {
		a, b := m.documents[ij[0]].id, m.documents[ij[1]].id
		c.Mark(b, a, !dup) // a verdict can be changed
		c.Mark(a, b, dup)
	}
	c.Mark(1, 2, true) // not there
	c.Mark(m.documents[0].id, m.documents[0].id, false)
	add(t, c, m.documents)
	return c
}

func (m *marked) checkPairs(t *testing.T, name string, o Options) {
	want := map[Pair]bool{}
	for j := range m.documents {
		for i := range j {
			dup, said := m.marks[[2]int{i, j}]
			n := m.shared[[2]int{i, j}]
			if dup || !said && n >= o.Shared {
				a, b := m.documents[i].id, m.documents[j].id
				p := Pair{A: min(a, b), B: max(a, b), Shared: n}
				if o.Verify != nil {
					p.Resemblance, _ = nearlyAll(a, b)
				}
				want[p] = true
			}
		}
	}
	pairs, _ := readPairs(t, m.finder(t, o))
	for _, p := range pairs {
		if !want[p] {
			t.Errorf("%s: unwanted pair %+v", name, p)
		}
	}
	if len(pairs) != len(want) {
		t.Errorf("%s: %d pairs, want %d", name, len(pairs), len(want))
	}
}

func (m *marked) checkClusters(t *testing.T, name string, o Options) {
	members, report := readClusters(t, m.finder(t, o))
	checkReport(t, name, members, report)
	// blocked says whether two clusters have members that are distinct.
	blocked := func(a, b uint64) bool {
		return slices.ContainsFunc(m.distinct, func(ij [2]int) bool {
			i, j := members[ij[0]].Cluster, members[ij[1]].Cluster
			return i == a && j == b || i == b && j == a
		})
	}
	for _, ij := range m.distinct {
		if members[ij[0]].Cluster == members[ij[1]].Cluster {
			t.Errorf("%s: %v are distinct and in one cluster", name, ij)
		}
	}
	together := func(ij [2]int) {
		if a, b := members[ij[0]].Cluster, members[ij[1]].Cluster; a != b && !blocked(a, b) {
			t.Errorf("%s: %v are apart for no reason", name, ij)
		}
	}
	for _, ij := range m.duplicate {
		together(ij)
	}
	for _, ij := range m.linked {
		if _, said := m.marks[ij]; !said && m.shared[ij] >= o.Shared {
			together(ij)
		}
	}
	hang := bruteComponents(m.documents, func(i, j int) bool {
		dup, said := m.marks[[2]int{i, j}]
		return members[i].Cluster == members[j].Cluster && (dup || !said && m.shared[[2]int{i, j}] >= o.Shared)
	})
	if !slices.Equal(hang, members) {
		t.Errorf("%s: a cluster does not hang together", name)
	}
}

// One pair that is marked a duplicate comes with the features that it shares, although they are too few.
func TestMarksOne(t *testing.T) {
	c := tinyFinder(t, Options{Shared: 2}, createTemp)
	c.Mark(1, 2, true)
	add(t, c, []document{{1, []int64{5}}, {2, []int64{5}}, {3, []int64{5}}})
	if pairs, _ := readPairs(t, c); !slices.Equal(pairs, []Pair{{A: 1, B: 2, Shared: 1}}) {
		t.Errorf("%+v, want 1 and 2, which share one feature", pairs)
	}
}

// A verdict outdoes a flood of copies.
func TestMarksFlood(t *testing.T) {
	for _, verified := range []bool{false, true} {
		o := Options{Shared: 2}
		if verified {
			o.Verify, o.Resemblance = func(a, b uint64) (float64, error) { return 1, nil }, 0.9
		}
		c := tinyFinder(t, o, createTemp)
		c.Mark(100, 200, false)
		c.Mark(1000, 1001, true)
		for id := range uint64(1000) {
			if err := c.Add(id+1, []int64{1, 2, 3}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Add(1001, nil); err != nil {
			t.Fatal(err)
		}
		members, report := readClusters(t, c)
		if members[99].Cluster == members[199].Cluster || report.Largest < 900 || report.Clustered < 998 {
			t.Errorf("verified %v: %v and %v; %+v", verified, members[99], members[199], report)
		}
		if members[999].Cluster != members[1000].Cluster {
			t.Errorf("verified %v: duplicates in %v and %v", verified, members[999], members[1000])
		}
	}
}

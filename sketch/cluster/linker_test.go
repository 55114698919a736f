package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// friends are documents with random pairs among them, of few different resemblances.
type friends struct {
	n     int
	pairs map[[2]int]float64 // the lesser first
	marks map[[2]int]bool
}

func randomFriends(seed uint64) friends {
	r := rand.New(rand.NewPCG(seed, 3))
	f := friends{n: 1 + r.IntN(150), pairs: map[[2]int]float64{}, marks: map[[2]int]bool{}}
	for range r.IntN(3*f.n + 1) {
		if a, b := r.IntN(f.n), r.IntN(f.n); a != b {
			f.pairs[[2]int{min(a, b), max(a, b)}] = float64(5+r.IntN(5)) / 10
		}
	}
	for range int(seed%2) * r.IntN(f.n) {
		if a, b := r.IntN(f.n), r.IntN(f.n); a != b {
			f.marks[[2]int{min(a, b), max(a, b)}] = r.IntN(2) == 0
		}
	}
	for ab, duplicate := range f.marks {
		if _, known := f.pairs[ab]; duplicate && !known {
			f.pairs[ab] = 0.1 // as pairs of rows has it
		}
	}
	return f
}

// alike is the pairs as people see them: a resemblance, and above 1 for duplicates.
func (f friends) alike(a, b int) float64 {
	ab := [2]int{min(a, b), max(a, b)}
	switch duplicate, marked := f.marks[ab]; {
	case marked && !duplicate:
		return 0
	case marked:
		return 1 + f.pairs[ab]
	}
	return f.pairs[ab]
}

// linker has so little memory that the pairs spill.
func (f friends) linker(t *testing.T, linkage Linkage, create func(string) (storage, error)) (*Linker, error) {
	t.Helper()
	l := newLinker(LinkerOptions{Documents: f.n, Linkage: linkage, Representatives: 4, Memory: 1 << 12, Resembles: func(a, b int) (bool, error) {
		_, known := f.pairs[[2]int{min(a, b), max(a, b)}]
		return known, nil
	}}, tempDir{t.TempDir(), create})
	for ab, duplicate := range f.marks {
		l.Mark(ab[0], ab[1], duplicate)
	}
	if err := l.start(t.Context()); err != nil {
		return l, err
	}
	for ab, resemblance := range f.pairs { // in no order
		if err := l.Pair(ab[1], ab[0], resemblance); err != nil {
			return l, err
		}
	}
	return l, nil
}

// ranked is the order in which a greedy linkage takes the documents.
func (f friends) ranked(linkage Linkage) []int {
	order := make([]int, f.n)
	for i := range order {
		order[i] = i
	}
	if linkage == Popular {
		degrees := make([]int, f.n)
		for a := range f.n {
			for b := range f.n {
				if a != b && f.alike(a, b) > 0 {
					degrees[a]++
				}
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return degrees[b] - degrees[a] })
	}
	return order
}

// Keep is what a person would do with a list: from the first on, whatever is alike to
// something kept goes, with the most alike of these.
func TestKeep(t *testing.T) {
	left := 0
	for seed := range uint64(60) {
		f := randomFriends(seed)
		for _, linkage := range []Linkage{First, Popular} {
			want := map[int]int{}
			var kept []int
			for _, i := range f.ranked(linkage) {
				best := -1
				for _, k := range kept {
					if r := f.alike(i, k); r > 0 && (best < 0 || r > f.alike(i, best)) {
						best = k
					}
				}
				if want[i] = best; best < 0 {
					kept = append(kept, i)
				}
			}
			l, err := f.linker(t, linkage, createTemp)
			if err != nil {
				t.Fatal(err)
			}
			got := map[int]int{}
			for i := range f.n {
				got[i] = -1
			}
			err = l.Keep(t.Context(), func(i, kept int, resemblance float64) error {
				got[i] = kept
				left++
				if resemblance != f.pairs[[2]int{min(i, kept), max(i, kept)}] {
					t.Errorf("seed %d: %d and %d: %v", seed, i, kept, resemblance)
				}
				return nil
			})
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, %v: %v\n%v, want\n%v", seed, linkage, err, got, want)
			}
			l.Close()
		}
	}
	if left < 1000 {
		t.Errorf("%d documents were left out, want at least 1000", left)
	}
}

// Clusters of each linkage against the definition, without marks; and with them no document is
// with a document that he was called distinct from.
func TestLinkages(t *testing.T) {
	for seed := range uint64(60) {
		f := randomFriends(seed)
		for _, linkage := range []Linkage{Complete, Single, First, Popular} {
			l, err := f.linker(t, linkage, createTemp)
			if err != nil {
				t.Fatal(err)
			}
			in, sizes := make([]int, f.n), make([]int, f.n)
			members := map[int][]int{}
			if err := l.Clusters(t.Context(), func(i, cluster, size int) error {
				in[i], sizes[i] = cluster, size
				members[cluster] = append(members[cluster], i)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			l.Close()
			name := fmt.Sprintf("seed %d, %v", seed, linkage)
			for i := range f.n {
				if in[i] != members[in[i]][0] || sizes[i] != len(members[in[i]]) {
					t.Fatalf("%s: %d is in %d of %d, members %v", name, i, in[i], sizes[i], members[in[i]])
				}
			}
			for ab, duplicate := range f.marks {
				if !duplicate && in[ab[0]] == in[ab[1]] {
					t.Errorf("%s: %v are in one cluster", name, ab)
				}
			}
			if len(f.marks) > 0 {
				continue
			}
			want := make([]int, f.n)
			switch linkage {
			case Single:
				for i := range want {
					want[i] = i
				}
				for changed := true; changed; {
					changed = false
					for ab := range f.pairs {
						if x := min(want[ab[0]], want[ab[1]]); want[ab[0]] != x || want[ab[1]] != x {
							want[ab[0]], want[ab[1]], changed = x, x, true
						}
					}
				}
			case First, Popular:
				represents, order := map[int]int{}, f.ranked(linkage)
				for _, i := range order {
					best := i
					for _, k := range order {
						if represents[k] == k && k != i && f.alike(i, k) > 0 {
							if _, there := represents[k]; there && (best == i || f.alike(i, k) > f.alike(i, best)) {
								best = k
							}
						}
					}
					represents[i] = best
				}
				first := map[int]int{}
				for i := f.n - 1; i >= 0; i-- {
					first[represents[i]] = i
				}
				for i := range want {
					want[i] = first[represents[i]]
				}
			case Complete:
				for _, of := range members {
					for i, a := range of {
						for _, b := range of[:i] {
							if f.alike(a, b) == 0 && len(of) <= 4 {
								t.Errorf("%s: %d and %d are in one cluster", name, a, b)
							}
						}
					}
				}
				continue
			}
			if !slices.Equal(in, want) {
				t.Errorf("%s: %v\nwant %v", name, in, want)
			}
		}
	}
}

// In every graph of five documents the members of a complete cluster are all pairs of each
// other, and no two clusters are that together could be one.
func TestCompleteClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for graph := range 1 << 10 {
		f := friends{n: 5, pairs: map[[2]int]float64{}}
		order, i := r.Perm(10), 0
		for b := range f.n {
			for a := range b {
				if graph>>i&1 != 0 {
					f.pairs[[2]int{a, b}] = 0.5 + float64(order[i])/100
				}
				i++
			}
		}
		l, err := f.linker(t, Complete, createTemp)
		if err != nil {
			t.Fatal(err)
		}
		members := map[int][]int{}
		if err := l.Clusters(t.Context(), func(i, cluster, _ int) error {
			members[cluster] = append(members[cluster], i)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		l.Close()
		strangers := func(some []int) bool {
			for _, b := range some {
				for _, a := range some {
					if a < b && f.alike(a, b) == 0 {
						return true
					}
				}
			}
			return false
		}
		for name, of := range members {
			if strangers(of) {
				t.Errorf("graph %010b: strangers in the cluster %v", graph, of)
			}
			for other, more := range members {
				if name < other && len(of)+len(more) <= 4 && !strangers(slices.Concat(of, more)) {
					t.Errorf("graph %010b: %v and %v are all alike, and apart", graph, of, more)
				}
			}
		}
	}
}

// Whatever operation on a temporary file fails, the error comes out and no file stays open.
func TestLinkerFaults(t *testing.T) {
	f := randomFriends(7)
	f.n, f.marks = 1500, nil
	r := rand.New(rand.NewPCG(7, 7))
	for range 1500 {
		if a, b := r.IntN(f.n), r.IntN(f.n); a != b {
			f.pairs[[2]int{min(a, b), max(a, b)}] = 0.7
		}
	}
	full := errors.New("no space left on device")
	for _, linkage := range []Linkage{Complete, Single, First, Popular} {
		failures := 0
		for n := 0; ; n = n*3/2 + 1 {
			failing := &faults{left: n, once: failures%3 == 2, err: full}
			l, err := f.linker(t, linkage, failing.create)
			if err == nil && n%2 == 0 && linkage >= First {
				err = l.Keep(t.Context(), func(int, int, float64) error { return nil })
			} else if err == nil {
				err = l.Clusters(t.Context(), func(int, int, int) error { return nil })
			}
			if err := l.Close(); err != nil || failing.open != 0 {
				t.Fatalf("%v operation %d: %v, %d files open", linkage, n, err, failing.open)
			}
			if failing.left >= 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, full) {
				t.Fatalf("%v operation %d: %v", linkage, n, err)
			}
			failures++
		}
		if failures < 5 {
			t.Errorf("%v: %d failures tried, want at least 5", linkage, failures)
		}
	}
}

func TestLinkerOptions(t *testing.T) {
	for _, c := range []struct {
		o    LinkerOptions
		want string
	}{
		{LinkerOptions{Memory: 1000}, "sketch: cluster: 1000 bytes of memory, want at least 1048576"},
		{LinkerOptions{Representatives: -1}, "sketch: cluster: -1 representatives, want at least 1"},
		{LinkerOptions{Documents: math.MaxInt}, "sketch: cluster: more than 2147483647 documents"},
	} {
		if _, err := NewLinker(c.o); fmt.Sprint(err) != c.want {
			t.Errorf("%q, want %q", fmt.Sprint(err), c.want)
		}
	}
	for _, name := range linkages {
		if k, err := ParseLinkage(name); err != nil || k.String() != name {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
	if _, err := ParseLinkage("Complete"); fmt.Sprint(err) != `sketch: cluster: the linkage is "Complete", want complete, single, greedy or popular` {
		t.Error(err)
	}
	l, err := NewLinker(LinkerOptions{Documents: 2, Dir: t.TempDir(), Linkage: First})
	if err != nil {
		t.Fatal(err)
	}
	l.Pair(0, 1, 1)
	if err := l.Keep(t.Context(), func(i, kept int, r float64) error {
		if i != 1 || kept != 0 || r != 1 {
			t.Error(i, kept, r)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(l.options.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

package cluster

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// What comes out is what went in, in order, whether it fits into memory or not.
func TestSorterOfPairs(t *testing.T) {
	for _, n := range []int{0, 1, 256, 257, 5000} {
		dir := t.TempDir()
		s := NewSorter(0, dir)
		r := rand.New(rand.NewPCG(uint64(n), 5))
		var want []record
		for range n {
			rec := record{r.Uint64() % 50, r.Uint64() >> r.IntN(64)}
			want = append(want, rec)
			if err := s.Add(rec.hi, rec.lo); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, compareRecords)
		var got []record
		for {
			a, b, ok, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, record{a, b})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d pairs: %d came out, or in another order", n, len(got))
		}
		if err := s.Add(1, 2); err == nil {
			t.Error("a pair was added after the first was read")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%d files are left, %v, want 0", len(left), err)
		}
		if _, _, ok, err := s.Next(); ok || err != nil {
			t.Errorf("a closed sorter gives %v, %v", ok, err)
		}
	}
	s := NewSorter(0, "")
	if err := s.Add(math.MaxUint64, math.MaxUint64); err == nil {
		t.Error("the pair that marks the end was added")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

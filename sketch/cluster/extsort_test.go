package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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

// Whichever bytes of the numbers differ.
func TestSortRecords(t *testing.T) {
	for _, differ := range []uint64{0, 3, 0xff, 0x1ff, 0xff00, 0x3 << 56, 0x3<<56 | 0xffff, 0x1<<56 | 0x1<<48 | 0x1<<40, 1<<56 - 1, math.MaxUint64} {
		for _, n := range []int{0, 1, 127, 128, 129, 1000, 5000} {
			r := rand.New(rand.NewPCG(differ, uint64(n)))
			got := make([]record, n)
			for i := range got {
				got[i] = record{r.Uint64()&differ | 0x5a<<24&^differ, r.Uint64() % 100}
			}
			want := slices.Clone(got)
			slices.SortFunc(want, compareRecords)
			if sortRecords(got); !slices.Equal(got, want) {
				t.Errorf("%d records that differ in the bits %x are not in order", n, differ)
			}
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

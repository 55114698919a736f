package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

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
		before, peak := stats.HeapAlloc, uint64(0)
		calls := 0
		watch := func() {
			if calls++; calls%(documents/200) == 0 {
				runtime.ReadMemStats(&stats)
				peak = max(peak, stats.HeapAlloc-min(before, stats.HeapAlloc))
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
			float64(peak)/(1<<20), float64(memory)/(1<<20), float64(report.TempBytes)/(1<<20), report.Clusters, report.Clustered, report.Largest)
		if peak > uint64(memory) {
			t.Errorf("%s: %d bytes of heap, the setting is %d", c.name, peak, memory)
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

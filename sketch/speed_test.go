package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// BenchmarkTable prints how fast the package is on this machine, with each
// implementation of the kernels that it can run: `make bench-sketch`. A figure
// is the best of many short runs over documents that differ, on one core.
func BenchmarkTable(b *testing.B) {
	const twelve = "words w=4 t=84 k=12 s=7"
	speed := func(settings string, text func(*rand.Rand, int) []byte, size int, to sampler) func() float64 {
		return func() float64 { return textSpeed(settings, text, size, to) }
	}
	time := func(settings string, text func(*rand.Rand, int) []byte, size int) func() float64 {
		return func() float64 { return float64(size) * 1000 / textSpeed(settings, text, size, nil) }
	}
	rows := []struct {
		name, unit string
		measure    func() float64
	}{
		{"text, 500-byte document", "ns", time(twelve, kerneltest.English, 500)},
		{"text, 2.6 KB documents", "MB/s", speed(twelve, kerneltest.English, 2600, nil)},
		{"text, 64 KB documents", "MB/s", speed(twelve, kerneltest.English, 64<<10, nil)},
		{"text classic, 500-byte document", "ns", time(twelve+" classic", kerneltest.English, 500)},
		{"text classic, 2.6 KB documents", "MB/s", speed(twelve+" classic", kerneltest.English, 2600, nil)},
		{"text to shingles, English", "MB/s", speed(twelve, kerneltest.English, 2600, discard{})},
		{"text to shingles, accented Latin", "MB/s", speed(twelve, kerneltest.Accented, 2600, discard{})},
		{"text to shingles, Cyrillic", "MB/s", speed(twelve, kerneltest.Cyrillic, 2600, discard{})},
		{"text to shingles, Chinese", "MB/s", speed(twelve, kerneltest.Chinese, 2600, discard{})},
		{"characters to shingles, English", "MB/s", speed("chars", kerneltest.English, 2600, discard{})},
		{"characters to shingles, Chinese", "MB/s", speed("chars", kerneltest.Chinese, 2600, discard{})},
		{"prose, 60-byte document", "ns", time("prose", kerneltest.English, 60)},
		{"prose, 500-byte document", "ns", time("prose", kerneltest.English, 500)},
		{"prose, 2.6 KB documents", "MB/s", speed("prose", kerneltest.English, 2600, nil)},
		{"short, 20-byte document", "ns", time("short", kerneltest.English, 20)},
		{"short, 60-byte document", "ns", time("short", kerneltest.English, 60)},
		{"short, 80-byte document", "ns", time("short", kerneltest.English, 80)},
		{"short, 500-byte document", "ns", time("short", kerneltest.English, 500)},
		{"short, 2.6 KB documents", "MB/s", speed("short", kerneltest.English, 2600, nil)},
		{"short, 64 KB documents", "MB/s", speed("short", kerneltest.English, 64<<10, nil)},
		{"unsegmented, 60-byte document", "ns", time("unsegmented", kerneltest.Chinese, 60)},
		{"logs, 80-byte line", "ns", time("logs", kerneltest.Log, 80)},
		{"records, 80-byte record", "ns", time("records", kerneltest.Records, 80)},
		{"pages, 4 KB page", "MB/s", speed("pages", kerneltest.HTML, 4096, nil)},
		{"84 minima alone, a shingle", "ps", func() float64 {
			c, xs := newClassic(84), kerneltest.RandomValues(rand.New(rand.NewPCG(1, 2)), 512)
			return 1000 * nanoseconds(func() { kernel.Minima(c.m, c.A, c.B, xs) }) / float64(len(xs))
		}},
		{"features of a stored sketch", "ns", func() float64 {
			stored := storedPair(b, "words t=84 k=12 s=7")
			features := make([]Feature, 0, 12)
			return nanoseconds(func() { features, _ = Features(features[:0], stored[0]) })
		}},
		{"prose, a sketch of 4 bits a slot", "ns", func() float64 { // what a table keeps
			s := mustSketcher(b, "prose bits=4")
			s.Document(kerneltest.SameEnglish(500))
			var stored []byte
			return nanoseconds(func() { stored = s.AppendSketch(stored[:0]) })
		}},
		{"resemblance, 8 bits a slot", "ns", func() float64 {
			stored := storedPair(b, "words t=84 k=12 s=7 bits=8")
			return nanoseconds(func() { _, _ = Resemblance(stored[0], stored[1]) })
		}},
		{"resemblance, 64 bits a slot", "ns", func() float64 {
			stored := storedPair(b, "words t=84 k=12 s=7")
			return nanoseconds(func() { _, _ = Resemblance(stored[0], stored[1]) })
		}},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%s, %s, %s/%s, `%s` or the preset named, one core\n\n| %-32s |", processor(), runtime.Version(), runtime.GOOS, runtime.GOARCH, twelve, "")
	columns := func(f func(name string)) {
		kernel.Each(func(name string) {
			if name != "avx512f" { // between the others
				f(name)
			}
		})
	}
	columns(func(name string) { fmt.Fprintf(&table, " %-10s |", name) })
	fmt.Fprintf(&table, "\n|%s|", strings.Repeat("-", 34))
	columns(func(string) { fmt.Fprintf(&table, "%s|", strings.Repeat("-", 12)) })
	for _, row := range rows {
		fmt.Fprintf(&table, "\n| %-32s |", row.name)
		columns(func(string) {
			fmt.Fprintf(&table, " %-10s |", fmt.Sprintf("%.0f %s", row.measure(), row.unit))
		})
	}
	fmt.Println(table.String() + "\n")
}

// textSpeed returns the MB/s of taking documents of the size from their text
// to their features, or to the sampler given.
func textSpeed(settings string, text func(*rand.Rand, int) []byte, size int, to sampler) float64 {
	const total = 1 << 20
	p, err := ParseProfile(settings)
	if err != nil {
		panic(err)
	}
	s, err := NewSketcher(p)
	if err != nil {
		panic(err)
	}
	if to != nil {
		s.sampler = to
	}
	documents := text(rand.New(rand.NewPCG(1997, 2000)), total)
	features := make([]Feature, 0, p.K)
	// The best time of each stretch of documents: other programs that run
	// meanwhile disturb some passes, rarely all.
	stretch := max(1, 64<<10/size) * size
	best := make([]float64, total/stretch)
	for pass := range 16 {
		for i := range best {
			start := time.Now()
			for at := i * stretch; at < (i+1)*stretch; at += size {
				s.Document(documents[at : at+size])
				if to == nil {
					features = s.AppendFeatures(features[:0])
				}
			}
			if t := time.Since(start).Seconds(); pass == 0 || t < best[i] {
				best[i] = t
			}
		}
	}
	sum := 0.0
	for _, t := range best {
		sum += t
	}
	return 1e-6 * float64(len(best)*stretch) / sum
}

// discard is a sampler that samples nothing.
type discard struct{}

func (discard) Reset()                                  {}
func (discard) add([]uint64)                            {}
func (discard) appendSample(d []byte, _ Profile) []byte { return d }
func (discard) slots() []uint64                         { return nil }

// nanoseconds returns how long f takes.
func nanoseconds(f func()) float64 {
	calls := 1
	for start := time.Now(); time.Since(start) < 50*time.Microsecond; calls++ {
		f()
	}
	best := math.Inf(1)
	for range 1000 {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/float64(calls))
	}
	return best
}

// storedPair returns the sketches of two documents that are half the same.
func storedPair(tb testing.TB, settings string) (stored [2][]byte) {
	s := mustSketcher(tb, settings)
	for i := range stored {
		s.Document(kerneltest.SameEnglish(2600 + 2600*i))
		stored[i] = s.AppendSketch(nil)
	}
	return stored
}

// processor names the machine as well as the system does.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	field := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `\s*: (.*)$`).FindSubmatch(info)
		if m == nil {
			return "?"
		}
		return string(m[1])
	}
	return fmt.Sprintf("%s (family %s model %s)", field("model name"), field("cpu family"), field("model"))
}

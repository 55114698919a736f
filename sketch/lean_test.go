package sketch

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/splitmix"
)

// Whatever the order of the shingles, and however they are handed over, the
// slots are the same; families.tsv says that they are the right ones.
func TestLeanIsAFunctionOfTheSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, family := range []string{"lean", "lean-zeros", "lean-biased"} {
		for _, slots := range []int{1, 7, 8, 84, 4096} {
			p := mustProfile(t, fmt.Sprintf("%s k=1 s=1 r=1 t=%d", family, slots))
			for _, n := range []int{1, 2, 30, 700} {
				xs := make([]uint64, n)
				for i := range xs {
					xs[i] = random.Uint64()
				}
				whole, parts := newSampler(p), newSampler(p)
				whole.add(xs)
				random.Shuffle(n, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
				parts.add(xs)
				parts.Reset()
				for rest := xs; len(rest) > 0; {
					piece := 1 + random.IntN(len(rest))
					parts.add(rest[:piece])
					parts.add(rest[:piece/2])
					rest = rest[piece:]
				}
				if !slices.Equal(whole.slots(), parts.slots()) {
					t.Errorf("%s, %d slots of %d shingles: the order shows", family, slots, n)
				}
			}
		}
	}
}

// after is what it says, bit by bit.
func TestAfter(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		w := random.Uint64() & random.Uint64() & random.Uint64()
		n, before := random.IntN(20), random.IntN(25)
		var want uint64
		for i := range 64 {
			for back := 1; back <= n; back++ {
				if i-back >= 0 && w>>(i-back)&1 != 0 || i-back == -1-before {
					want |= 1 << i
				}
			}
		}
		if got := after(w, n, before); got != want {
			t.Fatalf("after(%016x, %d, %d) = %016x, want %016x", w, n, before, got, want)
		}
	}
}

// The gaps have the distribution of a bit that is a zero once in 64, and take
// no more bits than Knuth and Yao allow: two beyond the entropy.
func TestGaps(t *testing.T) {
	const p = 1.0 / 64
	const draws = 200000
	entropy := (-p*math.Log2(p) - (1-p)*math.Log2(1-p)) / p
	counts := make([]int, 2000)
	used, sum := 0, 0
	for x := range uint64(draws) {
		f := fairBits{Permutations: kernel.AllPermutations(), x: kernel.Mix(x)}
		gap := gaps().draw(&f)
		counts[gap]++
		sum += gap
		used += 32*f.halves - f.n
	}
	chance := 1.0
	for gap := range 50 {
		want := draws * chance * p
		if got := float64(counts[gap]); math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("gap %d: %v times, want %v", gap, got, want)
		}
		chance *= 1 - p
	}
	if mean := float64(sum) / draws; math.Abs(mean-63) > 4*64/math.Sqrt(draws) {
		t.Errorf("mean gap %v, want 63", mean)
	}
	bitsPerGap := float64(used) / draws
	t.Logf("a gap takes %.3f bits; its entropy is %.3f", bitsPerGap, entropy)
	if bitsPerGap < entropy || bitsPerGap > entropy+2 {
		t.Errorf("a gap takes %v bits, its entropy is %v", bitsPerGap, entropy)
	}
}

// The random bits that a shingle costs a slot, beside what Manasse states.
// "looked at" are the bits that decide the order but for extensions, "drawn" the
// 64-bit words they are taken from.
func TestLeanRandomness(t *testing.T) {
	const slots, n = 84, 50000
	xs := make([]uint64, n)
	random := rand.New(rand.NewPCG(3, 3))
	for i := range xs {
		xs[i] = random.Uint64()
	}
	per := func(bits float64) float64 { return bits / (slots * n) }
	type row struct {
		name, stated           string
		looked, drawn, extends float64
		low, high              float64 // of looked at + extensions
	}
	var rows []row

	// Each economy is followed by its definition, and the slots show that the code does.
	type leads = [slots]int
	wantLeads := func(name string, m []uint64, shift, most int, best leads) {
		t.Helper()
		for i, v := range m {
			if got := most - int(v>>shift); got != best[i] {
				t.Errorf("%s: slot %d has the first bits %d, want %d", name, i, got, best[i])
			}
		}
	}

	l := newLean(slots)
	var best leads // 255 less the least prefix
	extensions := 0
	for _, x := range xs {
		for i := range slots {
			w := kernel.Fold(l.A[i/8]*x + l.B[i/8])
			if lead := 255 - int(w>>(i%8*8)&0xff); lead >= best[i] {
				best[i] = lead
				extensions++
			}
		}
	}
	l.add(xs)
	wantLeads("lean", l.m, 56, 255, best)
	rows = append(rows, row{"lean, 8 bits", "1/8 of 64, and 1/4", 8, 64 * float64(len(l.prefixes)) / slots, per(64 * float64(extensions)), 8.24, 8.27})
	// A tie with the lead is a contender: n/256 of those with the least prefix,
	// and 1/v of each other prefix v on the way to it.
	contenders := n / 256.
	for v := 1; v < 256; v++ {
		contenders += 1 / float64(v)
	}
	if got := float64(extensions) / slots; math.Abs(got/contenders-1) > 0.02 {
		t.Errorf("lean: %v contenders a slot, want %v", got, contenders)
	}

	// Half a prefix, which Manasse weighs against it, on random bits as they come.
	extensions = 0
	for range slots {
		best := uint64(15)
		for range n {
			if v := random.Uint64() >> 60; v <= best {
				best = v
				extensions++
			}
		}
	}
	rows = append(rows, row{"4 bits instead", "4, and 4", 4, 4, per(64 * float64(extensions)), 7.9, 8.1})

	z := newLeanZeros(slots)
	best, extensions = leads{}, 0 // the longest run of zeros
	looked, words := 0, 0
	for _, x := range xs {
		for i, zeros, j := 0, 0, 0; i < slots; j++ {
			w := z.Word(x, j)
			words++
			for bit := 0; bit < 64 && i < slots; bit++ {
				looked++
				if w>>bit&1 == 0 {
					zeros++
					continue
				}
				if zeros >= best[i] {
					best[i] = zeros
					extensions++
				}
				i, zeros = i+1, 0
			}
		}
	}
	z.add(xs)
	wantLeads("lean-zeros", z.m, 58, maxZeros, best)
	rows = append(rows, row{"lean-zeros", "2", per(float64(looked)), per(64 * float64(words)), per(64 * float64(extensions)), 1.98, 2.05})

	b := newLeanBiased(slots)
	best, extensions = leads{}, 0 // the longest run of zeros after a zero
	used := 0
	words = 0
	for _, x := range xs {
		fair := fairBits{Permutations: b.Permutations, x: x}
		for i := b.gaps.draw(&fair); i < slots; i += 1 + b.gaps.draw(&fair) {
			if zeros := fair.zeros(); zeros >= best[i] {
				best[i] = zeros
				extensions++
			}
		}
		words += (fair.halves + 1) / 2
		used += 32*fair.halves - fair.n
	}
	b.add(xs)
	wantLeads("lean-biased", b.m, 57, maxZeros, best)
	rows = append(rows, row{"lean-biased, 1 in 64", "about 1/3", per(float64(used)), per(64 * float64(words)), per(64 * float64(extensions)), 0.2, 1. / 3})

	t.Logf("%d shingles, %d slots; bits a shingle and slot", n, slots)
	t.Logf("%-22s %9s %11s %9s %9s   %s", "", "looked at", "extensions", "together", "drawn", "Manasse states")
	t.Logf("%-22s %9.3f %11.3f %9.3f %9.3f   %s", "classic", 64., 0., 64., 64., "64")
	for _, r := range rows {
		together := r.looked + r.extends
		t.Logf("%-22s %9.3f %11.3f %9.3f %9.3f   %s", r.name, r.looked, r.extends, together, r.drawn+r.extends, r.stated)
		if !(together >= r.low && together <= r.high) {
			t.Errorf("%s: %v bits a shingle and slot, want %v to %v", r.name, together, r.low, r.high)
		}
	}
}

// "Three is an upper bound on the expected number of maximal length initial
// strings of zeroes."
func TestTiesOfZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{10, 100, 1000} {
		const trials = 2000
		ties := 0
		for range trials {
			most, with := -1, 0
			for range n {
				switch zeros := bits.TrailingZeros64(random.Uint64()); {
				case zeros > most:
					most, with = zeros, 1
				case zeros == most:
					with++
				}
			}
			ties += with
		}
		mean := float64(ties) / trials
		t.Logf("%d shingles: %.3f have the longest run", n, mean)
		if mean > 3 {
			t.Errorf("%d shingles: %v have the longest run, want at most 3", n, mean)
		}
	}
}

// BenchmarkSampler is what the families cost a shingle, after tokens and
// fingerprints.
func BenchmarkSampler(b *testing.B) {
	next := splitmix.New(1)
	xs := make([]uint64, 10000)
	for i := range xs {
		xs[i] = next()
	}
	for _, family := range []string{"classic", "fast", "bins", "lean", "lean-zeros", "lean-biased", "bottom=100", "mod=25", "scaled", "weighted"} {
		for _, n := range []int{80, 400, 10000} {
			b.Run(fmt.Sprintf("family=%s/shingles=%d", family, n), func(b *testing.B) {
				p := mustProfile(b, "words w=4 t=84 k=12 s=7 "+family)
				s := newSampler(p)
				var dst []byte
				for b.Loop() {
					s.Reset()
					s.add(xs[:n])
					dst = s.appendSample(dst[:0], p)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/shingle")
			})
		}
	}
}

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

const leanSlots, leanShingles = 84, 50000

// leanLeads is what the slots must show, by the definition of a family.
type leanLeads = [leanSlots]int

// leanRow is what a family costs, in bits a shingle and slot.
type leanRow struct {
	name, stated           string
	looked, drawn, extends float64
	low, high              float64 // of looked at + extensions
}

// perSlot is bits of all shingles and slots, for each of them.
func perSlot(bits float64) float64 { return bits / (leanSlots * leanShingles) }

func wantLeads(t *testing.T, name string, m []uint64, shift, highest int, best leanLeads) {
	t.Helper()
	for i, v := range m {
		if got := highest - int(v>>shift); got != best[i] {
			t.Errorf("%s: slot %d has the first bits %d, want %d", name, i, got, best[i])
		}
	}
}

// The random bits that a shingle costs a slot, beside what Manasse states.
// "looked at" are the bits that decide the order but for extensions, "drawn" the
// 64-bit words they are taken from. Each economy is followed by its definition, and the
// slots show that the code does.
func TestLeanRandomness(t *testing.T) {
	xs := make([]uint64, leanShingles)
	random := rand.New(rand.NewPCG(3, 3))
	for i := range xs {
		xs[i] = random.Uint64()
	}
	rows := []leanRow{prefixCost(t, xs), halfPrefixCost(random), zerosCost(t, xs), biasedCost(t, xs)}
	t.Logf("%d shingles, %d slots; bits a shingle and slot", leanShingles, leanSlots)
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

func prefixCost(t *testing.T, xs []uint64) leanRow {
	l := newLean(leanSlots)
	var best leanLeads // 255 less the smallest prefix
	extensions := 0
	for _, x := range xs {
		for i := range leanSlots {
			w := kernel.Fold(l.A[i/8]*x + l.B[i/8])
			if lead := 255 - int(w>>(i%8*8)&0xff); lead >= best[i] {
				best[i] = lead
				extensions++
			}
		}
	}
	l.add(xs)
	wantLeads(t, "lean", l.m, 56, 255, best)
	// A tie with the lead is a contender: n/256 of those with the smallest prefix,
	// and 1/v of each other prefix v on the way to it.
	contenders := leanShingles / 256.
	for v := 1; v < 256; v++ {
		contenders += 1 / float64(v)
	}
	if got := float64(extensions) / leanSlots; math.Abs(got/contenders-1) > 0.02 {
		t.Errorf("lean: %v contenders a slot, want %v", got, contenders)
	}
	return leanRow{"lean, 8 bits", "1/8 of 64, and 1/4", 8, 64 * float64(len(l.prefixes)) / leanSlots, perSlot(64 * float64(extensions)), 8.24, 8.27}
}

// halfPrefixCost is of half a prefix, which Manasse weighs against it, on random bits as they come.
func halfPrefixCost(random *rand.Rand) leanRow {
	extensions := 0
	for range leanSlots {
		best := uint64(15)
		for range leanShingles {
			if v := random.Uint64() >> 60; v <= best {
				best = v
				extensions++
			}
		}
	}
	return leanRow{"4 bits instead", "4, and 4", 4, 4, perSlot(64 * float64(extensions)), 7.9, 8.1}
}

func zerosCost(t *testing.T, xs []uint64) leanRow {
	z := newLeanZeros(leanSlots)
	var best leanLeads // the longest run of zeros
	extensions := 0
	looked, words := 0, 0
	for _, x := range xs {
		for i, zeros, j := 0, 0, 0; i < leanSlots; j++ {
			w := z.Word(x, j)
			words++
			for bit := 0; bit < 64 && i < leanSlots; bit++ {
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
	wantLeads(t, "lean-zeros", z.m, 58, maxZeros, best)
	return leanRow{"lean-zeros", "2", perSlot(float64(looked)), perSlot(64 * float64(words)), perSlot(64 * float64(extensions)), 1.98, 2.05}
}

func biasedCost(t *testing.T, xs []uint64) leanRow {
	b := newLeanBiased(leanSlots)
	var best leanLeads // the longest run of zeros after a zero
	extensions := 0
	used, words := 0, 0
	for _, x := range xs {
		fair := fairBits{Permutations: b.Permutations, x: x}
		for i := b.gaps.draw(&fair); i < leanSlots; i += 1 + b.gaps.draw(&fair) {
			if zeros := fair.zeros(); zeros >= best[i] {
				best[i] = zeros
				extensions++
			}
		}
		words += (fair.halves + 1) / 2
		used += 32*fair.halves - fair.n
	}
	b.add(xs)
	wantLeads(t, "lean-biased", b.m, 57, maxZeros, best)
	return leanRow{"lean-biased, 1 in 64", "about 1/3", perSlot(float64(used)), perSlot(64 * float64(words)), perSlot(64 * float64(extensions)), 0.2, 1. / 3}
}

// "Three is an upper bound on the expected number of maximal length initial
// strings of zeroes."
func TestTiesOfZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{10, 100, 1000} {
		const trials = 2000
		ties := 0
		for range trials {
			highest, with := -1, 0
			for range n {
				switch zeros := bits.TrailingZeros64(random.Uint64()); {
				case zeros > highest:
					highest, with = zeros, 1
				case zeros == highest:
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

package rabin

import (
	"math"
	"math/bits"
	"testing"
)

// Every polynomial of a small degree that is irreducible, by trial division:
// the bound holds for the share of them that makes two strings collide.
func TestCollisionBound(t *testing.T) {
	mod := func(x, p uint64) uint64 {
		for bits.Len64(x) >= bits.Len64(p) {
			x ^= p << (bits.Len64(x) - bits.Len64(p))
		}
		return x
	}
	for degree := 3; degree <= 8; degree++ {
		var irreducible []uint64
		for p := uint64(1) << degree; p < 2<<degree; p++ {
			prime := true
			for d := uint64(2); bits.Len64(d) <= degree/2+1 && prime; d++ {
				prime = mod(p, d) != 0
			}
			if prime {
				irreducible = append(irreducible, p)
			}
		}
		worst := 0
		for difference := uint64(1); difference < 1<<12; difference++ {
			collide := 0
			for _, p := range irreducible {
				if mod(difference, p) == 0 {
					collide++
				}
			}
			worst = max(worst, collide)
		}
		if got, bound := float64(worst)/float64(len(irreducible)), CollisionBound(12, 7, degree); got > bound {
			t.Errorf("degree %d: %d of %d polynomials collide, the bound is %v", degree, worst, len(irreducible), bound)
		}
	}
	if got, want := CollisionBound(400, 300, 40), 400/math.Exp2(39); got != want {
		t.Errorf("the paper's shingles: %v, want %v", got, want)
	}
	if got, want := CollisionBound(1<<20, 8, 8), 1.; got != want {
		t.Errorf("a probability of %v, want %v", got, want)
	}
}

// All functions from n shingles to 2^bits fingerprints, one by one.
func TestExpectedDistinct(t *testing.T) {
	for _, c := range []struct{ n, bits int }{{1, 1}, {2, 1}, {5, 1}, {4, 2}, {6, 2}, {3, 3}, {5, 3}} {
		functions, sum, collisions := 1<<(c.n*c.bits), 0, 0
		for f := range functions {
			seen := 0
			for i := range c.n {
				image := f >> (i * c.bits) & (1<<c.bits - 1)
				for j := range i {
					if f>>(j*c.bits)&(1<<c.bits-1) == image {
						collisions++
					}
				}
				seen |= 1 << image
			}
			sum += bits.OnesCount(uint(seen))
		}
		if got, want := ExpectedDistinct(float64(c.n), c.bits), float64(sum)/float64(functions); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d shingles, %d bits: %v distinct, want %v", c.n, c.bits, got, want)
		}
		if got, want := ExpectedCollisions(float64(c.n), c.bits), float64(collisions)/float64(functions); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d shingles, %d bits: %v collisions, want %v", c.n, c.bits, got, want)
		}
	}
	// No cancellation far below 2^bits, where the paper's series has two terms.
	if lack := 1e6 - ExpectedDistinct(1e6, 64); lack < 0 || lack > 1e-3 {
		t.Errorf("a million shingles lack %v of 64 bits", lack)
	}
	if lack, want := 1e6-ExpectedDistinct(1e6, 40), ExpectedCollisions(1e6, 40); math.Abs(lack-want) > 1e-6*want {
		t.Errorf("a million shingles lack %v of 40 bits, want %v", lack, want)
	}
}

// Azuma's bound and the resemblance's hold in a simulation with a fixed seed.
// Shingles 0 to 199 are A's, 100 to 299 are B's: resemblance 1/3.
func TestDistinctConcentration(t *testing.T) {
	state := uint64(1997)
	next := func() uint64 {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	const n, trials = 300, 2000
	simulate := func(width int) (both, either int) {
		images := make(map[uint64]int, n)
		for i := range n {
			f := next() >> (64 - width)
			if i < 200 {
				images[f] |= 1
			}
			if i >= 100 {
				images[f] |= 2
			}
		}
		for _, in := range images {
			both += in & (in >> 1)
		}
		return both, len(images)
	}
	const short, long = 12, 24
	expected := ExpectedDistinct(n, short)
	beyond, sum, wrong := 0, 0.0, 0
	for range trials {
		_, distinct := simulate(short)
		sum += float64(distinct)
		if float64(distinct)-expected > 0.5*math.Sqrt(n) {
			beyond++
		}
		both, either := simulate(long)
		if math.Abs(float64(both)/float64(either)-1.0/3) >= FingerprintError(n, long) {
			wrong++
		}
	}
	if mean := sum / trials; math.Abs(mean-expected) > 0.5 {
		t.Errorf("mean %v, want %v", mean, expected)
	}
	if got := float64(beyond) / trials; got > DistinctTail(0.5) {
		t.Errorf("%v beyond, the bound is %v", got, DistinctTail(0.5))
	}
	if float64(wrong)/trials > 0.001 {
		t.Errorf("%d of %d resemblances off by more than %v", wrong, trials, FingerprintError(n, long))
	}
	if got, want := FingerprintError(1000, 40), 1000/math.Exp2(29); got != want {
		t.Errorf("the paper's clustering: %v, want %v", got, want)
	}
}

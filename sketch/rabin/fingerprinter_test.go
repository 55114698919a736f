package rabin

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func mustFingerprinter(t testing.TB, p Polynomial) *Fingerprinter {
	t.Helper()
	f, err := NewFingerprinter(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// residue is the definition: the string's bits below a leading one, divided by
// hand.
func residue(p Polynomial, data []byte) uint64 {
	r := uint64(1)
	for _, c := range data {
		for i := 7; i >= 0; i-- {
			r = p.double(r) ^ uint64(c>>i&1)
		}
	}
	return r
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func TestFingerprintDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 1))
	for degree := 8; degree <= 64; degree++ {
		f := mustFingerprinter(t, DrawPolynomial(degree, 7))
		for n := range 40 {
			data := randomBytes(random, n)
			if got, want := f.Fingerprint(data), residue(f.Polynomial(), data); got != want {
				t.Fatalf("degree %d, %x: %#x, want %#x", degree, data, got, want)
			}
			padded := append(slices.Clone(data), make([]byte, 11)...)
			if got, want := f.Pad(f.Fingerprint(data), 11), residue(f.Polynomial(), padded); got != want {
				t.Fatalf("degree %d, %x padded: %#x, want %#x", degree, data, got, want)
			}
		}
	}
}

func checkAppendLaw(t *testing.T, degree int, a, b []byte) {
	t.Helper()
	f := mustFingerprinter(t, DrawPolynomial(degree, 3))
	whole := f.Fingerprint(append(slices.Clone(a), b...))
	if got := f.Append(f.Fingerprint(a), b); got != whole {
		t.Errorf("degree %d: %x after %x: %#x, want %#x", degree, b, a, got, whole)
	}
	if got := f.Concat(f.Fingerprint(a), f.Fingerprint(b), int64(len(b))); got != whole {
		t.Errorf("degree %d: %x and %x: %#x, want %#x", degree, a, b, got, whole)
	}
}

func FuzzFingerprintAppend(f *testing.F) {
	f.Add(uint8(32), []byte("a rose is "), []byte("a rose"))
	f.Add(uint8(0), []byte{0}, []byte{})
	f.Fuzz(func(t *testing.T, degree uint8, a, b []byte) { checkAppendLaw(t, 8+int(degree)%57, a, b) })
}

func TestRollingFingerprint(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 2))
	for _, degree := range []int{8, 13, 40, 63, 64} {
		f := mustFingerprinter(t, DrawPolynomial(degree, 5))
		for _, n := range []int{1, 2, 7, 8, 9, 33} {
			r, err := f.Rolling(n)
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, n, n+100)
			for _, c := range randomBytes(random, 100) {
				data = append(data, c)
				if got, want := r.Roll(uint64(c)), f.Fingerprint(data[len(data)-n:]); got != want {
					t.Fatalf("degree %d, window %d: %#x, want %#x", degree, n, got, want)
				}
			}
			words, err := f.RollingWords(n)
			if err != nil {
				t.Fatal(err)
			}
			text := make([]byte, 8*n)
			for range 50 {
				next := AppendWords(nil, randomBytes(random, 8))
				for range 8 {
					text = append(text, 0)
				}
				for i := range 8 {
					text[len(text)-1-i] = byte(next[0] >> (8 * i))
				}
				if got, want := words.Roll(next[0]), f.Fingerprint(text[len(text)-8*n:]); got != want {
					t.Fatalf("degree %d, window of %d words: %#x, want %#x", degree, n, got, want)
				}
			}
		}
	}
}

// Words of fixed width are those of Broder 1997, section 4.3.
func TestWords64(t *testing.T) {
	for token, want := range map[string][]uint64{
		"":           nil,
		"a":          {0x6100000000000000},
		"abcdefgh":   {0x6162636465666768},
		"abcdefghij": {0x6162636465666768, 0x696a000000000000},
	} {
		if got := AppendWords(nil, []byte(token)); !slices.Equal(got, want) {
			t.Errorf("%q: %x, want %x", token, got, want)
		}
	}
	f := mustFingerprinter(t, DrawPolynomial(40, 1))
	h := uint64(1)
	for _, word := range AppendWords(nil, []byte("abcdefghijklmnop")) {
		h = f.AppendWord(h, word)
	}
	if want := f.Fingerprint([]byte("abcdefghijklmnop")); h != want {
		t.Errorf("two words: %#x, want that of their bytes, %#x", h, want)
	}
}

// Two strings chosen before the polynomial collide no more often than the bound
// says: random strings far less, and even the worst pair that can be built for a
// degree, whose difference is a product of its irreducible polynomials.
func TestCollisionRate(t *testing.T) {
	const degree = 12
	var all []*Fingerprinter
	for low := uint64(1); low < 1<<degree; low += 2 {
		if p := (Polynomial{low, degree}); p.Irreducible() {
			all = append(all, mustFingerprinter(t, p))
		}
	}
	rate := func(a, b []byte) float64 {
		n := 0
		for _, f := range all {
			if f.Fingerprint(a) == f.Fingerprint(b) {
				n++
			}
		}
		return float64(n) / float64(len(all))
	}
	random := rand.New(rand.NewPCG(40, 4))
	sum := 0.0
	const trials, size = 300, 50 // 400 bits, the paper's shingle
	for range trials {
		sum += rate(randomBytes(random, size), randomBytes(random, size))
	}
	bound := CollisionBound(8*size, 8*size, degree)
	if mean := sum / trials; mean > bound/50 || mean == 0 {
		t.Errorf("random strings collide at a rate of %v, the bound is %v", mean, bound)
	}
	product := []byte{1}
	for _, f := range all[:8*size/degree-1] {
		product = timesPolynomial(product, 1<<degree|f.Polynomial().Low)
	}
	a := make([]byte, size)
	b := slices.Clone(a)
	for i, c := range product {
		b[size-1-i] ^= c
	}
	if got := rate(a, b); got > bound || got < bound/8 {
		t.Errorf("the worst strings collide at a rate of %v, the bound is %v", got, bound)
	}
	t.Logf("%d polynomials of degree %d: random strings of %d bits collide at a rate of %.6f, the worst at %.4f, the bound is %.4f",
		len(all), degree, 8*size, sum/trials, rate(a, b), bound)
}

// timesPolynomial multiplies over GF(2); the lowest byte is first.
func timesPolynomial(a []byte, b uint64) []byte {
	product := make([]byte, len(a)+8)
	for i := range 8 * len(a) {
		if a[i/8]>>(i%8)&1 == 0 {
			continue
		}
		for j := range 57 {
			if b>>j&1 != 0 {
				product[(i+j)/8] ^= 1 << ((i + j) % 8)
			}
		}
	}
	return bytes.TrimRight(product, "\x00")
}

func TestFingerprinterErrors(t *testing.T) {
	for want, p := range map[string]Polynomial{
		"degree 7, want 8 to 64":  {Low: 3, Degree: 7},
		"degree 65, want 8 to 64": {Low: 3, Degree: 65},
		"is not irreducible":      {Low: 0x1a, Degree: 64},
	} {
		if _, err := NewFingerprinter(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", p, err, want)
		}
	}
	f := mustFingerprinter(t, DrawPolynomial(64, 1997))
	if _, err := f.Rolling(0); err == nil {
		t.Error("a window of nothing")
	}
}

func BenchmarkFingerprinter(b *testing.B) {
	f := mustFingerprinter(b, DrawPolynomial(40, 1))
	data := make([]byte, 4096)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f.Fingerprint(data)
	}
}

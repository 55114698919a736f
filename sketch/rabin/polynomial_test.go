package rabin

import "testing"

// The number of irreducible polynomials of a degree is known (Gauss: the sum
// of mu(d/e)·2^e over the divisors e of d, divided by d).
func TestIrreducibleCounts(t *testing.T) {
	want := map[int]int{1: 2, 2: 1, 3: 2, 4: 3, 5: 6, 6: 9, 7: 18, 8: 30, 9: 56, 10: 99, 11: 186, 12: 335}
	for degree, count := range want {
		got := 0
		for low := uint64(0); low < 1<<degree; low++ {
			if (Polynomial{low, degree}).Irreducible() {
				got++
			}
		}
		if got != count {
			t.Errorf("degree %d: %d irreducible polynomials, want %d", degree, got, count)
		}
	}
}

func TestIrreducibleKnown(t *testing.T) {
	for _, c := range []struct {
		p    Polynomial
		want bool
	}{
		{Polynomial{0x1b, 64}, true},  // t^64+t^4+t^3+t+1
		{Polynomial{0x1b, 8}, true},   // of AES
		{Polynomial{0x1, 64}, false},  // (t+1)^64
		{Polynomial{0x1a, 64}, false}, // t divides it
		{Polynomial{0x87, 64}, false},
		{Polynomial{0x1b, 3}, false}, // bits above the degree
		{Polynomial{0, 0}, false},
		{Polynomial{0, 65}, false},
	} {
		if got := c.p.Irreducible(); got != c.want {
			t.Errorf("%#x of degree %d: irreducible %v, want %v", c.p.Low, c.p.Degree, got, c.want)
		}
	}
}

func TestDrawPolynomial(t *testing.T) {
	for degree := 2; degree <= 64; degree++ {
		if p := DrawPolynomial(degree, 1); !p.Irreducible() || p.Degree != degree {
			t.Errorf("degree %d: drew %#x of degree %d", degree, p.Low, p.Degree)
		}
	}
}

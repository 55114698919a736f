// Package rabin computes Rabin's fingerprints: residues of strings, taken as
// polynomials over GF(2), modulo an irreducible polynomial drawn at random. It has
// the polynomials, the fingerprints of whole strings and of sliding windows, and
// the bounds on collisions of Broder 1997, "On the resemblance and containment of
// documents", section 4. What sketches are made of is the same arithmetic with
// published polynomials of degree 64.
package rabin

import (
	"math/bits"

	"github.com/alike-sql/alike/sketch/internal/splitmix"
)

// A Polynomial over GF(2) of degree 1 to 64. Its bits are the coefficients
// below the leading one, which is not stored: t^64+t^4+t^3+t+1 has Low 0x1b
// and Degree 64.
//
// Rabin's fingerprints are residues modulo an irreducible polynomial drawn at
// random; the bound on collisions (Broder 1997, section 4.1) holds for the
// draw, not for a given polynomial. Ours are published below, and Irreducible
// and DrawPolynomial let anyone check them or draw their own.
type Polynomial struct {
	Low    uint64
	Degree int
}

// mask returns the bits that a residue may have.
func (p Polynomial) mask() uint64 { return ^uint64(0) >> (64 - p.Degree) }

// double returns a·t mod p.
func (p Polynomial) double(a uint64) uint64 {
	top := a >> (p.Degree - 1) & 1
	return (a<<1)&p.mask() ^ p.Low&-top
}

// Mul returns a·b mod p; a and b are residues.
func (p Polynomial) Mul(a, b uint64) uint64 {
	var r uint64
	for i := p.Degree - 1; i >= 0; i-- {
		r = p.double(r)
		r ^= a & -(b >> i & 1)
	}
	return r
}

// Irreducible reports whether p has no factor of a lower degree. It is
// Rabin's test: t^(2^d) = t mod p, and t^(2^(d/q)) - t has no factor in
// common with p for any prime q that divides the degree d.
func (p Polynomial) Irreducible() bool {
	if p.Degree < 1 || p.Degree > 64 || p.Low&^p.mask() != 0 {
		return false
	}
	if p.Degree == 1 {
		return true
	}
	x := uint64(2) // t
	for i := 1; i <= p.Degree; i++ {
		x = p.Mul(x, x) // t^(2^i)
		if i < p.Degree && p.Degree%i == 0 && prime(p.Degree/i) && p.gcd(x^2) != 1 {
			return false
		}
	}
	return x == 2
}

func prime(n int) bool {
	for q := 2; q*q <= n; q++ {
		if n%q == 0 {
			return false
		}
	}
	return n > 1
}

// gcd returns the greatest common divisor of p and a, which has a lower degree.
func (p Polynomial) gcd(a uint64) uint64 {
	if a == 0 {
		return 0 // p itself, which is no unit
	}
	// The first division takes the implicit leading bit of p into account.
	d := bits.Len64(a) - 1
	r := uint64(1)
	for i := p.Degree - 1; i >= 0; i-- {
		if d == 0 {
			return 1
		}
		if r>>(d-1)&1 != 0 {
			r = r<<1 ^ a
		} else {
			r <<= 1
		}
		r ^= p.Low >> i & 1
	}
	// The loop leaves p mod a: r has fewer bits than a.
	for r != 0 {
		for bits.Len64(a) >= bits.Len64(r) {
			a ^= r << (bits.Len64(a) - bits.Len64(r))
		}
		a, r = r, a
	}
	return a
}

// DrawPolynomial returns the first irreducible polynomial of the degree, 2 to
// 64, in the sequence that splitmix64 gives from the seed. A constant term of
// one is forced: without it t would be a factor.
func DrawPolynomial(degree int, seed uint64) Polynomial {
	next := splitmix.New(seed)
	for {
		p := Polynomial{Degree: degree}
		p.Low = next()&p.mask() | 1
		if p.Irreducible() {
			return p
		}
	}
}

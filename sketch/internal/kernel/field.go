package kernel

import (
	"encoding/binary"

	"github.com/alike-sql/alike/sketch/rabin"
)

// The polynomials of the stored form: the first irreducible polynomials
// that DrawPolynomial finds from the seeds 1997, 2000 and 2011.
var (
	ShinglePolynomial = rabin.Polynomial{Low: 0x0b984afd41eed93b, Degree: 64} // tokens and shingles
	FeaturePolynomial = rabin.Polynomial{Low: 0xf6e1b0942d071963, Degree: 64} // features and superfeatures
	LabelPolynomial   = rabin.Polynomial{Low: 0xbcad7e660a47e721, Degree: 64} // occurrences in a bag
)

// A field is arithmetic modulo one of the polynomials of degree 64, by table:
// the fast form of Polynomial.Mul for the two multipliers that fingerprints
// need, t^64 and, to slide a window, t^(64(w+1)).
type field struct {
	rabin.Polynomial
	Shift *multiplier // by t^64: appends one 8-byte word
}

// A multiplier multiplies by a constant, a byte of the other factor at a time.
type multiplier [8][256]uint64

func newMultiplier(p rabin.Polynomial, constant uint64) *multiplier {
	m := new(multiplier)
	power := constant // constant·t^i
	for i := range 64 {
		column := &m[i/8]
		step := 1 << (i % 8)
		for j := range step {
			column[step+j] = column[j] ^ power
		}
		power = p.Mul(power, 2)
	}
	return m
}

func (m *multiplier) Times(v uint64) uint64 {
	// The parentheses let the additions go on side by side.
	return ((m[0][byte(v)] ^ m[1][byte(v>>8)]) ^ (m[2][byte(v>>16)] ^ m[3][byte(v>>24)])) ^
		((m[4][byte(v>>32)] ^ m[5][byte(v>>40)]) ^ (m[6][byte(v>>48)] ^ m[7][v>>56]))
}

func newField(p rabin.Polynomial) field {
	return field{p, newMultiplier(p, p.Low)} // t^64 mod p is p.Low
}

var (
	Shingles64 = newField(ShinglePolynomial)
	Features64 = newField(FeaturePolynomial)
	labels64   = newField(LabelPolynomial)
)

// reciprocal returns the quotient of t^128 by p, without its leading bit: it
// turns a division by p into two multiplications (see shingle_amd64.s).
func (f field) reciprocal() uint64 {
	var q uint64
	r := f.Low // t^64, then the remainders of a division by hand
	for range 64 {
		q = q<<1 | r>>63
		r = f.Mul(r, 2)
	}
	return q
}

// wordPower returns t^(64·n).
func (f field) wordPower(n int) uint64 {
	r := uint64(1)
	for range n {
		r = f.Shift.Times(r)
	}
	return r
}

// TokenFingerprint is the first of the two levels of a shingle's fingerprint:
// the residue of the token's bytes, the first one lowest, below a marker that
// tells "a" from "a\0". A token of at most 7 bytes is its own fingerprint.
//
// Broder 1997, section 4.3, proposes words of 8 bytes for the same end: every
// token moves the window by the same power of t.
func TokenFingerprint(token []byte) uint64 {
	whole := len(token) &^ 7
	h := uint64(1)
	for i := len(token) - 1; i >= whole; i-- {
		h = h<<8 | uint64(token[i])
	}
	for i := whole - 8; i >= 0; i -= 8 {
		h = Shingles64.Shift.Times(h) ^ binary.LittleEndian.Uint64(token[i:])
	}
	return h
}

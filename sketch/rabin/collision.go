package rabin

import "math"

// The arithmetic of Broder 1997, section 4.1: what it costs to stand
// fingerprints of a few bits in for the shingles themselves.

// CollisionBound bounds the probability that two different strings of s1Bits
// and s2Bits bits have the same Rabin fingerprint modulo an irreducible
// polynomial of that degree, drawn at random after the strings were chosen:
// max(|s1|,|s2|) / 2^(degree-1).
func CollisionBound(s1Bits, s2Bits, degree int) float64 {
	return min(1, math.Ldexp(float64(max(s1Bits, s2Bits)), 1-degree))
}

// ExpectedDistinct is the expected number of different fingerprints of bits
// bits that n different shingles have under a random function:
// 2^bits (1 - (1-2^-bits)^n).
func ExpectedDistinct(n float64, bits int) float64 {
	// Spelled so that it does not cancel when n is far below 2^bits.
	return -math.Ldexp(math.Expm1(n*math.Log1p(-math.Ldexp(1, -bits))), bits)
}

// ExpectedCollisions is the first term of what ExpectedDistinct lacks of n:
// C(n,2) / 2^bits. It is the expected number of pairs of shingles with the
// same fingerprint, and by Markov's inequality the number exceeds a thousand
// times this with a probability below 1/1000.
func ExpectedCollisions(n float64, bits int) float64 {
	return math.Ldexp(n*(n-1)/2, -bits)
}

// DistinctTail bounds, by Azuma's inequality, the probability that the number
// of different fingerprints of n shingles lies more than lambda*sqrt(n) above
// its expectation: exp(-lambda²/2). The same holds below.
func DistinctTail(lambda float64) float64 { return math.Exp(-lambda * lambda / 2) }

// FingerprintBits is the smallest number of bits at which FingerprintError is at most
// err, or 65 when 64 are too few.
func FingerprintBits(union, err float64) int {
	bits := 1
	for bits <= 64 && !(FingerprintError(union, bits) <= err) {
		bits++
	}
	return bits
}

// FingerprintError bounds how far the resemblance of the fingerprints of two
// documents is from the resemblance of their shingles, with a probability
// better than 99.9 %: |A ∪ B| / 2^(bits-11).
func FingerprintError(union float64, bits int) float64 {
	return min(1, math.Ldexp(union, 11-bits))
}

//go:build (amd64 || arm64) && !purego

package kernel

// What the kernels with carry-less multiplication need, see shingle_amd64.s.

var shingleReciprocal = Shingles64.reciprocal()

var featureReciprocal = Features64.reciprocal()

// maxS is the most slots of a feature.
const maxS = 255

// featurePowers are t^(64·256) down to t^64: the constants of a feature of s
// slots are the last s+1.
var featurePowers = func() (powers [maxS + 1]uint64) {
	h := uint64(1)
	for i := range powers {
		h = Features64.Shift.Times(h)
		powers[maxS-i] = h
	}
	return powers
}()

// tokenMasks has, for a token of each length to 15, the mask of its bytes, and
// from 16 on the marker above them.
var tokenMasks = func() (table [32][16]byte) {
	for n := range 16 {
		for i := range n {
			table[n][i] = 0xff
		}
		table[16+n][n] = 1
	}
	return table
}()

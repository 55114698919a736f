//go:build (amd64 || arm64) && !purego

package kernel

// What the kernels of more than one processor need. The reciprocals and the powers are of
// those with carry-less multiplication, see shingle_amd64.s.

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

// edgesInBlocks is edgesGeneric by the kernel for whole blocks of 64 bytes, see
// edges256 in words_amd64.s.
func edgesInBlocks(text []byte, edges []uint32, src []byte, base uint32, fold byte) (count, done int) {
	if whole := len(src) / 64; whole > 0 {
		count, done = edgesOfBlocks(&text[0], &edges[0], &src[0], whole, uint64(base), uint64(fold), 0)
		done *= 64
	}
	// The block that is not whole or not ASCII, with zeros to its end.
	var pad [64]byte
	n := copy(pad[:], src[done:min(done+64, len(src))])
	for i, c := range pad[:n] {
		if c >= 0x80 {
			clear(pad[i:])
			n = i
			break
		}
	}
	if n == 0 {
		return count, done
	}
	more, _ := edgesOfBlocks(&text[done], &edges[count], &pad[0], 1, uint64(base)+uint64(done), uint64(fold), uint64(count&1))
	count += more
	done += n
	if more > 0 && edges[count-1] == base+uint32(done) {
		count-- // the zeros ended a word
	}
	return count, done
}

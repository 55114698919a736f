package sketch

import (
	"encoding/binary"
	"math/bits"
)

// The hot loops, each in plain Go here, nameGeneric, with what it does. The
// code calls nameKernel, which chooses at run time the form that the processor
// does fastest; every form gives the same bits. The build tag purego leaves the
// plain one alone.

// shingleGeneric writes the shingles of tokens to out; len(out) = len(tokens)-w+1.
func shingleGeneric(win *window, tokens, out []uint64) {
	// Each shingle waits for the one before it: two halves wait side by side.
	w, half := win.w, len(out)/2
	if half == 0 {
		out[0] = shingleOf(tokens)
		return
	}
	low, high := shingleOf(tokens[:w]), shingleOf(tokens[half:half+w])
	out[0], out[half] = low, high
	a, b := tokens[:half-1], tokens[half:]
	nextA, nextB := tokens[w:][:len(a)], tokens[half+w:][:len(a)]
	outA, outB := out[1:][:len(a)], out[half+1:][:len(a)]
	b = b[:len(a)]
	shift, leave := shingles64.shift, win.out
	for i, oldest := range a {
		// low and high are padded: the sum before, moved on by one word.
		low = shift.times(low ^ leave.times(oldest) ^ nextA[i])
		high = shift.times(high ^ leave.times(b[i]) ^ nextB[i])
		outA[i], outB[i] = low, high
	}
	if len(out)%2 != 0 {
		i := len(out) - 1
		out[i] = shift.times(high ^ leave.times(tokens[i-1]) ^ tokens[i-1+w])
	}
}

// minimaGeneric lowers m[i] to the least a[i]·x+b[i] mod 2^64 over xs.
func minimaGeneric(m, a, b, xs []uint64) {
	a, b = a[:len(m)], b[:len(m)]
	i := 0
	for ; i+4 <= len(m); i += 4 {
		a0, a1, a2, a3 := a[i], a[i+1], a[i+2], a[i+3]
		b0, b1, b2, b3 := b[i], b[i+1], b[i+2], b[i+3]
		m0, m1, m2, m3 := m[i], m[i+1], m[i+2], m[i+3]
		for _, x := range xs {
			m0 = min(m0, a0*x+b0)
			m1 = min(m1, a1*x+b1)
			m2 = min(m2, a2*x+b2)
			m3 = min(m3, a3*x+b3)
		}
		m[i], m[i+1], m[i+2], m[i+3] = m0, m1, m2, m3
	}
	for ; i < len(m); i++ {
		for _, x := range xs {
			m[i] = min(m[i], a[i]*x+b[i])
		}
	}
}

// binsGeneric lowers m[bin] to round<<62 | h>>2 for each x of xs, where h is
// its mix of that round and bin the upper half of h scaled to len(m), and returns
// how many bins no earlier round had filled: for 0 it need not look at xs. What
// is in m before came of the same, or is an empty slot or of the fallback.
func binsGeneric(m, xs []uint64, round int) int {
	t, tag := uint64(len(m)), uint64(round)<<roundShift
	open, few := binsOpen(m, len(xs), round)
	if open == 0 {
		return 0
	}
	first := mixMultiplier(round)
	if few {
		for _, x := range xs {
			h := mixBy(x, first)
			bin := h >> 32 * t >> 32
			if v := tag | h>>2; v < m[bin] {
				m[bin] = v
			}
		}
		return open
	}
	for _, x := range xs {
		h := mixBy(x, first)
		bin := h >> 32 * t >> 32
		m[bin] = min(m[bin], tag|h>>2)
	}
	return open
}

// binsOpen returns how many bins are open to a round, and whether few of the
// values will lower one, so that a branch on it is easy to foresee.
func binsOpen(m []uint64, values, round int) (open int, few bool) {
	if round > 0 {
		open = countFrom(m, uint64(round)<<roundShift)
		return open, open < len(m)/8
	}
	// A long document whose first piece has filled all bins.
	return len(m), values > 4*len(m) && countFrom(m, 1<<roundShift) == 0
}

// countFrom counts the slots that are at least bound, without a branch.
func countFrom(m []uint64, bound uint64) int {
	n := len(m)
	for _, v := range m {
		_, less := bits.Sub64(v, bound, 0)
		n -= int(less)
	}
	return n
}

// fallbackGeneric lowers the slots of m that are at least fallbackBound, those
// that no round has filled, to fallbackBound | h>>2, h being the minimum of
// their own permutation a·x+b over xs.
func fallbackGeneric(m, a, b, xs []uint64, own *ownMinima) {
	n := 0
	for i, v := range m {
		own.slot[n] = i
		_, less := bits.Sub64(v, fallbackBound, 0)
		n += 1 - int(less)
	}
	for j, i := range own.slot[:n] {
		own.m[j], own.a[j], own.b[j] = emptySlot, a[i], b[i]
	}
	minimaKernel(own.m[:n], own.a, own.b, xs)
	for j, i := range own.slot[:n] {
		m[i] = min(m[i], fallbackBound|own.m[j]>>2)
	}
}

// roundsGeneric lowers m by every round of fast in turn and by the fallback, as
// far as there are open bins. It may say that the first round has filled all:
// for more values of the same document that round alone is then enough.
func roundsGeneric(m, a, b, xs []uint64, own *ownMinima) (full bool) {
	binsKernel(m, xs, 0)
	for round := 1; round < fastRounds; round++ {
		// A later round cannot lower a slot that has a value of an earlier one.
		if binsKernel(m, xs, round) == 0 {
			return round == 1
		}
	}
	fallbackKernel(m, a, b, xs, own)
	return false
}

// ownMinima is the room of fallbackKernel: the open slots, and their minima and
// permutations side by side.
type ownMinima struct {
	slot    []int
	m, a, b []uint64
}

func newOwnMinima(t int) *ownMinima {
	room := func() []uint64 { return make([]uint64, t+8) } // open512 writes in eights
	return &ownMinima{make([]int, t), room(), room(), room()}
}

// fingerprintGeneric writes the fingerprints of the tokens of text. There are
// tokenSlack bytes of capacity behind the text.
func fingerprintGeneric(out []uint64, text []byte, spans []span) {
	text = text[:len(text)+tokenSlack]
	out = out[:len(spans)]
	for i, s := range spans {
		at := s.start + (s.end-s.start)&^7 // the last word, of 7 bytes at most
		marker := uint64(1) << ((s.end - at) * 8)
		h := binary.LittleEndian.Uint64(text[at:])&(marker-1) | marker
		for at > s.start {
			at -= 8
			h = shingles64.shift.times(h) ^ binary.LittleEndian.Uint64(text[at:])
		}
		out[i] = h
	}
}

// edgesGeneric finds the words, runs of letters and digits, at the beginning
// of src up to the first byte that is not ASCII, done bytes. It copies these to
// text, with fold, 0x20 or 0, set in every byte, and writes to edges the
// positions where a word begins and ends, in turn, base added to each; an odd
// count leaves the last word open, up to done. A kernel that knows them goes on
// over plain characters, see there. It may write edgesSlack more
// bytes of text, and edges, than there are bytes in src.
func edgesGeneric(text []byte, edges []uint32, src []byte, base uint32, fold byte) (count, done int) {
	folds := uint64(fold) * ones8
	var before uint64 // 1 if the byte before is of a word
	for done < len(src) {
		rest, to := src[done:], (*[64]byte)(text[done:])
		n := 64
		var mask, foreign uint64
		if len(rest) >= 64 {
			mask, foreign = wordMask((*[64]byte)(rest), to, folds)
		}
		if len(rest) < 64 || foreign != 0 {
			// What there is before the end, with zeros behind.
			var block [64]byte
			n = copy(block[:], rest)
			for i, c := range block[:n] {
				if c >= 0x80 {
					clear(block[i:])
					n = i
					break
				}
			}
			mask, _ = wordMask(&block, to, folds)
		}
		changes := (mask ^ (mask<<1 | before)) & (^uint64(0) >> (64 - n))
		before = mask >> 63
		list := edges[count : count+64 : count+64]
		at := base + uint32(done)
		edge := bits.OnesCount64(changes)
		count += edge
		// Four at a time, the last of them perhaps for nothing: a loop whose
		// end is easier to foresee.
		for i := 0; i < edge; i += 4 {
			four := (*[4]uint32)(list[i&63:])
			for j := range four {
				four[j] = at + uint32(bits.TrailingZeros64(changes))
				changes &= changes - 1
			}
		}
		if done += n; n < 64 {
			break
		}
	}
	return count, done
}

// wordMask copies a block of text with its case folded, and returns which of
// its bytes are ASCII letters or digits, and the high bits of those not ASCII.
func wordMask(from, to *[64]byte, folds uint64) (mask, foreign uint64) {
	for i := 0; i < 64; i += 8 {
		w := binary.LittleEndian.Uint64(from[i : i+8])
		foreign |= w & highs8
		binary.LittleEndian.PutUint64(to[i:i+8], w|folds)
		// The high bits of the bytes, multiplied together in the top one.
		mask |= wordBytes(w) >> 7 * 0x0102040810204080 >> 56 << i
	}
	return mask, foreign
}

const (
	ones8  = 0x0101010101010101
	highs8 = 0x8080808080808080
)

// wordBytes sets the high bit of each byte of w that is an ASCII letter or
// digit. Adding 0x80-x to a byte below 0x80 sets its high bit from x on.
func wordBytes(w uint64) uint64 {
	low := w &^ highs8
	letter := low | 0x20*ones8
	letter = (letter + (0x80-'a')*ones8) &^ (letter + (0x7f-'z')*ones8)
	digit := (low + (0x80-'0')*ones8) &^ (low + (0x7f-'9')*ones8)
	return (letter | digit) & highs8 &^ w
}

// cutGeneric writes 8 bits of each slot.
func cutGeneric(out []byte, slots []uint64) {
	out = out[:len(slots)]
	for i, v := range slots {
		out[i] = byte(cut(v, 8))
	}
}

// differingGeneric counts the slots of b bits that differ between two samples
// of as many bytes, whose spare bits are equal.
func differingGeneric(p, q []byte, b int) int {
	differ := 0
	if b == 64 {
		for len(p) >= 8 && len(q) >= 8 {
			v := binary.NativeEndian.Uint64(p) ^ binary.NativeEndian.Uint64(q)
			differ += int((v | -v) >> 63)
			p, q = p[8:], q[8:]
		}
		return differ
	}
	for len(p) >= 8 && len(q) >= 8 {
		differ += differing(binary.NativeEndian.Uint64(p)^binary.NativeEndian.Uint64(q), b)
		p, q = p[8:], q[8:]
	}
	for i := range p {
		differ += differing(uint64(p[i]^q[i]), b)
	}
	return differ
}

// featureGeneric writes to out the features of the groups of s slots: those of
// a sample in memory, or the stored ones when order is bigEndian.
func featureGeneric(out []uint64, slots []byte, s int, order slotOrder) {
	shift := features64.shift
	read := func(b []byte) uint64 {
		if order == bigEndian {
			return binary.BigEndian.Uint64(b)
		}
		return binary.NativeEndian.Uint64(b)
	}
	// Two groups side by side, see shingleGeneric; the last one twice if need be.
	for g := 0; g < len(out); g += 2 {
		next := min(g+1, len(out)-1)
		a, b := slots[8*g*s:][:8*s], slots[8*next*s:][:8*s]
		x, y := uint64(g+1), uint64(next+1)
		for len(a) >= 8 && len(b) >= 8 {
			x, y = shift.times(x)^read(a), shift.times(y)^read(b)
			a, b = a[8:], b[8:]
		}
		out[g], out[next] = shift.times(x), shift.times(y)
	}
}

// A slotOrder is the order of the bytes of a slot.
type slotOrder int

const (
	nativeEndian slotOrder = iota
	bigEndian
)

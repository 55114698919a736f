// Package kernel has the hot loops of package sketch, and the constants and the
// arithmetic that they share: Rabin's fingerprints by table, mixing, permutations.
//
// Each loop is here in plain Go, nameGeneric, with what it does. Callers call Name,
// which chooses at run time the form that the processor does fastest; every form
// gives the same bits. The build tag purego leaves the plain one alone.
package kernel

import (
	"encoding/binary"
	"math/bits"
)

// shingleGeneric writes the shingles of tokens to out; len(out) = len(tokens)-w+1.
func shingleGeneric(win *Window, tokens, out []uint64) {
	// Each shingle waits for the one before it: two halves wait side by side.
	w, half := win.w, len(out)/2
	if half == 0 {
		out[0] = ShingleOf(tokens)
		return
	}
	low, high := ShingleOf(tokens[:w]), ShingleOf(tokens[half:half+w])
	out[0], out[half] = low, high
	a, b := tokens[:half-1], tokens[half:]
	nextA, nextB := tokens[w:][:len(a)], tokens[half+w:][:len(a)]
	outA, outB := out[1:][:len(a)], out[half+1:][:len(a)]
	b = b[:len(a)]
	shift, leave := Shingles64.Shift, win.out
	for i, oldest := range a {
		// low and high are padded: the sum before, moved on by one word.
		low = shift.Times(low ^ leave.Times(oldest) ^ nextA[i])
		high = shift.Times(high ^ leave.Times(b[i]) ^ nextB[i])
		outA[i], outB[i] = low, high
	}
	if len(out)%2 != 0 {
		i := len(out) - 1
		out[i] = shift.Times(high ^ leave.Times(tokens[i-1]) ^ tokens[i-1+w])
	}
}

// minimaGeneric lowers m[i] to the smallest a[i]·x+b[i] mod 2^64 over xs.
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
		a0, b0, m0 := a[i], b[i], m[i]
		for _, x := range xs {
			m0 = min(m0, a0*x+b0)
		}
		m[i] = m0
	}
}

// A slot of fast has the number of its round at its top; a slot that no round has
// reached is of the fallback.
const (
	FastRounds    = 3
	roundShift    = 62 // of the round's number in a slot
	fallbackBound = FastRounds << roundShift
)

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
		open = countFrom(m, round)
		return open, open < len(m)/8
	}
	// A long document whose first piece has filled all bins.
	return len(m), values > 4*len(m) && countFrom(m, 1) == 0
}

// countGeneric counts the slots of the round and of later ones, without a branch.
func countGeneric(m []uint64, round int) int {
	n, bound := len(m), uint64(round)<<roundShift
	for _, v := range m {
		_, less := bits.Sub64(v, bound, 0)
		n -= int(less)
	}
	return n
}

// fallbackGeneric lowers the slots of m that are at least fallbackBound, those
// that no round has filled, to fallbackBound | h>>2, h being the minimum of
// their own permutation a·x+b over xs.
func fallbackGeneric(m, a, b, xs []uint64, own *OwnMinima) {
	if 10*len(xs) < len(m) {
		// Most slots are open: the minima of all take less than moving those together.
		all := own.m[:len(m)]
		FillEmpty(all)
		Minima(all, a, b, xs)
		for i, v := range all {
			m[i] = min(m[i], fallbackBound|v>>2)
		}
		return
	}
	n := 0
	for i, v := range m {
		own.slot[n] = i
		_, less := bits.Sub64(v, fallbackBound, 0)
		n += 1 - int(less)
	}
	for j, i := range own.slot[:n] {
		own.m[j], own.a[j], own.b[j] = EmptySlot, a[i], b[i]
	}
	Minima(own.m[:n], own.a, own.b, xs)
	for j, i := range own.slot[:n] {
		m[i] = min(m[i], fallbackBound|own.m[j]>>2)
	}
}

// roundsGeneric lowers m by every round of fast in turn and by the fallback, as
// far as there are open bins. It may say that the first round has filled all:
// for more values of the same document that round alone is then enough.
func roundsGeneric(m, a, b, xs []uint64, own *OwnMinima) (full bool) {
	Bins(m, xs, 0)
	for round := 1; round < FastRounds; round++ {
		// A later round cannot lower a slot that has a value of an earlier one.
		if Bins(m, xs, round) == 0 {
			return round == 1
		}
	}
	fallbackKernel(m, a, b, xs, own)
	return false
}

// OwnMinima is the room of Fallback: the open slots, and their minima and
// permutations side by side.
type OwnMinima struct {
	slot    []int
	m, a, b []uint64
}

func NewOwnMinima(t int) *OwnMinima {
	room := func() []uint64 { return make([]uint64, t+8) } // open512 writes in eights
	return &OwnMinima{make([]int, t), room(), room(), room()}
}

// A Span is the place of a token in a text.
type Span struct{ Start, End uint32 }

// fingerprintGeneric writes the fingerprints of the tokens of text. There are
// TokenSlack bytes of capacity behind the text.
func fingerprintGeneric(out []uint64, text []byte, spans []Span) {
	text = text[:len(text)+TokenSlack]
	out = out[:len(spans)]
	for i, s := range spans {
		at := s.Start + (s.End-s.Start)&^7 // the last word, of 7 bytes at most
		marker := uint64(1) << ((s.End - at) * 8)
		h := binary.LittleEndian.Uint64(text[at:])&(marker-1) | marker
		for at > s.Start {
			at -= 8
			h = Shingles64.Shift.Times(h) ^ binary.LittleEndian.Uint64(text[at:])
		}
		out[i] = h
	}
}

// EdgesSlack is how many bytes and edges past the source Edges may write.
const EdgesSlack = 64

// TokenSlack is how many bytes behind the last token Fingerprints may read.
const TokenSlack = 16

// edgesGeneric finds the words, runs of letters and digits, at the beginning
// of src up to the first byte that is not ASCII, done bytes. It copies these to
// text, with fold, 0x20 or 0, set in every byte, and writes to edges the
// positions where a word begins and ends, in turn, base added to each; an odd
// count leaves the last word open, up to done. A kernel that knows them goes on
// over plain characters, see there. It may write EdgesSlack more
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

// spacedGeneric copies the ASCII at the beginning of src to out as table has it,
// which has a blank for what separates words and 0 for what is not ASCII, but of
// blanks in a row the first only, and none at the beginning where there is a blank
// before. It returns how many bytes it has written, perhaps EdgesSlack fewer than it has
// spoiled, and read.
func spacedGeneric(out, src []byte, table *[256]byte, blank bool) (n, done int) {
	last := byte(0)
	if blank {
		last = ' '
	}
	out = out[:len(src)]
	for i, c := range src {
		c = table[c]
		if c == 0 {
			return n, i
		}
		out[n] = c
		n += int((uint32(c^' '|last^' ') + 0xff) >> 8)
		last = c
	}
	return n, len(src)
}

// CharacterSlack is how many fingerprints past the last Characters may write.
const CharacterSlack = 8

// characterMasks have the bytes of a character by the first of them, and
// characterMarkers the marker above these; see TokenFingerprint.
var characterMasks, characterMarkers, characterSizes = func() (masks, markers [256]uint64, sizes [256]uint8) {
	for c := range masks {
		n := 1
		for n < 4 && c >= 0x80 && c<<n&0x80 != 0 {
			n++
		}
		masks[c], markers[c], sizes[c] = 1<<(8*n)-1, 1<<(8*n), uint8(n)
	}
	return masks, markers, sizes
}()

// charactersGeneric writes the fingerprints of the characters of text, which is
// UTF-8 with TokenSlack bytes of capacity behind it, and returns how many there are.
func charactersGeneric(out []uint64, text []byte) (count int) {
	end := len(text)
	text = text[:end+TokenSlack]
	for i := 0; i < end; {
		w := binary.LittleEndian.Uint64(text[i:])
		if w&Highs8 != 0 {
			c := byte(w)
			out[count] = w&characterMasks[c] | characterMarkers[c]
			i += int(characterSizes[c])
			count++
			continue
		}
		eight := (*[8]uint64)(out[count:])
		for j := range eight {
			eight[j] = w>>(8*j)&0xff | 0x100
		}
		count += min(8, end-i)
		i += 8
	}
	return count
}

// A PlainTable says which characters of two bytes are plain: those that keep
// two bytes in canonical text, combine with nothing before them, and are either
// of a word or separate words. By the first byte less 0xC0, and the low bits of
// the second, it has the second byte of the canonical form, 0 if the character
// is not plain, and the first one, 0 if it separates. Last are the characters
// from U+2000 to U+203F that separate.
type PlainTable struct {
	Two         [32][2][64]byte
	Punctuation [64]byte
}

// wordMask copies a block of text with its case folded, and returns which of
// its bytes are ASCII letters or digits, and the high bits of those not ASCII.
func wordMask(from, to *[64]byte, folds uint64) (mask, foreign uint64) {
	for i := 0; i < 64; i += 8 {
		w := binary.LittleEndian.Uint64(from[i : i+8])
		foreign |= w & Highs8
		binary.LittleEndian.PutUint64(to[i:i+8], w|folds)
		// The high bits of the bytes, multiplied together in the top one.
		mask |= WordBytes(w) >> 7 * 0x0102040810204080 >> 56 << i
	}
	return mask, foreign
}

const (
	ones8  = 0x0101010101010101
	Highs8 = 0x8080808080808080
)

// WordBytes sets the high bit of each byte of w that is an ASCII letter or
// digit. Adding 0x80-x to a byte below 0x80 sets its high bit from x on.
func WordBytes(w uint64) uint64 {
	low := w &^ Highs8
	letter := low | 0x20*ones8
	letter = (letter + (0x80-'a')*ones8) &^ (letter + (0x7f-'z')*ones8)
	digit := (low + (0x80-'0')*ones8) &^ (low + (0x7f-'9')*ones8)
	return (letter | digit) & Highs8 &^ w
}

// cutGeneric writes 8 bits of each slot.
func cutGeneric(out []byte, slots []uint64) {
	out = out[:len(slots)]
	for i, v := range slots {
		out[i] = byte(Cut(v, 8))
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

// differing counts the groups of b bits of v, b dividing 8, that are not zero.
func differing(v uint64, b int) int {
	switch b {
	case 8:
		v |= v >> 4 & 0x0f0f0f0f0f0f0f0f
		v |= v >> 2 & 0x3333333333333333
		v |= v >> 1
		return bits.OnesCount64(v & 0x0101010101010101)
	case 4:
		v |= v >> 2 & 0x3333333333333333
		v |= v >> 1
		return bits.OnesCount64(v & 0x1111111111111111)
	case 2:
		return bits.OnesCount64((v | v>>1) & 0x5555555555555555)
	}
	return bits.OnesCount64(v)
}

// featureGeneric writes to out the features of the groups of s slots: those of
// a sample in memory, or the stored ones when order is bigEndian.
func featureGeneric(out []uint64, slots []byte, s int, order SlotOrder) {
	shift := Features64.Shift
	read := func(b []byte) uint64 {
		if order == BigEndian {
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
			x, y = shift.Times(x)^read(a), shift.Times(y)^read(b)
			a, b = a[8:], b[8:]
		}
		out[g], out[next] = shift.Times(x), shift.Times(y)
	}
}

// A SlotOrder is the order of the bytes of a slot.
type SlotOrder int

const (
	NativeEndian SlotOrder = iota
	BigEndian
)

// An implementation is a way to run the kernels, for tests and benchmarks.
type implementation struct {
	Name   string
	choose func()
}

// Each runs f with each implementation that this machine has, for tests and
// benchmarks; nothing else may use the kernels meanwhile.
func Each(f func(name string)) {
	all := Implementations()
	defer all[0].choose()
	for _, i := range all {
		i.choose()
		f(i.Name)
	}
}

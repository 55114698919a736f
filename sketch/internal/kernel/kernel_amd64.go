//go:build !purego

package kernel

import "unsafe"

// Minima is minimaGeneric, see there.
func Minima(m, a, b, xs []uint64) {
	if len(xs) == 0 || len(m) == 0 {
		return
	}
	a, b = a[:len(m)], b[:len(m)]
	switch {
	case useAVX512:
		// Blocks of at most 88 slots, as equal as whole registers allow.
		blocks := (len(m) + 87) / 88
		for ; len(m) > 0; blocks-- {
			n := min(((len(m)+blocks-1)/blocks+7)&^7, len(m))
			low, high := ^uint64(0), uint64(0)
			if n <= 64 {
				low >>= 64 - n
			} else {
				high = 1<<(n-64) - 1
			}
			minima512(&m[0], &a[0], &b[0], low, high, &xs[0], len(xs))
			m, a, b = m[n:], a[n:], b[n:]
		}
	case useAVX2:
		for ; len(m) >= 14; m, a, b = m[14:], a[14:], b[14:] {
			minima256(&m[0], &a[0], &b[0], &xs[0], len(xs), 12)
		}
		if n := len(m); n > 0 {
			first := 12
			if n <= 6 {
				first = 4
			}
			head := min(first, n)
			var pad [3][14]uint64
			for i, s := range [][]uint64{m, a, b} {
				copy(pad[i][:], s[:head])
				copy(pad[i][12:], s[head:n])
			}
			minima256(&pad[0][0], &pad[1][0], &pad[2][0], &xs[0], len(xs), first)
			copy(m[:head], pad[0][:])
			copy(m[head:], pad[0][12:])
		}
	default:
		minimaGeneric(m, a, b, xs)
	}
}

//go:noescape
func minima512(m, a, b *uint64, low, high uint64, x *uint64, n int)

//go:noescape
func minima256(m, a, b *uint64, x *uint64, n, first int)

// The longest shingles that are cheaper summed anew than slid by one token.
const (
	maxDirect512 = 24
	maxDirect128 = 5
)

func shingleKernel(win *Window, tokens, out []uint64) {
	n := len(out)
	switch {
	case useAVX512Bytes && n > 0 && win.w <= maxDirect512:
		shingle512(&out[0], &tokens[0], &win.coef[0], win.w, n, ShinglePolynomial.Low, shingleReciprocal)
	case useAVX2 && n > 1 && win.w <= maxDirect128:
		shingle128(&out[0], &tokens[0], &win.coef[0], win.w, n, ShinglePolynomial.Low, shingleReciprocal)
	default:
		shingleGeneric(win, tokens, out)
	}
}

//go:noescape
func shingle512(out, tokens, coef *uint64, w, n int, p, mu uint64)

//go:noescape
func shingle128(out, tokens, coef *uint64, w, n int, p, mu uint64)

func Fingerprints(out []uint64, text []byte, spans []Span) {
	if !useAVX2 {
		fingerprintGeneric(out, text, spans)
		return
	}
	var long [32]uint32
	for len(spans) > 0 {
		var n, longs int
		if useAVX512Bytes {
			n, longs = fingerprints512(&out[0], unsafe.SliceData(text), &spans[0], len(spans), &long, ShinglePolynomial.Low, shingleReciprocal)
		} else {
			n, longs = fingerprints128(&out[0], unsafe.SliceData(text), &spans[0], len(spans), &tokenMasks, &long, ShinglePolynomial.Low, shingleReciprocal)
		}
		for _, i := range long[:longs] {
			out[i] = TokenFingerprint(text[spans[i].Start:spans[i].End])
		}
		out, spans = out[n:], spans[n:]
	}
}

//go:noescape
func fingerprints512(out *uint64, text *byte, spans *Span, n int, long *[32]uint32, p, mu uint64) (done, longs int)

//go:noescape
func fingerprints128(out *uint64, text *byte, spans *Span, n int, masks *[32][16]byte, long *[32]uint32, p, mu uint64) (done, longs int)

// KnowsPlain reports whether Edges knows plain characters.
func KnowsPlain() bool { return useAVX512Bytes }

func Edges(text []byte, edges []uint32, src []byte, base uint32, fold byte, plain *PlainTable) (count, done int) {
	switch {
	case len(src) == 0:
		return 0, 0
	case useAVX512Bytes:
		return edges512(&text[0], &edges[0], &src[0], len(src), uint64(base), uint64(fold), plain)
	case !useAVX2:
		return edgesGeneric(text, edges, src, base, fold)
	}
	return edgesInBlocks(text, edges, src, base, fold)
}

func edgesOfBlocks(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int) {
	return edges256(text, edges, src, blocks, base, fold, carry)
}

//go:noescape
func edges512(text *byte, edges *uint32, src *byte, n int, base, fold uint64, plain *PlainTable) (count, done int)

//go:noescape
func edges256(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int)

func Spaced(out, src []byte, table *[256]byte, blank bool) (n, done int) {
	if !useAVX512Bytes || len(src) == 0 {
		return spacedGeneric(out, src, table, blank)
	}
	before := uint64(0)
	if blank {
		before = 1
	}
	_ = out[len(src)+EdgesSlack-1]
	return spaced512(&out[0], &src[0], len(src), &table[0], before)
}

//go:noescape
func spaced512(out, src *byte, n int, table *byte, blank uint64) (count, done int)

func countFrom(m []uint64, round int) int { return countGeneric(m, round) }

func Characters(out []uint64, text []byte) int { return charactersGeneric(out, text) }

func Bins(m, xs []uint64, round int) int {
	if len(xs) == 0 || !useAVX512Bytes && !useAVX2 {
		return binsGeneric(m, xs, round)
	}
	t, first, tag := uint64(len(m)), mixMultiplier(round), uint64(round)<<roundShift
	if !useAVX512Bytes || len(m) > maxSieve {
		open, few := binsOpen(m, len(xs), round)
		switch {
		case open == 0:
		case useAVX512Bytes:
			bins512(&m[0], t, &xs[0], len(xs), first, mixSecond, tag, 0)
		case few:
			binsFew64(&m[0], t, &xs[0], len(xs), first, mixSecond, tag)
		default:
			bins64(&m[0], t, &xs[0], len(xs), first, mixSecond, tag)
		}
		return open
	}
	// A new document fills the bins with its first values; after them, and in
	// the later rounds, only some of many values are of use.
	sieve, piece := 0, 2*len(m)
	if round > 0 || m[0] != EmptySlot {
		sieve, piece = 1, len(xs)
		if len(xs) > 64 {
			sieve = 2
		}
	}
	for len(xs) > 0 {
		n := min(piece, len(xs))
		open := bins512(&m[0], t, &xs[0], n, first, mixSecond, tag, sieve)
		if round > 0 {
			return open
		}
		xs, piece, sieve = xs[n:], 2*piece, 2
	}
	return len(m)
}

// maxSieve is how many bins bins512 has a sieve for.
const maxSieve = 256

//go:noescape
func bins512(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64, sieve int) (open int)

//go:noescape
func bins64(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64)

//go:noescape
func binsFew64(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64)

// The most values that are quicker taken through all rounds at once, and the most
// bins of short512.
const (
	maxShort     = 128
	maxShortBins = 256
)

func Rounds(m, a, b, xs []uint64, own *OwnMinima) (full bool) {
	if !useAVX512Bytes || len(xs) == 0 || len(xs) > maxShort || len(m) > maxShortBins {
		return roundsGeneric(m, a, b, xs, own)
	}
	a, b = a[:len(m)], b[:len(m)]
	short512(&m[0], uint64(len(m)), &xs[0], len(xs), &a[0], &b[0], mixFirst, mixSecond, mixStep)
	return false
}

//go:noescape
func short512(m *uint64, t uint64, x *uint64, n int, a, b *uint64, first, second, step uint64)

func fallbackKernel(m, a, b, xs []uint64, own *OwnMinima) {
	if !useAVX512 {
		fallbackGeneric(m, a, b, xs, own)
		return
	}
	n := open512(&own.a[0], &own.b[0], &m[0], &a[0], &b[0], uint64(len(m)), fallbackBound)
	if n > 0 {
		FillEmpty(own.m[:n])
		Minima(own.m[:n], own.a, own.b, xs)
		close512(&m[0], &own.m[0], uint64(len(m)), fallbackBound)
	}
}

//go:noescape
func open512(ownA, ownB, m, a, b *uint64, t, bound uint64) (n int)

//go:noescape
func close512(m, own *uint64, t, bound uint64)

func CutBytes(out []byte, slots []uint64) {
	if !useAVX512 || len(slots) == 0 {
		cutGeneric(out, slots)
		return
	}
	out = out[:len(slots)]
	cut512(&out[0], &slots[0], len(slots), cutMultiplier)
}

//go:noescape
func cut512(out *byte, slots *uint64, n int, multiplier uint64)

func Differing(p, q []byte, b int) int {
	if !useAVX2 || len(p) < 32 || b < 8 {
		return differingGeneric(p, q, b)
	}
	if b == 8 {
		return len(p) - equalBytes256(&p[0], &q[0], len(p))
	}
	return len(p)/8 - equalWords256(&p[0], &q[0], len(p))
}

//go:noescape
func equalBytes256(p, q *byte, n int) int

//go:noescape
func equalWords256(p, q *byte, n int) int

func Features(out []uint64, slots []byte, s int, order SlotOrder) {
	k, coef := len(out), &featurePowers[maxS-s]
	slots = slots[:8*k*s]
	switch {
	case useAVX512Bytes:
		features512(&out[0], &slots[0], k, s, coef, &slotShuffles[order], FeaturePolynomial.Low, featureReciprocal)
	case useAVX2:
		features128(&out[0], &slots[0], k, s, coef, &slotShuffles[order], FeaturePolynomial.Low, featureReciprocal)
	default:
		featureGeneric(out, slots, s, order)
	}
}

// slotShuffles bring the bytes of slots, 8 at a time, into the machine's order.
var slotShuffles = func() (tables [2][64]byte) {
	for i := range 64 {
		tables[NativeEndian][i] = byte(i & 15)
		tables[BigEndian][i] = byte(i&15 ^ 7)
	}
	return tables
}()

//go:noescape
func features512(out *uint64, slots *byte, k, s int, coef *uint64, order *[64]byte, p, mu uint64)

//go:noescape
func features128(out *uint64, slots *byte, k, s int, coef *uint64, order *[64]byte, p, mu uint64)

// Implementations are the ways this machine can run the kernels, the best
// first, and how to choose one. What chooses must not run beside anything else.
func Implementations() []implementation {
	avx2, avx512, avx512Bytes := detectCPU()
	set := func(a, b, c bool) func() { return func() { useAVX2, useAVX512, useAVX512Bytes = a, b, c } }
	var list []implementation
	if avx512Bytes {
		list = append(list, implementation{"avx512", set(true, true, true)})
	}
	if avx512 {
		list = append(list, implementation{"avx512f", set(true, true, false)})
	}
	if avx2 {
		list = append(list, implementation{"avx2", set(true, false, false)})
	}
	return append(list, implementation{"generic", set(false, false, false)})
}

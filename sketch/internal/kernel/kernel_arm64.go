//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// usePMULL is whether the processor multiplies without carries, as all of the
// clouds and of Apple do.
var usePMULL = cpu.ARM64.HasPMULL

// useNEON is false where tests run the plain loops: every arm64 has NEON.
var useNEON = true

// maxDirectNEON is the longest shingle that is cheaper summed anew than slid by one token.
const maxDirectNEON = 5

func shingleKernel(win *Window, tokens, out []uint64) {
	if n := len(out); usePMULL && n > 1 && win.w <= maxDirectNEON {
		shingleNEON(&out[0], &tokens[0], &win.coef[0], win.w, n, ShinglePolynomial.Low, shingleReciprocal)
		return
	}
	shingleGeneric(win, tokens, out)
}

//go:noescape
func shingleNEON(out, tokens, coef *uint64, w, n int, p, mu uint64)

func Fingerprints(out []uint64, text []byte, spans []Span) {
	if !usePMULL {
		fingerprintGeneric(out, text, spans)
		return
	}
	for len(spans) > 0 {
		n := fingerprintsNEON(&out[0], unsafe.SliceData(text), &spans[0], len(spans), &tokenMasks, ShinglePolynomial.Low, shingleReciprocal)
		if n < len(spans) { // a long one
			out[n] = TokenFingerprint(text[spans[n].Start:spans[n].End])
			n++
		}
		out, spans = out[n:], spans[n:]
	}
}

//go:noescape
func fingerprintsNEON(out *uint64, text *byte, spans *Span, n int, masks *[32][16]byte, p, mu uint64) (done int)

func Features(out []uint64, slots []byte, s int, order SlotOrder) {
	k := len(out)
	if k == 0 || !usePMULL {
		featureGeneric(out, slots, s, order)
		return
	}
	_ = slots[8*k*s-1]
	featuresNEON(&out[0], &slots[0], k, s, &featurePowers[maxS-s], uint64(order), FeaturePolynomial.Low, featureReciprocal)
}

//go:noescape
func featuresNEON(out *uint64, slots *byte, k, s int, coef *uint64, order uint64, p, mu uint64)

func Edges(text []byte, edges []uint32, src []byte, base uint32, fold byte, _ *PlainTable) (count, done int) {
	if !useNEON {
		return edgesGeneric(text, edges, src, base, fold)
	}
	return edgesInBlocks(text, edges, src, base, fold)
}

func edgesOfBlocks(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int) {
	return edgesNEON(text, edges, src, blocks, base, fold, carry)
}

//go:noescape
func edgesNEON(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int)

func Bins(m, xs []uint64, round int) int {
	if !useNEON || len(xs) == 0 {
		return binsGeneric(m, xs, round)
	}
	open, few := binsOpen(m, len(xs), round)
	switch {
	case open == 0:
	case few:
		binsFewNEON(&m[0], uint64(len(m)), &xs[0], len(xs), mixMultiplier(round), mixSecond, uint64(round))
	default:
		binsNEON(&m[0], uint64(len(m)), &xs[0], len(xs), mixMultiplier(round), mixSecond, uint64(round))
	}
	return open
}

//go:noescape
func binsNEON(m *uint64, t uint64, x *uint64, n int, first, second, round uint64)

//go:noescape
func binsFewNEON(m *uint64, t uint64, x *uint64, n int, first, second, round uint64)

func countFrom(m []uint64, round int) (count int) {
	if eights := len(m) &^ 7; useNEON && eights > 0 {
		count = countNEON(&m[0], eights, uint64(round))
		m = m[eights:]
	}
	return count + countGeneric(m, round)
}

//go:noescape
func countNEON(m *uint64, n int, round uint64) (count int)

func Minima(m, a, b, xs []uint64) {
	a, b = a[:len(m)], b[:len(m)]
	for ; useNEON && len(m) >= 7 && len(xs) > 0; m, a, b = m[7:], a[7:], b[7:] {
		minimaNEON(&m[0], &a[0], &b[0], &xs[0], len(xs))
	}
	minimaGeneric(m, a, b, xs)
}

//go:noescape
func minimaNEON(m, a, b, x *uint64, n int)

func fallbackKernel(m, a, b, xs []uint64, own *OwnMinima) { fallbackGeneric(m, a, b, xs, own) }

func Rounds(m, a, b, xs []uint64, own *OwnMinima) (full bool) {
	return roundsGeneric(m, a, b, xs, own)
}

func KnowsPlain() bool { return false }

func Spaced(out, src []byte, table *[256]byte, blank bool) (n, done int) {
	return spacedGeneric(out, src, table, blank)
}

func Characters(out []uint64, text []byte) int { return charactersGeneric(out, text) }

func CutBytes(out []byte, slots []uint64) { cutGeneric(out, slots) }

func Differing(p, q []byte, b int) int { return differingGeneric(p, q, b) }

// Implementations are the ways this machine can run the kernels, the best
// first, and how to choose one. What chooses must not run beside anything else.
func Implementations() []implementation {
	return []implementation{
		{"neon", func() { useNEON, usePMULL = true, cpu.ARM64.HasPMULL }},
		{"generic", func() { useNEON, usePMULL = false, false }},
	}
}

//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// usePMULL is whether the processor multiplies without carries, as all of the
// clouds and of Apple do.
var usePMULL = cpu.ARM64.HasPMULL

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

// Implementations are the ways this machine can run the kernels, the best
// first, and how to choose one. What chooses must not run beside anything else.
func Implementations() []implementation {
	list := []implementation{{"generic", func() { usePMULL = false }}}
	if cpu.ARM64.HasPMULL {
		list = append([]implementation{{"neon", func() { usePMULL = true }}}, list...)
	}
	return list
}

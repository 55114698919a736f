//go:build !purego

package sketch

// minimaKernel is minimaGeneric, see there.
func minimaKernel(m, a, b, xs []uint64) {
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
		for ; len(m) >= 12; m, a, b = m[12:], a[12:], b[12:] {
			minima256(&m[0], &a[0], &b[0], &xs[0], len(xs))
		}
		if len(m) > 0 {
			var pad [3][12]uint64
			copy(pad[0][:], m)
			copy(pad[1][:], a)
			copy(pad[2][:], b)
			minima256(&pad[0][0], &pad[1][0], &pad[2][0], &xs[0], len(xs))
			copy(m, pad[0][:])
		}
	default:
		minimaGeneric(m, a, b, xs)
	}
}

//go:noescape
func minima512(m, a, b *uint64, low, high uint64, x *uint64, n int)

//go:noescape
func minima256(m, a, b *uint64, x *uint64, n int)

func shingleKernel(win *window, tokens, out []uint64) { shingleGeneric(win, tokens, out) }

func binsKernel(m, xs []uint64, round int) { binsGeneric(m, xs, round) }

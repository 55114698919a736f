package sketch

// The hot loops, each in plain Go here, nameGeneric, with what it does. The
// code calls nameKernel, which chooses at run time the form that the processor
// does fastest; every form gives the same bits. The build tag purego leaves the
// plain one alone.

// shingleSlack is how many values past the count a kernel may write.
const shingleSlack = 8

// shingleGeneric writes the shingles of tokens to out; len(out) = len(tokens)-w+1.
func shingleGeneric(win *window, tokens, out []uint64) {
	w := win.w
	h := shingleOf(tokens[:w])
	out[0] = h
	for i, oldest := range tokens[:len(tokens)-w] {
		// h is padded: the sum before it, moved on by one word.
		h = shingles64.shift.times(h ^ win.out.times(oldest) ^ tokens[w+i])
		out[i+1] = h
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
// its mix of that round and bin the upper half of h scaled to len(m).
func binsGeneric(m, xs []uint64, round int) {
	t := uint64(len(m))
	tag := uint64(round) << 62
	for _, x := range xs {
		h := mixRound(x, round)
		bin := h >> 32 * t >> 32
		m[bin] = min(m[bin], tag|h>>2)
	}
}

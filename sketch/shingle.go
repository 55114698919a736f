package sketch

// A window turns token fingerprints into shingle fingerprints. The shingle of
// the tokens f1 … fw is
//
//	f1·t^(64w) + f2·t^(64(w-1)) + … + fw·t^64  mod P
//
// The last power is not 1: the shingle is padded by one null word, as Broder
// 1997, section 4.1, advises, because without it shingles that differ in their
// last letter differ in their last bits alone. Sliding by one token needs the
// padded value anyway: S' = S + f(w+1) - f1·t^(64w) before padding.
type window struct {
	w    int
	out  *multiplier // by t^(64w): takes the oldest token out
	coef []uint64    // t^(64w) … t^64
}

func newWindow(w int) *window {
	win := &window{w: w, out: newMultiplier(shinglePolynomial, shingles64.wordPower(w))}
	for j := range w {
		win.coef = append(win.coef, shingles64.wordPower(w-j))
	}
	return win
}

// append adds to dst the shingles of tokens, len(tokens)-w+1 of them, or one
// of all the tokens there are when short is set and they are fewer than w.
func (win *window) append(dst, tokens []uint64, short bool) []uint64 {
	if len(tokens) < win.w {
		if short && len(tokens) > 0 {
			dst = append(dst, shingleOf(tokens))
		}
		return dst
	}
	n := len(dst)
	count := len(tokens) - win.w + 1
	dst = grow(dst, n+count)
	shingleKernel(win, tokens, dst[n:])
	return dst
}

// shingleOf is the definition: the fingerprint of all the tokens as one shingle.
func shingleOf(tokens []uint64) uint64 {
	var h uint64
	for _, f := range tokens {
		h = shingles64.shift.times(h ^ f)
	}
	return h
}

// grow returns s with room for n elements and the length n.
func grow(s []uint64, n int) []uint64 {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]uint64, n-cap(s))...)
	}
	return s[:n]
}

// A labeller gives the shingles of a bag their occurrence numbers (option A of
// Broder 1997, section 2): the n-th x becomes (x·t^128 + n·t^64) mod another
// polynomial, so that the labels of one shingle do not depend on each other.
type labeller map[uint64]uint64

func (l labeller) label(x []uint64) {
	for i, v := range x {
		n := l[v] + 1
		l[v] = n
		x[i] = occurrence(v, n)
	}
}

func occurrence(x, n uint64) uint64 {
	return labels64.shift.times(labels64.shift.times(x) ^ n)
}

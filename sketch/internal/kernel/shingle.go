package kernel

// A Window turns token fingerprints into shingle fingerprints. The shingle of
// the tokens f1 … fw is
//
//	f1·t^(64w) + f2·t^(64(w-1)) + … + fw·t^64  mod P
//
// The last power is not 1: the shingle is padded by one null word, as Broder
// 1997, section 4.1, advises, because without it shingles that differ in their
// last letter differ in their last bits alone. Sliding by one token needs the
// padded value anyway: S' = S + f(w+1) - f1·t^(64w) before padding.
type Window struct {
	w    int
	out  *multiplier // by t^(64w): takes the oldest token out
	coef []uint64    // t^(64w) … t^64
}

func NewWindow(w int) *Window {
	win := &Window{w: w, out: newMultiplier(ShinglePolynomial, Shingles64.wordPower(w))}
	for j := range w {
		win.coef = append(win.coef, Shingles64.wordPower(w-j))
	}
	return win
}

// Append adds to dst the shingles of tokens, len(tokens)-w+1 of them, or one
// of all the tokens there are when short is set and they are fewer than w.
func (win *Window) Append(dst, tokens []uint64, short bool) []uint64 {
	if len(tokens) < win.w {
		if short && len(tokens) > 0 {
			dst = append(dst, ShingleOf(tokens))
		}
		return dst
	}
	n := len(dst)
	count := len(tokens) - win.w + 1
	dst = Grow(dst, n+count)
	shingleKernel(win, tokens, dst[n:])
	return dst
}

// ShingleOf is the definition: the fingerprint of all the tokens as one shingle.
func ShingleOf(tokens []uint64) uint64 {
	var h uint64
	for _, f := range tokens {
		h = Shingles64.Shift.Times(h ^ f)
	}
	return h
}

// ElementShingle is the fingerprint of an element: a shingle by itself.
func ElementShingle(element []byte) uint64 {
	return Shingles64.Shift.Times(TokenFingerprint(element))
}

// Grow returns s with room for n elements and the length n.
func Grow(s []uint64, n int) []uint64 {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]uint64, n-cap(s))...)
	}
	return s[:n]
}

// A Labeller gives the shingles of a bag their occurrence numbers (option A of
// Broder 1997, section 2): the n-th x becomes (x·t^128 + n·t^64) mod another
// polynomial, so that the labels of one shingle do not depend on each other.
type Labeller map[uint64]uint64

func (l Labeller) Label(x []uint64) {
	for i, v := range x {
		n := l[v] + 1
		l[v] = n
		x[i] = Occurrence(v, n)
	}
}

func Occurrence(x, n uint64) uint64 {
	return labels64.Shift.Times(labels64.Shift.Times(x) ^ n)
}

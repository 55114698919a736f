package sketch

import (
	"errors"
	"fmt"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A Comparison is what two sketches say about two documents.
type Comparison struct {
	Matches     int     // samples in common
	Trials      int     // samples compared
	Resemblance float64 // the estimate from them
}

// A blobPair is two sketches that compare. Of the profile of y, which is that of x
// but for the bits, only the bits are sure to be set: the rest costs as much as counting.
type blobPair struct{ x, y blob }

func (p *blobPair) parse(a, b []byte) error {
	x, y := &p.x, &p.y
	if err := x.parse(a); err != nil {
		return err
	}
	// Equal headers need checking once.
	if len(a) == len(b) && [headerSize]byte(a) == [headerSize]byte(b) {
		y.Bits, y.exponent = x.Bits, x.exponent
		y.filled, y.payload = b[headerSize:][:len(x.filled)], b[len(b)-len(x.payload):]
		return nil
	}
	if err := y.parse(b); err != nil {
		return err
	}
	return x.Profile.Comparable(y.Profile)
}

// Compare counts what two sketches have in common. The estimate is that of the
// family: equal slots (Broder 2000, section 2), or the ratios of theorem 1 of
// Broder 1997; for slots of b bits, without the 2^-b that match by luck. Fewer
// matches than luck would give make 0: near 0, and with few bits, the mean of
// the estimates is therefore a little high.
func Compare(a, b []byte) (Comparison, error) {
	t, err := compare(a, b)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Matches: t.matches, Trials: t.trials}
	if t.trials > 0 {
		c.Resemblance = max(0, t.resemblance(float64(t.matches)/float64(t.trials)))
	}
	return c, nil
}

// A tally is what Compare and Bounds count.
type tally struct {
	matches int // samples that are equal
	trials  int // samples compared
	chances int // those of them that could have been equal by luck: both bins are filled
	bits    int // of each sample that were compared
}

// compare counts what two sketches have in common.
func compare(a, b []byte) (tally, error) {
	var pair blobPair
	if err := pair.parse(a, b); err != nil {
		return tally{}, err
	}
	x, y := &pair.x, &pair.y
	if !families[x.Family].slots {
		common, _, union, err := countLists(x, y)
		return tally{common, union, union, 64}, err
	}
	kept := min(x.Bits, y.Bits)
	if x.Family != Bins {
		return tally{equalSlots(x, y, kept), x.T, x.T, kept}, nil
	}
	t := tally{bits: kept}
	for i := range x.T {
		inX, inY := x.isFilled(i), y.isFilled(i)
		if inX || inY {
			t.trials++
		}
		if inX && inY {
			t.chances++
			if x.bitsOf(i, kept) == y.bitsOf(i, kept) {
				t.matches++
			}
		}
	}
	return t, nil
}

// resemblance is the resemblance at which the expected share of matches among
// the trials is the one given. Where b bits are compared, a sample that differs
// matches by luck with probability 2^-b (Li and König; Manasse's (m-32)/96 for
// 128 slots of 2 bits), unless one of its bins is empty. It may be below 0.
func (t tally) resemblance(share float64) float64 {
	if t.bits == 64 {
		return share
	}
	luck := 1 / float64(uint64(1)<<t.bits)
	return (share - float64(luck*float64(t.chances))/float64(t.trials)) / (1 - luck)
}

// bitsOf returns slot i at no more than b bits.
func (k *blob) bitsOf(i, b int) uint64 {
	switch {
	case b == k.Bits:
		return k.slot(i)
	case k.Bits == 64:
		return kernel.Cut(k.slot(i), b)
	default:
		return k.slot(i) >> (k.Bits - b)
	}
}

// equalSlots counts the slots that agree in b bits.
func equalSlots(x, y *blob, b int) int {
	if x.Bits != b || y.Bits != b {
		matches := 0
		for i := range x.T {
			if x.bitsOf(i, b) == y.bitsOf(i, b) {
				matches++
			}
		}
		return matches
	}
	return x.T - kernel.Differing(x.payload, y.payload[:len(x.payload)], b)
}

// countLists returns |A∩B|, |A| and |A∪B| of the samples, which for bottom are
// those among the s smallest of the union.
func countLists(x, y *blob) (common, inX, union int, err error) {
	xs, err := x.values()
	if err != nil {
		return 0, 0, 0, err
	}
	ys, err := y.values()
	if err != nil {
		return 0, 0, 0, err
	}
	if x.exponent < y.exponent {
		xs = coarser(xs, y.exponent)
	} else if y.exponent < x.exponent {
		ys = coarser(ys, x.exponent)
	}
	for (len(xs) > 0 || len(ys) > 0) && (x.Family != Bottom || union < x.Size) {
		union++
		switch {
		case len(ys) == 0 || len(xs) > 0 && xs[0] < ys[0]:
			inX++
			xs = xs[1:]
		case len(xs) == 0 || ys[0] < xs[0]:
			ys = ys[1:]
		default:
			inX++
			common++
			xs, ys = xs[1:], ys[1:]
		}
	}
	return common, inX, union, nil
}

// Resemblance estimates |A∩B| / |A∪B| from two stored sketches.
func Resemblance(a, b []byte) (float64, error) {
	c, err := Compare(a, b)
	return c.Resemblance, err
}

// Containment estimates |A∩B| / |A|, how much of a is in b, from two sketches
// of the family mod or scaled. ok is false when nothing of a was sampled, which
// tells nothing.
func Containment(a, b []byte) (ratio float64, ok bool, err error) {
	var pair blobPair
	if err := pair.parse(a, b); err != nil {
		return 0, false, err
	}
	x, y := &pair.x, &pair.y
	if x.Family != Mod && x.Family != Scaled {
		return 0, false, fmt.Errorf("sketch: containment needs the family mod or scaled, this sketch is %q", x.Profile)
	}
	common, inX, _, err := countLists(x, y)
	if err != nil || inX == 0 {
		return 0, false, err
	}
	return float64(common) / float64(inX), true, nil
}

// Size estimates how many distinct shingles a document has from a sketch that
// keeps whole minima; that of a union is Size of the merged sketches. The families
// weighted and lean-biased tell no size.
//
// It is exact as long as bottom, mod=1 or scaled keep everything. What is left
// over of the others are draws from exponential distributions, each of which says
// how long the smallest of n random numbers was waited for; n is their number but one,
// by the sum of the waits.
func Size(b []byte) (float64, error) {
	k, err := parse(b)
	if err != nil {
		return 0, err
	}
	if k.Family == Weighted || k.Family == LeanBiased {
		return 0, fmt.Errorf("sketch: the family %s tells no size, this sketch is %q", k.Family, k.Profile)
	}
	if k.Slots() {
		slots, err := k.fullSlots("size")
		if err != nil {
			return 0, err
		}
		if k.T == 1 { // one value's estimate has no mean
			return 0, fmt.Errorf("sketch: size needs at least two values, this sketch is %q", k.Profile)
		}
		return slotsSize(k.Family, slots), nil
	}
	values, err := k.values()
	if err != nil {
		return 0, err
	}
	n, m := float64(len(values)), float64(max(k.Modulus, 1))
	if k.Family == Bottom && len(values) == k.Size {
		if k.Size == 1 {
			return 0, fmt.Errorf("sketch: size needs at least two values, this sketch is %q", k.Profile)
		}
		// The s-th least of N random numbers lies at about s/(N+1) of the range,
		// and (s-1)/that is N on average; N counts the multiples of m alone.
		return (n - 1) / (float64(values[len(values)-1]) / (1 << 64)) * m, nil
	}
	return n * m * float64(uint64(1)<<k.exponent), nil
}

// slotsSize is Size for the families with slots: + - * / on doubles and logarithm,
// slot by slot, so that an implementation elsewhere gives the same bits.
func slotsSize(family Family, slots []uint64) float64 {
	t := uint64(len(slots))
	if family != Fast && family != Bins {
		// The smallest of n numbers from 0 to 1 lies above u with probability
		// (1-u)^n: -ln(1-u) is exponential.
		var waits float64
		for _, m := range slots {
			u := (float64(m>>12) + 0.5) * 0x1p-52
			if family == LeanZeros { // z zeros come with probability 2^-(z+1)
				u = (float64(m<<6>>12) + 0.5) * 0x1p-52
				u = (1 + u) * 0.5
				for range maxZeros - m>>58 {
					u *= 0.5
				}
			}
			waits -= logarithm(1 - u)
		}
		return float64(t-1) / waits
	}
	// A bin of the first round waits until its first value, or for all of its length.
	var waits, filled float64
	for _, m := range slots {
		if m>>62 != 0 || m == kernel.EmptySlot {
			waits++
			continue
		}
		filled++
		waits += (float64(m>>30&0xffffffff*t&0xffffffff) + 0.5) * 0x1p-32
	}
	return filled * float64(t-1) / waits
}

// A Merger makes the sketch of the union of documents from their sketches. A
// shingle of a bag is in the union as often as in the document that has it most
// often, and an element of the family weighted has the greatest of its weights.
type Merger struct {
	have     bool
	profile  Profile
	slots    []uint64
	values   []uint64
	exponent int
}

// Add takes one more sketch, which must have whole minima and the profile of
// the others.
func (m *Merger) Add(b []byte) error {
	k, err := parse(b)
	if err != nil {
		return err
	}
	if m.have && k.Profile != m.profile {
		return m.profile.differs(k.Profile)
	}
	if k.Slots() {
		slots, err := k.fullSlots("merge")
		if err != nil {
			return err
		}
		if !m.have {
			m.slots = slots
		}
		for i, v := range slots {
			m.slots[i] = min(m.slots[i], v)
		}
	} else {
		values, err := k.values()
		if err != nil {
			return err
		}
		m.values = append(m.values, values...)
		m.exponent = max(m.exponent, k.exponent)
		l := list{size: k.Size, scaled: k.Family == Scaled, exponent: m.exponent, values: coarser(m.values, m.exponent)}
		l.tidy()
		m.values, m.exponent = l.values, l.exponent
	}
	m.have, m.profile = true, k.Profile
	return nil
}

// AppendSketch appends the sketch of the union of what was added.
func (m *Merger) AppendSketch(dst []byte) ([]byte, error) {
	if !m.have {
		return dst, errors.New("sketch: merge: no sketch was added")
	}
	dst = appendHeader(dst, m.profile, m.exponent)
	if m.profile.Slots() {
		return appendSlots(dst, m.profile, m.slots), nil
	}
	return appendValues(dst, m.values), nil
}

package sketch

import (
	"math/bits"
	"sync"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// The economies of randomness that Manasse describes under "Improving
// sampling": a sample needs a random number for every shingle, but nearly all
// of them lose at their first few bits. So only these are drawn, and the rest,
// the extension, for contenders: the shingles that tie with the best so far or
// beat it. There are three ways to draw the first bits, each a family:
//
//	lean         8 bits, a slice of a 64-bit word that serves 8 slots
//	lean-zeros   the zeros before the first one: 2 bits
//	lean-biased  a bit that is nearly always a one, and for a zero 2 more: about ⅓
//
// The first bits are the top of a slot's value and the extension is the rest.
// Both are drawn by shingle and slot alone, so that the slot is the minimum of
// a fixed function: it does not depend on the order of the shingles, and the
// lesser of two slots is the slot of the union.

// lean is the first economy, that of 1997. The slot is prefix<<56 | extension>>8.
type lean struct {
	slotted
	kernel.Permutations
	prefixes []uint64 // of the slots, 8 in a word, slot 8j in the lowest byte of word j
}

const (
	highBits = 0x8080808080808080 // of 8 bytes
	anyBits  = ^uint64(0)
)

func newLean(t int) *lean {
	l := &lean{slotted: newSlotted(t), Permutations: kernel.FirstPermutations(t), prefixes: make([]uint64, (t+7)/8)}
	l.Reset()
	return l
}

func (l *lean) Reset() {
	l.slotted.Reset()
	for j := range l.prefixes {
		l.prefixes[j] = anyBits
	}
}

func (l *lean) add(xs []uint64) {
	for j, best := range l.prefixes {
		lanes := uint64(highBits)
		if j == len(l.prefixes)-1 {
			lanes >>= 8 * (8*len(l.prefixes) - len(l.m))
		}
		a, b := l.A[j], l.B[j]
		left := xs
		// The high bit of a byte of atMost is set when the byte of w is at most
		// that of best: its high bit is lower, or it is the same and the other
		// seven bits can be subtracted.
		for len(left) > 0 && best&highBits != 0 {
			x := left[0]
			left = left[1:]
			w := kernel.Fold(a*x + b)
			seven := (best | highBits) - w&^highBits
			if atMost := (best&^w | ^(best^w)&seven) & lanes; atMost != 0 {
				best = l.contend(x, j, w, best, atMost)
			}
		}
		// Soon no byte of best has its high bit, and the test is a shorter one.
		for _, x := range left {
			w := kernel.Fold(a*x + b)
			if atMost := ((best | highBits) - w&^highBits) &^ w & lanes; atMost != 0 {
				best = l.contend(x, j, w, best, atMost)
			}
		}
		l.prefixes[j] = best
	}
}

// contend extends x in the slots of word j that atMost marks, and returns the
// word's best prefixes.
func (l *lean) contend(x uint64, j int, w, best, atMost uint64) uint64 {
	for ; atMost != 0; atMost &= atMost - 1 {
		lane := bits.TrailingZeros64(atMost) &^ 7
		i := 8*j + lane/8
		prefix := w >> lane & 0xff
		if v := prefix<<56 | l.Extension(x, i)>>8; v < l.m[i] {
			l.m[i] = v
			best = best&^(0xff<<lane) | prefix<<lane
		}
	}
	return best
}

// leanZeros is the second economy, by Manasse, McSherry and Talwar: the longest
// run of zeros wins. The random words of a shingle are one string of bits,
// lowest first, cut after every one; piece i is that of slot i. The slot is
// (63-zeros)<<58 | extension>>6.
//
// Few pieces have as many zeros as the shortest of the winning runs, so whole
// words are searched for such a run at once.
type leanZeros struct {
	slotted
	kernel.Permutations         // all of them: how many words a shingle takes is not known
	first               int     // the number of the first word
	zeros               []uint8 // of the winning runs
	fewest              int     // of zeros
	withFewest          int     // how many slots have the smallest
}

const maxZeros = 63 // a longer run counts as this

func newLeanZeros(t int) *leanZeros {
	l := &leanZeros{slotted: newSlotted(t), Permutations: kernel.AllPermutations(), zeros: make([]uint8, t)}
	l.Reset()
	return l
}

func (l *leanZeros) Reset() {
	l.slotted.Reset()
	clear(l.zeros)
	l.fewest, l.withFewest = 0, len(l.zeros)
}

func (l *leanZeros) add(xs []uint64) {
	t := len(l.m)
	for _, x := range xs {
		slot, before := 0, 0 // the next slot, and the zeros it has from earlier words
		for j := 0; slot < t; j++ {
			w := l.Word(x, l.first+j)
			if ends := w &^ after(w, l.fewest, before); ends != 0 {
				l.contend(x, slot, before, w, ends)
			}
			slot += bits.OnesCount64(w)
			if w != 0 {
				before = bits.LeadingZeros64(w)
			} else {
				before += 64
			}
		}
	}
}

// after marks the n bits after each one of w, and those of them that follow a
// one before w, which before zeros separate from it.
func after(w uint64, n, before int) uint64 {
	if n == 0 {
		return 0
	}
	marked := w << 1
	width := 1
	for ; 2*width <= n; width *= 2 {
		marked |= marked << width
	}
	marked |= marked << (n - width)
	if before < n {
		marked |= 1<<(n-before) - 1
	}
	return marked
}

// contend looks at the pieces that end at the bits of ends in the word w, whose
// first piece is that of slot.
func (l *leanZeros) contend(x uint64, slot, before int, w, ends uint64) {
	for ; ends != 0; ends &= ends - 1 {
		end := bits.TrailingZeros64(ends)
		earlier := w & (1<<end - 1)
		i := slot + bits.OnesCount64(earlier)
		if i >= len(l.m) {
			return
		}
		zeros := end - bits.Len64(earlier)
		if earlier == 0 {
			zeros += before
		}
		zeros = min(zeros, maxZeros)
		if zeros < int(l.zeros[i]) {
			continue
		}
		if v := uint64(maxZeros-zeros)<<58 | l.Extension(x, i)>>6; v < l.m[i] {
			l.m[i] = v
			l.lengthen(i, zeros)
		}
	}
}

// lengthen notes the run of zeros that wins slot i.
func (l *leanZeros) lengthen(i, zeros int) {
	was := int(l.zeros[i])
	l.zeros[i] = uint8(zeros)
	if was != l.fewest || zeros == was {
		return
	}
	if l.withFewest--; l.withFewest > 0 {
		return
	}
	l.fewest = maxZeros
	for _, z := range l.zeros {
		switch {
		case int(z) < l.fewest:
			l.fewest, l.withFewest = int(z), 1
		case int(z) == l.fewest:
			l.withFewest++
		}
	}
}

// leanBiased is the third economy: the first bit of a shingle in a slot is a
// zero with probability 1/64 only. Rather than bit by bit, the slots with a
// zero are drawn by the number of ones before the next, from no more fair bits
// than tell it. There the zeros before the next one decide as in leanZeros. The
// slot is (63-zeros)<<57 | extension>>7.
//
// A slot in which no shingle has a zero (a short document) is done the 2-bit
// way: 1<<63 | the slot of leanZeros>>1, which loses to any other.
type leanBiased struct {
	slotted
	kernel.Permutations
	gaps     *gapTable
	fallback *leanZeros
}

func newLeanBiased(t int) *leanBiased {
	l := &leanBiased{slotted: newSlotted(t), Permutations: kernel.AllPermutations(), gaps: gaps(), fallback: newLeanZeros(t)}
	// Its bits are to be others than those that say that a slot has no zero.
	l.fallback.first = kernel.WordCount / 2
	return l
}

func (l *leanBiased) Reset() {
	l.slotted.Reset()
	l.fallback.Reset()
}

func (l *leanBiased) add(xs []uint64) {
	t := len(l.m)
	for _, x := range xs {
		fair := fairBits{Permutations: l.Permutations, x: x}
		for i := l.gaps.draw(&fair); i < t; i += 1 + l.gaps.draw(&fair) {
			zeros := fair.zeros()
			if l.m[i]>>57 < uint64(maxZeros-zeros) {
				continue
			}
			l.m[i] = min(l.m[i], uint64(maxZeros-zeros)<<57|l.Extension(x, i)>>7)
		}
	}
	const unchosen = 1 << 63
	for _, v := range l.m {
		if v >= unchosen {
			l.fallback.add(xs)
			for i, z := range l.fallback.m {
				l.m[i] = min(l.m[i], unchosen|z>>1)
			}
			return
		}
	}
}

// fairBits are the random words of x as a string of bits, highest first.
type fairBits struct {
	kernel.Permutations
	x      uint64
	ahead  uint64 // the next n bits, at the top
	n      int
	halves int // of words that were drawn
}

// need makes sure of n bits ahead, at most 32.
func (f *fairBits) need(n int) {
	for f.n < n {
		w := f.Word(f.x, f.halves/2)
		if f.halves%2 == 0 {
			w >>= 32
		}
		f.ahead |= w << 32 >> f.n
		f.n += 32
		f.halves++
	}
}

func (f *fairBits) take(n int) {
	f.ahead <<= n
	f.n -= n
}

// zeros takes a run of zeros and the one after it.
func (f *fairBits) zeros() int {
	zeros := 0
	for f.need(1); f.ahead == 0; f.need(1) {
		zeros += f.n
		f.n = 0
	}
	run := bits.LeadingZeros64(f.ahead)
	f.take(run + 1)
	return min(zeros+run, maxZeros)
}

// A gapTable draws how many ones come before the next zero, where a zero has
// probability 1/64. A random number of 32 bits would fall into one of the
// intervals between the cumulative probabilities; its bits are taken from the
// highest on, until they leave no doubt into which.
type gapTable struct {
	cumulative []uint64         // of 2^32; interval g begins at cumulative[g]
	short      [1 << 12]gapBits // by the next 12 bits
}

// gapBits is a gap and how many bits tell it, 0 when 12 do not.
type gapBits struct {
	gap  uint16
	bits uint8
}

const biasShift = 6

var gaps = sync.OnceValue(func() *gapTable {
	g := &gapTable{}
	const one = 1 << 32
	for survive := uint64(one); ; survive -= survive >> biasShift {
		g.cumulative = append(g.cumulative, one-survive)
		if survive>>biasShift == 0 { // 2^-26: what remains belongs to the last
			break
		}
	}
	g.cumulative = append(g.cumulative, one)
	for prefix := range g.short {
		for n := 1; n <= 12; n++ {
			if gap, ok := g.interval(uint64(prefix)>>(12-n), n); ok {
				g.short[prefix] = gapBits{uint16(gap), uint8(n)}
				break
			}
		}
	}
	return g
})

// interval returns the interval that a number begins in whose highest n bits
// are prefix, and whether it ends there for certain.
func (g *gapTable) interval(prefix uint64, n int) (int, bool) {
	low := prefix << (32 - n)
	high := low + 1<<(32-n)
	first, last := 0, len(g.cumulative)-1
	for last-first > 1 {
		if middle := (first + last) / 2; g.cumulative[middle] <= low {
			first = middle
		} else {
			last = middle
		}
	}
	return first, high <= g.cumulative[first+1]
}

func (g *gapTable) draw(f *fairBits) int {
	f.need(12)
	if short := g.short[f.ahead>>52]; short.bits != 0 {
		f.take(int(short.bits))
		return int(short.gap)
	}
	f.need(32)
	for n := 13; ; n++ {
		if gap, ok := g.interval(f.ahead>>(64-n), n); ok {
			f.take(n)
			return gap
		}
	}
}

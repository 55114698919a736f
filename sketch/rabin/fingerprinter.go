package rabin

import (
	"encoding/binary"
	"fmt"
)

// A Fingerprinter computes Rabin's fingerprints of strings of bytes modulo a
// polynomial over GF(2): the general form of what package
// [github.com/alike-sql/alike/sketch] does with polynomials of degree 64, for other
// lengths (the paper's clusters used 40 bits) and polynomials of one's own.
//
// A string is a polynomial: its bits, the first byte's highest first, are the
// coefficients from the highest power of t down, below a leading 1, which
// distinguishes "a" from "\0a". Its fingerprint is the residue, so that
//
//	f("") = 1
//	f(AB) = f(A)·t^(8|B|) + f(B) + t^(8|B|)
//
// Under a polynomial drawn after the strings were chosen, two of them collide
// with a probability of at most CollisionBound. A Fingerprinter does not change
// and may be used by many goroutines.
type Fingerprinter struct {
	p        Polynomial
	overflow [256]uint64 // what the byte that leaves the top is modulo p
}

// NewFingerprinter returns the fingerprinter of an irreducible polynomial of
// degree 8 to 64.
func NewFingerprinter(p Polynomial) (*Fingerprinter, error) {
	if p.Degree < 8 || p.Degree > 64 {
		return nil, fmt.Errorf("rabin: a polynomial of degree %d, want 8 to 64", p.Degree)
	}
	if !p.Irreducible() {
		return nil, fmt.Errorf("rabin: the polynomial %#x of degree %d is not irreducible", p.Low, p.Degree)
	}
	f := &Fingerprinter{p: p}
	power := p.Low // t^degree, to t^(degree+7)
	for i := range 8 {
		for j := range 1 << i {
			f.overflow[1<<i+j] = f.overflow[j] ^ power
		}
		power = p.double(power)
	}
	return f, nil
}

// Polynomial returns the polynomial.
func (f *Fingerprinter) Polynomial() Polynomial { return f.p }

// Fingerprint returns the fingerprint of data.
func (f *Fingerprinter) Fingerprint(data []byte) uint64 { return f.Append(1, data) }

// Append returns f(AB) from h = f(A) and B.
func (f *Fingerprinter) Append(h uint64, b []byte) uint64 {
	mask, top := f.p.mask(), f.p.Degree-8
	for _, c := range b {
		h = (h<<8|uint64(c))&mask ^ f.overflow[h>>top]
	}
	return h
}

// Concat returns f(AB) from f(A), f(B) and the n bytes of B's length.
func (f *Fingerprinter) Concat(a, b uint64, n int64) uint64 {
	return f.p.Mul(a^1, f.power(n)) ^ b
}

// power returns t^(8n).
func (f *Fingerprinter) power(n int64) uint64 {
	result, square := uint64(1), f.Append(1, []byte{0}) // t^8
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = f.p.Mul(result, square)
		}
		square = f.p.Mul(square, square)
	}
	return result
}

// Pad returns the fingerprint h of a string after n null bytes more. Two strings
// that differ in their last byte have fingerprints that differ in their last
// bits only, unless they are padded (Broder 1997, section 4.1); 8 bytes do for
// any degree.
func (f *Fingerprinter) Pad(h uint64, n int64) uint64 { return f.p.Mul(h, f.power(n)) }

// AppendWord returns h·t^64 + word: the fingerprint after 8 bytes more, which
// are word with the highest byte first.
func (f *Fingerprinter) AppendWord(h, word uint64) uint64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], word)
	return f.Append(h, b[:])
}

// AppendWords appends a token to dst as words of fixed width (Broder 1997,
// section 4.3): 8 bytes each, the first byte highest, the last word padded with
// nulls. A longer token is several words, and the empty one is none.
func AppendWords(dst []uint64, token []byte) []uint64 {
	for len(token) > 0 {
		var b [8]byte
		token = token[copy(b[:], token):]
		dst = append(dst, binary.BigEndian.Uint64(b[:]))
	}
	return dst
}

// Shingle returns the two-level fingerprint of a shingle, which moves by one
// power of t for every token whatever its length: the first level is the
// fingerprint of each token, its bytes taken from the last to the first; the
// second that of these as words, without a leading one and padded by a word.
// Under the published polynomial of degree 64 it is what sketches are made of.
func (f *Fingerprinter) Shingle(tokens ...[]byte) uint64 {
	var h uint64
	for _, token := range tokens {
		level := uint64(1)
		for i := len(token) - 1; i >= 0; i-- {
			level = f.Append(level, token[i:i+1])
		}
		h = f.AppendWord(h, level)
	}
	return f.AppendWord(h, 0)
}

// A RollingFingerprint is the fingerprint of the last n bytes, or words of 8
// bytes, of a sequence.
type RollingFingerprint struct {
	f        *Fingerprinter
	width    int       // bytes in an item
	items    []uint64  // the window, a ring
	at       int       // the oldest
	leaving  [8]uint64 // by the bytes of an item, the power that takes it out
	constant uint64    // moves the leading one back
	h        uint64
}

// Rolling returns a window of n bytes, all null.
func (f *Fingerprinter) Rolling(n int) (*RollingFingerprint, error) { return f.rolling(n, 1) }

// RollingWords returns a window of n words of 8 bytes, all null.
func (f *Fingerprinter) RollingWords(n int) (*RollingFingerprint, error) { return f.rolling(n, 8) }

func (f *Fingerprinter) rolling(n, width int) (*RollingFingerprint, error) {
	if n < 1 || n > 1<<24 {
		return nil, fmt.Errorf("rabin: a window of %d, want 1 to %d", n, 1<<24)
	}
	r := &RollingFingerprint{f: f, width: width, items: make([]uint64, n)}
	bytes := int64(n) * int64(width)
	for i := range width {
		r.leaving[i] = f.power(bytes + int64(i))
	}
	r.h = f.power(bytes)
	r.constant = r.h ^ f.power(bytes+int64(width))
	return r, nil
}

// Roll takes the next byte or word in and the oldest out, and returns the
// fingerprint of the window: that which Fingerprint gives of its bytes.
func (r *RollingFingerprint) Roll(item uint64) uint64 {
	oldest := r.items[r.at]
	r.items[r.at] = item
	if r.at++; r.at == len(r.items) {
		r.at = 0
	}
	if r.width == 1 {
		r.h = r.f.Append(r.h, []byte{byte(item)})
	} else {
		r.h = r.f.AppendWord(r.h, item)
	}
	r.h ^= r.constant
	for i := range r.width {
		if b := oldest >> (8 * i) & 0xff; b != 0 {
			r.h ^= r.f.multiplyByte(r.leaving[i], b)
		}
	}
	return r.h
}

// multiplyByte returns a·b for a polynomial b of degree below 8.
func (f *Fingerprinter) multiplyByte(a, b uint64) uint64 {
	var sum uint64
	for ; b != 0; b >>= 1 {
		sum ^= a & -(b & 1)
		a = f.p.double(a)
	}
	return sum
}

package sketch

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A Boilerplate is a list of shingles that sketches leave out, as Broder 1997, section 7,
// leaves out frequent ones. A profile names it by its fingerprint (Profile.Without), so that
// sketches made with different lists do not compare.
//
// Its stored form is the numbers of the shingles, as Shingler tells them, each once, in
// ascending order and big-endian. The fingerprint is the first four bytes of the SHA-256
// of that, or 1 where they are 0.
type Boilerplate struct {
	stored      []byte
	fingerprint uint32
	shift       int
	table       []uint64 // open addressing; 0 is an empty place
	zero        bool     // whether the number 0 is in the list
}

// maxBoilerplate is the most shingles in a list.
const maxBoilerplate = 1 << 20

// NewBoilerplate returns the list of the shingles with these numbers.
func NewBoilerplate(shingles []uint64) (*Boilerplate, error) {
	shingles = slices.Clone(shingles)
	slices.Sort(shingles)
	return ParseBoilerplate(appendValues(nil, slices.Compact(shingles)))
}

// ParseBoilerplate reads the stored form of a list.
func ParseBoilerplate(stored []byte) (*Boilerplate, error) {
	n := len(stored) / 8
	if n == 0 || n > maxBoilerplate || len(stored)%8 != 0 {
		return nil, fmt.Errorf("sketch: a list of %d bytes of shingles, want 8 to %d, a multiple of 8", len(stored), 8*maxBoilerplate)
	}
	sum := sha256.Sum256(stored)
	size := bits.Len(uint(2*n - 1))
	b := &Boilerplate{stored: slices.Clone(stored), fingerprint: max(1, binary.BigEndian.Uint32(sum[:])), shift: 64 - size, table: make([]uint64, 1<<size)}
	last := uint64(0)
	for i := range n {
		x := binary.BigEndian.Uint64(stored[8*i:])
		if i > 0 && x <= last {
			return nil, fmt.Errorf("sketch: shingle %d of a list does not ascend", i)
		}
		if last = x; x == 0 {
			b.zero = true
			continue
		}
		at := b.place(x)
		for b.table[at] != 0 {
			at = (at + 1) & (len(b.table) - 1)
		}
		b.table[at] = x
	}
	return b, nil
}

// Stored returns the stored form.
func (b *Boilerplate) Stored() []byte { return b.stored }

// Fingerprint returns the name of the list in a profile.
func (b *Boilerplate) Fingerprint() uint32 { return b.fingerprint }

// Len returns the number of shingles.
func (b *Boilerplate) Len() int { return len(b.stored) / 8 }

func (b *Boilerplate) place(x uint64) int { return int(x * 0x9e3779b97f4a7c15 >> b.shift) }

// has reports whether the list has the shingle with a number.
func (b *Boilerplate) has(x uint64) bool {
	if x == 0 {
		return b.zero
	}
	for at := b.place(x); b.table[at] != 0; at = (at + 1) & (len(b.table) - 1) {
		if b.table[at] == x {
			return true
		}
	}
	return false
}

// without returns the fingerprints of shingles without those in the list. It overwrites them.
func (b *Boilerplate) without(shingles []uint64) []uint64 {
	kept := shingles[:0]
	for _, x := range shingles {
		if !b.has(kernel.Mix(x)) {
			kept = append(kept, x)
		}
	}
	return kept
}

// ErrBoilerplate is the error where sketches under a profile need a list of shingles that
// is not at hand.
var ErrBoilerplate = errors.New("the list of shingles that the profile leaves out is needed")

// LeaveOut has the Sketcher leave out the shingles in a list. Under a profile that names a
// list it must be that list. The profile that Exact returns names none and takes any.
func (s *Sketcher) LeaveOut(b *Boilerplate) error {
	if b == nil || b.fingerprint != s.profile.Without && s.profile != s.profile.Exact() {
		return fmt.Errorf("sketch: profile %q: %w", s.profile, ErrBoilerplate)
	}
	s.boilerplate = b
	return nil
}

// NewSketcherWithout is NewSketcher for a profile that may name a list of shingles that
// its sketches leave out. b is that list, or nil where the profile names none.
func NewSketcherWithout(p Profile, b *Boilerplate) (*Sketcher, error) {
	s, err := newSketcher(p)
	if err == nil && (b != nil || p.Without != 0) {
		err = s.LeaveOut(b)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

package sketch

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A Feature is a fingerprint of a group of slots (a supershingle). Two
// documents of resemblance ρ share it with probability ρ^s.
type Feature struct {
	Slot  int // of the K groups, from 0
	Value int64
}

// appendFeatures makes the features of Broder 2000, section 3: the slots in k
// groups of s, each fingerprinted under another polynomial with its number
// before it. A group of empty slots has none.
func appendFeatures(dst []Feature, slots []uint64, k, s int) []Feature {
	return appendGroups(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(slots))), 8*len(slots)), k, s, kernel.NativeEndian)
}

func appendGroups(dst []Feature, slots []byte, k, s int, order kernel.SlotOrder) []Feature {
	var values [64]uint64
	kernel.Features(values[:k], slots, s, order)
	n := len(dst)
	dst = slices.Grow(dst, k)[:n+k]
	for g, v := range values[:k] {
		// EmptySlot has all bits set: it is the same in any order.
		group := slots[8*g*s:]
		if binary.NativeEndian.Uint64(group) == kernel.EmptySlot && emptyGroup(group[:8*s]) {
			continue
		}
		dst[n] = Feature{g, int64(v)}
		n++
	}
	return dst[:n]
}

func emptyGroup(slots []byte) bool {
	for len(slots) >= 8 && binary.NativeEndian.Uint64(slots) == kernel.EmptySlot {
		slots = slots[8:]
	}
	return len(slots) == 0
}

// Features appends to dst the features of a stored sketch, which must have its
// whole minima.
func Features(dst []Feature, b []byte) ([]Feature, error) {
	var k blob
	if err := k.parse(b); err != nil {
		return dst, err
	}
	if k.Bits == 64 && families[k.Family].slots && k.Family != Bins {
		return appendGroups(dst, k.payload, k.K, k.S, kernel.BigEndian), nil
	}
	slots, err := k.fullSlots("features")
	if err != nil {
		return dst, err
	}
	return appendFeatures(dst, slots, k.K, k.S), nil
}

// maxSuperfeatures bounds C(k,r).
const maxSuperfeatures = 10000

// Superfeatures appends to dst the superfeatures (megashingles) of a stored
// sketch: a fingerprint of every r of its features, so that one in common
// means r features in common.
func Superfeatures(dst []Feature, b []byte) ([]Feature, error) {
	k, err := parse(b)
	if err != nil {
		return dst, err
	}
	if n := superfeatureCount(k.K, k.R); n > maxSuperfeatures {
		return dst, fmt.Errorf("sketch: superfeatures: k=%d r=%d has %d of them, want at most %d", k.K, k.R, n, maxSuperfeatures)
	}
	slots, err := k.fullSlots("superfeatures")
	if err != nil {
		return dst, err
	}
	return k.Profile.AppendSuperfeatures(dst, appendFeatures(nil, slots, k.K, k.S)), nil
}

// AppendSuperfeatures appends to dst the superfeatures of the features of a sketch of the
// profile.
func (p Profile) AppendSuperfeatures(dst, features []Feature) []Feature {
	var byGroup [64]*Feature
	for i := range features {
		byGroup[features[i].Slot] = &features[i]
	}
	var places [64]int
	chosen := places[:p.R]
	for i := range chosen {
		chosen[i] = i
	}
combinations:
	for rank := 0; ; rank++ {
		h := uint64(rank + 1)
		complete := true
		for _, g := range chosen {
			if f := byGroup[g]; f != nil {
				h = kernel.Features64.Shift.Times(h) ^ uint64(f.Value)
			} else {
				complete = false
			}
		}
		if complete {
			dst = append(dst, Feature{rank, int64(kernel.Features64.Shift.Times(h))})
		}
		for i := p.R - 1; i >= 0; i-- { // the next combination in order
			if chosen[i] < p.K-p.R+i {
				chosen[i]++
				for j := i + 1; j < p.R; j++ {
					chosen[j] = chosen[j-1] + 1
				}
				continue combinations
			}
		}
		return dst
	}
}

// Superfeatures is how many superfeatures a sketch of the profile has at most: C(k,r).
func (p Profile) Superfeatures() int { return superfeatureCount(p.K, p.R) }

// superfeatureCount returns C(k,r), the number of superfeatures, or a number above
// any limit of ours when it is larger.
func superfeatureCount(k, r int) int {
	n := 1
	for i := range min(r, k-r) {
		if n = n * (k - i) / (i + 1); n > 1<<40 {
			return 1 << 40
		}
	}
	return n
}

// Shared returns how many features two whole sketches have in common.
func Shared(a, b []byte) (int, error) {
	var pair blobPair
	if err := pair.parse(a, b); err != nil {
		return 0, err
	}
	x, y := &pair.x, &pair.y
	if x.Bits == 64 && y.Bits == 64 && families[x.Family].slots && x.Family != Bins {
		shared, size := 0, 8*x.S
		for g := range x.K {
			group := x.payload[g*size : (g+1)*size]
			if string(group) == string(y.payload[g*size:(g+1)*size]) && !emptyGroup(group) {
				shared++
			}
		}
		return shared, nil
	}
	bits := y.Bits
	y.Profile = x.Profile
	y.Bits = bits
	xs, err := x.fullSlots("shared")
	if err != nil {
		return 0, err
	}
	ys, err := y.fullSlots("shared")
	if err != nil {
		return 0, err
	}
	shared := 0
	for g := range x.K {
		group := xs[g*x.S : (g+1)*x.S]
		if slices.Equal(group, ys[g*x.S:(g+1)*x.S]) && slices.Min(group) != kernel.EmptySlot {
			shared++
		}
	}
	return shared, nil
}

// Alike reports whether two whole sketches share at least r features: the rule
// of Broder 2000.
func Alike(a, b []byte) (bool, error) {
	shared, err := Shared(a, b)
	if err != nil {
		return false, err
	}
	p, err := ProfileOf(a)
	return shared >= p.R, err
}

package sketch

import (
	"encoding/binary"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A Sample is what a sketch keeps of a document, outside of its stored form:
// for what must know which values were kept, as clustering does. Under a
// profile with mod=1 they are all shingles of the document.
type Sample struct {
	Profile  Profile
	Exponent int       // of the family scaled: values are multiples of 2^Exponent
	Values   []Sampled // of families with slots by slot, of others ascending
}

// Sampled is one value that was kept. An empty bin has none.
type Sampled struct {
	Slot  int // from 0; always 0 in families without slots
	Value uint64
}

// Read takes the sample of a stored sketch, which must keep whole minima, in
// place of the one before. An error leaves that as it was.
func (s *Sample) Read(b []byte) error {
	k, err := parse(b)
	if err != nil {
		return err
	}
	kept, slots := []uint64(nil), k.Slots()
	if slots {
		kept, err = k.fullSlots("sample")
	} else {
		kept, err = k.values()
	}
	if err != nil {
		return err
	}
	values := s.Values[:0]
	for i, v := range kept {
		switch {
		case !slots:
			values = append(values, Sampled{Value: v})
		case v != kernel.EmptySlot:
			values = append(values, Sampled{i, v})
		}
	}
	*s = Sample{k.Profile, k.exponent, values}
	return nil
}

// AppendSketch appends the stored form. The values must be as they are
// described: Check tells of those of a list that are not, and a slot that the
// profile lacks panics.
func (s *Sample) AppendSketch(dst []byte) []byte {
	dst = appendHeader(dst, s.Profile, s.Exponent)
	if !s.Profile.Slots() {
		for _, v := range s.Values {
			dst = binary.BigEndian.AppendUint64(dst, v.Value)
		}
		return dst
	}
	slots := make([]uint64, s.Profile.T)
	for i := range slots {
		slots[i] = kernel.EmptySlot
	}
	for _, v := range s.Values {
		slots[v.Slot] = v.Value
	}
	return appendSlots(dst, s.Profile, slots)
}

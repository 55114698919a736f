package sketch

import (
	"bytes"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// What is read from a sketch makes the sketch again, of every family; and with
// mod=1 it is the set of the shingles.
func TestSample(t *testing.T) {
	var s Sample
	whole := 0
	for _, v := range goldenVectors(t) {
		p := mustProfile(t, v.Profile)
		sketcher, err := NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		sketcher.Document(v.document())
		if sketcher.Empty() {
			continue
		}
		b := sketcher.AppendSketch(nil)
		if p.Bits != 64 {
			if err := s.Read(b); err == nil {
				t.Errorf("%s: read %d bits a slot", v.Name, p.Bits)
			}
			continue
		}
		if err := s.Read(b); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		if got := s.AppendSketch(nil); !bytes.Equal(got, b) || s.Profile != p {
			t.Errorf("%s: the sketch of the sample is another one", v.Name)
		}
		whole++

		every := p
		every.Family, every.Modulus, every.Size = Mod, 1, 0
		if sketcher, err = NewSketcher(every); err != nil {
			continue // real weights are no set
		}
		if p.Stream == Elements && v.document()[0] == '{' {
			continue // Shingles has each element once
		}
		sketcher.Document(v.document())
		if err := s.Read(sketcher.AppendSketch(nil)); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		set := map[uint64]bool{}
		for _, x := range Shingles(every, v.document()) {
			set[kernel.Mix(x)] = true
		}
		for i, x := range s.Values {
			if !set[x.Value] || x.Slot != 0 || i > 0 && x.Value <= s.Values[i-1].Value {
				t.Errorf("%s: value %d is %+v", v.Name, i, x)
			}
		}
		if len(s.Values) != len(set) {
			t.Errorf("%s: %d values of %d shingles", v.Name, len(s.Values), len(set))
		}
	}
	if whole < 20 {
		t.Errorf("%d sketches, want at least 20", whole)
	}

	before := len(s.Values)
	if err := s.Read([]byte("no sketch")); errorText(err) != "sketch: decode: 9 bytes, want at least 22" || len(s.Values) != before {
		t.Errorf("%v, %d values", err, len(s.Values))
	}
}

package sketch

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// Whatever two stored sketches are, the answer is an error or a number, and one
// that passes the check is as AppendSketch writes it.
func FuzzStored(f *testing.F) {
	for _, settings := range everyFamily {
		s := mustSketcher(f, settings)
		s.Document(numberedWords(0, 30))
		a := s.AppendSketch(nil)
		s.Document(numberedWords(10, 40))
		f.Add(a, s.AppendSketch(nil))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		unit := func(what string, r float64, err error) {
			if err == nil && !(r >= 0 && r <= 1) {
				t.Fatalf("%s of %x and %x: %v", what, a, b, r)
			}
		}
		r, err := Resemblance(a, b)
		unit("resemblance", r, err)
		c, _, err := Containment(a, b)
		unit("containment", c, err)
		if i, err := Bounds(a, b, 0.95); err == nil && !(0 <= i.Low && i.Low <= i.Estimate && i.Estimate <= i.High && i.High <= 1) {
			t.Fatalf("bounds of %x and %x: %v", a, b, i)
		}
		if n, err := Size(a); err == nil && (math.IsNaN(n) || n < 0) {
			t.Fatalf("size of %x: %v", a, n)
		}
		_, _ = Shared(a, b)
		_, _ = Alike(a, b)
		_, _ = Features(nil, a)
		_, _ = Superfeatures(nil, a)
		var m Merger
		if m.Add(a) == nil && m.Add(b) == nil {
			_, _ = m.AppendSketch(nil)
		}
		p, err := ProfileOf(a)
		if err != nil {
			return
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p {
			t.Fatalf("profile %q of %x reads as %q, %v", p, a, again, err)
		}
		if Check(a) != nil {
			return
		}
		if self, err := Resemblance(a, a); err != nil || self != 1 && len(a) > headerSize {
			t.Fatalf("%x resembles itself %v, %v", a, self, err)
		}
		if same, err := Cut(nil, a, p.Bits); err != nil || !bytes.Equal(same, a) {
			t.Fatalf("%x cut to its own %d bits is %x, %v", a, p.Bits, same, err)
		}
		var one Merger
		if one.Add(a) == nil {
			if same, err := one.AppendSketch(nil); err != nil || !bytes.Equal(same, a) {
				t.Fatalf("%x merged with nothing is %x, %v", a, same, err)
			}
		}
	})
}

func FuzzProfile(f *testing.F) {
	for _, settings := range everyFamily {
		f.Add(settings)
	}
	f.Fuzz(func(t *testing.T, settings string) {
		p, err := ParseProfile(settings)
		if err != nil {
			return
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p {
			t.Fatalf("%q is %q, which reads as %q, %v", settings, p, again, err)
		}
	})
}

// A list of shingles is an error, or is stored as it was read and leaves out just its own.
func FuzzBoilerplate(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff"), uint64(1))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01"), uint64(0))
	f.Add([]byte("short"), uint64(7))
	f.Fuzz(func(t *testing.T, stored []byte, other uint64) {
		list := map[uint64]bool{}
		var last uint64
		valid := len(stored) > 0 && len(stored)%8 == 0
		for at := 0; valid && at < len(stored); at += 8 {
			x := binary.BigEndian.Uint64(stored[at:])
			valid = at == 0 || x > last
			last, list[x] = x, true
		}
		b, err := ParseBoilerplate(stored)
		if (err == nil) != valid {
			t.Fatalf("%x: %v, want valid %v", stored, err, valid)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(b.Stored(), stored) || b.Len() != len(list) || b.Fingerprint() == 0 {
			t.Fatalf("%x is stored as %x, %d shingles, fingerprint %d", stored, b.Stored(), b.Len(), b.Fingerprint())
		}
		for x := range list {
			if !b.has(x) || b.has(x+1) != list[x+1] {
				t.Fatalf("%x: has %d %v, %d %v", stored, x, b.has(x), x+1, b.has(x+1))
			}
		}
		if b.has(other) != list[other] {
			t.Fatalf("%x: has %d %v", stored, other, b.has(other))
		}
	})
}

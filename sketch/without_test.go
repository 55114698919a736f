package sketch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// boilerplate is the list of the shingles of a document under a profile.
func boilerplate(t *testing.T, profile, doc string) *Boilerplate {
	t.Helper()
	s, err := NewShingler(mustProfile(t, profile))
	if err != nil {
		t.Fatal(err)
	}
	shingles, err := s.Shingles([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBoilerplate(shingles)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Where a shingle is a word, a document without some of its shingles is the document
// without these words.
func TestWithout(t *testing.T) {
	letterhead, note := "dear sir or madam yours faithfully", "the pump of the third mill leaks oil again"
	var letter []string
	for i, word := range strings.Fields(note) {
		letter = append(letter, word, strings.Fields(letterhead)[i%6])
	}
	for _, family := range []string{"fast", "classic", "scaled", "lean", "bins", "weighted", "lean-zeros", "lean-biased", "fast bag", "fast bits=4"} {
		settings := "words w=1 t=32 k=4 s=8 " + family
		b := boilerplate(t, settings, letterhead)
		p := mustProfile(t, settings)
		p.Without = b.Fingerprint()
		s, err := NewSketcherWithout(p, b)
		if err != nil {
			t.Fatal(err)
		}
		plain := mustSketcher(t, settings)
		s.Document([]byte(strings.Join(letter, " ")))
		plain.Document([]byte(note))
		got, want := s.AppendSketch(nil), plain.AppendSketch(nil)
		if !bytes.Equal(got[headerSize:], want[headerSize:]) || !slices.Equal(s.AppendFeatures(nil), plain.AppendFeatures(nil)) {
			t.Errorf("%s: the sketch of a letter without the letterhead is not that of the note", family)
		}
		if s.Shingles() != plain.Shingles() || s.Length([]byte(strings.Join(letter, " "))) != plain.Length([]byte(note)) {
			t.Errorf("%s: %d shingles are left, want %d", family, s.Shingles(), plain.Shingles())
		}
		if read, err := ProfileOf(got); err != nil || read != p || binary.BigEndian.Uint32(got[16:]) != b.Fingerprint() {
			t.Errorf("%s: the header says %q, error %v, want %q", family, read, err, p)
		}
		if again := mustProfile(t, p.String()); again != p {
			t.Errorf("%s: %q is read as %q", family, p, again)
		}
		if _, err := Resemblance(got, want); !errors.Is(err, ErrProfile) {
			t.Errorf("%s: sketches with and without a list compare: error %v", family, err)
		}
		s.Document([]byte(letterhead))
		if !s.Empty() || s.AppendSketch(nil) != nil {
			t.Errorf("%s: a letterhead alone has a sketch", family)
		}
		// A document shorter than a shingle is one shingle, unless it was left out.
		short := mustProfile(t, strings.Replace(settings, "w=1", "w=3", 1))
		list := boilerplate(t, short.String(), "dear sir")
		short.Without = list.Fingerprint()
		if s, err = NewSketcherWithout(short, list); err != nil {
			t.Fatal(err)
		}
		if s.Document([]byte("dear sir")); !s.Empty() {
			t.Errorf("%s: a short document that is left out has a sketch", family)
		}
		if s.Document([]byte("dear madam")); s.Empty() {
			t.Errorf("%s: a short document has no sketch", family)
		}
	}
}

// No Sketcher works without its list, or with another, and a list is checked as it is read.
func TestWithoutRefusals(t *testing.T) {
	one, other := boilerplate(t, "words", "one two three"), boilerplate(t, "words", "three two one")
	p := mustProfile(t, "words")
	p.Without = one.Fingerprint()
	for name, b := range map[string]*Boilerplate{"no list": nil, "another list": other} {
		if _, err := NewSketcherWithout(p, b); !errors.Is(err, ErrBoilerplate) {
			t.Errorf("%s: error %v, want ErrBoilerplate", name, err)
		}
	}
	if _, err := NewSketcherWithout(mustProfile(t, "words"), one); !errors.Is(err, ErrBoilerplate) {
		t.Errorf("a profile that names no list takes one: error %v", err)
	}
	if exact, err := NewSketcherWithout(p.Exact(), one); err != nil {
		t.Error(err)
	} else if exact.Document([]byte("one two three four")); exact.Shingles() != 1 {
		t.Errorf("%d shingles of the exact document are left, want 1", exact.Shingles())
	}
	for _, settings := range []string{"words mod=4 without=00000001", "words bottom=9 without=00000001", "words without=1", "words without=00000000", "words without=+0000001"} {
		if _, err := ParseProfile(settings); err == nil {
			t.Errorf("%q is a profile", settings)
		}
	}
	stored := one.Stored()
	for name, bad := range map[string][]byte{"empty": nil, "cut": stored[:len(stored)-1], "twice": append(slices.Clone(stored), stored[len(stored)-8:]...), "too long": make([]byte, 8*maxBoilerplate+8)} {
		if _, err := ParseBoilerplate(bad); err == nil {
			t.Errorf("a list that is %s is read", name)
		}
	}
	again, err := ParseBoilerplate(append(make([]byte, 8), stored...)) // the shingle 0
	if err != nil || again.Len() != one.Len()+1 || !again.has(0) || one.has(0) || again.Fingerprint() == one.Fingerprint() {
		t.Errorf("a list with the shingle 0: %d shingles, error %v", again.Len(), err)
	}
}

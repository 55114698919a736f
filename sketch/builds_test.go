package sketch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// The fingerprints of the tokens are those that an implementation in another
// language computes, and every setting that acts on tokens shows in them.
func TestTokensFingerprint(t *testing.T) {
	seen := map[uint16]string{}
	lines := kerneltest.GoldenLines(t, "testdata/golden", "canary.tsv")
	for _, line := range lines {
		p := mustProfile(t, line[0])
		got := p.TokensFingerprint()
		if fmt.Sprintf("%04x", got) != line[1] {
			t.Errorf("%s: fingerprint %04x, want %s", line[0], got, line[1])
		}
		if other, ok := seen[got]; ok && !strings.HasPrefix(line[0], "soundex numbers") {
			// A number has no code anyway.
			t.Errorf("%s and %s have the fingerprint %04x", line[0], other, got)
		}
		seen[got] = line[0]
	}
	if len(lines) != 161 {
		t.Errorf("%d fingerprints, want 161", len(lines))
	}
	if got := mustProfile(t, "elements").TokensFingerprint(); got != 0 {
		t.Errorf("elements: fingerprint %04x, want 0", got)
	}
	for _, other := range []string{"words w=5", "words bag", "words classic", "words bits=8 k=3 s=3"} {
		if got, want := mustProfile(t, other).TokensFingerprint(), mustProfile(t, "words").TokensFingerprint(); got != want {
			t.Errorf("%s: fingerprint %04x, want %04x, that of text", other, got, want)
		}
	}
}

// madeElsewhere is a sketch as a build with other tokens writes it.
func madeElsewhere(b []byte) []byte {
	b = bytes.Clone(b)
	b[20] ^= 0x55
	return b
}

// Sketches of two builds whose tokens differ do not compare; those of one other
// build do, and are otherwise as good as any.
func TestOtherTokens(t *testing.T) {
	for _, settings := range everyFamily {
		s := mustSketcher(t, settings)
		s.Document(numberedWords(0, 200))
		own := s.AppendSketch(nil)
		s.Document(numberedWords(50, 250))
		a, b := madeElsewhere(own), madeElsewhere(s.AppendSketch(nil))
		names := fmt.Sprintf("tokens %04x and %04x of", s.Profile().TokensFingerprint(), binary.BigEndian.Uint16(a[20:]))
		for name, compare := range map[string]func() error{
			"resemblance": func() error { _, err := Resemblance(own, a); return err },
			"bounds":      func() error { _, err := Bounds(own, b, 0.9); return err },
			"alike":       func() error { _, err := Alike(own, a); return err },
			"merge": func() error {
				var m Merger
				if err := m.Add(own); err != nil {
					return err
				}
				return m.Add(a)
			},
		} {
			if s.Profile().Bits != 64 && (name == "merge" || name == "alike") {
				continue
			}
			if err := compare(); !errors.Is(err, ErrTokens) || errors.Is(err, ErrProfile) || !strings.Contains(err.Error(), names) {
				t.Errorf("%s, %s of two builds: error %v, want ErrTokens with %q", settings, name, err, names)
			}
		}
		if err := Check(a); err != nil {
			t.Errorf("%s, of another build: %v", settings, err)
		}
		want, _ := Resemblance(own, s.AppendSketch(nil))
		if got, err := Resemblance(a, b); err != nil || got != want {
			t.Errorf("%s: resemblance %v, %v within another build, want %v", settings, got, err, want)
		}
		p, err := ProfileOf(a)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p || p.TokensFingerprint() != binary.BigEndian.Uint16(a[20:]) {
			t.Errorf("%s of another build reads as %+v, %v", p, again, err)
		}
		if _, err := NewSketcher(p); !errors.Is(err, ErrTokens) {
			t.Errorf("a Sketcher of %q: error %v, want ErrTokens", p, err)
		}
		if !s.Profile().Slots() {
			continue
		}
		if got, err := Cut(nil, a, 4); err != nil || !bytes.Equal(got[20:22], a[20:22]) {
			t.Errorf("%s of another build cut to 4 bits: tokens %x, %v, want %x", settings, got[20:22], err, a[20:22])
		}
	}
	p := mustProfile(t, "words")
	if got := mustProfile(t, fmt.Sprintf("words tokens=%04x", p.TokensFingerprint())); got != p {
		t.Errorf("the tokens of this build, named, make %q, want %q", got, p)
	}
	for name, b := range map[string][]byte{
		"words without a fingerprint": append(append(bytes.Clone(storedSketch(t, "words", 9)[:20]), 0, 0), storedSketch(t, "words", 9)[22:]...),
		"elements with one":           madeElsewhere(elementsSketch(t)),
	} {
		if err := Check(b); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "tokens") {
			t.Errorf("%s: error %v, want ErrDamaged about tokens", name, err)
		}
	}
}

func elementsSketch(t *testing.T) []byte {
	s := mustSketcher(t, "elements")
	s.AddElement([]byte("an element"))
	return s.AppendSketch(nil)
}

package sketch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/token"
)

// storedSketch is the sketch of n numbered words.
func storedSketch(t testing.TB, settings string, n int) []byte {
	t.Helper()
	s := mustSketcher(t, settings)
	s.Document(numberedWords(0, n))
	return s.AppendSketch(nil)
}

// with returns b with the byte at i (from the end when negative) replaced.
func with(b []byte, i int, value byte) []byte {
	b = bytes.Clone(b)
	if i < 0 {
		i += len(b)
	}
	b[i] = value
	return b
}

// withValues returns the header of b and these values behind it.
func withValues(b []byte, values ...uint64) []byte {
	return appendValues(bytes.Clone(b[:headerSize]), values)
}

// ascendingValues are n multiples of step, from the first on.
func ascendingValues(n int, step uint64) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(i+1) * step
	}
	return values
}

// Every check of the stored form, each by a blob that is wrong in that alone.
func TestStoredFormIsChecked(t *testing.T) {
	text, cut := storedSketch(t, "words", 100), storedSketch(t, "words bits=8", 100)
	list := func(settings string) []byte { return storedSketch(t, settings, 300) }
	header := func(settings string, change func([]byte)) []byte {
		b := list(settings)
		change(b)
		return b
	}
	bins := storedSketch(t, "bins t=85 k=12 s=7 bits=1", 5) // 85 slots leave 3 bits at the end
	emptyBin := 0
	for k, _ := parse(bins); k.isFilled(emptyBin); {
		emptyBin++
	}
	for _, c := range []struct {
		name string
		b    []byte
		kind error
		text string
	}{
		{"nothing", nil, ErrTruncated, "0 bytes, want at least"},
		{"part of a header", text[:12], ErrTruncated, "12 bytes, want at least"},
		{"something else, short", []byte("PNG"), ErrForeign, "3 bytes, want at least"},
		{"something else", bytes.Repeat([]byte("words"), 50), ErrForeign, "not a sketch"},
		{"a later version", with(text, 1, version+1), ErrNewer, fmt.Sprintf("version %d, this build reads %d", version+1, version)},
		{"cut short", text[:len(text)-1], ErrTruncated, "after the header, want"},
		{"a byte too many", append(bytes.Clone(text), 0), ErrDamaged, "after the header, want"},
		{"a list cut short", list("mod=4")[:headerSize+12], ErrTruncated, "want a multiple of 8"},
		{"unknown stream", with(text, 2, byte(len(token.Streams))), ErrDamaged, "stream"},
		{"unknown family", with(text, 4, byte(len(families))), ErrDamaged, "family"},
		{"three bits", with(cut, 5, 3), ErrDamaged, "bits=3"},
		{"no feature", with(text, 10, 0), ErrDamaged, "k=0"},
		{"an exponent without scaled", with(text, 13, 1), ErrDamaged, "exponent 1"},
		{"an exponent of 64", with(list("scaled"), 13, 64), ErrDamaged, "exponent 64"},
		{"no value of bottom", list("bottom=100")[:headerSize], ErrDamaged, "no values"},
		{"101 values of bottom=100", withValues(list("bottom=100"), ascendingValues(101, 1)...), ErrDamaged, "101 values, want at most 100"},
		{"101 values of scaled", withValues(list("scaled"), ascendingValues(101, 1<<20)...), ErrDamaged, "101 values, want at most 100"},
		{"a modulus beyond 31 bits", header("mod=4", func(b []byte) { binary.BigEndian.PutUint32(b[16:], 1<<31) }), ErrDamaged, "mod=2147483648"},
		{"a value twice", withValues(list("mod=4"), 4, 8, 8), ErrDamaged, "does not ascend"},
		{"values that descend", withValues(list("mod=4"), 8, 4), ErrDamaged, "does not ascend"},
		{"a value between the multiples", withValues(list("mod=4"), 4, 9), ErrDamaged, "value 9 is not a multiple of 4"},
		{"a value between the powers", withValues(with(list("scaled"), 13, 3), 8, 12), ErrDamaged, "value 12 is not a multiple of 2^3"},
		{"bits after the last slot", with(storedSketch(t, "t=85 k=12 s=7 bits=1", 100), -1, 0x04), ErrDamaged, "bits after the last slot"},
		{"bits after the last bin", with(bins, headerSize+10, bins[headerSize+10]|0x04), ErrDamaged, "bits after the last bin"},
		{"an empty bin with a value", with(bins, headerSize+11+emptyBin/8, bins[headerSize+11+emptyBin/8]|0x80>>(emptyBin%8)), ErrDamaged, fmt.Sprintf("bin %d is empty but has a value", emptyBin)},
		{"no bin filled", append(bytes.Clone(bins[:headerSize]), make([]byte, len(bins)-headerSize)...), ErrDamaged, "every bin is empty"},
	} {
		err := Check(c.b)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: error %v, want %v with %q", c.name, err, c.kind, c.text)
		}
		for _, other := range []error{ErrForeign, ErrTruncated, ErrNewer, ErrDamaged, ErrProfile, ErrBits} {
			if other != c.kind && errors.Is(err, other) {
				t.Errorf("%s: error %v is %v as well", c.name, err, other)
			}
		}
	}
	// The limits themselves are sound.
	for name, b := range map[string][]byte{
		"100 values of bottom=100": withValues(list("bottom=100"), ascendingValues(100, 1)...),
		"100 values of scaled":     withValues(with(list("scaled"), 13, 20), ascendingValues(100, 1<<20)...),
		"an exponent of 63":        withValues(with(list("scaled"), 13, 63), 1<<63),
		"no multiple of 4":         list("mod=4")[:headerSize],
		"no multiple in bottom":    list("bottom=10 mod=2000000000")[:headerSize],
		"the largest modulus":      header("mod=2147483647", func([]byte) {})[:headerSize],
	} {
		if err := Check(b); err != nil {
			t.Errorf("%s: %v, want no error", name, err)
		}
	}
	if _, err := Resemblance(text, storedSketch(t, "words w=5", 100)); !errors.Is(err, ErrProfile) {
		t.Errorf("resemblance of two profiles: %v, want ErrProfile", err)
	}
	if _, err := Features(nil, cut); !errors.Is(err, ErrBits) {
		t.Errorf("features of 8 bits: %v, want ErrBits", err)
	}
}

// A Sketcher gives what a new one does, whatever it took before: long documents
// and short ones, with repetitions and weights, and a document that was given up.
func TestSketcherForgets(t *testing.T) {
	docs := [][]byte{numberedWords(0, 20000), numberedWords(5, 9), numberedWords(0, 300), bytes.Repeat([]byte("again and "), 500), nil, numberedWords(7, 500)}
	for _, settings := range everyFamily {
		used := mustSketcher(t, settings)
		for _, doc := range docs {
			if err := used.AddWeighted([]byte("an element of weight"), 3); err != nil {
				t.Fatalf("%s: %v", settings, err)
			}
			used.Document(doc)
			fresh := mustSketcher(t, settings)
			fresh.Document(doc)
			if got, want := used.AppendSketch(nil), fresh.AppendSketch(nil); !bytes.Equal(got, want) {
				t.Errorf("%s, %.20q of %d bytes: a used Sketcher writes %d bytes, want the %d of a new one", settings, doc, len(doc), len(got), len(want))
			}
			if got, want := used.Shingles(), fresh.Shingles(); got != want {
				t.Errorf("%s, %.20q: %d shingles from a used Sketcher, want %d", settings, doc, got, want)
			}
			if got, want := fmt.Sprint(used.AppendFeatures(nil)), fmt.Sprint(fresh.AppendFeatures(nil)); got != want {
				t.Errorf("%s, %.20q: features %s, want %s", settings, doc, got, want)
			}
		}
	}
}

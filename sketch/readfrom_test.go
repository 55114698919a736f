package sketch

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// repeated reads a text over and over, n bytes of it.
type repeated struct {
	text string
	n    int
	at   int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), r.n)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.n -= n
	return n, nil
}

// A document of any length and kind takes no more memory than its sketch and a
// few buffers.
func TestReadFromIsBounded(t *testing.T) {
	for _, stream := range []string{"chars", "words", "lines", "soundex", "html", "code", "page"} {
		for _, text := range []string{"x", "日", "\u0301", "e\u0301", "\u1160", "\xff", " ", "<", "&", "<a ", "<a href=x ", "<a b='", "<!--", "<script>", "&#9", "&amp", "\u3300ﷺ", "0."} {
			s := mustSketcher(t, stream+" w=1 mod=1000000")
			if _, err := s.ReadFrom(&repeated{text: text, n: 150 << 10}); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := s.ReadFrom(&repeated{text: text, n: 1 << 19})
			runtime.ReadMemStats(&after)
			if n != 1<<19 || err != nil {
				t.Errorf("%s of %q: read %d bytes, %v", stream, text, n, err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<10 {
				t.Errorf("%s of %q: %d bytes allocated for 512 KB", stream, text, grown)
			}
		}
	}
}

type reader3 func(b []byte) (int, error)

func (f reader3) Read(b []byte) (int, error) { return f(b) }

func TestReadFromOddReaders(t *testing.T) {
	s := mustSketcher(t, "words")
	want := bytes.Clone(documentSketch(s, []byte("one two three four five six")))
	text := strings.NewReader("one two three four five six")
	calls := 0
	slow := reader3(func(b []byte) (int, error) {
		if calls++; calls%3 != 0 {
			return 0, nil
		}
		n, err := text.Read(b[:1])
		if text.Len() == 0 {
			err = io.EOF // with the last byte
		}
		return n, err
	})
	if n, err := s.ReadFrom(slow); n != 27 || err != nil || !bytes.Equal(s.AppendSketch(nil), want) {
		t.Errorf("a slow reader: %d bytes, %v", n, err)
	}
	if _, err := s.ReadFrom(reader3(func([]byte) (int, error) { return 0, nil })); err != io.ErrNoProgress || !s.Empty() {
		t.Errorf("a reader of nothing: %v, want %v", err, io.ErrNoProgress)
	}
	broken := errors.New("broken")
	if n, err := s.ReadFrom(io.MultiReader(strings.NewReader("one two"), iotest.ErrReader(broken))); err != broken || n != 7 || !s.Empty() {
		t.Errorf("a broken reader: %d bytes, %v", n, err)
	}
	for _, n := range []int{-1, 1 << 20} {
		if _, err := s.ReadFrom(reader3(func([]byte) (int, error) { return n, nil })); err == nil || !s.Empty() {
			t.Errorf("a reader of %d bytes: no error", n)
		}
	}
}

func documentSketch(s *Sketcher, doc []byte) []byte {
	s.Document(doc)
	return s.AppendSketch(nil)
}

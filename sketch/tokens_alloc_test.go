//go:build !race

package sketch

import (
	"os"
	"testing"
)

// In the steady state no document costs an allocation, whatever its stream and
// its script. (The race detector allocates.)
func TestStreamsAllocateNothing(t *testing.T) {
	var docs [][]byte
	for _, text := range texts {
		docs = append(docs, []byte(text))
	}
	for _, p := range everyStream {
		p.Family, p.T, p.K, p.S, p.R, p.Bits, p.W = Classic, 8, 2, 4, 1, 64, 4
		s, err := NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		run := func() {
			for _, doc := range docs {
				s.Document(doc)
				b = s.AppendSketch(b[:0])
			}
		}
		run()
		if n := testing.AllocsPerRun(5, run); n > 0 {
			t.Errorf("%s: %v allocations", p, n)
		}
	}
}

func TestHTMLTextAllocatesNothing(t *testing.T) {
	page, err := os.ReadFile("testdata/pages/letter.html")
	if err != nil {
		t.Fatal(err)
	}
	text := AppendHTMLText(nil, page)
	if n := testing.AllocsPerRun(50, func() { text = AppendHTMLText(text[:0], page) }); n > 0 {
		t.Errorf("%v allocations a page, want none", n)
	}
}

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
	for _, name := range []string{"internal/token/canary.txt", "internal/token/testdata/pages/letter.html", "internal/token/testdata/pages/scripts.html", "internal/token/testdata/pages/soup.html", "FORMAT.md"} {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	for i := range 8 * 16 {
		p := mustProfile(t, "classic t=8 k=2 s=4 r=1")
		if Stream(i/16) == Elements { // a set is read into a list first
			continue
		}
		p.Stream, p.ReverseFolding, p.StopWords, p.Vowels, p.Duplicates = Stream(i/16), i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0
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

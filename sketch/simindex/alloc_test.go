//go:build !race

package simindex

import "testing"

// The race detector makes a sync.Pool forget at random, so that there is
// nothing to count under it.
func TestIndexAllocatesNothing(t *testing.T) {
	text := textOf(t, "gettysburg.txt")
	for _, name := range []string{"1A/4", "43B/40", "27C/40", "45B/40/100", "33D/4", "14A/4"} {
		v := mustVariant(t, name)
		v.Index(text)
		// A collection may empty the pool between two runs.
		if n := testing.AllocsPerRun(100, func() { v.Index(text) }); n > 0.5 {
			t.Errorf("%s: %v allocations a document, want none", name, n)
		}
	}
}

//go:build !race

package token

import (
	"os"
	"testing"
)

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

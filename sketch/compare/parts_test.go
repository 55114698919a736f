package compare

import (
	"fmt"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for _, c := range []struct{ left, right, want string }{
		{"one two three", "one two three", "one two three"},
		{"one two three", "one four three", "one [-two-]{+four+} three"},
		{"", "x", "{+x+}"},
		{"x", "", "[-x-]"},
		{"One", "one", "[-One-]{+one+}"},
		{"a  b", "a b", "a[-  -]{+ +}b"},
		{"東京の支店", "東京の本店", "東京の[-支-]{+本+}店"},
		{"a\xffb", "a\xffb", "a\uFFFDb"},
	} {
		var got strings.Builder
		for _, p := range Parts(c.left, c.right) {
			fmt.Fprintf(&got, [...]string{"%s", "[-%s-]", "{+%s+}"}[p.Of], p.Text)
		}
		if got.String() != c.want {
			t.Errorf("%q and %q: %q, want %q", c.left, c.right, got.String(), c.want)
		}
	}
}

// The parts of the left and of both make the left text again; the right likewise.
func FuzzParts(f *testing.F) {
	f.Add("one, two three", "one two, four")
	f.Add("a a a a b", "b a a")
	f.Fuzz(func(t *testing.T, left, right string) {
		var x, y strings.Builder
		for _, p := range Parts(left, right) {
			if p.Of != Right {
				x.WriteString(p.Text)
			}
			if p.Of != Left {
				y.WriteString(p.Text)
			}
		}
		if l, r := strings.ToValidUTF8(left, "\uFFFD"), strings.ToValidUTF8(right, "\uFFFD"); x.String() != l || y.String() != r {
			t.Fatalf("the parts of %q and %q make %q and %q", l, r, x.String(), y.String())
		}
	})
}

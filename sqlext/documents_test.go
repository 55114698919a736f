package sqlext

import "testing"

// A row that is gone leaves the others their own keys, the first one too.
func TestDocumentsThatAreGone(t *testing.T) {
	d := documents{rows: []int64{1, 2, 3}, named: true}
	d.skip(1)
	d.keys, d.sketches = append(d.keys, []any{"b"}), append(d.sketches, 'x')
	d.ends, d.has = append(d.ends, 1), append(d.has, 0)
	d.skip(3)
	for i, want := range []string{"", "x", ""} {
		if got := string(d.sketch(i)); got != want {
			t.Errorf("the sketch of document %d is %q, want %q", i, got, want)
		}
	}
	if key, err := d.key(1); key != "b" || err != nil {
		t.Errorf("the key of the second document is %v, %v, want b", key, err)
	}
}

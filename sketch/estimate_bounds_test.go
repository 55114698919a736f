package sketch

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

func elementSketch(t testing.TB, settings string, from, to int) []byte {
	t.Helper()
	s := mustSketcher(t, "elements w=1 "+settings)
	for i := from; i < to; i++ {
		s.AddElement(fmt.Appendf(nil, "element %d", i))
	}
	return s.AppendSketch(nil)
}

func TestBounds(t *testing.T) {
	// The interval of 8 of 10 at 95 % is published: 0.4439 to 0.9748.
	a, b := elementSketch(t, "bottom=10", 0, 9), elementSketch(t, "bottom=10", 1, 10)
	got, err := Bounds(a, b, 0.95)
	if err != nil || math.Abs(got.Low-0.4439) > 5e-5 || got.Estimate != 0.8 || math.Abs(got.High-0.9748) > 5e-5 {
		t.Errorf("8 of 10: %v, %v", got, err)
	}
	for _, settings := range []string{"classic", "fast", "bins", "lean", "weighted", "bottom=100", "mod=4", "scaled"} {
		a, b := elementSketch(t, settings, 0, 800), elementSketch(t, settings, 200, 1000)
		blobs := [][2][]byte{{a, b}}
		if mustProfile(t, settings).Slots() {
			for _, bits := range []int{1, 2, 4, 8} {
				x, _ := Cut(nil, a, bits)
				y, _ := Cut(nil, b, bits)
				blobs = append(blobs, [2][]byte{x, y}, [2][]byte{x, b})
			}
		}
		for _, pair := range blobs {
			previous := 0.0
			for _, confidence := range []float64{0.5, 0.9, 0.99, 0.9999} {
				got, err := Bounds(pair[0], pair[1], confidence)
				r, _ := Resemblance(pair[0], pair[1])
				if err != nil || got.Estimate != r || !(0 <= got.Low && got.Low <= r && r <= got.High && got.High <= 1) || got.High-got.Low <= previous {
					t.Errorf("%s: %v at %v, %v; resemblance %v", settings, got, confidence, err, r)
				}
				previous = got.High - got.Low
			}
		}
	}
	if _, err := Bounds(a, b, 1); errorText(err) != "sketch: bounds: confidence 1, want above 0 and below 1" {
		t.Errorf("confidence 1: %v", err)
	}
	if _, err := Bounds(a, a[:4], 0.9); err == nil {
		t.Error("a truncated sketch has bounds")
	}
	// Nothing was sampled: nothing is known.
	s := mustSketcher(t, "elements w=1 mod=1000000")
	s.AddElement([]byte("one"))
	nothing := s.AppendSketch(nil)
	if got, err := Bounds(nothing, nothing, 0.9); err != nil || got != (Interval{0, 0, 1}) {
		t.Errorf("nothing sampled: %v, %v", got, err)
	}
}

// A bin that is empty in one sketch cannot match by luck: with the full share
// of 2^-b taken out, short documents would seem to differ more than they do.
func TestLuckOfEmptyBins(t *testing.T) {
	p := mustProfile(t, "elements w=1 bins t=4 k=1 s=1 r=1 bits=1")
	sketch := func(slots ...uint64) []byte { return appendSlots(appendHeader(nil, p, 0), p, slots) }
	const e = kernel.EmptySlot
	var zero, one uint64 // two values that differ in the bit that is kept
	for one = 1; kernel.Cut(one, 1) == kernel.Cut(zero, 1); one++ {
	}
	for _, c := range []struct {
		a, b  []byte
		tally tally
		want  float64
	}{
		{sketch(one, one, one, one), sketch(one, one, one, zero), tally{3, 4, 4, 1}, 0.5},
		{sketch(one, one, e, e), sketch(one, one, e, e), tally{2, 2, 2, 1}, 1},
		{sketch(one, one, one, e), sketch(one, one, e, one), tally{2, 4, 2, 1}, 0.5},
		{sketch(one, one, e, e), sketch(e, e, one, one), tally{0, 4, 0, 1}, 0},
		{sketch(one, one, e, e), sketch(zero, zero, e, one), tally{0, 3, 2, 1}, 0},
	} {
		got, err := compare(c.a, c.b)
		r, _ := Resemblance(c.a, c.b)
		if err != nil || got != c.tally || r != c.want {
			t.Errorf("%x %x: %v gives %v, %v; want %v and %v", c.a[headerSize:], c.b[headerSize:], got, r, err, c.tally, c.want)
		}
	}
}

// Size is exact when nothing was left out, and near the truth otherwise; its
// mean is tested with the estimators'.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		settings string
		n        int
		within   float64
	}{
		{"bottom=1000", 30, 0}, {"scaled", 30, 0}, {"mod=1", 10000, 0},
		{"bottom=1000", 10000, 0.1}, {"bottom=1000 mod=3", 10000, 0.1}, {"mod=4", 10000, 0.1}, {"scaled", 10000, 0.4},
		{"classic t=1000", 1, 0.1}, {"classic t=1000", 10000, 0.1}, {"lean t=1000", 3000, 0.1}, {"lean-zeros t=1000", 300, 0.1},
		{"fast t=1000", 1, 0.1}, {"fast t=1000", 2, 0.1}, {"fast t=1000", 500, 0.1}, {"fast t=1000", 20000, 0.1}, {"bins t=1000", 1, 0.1}, {"bins t=1000", 5000, 0.1},
	} {
		got, err := Size(elementSketch(t, c.settings, 0, c.n))
		if err != nil || math.Abs(got/float64(c.n)-1) > c.within {
			t.Errorf("%s: size %v of %d, %v", c.settings, got, c.n, err)
		}
	}
	if _, err := Size(elementSketch(t, "bottom=1", 0, 5)); err == nil || !strings.Contains(err.Error(), "at least two values") {
		t.Errorf("size from one value: %v", err)
	}
	for settings, want := range map[string]string{
		"weighted": "the family weighted tells no size", "lean-biased": "the family lean-biased tells no size",
		"classic bits=8": "size needs whole minima", "classic t=1 k=1 s=1 r=1": "at least two values",
	} {
		if _, err := Size(elementSketch(t, settings, 0, 5)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("size under %q: %v, want %q", settings, err, want)
		}
	}
}

package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// elements counts the elements of a picture by name, and fails when it is not
// XML or has no words for a screen reader.
func elements(t *testing.T, picture []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
	if count["title"] != 1 || count["desc"] != 1 || !bytes.Contains(picture, []byte(`role="img" aria-label="`)) {
		t.Error("the picture has no title or description")
	}
	return count
}

func TestCurve(t *testing.T) {
	points := []Point{{0.5, 0, 1000}, {0.9, 437, 1000}, {1, 1000, 1000}}
	var bare, linear, logarithmic, again bytes.Buffer
	for _, err := range []error{
		Curve(&bare, 6, 14, 2, nil),
		Curve(&linear, 6, 14, 2, points),
		LogCurve(&logarithmic, 6, 14, 2, points, -10),
		Curve(&again, 6, 14, 2, points),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(linear.Bytes(), again.Bytes()) {
		t.Error("the same points give another picture")
	}
	with, without := elements(t, linear.Bytes()), elements(t, bare.Bytes())
	if got := with["circle"] - without["circle"]; got != 4 {
		t.Errorf("3 points and their legend are %d circles, want 4", got)
	}
	for picture, want := range map[*bytes.Buffer]string{
		&bare:        "one half at 0.909.</desc>",
		&linear:      "at 3 resemblances",
		&logarithmic: "at 2 resemblances", // none was accepted at 0.5
	} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if !strings.Contains(logarithmic.String(), ">1e-10</text>") {
		t.Error("the logarithmic scale does not begin at 1e-10")
	}
	// Every class that is used has a colour for light pages and one for dark pages.
	for _, piece := range strings.Split(linear.String(), `class="`)[1:] {
		class, _, _ := strings.Cut(piece, `"`)
		if n := strings.Count(linear.String(), "."+class+"{"); n != 2 {
			t.Errorf("the class %s has %d rules, want 2", class, n)
		}
	}
}

func TestCurveErrors(t *testing.T) {
	for name, err := range map[string]error{
		"filter": Curve(io.Discard, 6, 14, 7, nil),
		"point":  Curve(io.Discard, 6, 14, 2, []Point{{0.5, 3, 2}}),
		"least":  LogCurve(io.Discard, 6, 14, 2, nil, 0),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		times, n  int
		low, high float64
	}{{0, 10, 0, 0.2775}, {5, 10, 0.2366, 0.7634}, {10, 10, 0.7225, 1}} {
		low, high := Wilson(float64(c.times)/float64(c.n), float64(c.n))
		if low < c.low-0.0001 || low > c.low+0.0001 || high < c.high-0.0001 || high > c.high+0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.times, c.n, low, high, c.low, c.high)
		}
	}
}

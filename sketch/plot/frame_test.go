package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// A box is where a text is drawn, as wide as a reader's font may make it.
type box struct {
	text                     string
	left, top, right, bottom float64
}

// texts returns the boxes of a chart's texts, and fails where one leaves the chart.
func texts(t *testing.T, picture []byte) []box {
	t.Helper()
	var width, height float64
	var boxes []box
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return boxes
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attribute := map[string]string{}
		for _, a := range start.Attr {
			attribute[a.Name.Local] = a.Value
		}
		length := func(name string) float64 {
			v, err := strconv.ParseFloat(attribute[name], 64)
			if err != nil {
				t.Fatalf("%s of a %s: %v", name, start.Name.Local, err)
			}
			return v
		}
		switch start.Name.Local {
		case "svg":
			width, height = length("width"), length("height")
		case "text":
			var s string
			if err := decoder.DecodeElement(&s, &start); err != nil {
				t.Fatal(err)
			}
			size, x, y := length("font-size"), length("x"), length("y")
			// A font such as Verdana has 0.58 em for a digit and 0.6 for most letters.
			wide := 0.58 * size * float64(len([]rune(s)))
			b := box{s, x, y - 0.8*size, x + wide, y + 0.25*size}
			switch attribute["text-anchor"] {
			case "middle":
				b.left, b.right = x-wide/2, x+wide/2
			case "end":
				b.left, b.right = x-wide, x
			}
			if b.left < -1 || b.right > width+1 || b.top < -1 || b.bottom > height+1 {
				t.Errorf("%q leaves the chart of %g by %g: %+v", s, width, height, b)
			}
			boxes = append(boxes, b)
		}
	}
}

// No text touches another one, on a phone, on a page and in a file, whatever the
// numbers and names are.
func TestTextsDoNotOverlap(t *testing.T) {
	long := strings.Repeat("a long name ", 30)
	counts := func(n int, highest int64) Histogram {
		h := Histogram{Title: "t", X: "rows in a cluster", Y: "clusters", Ratio: true, Mark: 0.75, MarkName: "alike from 0.75"}
		for i := range n {
			h.Counts = append(h.Counts, highest/int64(i+1))
			h.Labels = append(h.Labels, fmt.Sprintf("%d–%d", 1000*i, 1000*i+999))
		}
		return h
	}
	charts := map[string]func(io.Writer, Inline) error{
		"found": Found{Title: "t", K: 12, S: 7, AtLeast: 0.75, Points: []MeasuredShare{{0.5, 0.1, 0.05, 0.2}, {0.7, 0.5, 0.4, 0.6}}}.Write,
		"curve": func(w io.Writer, _ Inline) error {
			return Curve(w, 6, 14, 2, []Point{{0.9, 437, 1000}})
		},
		"logarithmic curve": func(w io.Writer, _ Inline) error { return LogCurve(w, 6, 14, 2, nil, -30) },
		"bars of names": func(w io.Writer, _ Inline) error {
			r := Ranking{Title: long, X: long}
			for i := range 40 {
				r.Bars = append(r.Bars, Bar{Name: fmt.Sprintf("contender %d", i), Value: float64(1000 * i)})
			}
			return Rank(w, r)
		},
		"lines": func(w io.Writer, _ Inline) error {
			c := Chart{Title: long, X: "documents", Y: "seconds", LogX: true, LogY: true}
			for i := range 14 {
				c.Lines = append(c.Lines, Line{fmt.Sprintf("contender %d", i), [][2]float64{{10, 1e-6}, {1e9, float64(i + 1)}}})
			}
			return Lines(w, c)
		},
		"a long name": func(w io.Writer, _ Inline) error {
			return Lines(w, Chart{Title: "t", X: long, Y: long, Lines: []Line{{long, [][2]float64{{-3, 0}, {4, 12345}}}}})
		},
	}
	for _, n := range []int{1, 2, 7, 20, 100} {
		for _, highest := range []int64{1, 100, 12_345_678} {
			h := counts(n, highest)
			charts[fmt.Sprintf("%d bands of %d", n, highest)] = h.Write
			h.Ratio = false
			charts[fmt.Sprintf("%d named bands of %d", n, highest)] = h.Write
		}
	}
	for name, draw := range charts {
		for _, in := range []Inline{{ID: "x", Width: 560, Height: 330}, {ID: "x", Width: 310, Height: 230}} {
			t.Run(fmt.Sprintf("%s/%d", name, in.Width), func(t *testing.T) {
				var b bytes.Buffer
				if err := draw(&b, in); err != nil {
					t.Fatal(err)
				}
				boxes := texts(t, b.Bytes())
				if len(boxes) < 4 {
					t.Errorf("%d texts, want the ends of both axes at least", len(boxes))
				}
				for i, a := range boxes {
					for _, b := range boxes[:i] {
						if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
							t.Errorf("%q and %q overlap: %+v %+v", a.text, b.text, a, b)
						}
					}
				}
			})
		}
	}
}

func TestWholeMarks(t *testing.T) {
	for _, n := range []int64{1, 2, 5, 9, 17, 100, 999, 123456} {
		list := wholeMarks(n)
		if len(list) < 2 || len(list) > 11 || list[0].value != 0 || list[len(list)-1].value > float64(n) {
			t.Errorf("the marks up to %d are %v, want 2 to 11 from 0", n, list)
		}
	}
}

// Values lie where the axes say.
func TestAlong(t *testing.T) {
	for _, c := range []struct {
		a    axis
		v    float64
		want float64
	}{
		{axis{max: 1}, 0.25, 0.25},
		{linear("", 0, 30), 15, 0.5},
		{linear("", -2, 2), 0, 0.5},
		{logarithmic("", 1, 100), 10, 0.5},
		{logarithmic("", 0.02, 0.03), 0.01, 0},
		{axis{min: 4}, 1, 0.75},
	} {
		if got := c.a.along(c.v); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%g on %+v is at %g, want %g", c.v, c.a, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.05: "0.05", 1e-10: "1e-10", 999: "999", 1000: "1000", 1213: "1210", 12345: "12.3 k", 1e6: "1 M", 1234567: "1230 k", 2.5e9: "2.5 G", 1e18: "1e+18", -4000: "-4000"} {
		if got := share(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}

// The curve of a filter is 1-(1-x^s)^k, from one end to the other.
func TestCurvePoints(t *testing.T) {
	points := curvePoints(12, 7)
	if len(points) != 101 {
		t.Fatalf("%d points, want 101", len(points))
	}
	for i, p := range points {
		x := float64(i) / 100
		want := 1 - math.Pow(1-math.Pow(x, 7), 12)
		if math.Abs(p[0]-x) > 1e-9 || math.Abs(p[1]-want) > 1e-9 {
			t.Errorf("point %d is %v, want %g and %g", i, p, x, want)
		}
	}
}

// The mark of a histogram stands at its value, and the bars below it have a colour of
// their own.
func TestHistogramMark(t *testing.T) {
	var b bytes.Buffer
	h := Histogram{Title: "t", Ratio: true, Mark: 0.75, MarkName: "from here", Counts: make([]int64, 20)}
	for i := range h.Counts {
		h.Counts[i] = 1
	}
	if err := h.Write(&b, Inline{ID: "x", Width: 560, Height: 330}); err != nil {
		t.Fatal(err)
	}
	if below, above := strings.Count(b.String(), `class="c4-f"`), strings.Count(b.String(), `class="c1-f"`); below != 15 || above != 5 {
		t.Errorf("%d bars are below the mark and %d above it, want 15 and 5", below, above)
	}
}

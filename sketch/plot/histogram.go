package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// A Histogram is how often what was measured lies in each band.
type Histogram struct {
	Title, Description string
	X, Y               string // the axes
	Labels             []string
	Counts             []int64
	Ratio              bool // the bands have equal widths from 0 to 1, which the axis shows instead of labels

	// With Ratio, a line across the bands: from here on.
	Mark     float64
	MarkName string
}

// Write draws the bands as bars. Where the highest is more than a thousand
// times the lowest, the scale is logarithmic and the axis says so.
func (h Histogram) Write(w io.Writer, in Inline) error {
	highest, lowest := int64(0), int64(math.MaxInt64)
	for _, n := range h.Counts {
		if n > 0 {
			highest, lowest = max(highest, n), min(lowest, n)
		}
	}
	if highest == 0 {
		return fmt.Errorf("plot: %s: nothing to draw", h.Title)
	}
	f := frame{x: h.xAxis(), y: axis{name: h.Y, max: float64(highest) * 1.08, marks: wholeMarks(highest)}}
	height := func(n int64) float64 { return float64(n) }
	if highest/lowest > 1000 {
		height = logHeight
		f.y = axis{name: h.Y + ", logarithmic", max: math.Ceil(logHeight(highest)) + 0.1}
		for e := 0.0; e+1 < f.y.max; e++ {
			f.y.marks = append(f.y.marks, mark{e + 0.5, count(int64(math.Pow10(int(e))))})
		}
	}
	marked := h.Ratio && h.MarkName != ""
	if marked {
		f.legend = []legend{{name: h.MarkName, class: series[1], line: true, dashed: true}}
	}
	f.inside = func(c *canvas) {
		for i, n := range h.Counts {
			if n == 0 {
				continue
			}
			class := series[0]
			if marked && (float64(i)+0.5)/float64(len(h.Counts)) < h.Mark {
				class = series[3]
			}
			// A bar has at least a pixel: what is there is seen.
			c.bar(c.px(float64(i)+0.08), min(c.py(height(n)), c.bottom-1), c.px(float64(i)+0.92), c.bottom, class)
		}
		if marked {
			x := h.Mark * float64(len(h.Counts))
			c.through([][2]float64{{x, 0}, {x, f.y.max}}, series[1], dashed)
		}
	}
	return in.write(w, f, h.Title, h.Description)
}

// xAxis has a place for each bar, and for six at least: a few bars are not as wide
// as the chart.
func (h Histogram) xAxis() axis {
	a := axis{name: h.X, max: float64(max(6, len(h.Counts)))}
	if h.Ratio {
		for _, m := range tenths() {
			a.marks = append(a.marks, mark{m.value * float64(len(h.Counts)), m.label})
		}
		return a
	}
	a.names = true
	for i, label := range h.Labels {
		a.marks = append(a.marks, mark{float64(i) + 0.5, label})
	}
	return a
}

// logHeight is the height of a bar on a logarithmic scale on which a count of one
// is seen.
func logHeight(n int64) float64 { return math.Log10(float64(n)) + 0.5 }

// wholeMarks are two to eleven whole numbers from 0 to n.
func wholeMarks(n int64) []mark {
	step := int64(1)
	for ; n/step > 8; step *= 10 {
	}
	if n/step < 2 && step >= 10 {
		step /= 5
	} else if n/step < 4 && step >= 2 {
		step /= 2
	}
	var list []mark
	for v := int64(0); v <= n; v += step {
		list = append(list, mark{float64(v), count(v)})
	}
	return list
}

// count is a number as an axis has room for.
func count(n int64) string {
	switch {
	case n >= 1_000_000_000 && n%100_000_000 == 0:
		return share(float64(n)/1e9) + " G"
	case n >= 1_000_000 && n%100_000 == 0:
		return share(float64(n)/1e6) + " M"
	case n >= 10_000 && n%100 == 0:
		return share(float64(n)/1e3) + " k"
	}
	return strconv.FormatInt(n, 10)
}

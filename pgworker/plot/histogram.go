package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A Histogram is how often what was measured lies in each of some bands.
type Histogram struct {
	Title, Description string
	X, Y               string // the axes
	Labels             []string
	Counts             []int64
	Ratio              bool // the labels are the lower ends of bands of equal width, so that the axis can be a scale from 0 to 1

	// A line across the bands, with a Ratio alone: from here on.
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
	logarithmic := highest/lowest > 1000
	y := h.Y
	if logarithmic {
		y += ", logarithmic"
	}
	p := chart("", h.X, y)
	in.fit(p)
	p.Add(bars{h, logarithmic})
	p.X.Min, p.X.Max = 0, float64(max(6, len(h.Counts))) // a few bars are not as wide as the chart
	p.Y.Min = 0
	if logarithmic {
		p.Y.Max = math.Ceil(logHeight(highest))
		var at []float64
		for e := 0.0; e < p.Y.Max; e++ {
			at = append(at, e+0.5)
		}
		p.Y.Tick.Marker = ticks(func(v float64) string { return count(int64(math.Pow10(int(v)))) }, at...)
		p.Y.Max += 0.1
	} else {
		p.Y.Max = float64(highest) * 1.08
		p.Y.Tick.Marker = wholeTicks(highest)
	}
	p.X.Tick.Marker = h.xTicks(in)
	p.X.Tick.Length = 0
	if h.Ratio && h.MarkName != "" {
		x := h.Mark * float64(len(h.Counts))
		line, err := plotter.NewLine(plotter.XYs{{X: x, Y: 0}, {X: x, Y: p.Y.Max}})
		if err != nil {
			return err
		}
		line.Color, line.Width = series[1].color(), 2
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		p.Add(line)
		p.Legend.Add(h.MarkName, line)
		p.Legend.Top, p.Legend.Left = true, true
		p.Legend.XOffs, p.Legend.YOffs = 8, -4
	}
	return in.write(w, p, h.Title, h.Description)
}

func (h Histogram) xTicks(in Inline) plot.ConstantTicks {
	var marks plot.ConstantTicks
	if h.Ratio {
		step := 0.1
		if in.narrow() {
			step = 0.2
		}
		for v := 0.0; v <= 1.0001; v += step {
			marks = append(marks, plot.Tick{Value: v * float64(len(h.Counts)), Label: share(v)})
		}
		return marks
	}
	for i, label := range h.Labels {
		marks = append(marks, plot.Tick{Value: float64(i) + 0.5, Label: label})
	}
	return marks
}

// logHeight is the height of a bar on a logarithmic scale on which one is seen.
func logHeight(n int64) float64 { return math.Log10(float64(n)) + 0.5 }

// wholeTicks are four to eight whole numbers up to n.
func wholeTicks(n int64) plot.ConstantTicks {
	step := int64(1)
	for ; n/step > 8; step *= 10 {
	}
	if n/step < 2 && step >= 10 {
		step /= 5
	} else if n/step < 4 && step >= 2 {
		step /= 2
	}
	var marks plot.ConstantTicks
	for v := int64(0); v <= n; v += step {
		marks = append(marks, plot.Tick{Value: float64(v), Label: count(v)})
	}
	return marks
}

// count is a number as an axis has room for.
func count(n int64) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return share(float64(n)/1e6) + " M"
	case n >= 10_000 && n%100 == 0:
		return share(float64(n)/1e3) + " k"
	}
	return strconv.FormatInt(n, 10)
}

package plot

import (
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Line is a named series of points.
type Line struct {
	Name   string
	Points [][2]float64 // x and y
}

// A Chart is lines over axes.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool // all the values of a logarithmic axis are above 0
	Lines       []Line
}

// Lines draws a chart. A line without points is left out; without any line
// there is nothing to draw, which is an error.
func Lines(w io.Writer, c Chart) error {
	p := chart(c.Title, c.X, c.Y)
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Legend.Top, p.Legend.Left = true, true
	var names []string
	for _, l := range c.Lines {
		if len(l.Points) == 0 {
			continue
		}
		var xys plotter.XYs
		for _, point := range l.Points {
			if c.LogX && point[0] <= 0 || c.LogY && point[1] <= 0 {
				return fmt.Errorf("plot: %s: %v on a logarithmic axis", l.Name, point)
			}
			xys = append(xys, plotter.XY{X: point[0], Y: point[1]})
		}
		line, marks, err := plotter.NewLinePoints(xys)
		if err != nil {
			return fmt.Errorf("plot: %s: %w", l.Name, err)
		}
		i := len(names)
		color := series[i%len(series)].color()
		line.Color, line.Width, marks.Color, marks.Radius = color, 2, color, 3
		marks.Shape = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}[i%4]
		if i >= len(series) {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line, marks)
		p.Legend.Add(l.Name, line, marks)
		names = append(names, l.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("plot: %s: no points", c.Title)
	}
	// Room for the legend above the lines.
	if p.Y.Max += (p.Y.Max - p.Y.Min) * 0.06 * float64(len(names)+1); c.LogY {
		p.Y.Max = c.top()
	}
	return write(w, p, c.Y+" by "+c.X+" of "+strings.Join(names, ", "))
}

// top is the highest value of a logarithmic axis: a decade for four names.
func (c Chart) top() float64 {
	low, high, n := 0.0, 0.0, 0
	for _, l := range c.Lines {
		for i, point := range l.Points {
			if i == 0 {
				n++
			}
			if low == 0 || point[1] < low {
				low = point[1]
			}
			high = max(high, point[1])
		}
	}
	for range (n + 2) / 3 {
		high *= 10
	}
	return high
}

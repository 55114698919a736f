package plot

import (
	"fmt"
	"io"
	"math"
	"strings"
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

// Lines draws a chart as a file. A line without points is left out; without any line
// there is nothing to draw, which is an error.
func Lines(w io.Writer, c Chart) error {
	f, description, err := c.frame()
	if err != nil {
		return err
	}
	return write(w, f, description)
}

// Write draws a chart as an element of a page.
func (c Chart) Write(w io.Writer, in Inline) error {
	f, description, err := c.frame()
	if err != nil {
		return err
	}
	return in.write(w, f, c.Title, description)
}

// frame is the chart without its place, and its description.
func (c Chart) frame() (f frame, description string, err error) {
	low := [2]float64{math.Inf(1), math.Inf(1)}
	high := [2]float64{math.Inf(-1), math.Inf(-1)}
	f.title = c.Title
	var drawn []Line
	var names []string
	for _, l := range c.Lines {
		if len(l.Points) == 0 {
			continue
		}
		for _, point := range l.Points {
			if c.LogX && point[0] <= 0 || c.LogY && point[1] <= 0 {
				return f, "", fmt.Errorf("plot: %s: %v on a logarithmic axis", l.Name, point)
			}
			for i, v := range point {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return f, "", fmt.Errorf("plot: %s: %v is not a point", l.Name, point)
				}
				low[i], high[i] = min(low[i], v), max(high[i], v)
			}
		}
		i := len(drawn)
		f.legend = append(f.legend, legend{name: l.Name, class: series[i%len(series)], line: true, dashed: i >= len(series), glyph: glyphs[i%len(glyphs)]})
		drawn, names = append(drawn, l), append(names, l.Name)
	}
	if len(drawn) == 0 {
		return f, "", fmt.Errorf("plot: %s: no points", c.Title)
	}
	scale := func(name string, log bool, i int) axis {
		if log {
			return logarithmic(name, low[i], high[i])
		}
		return linear(name, low[i], high[i])
	}
	f.x, f.y = scale(c.X, c.LogX, 0), scale(c.Y, c.LogY, 1)
	f.inside = func(canvas *canvas) {
		for i, l := range drawn {
			dashes := ""
			if f.legend[i].dashed {
				dashes = dashed
			}
			canvas.through(l.Points, f.legend[i].class, dashes)
			for _, point := range l.Points {
				f.legend[i].glyph(canvas, canvas.px(point[0]), canvas.py(point[1]), f.legend[i].class)
			}
		}
	}
	return f, c.Y + " by " + c.X + " of " + strings.Join(names, ", "), nil
}

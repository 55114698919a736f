package plot

import (
	"fmt"
	"io"

	"github.com/alike-sql/alike/sketch"
)

// A Found is the chart of how many pairs a filter finds, with measurements of the
// same filter without one of its features.
type Found struct {
	Title, Description string
	K, S               int
	AtLeast            float64 // the resemblance from which pairs are wanted
	Points             []MeasuredShare
}

// A MeasuredShare is a share that was measured at a resemblance, with its
// interval.
type MeasuredShare struct{ Resemblance, Share, Low, High float64 }

// Write draws P(k,s,1), P(k-1,s,1) and the points that should lie on the second.
func (f Found) Write(w io.Writer, in Inline) error {
	if err := sketch.CheckFilter(f.K, f.S, 1); err != nil {
		return err
	}
	limit := f.AtLeast > 0 && f.AtLeast < 1
	chart := frame{x: axis{name: "resemblance of two rows", max: 1, marks: tenths()},
		y:      axis{name: "share of pairs found", max: 1, marks: marks(share, 0, .2, .4, .6, .8, 1)},
		legend: []legend{{name: fmt.Sprintf("%d features", f.K), class: series[0], line: true}}}
	if limit {
		chart.legend = append(chart.legend, legend{name: "alike from here", class: series[2], line: true, dashed: true})
	}
	if len(f.Points) > 0 {
		chart.legend = append(chart.legend, legend{name: fmt.Sprintf("%d features", f.K-1), class: series[1], line: true, dashed: true},
			legend{name: "measured", class: series[1], glyph: circle})
	}
	chart.inside = func(c *canvas) {
		c.through(curvePoints(f.K, f.S), series[0], "")
		if limit {
			c.through([][2]float64{{f.AtLeast, 0}, {f.AtLeast, 1}}, series[2], dashed)
		}
		if len(f.Points) > 0 {
			c.through(curvePoints(f.K-1, f.S), series[1], dashed)
		}
		for _, at := range f.Points {
			c.interval(at.Resemblance, at.Share, min(at.Low, at.Share), max(at.High, at.Share), series[1])
		}
	}
	return in.write(w, chart, f.Title, f.Description)
}

func curvePoints(k, s int) [][2]float64 {
	if k == 0 {
		return [][2]float64{{0, 0}, {1, 0}}
	}
	var points [][2]float64
	for _, at := range sketch.FilterCurve(k, s, 1, 101) {
		points = append(points, [2]float64{at.Resemblance, at.Probability})
	}
	return points
}

package plot

import (
	"fmt"
	"io"
	"math"

	"github.com/alike-sql/alike/sketch"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Point is a measurement of a filter: of so many pairs of documents that have
// the resemblance, so many were accepted.
type Point struct {
	Resemblance     float64
	Accepted, Pairs int
}

// Curve draws the probability P(k,s,r) that a filter accepts a pair, by the
// pair's resemblance, as Figure 1 of Broder 2000, with the points that were
// measured, if there are any.
func Curve(w io.Writer, k, s, r int, points []Point) error {
	return curve(w, k, s, r, points, 0)
}

// LogCurve is Curve with a logarithmic scale of probabilities, as Figure 2 of
// Broder 2000, from 10 to the power of least, such as -10. Points that accepted
// no pair have no place on it and are left out.
func LogCurve(w io.Writer, k, s, r int, points []Point, least int) error {
	if least >= 0 {
		return fmt.Errorf("plot: the least probability is 10^%d, want a negative exponent", least)
	}
	return curve(w, k, s, r, points, least)
}

func curve(w io.Writer, k, s, r int, points []Point, least int) error {
	if err := sketch.CheckFilter(k, s, r); err != nil {
		return err
	}
	p := chart(fmt.Sprintf("%d features of %d minima, %d shared", k, s, r), "resemblance", "probability of acceptance")
	p.X.Min, p.X.Max = 0, 1
	p.X.Tick.Marker = ticks(share, 0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = ticks(share, 0, .2, .4, .6, .8, 1)
	p.Legend.Left, p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs = true, true, 12, -8
	floor, scale := 0.0, func(v float64) float64 { return v }
	if least < 0 {
		// Exponents on a linear axis: with the library's own logarithmic scale the
		// label of the axis takes room at the top.
		floor, scale = math.Pow10(least), math.Log10
		p.Y.Min, p.Y.Max = float64(least), 0
		step := (-least + 9) / 10
		var marks []float64
		for e := 0; e >= least; e -= step {
			marks = append(marks, float64(e))
		}
		p.Y.Tick.Marker = ticks(func(e float64) string { return share(math.Pow10(int(e))) }, marks...)
	}

	var line plotter.XYs
	for _, at := range sketch.FilterCurve(k, s, r, 501) {
		if at.Probability >= floor {
			line = append(line, plotter.XY{X: at.Resemblance, Y: scale(at.Probability)})
		}
	}
	theory, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	theory.Color, theory.Width = series[0].color(), 2
	p.Add(theory)
	p.Legend.Add(fmt.Sprintf("P(%d,%d,%d)", k, s, r), theory)

	description := fmt.Sprintf("The probability that a filter of %d features of %d minima accepts a pair that shares %d of them climbs from 0 to 1 with the pair's resemblance, and is one half at %.3f.",
		k, s, r, sketch.HalfPoint(k, s, r))
	measured := measurements{}
	for _, at := range points {
		if at.Pairs < 1 || at.Accepted < 0 || at.Accepted > at.Pairs {
			return fmt.Errorf("plot: %d of %d pairs at resemblance %g", at.Accepted, at.Pairs, at.Resemblance)
		}
		rate := float64(at.Accepted) / float64(at.Pairs)
		if least < 0 && rate < floor {
			continue
		}
		low, high := interval(at.Accepted, at.Pairs)
		measured.XYs = append(measured.XYs, plotter.XY{X: at.Resemblance, Y: scale(rate)})
		measured.reach = append(measured.reach, struct{ Low, High float64 }{scale(rate) - scale(max(low, floor)), scale(high) - scale(rate)})
	}
	if len(measured.XYs) > 0 {
		bars, err := plotter.NewYErrorBars(measured)
		if err != nil {
			return err
		}
		bars.Color, bars.CapWidth = series[1].color(), 5
		dots, err := plotter.NewScatter(measured)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: series[1].color(), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		p.Add(bars, dots)
		p.Legend.Add("measured", dots)
		description += fmt.Sprintf(" The measured acceptance at %d resemblances is drawn as points with intervals of 95 %%.", len(measured.XYs))
	}
	return write(w, p, description)
}

// measurements are points with their intervals.
type measurements struct {
	plotter.XYs
	reach plotter.YErrors
}

func (m measurements) YError(i int) (low, high float64) { return m.reach[i].Low, m.reach[i].High }

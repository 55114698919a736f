package plot

import (
	"fmt"
	"io"
	"math"

	"github.com/alike-sql/alike/sketch"
)

// A Point is a measurement of a filter: how many of the pairs that have the
// resemblance were accepted.
type Point struct {
	Resemblance     float64
	Accepted, Pairs int
}

// Curve draws the probability P(k,s,r) that a filter accepts a pair, by the
// pair's resemblance, as Figure 1 of Broder 2000, with measured points, if there
// are any.
func Curve(w io.Writer, k, s, r int, points []Point) error {
	y := axis{name: "probability of acceptance", max: 1, marks: marks(share, 0, .2, .4, .6, .8, 1)}
	return curve(w, k, s, r, points, 0, y)
}

// LogCurve is Curve with a logarithmic scale of probabilities, as Figure 2 of
// Broder 2000, from 10 to the power of minExponent, such as -10. Points that accepted
// no pair have no place on it and are left out.
func LogCurve(w io.Writer, k, s, r int, points []Point, minExponent int) error {
	if minExponent >= 0 {
		return fmt.Errorf("plot: the smallest probability is 10^%d, want a negative exponent", minExponent)
	}
	floor := math.Pow10(minExponent)
	return curve(w, k, s, r, points, floor, logarithmic("probability of acceptance", floor, 1))
}

func curve(w io.Writer, k, s, r int, points []Point, floor float64, y axis) error {
	if err := sketch.CheckFilter(k, s, r); err != nil {
		return err
	}
	var theory [][2]float64
	for _, at := range sketch.FilterCurve(k, s, r, 501) {
		if at.Probability >= floor {
			theory = append(theory, [2]float64{at.Resemblance, at.Probability})
		}
	}
	var measured []MeasuredShare
	for _, at := range points {
		if at.Pairs < 1 || at.Accepted < 0 || at.Accepted > at.Pairs {
			return fmt.Errorf("plot: %d of %d pairs at resemblance %g", at.Accepted, at.Pairs, at.Resemblance)
		}
		rate := float64(at.Accepted) / float64(at.Pairs)
		if rate >= floor {
			low, high := Wilson(rate, float64(at.Pairs))
			measured = append(measured, MeasuredShare{at.Resemblance, rate, max(low, floor), high})
		}
	}
	f := frame{title: fmt.Sprintf("%d features of %d minima, %d shared", k, s, r), x: axis{name: "resemblance", max: 1, marks: tenths()}, y: y,
		legend: []legend{{name: fmt.Sprintf("P(%d,%d,%d)", k, s, r), class: series[0], line: true}}}
	description := fmt.Sprintf("The probability that a filter of %d features of %d minima accepts a pair that shares %d of them climbs from 0 to 1 with the pair's resemblance, and is one half at %.3f.",
		k, s, r, sketch.HalfPoint(k, s, r))
	if len(measured) > 0 {
		f.legend = append(f.legend, legend{name: "measured", class: series[1], glyph: circle})
		description += fmt.Sprintf(" The measured acceptance at %d resemblances is drawn as points with intervals of 95 %%.", len(measured))
	}
	f.inside = func(c *canvas) {
		c.through(theory, series[0], "")
		for _, at := range measured {
			c.interval(at.Resemblance, at.Share, at.Low, at.High, series[1])
		}
	}
	return write(w, f, description)
}

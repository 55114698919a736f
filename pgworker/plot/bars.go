package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars draws the bars of a histogram, a little apart, those from its mark on in
// a colour of their own.
type bars struct {
	Histogram
	logarithmic bool
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, n := range b.Counts {
		if n == 0 {
			continue
		}
		height := float64(n)
		if b.logarithmic {
			height = logHeight(n)
		}
		color := series[0].color()
		if b.Ratio && b.MarkName != "" && (float64(i)+0.5)/float64(len(b.Counts)) < b.Mark {
			color = series[3].color()
		}
		left, right := x(float64(i)+0.08), x(float64(i)+0.92)
		bottom, top := y(0), y(height)
		if top < bottom+1 {
			top = bottom + 1 // what is there is seen
		}
		c.FillPolygon(color, c.ClipPolygonXY([]vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}))
	}
}

package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/alike-sql/alike/sketch"
)

// A Found is the picture of how many pairs a filter finds, with measurements
// of the same filter without one of its features.
type Found struct {
	Title, Description string
	K, S               int
	AtLeast            float64 // from where on pairs are wanted
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
	p := chart("", "resemblance of two rows", "share of pairs found")
	in.fit(p)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Y.Tick.Marker = ticks(share, 0, .2, .4, .6, .8, 1)
	p.X.Tick.Marker = ticks(share, 0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1)
	if in.narrow() {
		p.X.Tick.Marker = ticks(share, 0, .2, .4, .6, .8, 1)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = 8, -4
	add := func(name string, points plotter.XYs, t tint, dashes ...vg.Length) error {
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width, line.Dashes = t.color(), 2, dashes
		p.Add(line)
		p.Legend.Add(name, line)
		return nil
	}
	if err := add(fmt.Sprintf("%d features", f.K), curvePoints(f.K, f.S), series[0]); err != nil {
		return err
	}
	if f.AtLeast > 0 && f.AtLeast < 1 {
		if err := add("alike from here", plotter.XYs{{X: f.AtLeast, Y: 0}, {X: f.AtLeast, Y: 1}}, series[2], 2, 3); err != nil {
			return err
		}
	}
	if len(f.Points) > 0 {
		if err := add(fmt.Sprintf("%d features", f.K-1), curvePoints(f.K-1, f.S), series[1], 5, 3); err != nil {
			return err
		}
		m := measurements{}
		for _, at := range f.Points {
			m.XYs = append(m.XYs, plotter.XY{X: at.Resemblance, Y: at.Share})
			m.reach = append(m.reach, struct{ Low, High float64 }{max(0, at.Share-at.Low), max(0, at.High-at.Share)})
		}
		bars, err := plotter.NewYErrorBars(m)
		if err != nil {
			return err
		}
		bars.Color, bars.CapWidth, bars.Width = series[1].color(), 6, 1.5
		dots, err := plotter.NewScatter(m)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: series[1].color(), Radius: 3.5, Shape: draw.CircleGlyph{}}
		p.Add(bars, dots)
		p.Legend.Add("measured", dots)
	}
	return in.write(w, p, f.Title, f.Description)
}

func curvePoints(k, s int) plotter.XYs {
	var points plotter.XYs
	if k == 0 {
		return plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 0}}
	}
	for _, at := range sketch.FilterCurve(k, s, 1, 101) {
		points = append(points, plotter.XY{X: at.Resemblance, Y: at.Probability})
	}
	return points
}

// fit makes the text of a chart as large as a page's.
func (in Inline) fit(p *plot.Plot) {
	size := vg.Length(13)
	for _, style := range []*draw.TextStyle{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Size = size
	}
	p.Title.Padding = 0
	p.Legend.TextStyle.Font.Size = size
	p.Legend.Padding = 3
	p.X.Padding, p.Y.Padding = 4, 4
	p.Y.Label.Padding = 2
	p.X.Tick.Label.Color, p.Y.Tick.Label.Color = ink.color(), ink.color()
	if in.narrow() {
		p.Y.Label.Text = "" // the caption says it
	}
}

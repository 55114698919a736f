package plot

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A Ranking is a bar for each name, the greatest on top. The names with a mark
// have a colour of their own.
type Ranking struct {
	Title, X string
	Bars     []Bar
}

// A Bar is one name of a Ranking.
type Bar struct {
	Name  string
	Value float64
	Mark  bool
}

// Rank draws a ranking. Without any bar there is nothing to draw, which is an
// error.
func Rank(w io.Writer, r Ranking) error {
	if len(r.Bars) == 0 {
		return fmt.Errorf("plot: %s: no bars", r.Title)
	}
	bars := slices.Clone(r.Bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { // upwards, as the axis goes
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	p := chart(r.Title, r.X, "")
	p.X.Min = 0
	var names, spoken []string
	places := plotter.XYLabels{}
	thick := vg.Length(min(16, 240/float64(len(bars))))
	for i, b := range bars {
		bar, err := plotter.NewBarChart(plotter.Values{b.Value}, thick)
		if err != nil {
			return fmt.Errorf("plot: %s: %w", b.Name, err)
		}
		bar.Horizontal, bar.XMin, bar.LineStyle.Width = true, float64(i), 0
		bar.Color = series[0].color()
		if b.Mark {
			bar.Color = series[1].color()
		}
		p.Add(bar)
		names = append(names, b.Name+"    ") // a reader's own font may be wider than ours
		places.XYs = append(places.XYs, plotter.XY{X: b.Value, Y: float64(i)})
		places.Labels = append(places.Labels, " "+share(b.Value))
		spoken = append(spoken, b.Name+" "+share(b.Value))
	}
	labels, err := plotter.NewLabels(places)
	if err != nil {
		return fmt.Errorf("plot: %s: %w", r.Title, err)
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i].Color, labels.TextStyle[i].Font.Size, labels.TextStyle[i].YAlign = ink.color(), 11, -0.4
		labels.TextStyle[i].Font.Variant = "Sans"
	}
	p.Add(labels)
	p.NominalY(names...)
	p.X.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		marks := plot.DefaultTicks{}.Ticks(low, high)
		for i, m := range marks {
			if m.Label != "" {
				marks[i].Label = share(m.Value)
			}
		}
		return marks
	})
	p.Y.Tick.Label.Font.Size = 11
	p.X.Max *= 1.08 // for the last label
	slices.Reverse(spoken)
	return write(w, p, r.X+": "+strings.Join(spoken, ", "))
}

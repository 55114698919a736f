package advise

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/plot"
)

// Chart shows what filters find by resemblance, those that several presets have once, and
// what was measured of each preset with enough pairs in the sample.
func Chart(list []Advice) plot.Chart {
	const enough = 5 // pairs that a point is worth
	chart := plot.Chart{Title: "Pairs found, by resemblance", X: "resemblance", Y: "share of the pairs found"}
	lines := map[[2]int]int{}
	var measured []plot.Line
	for _, a := range list {
		p, err := sketch.ParseProfile(a.Settings)
		if err != nil {
			panic(err) // a preset of ours
		}
		i, known := lines[[2]int{p.K, p.S}]
		if known {
			chart.Lines[i].Name += ", " + a.Preset
		} else {
			lines[[2]int{p.K, p.S}] = len(chart.Lines)
			line := plot.Line{Name: fmt.Sprintf("%d × %d: %s", p.K, p.S, a.Preset)}
			for _, at := range sketch.FilterCurve(p.K, p.S, 1, 41) {
				line.Points = append(line.Points, [2]float64{at.Resemblance, at.Probability})
			}
			chart.Lines = append(chart.Lines, line)
		}
		line := plot.Line{Name: a.Preset + ", measured"}
		for _, at := range a.Curve {
			if at.Pairs >= enough {
				line.Points = append(line.Points, [2]float64{at.Resemblance + sketch.FilterMargin/2, at.Measured})
			}
		}
		if len(line.Points) > 1 {
			measured = append(measured, line)
		}
	}
	chart.Lines = append(chart.Lines, measured...)
	return chart
}

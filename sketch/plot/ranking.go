package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Ranking is a bar for each name, the greatest on top. The names with a mark
// have a colour of their own.
type Ranking struct {
	Title, X string
	Bars     []Bar
}

// A Bar is one name of a Ranking. Its value is not negative.
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
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
	greatest := bars[0].Value * 1.12 // room for the label of its value
	f := frame{title: r.Title, x: linear(r.X, 0, greatest), y: axis{min: float64(len(bars)), names: true}, minLines: len(bars)}
	f.x.max = max(f.x.max, greatest)
	var spoken []string
	for i, b := range bars {
		f.y.marks = append(f.y.marks, mark{float64(i) + 0.5, b.Name})
		spoken = append(spoken, b.Name+" "+share(b.Value))
	}
	f.inside = func(c *canvas) {
		for i, b := range bars {
			class := series[0]
			if b.Mark {
				class = series[1]
			}
			c.bar(c.left, c.py(float64(i)+0.12), c.px(b.Value), c.py(float64(i)+0.88), class)
			c.text(c.px(b.Value)+3, c.py(float64(i)+0.5)+c.size*0.35, "start", ink, c.size-2, share(b.Value))
		}
	}
	return write(w, f, r.X+": "+strings.Join(spoken, ", "))
}

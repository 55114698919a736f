// Package plot draws the project's pictures, as SVG files that can be read in a
// light and in a dark page, on paper and by a screen reader.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// tint is a colour of the pictures on a light page, written as the drawing
// library writes it, and on a dark one.
type tint struct{ light, dark string }

var (
	paper = tint{"#FFFFFF", "#0d1117"}
	ink   = tint{"#1F2328", "#e6edf3"}
	faint = tint{"#D0D7DE", "#30363d"}
	tints = append([]tint{paper, ink, faint}, series[:]...)
)

// series are the colours of what is drawn, in order. Shapes tell them apart too.
var series = [...]tint{
	{"#0969DA", "#58a6ff"},
	{"#BC4C00", "#f0883e"},
	{"#1A7F37", "#3fb950"},
	{"#8250DF", "#bc8cff"},
	{"#9A6700", "#d29922"},
	{"#CF222E", "#ff7b72"},
}

func (t tint) color() color.Color {
	n, err := strconv.ParseUint(t.light[1:], 16, 24)
	if err != nil {
		panic(err)
	}
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
}

const width, height = 640, 420

// chart is a plot in the project's style.
func chart(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = paper.color()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Title.Padding = 16, 10
	p.Title.TextStyle.Color = ink.color()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = ink.color(), ink.color()
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = ink.color(), ink.color()
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 14, 12
		axis.Label.Padding = 6
	}
	p.Legend.TextStyle.Font.Size, p.Legend.TextStyle.Color = 13, ink.color()
	p.Legend.ThumbnailWidth, p.Legend.Padding = 24, 4
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = faint.color(), faint.color()
	p.Add(grid)
	return p
}

// ticks are the marks of an axis, at the values given.
func ticks(format func(float64) string, values ...float64) plot.ConstantTicks {
	var marks plot.ConstantTicks
	for _, v := range values {
		marks = append(marks, plot.Tick{Value: v, Label: format(v)})
	}
	return marks
}

func share(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// write writes the plot with what a screen reader says of it.
func write(w io.Writer, p *plot.Plot, description string) error {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.Crop(draw.New(canvas), 6, -10, 8, -8))
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return err
	}
	_, body, found := strings.Cut(drawn.String(), `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	if !found {
		return errors.New("plot: the drawing has no root element that is known")
	}
	// The fonts are only named. Any other sans serif will do.
	body = strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	var b strings.Builder
	title := html.EscapeString(p.Title.Text)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, title)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n<style>@media (prefers-color-scheme:dark){", title, html.EscapeString(description))
	for _, t := range tints {
		for _, property := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, `svg [style*="%s:%s"]{%s:%s!important}`, property, t.light, property, t.dark)
		}
	}
	b.WriteString("}</style>")
	b.WriteString(body)
	_, err := io.WriteString(w, b.String())
	return err
}

// interval holds the probability of an event that happened so many times in n,
// in 95 of 100 cases.
func interval(times, n int) (low, high float64) {
	return Wilson(float64(times)/float64(n), float64(n))
}

// Wilson holds the probability of an event whose rate was measured in so many
// trials, in 95 of 100 cases (Wilson 1927).
func Wilson(rate, trials float64) (low, high float64) {
	const z = 1.96
	middle := rate + z*z/(2*trials)
	reach := z * math.Sqrt(rate*(1-rate)/trials+z*z/(4*trials*trials))
	return (middle - reach) / (1 + z*z/trials), (middle + reach) / (1 + z*z/trials)
}

// Package plot draws the project's charts as SVG that can be read on a light and
// on a dark page, on a phone, on paper and by a screen reader. A chart is an
// element of an HTML page (Inline) or a file of its own.
package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// tint is a colour on a light page and on a dark one.
type tint struct{ class, light, dark string }

// tints are what is drawn with. The last six, series, tell the parts of a chart
// apart, in this order; shapes and dashes tell them apart too.
var tints = [...]tint{
	{"paper", "#ffffff", "#0d1117"},
	{"ink", "#1f2328", "#e6edf3"},
	{"faint", "#d0d7de", "#30363d"},
	{"c1", "#0969da", "#58a6ff"},
	{"c2", "#bc4c00", "#f0883e"},
	{"c3", "#1a7f37", "#3fb950"},
	{"c4", "#8250df", "#bc8cff"},
	{"c5", "#9a6700", "#d29922"},
	{"c6", "#cf222e", "#ff7b72"},
}

const (
	ink   = "ink"
	faint = "faint"
)

var series = [...]string{"c1", "c2", "c3", "c4", "c5", "c6"}

// Colors are the values of the CSS variables that Classes reads, on a light and
// on a dark page.
func Colors() (light, dark string) {
	for _, t := range tints {
		light += fmt.Sprintf("--%s:%s;", t.class, t.light)
		dark += fmt.Sprintf("--%s:%s;", t.class, t.dark)
	}
	return light, dark
}

// Classes are the CSS rules for the classes of inline charts, with a variable
// for each colour: --paper, --ink, --faint, --c1 to --c6.
func Classes() string {
	return rules(func(t tint) string { return "var(--" + t.class + ")" })
}

// rules give each class of fill and stroke its colour.
func rules(color func(tint) string) string {
	var b strings.Builder
	for _, t := range tints {
		fmt.Fprintf(&b, ".%s-f{fill:%s}.%s-s{stroke:%s}", t.class, color(t), t.class, color(t))
	}
	return b.String()
}

// An Inline is a chart's place in an HTML page: an svg element without scripts,
// fonts and style attributes, which a strict content security policy allows. Its
// colours are classes (see Classes), and its text is in the page's own font.
type Inline struct {
	ID            string // the prefix of the element ids within
	Class         string
	Width, Height int // in CSS pixels: text keeps its size, however small the chart is
}

// write writes a chart as an element of a page that shows its title.
func (in Inline) write(w io.Writer, f frame, title, description string) error {
	f.width, f.height, f.size = float64(in.Width), float64(in.Height), 13
	height, body := f.draw()
	_, err := fmt.Fprintf(w, `<svg class="%s" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-labelledby="%s-title %s-desc">`+
		`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>%s</svg>`,
		escape(in.Class), in.Width, number(height), in.Width, number(height), escape(in.ID), escape(in.ID),
		escape(in.ID), escape(title), escape(in.ID), escape(description), body)
	return err
}

// write writes a chart as a file.
func write(w io.Writer, f frame, description string) error {
	f.width, f.height, f.size = 640, 420, 13
	height, body := f.draw()
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">
<title>%s</title>
<desc>%s</desc>
<style>%s@media (prefers-color-scheme:dark){%s}</style>
<rect width="100%%" height="100%%" class="paper-f"/>
%s</svg>
`, number(f.width), number(height), number(f.width), number(height), escape(f.title), escape(f.title), escape(description),
		rules(func(t tint) string { return t.light }), rules(func(t tint) string { return t.dark }), body)
	return err
}

// share writes a number with three digits.
func share(v float64) string {
	if size := math.Abs(v); size < 1000 || size > 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return count(int64(math.Round(v/unit) * unit))
}

// Wilson returns the bounds of a probability, at 95 % confidence, of which the
// rate was measured in a number of trials (Wilson 1927).
func Wilson(rate, trials float64) (low, high float64) {
	const z = 1.96
	middle := rate + z*z/(2*trials)
	reach := z * math.Sqrt(rate*(1-rate)/trials+z*z/(4*trials*trials))
	return (middle - reach) / (1 + z*z/trials), (middle + reach) / (1 + z*z/trials)
}

package plot

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// An Inline is how a chart stands in an HTML page: an svg element without
// scripts, fonts and style attributes, so that a page with a strict content
// security policy may have it. Its colours are classes (see Classes), and its
// text is in the page's own font.
type Inline struct {
	ID            string // the prefix of the element ids within
	Class         string
	Width, Height int // in CSS pixels; text stays as large as the page's when a narrow chart is drawn narrow
}

// Classes are the CSS rules for the classes of inline charts, a variable a
// colour: --paper, --ink, --faint, --c1 to --c6.
func Classes() string {
	var b strings.Builder
	for _, name := range classes {
		fmt.Fprintf(&b, ".%s-f{fill:var(--%s)}.%s-s{stroke:var(--%s)}", name, name, name, name)
	}
	return b.String()
}

// Colors are the values of those variables on a light and on a dark page.
func Colors() (light, dark string) {
	for i, name := range classes {
		light += fmt.Sprintf("--%s:%s;", name, tints[i].light)
		dark += fmt.Sprintf("--%s:%s;", name, tints[i].dark)
	}
	return light, dark
}

// classes names the tints.
var classes = [...]string{"paper", "ink", "faint", "c1", "c2", "c3", "c4", "c5", "c6"}

var styleAttribute = regexp.MustCompile(`style="([^"]*)"`)

// write draws a plot whose title is said by the page beside it.
func (in Inline) write(w io.Writer, p *plot.Plot, title, description string) error {
	p.BackgroundColor = nil
	canvas := vgsvg.New(vg.Length(in.Width), vg.Length(in.Height))
	p.Draw(draw.Crop(draw.New(canvas), 2, -8, 4, -6))
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return err
	}
	_, body, found := strings.Cut(drawn.String(), `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	if !found {
		return errors.New("plot: the drawing has no root element that is known")
	}
	body = styleAttribute.ReplaceAllStringFunc(body, func(s string) string {
		return attributes(s[len(`style="`) : len(s)-1])
	})
	_, err := fmt.Fprintf(w, `<svg class="%s" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="%s-title %s-desc">`+
		`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>%s`,
		html.EscapeString(in.Class), in.Width, in.Height, in.Width, in.Height, in.ID, in.ID, in.ID, html.EscapeString(title),
		in.ID, html.EscapeString(description), strings.TrimSpace(body))
	return err
}

// attributes are the attributes that say what a style of the drawing library
// says: colours as classes, the rest as it is, fonts not at all.
func attributes(style string) string {
	var kept, names []string
	for property := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(property, ":")
		switch {
		case name == "" || strings.HasPrefix(name, "font-") && name != "font-size":
		case (name == "fill" || name == "stroke") && strings.HasPrefix(value, "#"):
			for i, t := range tints {
				if t.light == value {
					names = append(names, classes[i]+"-"+name[:1])
				}
			}
		default:
			kept = append(kept, fmt.Sprintf(`%s="%s"`, name, value))
		}
	}
	if names != nil {
		kept = append(kept, fmt.Sprintf(`class="%s"`, strings.Join(names, " ")))
	}
	return strings.Join(kept, " ")
}

// narrow says whether there is little room.
func (in Inline) narrow() bool { return in.Width < 480 }

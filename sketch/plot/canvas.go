package plot

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// A canvas collects the elements of a chart. Its axes are set before anything is
// drawn by value.
type canvas struct {
	strings.Builder
	x, y                     axis
	left, right, top, bottom float64 // of the axes, in pixels
	size                     float64
}

// px and py are the pixel of a value.
func (c *canvas) px(v float64) float64 { return c.left + c.x.along(v)*(c.right-c.left) }
func (c *canvas) py(v float64) float64 { return c.bottom - c.y.along(v)*(c.bottom-c.top) }

const dashed = "5 3"

func escape(s string) string { return html.EscapeString(s) }

// number writes a length in pixels.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

func (c *canvas) text(x, y float64, anchor, class string, size float64, s string) {
	fmt.Fprintf(c, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" font-size=\"%s\" class=\"%s-f\">%s</text>\n",
		number(x), number(y), anchor, number(size), class, escape(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string, width float64, dashes string) {
	c.stroke([][2]float64{{x1, y1}, {x2, y2}}, class, width, dashes)
}

// stroke draws a line through points in pixels.
func (c *canvas) stroke(points [][2]float64, class string, width float64, dashes string) {
	c.WriteString(`<path d="`)
	for i, p := range points {
		fmt.Fprintf(c, "%c%s %s", "ML"[min(i, 1)], number(p[0]), number(p[1]))
	}
	fmt.Fprintf(c, `" fill="none" stroke-width="%s"`, number(width))
	if dashes != "" {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, dashes)
	}
	fmt.Fprintf(c, " class=\"%s-s\"/>\n", class)
}

// through draws a line through points by value.
func (c *canvas) through(values [][2]float64, class string, dashes string) {
	points := make([][2]float64, len(values))
	for i, v := range values {
		points[i] = [2]float64{c.px(v[0]), c.py(v[1])}
	}
	c.stroke(points, class, 2, dashes)
}

func (c *canvas) bar(left, top, right, bottom float64, class string) {
	fmt.Fprintf(c, "<path d=\"M%s %sH%sV%sH%sZ\" class=\"%s-f\"/>\n", number(left), number(top), number(right), number(bottom), number(left), class)
}

// interval draws a measured value with its bounds.
func (c *canvas) interval(x, y, low, high float64, class string) {
	at, from, to := c.px(x), c.py(low), c.py(high)
	c.line(at, from, at, to, class, 1.5, "")
	c.line(at-3, from, at+3, from, class, 1.5, "")
	c.line(at-3, to, at+3, to, class, 1.5, "")
	circle(c, at, c.py(y), class)
}

// A glyph marks a point.
type glyph func(c *canvas, x, y float64, class string)

func circle(c *canvas, x, y float64, class string) {
	fmt.Fprintf(c, "<circle cx=\"%s\" cy=\"%s\" r=\"3.5\" class=\"%s-f\"/>\n", number(x), number(y), class)
}

func square(c *canvas, x, y float64, class string) { c.bar(x-3, y-3, x+3, y+3, class) }

func triangle(c *canvas, x, y float64, class string) {
	fmt.Fprintf(c, "<path d=\"M%s %sL%s %sH%sZ\" class=\"%s-f\"/>\n", number(x), number(y-4), number(x+4), number(y+3), number(x-4), class)
}

func cross(c *canvas, x, y float64, class string) {
	c.line(x-3, y-3, x+3, y+3, class, 2, "")
	c.line(x-3, y+3, x+3, y-3, class, 2, "")
}

var glyphs = [...]glyph{circle, square, triangle, cross}

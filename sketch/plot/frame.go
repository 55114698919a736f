package plot

import (
	"math"
)

// A frame is a chart's title, legend and axes, and what is drawn between them.
// From the top: the title, the name of the y axis, the legend in as many lines as
// it takes, the axes, the name of the x axis.
type frame struct {
	title    string
	x, y     axis
	legend   []legend
	inside   func(c *canvas)
	minLines int // lines of text that fit between the axes

	width, height float64
	size          float64 // of the text
}

// An axis goes from min to max. Its marks have labels; those that would touch
// their neighbours are left out.
type axis struct {
	name     string
	min, max float64
	log      bool // both ends are above 0
	names    bool // the marks are names, which have no grid
	marks    []mark
}

type mark struct {
	value float64
	label string
}

// marks labels values.
func marks(format func(float64) string, values ...float64) []mark {
	var list []mark
	for _, v := range values {
		list = append(list, mark{v, format(v)})
	}
	return list
}

// tenths are marks from 0 to 1.
func tenths() []mark { return marks(share, 0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1) }

// along is where a value lies: 0 at the beginning, 1 at the end.
func (a axis) along(v float64) float64 {
	if a.log {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

// logarithmic are the ends and marks of an axis that holds the values, a mark for
// each power of ten.
func logarithmic(name string, low, high float64) axis {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if first == last {
		last++
	}
	a := axis{name: name, min: math.Pow(10, first), max: math.Pow(10, last), log: true}
	for e := first; e <= last; e++ {
		a.marks = append(a.marks, mark{math.Pow(10, e), share(math.Pow(10, e))})
	}
	return a
}

// linear is an axis from 0, or from low where it is negative, to a round number at
// or above high.
func linear(name string, low, high float64) axis {
	low = min(low, 0)
	if high <= low {
		high = low + 1
	}
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	switch n := (high - low) / step; {
	case n < 2:
		step /= 5
	case n < 5:
		step /= 2
	}
	a := axis{name: name, min: math.Floor(low/step) * step, max: math.Ceil(high/step) * step}
	for i := math.Round(a.min / step); i <= math.Round(a.max/step); i++ {
		a.marks = append(a.marks, mark{i * step, share(i * step)})
	}
	return a
}

// A legend names what is drawn with a colour.
type legend struct {
	name   string
	class  string
	line   bool
	dashed bool
	glyph  glyph
}

// thin leaves every nth mark, with the smallest n at which the extents of no two
// touch along the axis, whose length is in pixels.
func (a axis) thin(pixels float64, extent func(label string) float64) []mark {
	for n := 1; ; n++ {
		var kept []mark
		for i := 0; i < len(a.marks); i += n {
			kept = append(kept, a.marks[i])
		}
		fits := true
		for i := 1; i < len(kept); i++ {
			apart := math.Abs(a.along(kept[i].value)-a.along(kept[i-1].value)) * pixels
			fits = fits && apart >= (extent(kept[i].label)+extent(kept[i-1].label))/2
		}
		if fits {
			return kept
		}
	}
}

// draw returns the height of the chart and its elements.
func (f frame) draw() (height float64, elements string) {
	const gap = 4.0
	size, line := f.size, math.Round(f.size*1.35)
	c := &canvas{x: f.x, y: f.y, size: size}
	top := 2.0
	if f.title != "" {
		c.text(f.width/2, top+size*1.5, "middle", ink, size+3, fit(f.title, size+3, f.width-2*gap))
		top += size * 2.2
	}
	if f.y.name != "" {
		c.text(gap, top+size, "start", ink, size, fit(f.y.name, size, f.width-2*gap))
		top += line
	}
	top = f.drawLegend(c, top, line) + size

	// The labels of the y axis take the room they need, at most half of it.
	height = f.height
	bottom := size*1.5 + 2*gap
	if f.x.name != "" {
		bottom += line
	}
	height = max(height, top+bottom+float64(max(f.minLines, 8))*line) // a long legend makes the chart higher
	c.top, c.bottom = top, height-bottom
	yMarks := f.y.thin(c.bottom-c.top, func(string) float64 { return line })
	widest := 0.0
	for _, m := range yMarks {
		widest = max(widest, extent(m.label, size))
	}
	widest = min(widest, f.width/2)
	c.left, c.right = math.Ceil(widest)+2*gap, f.width-gap
	// Every label of the x axis is within the chart.
	for _, m := range f.x.marks {
		half := extent(m.label, size) / 2
		if over := half + gap - c.px(m.value); over > 0 {
			c.left += over / (1 - f.x.along(m.value))
		}
		if over := c.px(m.value) + half + gap - f.width; over > 0 {
			c.right -= over / f.x.along(m.value)
		}
	}

	for _, m := range yMarks {
		at := c.py(m.value)
		if !f.y.names {
			c.line(c.left, at, c.right, at, faint, 1, "")
		}
		c.text(c.left-gap, at+size*0.35, "end", ink, size, fit(m.label, size, widest))
	}
	for _, m := range f.x.thin(c.right-c.left, func(label string) float64 { return extent(label, size) + size*0.6 }) {
		at := c.px(m.value)
		if !f.x.names {
			c.line(at, c.top, at, c.bottom+gap, faint, 1, "")
		}
		c.text(at, c.bottom+size*1.5, "middle", ink, size, fit(m.label, size, f.width))
	}
	f.inside(c)
	c.line(c.left, c.top, c.left, c.bottom, ink, 1, "")
	c.line(c.left, c.bottom, c.right, c.bottom, ink, 1, "")
	if f.x.name != "" {
		name := fit(f.x.name, size, f.width-2*gap)
		half := extent(name, size) / 2
		c.text(min((c.left+c.right)/2, f.width-gap-half), height-gap, "middle", ink, size, name)
	}
	return height, c.String()
}

// drawLegend writes the names beside each other, in as many lines as they take,
// and returns where the last one ends.
func (f frame) drawLegend(c *canvas, top, line float64) float64 {
	const thumb, apart, gap = 22.0, 14.0, 4.0
	left := gap
	for i, l := range f.legend {
		name := fit(l.name, f.size, f.width-thumb-3*gap)
		wide := thumb + gap + extent(name, f.size)
		if i == 0 {
			top += line
		} else if left+wide > f.width-gap {
			left, top = gap, top+line
		}
		middle := top - f.size*0.35
		if l.line {
			dashes := ""
			if l.dashed {
				dashes = dashed
			}
			c.line(left, middle, left+thumb, middle, l.class, 2, dashes)
		}
		if l.glyph != nil {
			l.glyph(c, left+thumb/2, middle, l.class)
		}
		c.text(left+thumb+gap, top, "start", ink, f.size, name)
		left += wide + apart
	}
	return top
}

// extent is how many pixels wide a text is, in most fonts at most: the reader's own
// is not known.
func extent(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100: // ideographs and the like are square
			em++
		case r >= 'A' && r <= 'Z', r == 'm', r == 'w':
			em += 0.75
		default:
			em += 0.6
		}
	}
	return em * size
}

// fit shortens a text that has no room.
func fit(s string, size, room float64) string {
	if extent(s, size) <= room {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && extent(string(runes)+"…", size) > room {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

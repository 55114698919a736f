package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// drawMaps writes a heat map of each result into folder.
func drawMaps(folder string, results []result) error {
	for _, r := range results {
		name := filepath.Join(folder, strings.ReplaceAll(r.variant, "/", "-")+".svg")
		if err := os.WriteFile(name, heatMap(r), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// heatMap draws how far the documents lie from each other under one
// combination: the darker, the nearer, blue within the range of 30 % and grey
// beyond. Frames show where Roth expected a hit; a cross is a cell that is not as
// he expected.
func heatMap(r result) []byte {
	const (
		cell   = 40
		left   = 250
		top    = 190
		legend = 70
	)
	n := len(table1)
	width, height := left+n*cell+70, top+n*cell+legend
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	summary := fmt.Sprintf("Score %.2f: %d right, %d false negatives, %d false positives. F1 over what Roth expected %.2f.",
		r.score(), r.correct, r.falseNegatives, r.falsePositives, r.f1())
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc" font-family="Helvetica, Arial, sans-serif" font-size="12">`, width, height, width, height)
	p(`<title id="title">Similarity index %s</title>`, r.variant)
	p(`<desc id="desc">%s Each row shows how far the indexes of all documents lie from its own.</desc>`, summary)
	p(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	p(`<text x="16" y="30" font-size="20" font-weight="bold">%s</text>`, r.variant)
	p(`<text x="16" y="52">%s</text>`, summary)
	for i, d := range table1 {
		x, y := left+i*cell+cell/2, top+i*cell+cell/2
		p(`<text x="%d" y="%d" text-anchor="end" dominant-baseline="middle">%s</text>`, left-8, y, html.EscapeString(d.name))
		p(`<text transform="translate(%d %d) rotate(-40)">%s</text>`, x, top-8, html.EscapeString(shortName(i)))
	}
	for row := range n {
		for column := range n {
			_, level := zoneOf(row, column)
			far := distance(r.indexes[row], r.indexes[column])
			hit := similar(r.indexes[row], r.indexes[column])
			x, y := left+column*cell, top+row*cell
			p(`<g><title>%s seen from %s: %s%s</title>`, html.EscapeString(table1[column].name), html.EscapeString(table1[row].name),
				away(far), map[bool]string{true: ", similar"}[hit])
			fill, ink := colour(far, hit)
			p(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="#fff"/>`, x, y, cell, cell, fill)
			p(`<text x="%d" y="%d" text-anchor="middle" font-size="11" fill="%s">%s</text>`, x+cell/2, y+cell/2+7, ink, percent(far))
			want := level != 0 && wanted(level)
			if want {
				p(`<rect x="%d.5" y="%d.5" width="%d" height="%d" fill="none" stroke="#08306b" stroke-width="2"/>`, x+1, y+1, cell-3, cell-3)
			}
			if want != hit {
				p(`<path d="M%d %dl8 8m0 -8l-8 8" stroke="#c0392b" stroke-width="2"/>`, x+cell-13, y+5)
			}
			p(`</g>`)
		}
	}
	y := top + n*cell + 28
	p(`<rect x="%d" y="%d" width="16" height="16" fill="#2171b5"/><text x="%d" y="%d">within 30 %% of the row's index</text><text x="16" y="%d">distance in percent</text>`, left, y, left+22, y+13, y+13)
	p(`<rect x="%d" y="%d" width="16" height="16" fill="none" stroke="#08306b" stroke-width="2"/><text x="%d" y="%d">expected similar</text>`, left+220, y, left+242, y+13)
	p(`<path d="M%d %dl10 10m0 -10l-10 10" stroke="#c0392b" stroke-width="2"/><text x="%d" y="%d">not as expected</text>`, left+370, y+3, left+386, y+13)
	p(`</svg>`)
	return b.Bytes()
}

func shortName(i int) string {
	name := strings.TrimSuffix(table1[i].name, ".txt")
	return strings.NewReplacer("usConstitution", "usConst.", "AddToClipboardAction", "AddToClip…").Replace(name)
}

func percent(far float64) string {
	switch {
	case math.IsInf(far, 1):
		return "–"
	case far >= 9.995:
		return ">999"
	}
	return fmt.Sprintf("%.0f", 100*far)
}

func away(far float64) string {
	if math.IsInf(far, 1) {
		return "one has no index"
	}
	return percent(far) + " % away"
}

// colour gives the fill of a cell and a colour to write on it.
func colour(far float64, hit bool) (fill, ink string) {
	mix := func(from, to [3]float64, part float64) string {
		var c [3]int
		for i := range c {
			c[i] = int(math.Round(from[i] + (to[i]-from[i])*part))
		}
		return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
	}
	if hit {
		ink = "#fff"
		if far > 0.18 {
			ink = "#000"
		}
		return mix([3]float64{8, 81, 156}, [3]float64{158, 202, 225}, far/0.3), ink
	}
	return mix([3]float64{200, 200, 200}, [3]float64{247, 247, 247}, min(1, max(0, far-0.3)/1.7)), "#333"
}

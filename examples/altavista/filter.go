package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/plot"
)

// AltaVista's filter: pages as strings of w words, 6 features of 14 minima under
// independent permutations, two of them shared. The preset web is the same with
// the default sampling, which is quicker and on pages like these a little sharper.
const (
	profile = "web classic"
	preset  = "web"
	w       = 6
	k, s, r = 6, 14, 2
)

// wanted are the resemblances of the figures' points, and those that the
// introduction of Broder 2000 speaks of.
var wanted = []float64{0.5, 0.55, 0.6, 0.65, 0.7, 0.725, 0.75, 0.77, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975, 0.99}

// A pair consists of two pages with the same number of different shingles. Some
// words of the second page are replaced; each is in w shingles and no two are in one.
type pair struct{ shingles, changed int }

// pairOf makes pages of about 300 shingles, more where one word of 300 were
// too much.
func pairOf(resemblance float64) pair {
	ratio := (1 + resemblance) / (1 - resemblance)
	changed := max(1, int(math.Round(300/(w*ratio))))
	return pair{int(math.Round(w * float64(changed) * ratio)), changed}
}

// resemblance is exact: of the shingles of both pages all but those with a
// changed word are in common.
func (p pair) resemblance() float64 {
	lost := w * p.changed
	return float64(p.shingles-lost) / float64(p.shingles+lost)
}

// pages writes the two pages, of random words.
func (p pair) pages(random *rand.Rand, a, b []byte) ([]byte, []byte) {
	a, b = append(a[:0], "<html><body><p>"...), append(b[:0], "<html><body><p>"...)
	for i := range p.shingles + w - 1 {
		a = appendWord(a, random)
		if i%w == w-1 && i/w < p.changed {
			b = appendWord(b, random)
		} else {
			b = append(b, a[len(a)-wordLength:]...)
		}
	}
	return a, b
}

const wordLength = 13

// appendWord writes a word that hardly comes twice, and a blank.
func appendWord(text []byte, random *rand.Rand) []byte {
	bits := random.Uint64()
	for range wordLength - 1 {
		text = append(text, 'a'+byte(bits&15))
		bits >>= 4
	}
	return append(text, ' ')
}

// measure runs a number of pairs at each wanted resemblance through the filter of a
// profile; the pairs are always the same.
func measure(profile string, pairs int) ([]plot.Point, error) {
	settings, err := sketch.ParseProfile(profile)
	if err != nil {
		return nil, err
	}
	sketcher, err := sketch.NewSketcher(settings)
	if err != nil {
		return nil, err
	}
	features := func(to []sketch.Feature, page []byte) []sketch.Feature {
		sketcher.Document(page)
		return sketcher.AppendFeatures(to[:0])
	}
	var points []plot.Point
	var a, b []byte
	var ofA, ofB []sketch.Feature
	for i, resemblance := range wanted {
		random := rand.New(rand.NewPCG(2000, uint64(i)))
		p := pairOf(resemblance)
		point := plot.Point{Resemblance: p.resemblance(), Pairs: pairs}
		for range pairs {
			a, b = p.pages(random, a, b)
			ofA, ofB = features(ofA, a), features(ofB, b)
			shared := 0
			for slot := range ofA {
				if ofA[slot] == ofB[slot] {
					shared++
				}
			}
			if shared >= r {
				point.Accepted++
			}
		}
		points = append(points, point)
	}
	return points, nil
}

// printFilter sets the filter and, at the same points, the preset beside the formula.
func printFilter(out io.Writer, points, presets []plot.Point) error {
	fmt.Fprintf(out, "The filter: %d features of %d minima, %d shared (Broder 2000). Half of the pairs at %.3f.\n\n", k, s, r, sketch.HalfPoint(k, s, r))
	fmt.Fprintln(out, "resemblance     pairs  accepted     share  P(6,14,2)  preset web")
	for i, p := range points {
		fmt.Fprintf(out, "%10.3f  %9d %9d %9.6f  %9.2g   %9.6f\n", p.Resemblance, p.Pairs, p.Accepted,
			float64(p.Accepted)/float64(p.Pairs), sketch.FilterProbability(k, s, r, p.Resemblance),
			float64(presets[i].Accepted)/float64(presets[i].Pairs))
	}
	p := func(resemblance float64) float64 { return sketch.FilterProbability(k, s, r, resemblance) }
	_, err := fmt.Fprintf(out, `
What the introduction says of it                  the formula
above 97.5 %%, refused    less than 0.01               %.2g
above 99 %%,   refused    less than 0.00022            %.2g
below 77 %%,   accepted   less than 0.01               %.2g
below 50 %%,   accepted   less than 0.6e-7             %.2g
`, 1-p(0.975), 1-p(0.99), p(0.77), p(0.5))
	return err
}

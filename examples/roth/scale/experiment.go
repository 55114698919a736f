package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

// levels of resemblance, the last the lowest that counts.
var levels = [...]float64{0.9, 0.75, 0.5}

// An experiment knows the documents and which of them resemble each other.
type experiment struct {
	texts    [][]byte
	sketches [][]byte
	pairs    map[pair]float64 // by resemblance, where it reaches the lowest level
}

// A pair of documents, the lesser first.
type pair struct{ a, b int }

func newExperiment(texts [][]byte) (*experiment, error) {
	p, err := sketch.ParseProfile("words w=4 t=84 k=12 s=7")
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	shingles, err := corpus.Shingles("words w=4")
	if err != nil {
		return nil, err
	}
	e := &experiment{pairs: map[pair]float64{}}
	truth := corpus.NewTruth(shingles)
	for _, text := range texts {
		if s.Document(text); !s.Empty() {
			e.texts = append(e.texts, text)
			e.sketches = append(e.sketches, s.AppendSketch(nil))
			truth.Add(string(text))
		}
	}
	lowest := levels[len(levels)-1]
	for b := range e.texts {
		for a := range b {
			// 84 minima estimate 0.5 with a standard error of 0.055. Four of them
			// below it, a pair is hardly one of 0.5, and not worth the exact number.
			estimate, err := sketch.Resemblance(e.sketches[a], e.sketches[b])
			if err != nil {
				return nil, err
			}
			if estimate < lowest-0.22 {
				continue
			}
			if exact := truth.Resemblance(a, b); exact >= lowest {
				e.pairs[pair{a, b}] = exact
			}
		}
	}
	return e, nil
}

// A way of asking gives the documents that are similar to one, and perhaps it.
type way struct {
	name string
	ask  func(document int) []int
}

// A tally is what the questions about all documents gave.
type tally struct {
	found    [len(levels)]int // pairs at each level, seen from either side
	returned int              // documents other than the one asked about
	alike    int              // of them, those at the lowest level and above
}

func (e *experiment) try(w way) tally {
	var t tally
	for a := range e.texts {
		for _, b := range w.ask(a) {
			if a == b {
				continue
			}
			t.returned++
			resemblance, ok := e.pairs[pair{min(a, b), max(a, b)}]
			if !ok {
				continue
			}
			t.alike++
			for i, level := range levels {
				if resemblance >= level {
					t.found[i]++
				}
			}
		}
	}
	return t
}

func (e *experiment) ways() ([]way, error) {
	var ways []way
	// Roth's best, by his range.
	for _, name := range []string{"43B/40", "47C/40", "43B/4", "3B/16", "21B/40"} {
		c, err := e.column(name)
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{name + ", 30 % around", func(document int) []int {
			si := c.values[document]
			return c.between(func(other int64) bool {
				return other > simindex.Low(si, simindex.Fraction)
			}, func(other int64) bool {
				return other < simindex.High(si, simindex.Fraction)
			})
		}})
	}

	// A pair of resemblance 0.9 has lengths of that ratio at least.
	length, err := e.column("length")
	if err != nil {
		return nil, err
	}
	ways = append(ways, way{"length, ratio 0.9", func(document int) []int {
		n := float64(length.values[document])
		return length.between(func(other int64) bool { return float64(other) >= 0.9*n },
			func(other int64) bool { return 0.9*float64(other) <= n })
	}})

	// The documents whose first byte agrees are one range of the number.
	var forests []func(document int) []int
	for i := range 4 {
		c, err := e.column(fmt.Sprintf("forest/%d", i))
		if err != nil {
			return nil, err
		}
		forests = append(forests, func(document int) []int {
			first := c.values[document] >> 56
			return c.between(func(other int64) bool { return other>>56 >= first }, func(other int64) bool { return other>>56 <= first })
		})
	}
	ways = append(ways,
		way{"forest/0, first byte", forests[0]},
		way{"forest/0 to 3, any", func(document int) []int {
			var any []int
			for _, ask := range forests {
				any = append(any, ask(document)...)
			}
			slices.Sort(any)
			return slices.Compact(any)
		}})

	shared, err := e.features()
	if err != nil {
		return nil, err
	}
	alike := func(minShared int) func(int) []int {
		return func(document int) []int {
			var enough []int
			for other, n := range shared(document) {
				if n >= minShared {
					enough = append(enough, other)
				}
			}
			return enough
		}
	}
	ways = append(ways,
		way{"features, one shared", alike(1)},
		way{"features, two shared", alike(2)},
	)
	return ways, nil
}

// A column is an index on a number, as a b-tree keeps it.
type column struct {
	values []int64 // of each document
	order  []int   // the documents that have a number, by it
}

func (e *experiment) column(name string) (*column, error) {
	v, err := simindex.Parse(name)
	if err != nil {
		return nil, err
	}
	c := &column{values: make([]int64, len(e.texts))}
	for i, text := range e.texts {
		var ok bool
		if c.values[i], ok = v.Index(text); ok {
			c.order = append(c.order, i)
		}
	}
	slices.SortFunc(c.order, func(a, b int) int {
		switch {
		case c.values[a] < c.values[b]:
			return -1
		case c.values[a] > c.values[b]:
			return 1
		}
		return 0
	})
	return c, nil
}

// between gives the documents whose number is neither too low nor too high.
func (c *column) between(highEnough, lowEnough func(int64) bool) []int {
	first, _ := slices.BinarySearchFunc(c.order, true, func(document int, _ bool) int {
		if highEnough(c.values[document]) {
			return 1
		}
		return -1
	})
	end, _ := slices.BinarySearchFunc(c.order[first:], true, func(document int, _ bool) int {
		if lowEnough(c.values[document]) {
			return -1
		}
		return 1
	})
	return c.order[first : first+end]
}

// features returns a function that counts the features a document shares with
// each other one.
func (e *experiment) features() (func(document int) map[int]int, error) {
	of := make([][]sketch.Feature, len(e.sketches))
	with := map[sketch.Feature][]int{}
	for i, s := range e.sketches {
		var err error
		if of[i], err = sketch.Features(nil, s); err != nil {
			return nil, err
		}
		for _, f := range of[i] {
			with[f] = append(with[f], i)
		}
	}
	return func(document int) map[int]int {
		shared := map[int]int{}
		for _, f := range of[document] {
			for _, other := range with[f] {
				shared[other]++
			}
		}
		return shared
	}, nil
}

func (e *experiment) print(out io.Writer, ways []way) {
	var total [len(levels)]int
	for _, resemblance := range e.pairs {
		for i, level := range levels {
			if resemblance >= level {
				total[i] += 2 // from either side
			}
		}
	}
	bytes := 0
	for _, text := range e.texts {
		bytes += len(text)
	}
	fmt.Fprintf(out, "%d documents, %.1f MB. Pairs at resemblance", len(e.texts), float64(bytes)/1e6)
	for i, level := range levels {
		fmt.Fprintf(out, " %.2f: %d%s", level, total[i]/2, [...]string{",", ",", ".\n"}[i])
	}
	fmt.Fprintf(out, "\n%-22s  pairs found at resemblance   rows a   of them\n", "")
	fmt.Fprintf(out, "%-22s    0.90     0.75     0.50   question  resemble\n", "")
	for _, w := range ways {
		t := e.try(w)
		fmt.Fprintf(out, "%-22s", w.name)
		for i := range levels {
			fmt.Fprintf(out, "  %7s", share(t.found[i], total[i]))
		}
		fmt.Fprintf(out, "  %8.1f  %8s\n", float64(t.returned)/float64(len(e.texts)), share(t.alike, t.returned))
	}
}

func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

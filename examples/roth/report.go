package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// An experiment is what the report is about.
type experiment struct {
	texts   [][]byte
	results []result
	byScore []result // best first
	byF1    []result
	counts  map[int]int // of the combinations that score above 1, by tracking number
	above   int
}

func newExperiment(texts [][]byte, results []result) experiment {
	e := experiment{texts: texts, results: results, counts: map[int]int{}}
	e.byScore = slices.SortedStableFunc(slices.Values(results), func(a, b result) int { return cmp.Compare(b.score(), a.score()) })
	e.byF1 = slices.SortedStableFunc(slices.Values(results), func(a, b result) int { return cmp.Compare(b.f1(), a.f1()) })
	for _, r := range results {
		if r.score() > 1 {
			e.above++
			e.counts[method(r.variant)]++
		}
	}
	return e
}

// method gives the tracking number at the beginning of a variant.
func method(variant string) int {
	n, _ := strconv.Atoi(variant[:strings.IndexAny(variant, "ABCD")])
	return n
}

// ours finds the result of a combination of the 656.
func (e experiment) ours(variant string) result {
	return e.results[slices.IndexFunc(e.results, func(r result) bool { return r.variant == variant })]
}

// remarkable gives the combinations of his Table 9 and our best by each score.
func (e experiment) remarkable() []result {
	var list []result
	for _, c := range table9 {
		list = append(list, e.ours(c.variant))
	}
	for _, r := range []result{e.byScore[0], e.byF1[0]} {
		if !slices.ContainsFunc(list, func(o result) bool { return o.variant == r.variant }) {
			list = append(list, r)
		}
	}
	return list
}

func (e experiment) print(out io.Writer) error {
	p := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	e.printCollection(p)
	printExpectations(p)
	e.printResults(p)
	e.printTables(p)
	e.printFrequencies(p)
	if err := e.printResemblance(p); err != nil {
		return err
	}
	p("\nWhere the paper and its own numbers part")
	for i, note := range footnotes {
		for line, text := range wrap(note, 94) {
			if line == 0 {
				p("%3d. %s", i+1, text)
			} else {
				p("     %s", text)
			}
		}
	}
	return nil
}

type printer func(format string, args ...any)

func (e experiment) printCollection(p printer) {
	p("The collection (Table 1)               characters          words")
	p("                                     his      ours     his    ours")
	for i, d := range table1 {
		mark := ""
		if d.standIn {
			mark = " *"
		}
		p("%-33s %6s  %8s  %6s  %6s", d.name+mark, thousands(d.chars), thousands(len([]rune(string(e.texts[i])))),
			thousands(d.words), thousands(len(bytes.Fields(e.texts[i]))))
	}
	p("* A stand-in: he did not publish his. His Proverbs are another translation than the King James Version.")
}

func printExpectations(p printer) {
	for _, z := range zones {
		p("\nWhat he expected (Table %d): %s", z.table, z.name)
		rows := strings.Fields(z.expected)
		line := fmt.Sprintf("%-33s", "")
		for _, m := range z.members {
			line += fmt.Sprintf("%-9s", table1[m].short)
		}
		p("%s", strings.TrimRight(line, " "))
		for i, m := range z.members {
			line := fmt.Sprintf("%-33s", table1[m].name)
			for j := range z.members {
				line += fmt.Sprintf("%-9s", levels[rows[i][j]])
			}
			p("%s", strings.TrimRight(line, " "))
		}
	}
}

func (e experiment) printResults(p printer) {
	p("\nHis five best (Table 9), and what the same combinations give on our texts")
	p("          |            his texts            |            our texts")
	p("          | false +  false -  right  score   F1 | false +  false -  right  score   F1")
	for _, c := range table9 {
		o := e.ours(c.variant)
		p("%-9s | %s | %s", c.variant, numbers(judgePaper(c)), numbers(o))
	}
	p("")
	p("Our five best by his score           | by F1 over what he expected")
	p("          false +  false -  right  score   F1 |           false +  false -  right  score   F1")
	for i := range 5 {
		p("%-9s %s | %-9s %s", e.byScore[i].variant, numbers(e.byScore[i]), e.byF1[i].variant, numbers(e.byF1[i]))
	}
	p("")
	p("Combinations that score above 1: his %d of %d, ours %d of %d.", hisAboveOne, hisCombinations, e.above, len(e.results))
}

func numbers(r result) string {
	return fmt.Sprintf("%7d  %7d  %5d  %5.2f %4.2f", r.falsePositives, r.falseNegatives, r.correct, r.score(), r.f1())
}

// printTables prints Tables 10 to 24, three beside each other.
func (e experiment) printTables(p printer) {
	p("\nTables 10 to 24, cell by cell: one digit where we agree, his→ours where we do not")
	for _, c := range table9 {
		o := e.ours(c.variant)
		var blocks [3][]string
		for z, zone := range zones {
			var rows []string
			agreed, cells := 0, 0
			for i, a := range zone.members {
				row := fmt.Sprintf("%-7s", table1[a].short)
				for j, b := range zone.members {
					his, our := c.cells(z)[i][j], byte('0')
					if similar(o.indexes[a], o.indexes[b]) {
						our = '1'
					}
					cells++
					if his == our {
						agreed++
						row += fmt.Sprintf(" %-4c", his)
					} else {
						row += fmt.Sprintf(" %c→%c ", his, our)
					}
				}
				rows = append(rows, row)
			}
			verdict := fmt.Sprintf("%d of %d", agreed, cells)
			if agreed == cells {
				verdict = "all agree"
			}
			blocks[z] = append([]string{fmt.Sprintf("Table %d: %s", c.firstTable+z, verdict)}, rows...)
		}
		p("\n%s", c.variant)
		for line := range 5 {
			text := ""
			for z := range zones {
				cell := ""
				if line < len(blocks[z]) {
					cell = blocks[z][line]
				}
				text += pad(cell, 32)
			}
			p("%s", strings.TrimRight("  "+text, " "))
		}
	}
}

// printFrequencies prints Figure 3.
func (e experiment) printFrequencies(p printer) {
	p("\nMethods among the combinations that score above 1 (Figure 3)")
	numbers := make([]int, 0, len(e.counts))
	for number := range e.counts {
		numbers = append(numbers, number)
	}
	slices.SortFunc(numbers, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.counts[b], e.counts[a]), cmp.Compare(a, b))
	})
	p("method  ours                      place in his figure")
	for _, number := range numbers {
		place := "-"
		if i := slices.Index(figure3, number); i >= 0 {
			place = strconv.Itoa(i + 1)
		}
		p("%6d  %2d %s%s", number, e.counts[number], pad(strings.Repeat("█", e.counts[number]), 26), place)
	}
	families := func(base int) int { return e.counts[base] + e.counts[base+20] + e.counts[base+40] }
	p("Over the three streams: method 9 (highest) his 23, ours %d; method 3 (0 mod 25) his 21, ours %d;", families(9), families(3))
	p("method 7 (lowest) his 21, ours %d.", families(7))
}

// printResemblance prints the zones as sketches see them.
func (e experiment) printResemblance(p printer) error {
	const atLeast = 0.5
	profile, err := sketch.ParseProfile("words w=4 t=84 k=12 s=7")
	if err != nil {
		return err
	}
	s, err := sketch.NewSketcher(profile)
	if err != nil {
		return err
	}
	sketches := make([][]byte, len(e.texts))
	for i, text := range e.texts {
		s.Document(text)
		sketches[i] = s.AppendSketch(nil)
	}
	matrix := make([][]float64, len(sketches))
	verdict, elsewhere := result{}, 0.0
	for a := range sketches {
		matrix[a] = make([]float64, len(sketches))
		for b := range sketches {
			if len(sketches[a]) == 0 || len(sketches[b]) == 0 {
				continue
			}
			if matrix[a][b], err = sketch.Resemblance(sketches[a], sketches[b]); err != nil {
				return err
			}
			verdict.count(a, b, matrix[a][b] >= atLeast)
			if _, level := zoneOf(a, b); level == 0 {
				elsewhere = max(elsewhere, matrix[a][b])
			}
		}
	}
	p("\nThe same documents by resemblance, estimated from the 84 minima of runs of four words")
	for line := range 4 {
		text := "  "
		for _, zone := range zones {
			cell := ""
			if line < len(zone.members) {
				a := zone.members[line]
				cell = fmt.Sprintf("%-7s", table1[a].short)
				for _, b := range zone.members {
					cell += fmt.Sprintf(" %.2f", matrix[a][b])
				}
			}
			text += pad(cell, 32)
		}
		p("%s", strings.TrimRight(text, " "))
	}
	p("Between the zones at most %.2f. Asked for %.1f and more, F1 is %.2f: %d hits as he expected, %d others,", elsewhere, atLeast, verdict.f1(), verdict.found, verdict.unwanted)
	p("%d missed, and each hit comes with its number.", verdict.missed)
	return nil
}

// pad fills text with blanks to a width in characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len([]rune(text))))
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

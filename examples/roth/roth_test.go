package main

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/simindex"
)

// The whole example on the packages' texts: what a user sees and gets.
func TestRun(t *testing.T) {
	target := t.TempDir()
	var out bytes.Buffer
	if err := run([]string{"-out", target, "-map", "9D/16,46A/2/3"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Table 11: all agree", "Table 14: all agree", "Table 18: all agree", "Table 21: all agree",
		"43B/40    |       0       10     35   3.50 1.00 |",
		"47C/40    |      14        5     40   2.11 0.74 |",
		"43B/4     |       3       13     32   2.00 0.91 |",
		"3B/16     |       8       10     35   1.94 0.90 |",
		"21B/40    |       2       14     31   1.94 0.91 |",
		"his 104 of 672, ours 61 of 656.",
		"Asked for 0.5 and more, F1 is 0.95: 35 hits as he expected, 4 others",
		"heat maps of 8 combinations",
		"usDOI.txt\n    his query: nothing\n    sketches:  usDOI-1.txt, usDOI-Grievances.txt\n",
		"gives in the repository, 225 are those of the experiment",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}

	sheet := readCSV(t, filepath.Join(target, "similarity-indexes.csv"))
	if len(sheet) != 16 || len(sheet[0]) != 657 {
		t.Fatalf("the CSV has %d rows of %d columns, want 16 of 657", len(sheet), len(sheet[0]))
	}
	column := slices.Index(sheet[0], "43B/40")
	if got := sheet[3][column]; sheet[3][0] != "Gettysburg.txt" || got != "-1404834525" {
		t.Errorf("43B/40 of %s is %s, want Gettysburg.txt and -1404834525", sheet[3][0], got)
	}

	for _, name := range []string{"43B-40", "47C-40", "43B-4", "3B-16", "21B-40", "9D-16", "46A-2-3"} {
		if cells := countRects(t, filepath.Join(target, name+".svg")); cells != 225 {
			t.Errorf("the heat map %s has %d cells, want 225", name, cells)
		}
	}

	// The pictures of the README are what the command draws.
	for _, name := range []string{"43B-40.svg", "41C-4.svg"} {
		drawn, err := os.ReadFile(filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(filepath.Join("pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(drawn, shown) {
			t.Errorf("pictures/%s is not what the command draws", name)
		}
	}

	for _, d := range table1 {
		made, err := os.ReadFile(filepath.Join(target, "collection", d.name))
		if err != nil {
			t.Fatal(err)
		}
		if _, own := embedded.Open("collection/" + d.name); own == nil {
			continue // a stand-in of ours, or wrapped otherwise
		}
		other, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "corpus", "roth", d.name))
		if err == nil && !bytes.Equal(made, other) {
			t.Errorf("%s: %d bytes built, not the %d of the collection beside the repository", d.name, len(made), len(other))
		}
	}
}

func readCSV(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sheet, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}

// countRects counts the cells of a heat map, which are groups, and fails when it
// is no XML.
func countRects(t *testing.T, name string) int {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cells := 0
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return cells
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "g" {
			cells++
		}
	}
}

// tinyCollection writes a small document under each name of Table 1: those of
// a zone share their beginning. One is empty.
func tinyCollection(t *testing.T) string {
	folder := t.TempDir()
	for i, d := range table1 {
		var text string
		if z, _ := zoneOf(i, i); z >= 0 {
			for n := range 40 - 2*position(z, i) {
				text += fmt.Sprintf("zone%d word%d ", z, n)
			}
		} else if i > 0 {
			text = strings.Repeat(d.name+" alone ", 5)
		}
		if err := os.WriteFile(filepath.Join(folder, d.name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRunOnFolder(t *testing.T) {
	folder, target := tinyCollection(t), filepath.Join(t.TempDir(), "new", "folder")
	var out bytes.Buffer
	if err := run([]string{"-folder", folder, "-out", target}, &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "NaN") || !strings.Contains(out.String(), "Table 24") || !strings.Contains(out.String(), "225 are those of the experiment") {
		t.Errorf("the report is not complete:\n%s", out.String())
	}
	sheet := readCSV(t, filepath.Join(target, "similarity-indexes.csv"))
	for column, cell := range sheet[1][1:] {
		if cell != "" {
			t.Fatalf("%s of the empty document is %q, want an empty cell", sheet[0][column+1], cell)
		}
	}
	if _, err := os.Stat(filepath.Join(target, "collection")); err == nil {
		t.Error("a collection was written although one was given")
	}
}

func TestRunRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-folder", t.TempDir()}, "AddToClipboardAction.java"},
		{[]string{"-map", "13A/4"}, "method 13"},
		{[]string{"-map", "43B/40", "more"}, `"more"`},
	} {
		err := run(append([]string{"-out", t.TempDir()}, test.args...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want an error that names %s", test.args, err, test.want)
		}
	}
}

// His printed numbers agree with his printed tables, but for what the footnotes
// say.
func TestPaperAddsUp(t *testing.T) {
	inZones := 0
	for row := range table1 {
		for column := range table1 {
			if _, level := zoneOf(row, column); level != 0 {
				inZones++
			}
		}
	}
	if inZones != 45 {
		t.Errorf("%d cells lie in zones, want 45", inZones)
	}
	for _, c := range table9 {
		r := judgePaper(c)
		if r.falsePositives != c.falsePositives || r.falseNegatives != c.falseNegatives || r.correct != c.correct {
			t.Errorf("%s: the tables give %d, %d, %d, Table 9 says %d, %d, %d", c.variant,
				r.falsePositives, r.falseNegatives, r.correct, c.falsePositives, c.falseNegatives, c.correct)
		}
		if got := fmt.Sprintf("%.2f", r.score()); got != c.score {
			t.Errorf("%s: score %s, Table 9 says %s", c.variant, got, c.score)
		}
	}
	if got := judgePaper(table9[0]).f1(); got != 1 {
		t.Errorf("43B/40 is in complete agreement with F1 %v", got)
	}
	words := func(name string) int {
		return table1[slices.IndexFunc(table1, func(d document) bool { return d.name == name })].words
	}
	if parts := words("Proverbs1-24.txt") + words("Proverbs25-31.txt"); parts != 18157 || words("Proverbs.txt") != 19157 {
		t.Errorf("the parts of Proverbs have %d words, the whole %d", parts, words("Proverbs.txt"))
	}
}

func TestSimilarIsOpenAndDirected(t *testing.T) {
	for _, test := range []struct {
		a, b index
		want bool
	}{
		{index{1000, true}, index{1299, true}, true},
		{index{1000, true}, index{1300, true}, false},
		{index{1300, true}, index{1000, true}, true},
		{index{-1000, true}, index{-1299, true}, true},
		{index{-1000, true}, index{1000, true}, false},
		{index{0, false}, index{0, false}, false},
		{index{1000, true}, index{1000, false}, false},
	} {
		if got := similar(test.a, test.b); got != test.want {
			t.Errorf("similar(%v, %v) is %t", test.a, test.b, got)
		}
	}
	if simindex.Fraction != 0.3 {
		t.Errorf("the range is %v, want 0.3", simindex.Fraction)
	}
}

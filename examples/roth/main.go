// Command roth repeats the experiment of M. Scott Roth's "Similarity Index"
// (2011): fifteen documents, 656 ways to reduce each of them to one number, and
// the question which of these numbers lie within 30 % of each other for the
// documents that are similar, and for those alone. At the end it imports them
// into a repository, as he did, and asks his query there.
//
//	go run ./examples/roth [-folder DIR] [-out DIR] [-map VARIANT,...]
package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/examples/internal/program"
	"github.com/alike-sql/alike/sketch/simindex"
)

func main() { program.Main("roth", run) }

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("roth", flag.ContinueOnError)
	folder := flags.String("folder", "", "read the fifteen documents of Table 1 from this `folder`, instead of building them from Debian's packages bible-kjv and miscfiles")
	target := flags.String("out", "build/roth", "the `folder` for the CSV, the heat maps and the collection that was built")
	maps := flags.String("map", "", "draw heat maps of these `variants` too, such as 43A/8,9B/16")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no option", flags.Arg(0))
	}
	var wished []simindex.Variant
	for name := range strings.FieldsFuncSeq(*maps, func(c rune) bool { return c == ',' || c == ' ' }) {
		v, err := simindex.Parse(name)
		if err != nil {
			return err
		}
		wished = append(wished, v)
	}

	var texts [][]byte
	var err error
	if *folder != "" {
		texts, err = readFolder(*folder)
	} else if texts, err = buildCollection(); err == nil {
		err = writeCollection(filepath.Join(*target, "collection"), texts)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*target, 0o755); err != nil {
		return err
	}

	var variants []string
	for _, v := range simindex.Variants() {
		variants = append(variants, v.String())
	}
	experiments := len(variants)
	for _, v := range wished {
		variants = append(variants, v.String())
	}
	indexes, err := allIndexes(texts, variants)
	if err != nil {
		return err
	}
	var results []result
	for i, v := range variants {
		results = append(results, judge(v, indexes[i]))
	}
	results, extra := results[:experiments], results[experiments:]

	e := newExperiment(texts, results)
	if err := e.print(out); err != nil {
		return err
	}

	docbase := filepath.Join(*target, "repository.db")
	if err := postscript(out, docbase, texts, e.ours("43B/40")); err != nil {
		return err
	}

	sheet := filepath.Join(*target, "similarity-indexes.csv")
	if err := writeCSV(sheet, results); err != nil {
		return err
	}
	drawn := append(e.remarkable(), extra...)
	if err := drawMaps(*target, drawn); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nWritten: %s, a row for each document and a column for each combination;\n%s, heat maps of %d combinations;\n%s, the repository", sheet, filepath.Join(*target, "*.svg"), len(drawn), docbase)
	if *folder == "" {
		fmt.Fprintf(out, ";\n%s, the documents", filepath.Join(*target, "collection"))
	}
	fmt.Fprintln(out, ".")
	return nil
}

// writeCSV writes the sheet that Roth loaded into Excel. No index, an empty cell.
func writeCSV(name string, results []result) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sheet := csv.NewWriter(file)
	row := []string{"document"}
	for _, r := range results {
		row = append(row, r.variant)
	}
	sheet.Write(row)
	for i, d := range table1 {
		row = append(row[:0], d.name)
		for _, r := range results {
			cell := ""
			if r.indexes[i].valid {
				cell = strconv.FormatInt(r.indexes[i].value, 10)
			}
			row = append(row, cell)
		}
		sheet.Write(row)
	}
	sheet.Flush()
	return sheet.Error()
}

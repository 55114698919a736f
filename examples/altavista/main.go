// Command altavista repeats what Broder reports of AltaVista: the filter of 6
// features of 14 minima, measured on pairs of known resemblance (Broder 2000,
// Figures 1 and 2), and the clusters of a collection at a resemblance of 50 %
// (Broder 1997, introduction).
//
//	go run ./examples/altavista [-generated N] [FOLDER ...]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alike-sql/alike/examples/internal/program"
	"github.com/alike-sql/alike/sketch/plot"
)

func main() { program.Main("altavista", run) }

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("altavista", flag.ContinueOnError)
	generated := flags.Int("generated", 0, "cluster `N` generated documents instead of those in folders")
	limit := flags.Int("limit", 10_000, "take at most `N` documents, spread over the folders")
	pairs := flags.Int("pairs", 20_000, "measure the filter on `N` pairs at each resemblance")
	target := flags.String("out", "build/altavista", "the `folder` for the figures")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pairs < 1 || *limit < 1 || *generated < 0 {
		return fmt.Errorf("-pairs %d -limit %d -generated %d: want a positive number", *pairs, *limit, *generated)
	}

	points, err := measure(profile, *pairs)
	if err != nil {
		return err
	}
	presets, err := measure(preset, *pairs)
	if err != nil {
		return err
	}
	if err := printFilter(out, points, presets); err != nil {
		return err
	}
	if err := drawFigures(*target, points); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nDrawn: %s and figure-2.svg.\n\n", filepath.Join(*target, "figure-1.svg"))

	var documents []document
	switch folders := flags.Args(); {
	case *generated > 0:
		documents = generate(*generated)
	case len(folders) > 0:
		documents, err = collect(folders, *limit)
	default:
		documents, err = collect(present("/usr/share/doc", "/usr/share/common-licenses", "/usr/local/go/doc"), *limit)
	}
	if err != nil {
		return err
	}
	c, err := sketchAll(documents)
	if err != nil {
		return err
	}
	if len(c.documents) == 0 {
		return errors.New("no document with a word in it; name a folder with HTML or text, or try -generated 4000")
	}
	return c.report(out)
}

// drawFigures draws Figures 1 and 2 of Broder 2000 with the measured points.
func drawFigures(folder string, points []plot.Point) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	draw := func(name string, curve func(io.Writer) error) error {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		return errors.Join(curve(file), file.Close())
	}
	return errors.Join(
		draw("figure-1.svg", func(w io.Writer) error { return plot.Curve(w, k, s, r, points) }),
		draw("figure-2.svg", func(w io.Writer) error { return plot.LogCurve(w, k, s, r, points, -10) }))
}

// Command scale asks of a few thousand real documents what Roth's experiment
// could not ask of fifteen: how many of the pairs that resemble each other does
// a range of similarity indexes find, and how many rows does it return? His five
// best methods stand beside the indexes that are meant for a range and beside
// features.
//
//	go run ./examples/roth/scale [-limit N] [FOLDER ...]
//
// Without a folder it takes what Debian installs everywhere: licences, change
// logs and manual pages.
package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/alike-sql/alike/examples/internal/program"
)

func main() { program.Main("scale", run) }

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	limit := flags.Int("limit", 4000, "read at most this `number` of documents, spread evenly over all that were found")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folders := flags.Args()
	if len(folders) == 0 {
		folders = []string{"/usr/share/doc", "/usr/share/man"}
	}
	texts, err := collect(folders, *limit)
	if err != nil {
		return err
	}
	if len(texts) < 2 {
		return fmt.Errorf("%d documents of %d to %d bytes under %q, want two at shortest", len(texts), shortest, longest, folders)
	}
	e, err := newExperiment(texts)
	if err != nil {
		return err
	}
	ways, err := e.ways()
	if err != nil {
		return err
	}
	e.print(out, ways)
	return nil
}

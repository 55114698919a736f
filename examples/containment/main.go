// Command containment finds which documents swallow which: chapters that are
// told in two books, a licence inside a source file, replies that quote a mail.
// It measures how far the estimates are off when a short document is sought in
// a long one (Broder 1997, section 3).
//
//	go run ./examples/containment [-database FILE]
package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/alike-sql/alike/examples/steps"
)

// Each file is one step, and runs as it is in the sqlite3 shell too.
//
//go:embed *.sql
var statements embed.FS

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "containment:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("containment", flag.ContinueOnError)
	file := flags.String("database", "build/containment.db", "the SQLite `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := steps.Create(*file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fill(db); err != nil {
		return err
	}
	if err := steps.Do(db, statements, "sketch.sql"); err != nil {
		return err
	}
	for _, step := range [][2]string{
		{"The collection, and the bytes of its sketches", "collection.sql"},
		{"Files in other files", "swallowed.sql"},
		{"Chapters in their own books", "own.sql"},
		{"Chapters that are told in another book too", "told-twice.sql"},
		{"Passages, half of each from the Psalms (42,000 words)", "error.sql"},
	} {
		if err := steps.Show(out, db, statements, step[0], step[1]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "All of it is in %s.\n", *file)
	return err
}

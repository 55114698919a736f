// Command containment finds which documents swallow which: chapters that are
// told in two books, a licence inside a source file, replies that quote a mail.
// It measures how far the estimates are off when a short document is sought in
// a long one (Broder 1997, section 3).
//
//	go run ./examples/containment [-database FILE]
package main

import (
	"database/sql"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3" // the driver

	"github.com/alike-sql/alike/sqlext"
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
	if err := os.MkdirAll(filepath.Dir(*file), 0o755); err != nil {
		return err
	}
	if err := os.Remove(*file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := sqlext.Auto(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", *file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	if err := fill(db); err != nil {
		return err
	}
	sketch, err := statements.ReadFile("sketch.sql")
	if err != nil {
		return err
	}
	if _, err := db.Exec(string(sketch)); err != nil {
		return err
	}
	for _, step := range []struct{ title, file string }{
		{"The collection, and the bytes of its sketches", "collection.sql"},
		{"Files in other files", "swallowed.sql"},
		{"Chapters in their own books", "own.sql"},
		{"Chapters that are told in another book too", "told-twice.sql"},
		{"Passages, half of each from the Psalms (42,000 words)", "error.sql"},
	} {
		fmt.Fprintf(out, "%s\n\n", step.title)
		query, err := statements.ReadFile(step.file)
		if err != nil {
			return err
		}
		if err := show(out, db, string(query)); err != nil {
			return fmt.Errorf("%s: %w", step.file, err)
		}
		fmt.Fprintln(out)
	}
	_, err = fmt.Fprintf(out, "All of it is in %s.\n", *file)
	return err
}

// show prints the result of a query as a table.
func show(out io.Writer, db *sql.DB, query string) error {
	found, err := db.Query(query)
	if err != nil {
		return err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	table := [][]string{columns}
	for found.Next() {
		row := make([]string, len(columns))
		cells := make([]any, len(columns))
		for i := range row {
			cells[i] = &row[i]
		}
		if err := found.Scan(cells...); err != nil {
			return err
		}
		table = append(table, row)
	}
	widths := make([]int, len(columns))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
	return found.Err()
}

// Package steps runs the SQL files of an example against an SQLite database
// that has the functions of Alike, and prints what they return.
package steps

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3" // the driver

	"github.com/alike-sql/alike/examples/internal/program"
	"github.com/alike-sql/alike/sqlext"
)

// An Example fills a database and asks it questions. Each of its files is one step,
// and runs as it is in the sqlite3 shell too.
type Example struct {
	Name  string
	Files fs.FS
	Fill  func(*sql.DB) error
	Do    []string    // files that prepare
	Show  [][2]string // titles, and files that ask
}

// Main is the whole of the program.
func (e Example) Main() { program.Main(e.Name, e.Run) }

// Run is the program with its arguments and its output.
func (e Example) Run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	file := flags.String("database", "build/"+e.Name+".db", "the SQLite `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := Create(*file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := e.Fill(db); err != nil {
		return err
	}
	for _, name := range e.Do {
		if err := Do(db, e.Files, name); err != nil {
			return err
		}
	}
	for _, step := range e.Show {
		if err := Show(out, db, e.Files, step[0], step[1]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "All of it is in %s.\n", *file)
	return err
}

// Create makes a new database and replaces an existing file.
func Create(file string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := sqlext.Auto(); err != nil {
		return nil, err
	}
	return sql.Open("sqlite3", file)
}

// Do runs the statements of a file that return nothing.
func Do(db *sql.DB, files fs.FS, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if _, err := db.Exec(string(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Show prints a title, and the rows that the query of a file returns as a table.
func Show(out io.Writer, db *sql.DB, files fs.FS, title, name string) error {
	query, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	rows, err := Read(db, string(query))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(out, "%s\n\n%s\n", title, Table(rows))
	return err
}

// Read gives the names of the columns and the rows of a query. NULL is empty.
func Read(db *sql.DB, query string, args ...any) (rows [][]string, err error) {
	found, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	rows = append(rows, columns)
	cells := make([]sql.NullString, len(columns))
	to := make([]any, len(columns))
	for i := range cells {
		to[i] = &cells[i]
	}
	for found.Next() {
		if err := found.Scan(to...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i := range cells {
			row[i] = cells[i].String
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// Table aligns the columns.
func Table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Command documentum keeps a Documentum repository in SQLite or PostgreSQL and
// gives it the similarity aspect: it imports an office's documents, attaches the
// aspect to a type and to single objects, checks versions out and in under each
// policy, asks Roth's query, and moves near-duplicates to quarantine and back.
//
//	go run ./examples/documentum [-database FILE | -postgres URL]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/alike-sql/alike/examples/internal/program"
)

func main() { program.Main("documentum", run) }

func run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("documentum", flag.ContinueOnError)
	file := flags.String("database", "build/documentum.db", "the SQLite `file` to write")
	url := flags.String("postgres", "", "the `URL` of an empty PostgreSQL database to use instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no option", flags.Arg(0))
	}
	where := *file
	var r *repository
	if *url != "" {
		where = "the database"
		r, err = newPostgres(context.Background(), *url)
	} else {
		r, err = newSQLite(*file)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := tell(r, out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "All of it is in %s.\n", where)
	return err
}

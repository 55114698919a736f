package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/extract"
)

func (c *command) checkCommand() *cobra.Command {
	var table, media string
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Does a file resemble a row? For programs that ask before they check in",
		Long: `check turns a file into text by its media type, sketches it under the profile of
the attached table and prints the rows that resemble it. FILE may be - for the
standard input. It exits with 3 when there is such a row, with 0 when not.`,
		Example: `  pgworker check upload.pdf --table documents || echo "known, or failed"
  curl -s https://example.org/ | pgworker check - --type html`,
		Args: cobra.ExactArgs(1),
	}
	check.Flags().StringVar(&table, "table", "", "the attached table; may be left out when there is one")
	check.Flags().StringVar(&media, "type", "auto", "what the file is: auto, plain, html, pdf, docx or a media type")
	atLeast := atLeastFlag(check)
	check.RunE = func(cmd *cobra.Command, args []string) error {
		extractor, err := extract.New(extract.Config{})
		if err != nil {
			return err
		}
		if err := extractor.Known(media); err != nil {
			return usagef("--type %q: %w, want auto, plain, html, pdf, docx or a media type that there is a command for", media, err)
		}
		file := io.Reader(os.Stdin)
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			file = f
		}
		doc, err := io.ReadAll(io.LimitReader(file, 1<<30))
		if err != nil {
			return err
		}
		if doc, err = extractor.Text(cmd.Context(), doc, media); err != nil {
			return err
		}
		conn, err := c.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(cmd.Context()))
		if table == "" {
			if table, err = onlyTable(cmd.Context(), conn); err != nil {
				return err
			}
		}
		q, err := worker.Ask(cmd.Context(), conn, table, doc)
		if err != nil {
			return err
		}
		if q.Sketch == nil {
			return fmt.Errorf("%s has no words to compare", args[0])
		}
		n, err := c.printOn(cmd, conn, queries.RowsLike, table, q.Features, q.Sketch, *atLeast, q.Shingles)
		if err == nil && n > 0 {
			err = errFound
		}
		return err
	}
	return check
}

// onlyTable returns the one attachment that there is.
func onlyTable(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, `select format('%I', name) from alike.attachment where replaces is null order by name`)
	if err != nil {
		return "", err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", errors.New("no table is attached; pgworker attach TABLE COLUMN attaches one")
	case len(names) > 1:
		return "", usagef("--table is required, one of %s", strings.Join(names, ", "))
	}
	return names[0], nil
}

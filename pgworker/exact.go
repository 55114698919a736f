package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

// exactFlag adds --exact.
func exactFlag(cmd *cobra.Command) *bool {
	exact := new(bool)
	cmd.Flags().BoolVar(exact, "exact", false, "read the documents of pairs whose bounds contain the limit (the option verify of attach does it always)")
	return exact
}

// answer answers a question about a table: by documents, where the flag or the option
// verify of the attachment says so, or else by a query.
func (c *command) answer(cmd *cobra.Command, table string, atLeast float64, exact bool, columns []string,
	read func(*worker.Exact, *sheet) error, sql string, args ...any) error {
	ctx := cmd.Context()
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if !exact {
		if exact, err = worker.Verifies(ctx, conn, table); err != nil {
			return err
		}
	}
	if !exact {
		_, err := c.printOn(cmd, conn, sql, args...)
		return err
	}
	return c.exactly(cmd, conn, table, atLeast, columns, read)
}

func (c *command) exactly(cmd *cobra.Command, conn *pgx.Conn, table string, atLeast float64, columns []string, read func(*worker.Exact, *sheet) error) error {
	e, err := worker.NewExact(cmd.Context(), conn, table, atLeast)
	if err != nil {
		return err
	}
	defer e.Close(cmd.Context())
	out := c.sheet(cmd.OutOrStdout(), columns)
	if err := read(e, out); err != nil {
		return err
	}
	return out.end()
}

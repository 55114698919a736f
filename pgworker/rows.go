package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

func (c *command) rowsCommand() *cobra.Command {
	rows := &cobra.Command{
		Use:   "rows TABLE KEY",
		Short: "The rows that resemble a row, best first",
		Long:  "A key of several columns is a JSON array of their values.",
		Args:  cobra.ExactArgs(2),
	}
	atLeast, exact := atLeastFlag(rows), exactFlag(rows)
	rows.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answer(cmd, args[0], *atLeast, *exact, []string{"key", "shared", "resemblance", "low", "high", "containment"},
			func(e *worker.Exact, out *sheet) error {
				list, err := e.Rows(cmd.Context(), args[1])
				for _, x := range list {
					var containment any
					if x.Containment != nil {
						containment = *x.Containment
					}
					if err := out.row([]any{x.Other, x.Shared, x.Resemblance, x.Low, x.High, containment}); err != nil {
						return err
					}
				}
				return err
			}, `select * from alike.rows($1, $2, $3)`, args[0], args[1], *atLeast)
	}
	return rows
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/queries"
)

func (c *command) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "What is attached and how far along it is",
		Long:  "status exits with 3 when rows have failed; errors names them.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			if _, err := c.printOn(cmd, conn, `select * from alike.status()`); err != nil {
				return err
			}
			var failed bool
			if err := conn.QueryRow(cmd.Context(), `select exists (select from alike.error)`).Scan(&failed); err != nil || !failed {
				return err
			}
			return errFound
		},
	}
}

func (c *command) errorsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "errors TABLE",
		Short: "The rows that failed, and why",
		Long:  "errors exits with 3 when there are any.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := c.print(cmd, `select * from alike.errors($1)`, args[0])
			if err == nil && n > 0 {
				err = errFound
			}
			return err
		},
	}
}

func (c *command) retryCommand() *cobra.Command {
	return c.ofTable("retry", "Queue the rows that failed once more",
		"retry gives every row that failed, those that were given up too, as many attempts as a new one has.", queries.Retry)
}

func (c *command) hotCommand() *cobra.Command {
	return c.ofTable("hot", "The features that suspiciously many rows share", "", `select * from alike.hot($1)`)
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

func (c *command) refreshCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "refresh TABLE",
		Short: "Queue every row that is missing or stale",
		Long: `refresh compares every row with its sketch and queues the rows that are missing, stale or damaged. A row is stale, too, when a build
of Alike with other tokens sketched it, an earlier or a later one: call refresh once after you go back to an earlier release.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			if err := worker.TakeOver(cmd.Context(), conn, args[0]); err != nil {
				return err
			}
			_, err = c.printOn(cmd, conn, `select alike.refresh($1) as queued`, args[0])
			return err
		},
	}
}

package main

import (
	"context"

	"github.com/spf13/cobra"
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

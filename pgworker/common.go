package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch/common"
)

func (c *command) commonCommand() *cobra.Command {
	var share float64
	verb := &cobra.Command{
		Use:   "common TABLE",
		Short: "What very many rows have in common, with examples",
		Long: `common reads the documents of an attached table and prints the passages whose
shingles more than a share of them have, a tenth unless given: a template, a
licence, a footer. With each come the number of rows that have the rarest of its
shingles, and the key of a row that has all of it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			list, err := worker.Common(cmd.Context(), conn, args[0], share)
			if err != nil {
				return err
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"rows", "share", "shingles", "key", "passage"})
			for _, p := range list {
				if err := out.row([]any{p.Rows, p.Share, p.Shingles, p.Example, p.Text}); err != nil {
					return err
				}
			}
			return out.end()
		},
	}
	floatFlag(verb.Flags(), &share, "share", common.Share, 0.0001, 1, "the share of the rows, a tenth unless given")
	return verb
}

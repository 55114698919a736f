package main

import "github.com/spf13/cobra"

func (c *command) rowsCommand() *cobra.Command {
	rows := &cobra.Command{
		Use:   "rows TABLE KEY",
		Short: "The rows that resemble a row, best first",
		Long:  "A key of several columns is a JSON array of their values.",
		Args:  cobra.ExactArgs(2),
	}
	atLeast := atLeastFlag(rows)
	rows.RunE = func(cmd *cobra.Command, args []string) error {
		_, err := c.print(cmd, `select * from alike.rows($1, $2, $3)`, args[0], args[1], *atLeast)
		return err
	}
	return rows
}

package main

import "github.com/spf13/cobra"

func (c *command) pairsCommand() *cobra.Command {
	pairs := &cobra.Command{
		Use:   "pairs TABLE",
		Short: "Every pair of rows that resemble each other, once",
		Args:  cobra.ExactArgs(1),
	}
	atLeast := atLeastFlag(pairs)
	pairs.RunE = func(cmd *cobra.Command, args []string) error {
		_, err := c.print(cmd, `select * from alike.pairs($1, $2)`, args[0], *atLeast)
		return err
	}
	return pairs
}

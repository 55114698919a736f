package main

import "github.com/spf13/cobra"

func (c *command) keepCommand() *cobra.Command {
	var rule string
	keep := &cobra.Command{
		Use:   "keep TABLE",
		Short: "Which rows to keep, and for each of the others the row that stands for it",
		Long: `keep prints each row with the row that stands for it: itself, or the row that is
kept in its place. No two rows that are kept are alike. Nothing is deleted.

The rule says which row of two is kept: oldest or newest by the key, longest,
popular (alike to the most others), verdict (only what a person called a
duplicate is left out), contains (only what a kept row contains goes; the table
is attached with that option, and functions ask a worker), or a column or an
expression on the columns of the table, whose greatest value is kept.`,
		Example: `  pgworker keep documents --rule changed_on
  pgworker keep documents --json | jq -r 'select(.key != .kept) | .key'`,
		Args: cobra.ExactArgs(1),
	}
	keep.Flags().StringVar(&rule, "rule", "oldest", "which row of two is kept")
	atLeast := atLeastFlag(keep)
	keep.RunE = func(cmd *cobra.Command, args []string) error {
		_, err := c.print(cmd, `select * from alike.keep($1, $2, $3)`, args[0], rule, *atLeast)
		return err
	}
	return keep
}

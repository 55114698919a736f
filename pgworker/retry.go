package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/queries"
)

func (c *command) retryCommand() *cobra.Command {
	return c.ofTable("retry", "Queue the rows that failed once more",
		"retry gives every row that failed, those that were given up too, as many attempts as a new one has.", queries.Retry)
}

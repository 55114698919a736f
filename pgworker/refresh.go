package main

import "github.com/spf13/cobra"

func (c *command) refreshCommand() *cobra.Command {
	return c.ofTable("refresh", "Queue every row that is missing or stale", "", `select alike.refresh($1) as queued`)
}

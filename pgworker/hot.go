package main

import "github.com/spf13/cobra"

func (c *command) hotCommand() *cobra.Command {
	return c.ofTable("hot", "The features that suspiciously many rows share", "", `select * from alike.hot($1)`)
}

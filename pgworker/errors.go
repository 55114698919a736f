package main

import "github.com/spf13/cobra"

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

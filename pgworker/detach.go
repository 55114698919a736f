package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (c *command) detachCommand() *cobra.Command {
	var drop bool
	detach := &cobra.Command{
		Use:   "detach TABLE",
		Short: "Take the similarity aspect off a table",
		Long:  "detach removes the triggers. The side table keeps its rows, unless --drop removes it too.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.print(cmd, `select alike.detach($1, $2::jsonb) as rows`, args[0], fmt.Sprintf(`{"drop": %t}`, drop))
			return err
		},
	}
	detach.Flags().BoolVar(&drop, "drop", false, "remove the side table and the views")
	return detach
}

package main

import "github.com/spf13/cobra"

func (c *command) markCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mark TABLE KEY KEY duplicate|distinct|none [NOTE]",
		Short: "Give a verdict on a pair of rows",
		Long:  "mark records what a person decided. Pairs, clusters and gates obey it from then on; none withdraws it.",
		Args:  cobra.RangeArgs(4, 5),
		RunE: func(cmd *cobra.Command, args []string) error {
			var note *string
			if len(args) == 5 {
				note = &args[4]
			}
			_, err := c.print(cmd, `select alike.mark($1, $2, $3, $4, $5) as verdict`, args[0], args[1], args[2], args[3], note)
			return err
		},
	}
}

package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
)

func (c *command) planCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plan RESEMBLANCE MISS BELOW RATE",
		Short: "Filters that miss few pairs above one resemblance and accept few below another",
		Long: `plan lists the k, s and r that miss at most MISS of the pairs at RESEMBLANCE and
accept at most RATE of those at BELOW, the cheapest first, with the bytes a row
that their features and sketch take.`,
		Example: "  pgworker plan 0.9 0.01 0.5 0.001",
		Args:    cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := numbers(args, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
			if err != nil {
				return err
			}
			choices, err := sketch.FilterPlan(n[0], n[1], n[2], n[3])
			if err != nil {
				return usageError{err}
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"k", "s", "r", "bytes", "miss", "accept"})
			for _, f := range choices {
				if err := out.row([]any{f.K, f.S, f.R, f.Bytes, f.Miss, f.Accept}); err != nil {
					return err
				}
			}
			return out.end()
		},
	}
}

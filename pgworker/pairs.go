package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

func (c *command) pairsCommand() *cobra.Command {
	pairs := &cobra.Command{
		Use:   "pairs TABLE",
		Short: "Every pair of rows that resemble each other, once",
		Long: `The best pair comes first. With --exact, the pairs come in the order of their
estimates: what the documents say may differ.`,
		Args: cobra.ExactArgs(1),
	}
	atLeast, exact := atLeastFlag(pairs), exactFlag(pairs)
	pairs.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answer(cmd, args[0], *atLeast, *exact, []string{"key", "other", "shared", "resemblance", "low", "high"},
			func(e *worker.Exact, out *sheet) error {
				return e.Pairs(cmd.Context(), func(x worker.Answer) error {
					return out.row([]any{x.Key, x.Other, x.Shared, x.Resemblance, x.Low, x.High})
				})
			}, `select * from alike.pairs($1, $2)`, args[0], *atLeast)
	}
	return pairs
}

package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
)

func (c *command) planCommand() *cobra.Command {
	var profile string
	var tokens, keyBytes int
	plan := &cobra.Command{
		Use:   "plan RESEMBLANCE MISS BELOW RATE",
		Short: "Filters for the errors that you accept; what the option contains will take",
		Long: `plan lists the k, s and r that miss at most MISS of the pairs at RESEMBLANCE and
accept at most RATE of those at BELOW, the cheapest first, with the bytes a row
that their features and sketch take.

With --contains it says what the option contains of attach will keep of a document with
this many tokens (words; characters under a profile of characters): the tokens of the
shortest passage that is found for certain, the number of values, and the bytes that
they take in SQLite and in PostgreSQL.`,
		Example: "  pgworker plan 0.9 0.01 0.5 0.001\n  pgworker plan --contains 450",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("contains") {
				if len(args) > 0 {
					return usagef("--contains takes no other numbers")
				}
				return c.planPassages(cmd, profile, tokens, keyBytes)
			}
			if len(args) != 4 {
				return usagef("want RESEMBLANCE MISS BELOW RATE, or --contains TOKENS")
			}
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
	intFlag(plan.Flags(), &tokens, "contains", 0, 0, 1_000_000_000, "plan the option contains for documents of this many tokens")
	intFlag(plan.Flags(), &keyBytes, "key-bytes", 4, 1, 1000, "with --contains: the size of a key")
	plan.Flags().StringVar(&profile, "profile", "prose", "with --contains: the profile")
	return plan
}

func (c *command) planPassages(cmd *cobra.Command, profile string, tokens, keyBytes int) error {
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		return usageError{err}
	}
	plan, err := sketch.PlanPassages(p, float64(tokens), keyBytes)
	if err != nil {
		return usageError{err}
	}
	out := c.sheet(cmd.OutOrStdout(), []string{"passage", "sampled", "sqlite_bytes", "postgres_bytes"})
	if err := out.row([]any{plan.Passage, plan.Sampled, plan.SQLite, plan.Postgres}); err != nil {
		return err
	}
	return out.end()
}

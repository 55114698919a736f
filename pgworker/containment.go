package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

// onContainment is a verb about what is contained in what.
func (c *command) onContainment(use, short string, args int, columns []string, read func(context.Context, *worker.Containment, []string, func([]any) error) error, sql string) *cobra.Command {
	verb := &cobra.Command{
		Use:   use,
		Short: short,
		Long: `The table is attached with the option contains. A key of several columns is a
JSON array of their values.`,
		Args: cobra.ExactArgs(args),
	}
	var atLeast float64
	floatFlag(verb.Flags(), &atLeast, "at-least", math.NaN(), 0, 1, "how much of the one has to be in the other; 0.8 unless given")
	exact := exactFlag(verb)
	verb.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		conn, err := c.connect(ctx)
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if !*exact {
			if *exact, err = worker.Verifies(ctx, conn, args[0]); err != nil {
				return err
			}
		}
		if !*exact {
			given := []any{atLeast}
			for _, arg := range args {
				given = append(given, arg)
			}
			_, err := c.printOn(cmd, conn, sql, given...)
			return err
		}
		q, err := worker.NewContainment(ctx, conn, args[0], atLeast)
		if err != nil {
			return err
		}
		defer q.Close(ctx)
		out := c.sheet(cmd.OutOrStdout(), columns)
		if err := read(ctx, q, args, out.row); err != nil {
			return err
		}
		return out.end()
	}
	return verb
}

// holding prints the rows that contain a row, or in reverse those that it contains.
func holding(reverse bool) func(context.Context, *worker.Containment, []string, func([]any) error) error {
	return func(ctx context.Context, q *worker.Containment, args []string, row func([]any) error) error {
		list, err := q.Rows(ctx, args[1], reverse)
		if err != nil {
			return err
		}
		for _, x := range list {
			key := x.Other
			if reverse {
				key = x.Key
			}
			if err := row([]any{key, x.Containment, x.Low, x.High}); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *command) containersCommand() *cobra.Command {
	return c.onContainment("containers TABLE KEY", "The rows that contain a row, best first", 2, []string{"key", "containment", "low", "high"}, holding(false),
		"select * from alike.containers($2, $3, $1)")
}

func (c *command) containedCommand() *cobra.Command {
	return c.onContainment("contained TABLE KEY", "The rows that a row contains, best first", 2, []string{"key", "containment", "low", "high"}, holding(true),
		"select * from alike.contained($2, $3, $1)")
}

func (c *command) containmentsCommand() *cobra.Command {
	return c.onContainment("containments TABLE", "Every pair in which a row is contained in another", 1, []string{"key", "other", "containment", "low", "high"},
		func(ctx context.Context, q *worker.Containment, _ []string, row func([]any) error) error {
			return q.Pairs(ctx, func(x worker.Contained) error { return row([]any{x.Key, x.Other, x.Containment, x.Low, x.High}) })
		}, "select * from alike.containments($2, $1)")
}

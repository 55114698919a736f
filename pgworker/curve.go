package main

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/plot"
)

func (c *command) curveCommand() *cobra.Command {
	var points int
	var profile, picture string
	var logarithmic bool
	curve := &cobra.Command{
		Use:   "curve [K S R]",
		Short: "The probability that a filter accepts a pair, by resemblance",
		Long: `curve prints P(k,s,r) of Broder 2000: how likely two documents share at least R of
K features of S minima each. Without numbers it is the filter of --profile. With
--svg it draws the curve into a file instead.`,
		Example: "  pgworker curve 6 14 2\n  pgworker curve 6 14 2 --svg curve.svg --log",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 3 {
				return usagef("want K S R, or nothing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := sketch.ParseProfile(profile)
			if err != nil {
				return usageError{err}
			}
			k, s, r := p.K, p.S, p.R
			if len(args) == 3 {
				n, err := numbers(args, strconv.Atoi)
				if err != nil {
					return err
				}
				k, s, r = n[0], n[1], n[2]
			}
			if err := sketch.CheckFilter(k, s, r); err != nil {
				return usageError{err}
			}
			if picture != "" {
				return drawCurve(picture, k, s, r, logarithmic)
			}
			if logarithmic {
				return usagef("--log is for the picture of --svg")
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"resemblance", "probability"})
			for _, at := range sketch.FilterCurve(k, s, r, points) {
				if err := out.row([]any{at.Resemblance, at.Probability}); err != nil {
					return err
				}
			}
			return out.end()
		},
	}
	intFlag(curve.Flags(), &points, "points", 21, 2, 10001, "how many points")
	curve.Flags().StringVar(&profile, "profile", "prose", "the profile whose filter it is")
	curve.Flags().StringVar(&picture, "svg", "", "draw the curve into this file")
	curve.Flags().BoolVar(&logarithmic, "log", false, "with --svg: a logarithmic scale of probabilities")
	return curve
}

func drawCurve(name string, k, s, r int, logarithmic bool) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if logarithmic {
		err = plot.LogCurve(file, k, s, r, nil, -10)
	} else {
		err = plot.Curve(file, k, s, r, nil)
	}
	return errors.Join(err, file.Close())
}

package main

import (
	"math"

	"github.com/spf13/cobra"
)

func (c *command) siRowsCommand() *cobra.Command {
	var fraction float64
	rows := &cobra.Command{
		Use:   "si-rows TABLE VARIANT KEY",
		Short: "The rows whose similarity index lies in the range around a row's",
		Long:  "The nearest come first. For forest/0 and the like those that agree in the first byte are the range.",
		Args:  cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.print(cmd, `select * from alike.si_rows($1, $2, $3, $4)`, args[0], args[1], args[2], fraction)
			return err
		},
	}
	floatFlag(rows.Flags(), &fraction, "fraction", math.NaN(), 0, -1, "how far the range reaches on either side; 0.3 unless given")
	return rows
}

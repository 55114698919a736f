package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/sketch"
)

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "What this build is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := c.sheet(cmd.OutOrStdout(), []string{"version", "commit", "schema", "go", "platform"})
			if err := out.row([]any{sketch.Version, sketch.Commit(), migrations.Latest(), runtime.Version(), fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)}); err != nil {
				return err
			}
			return out.end()
		},
	}
}

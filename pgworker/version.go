package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/migrations"
)

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "What this build is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"version", "schema", "go", "platform"})
			if err := out.row([]any{version, migrations.Latest(), runtime.Version(), fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)}); err != nil {
				return err
			}
			return out.end()
		},
	}
}

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
			version, commit := build()
			out := c.sheet(cmd.OutOrStdout(), []string{"version", "commit", "schema", "go", "platform"})
			if err := out.row([]any{version, commit, migrations.Latest(), runtime.Version(), fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)}); err != nil {
				return err
			}
			return out.end()
		},
	}
}

// build is the version and the commit of this program, as far as the build noted them.
func build() (version, commit string) {
	version, commit = "unknown", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	return version, commit
}

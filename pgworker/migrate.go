package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/migrations"
)

func (c *command) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate up|down|status|force [VERSION]",
		Short: "Make, bring up to date or remove the schema alike",
		Long: `migrate up applies the migrations that the database does not have yet; status
says which it has, and fails when one of them failed half-way; down removes the
schema alike. Side tables and the sketches in them stay: they are the user's.

A migration that failed half-way leaves the database dirty, and nothing else is
applied before it was looked at. force VERSION says that the database is now as
that version leaves it, 0 for nothing, and changes nothing itself.

The plain migrate command of golang-migrate applies the same files from the
folder migrations. A database whose own migrations use the same version table
adds x-migrations-table=alike_migrations to the URL.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := c.url()
			if err != nil {
				return err
			}
			version := 0
			switch verb := args[0]; {
			case verb != "up" && verb != "down" && verb != "status" && verb != "force":
				return usagef("migrate %q, want up, down, status or force", verb)
			case verb == "force" && len(args) != 2:
				return usagef("migrate force: VERSION is required")
			case verb != "force" && len(args) != 1:
				return usagef("migrate %s takes no version", verb)
			case verb == "force":
				if version, err = strconv.Atoi(args[1]); err != nil || version < 0 || version > migrations.Latest() {
					return usagef("migrate force %q, want a version from 0 to %d", args[1], migrations.Latest())
				}
			}
			switch args[0] {
			case "up":
				err = migrations.Up(cmd.Context(), url)
			case "down":
				err = migrations.Down(cmd.Context(), url)
			case "force":
				err = migrations.Force(cmd.Context(), url, version)
			}
			if err != nil {
				return err
			}
			now, err := migrations.Current(cmd.Context(), url)
			if err != nil {
				return err
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"version", "latest", "dirty"})
			if err := out.row([]any{now.Version, now.Latest, now.Dirty}); err != nil {
				return err
			}
			if err := out.end(); err != nil {
				return err
			}
			if now.Dirty {
				return fmt.Errorf("migration %d failed half-way: undo or complete it by hand, then pgworker migrate force VERSION", now.Version)
			}
			return nil
		},
	}
}

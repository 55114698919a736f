package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-sql/alike/sketch/report"
	sqlite "github.com/alike-sql/alike/sqlext/source"
)

func (c *command) reportCommand() *cobra.Command {
	var config report.Config
	var output string
	cmd := &cobra.Command{
		Use:   "report DATABASE",
		Short: "One HTML page about what is alike: clusters, filter, verdicts that are due",
		Long: `report writes one HTML page about the attached tables of a database: how far along they are, what the filter finds with points
measured on your own rows, how alike the candidates are, the clusters with their texts side by side, the pairs that wait for a
verdict with the statements that give it, hot features and the text they come from, and what range scans over similarity indexes
return.

The page needs nothing beside itself: no network, no scripts. It can be mailed, printed, and read on a phone; mind that it quotes
your documents. The database is opened for reading alone. The command prints where the page is; with --json the numbers go to the
standard output instead.`,
		Example: `  alike report notes.db                        # alike-report.html
  alike report notes.db --output notes.html --clusters 20
  alike report notes.db --json | jq '.attachments[].clusters.count'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case output == "":
				return usagef("--output is empty, want a file, or - for the standard output")
			case config.Clusters < 1 || config.Clusters > report.MaxClusters:
				return usagef("--clusters is %d, want 1 to %d", config.Clusters, report.MaxClusters)
			case config.Members < 2 || config.Members > report.MaxMembers:
				return usagef("--members is %d, want 2 to %d", config.Members, report.MaxMembers)
			}
			attached, err := sqlite.Report(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			config.Progress = stepBar()
			r, err := report.Make(cmd.Context(), attached, config)
			config.Progress("", 0, 0)
			if err != nil {
				return err
			}
			return r.Output(cmd.OutOrStdout(), output, c.json)
		},
	}
	cmd.ValidArgsFunction = complete(cmd.Use)
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "alike-report.html", "where the page goes; - is the standard output")
	f.StringVar(&config.Table, "table", "", "this attached table alone")
	f.IntVar(&config.Clusters, "clusters", 100, fmt.Sprintf("clusters shown with their texts, 1 to %d", report.MaxClusters))
	f.IntVar(&config.Members, "members", 6, fmt.Sprintf("rows of each that are shown, 2 to %d", report.MaxMembers))
	return cmd
}

// stepBar shows on a terminal how far a step is. It clears its line when the next begins.
func stepBar() func(step string, done, of int64) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(string, int64, int64) {}
	}
	var bar *progressbar.ProgressBar
	current := ""
	return func(step string, done, of int64) {
		if step != current {
			if bar != nil {
				_ = bar.Finish() // an error of the terminal is no error of the work
			}
			if current, bar = step, nil; step == "" {
				return
			}
			if of == 0 {
				of = -1
			}
			bar = progressbar.NewOptions64(of, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(cell(step)),
				progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionThrottle(200*time.Millisecond))
		}
		if bar != nil {
			_ = bar.Set64(done)
		}
	}
}

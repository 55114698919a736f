package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-sql/alike/pgworker/source"
	"github.com/alike-sql/alike/sketch/report"
)

func (c *command) reportCommand() *cobra.Command {
	var config report.Config
	var output string
	verb := &cobra.Command{
		Use:   "report",
		Short: "One HTML page about what is alike: clusters, filter, verdicts that are due",
		Long: `report writes one HTML page about the attached tables of the database: how far along they are, what the filter finds
with points measured on your own rows, how alike the candidates are, the
clusters with their texts side by side, the pairs that wait for a verdict with
the statements that give it, hot features and the text they come from, and what
range scans over similarity indexes return.

The page needs nothing beside itself: no network, no scripts. It can be mailed,
printed, and read on a phone; mind that it quotes your documents. Nothing is
written to the database, and everyone who may read the table may run this. It keeps
a copy of the sketches in a temporary file while it works.

It prints where the page is. With --json the numbers go to the standard output
instead.`,
		Example: `  pgworker report                              # alike-report.html
  pgworker report --output notes.html
  pgworker report --table documents --clusters 20
  pgworker report --json | jq '.attachments[].clusters.count'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return usagef("--output is empty, want a file, or - for the standard output")
			}
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			attached, err := source.Report(cmd.Context(), conn)
			if err != nil {
				return err
			}
			var end func()
			config.Progress, end = reportProgress(cmd.ErrOrStderr())
			r, err := report.Make(cmd.Context(), attached, config)
			end()
			if err != nil {
				return err
			}
			return r.Output(cmd.OutOrStdout(), output, c.json)
		},
	}
	flags := verb.Flags()
	flags.StringVar(&output, "output", "alike-report.html", "where the page goes; - is the standard output")
	flags.StringVar(&config.Table, "table", "", "this attached table alone")
	intFlag(flags, &config.Clusters, "clusters", 100, 1, report.MaxClusters, "clusters shown with their texts")
	intFlag(flags, &config.Members, "members", 6, 2, report.MaxMembers, "rows of each that are shown")
	return verb
}

// reportProgress shows a line on a terminal that changes as work goes on, and
// a line of the log every ten seconds elsewhere.
func reportProgress(w io.Writer) (show func(string, int64, int64), end func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		log := slog.New(slog.NewTextHandler(w, nil))
		next := time.Now().Add(10 * time.Second)
		return func(what string, done, of int64) {
			if time.Now().After(next) {
				next = time.Now().Add(10 * time.Second)
				log.Info(what, "done", done, "of", of)
			}
		}, func() {}
	}
	var bar *progressbar.ProgressBar
	name := ""
	end = func() {
		if bar != nil {
			fmt.Fprintln(w)
			bar = nil
		}
	}
	return func(what string, done, of int64) {
		if what != name || bar == nil {
			end()
			name = what
			if of == 0 {
				of = -1
			}
			bar = progressbar.NewOptions64(of, progressbar.OptionSetDescription(cell(what)), progressbar.OptionSetWriter(w),
				progressbar.OptionShowCount(), progressbar.OptionThrottle(200*time.Millisecond))
		}
		_ = bar.Set64(done) // an error of the terminal is no error of the work
	}, end
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
)

// command holds the settings that the verbs share.
type command struct {
	json bool
}

func newRoot() *cobra.Command {
	c := &command{}
	root := &cobra.Command{
		Use:   "alike",
		Short: "Near-duplicates in files and in SQLite databases",
		Long: `alike finds the documents that are roughly the same, among the records of files
and among the rows of a table in a SQLite database.

  alike dedup notes.csv -o kept.csv --why why.csv    # of rows that are alike, keep the first
  alike dedup notes.jsonl --keep longest             # or the longest
  alike diff old.txt new.txt                         # what differs, marked
  alike attach notes.db notes body                   # give a table the similarity aspect
  alike rows notes.db notes 42                       # the rows that resemble row 42
  alike check upload.txt --against notes.db          # does a file resemble a row?
  alike review notes.db                              # decide about pairs in the browser
  alike report notes.db                              # one HTML page about what is alike

Exit codes: 0 done; 1 failed; 2 wrong command line; 3 found (check found a
similar row, diff a difference, errors has rows).`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       sketch.Version + ", commit " + sketch.Commit(),
	}
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON, an object a line")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef("%w; see alike help %s", err, cmd.Name()) })
	root.AddCommand(c.dedupCommand(), c.diffCommand(), c.checkCommand(), c.attachCommand(), c.reviewCommand(), c.reportCommand(), c.exportCommand(), c.versionCommand())
	for _, v := range verbs {
		root.AddCommand(c.verbCommand(v))
	}
	for _, verb := range root.Commands() {
		if args := verb.Args; args != nil {
			verb.Args = func(cmd *cobra.Command, given []string) error {
				if err := args(cmd, given); err != nil {
					return usagef("%w: %s", err, cmd.UseLine())
				}
				return nil
			}
		}
	}
	return root
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch/aspect/option"
)

func (c *command) attachCommand() *cobra.Command {
	var flags *option.Flags
	var distributed bool
	attach := &cobra.Command{
		Use:   "attach TABLE COLUMN",
		Short: "Give a table the similarity aspect",
		Long: `attach makes the table TABLE_alike beside TABLE, with a sketch, features and
similarity indexes for every row, the views TABLE_alike_pair and
TABLE_alike_feature, and the triggers that queue what is checked in. TABLE
itself is not altered. Workers (pgworker run) fill the rows that are there.

Without a profile attach looks at the first 1000 documents, chooses the preset for
their kind and says why. k and s of the filter follow --at-least and --recall
unless the profile gives them.

Attaching again under another profile builds the new columns beside the old
ones and switches when they are complete.`,
		Example: `  pgworker attach documents body
  pgworker attach 'archive."Mails"' content --profile "words w=6" --policy link
  pgworker attach files data --extract auto --si 43B/40 --si forest/0`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := flags.Object()
			if err != nil {
				return usagef("%v", err)
			}
			_, err = c.print(cmd, `select alike.attach($1, $2, $3::jsonb || case when $4 then '{"distributed": true}' else '{}' end::jsonb) as queued`, args[0], args[1], object, distributed)
			return err
		},
	}
	flags = option.Add(attach.Flags(), option.Engine{
		Modes: []string{"queue", "scan"}, ModeUsage: "queue (triggers) or scan (the worker looks)",
		Extract: `plain, html, auto, a media type, or a column that names it as {"column": NAME}`, Common: ", once the worker has learned it",
	})
	attach.Flags().BoolVar(&distributed, "distributed", false, "for a distributed table of Citus: the side tables are distributed with it, and the worker scans for checkins")
	return attach
}

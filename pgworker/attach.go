package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"
)

func (c *command) attachCommand() *cobra.Command {
	var profile, policy, by, verify, mode, layout, name, where, extract, options string
	var variants []string
	var atLeast, recall float64
	var distributed, superfeatures, contains, clusters, common bool
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
			given := map[string]any{}
			if options != "" {
				if err := json.Unmarshal([]byte(options), &given); err != nil || given == nil {
					return usagef("--options %q, want one JSON object", options)
				}
			}
			for flag, value := range map[string]any{
				"profile": profile, "policy": policy, "by": by, "verify": verify, "mode": mode, "name": name, "where": where,
				"extract": extract, "si": variants, "layout": layout, "superfeatures": superfeatures, "contains": contains, "clusters": clusters, "common": common, "at-least": atLeast, "recall": recall,
			} {
				if cmd.Flags().Changed(flag) {
					given[strings.ReplaceAll(flag, "-", "_")] = value
				}
			}
			if strings.HasPrefix(extract, "{") {
				given["extract"] = json.RawMessage(extract)
			}
			if distributed {
				given["distributed"] = true
			}
			encoded, err := json.Marshal(given)
			if err != nil {
				return usagef("--extract %q, want a name, or {\"column\": NAME}", extract)
			}
			_, err = c.print(cmd, `select alike.attach($1, $2, $3::jsonb) as queued`, args[0], args[1], string(encoded))
			return err
		},
	}
	flags := attach.Flags()
	flags.StringVar(&profile, "profile", "", "what decides the numbers: a preset (prose, short, names, unsegmented, sequences, pages, code, logs, records, web, bing), then settings; chosen by a look at the column unless given")
	flags.StringSliceVar(&variants, "si", nil, "a similarity index, such as 43B/40, forest/0 or length; may be repeated")
	flags.StringVar(&policy, "policy", "ignore", "what a checkin does with a near-duplicate: ignore, link, warn or reject")
	flags.StringVar(&by, "by", "resemblance", "what the policy acts on: resemblance, or containment, which needs --contains")
	flags.StringVar(&verify, "verify", "sketch", "what decides a pair that its sketches leave open: sketch, or text, the documents, which the worker and pgworker read again")
	floatFlag(flags, &atLeast, "at-least", 0, 0, 1, "the resemblance from which rows count as alike; the preset's unless given")
	floatFlag(flags, &recall, "recall", 0.95, 0, 1, "the share of the pairs at that resemblance and a little above that the filter is chosen to find")
	flags.StringVar(&name, "name", "", "the attachment's name, when a table has several; the table's unless given")
	flags.StringVar(&where, "where", "", "an SQL condition over a row: only these are attached")
	flags.StringVar(&extract, "extract", "", "how bytes become text: plain, html, auto, a media type, or a column that names it as {\"column\": NAME}")
	flags.StringVar(&mode, "mode", "queue", "how checkins are noticed: queue (triggers) or scan (the worker looks)")
	flags.BoolVar(&distributed, "distributed", false, "for a distributed table of Citus: the side tables are distributed with it, and the worker scans for checkins")
	flags.StringVar(&layout, "layout", "columns", "where equal features are found: columns (an index for each) or parts (checkins into a large table stay cheap)")
	flags.BoolVar(&superfeatures, "superfeatures", false, "a column and an index for each superfeature: g1 and on, beside f1 and on")
	flags.BoolVar(&contains, "contains", false, "keep values of the passages of each row, for the questions what is contained in what")
	flags.BoolVar(&clusters, "clusters", false, "keep the clusters of the linkage single up to date in TABLE_alike_cluster; --options takes the most rows of one")
	flags.BoolVar(&common, "common", false, "leave what more than a tenth of the rows share out of the sketches, once the worker has learned it")
	flags.StringVar(&options, "options", "", "all options as one JSON object, as the SQL function takes them")
	return attach
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/advise"
	"github.com/alike-sql/alike/sketch/plot"
)

func (c *command) adviseCommand() *cobra.Command {
	var svg string
	verb := &cobra.Command{
		Use:   "advise TABLE COLUMN",
		Short: "The presets side by side on a sample of a column",
		Long: `advise tries the presets on up to a thousand rows of the table, which need not be
attached, and prints for each: the threshold; the recall that its filter is
expected to have at the threshold and a little above; the recall that it has of
the pairs of the sample, by their texts; the share of texts that are found by a
copy with a tenth of the words replaced; the share of the answers that a person
would call similar; the candidates that a question reads; about how many bytes a
row takes; the seconds in which one processor sketches the table; and the layout
that suits a table of its size into which rows are checked in. Then it
prints pairs that one preset answers and the chosen one does not, to read. --svg
draws the recall by resemblance, as expected and as measured.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			texts, rows, err := sample(cmd.Context(), conn, args[0], args[1])
			if err != nil {
				return err
			}
			list, reason, err := advise.Presets(texts, rows, func() error { return context.Cause(cmd.Context()) })
			if err != nil {
				return err
			}
			if svg != "" {
				if err := drawAdvice(svg, list); err != nil {
					return err
				}
			}
			return c.printAdvice(cmd.OutOrStdout(), list, reason, len(texts))
		},
	}
	verb.Flags().StringVar(&svg, "svg", "", "write the curves to this `file`")
	return verb
}

// drawAdvice draws what filters find by resemblance, and what was measured.
func drawAdvice(file string, list []advise.Advice) error {
	var b bytes.Buffer
	if err := plot.Lines(&b, advise.Chart(list)); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// sample reads texts from all over a table, and about how many rows it has.
func sample(ctx context.Context, conn *pgx.Conn, table, column string) (texts []string, rows int64, err error) {
	var read, count string
	if err := conn.QueryRow(ctx, queries.Sample, table, column, advise.MaxTexts).Scan(&read, &count, &rows); errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, fmt.Errorf("there is no table %s", table)
	} else if err != nil {
		return nil, 0, err
	}
	if rows < 0 {
		if err := conn.QueryRow(ctx, count).Scan(&rows); err != nil {
			return nil, 0, err
		}
	}
	found, err := conn.Query(ctx, read)
	if err != nil {
		return nil, 0, err
	}
	defer found.Close()
	bytes := 0
	for found.Next() && !advise.Enough(len(texts), bytes) {
		var text []byte
		if err := found.Scan(&text); err != nil {
			return nil, 0, err
		}
		texts, bytes = append(texts, string(text)), bytes+len(text)
	}
	return texts, rows, found.Err()
}

func (c *command) printAdvice(w io.Writer, list []advise.Advice, reason string, texts int) error {
	names := []string{"preset", "chosen", "at_least", "expected", "recall", "pairs", "edited", "same", "answers", "candidates", "bytes", "seconds", "layout"}
	if c.json {
		names = append(names, "settings", "curve", "only", "missed")
	}
	out := c.sheet(w, names)
	for _, a := range list {
		row := a.Row(reason)
		var values []any
		for _, name := range names {
			values = append(values, row[name])
		}
		if !c.json {
			values[1] = map[bool]string{true: "yes", false: "-"}[a.Chosen]
		}
		if err := out.row(values); err != nil {
			return err
		}
	}
	if err := out.end(); err != nil || c.json {
		return err
	}
	chosen := ""
	for _, a := range list {
		if a.Chosen {
			chosen = a.Preset
		}
	}
	fmt.Fprintf(w, "\n%s is chosen: %s. %d texts were looked at.\n", chosen, reason, texts)
	for _, a := range list {
		for _, part := range []struct {
			what  string
			pairs []advise.Pair
		}{{a.Preset + " answers and " + chosen + " does not", a.Only}, {chosen + " answers and " + a.Preset + " does not", a.Missed}} {
			if len(part.pairs) > 0 {
				fmt.Fprintf(w, "\n%s:\n", part.what)
			}
			for _, p := range part.pairs {
				fmt.Fprintf(w, "  %s\n  %s\n  %.0f %% of their characters are equal\n", cell(p.A), cell(p.B), 100*p.Ratio)
			}
		}
	}
	return nil
}

package main

import (
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-sql/alike/sketch/compare"
)

func (c *command) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff FILE FILE",
		Short: "Two documents as one, with what differs marked",
		Long: `diff prints both documents as one: words that only the first has as [-these-], words that only the second has as {+these+},
in colours on a terminal. It exits with 3 when the words differ.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := readText(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			b, err := readText(cmd.Context(), args[1], false)
			if err != nil {
				return err
			}
			var s *sheet
			if c.json {
				s = c.sheet(cmd.OutOrStdout(), []string{"kind", "text"})
			}
			colours := os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(os.Stdout.Fd()))
			different := false
			var out strings.Builder
			for _, p := range compare.Parts(string(a), string(b)) {
				different = different || p.Of != compare.Both
				if s != nil {
					if err := s.row([]any{[]string{"both", "left", "right"}[p.Of], p.Text}); err != nil {
						return err
					}
					continue
				}
				out.WriteString(marked(p, colours))
			}
			if s == nil {
				if _, err := cmd.OutOrStdout().Write([]byte(strings.TrimSuffix(out.String(), "\n") + "\n")); err != nil {
					return err
				}
			}
			if different {
				return errFound
			}
			return nil
		},
	}
}

// marked writes a part for a person, without control characters that would reach the terminal.
func marked(p compare.Part, colours bool) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, p.Text)
	switch {
	case p.Of == compare.Both:
		return text
	case p.Of == compare.Left && colours:
		return "\x1b[31;9m" + text + "\x1b[0m"
	case colours:
		return "\x1b[32;4m" + text + "\x1b[0m"
	case p.Of == compare.Left:
		return "[-" + text + "-]"
	}
	return "{+" + text + "+}"
}

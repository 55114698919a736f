package main

import (
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (c *command) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff FILE FILE",
		Short: "Two documents as one, with what differs marked",
		Long: `diff prints both documents as one: words that only the first has as [-these-], words that only the second has as {+these+},
in colours on a terminal. It exits with 3 when the words differ.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := readFile(args[0])
			if err != nil {
				return err
			}
			b, err := readFile(args[1])
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
			for _, p := range compareWords(string(a), string(b)) {
				different = different || p.kind != "both"
				if s != nil {
					if err := s.row([]any{p.kind, p.text}); err != nil {
						return err
					}
					continue
				}
				out.WriteString(p.marked(colours))
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

// part is a passage that both documents have, or the left or right one alone.
type part struct{ kind, text string }

// marked is the part as a person reads it; control characters of the document do not reach the terminal.
func (p part) marked(colours bool) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, p.text)
	switch {
	case p.kind == "both":
		return text
	case p.kind == "left" && colours:
		return "\x1b[31;9m" + text + "\x1b[0m"
	case colours:
		return "\x1b[32;4m" + text + "\x1b[0m"
	case p.kind == "left":
		return "[-" + text + "-]"
	}
	return "{+" + text + "+}"
}

var wordOrSpace = regexp.MustCompile(`\s+|[\p{L}\p{N}\p{M}_]+|.`)

// compareWords finds what two texts have in common, word by word. Each distinct word becomes a character for the library,
// which compares characters.
func compareWords(a, b string) []part {
	numbers, words := map[string]rune{}, map[rune]string{}
	next := rune(1)
	encode := func(text string) []rune {
		var list []rune
		for _, word := range wordOrSpace.FindAllString(strings.ToValidUTF8(text, "�"), -1) {
			r, ok := numbers[word]
			if !ok {
				if next == 0xd800 { // surrogates are no characters
					next = 0xe000
				}
				r = next
				numbers[word], words[r] = r, word
				next++
			}
			list = append(list, r)
		}
		return list
	}
	d := diffmatchpatch.New()
	left, right := encode(a), encode(b)
	var parts []part
	for _, x := range d.DiffCleanupSemantic(d.DiffMainRunes(left, right, false)) {
		var text strings.Builder
		for _, r := range x.Text {
			text.WriteString(words[r])
		}
		parts = append(parts, part{map[diffmatchpatch.Operation]string{
			diffmatchpatch.DiffEqual: "both", diffmatchpatch.DiffDelete: "left", diffmatchpatch.DiffInsert: "right",
		}[x.Type], text.String()})
	}
	return parts
}

package doctest

import (
	"fmt"
	"regexp"
	"strings"
)

// block is one fenced block of a page that is to be run, with the output that
// the page shows for it.
type block struct {
	line     int // of the opening fence, counted from 1
	lang     string
	postgres bool
	code     string
	output   *output
}

// output is the text block behind a block, by the lines of the page that it
// covers without its fences: [first, end), counted from 0.
type output struct {
	first, end int
	text       string
}

// blocks finds the sql and sh blocks of a page, norun ones left out.
func blocks(page string) ([]block, error) {
	var found []block
	awaits := false // the last block seen is a runnable one
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		ticks := len(lines[i]) - len(strings.TrimLeft(lines[i], "`"))
		if ticks < 3 {
			continue
		}
		first, fence := i+1, lines[i][:ticks]
		end := first
		for ; end < len(lines) && strings.TrimRight(lines[end], " ") != fence; end++ {
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block is never closed", i+1)
		}
		text := strings.Join(lines[first:end], "\n")
		info := strings.Fields(lines[i][ticks:])
		if len(info) == 0 {
			return nil, fmt.Errorf("line %d: the block names no language (sql, sh, text, …)", i+1)
		}
		switch {
		case info[0] == "sql" || info[0] == "sh":
			b := block{line: i + 1, lang: info[0], code: text}
			awaits = true
			switch word := strings.Join(info[1:], " "); word {
			case "":
			case "postgres":
				b.postgres = true
			case "norun":
				awaits = false
			default:
				return nil, fmt.Errorf("line %d: a block cannot be %q, only postgres or norun", i+1, word)
			}
			if awaits {
				found = append(found, b)
			}
		case info[0] == "text" && awaits:
			found[len(found)-1].output = &output{first, end, text}
			awaits = false
		default:
			awaits = false
		}
		i = end
	}
	return found, nil
}

const elision = "…"

// matches tells whether got is what the page shows, elisions filled in.
func matches(want, got string) bool {
	var re strings.Builder
	re.WriteString(`\A`)
	for _, line := range strings.Split(tidy(want), "\n") {
		if strings.TrimSpace(line) == elision {
			re.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(line, elision) {
			if i > 0 {
				re.WriteString(`.*?`)
			}
			re.WriteString(regexp.QuoteMeta(part))
		}
		re.WriteString(`\n`)
	}
	re.WriteString(`\z`)
	return regexp.MustCompile(re.String()).MatchString(tidy(got) + "\n")
}

// tidy takes away what a page cannot show: blanks at the ends of lines and
// empty lines around the whole.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// difference shows the first line at which the two part, or both in full when
// an elision makes the lines uncountable.
func difference(want, got string) string {
	if !strings.Contains(want, elision) {
		w, g := strings.Split(tidy(want), "\n"), strings.Split(tidy(got), "\n")
		for i := 0; i < len(w) && i < len(g); i++ {
			if w[i] != g[i] {
				return fmt.Sprintf("line %d of the output:\nwant %s\ngot  %s\nall of it:\n%s", i+1, w[i], g[i], tidy(got))
			}
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%d lines, want %d:\n%s", len(g), len(w), tidy(got))
		}
	}
	return fmt.Sprintf("want\n%s\ngot\n%s", tidy(want), tidy(got))
}

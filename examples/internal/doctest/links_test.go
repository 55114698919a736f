package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	quoted = regexp.MustCompile("`[^`\n]*`")
)

// TestLinks follows every link of a page to a place within the repository,
// to the heading when it names one.
func TestLinks(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	for _, page := range markdown(t, root) {
		text := read(t, filepath.Join(root, page))
		text = quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(target, "#")
			path := filepath.Join(root, page)
			if file != "" {
				path = filepath.Join(root, filepath.Dir(page), file)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", page, target)
			} else if heading != "" && strings.HasSuffix(path, ".md") && !headings(read(t, path))[heading] {
				t.Errorf("%s: %s has no heading for #%s", page, file, heading)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	headline = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	dropped  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// headings returns the anchors of a page, as code hosts derive them.
func headings(page string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range headline.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		anchors[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-")] = true
	}
	return anchors
}

func TestHeadings(t *testing.T) {
	got := headings("# Two words\n```sh\n# comment\n```\n## How wrong can it be?\n### `alike_rows(table, key)`\n")
	for _, want := range []string{"two-words", "how-wrong-can-it-be", "alike_rowstable-key"} {
		if !got[want] {
			t.Errorf("no %s in %v", want, got)
		}
	}
	if got["comment"] {
		t.Error("a comment in a block counts as a heading")
	}
}

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

var (
	numbered = regexp.MustCompile("^([0-9]+)\\. `([^`]+)`: ")
	path     = regexp.MustCompile("`([a-z]+/[A-Za-z0-9_./-]+)`")
)

// TestArchitecture checks the section Architecture of CONTRIBUTING.md: every
// path in it exists, and each numbered list has at most six files.
func TestArchitecture(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	_, section, ok := strings.Cut(read(t, filepath.Join(root, "CONTRIBUTING.md")), "\n## Architecture\n")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no section Architecture")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	lists := 0
	for line := range strings.Lines(section) {
		for _, m := range path.FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s is not in the tree", m[1])
			}
		}
		m := numbered.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[1] {
		case "1":
			lists++
		case "2", "3", "4", "5", "6":
		default:
			t.Errorf("%s is number %s of its list, want at most 6", m[2], m[1])
		}
	}
	if lists != 6 {
		t.Errorf("%d lists, want 6: three paths in two engines", lists)
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

// The site takes a list that follows a paragraph without an empty line for more of the paragraph.
func TestLists(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	item, more := regexp.MustCompile(`^(?:- |\* |\d+\. )`), regexp.MustCompile(`^(?:\s*(?:- |\* |\d+\. )|\s\s|$)`)
	for _, page := range markdown(t, root) {
		before, within := "", false
		for i, line := range strings.Split(read(t, filepath.Join(root, page)), "\n") {
			if strings.HasPrefix(line, "```") {
				within = !within
			}
			if !within && item.MatchString(line) && !more.MatchString(before) {
				t.Errorf("%s:%d: the list needs an empty line above it", page, i+1)
			}
			before = line
		}
	}
}

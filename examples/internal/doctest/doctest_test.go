package doctest

import (
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	page := strings.Join([]string{
		"# Page",
		"```sql",
		"select 1;",
		"```",
		"prose",
		"```text",
		"1",
		"-",
		"```",
		"````sh norun",
		"```",
		"install",
		"````",
		"```text",
		"not an output",
		"```",
		"```sh",
		"true",
		"```",
		"```json",
		"{}",
		"```",
		"```text",
		"not an output either",
		"```",
	}, "\n")
	got, err := blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%d blocks, want 2: %+v", len(got), got)
	}
	if b := got[0]; b.line != 2 || b.lang != "sql" || b.code != "select 1;" || b.output == nil || *b.output != (output{6, 8, "1\n-"}) {
		t.Errorf("first block: %+v %+v", b, b.output)
	}
	if b := got[1]; b.line != 17 || b.lang != "sh" || b.code != "true" || b.output != nil {
		t.Errorf("second block: %+v %+v", b, b.output)
	}
	for _, bad := range []string{"```sql\nselect 1;", "```\nno language\n```", "```sql mysql\n```"} {
		if _, err := blocks(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a\nb", "a\nb\n", true},
		{"a\nb", "a  \nb\n\n", true},
		{"a\nb", "a\nc\n", false},
		{"a", "a\nb\n", false},
		{"took … ms", "took 12 ms\n", true},
		{"took … ms", "took 12\nms\n", false},
		{"a\n…\nd", "a\nb\nc\nd\n", true},
		{"a\n…\nd", "a\nd\n", true},
		{"a\n…", "a\n", true},
		{"…", "", true},
		{"a\n…\nd", "a\nb\nc\n", false},
		{"1.0 (.*)", "1.0 (.*)\n", true},
		{"1.0", "1x0\n", false},
		{"", "\n", true},
		{"", "a\n", false},
	} {
		if got := matches(c.want, c.got); got != c.ok {
			t.Errorf("matches(%q, %q) = %v, want %v", c.want, c.got, got, c.ok)
		}
	}
}

package token

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// FORMAT.md lists what the code does.
func TestTokensOfFormatPage(t *testing.T) {
	between := kerneltest.Page(t, "../../FORMAT.md")

	stop := strings.Fields(between("Snowball project:", "."))
	seen := make(map[string]bool)
	for _, word := range stop {
		if !IsStopWord([]byte(word)) || seen[word] {
			t.Errorf("%q is no stop word, or is listed twice", word)
		}
		seen[word] = true
	}
	if len(stop) != 174 {
		t.Errorf("%d stop words, want 174", len(stop))
	}

	listed := make(map[rune]bool)
	for _, m := range regexp.MustCompile(`([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?`).FindAllStringSubmatch(between("Khmer and Myanmar: U+", ".\n"), -1) {
		low, _ := strconv.ParseUint(m[1], 16, 32)
		high := low
		if m[2] != "" {
			high, _ = strconv.ParseUint(m[2], 16, 32)
		}
		for r := low; r <= high; r++ {
			listed[rune(r)] = true
		}
	}
	for r := range rune(0x110000) {
		if got, want := listed[r], classOf(r) == classAlone; got != want {
			t.Fatalf("%U: alone %v, want %v", r, got, want)
		}
	}

	for o := range strings.FieldsSeq(strings.ReplaceAll(between("is a token: `", "`\n"), "\n", " ")) {
		if !operators[o] {
			t.Errorf("%q is no operator", o)
		}
	}
	for _, c := range []struct{ page, code string }{
		{between("within a line of text, which are `", "` without"), inlineTags}, {between("does not show, `", "`, without"), unseenTags},
	} {
		if got, want := strings.Join(strings.Fields(c.page), " "), strings.Join(strings.Fields(c.code), " "); got != want {
			t.Errorf("the page lists as the tags that do not break words\n%s, want\n%s", got, want)
		}
	}
}

package sqlext

import (
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// A quoted name reads as itself, and what reads as a name reads so again when it is quoted.
func FuzzReference(f *testing.F) {
	for _, name := range []string{`docs`, `main.docs`, `"a ""b"`, "`x`.[y]", `[a.b].c`, `a.b.c`, `"`, `.`, ` x . y `, "\"a\x00b\"", `[]]`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := func(r reference) string {
			if r.schema == "" {
				return sqlite.Quote(r.name)
			}
			return sqlite.Quote(r.schema) + "." + sqlite.Quote(r.name)
		}
		for _, want := range []reference{{name: text}, {schema: text, name: text}} {
			if got, err := parseReference(quoted(want)); text != "" && (err != nil || got != want) {
				t.Fatalf("%s reads as %q, %v", quoted(want), got, err)
			}
		}
		if r, err := parseReference(text); err == nil {
			if again, err := parseReference(quoted(r)); err != nil || again != r || r.name == "" {
				t.Fatalf("%q reads as %q, and quoted as %q, %v", text, r, again, err)
			}
		}
	})
}

// The words of a condition are its text without blanks and comments, in order; a comment
// or a blank between two words changes none and hides no time.
func FuzzCondition(f *testing.F) {
	for _, condition := range []string{`kind = 'it''s'`, `date ( 'now' ) > d`, "a -- b\n = /* c */ 1", `"date"('x', 'localtime')`, `[a]b`, "`", `strftime('%s')`, `/*`, `current_time/**/`} {
		f.Add(condition)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		words := wordsOf(condition)
		rest := condition
		for _, w := range words {
			i := strings.Index(rest, w)
			if w == "" || i < 0 {
				t.Fatalf("the words of %q are %q", condition, words)
			}
			rest = rest[i+len(w):]
		}
		joined := strings.Join(words, " /* now */ ")
		if whole := len(words) == 0 || !slices.Contains([]byte("'\"`["), words[len(words)-1][0]); whole && !slices.Equal(wordsOf(joined), words) {
			t.Fatalf("the words of %q are %q, and with comments between them %q", condition, words, wordsOf(joined))
		}
		if (checkTime(condition) == nil) != (checkTime(joined) == nil) {
			t.Fatalf("%q: %v, with comments %v", condition, checkTime(condition), checkTime(joined))
		}
	})
}

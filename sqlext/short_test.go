package sqlext_test

import (
	"fmt"
	"strings"
	"testing"
)

// A pair with a short text needs more everywhere, whatever decides it, unless a question says
// the threshold; a refusal names the threshold that the pair has reached.
func TestShortTexts(t *testing.T) {
	texts := []string{"meet Ann in room 3 at noon", "meet Ann in room 5 at noon",
		"the boiler in the cellar was serviced on Monday, and the fitter left a bill for two valves",
		"the boiler in the cellar was serviced on Friday, and the fitter left no bill for the valves"}
	for _, verify := range []string{"sketch", "text"} {
		for _, layout := range []string{"columns", "parts"} {
			for _, c := range []struct{ short, found string }{
				{`{"below": 30, "at_least": 0.9}`, "3"}, {`{"below": 30, "at_least": 0.55}`, "1,3"}, {`{"below": 20, "at_least": 0.9}`, "1,3"}, {`{"below": 200, "at_least": 0.9}`, ""}, {`null`, "1,3"},
			} {
				attach := func(policy string) database {
					db := memory(t)
					db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
					db.rows(`SELECT alike_attach('d', 'body', ?)`, fmt.Sprintf(`{"profile": "short", "at_least": 0.55, "short": %s, "verify": %q, "layout": %q, "policy": %q}`, c.short, verify, layout, policy))
					return db
				}
				db := attach("link")
				for i, text := range texts {
					db.exec(`INSERT INTO d VALUES (?, ?)`, i+1, text)
				}
				for _, question := range []string{
					`SELECT key FROM alike_pairs('d') ORDER BY key`, `SELECT key FROM (SELECT * FROM alike_pairs('d')) ORDER BY key + 0`, `SELECT other FROM d_alike_match ORDER BY other`,
					`SELECT cluster FROM alike_clusters('d') WHERE key = cluster`, `SELECT kept FROM alike_keep('d') WHERE kept <> key ORDER BY key`,
					`SELECT i.id FROM (SELECT 1 AS id UNION SELECT 3) i, alike_rows('d', i.id) ORDER BY i.id`,
					`SELECT i.id FROM d i, alike_rows_like('d', i.body) r WHERE r.key = i.id + 1 AND i.id IN (1, 3) ORDER BY i.id`,
				} {
					if got := strings.ReplaceAll(db.rows(question), "\n", ","); got != c.found {
						t.Errorf("verify %s, %s, short %s: %s: %q, want %q", verify, layout, c.short, question, got, c.found)
					}
				}
				for _, question := range []string{`SELECT key FROM alike_pairs('d', 0.55) ORDER BY key`, `SELECT cluster FROM alike_clusters('d', 0.55) WHERE key = cluster`, `SELECT i.id FROM (SELECT 1 AS id UNION SELECT 3) i, alike_rows('d', i.id, 0.55) ORDER BY i.id`} {
					db.expect("1\n3", question)
				}
				if want := strings.TrimSuffix(c.short, "null"); want != db.rows(`SELECT short FROM alike_status()`) {
					t.Errorf("status says %q of short, want %q", db.rows(`SELECT short FROM alike_status()`), want)
				}
				db.rows(`SELECT alike_mark('d', 1, 2, 'duplicate')`)
				db.expect("1", `SELECT count(*) FROM alike_pairs('d') WHERE key = 1`)

				db = attach("reject")
				db.exec(`INSERT INTO d VALUES (1, ?), (3, ?)`, texts[0], texts[2])
				for _, id := range []int{1, 3} {
					_, err := db.Exec(`INSERT INTO d VALUES (?, ?)`, id+1, texts[id])
					if want := strings.Contains(c.found, fmt.Sprint(id)); (err != nil) != want {
						t.Errorf("verify %s, %s, short %s: a text like %d: error %v, want one: %v", verify, layout, c.short, id, err, want)
					} else if want && !strings.Contains(err.Error(), "rejected from 0.550") {
						t.Errorf("the error is %v", err)
					}
				}
				if strings.Contains(c.short, "0.9") {
					if _, err := db.Exec(`INSERT INTO d VALUES (9, ?)`, texts[0]); err == nil || strings.Contains(c.short, "30") && !strings.Contains(err.Error(), "rejected from 0.900") {
						t.Errorf("short %s: the same text: error %v, want a refusal", c.short, err)
					}
				}
			}
		}
	}
}

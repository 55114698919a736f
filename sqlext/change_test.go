package sqlext_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// An attach while a change of profile is not complete goes on with the change: what it
// is told is not lost when the change completes, and the settings before can be had back.
func TestAttachDuringAChange(t *testing.T) {
	const settings = `SELECT profile LIKE 'words w=3 %', policy, round(at_least, 2), note FROM alike_status()`
	for _, c := range []struct{ options, want string }{
		{`{"policy": "link"}`, "1|link|0.5|"},
		{`{"at_least": 0.9, "matches": 3}`, "1|warn|0.9|"},
		{`{"profile": "words w=3 t=84 k=12 s=7", "policy": "ignore"}`, "1|ignore|0.5|"},
		{`{"profile": "words w=4 t=84 k=12 s=7"}`, "0|ignore|0.77|"}, // as it was
		{`{"profile": "words w=3 k=6 s=7"}`, "1|warn|0.5|"},
		{`{"where": "id > 1"}`, "1|warn|0.5|"},
		{`{}`, "1|warn|0.5|"},
		{"", "1|warn|0.5|"}, // refresh
	} {
		db := open(t, filepath.Join(t.TempDir(), "change.db"))
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO d(body) SELECT 'a document about number ' || i || ' and nothing else but it' FROM n`)
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4 t=84 k=12 s=7"}')`)
		pages := db.rows(`PRAGMA page_count`)
		var n int
		fmt.Sscan(pages, &n)
		db.exec(fmt.Sprint(`PRAGMA max_page_count = `, n+20))
		db.fails("full", `SELECT alike_attach('d', 'body', '{"profile": "words w=3 t=84 k=12 s=7", "policy": "warn", "at_least": 0.5}')`)
		db.expect("0|ignore|0.77|the change to words w=3 set fast t=84 k=12 s=7 r=2 bits=8 is not complete; alike_refresh('d') continues it", settings)
		db.exec(`PRAGMA max_page_count = 1000000`)
		if c.options == "" {
			db.rows(`SELECT alike_refresh('d')`)
		} else {
			db.rows(`SELECT alike_attach('d', 'body', ?)`, c.options)
		}
		if got := db.rows(settings); got != c.want {
			t.Errorf("%s: %s, want %s", c.options, got, c.want)
		}
		db.expect("", `SELECT name FROM sqlite_master WHERE name LIKE '%next%' OR name LIKE '%old'`)
		if !strings.Contains(c.options, "k=6") { // check looks at twelve features
			db.check("d", c.options)
		}
		db.expect("1", `SELECT count(*) FROM alike_attachment`)
		if c.options == `{"at_least": 0.9, "matches": 3}` {
			db.expect("3", `SELECT matches FROM alike_attachment`)
		}
	}
}

// An attach drains the queue, also when it builds the side table anew: no row is in both
// afterwards, and the policy has judged each.
func TestChangeDrainsTheQueue(t *testing.T) {
	for _, options := range []string{`{}`, `{"layout": "parts"}`, `{"layout": "columns"}`, `{"profile": "words w=3 t=84 k=12 s=7"}`, `{"extract": "html"}`} {
		db := open(t, filepath.Join(t.TempDir(), "change.db"))
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, 'a document about the weather and nothing else but it')`)
		db.rows(`SELECT alike_attach('d', 'body', '{"mode": "queue", "policy": "link", "profile": "words w=4 t=84 k=12 s=7", "layout": "` + map[bool]string{false: "columns", true: "parts"}[strings.Contains(options, "columns")] + `"}')`)
		db.exec(`INSERT INTO d VALUES (2, 'a document about the weather and nothing else but it')`)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		if got := db.rows(`SELECT (SELECT count(*) FROM d_alike), (SELECT count(*) FROM d_alike_queue), (SELECT group_concat(id || ' ' || other) FROM d_alike_match)`); got != "2|0|2 1" {
			t.Errorf("%s: %s rows, queued and matches, want 2|0|2 1", options, got)
		}
	}
}

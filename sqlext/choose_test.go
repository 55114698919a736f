package sqlext_test

import (
	"fmt"
	"strings"
	"testing"
)

// Attach reads some documents, chooses the preset, and says which and why.
func TestChoosesThePreset(t *testing.T) {
	paragraph := strings.Repeat("A paragraph of words that go on about the harbour. ", 8)
	page := "<html><body><p>A page with a number.</p><p>" + paragraph + "</p></body></html>"
	for _, c := range []struct{ document, profile, chosen string }{
		{paragraph, "chars w=5 set fast t=168 k=23 s=4 r=2 bits=4", "paragraphs: the median length of the texts looked at (20) is "},
		{strings.Repeat(paragraph, 5), "words w=2 set fast t=168 k=23 s=4 r=2 bits=4", "prose: the median length of the texts looked at (20) is "},
		{"a title of a few words, as of a book", "chars w=3 set fast t=168 k=23 s=4 r=2 bits=4", "short: the median length of the texts looked at (20) is 3"},
		{"a name of a few words", "chars w=2 set fast t=168 k=31 s=4 r=2 bits=4", "names: the median length of the texts looked at (20) is 2"},
		{strings.Repeat("acgttcgaaccgtt", 20), "chars w=11 set fast t=168 k=24 s=3 r=2 bits=4", "sequences: the words have 280 characters on average"},
		{"我能吞下玻璃而不伤身体。我能吞下玻璃而不伤身体。我能吞下玻璃而", "chars w=3 set fast t=168 k=24 s=3 r=2 bits=4", "unsegmented: "},
		{page, "page w=2 set fast t=168 k=27 s=5 r=2 bits=4", "pages: 20 of the texts looked at (20) are HTML"},
		{`{"name": "Ada"}`, "chars w=3 set fast t=168 k=31 s=5 r=2 bits=4", "records: 20 of the texts looked at (20) are JSON or XML"},
		{`<part id="7"><name>A valve</name><site>Leeds</site></part>`, "chars w=3 set fast t=168 k=31 s=5 r=2 bits=4", "records: 20 of the texts looked at (20) are JSON or XML"},
		{"2026-11-22 06:39:12 installed", "chars w=3 set fast t=168 k=27 s=5 r=2 bits=4", "logs: 20 of the texts looked at (20) are single lines with a time"},
		{"x = 1;\ny = 2;\nz = 3;\n", "code w=2 set fast t=168 k=34 s=4 r=2 bits=4", "code: 20 of the texts looked at (20) look like source code"},
	} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body)`)
		db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO d(body) SELECT ? || iif(i > 9, ' ', '') FROM n`, c.document)
		db.exec(`INSERT INTO d(body) VALUES (NULL), (x'ff'), (x'0041'), ('')`)
		db.rows(`SELECT alike_attach('d', 'body')`)
		db.expect(c.profile, `SELECT profile FROM alike_status()`)
		if got := db.rows(`SELECT chosen FROM alike_status()`); !strings.HasPrefix(got, c.chosen) {
			t.Errorf("%.20q: chosen %s, want %s", c.document, got, c.chosen)
		}
		db.expect("0.95", `SELECT round(recall, 2) FROM alike_status()`)
		// Who tells a profile gets it, and no reason.
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=3"}')`)
		db.expect("words w=3 set fast t=168 k=23 s=4 r=2 bits=4|", `SELECT profile, chosen FROM alike_status()`)
	}
	// The look reads what the condition leaves, by key, and at most a thousand.
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (3001) UNION ALL SELECT i - 1 FROM n WHERE i > 1) INSERT INTO d SELECT i, iif(i <= 1500, 'a title', ?) FROM n`, paragraph)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.expect("names: the median length of the texts looked at (1000) is 7 characters, less than 30", `SELECT chosen FROM alike_status()`)
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"where": "id > 1500"}')`)
	db.expect("1", `SELECT chosen LIKE 'paragraphs: % (1000) is 407 characters, less than 2000' FROM alike_status()`)
	// What is extracted is not looked at.
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"extract": "html"}')`)
	db.expect("prose: the text of the documents is extracted|", `SELECT chosen, note FROM alike_status()`)
}

// An empty table gets prose, and status says when the rows turn out to be others.
func TestStatusSaysWhatSuitsBetter(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, title TEXT)`)
	db.rows(`SELECT alike_attach('d', 'title')`)
	db.expect("prose: there is no text to look at yet|", `SELECT chosen, note FROM alike_status()`)
	insert := func(n int) {
		db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO d(title) SELECT 'title ' || i FROM n`, n)
	}
	insert(9)
	db.expect("", `SELECT note FROM alike_status()`)
	insert(1)
	db.expect(`the preset names suits the rows better than prose, since the median length of the texts looked at (10) is 7 characters, less than 30: `+
		`alike_attach('d', 'title', '{"profile": "names"}') changes to it`, `SELECT note FROM alike_status()`)
	db.expect("10", `SELECT alike_attach('d', 'title', '{"profile": "names"}')`)
	db.expect("|", `SELECT chosen, note FROM alike_status()`)
}

// The filter follows at_least and recall unless the profile gives it.
func TestFilterFollowsTheThreshold(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	attached := func(options, k, s, atLeast, recall string) {
		t.Helper()
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		got := db.rows(`SELECT profile, at_least, round(recall, 3) FROM alike_status()`)
		if want := fmt.Sprintf(" k=%s s=%s r=2 bits=4|%s|%s", k, s, atLeast, recall); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want …%s", options, got, want)
		}
	}
	attached(`{"profile": "prose"}`, "23", "4", "0.55", "0.951")
	attached(`{"at_least": 0.7}`, "23", "4", "0.7", "1.0") // what is there finds enough
	attached(`{"profile": "prose", "at_least": 0.6}`, "23", "4", "0.6", "0.985")
	attached(`{"profile": "prose stop"}`, "17", "4", "0.6", "0.958")
	attached(`{"at_least": 0.4}`, "34", "3", "0.4", "0.953")
	attached(`{"at_least": null}`, "34", "3", "0.55", "0.999")
	attached(`{"recall": 0.9999}`, "23", "2", "0.55", "1.0")
	attached(`{"profile": "records", "recall": null}`, "31", "5", "0.58", "0.951")
	attached(`{"profile": "records", "at_least": 0.9}`, "31", "5", "0.9", "1.0")
	attached(`{"profile": "records w=4"}`, "4", "9", "0.9", "0.96")
	// Who gives k or s keeps it, and is told what it finds.
	attached(`{"profile": "words k=12 s=7 t=168", "at_least": null}`, "12", "7", "0.77", "0.955")
	attached(`{"at_least": 0.5}`, "12", "7", "0.5", "0.177")
	db.fails(`recall is for a filter that attach chooses; the profile "words k=12" has one`, `SELECT alike_attach('d', 'body', '{"profile": "words k=12", "recall": 0.9}')`)
	db.fails("recall is for a filter that attach chooses", `SELECT alike_attach('d', 'body', '{"profile": "web", "recall": 0.9}')`)
	db.fails("recall is 1, want between 0 and 1", `SELECT alike_attach('d', 'body', '{"profile": "prose", "recall": 1}')`)
	db.fails("at_least is 0, want above 0", `SELECT alike_attach('d', 'body', '{"profile": "prose", "at_least": 0}')`)
	db.fails("t=84, want at least", `SELECT alike_attach('d', 'body', '{"profile": "prose t=84 bits=8 w=3", "at_least": 0.6}')`)
}

package sqlext_test

import (
	"strings"
	"testing"
)

// An error of ours undoes the statement of the checkin, all of its rows, and nothing else.
func TestAnErrorUndoesTheStatement(t *testing.T) {
	for _, statement := range []string{
		`UPDATE d SET body = CASE id WHEN 2 THEN 'words that no other row has' ELSE ?1 END, u = 'changed' || id WHERE id > 1`,
		`INSERT INTO d VALUES (10, 'words that no other row has', 'x'), (11, ?1, 'y')`,
		`REPLACE INTO d VALUES (2, 'words that no other row has', 'x'), (3, ?1, 'y')`,
		`INSERT OR IGNORE INTO d VALUES (10, 'words that no other row has', 'x'), (11, ?1, 'y')`,
		`INSERT OR FAIL INTO d VALUES (10, 'words that no other row has', 'x'), (11, ?1, 'y')`,
		`INSERT OR ROLLBACK INTO d VALUES (10, 'words that no other row has', 'x'), (11, ?1, 'y')`,
		`INSERT OR IGNORE INTO d VALUES (11, ?1, 'y')`,
		`UPDATE OR IGNORE d SET body = ?1 WHERE id = 2`,
		`UPDATE OR FAIL d SET body = CASE id WHEN 2 THEN 'words that no other row has' ELSE ?1 END WHERE id > 1`,
		`UPDATE OR REPLACE d SET body = ?1, id = 3 WHERE id = 2`,
		`INSERT INTO d VALUES (2, ?1, 'y') ON CONFLICT (id) DO UPDATE SET body = excluded.body`,
	} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, ?, 'a'), (2, 'a second text', 'b'), (3, 'and a third', 'c')`, fox)
		db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
		db.exec(`BEGIN`)
		db.exec(`INSERT INTO d VALUES (4, 'before it', 'd')`)
		before := db.rows(`SELECT * FROM d`) + db.rows(`SELECT id, hex(sketch) FROM d_alike`)
		if _, err := db.Exec(statement, fox); err == nil || !strings.Contains(err.Error(), "resembles row 1") {
			t.Fatalf("%s: %v", statement, err)
		}
		if after := db.rows(`SELECT * FROM d`) + db.rows(`SELECT id, hex(sketch) FROM d_alike`); after != before {
			t.Errorf("%s leaves\n%s\nwant\n%s", statement, after, before)
		}
		db.exec(`COMMIT`)
		db.expect("4|4", `SELECT (SELECT count(*) FROM d), (SELECT count(*) FROM d_alike)`)
		db.check("d", statement)
	}
}

// Matches follow the keys of both of their rows.
func TestMatchesFollowTheKeys(t *testing.T) {
	for _, mode := range []string{"compute", "queue"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b))`)
		db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link", "mode": "` + mode + `"}')`)
		db.exec(`INSERT INTO d VALUES (1, 'x', ?1), (2, 'x', ?1)`, fox)
		db.rows(`SELECT alike_refresh('d')`)
		const matches = `SELECT a, b, other_a, other_b FROM d_alike_match`
		db.expect("2|x|1|x", matches)
		db.exec(`UPDATE d SET a = 20 WHERE a = 2`)
		db.expect("20|x|1|x", matches)
		db.exec(`UPDATE d SET b = 'y' WHERE a = 1`)
		db.expect("20|x|1|y", matches)
		db.exec(`UPDATE d SET a = a + 100`)
		db.expect("120|x|101|y", matches)
		db.check("d", mode)
		db.exec(`UPDATE OR REPLACE d SET a = 120, b = 'x' WHERE a = 101`) // which replaces the other
		db.expect("", matches)
	}
	// The row that is replaced takes its matches with it.
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?2), (3, ?1 || ' indeed'), (4, ?2)`, fox, "words that have nothing at all in common with those of the first")
	db.expect("3|1\n4|2", `SELECT id, other FROM d_alike_match`)
	db.exec(`UPDATE OR REPLACE d SET id = 2 WHERE id = 3`)
	db.expect("2|1", `SELECT id, other FROM d_alike_match`)
}

// Of several rows that a document resembles, reject names the nearest.
func TestRejectNamesTheNearest(t *testing.T) {
	for _, order := range [][]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		texts := map[int]string{1: fox + " and then one more time", 2: fox, 3: fox + " and then one more time, says the hound"}
		for _, n := range order {
			db.exec(`INSERT INTO d VALUES (?, ?)`, n, texts[n])
		}
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4 t=84 k=12 s=7", "policy": "reject", "at_least": 0.2}')`)
		for _, n := range order {
			db.fails("resembles row "+string(rune('0'+n))+" of d (resemblance 1.000", `INSERT INTO d(body) VALUES (?)`, texts[n])
		}
	}
}

// What a person called a duplicate is a match of a row that changes, from either side and
// without a feature in common; what a person called distinct is none.
func TestVerdictsDecideMatches(t *testing.T) {
	for _, changed := range []int{1, 2} {
		for _, marked := range []string{"1, 2", "2, 1"} {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`INSERT INTO d VALUES (1, ?1), (2, 'words that no other row has'), (3, ?1), (4, ?1)`, fox)
			db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
			db.rows(`SELECT alike_mark('d', ` + marked + `, 'duplicate'), alike_mark('d', 1, 3, 'distinct')`)
			db.exec(`UPDATE d SET body = body || ' ' WHERE id = ?`, changed)
			want := "2|1"
			if changed == 1 {
				want = "1|2\n1|4"
			}
			db.expect(want, `SELECT id, other FROM d_alike_match ORDER BY other`)
		}
	}
}

// A row that a trigger of the user's puts back while it is deleted, or deletes while it is
// written, has what the table says.
func TestRowsThatTriggersPutBack(t *testing.T) {
	for _, options := range []string{`{}`, `{"policy": "link"}`, `{"mode": "queue"}`, `{"where": "id < 100"}`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
		db.exec(`INSERT INTO d VALUES (1, ?, 'a'), (2, 'another text', 'b')`, fox)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		db.exec(`CREATE TRIGGER back AFTER DELETE ON d WHEN old.id = 1 BEGIN INSERT INTO d VALUES (1, 'put back', 'a'); END`)
		db.exec(`CREATE TRIGGER away AFTER INSERT ON d WHEN new.body = 'away' BEGIN DELETE FROM d WHERE id = new.id; END`)
		db.exec(`DELETE FROM d`)
		db.exec(`INSERT INTO d VALUES (3, 'away', 'c'), (4, 'stays', 'd')`)
		if strings.Contains(options, "queue") {
			db.expect("1\n4", `SELECT id FROM d_alike_queue ORDER BY 1`)
			db.rows(`SELECT alike_refresh('d')`)
		}
		db.expect("1\n4", `SELECT id FROM d_alike ORDER BY id`)
		db.check("d", options)
	}
}

// A document that a trigger of the user's changes where its key changes is looked at as
// it is then, with the matches that it has then.
func TestAKeyChangeThatChangesTheDocument(t *testing.T) {
	for _, options := range []string{`{"policy": "link"}`, `{"policy": "link", "contains": true}`, `{"policy": "link", "mode": "queue"}`, `{"policy": "link", "where": "uid < 100"}`} {
		for _, kind := range []string{"TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER)", "TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER) WITHOUT ROWID", "TEMP TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER)"} {
			db := memory(t)
			db.exec(`CREATE ` + kind)
			db.exec(`INSERT INTO d VALUES ('a', ?1, 1), ('b', 'stamp me', 2)`, fox)
			db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
			db.exec(`CREATE TRIGGER stamp AFTER UPDATE ON d WHEN new.body = 'stamp me' BEGIN UPDATE d SET body = (SELECT body FROM d WHERE id = 'a') WHERE uid = new.uid; END`)
			db.exec(`UPDATE d SET id = 'c' WHERE id = 'b'`)
			if strings.Contains(options, "queue") {
				db.expect("c", `SELECT id FROM d_alike_queue`)
				db.rows(`SELECT alike_refresh('d')`)
			}
			db.expect("1", `SELECT count(DISTINCT content_hash) FROM d_alike`)
			db.expect("c|a", `SELECT id, other FROM d_alike_match`)
			db.check("d", options+kind)
		}
	}
}

// A trigger of the user's gives the key that a row has left to another row, before ours
// hear of the first.
func TestAKeyThatATriggerGivesToAnotherRow(t *testing.T) {
	for _, options := range []string{`{}`, `{"policy": "link", "contains": true}`, `{"mode": "queue"}`, `{"where": "uid < 100"}`} {
		for _, table := range []string{`TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER UNIQUE)`, `TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER) WITHOUT ROWID`, `TABLE d(id INTEGER PRIMARY KEY, body TEXT, uid INTEGER)`,
			`TEMP TABLE d(id TEXT PRIMARY KEY, body TEXT, uid INTEGER UNIQUE)`} {
			db := memory(t)
			db.exec(`CREATE ` + table)
			db.exec(`INSERT INTO d VALUES (11, ?1, 1), (12, ?1 || ' twelve', 2), (13, 'another text', 3), (15, 'a fourth', 5)`, fox)
			db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
			db.rows(`SELECT alike_mark('d', 11, 13, 'distinct'), alike_mark('d', 13, 15, 'distinct')`)
			db.exec(`CREATE TRIGGER follow AFTER UPDATE ON d WHEN new.uid = 2 BEGIN UPDATE d SET id = old.id WHERE uid = 3; END`)
			db.exec(`UPDATE d SET id = 14 WHERE uid = 2`)
			db.expect("11|1\n12|3\n14|2\n15|5", `SELECT id, uid FROM d ORDER BY id`)
			if strings.Contains(options, "queue") {
				db.rows(`SELECT alike_refresh('d')`)
			}
			db.check("d", options+table)
			db.expect("11|12\n12|15", `SELECT min(id, other), max(id, other) FROM d_alike_mark ORDER BY 1`)
			db.exec(`REPLACE INTO d VALUES (16, 'a new text', 3)`)
			if strings.Contains(options, "queue") {
				db.rows(`SELECT alike_refresh('d')`)
			}
			db.check("d", options+table)
		}
	}
}

// What is recorded of a row goes with it: its verdicts from either side, and its place in
// the queue.
func TestDeletedRowsLeaveNothing(t *testing.T) {
	for _, deleted := range []int{1, 2} {
		for _, mode := range []string{"compute", "queue"} {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
			db.exec(`INSERT INTO d VALUES (1, ?1, 'a'), (2, ?1, 'b'), (3, 'another text', 'c')`, fox)
			db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link", "mode": "` + mode + `"}')`)
			db.rows(`SELECT alike_mark('d', 1, 2, 'distinct')`)
			db.exec(`UPDATE d SET body = body || ' indeed'`)
			db.exec(`DELETE FROM d WHERE id = ?`, deleted)
			db.expect("0|2", `SELECT (SELECT count(*) FROM d_alike_mark), (SELECT count(*) FROM d_alike_unique)`)
			if mode == "queue" {
				db.expect("2", `SELECT count(*) FROM d_alike_queue`)
				db.expect("0", `SELECT count(*) FROM d_alike_queue WHERE id = ?`, deleted)
			} else {
				db.expect("2", `SELECT count(*) FROM d_alike`)
			}
		}
	}
}

// In mode queue a row that was changed answers no question by its old document, and a row
// that is changed again and again waits once, since the last time.
func TestQueuedRowsWaitOnce(t *testing.T) {
	for _, options := range []string{`{"mode": "queue", "policy": "link"}`, `{"mode": "queue", "where": "id < 100"}`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?1), (3, ?1)`, fox)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		for _, text := range []string{"words that no other row has", "and a third text", fox, "a fourth"} {
			db.exec(`UPDATE d SET body = ? WHERE id = 2`, text)
			db.exec(`INSERT INTO d VALUES (2, '') ON CONFLICT (id) DO UPDATE SET body = body || ' indeed'`)
			db.expect("3", `SELECT key FROM alike_rows('d', 1)`)
			db.expect("2", `SELECT id FROM d_alike_queue`)
			db.expect("3|2|1", `SELECT "rows", sketched, pending FROM alike_status()`)
		}
		db.exec(`UPDATE d_alike_queue SET queued_at = 0`)
		db.exec(`UPDATE d SET body = ? WHERE id = 2`, fox)
		db.expect("1", `SELECT queued_at > 0 FROM d_alike_queue`)
		db.expect("1", `SELECT alike_refresh('d')`)
		db.expect("2\n3", `SELECT key FROM alike_rows('d', 1)`)
		db.check("d", options)
	}
	// A row that leaves the condition while it waits does not wait any more.
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"mode": "queue", "where": "kind = ''mail''"}')`)
	db.exec(`INSERT INTO d VALUES (1, ?1, 'mail'), (2, ?1, 'mail'), (3, ?1, 'note')`, fox)
	db.expect("1\n2", `SELECT id FROM d_alike_queue`)
	db.exec(`UPDATE d SET kind = 'note'`)
	db.expect("0", `SELECT pending FROM alike_status()`)
	db.exec(`UPDATE d SET kind = 'mail' WHERE id > 1`)
	db.expect("2\n3", `SELECT id FROM d_alike_queue`)
}

// Rows without a key are not sketched. The status counts them, until they get one.
func TestStatusCountsRowsWithoutAKey(t *testing.T) {
	const note = `SELECT note FROM alike_status()`
	for _, declared := range []string{"a TEXT PRIMARY KEY, b TEXT, body TEXT", "a TEXT, b TEXT, body TEXT, PRIMARY KEY (a, b)"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(` + declared + `)`)
		db.exec(`INSERT INTO d VALUES (NULL, 'x', ?)`, fox)
		db.expect("0", `SELECT alike_attach('d', 'body')`)
		db.expect("1 row has a NULL in its key and is not sketched until it gets a key", note)
		db.exec(`INSERT INTO d VALUES (NULL, 'y', ?), ('k', 'z', ?)`, fox, fox)
		db.expect("2 rows have a NULL in their key and are not sketched until they get a key", note)
		db.expect("1|1|0", `SELECT "rows", sketched, pending FROM alike_status()`)
		db.exec(`UPDATE d SET a = b WHERE a IS NULL`)
		db.expect("", note)
		db.expect("3|3|0", `SELECT "rows", sketched, pending FROM alike_status()`)
	}
}

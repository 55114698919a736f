package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

const fox = "the quick brown fox jumps over the lazy dog again and again"

// tables are keys of every kind: how the table is made, and how a key is written
// for the n-th row.
var tables = []struct{ name, create, columns string }{
	{"rowid", `CREATE TABLE d(body TEXT, other TEXT)`, "rowid"},
	{"integer", `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, other TEXT)`, "id"},
	{"text", `CREATE TABLE d(id TEXT PRIMARY KEY, body TEXT, other TEXT)`, "id"},
	{"nocase", `CREATE TABLE d(id VARCHAR(40) COLLATE NOCASE PRIMARY KEY, body TEXT COLLATE NOCASE, other TEXT)`, "id"},
	{"composite", `CREATE TABLE d(a INTEGER, b TEXT, body TEXT, other TEXT, PRIMARY KEY (b, a))`, "b, a"},
	{"without rowid", `CREATE TABLE d(id TEXT PRIMARY KEY, body TEXT, other TEXT) WITHOUT ROWID`, "id"},
	{"integer without rowid", `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, other TEXT) WITHOUT ROWID`, "id"},
	{"composite without rowid", `CREATE TABLE d(a INTEGER, b BLOB, body TEXT, other TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID`, "a, b"},
	{"unique", `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, other TEXT UNIQUE)`, "id"},
	{"descending", `CREATE TABLE d(id INTEGER PRIMARY KEY DESC, body TEXT, other TEXT, UNIQUE (other, body))`, "id"},
}

// check fails unless the side table, and what a policy has recorded, are exactly what the
// documents say.
func (db database) check(name, where string) {
	db.t.Helper()
	db.checkMatches(name, where, db.checkSide(name, where))
}

// checkSide is check without the matches, which are of the profile that they were found
// under. It returns the columns of the key.
func (db database) checkSide(name, where string) string {
	db.t.Helper()
	keys := db.rows(`SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(?) WHERE cid < (SELECT cid FROM pragma_table_info(?) WHERE name = 'profile'))`, name+"_alike", name+"_alike")
	source := db.rows(`SELECT sql FROM (SELECT * FROM sqlite_temp_master UNION ALL SELECT * FROM sqlite_master) WHERE name = ?`, name+"_alike_source")
	if source == "" {
		db.t.Fatalf("%s: no view over the documents", where)
	}
	stored := db.rows(`SELECT ` + keys + `, profile, content_hash, shingles, hex(sketch), f1, f2 FROM ` + name + `_alike ORDER BY 1, 2`)
	wanted := db.rows(`SELECT ` + keys + `, alike__cell(r, 1), alike__cell(r, 2), alike__cell(r, 3), hex(alike__cell(r, 4)), alike__cell(r, 5), alike__cell(r, 6) FROM (SELECT DISTINCT *, alike__row(document,
		(SELECT p.profile || char(10) || char(10) || 'plain' || char(10) || p.id || char(10) || p.tokens FROM alike_attachment a JOIN alike_settings p ON p.id = a.profile WHERE a.name = '` + name + `' AND state <> 'next')) AS r FROM ` + name + `_alike_source) ORDER BY 1, 2`)
	if stored != wanted {
		db.t.Fatalf("%s: the side table is not what the documents say\nstored:\n%s\nwanted:\n%s", where, stored, wanted)
	}
	if db.rows(`SELECT count(*) FROM (SELECT * FROM sqlite_temp_master UNION ALL SELECT * FROM sqlite_master) WHERE name = ?`, name+"_alike_value") != "0" {
		list := strings.Split(keys, ", ")
		same := make([]string, len(list))
		for i, key := range list {
			same[i] = "s." + key + " = a." + key
		}
		stored := db.rows(`SELECT value, ` + keys + ` FROM ` + name + `_alike_value ORDER BY value, ` + keys)
		wanted := db.rows(`SELECT j.value, s.` + strings.Join(list, ", s.") + ` FROM ` + name + `_alike_source s JOIN ` + name + `_alike a ON ` + strings.Join(same, " AND ") + `, json_each(alike__passages(s.document,
			(SELECT p.profile || char(10) || char(10) || 'plain' || char(10) || p.id || char(10) || p.tokens FROM alike_attachment a JOIN alike_settings p ON p.id = a.profile WHERE a.name = '` + name + `' AND state <> 'next'))) j ORDER BY j.value, s.` + strings.Join(list, ", s."))
		if stored != wanted {
			db.t.Fatalf("%s: the values are not those of the documents\nstored:\n%s\nwanted:\n%s", where, stored, wanted)
		}
	}
	return keys
}

func (db database) checkMatches(name, where, keys string) {
	db.t.Helper()
	columns := strings.Split(keys, ", ")
	for i := range columns {
		columns[i] = "m.other"
		if len(columns) > 1 {
			columns[i] = "m.other_" + strings.Split(keys, ", ")[i]
		}
	}
	other := strings.Join(columns, ", ")
	for i, key := range strings.Split(keys, ", ") {
		columns[i] = "m." + key
	}
	both := func(function, column, table string) string {
		of := "(SELECT " + column + " FROM " + table + " WHERE (" + keys + ") = (%s))"
		return fmt.Sprintf(function+"("+of+", "+of+")", strings.Join(columns, ", "), other)
	}
	profile := "(SELECT p.profile FROM alike_attachment a JOIN alike_settings p ON p.id = a.profile WHERE a.name = '" + name + "' AND state <> 'next')"
	wrong := db.rows(fmt.Sprintf("SELECT * FROM %s_alike_match m WHERE relation = 'resembles' AND resemblance IS NOT CASE WHEN low = high THEN %s ELSE %s END", name,
		strings.TrimSuffix(both("alike_resemblance_exact", "document", name+"_alike_source"), ")")+", "+profile+")", both("alike_resemblance", "sketch", name+"_alike")))
	if wrong != "" {
		db.t.Fatalf("%s: these matches are not what the documents say:\n%s", where, wrong)
	}
}

// Random statements of every kind, also undone, leave the side table exact.
func TestCheckinIsExact(t *testing.T) {
	for i, table := range tables {
		for j, options := range []string{`{}`, `{"where": "other <> 'odd'"}`, `{"policy": "link"}`, `{"policy": "link", "verify": "text", "at_least": 0.9}`, `{"mode": "queue"}`, `{"mode": "queue", "where": "other <> 'odd'", "policy": "link"}`, `{"contains": true}`, `{"mode": "queue", "where": "other <> 'odd'", "contains": true}`, `{"policy": "link", "by": "containment", "contains": true}`} {
			t.Run(table.name+" "+options, func(t *testing.T) {
				db := memory(t)
				db.exec(table.create)
				random := rand.New(rand.NewPCG(7, 8))
				if random.IntN(2) == 0 {
					db.exec(`PRAGMA recursive_triggers = ON`)
				}
				key := func() string {
					n := random.IntN(8) + 1
					switch table.columns {
					case "b, a":
						return fmt.Sprintf("'k%d', %d", n%3, n)
					case "a, b":
						return fmt.Sprintf("%d, 'k%d'", n, n%3)
					}
					if strings.Contains(table.create, "id TEXT") || strings.Contains(table.create, "id VARCHAR") {
						return fmt.Sprintf("'%s%d'", []string{"k", "K"}[random.IntN(2)], n)
					}
					return fmt.Sprint(n)
				}
				body := func() string {
					return []string{"NULL", "''", "'" + fox + "'", "'" + fox + " indeed'", "'" + strings.ToUpper(fox) + "'", "42", "x'616263'", "'something else'"}[random.IntN(8)]
				}
				other := func() string { return []string{"NULL", "'odd'", "'even'", "'x'", "'y'"}[random.IntN(5)] }
				for range 5 {
					db.Exec(fmt.Sprintf("INSERT OR IGNORE INTO d(%s, body, other) VALUES (%s, %s, %s)", table.columns, key(), body(), other()))
				}
				layout := []string{"columns", "parts"}[(i+j)%2]
				db.rows(`SELECT alike_attach('d', 'body', ?)`, strings.Replace(`{"layout": "`+layout+`", `+options[1:], ", }", "}", 1))
				exact := func(step string) {
					t.Helper()
					if strings.Contains(options, "queue") {
						db.rows(`SELECT alike_refresh('d')`)
					}
					db.check("d", step)
				}
				exact("attach")
				for i := range *modelStatements / 2 {
					var s string
					switch random.IntN(9) {
					case 0, 1:
						s = fmt.Sprintf("INSERT %s INTO d(%s, body, other) VALUES (%s, %s, %s), (%s, %s, %s)", []string{"", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ROLLBACK", "OR ABORT"}[random.IntN(6)],
							table.columns, key(), body(), other(), key(), body(), other())
					case 2:
						s = fmt.Sprintf("REPLACE INTO d(%s, body, other) VALUES (%s, %s, %s)", table.columns, key(), body(), other())
					case 3:
						s = fmt.Sprintf("UPDATE %s d SET body = %s WHERE (%s) = (%s)", []string{"", "OR REPLACE", "OR IGNORE"}[random.IntN(3)], body(), table.columns, key())
					case 4:
						s = fmt.Sprintf("UPDATE %s d SET other = %s WHERE (%s) > (%s)", []string{"", "OR REPLACE", "OR IGNORE"}[random.IntN(3)], other(), table.columns, key())
					case 5:
						s = fmt.Sprintf("UPDATE %s d SET (%s) = (%s), body = %s WHERE (%s) = (%s)", []string{"", "OR REPLACE", "OR IGNORE"}[random.IntN(3)], table.columns, key(), body(), table.columns, key())
					case 6:
						s = fmt.Sprintf("UPDATE %s d SET (%s) = (%s) WHERE (%s) = (%s)", []string{"", "OR REPLACE", "OR IGNORE"}[random.IntN(3)], table.columns, key(), table.columns, key())
					case 7:
						s = fmt.Sprintf("DELETE FROM d WHERE (%s) < (%s)", table.columns, key())
					case 8:
						if table.name == "rowid" {
							continue
						}
						s = fmt.Sprintf("INSERT INTO d(%s, body, other) VALUES (%s, %s, %s) ON CONFLICT DO %s", table.columns, key(), body(), other(),
							[]string{"NOTHING", "UPDATE SET body = excluded.body", "UPDATE SET other = excluded.other"}[random.IntN(3)])
						if strings.Contains(s, "UPDATE") && !strings.Contains(s, "("+table.columns+") DO") {
							s = strings.Replace(s, "ON CONFLICT", "ON CONFLICT ("+table.columns+")", 1)
						}
					}
					undo := random.IntN(4)
					switch undo {
					case 0:
						db.exec("BEGIN")
					case 1:
						db.exec("SAVEPOINT s")
					}
					db.Exec(s) // may fail, by a constraint
					if undo < 2 {
						db.Exec([]string{"ROLLBACK", "ROLLBACK TO s; RELEASE s"}[undo])
					}
					exact(fmt.Sprintf("step %d, %s", i, s))
				}
				db.expect("ok", "PRAGMA integrity_check")
				db.expect("0", "SELECT alike_refresh('d')")
				db.checkViews("d", layout)
				db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
				db.expect("d", `SELECT group_concat(name) FROM sqlite_master WHERE type <> 'index'`)
			})
		}
	}
}

// A trigger of the user's that changes the document is followed.
func TestOtherTriggers(t *testing.T) {
	for _, order := range []string{"before", "after"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		trigger := `CREATE TRIGGER tidy AFTER INSERT ON d BEGIN UPDATE d SET body = trim(body) || ' (tidied)' WHERE id = new.id; END`
		if order == "before" {
			db.exec(trigger)
		}
		db.rows(`SELECT alike_attach('d', 'body')`)
		if order == "after" {
			db.exec(trigger)
		}
		db.exec(`INSERT INTO d(body) VALUES ('  some text of mine'), ('  another text')`)
		db.check("d", order)
	}
}

func TestPolicies(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`INSERT INTO d(body) VALUES (? || ' indeed'), ('something else entirely is here')`, fox)
	db.expect("2|1|17|0.886|link", `SELECT id, other, shared, round(resemblance, 3), policy FROM d_alike_match WHERE low < resemblance AND resemblance < high`)
	db.exec(`UPDATE d SET body = 'now it is about other things' WHERE id = 1`)
	db.expect("0", `SELECT count(*) FROM d_alike_match`)
	db.exec(`UPDATE d SET body = ? WHERE id = 1`, fox)
	db.expect("1|2", `SELECT id, other FROM d_alike_match`)
	db.exec(`UPDATE d SET id = 9 WHERE id = 2`)
	db.expect("1|9", `SELECT id, other FROM d_alike_match`)
	db.exec(`DELETE FROM d WHERE id = 9`)
	db.expect("0", `SELECT count(*) FROM d_alike_match`)

	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject", "at_least": 0.8}')`)
	db.exec(`CREATE TABLE log(x)`)
	db.exec(`BEGIN`)
	db.exec(`INSERT INTO log VALUES ('kept')`)
	db.fails("resembles row 1 of d (resemblance 0.886, rejected from 0.800)", `INSERT INTO d(id, body) VALUES (20, 'a first row that is fine'), (21, ? || ' indeed')`, fox)
	db.exec(`INSERT INTO d(id, body) VALUES (22, 'a row that is fine')`)
	db.exec(`COMMIT`)
	db.expect("kept", `SELECT x FROM log`)
	db.expect("1\n3\n22", `SELECT id FROM d`)
	db.check("d", "after a rejection")
	db.fails("resembles row 1 of d", `UPDATE d SET body = ? WHERE id = 22`, fox)
	db.fails("resembles row 1 of d", `INSERT OR IGNORE INTO d(body) VALUES (?)`, fox)
	db.check("d", "after a rejection")
	// A person's verdict opens the gate.
	db.exec(`INSERT INTO d_alike_mark VALUES (1, 22, 'distinct', NULL, 0, NULL)`)
	db.exec(`UPDATE d SET body = ? WHERE id = 22`, fox)
	db.check("d", "after a verdict")
	db.fails("the policy is \"refuse\", want ignore, link, warn or reject", `SELECT alike_attach('d', 'body', '{"policy": "refuse"}')`)
	db.fails("needs the mode compute", `SELECT alike_attach('d', 'body', '{"mode": "queue"}')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.expect("0.8", `SELECT at_least FROM alike_status()`)
	db.rows(`SELECT alike_attach('d', 'body', '{"at_least": null}')`)
	db.expect("0.55", `SELECT at_least FROM alike_status()`)
	db.fails("at_least is 1.5, want above 0", `SELECT alike_attach('d', 'body', '{"at_least": 1.5}')`)
	db.fails("the option at_least is \"0.5\", want a number above 0 and at most 1, or null", `SELECT alike_attach('d', 'body', '{"at_least": "0.5"}')`)
}

// A feature that many rows have costs a checkin no more than the newest of them
// do; the questions look at all.
func TestCheckinIntoACrowd(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO d SELECT i, ? FROM n`, fox)
	db.exec(`INSERT INTO d VALUES (1501, 'something else'), (1502, 'something else, which a person says is the same')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link", "matches": 1000}')`)
	db.rows(`SELECT alike_mark('d', 1502, 3, 'duplicate')`)
	db.rows(`SELECT alike_mark('d', 1502, 1499, 'distinct')`)
	db.exec(`UPDATE d SET body = ? WHERE id = 1502`, fox)
	db.expect("1000|3|1.0|23|23", `SELECT count(*), min(other), min(resemblance), min(shared), max(shared) FROM d_alike_match`)
	db.expect("501|1500", `SELECT min(other), max(other) FROM d_alike_match WHERE other > 3`)
	db.expect("1499", `SELECT count(*) FROM alike_rows('d', 1502)`)
	db.check("d", "a crowd")
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
	db.fails("resembles row", `INSERT INTO d(body) VALUES (?)`, fox)
}

func TestWarnReachesTheLog(t *testing.T) {
	out, err := shell(t, ":memory:", `.log stdout
CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT);
SELECT alike_attach('d', 'body', '{"policy": "warn"}');
INSERT INTO d(body) VALUES ('`+fox+`'), ('`+fox+` indeed');
SELECT policy FROM d_alike_match;`)
	if err != nil || !strings.Contains(out, "alike: row 2 of d resembles row 1 (resemblance 0.943)") || !strings.HasSuffix(out, "\nwarn") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSeveralAttachments(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, title TEXT, body TEXT)`)
	db.exec(`INSERT INTO d(title, body) VALUES ('a title that is quite long', ?), ('another title than that one', ?), ('a title that is quite long', 'nothing alike')`, fox, fox)
	db.expect("3", `SELECT alike_attach('d', 'body')`)
	db.fails("give the other column a name of its own", `SELECT alike_attach('d', 'title')`)
	db.expect("3", `SELECT alike_attach('d', 'title', '{"name": "titles", "profile": "words w=2", "si": ["length"]}')`)
	db.expect("1|2", `SELECT key, other FROM alike_pairs('d')`)
	db.expect("1|3", `SELECT key, other FROM alike_pairs('titles')`)
	db.expect("3", `SELECT key FROM alike_si_rows('titles', 'length', 1) WHERE key = 3`)
	db.fails("has no similarity index length", `SELECT key FROM alike_si_rows('d', 'length', 1)`)
	db.expect("d|body\ntitles|title", `SELECT name, "column" FROM alike_status()`)
	db.exec(`UPDATE d SET title = 'another title than that one' WHERE id = 3`)
	db.expect("2|3", `SELECT key, other FROM alike_pairs('titles')`)
	db.expect("3", `SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("2|3", `SELECT key, other FROM alike_pairs('d')`) // the table's only one now
	db.rows(`SELECT alike_detach('titles', '{"drop": true}')`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
}

// What was recorded of a row goes with its sketch, whatever takes that away.
func TestMatchesFollowTheirRows(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id TEXT PRIMARY KEY, body TEXT, u TEXT)`)
	db.exec(`CREATE UNIQUE INDEX lower_u ON d(lower(u))`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`INSERT INTO d VALUES ('a', ?1, 'x'), ('b', ?1, 'y'), ('c', ?1, 'z'), ('d', ?1, 'odd')`, fox)
	db.expect("b|a\nc|a\nc|b\nd|a\nd|b\nd|c", `SELECT id, other FROM d_alike_match ORDER BY 1, 2`)
	db.exec(`REPLACE INTO d VALUES ('e', 'another text', 'X')`) // no trigger hears that a is gone
	db.expect("1", `SELECT alike_refresh('d')`)
	db.expect("c|b\nd|b\nd|c", `SELECT id, other FROM d_alike_match ORDER BY 1, 2`)
	db.check("d", "refresh")
	db.exec(`DROP TRIGGER d_alike_update`)
	db.exec(`UPDATE d SET body = 'a third text' WHERE id = 'b'`)
	db.expect("1", `SELECT alike_refresh('d')`)
	db.expect("d|c", `SELECT id, other FROM d_alike_match`)
	db.rows(`SELECT alike_attach('d', 'body', '{"where": "u <> ''odd''"}')`)
	db.expect("", `SELECT id, other FROM d_alike_match`)
	db.check("d", "where")
}

func TestDetachKeepsTheData(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.expect("2", `SELECT alike_detach('d')`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.expect("1|2|23", `SELECT id, other, count(*) FROM d_alike_pair WHERE id = 1`)
	db.fails("nothing is attached to d", `SELECT * FROM alike_rows('d', 1)`)
	db.fails("nothing is attached to d", `SELECT alike_refresh('d')`)
	db.fails("the table d_alike exists and has other columns", `SELECT alike_attach('d', 'body', '{"profile": "bing"}')`)
	// Attaching again takes it up: one row is new, and one has changed.
	db.exec(`UPDATE d SET body = 'something else' WHERE id = 2`)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.expect("1\n3", `SELECT other FROM d_alike_match ORDER BY 1`)
	db.expect(map[string]string{"columns": "23", "parts": "0"}[*layout], `SELECT count(*) FROM pragma_index_list('d_alike')`)
	db.expect("3", `SELECT count(*) FROM alike_pairs('d')`)
	db.check("d", "attached again")
	db.expect("4", `SELECT alike_detach('d')`)
	// Another profile with the same columns computes all of it anew.
	db.expect("4", `SELECT alike_attach('d', 'body', '{"profile": "words w=3 k=23 s=4"}')`)
	db.check("d", "attached again with another profile")
	for _, table := range []string{"d_alike", "d_alike_match", "alike_attachment", "alike_settings"} {
		db.fails(table+" is a table of an attachment", `SELECT alike_attach(?, 'profile')`, table)
	}
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
}

// What attach is not told stays as the kept rows have it, and no row is sketched anew.
func TestAttachTakesUpWhatIsKept(t *testing.T) {
	for _, options := range []string{`{}`, `{"profile": "bing"}`, `{"profile": "words w=3 k=4 s=2 t=8", "si": ["length"]}`, `{"profile": "chars mod=4"}`, `{"profile": "names"}`, `{"profile": "short", "si": ["forest/0", "43B/40", "45B/40/100"]}`, `{"layout": "parts"}`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		had := db.rows(`SELECT profile, round(at_least, 6), round(recall, 6) FROM alike_status()`)
		columns := db.rows(`SELECT group_concat(name) FROM pragma_table_info('d_alike')`)
		db.rows(`SELECT alike_detach('d')`)
		db.expect("0", `SELECT alike_attach('d', 'body')`)
		db.expect(had, `SELECT profile, round(at_least, 6), round(recall, 6) FROM alike_status()`)
		db.expect(columns, `SELECT group_concat(name) FROM pragma_table_info('d_alike')`)
		db.check("d", options)
		db.rows(`SELECT alike_detach('d')`)
		db.fails(`d_alike exists and has other columns than this attachment needs; alike_detach('d', '{"drop": true}') drops it, or give the attachment another name`,
			`SELECT alike_attach('d', 'body', '{"profile": "words w=5 k=7 s=3", "si": ["length", "forest/1"]}')`)
		db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
		db.expect("2", `SELECT alike_attach('d', 'body', '{"profile": "words w=5 k=7 s=3"}')`)
	}
}

func TestChangeOfProfile(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) SELECT 'document ' || value || ' about ' || (value % 7) FROM json_each('[1,2,3,4,5,6,7,8,9,10]')`)
	db.expect("10", `SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`CREATE VIEW mine AS SELECT id, f1 FROM d_alike`)
	db.expect("10", `SELECT alike_attach('d', 'body', '{"profile": "words w=2 fast bits=64", "si": ["length"]}')`)
	db.expect("words w=2 set fast t=168 k=23 s=4 r=2", `SELECT DISTINCT alike_profile(sketch) FROM d_alike`)
	db.expect("10", `SELECT count(*) FROM mine`)
	db.expect("link", `SELECT policy FROM alike_status()`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.expect("11|10", `SELECT count(*), sum(si_length IS NOT NULL AND id < 11) FROM d_alike`)
	db.expect(map[string]string{"columns": "24", "parts": "1"}[*layout], `SELECT count(*) FROM pragma_index_list('d_alike')`)
	db.expect("0", `SELECT alike_attach('d', 'body', '{"profile": "words w=2 fast bits=64"}')`)
	db.expect("ok", "PRAGMA integrity_check")
}

// Names are quoted wherever they go.
func TestNamesOfAllKinds(t *testing.T) {
	for _, name := range []string{`plain`, `two words`, `a.b`, `it's`, `say "hi"`, `semi;colon`, `--`, `🦊`, `[x]`, "back`tick", `SELECT`, `%s`} {
		db := memory(t)
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		db.exec(`CREATE TABLE ` + quoted + `(` + quoted + ` INTEGER PRIMARY KEY, "the ""text""" TEXT, u TEXT UNIQUE)`)
		db.exec(`INSERT INTO `+quoted+`("the ""text""") VALUES (?), (?)`, fox, fox+" indeed")
		db.expect("2", `SELECT alike_attach(?, 'the "text"', '{"policy": "link", "si": ["length"]}')`, quoted)
		db.expect("2", `SELECT alike_attach(?, 'the "text"', '{"policy": "link", "profile": "words w=3"}')`, "main."+quoted)
		db.exec(`INSERT INTO `+quoted+`("the ""text""") VALUES (?)`, fox+" indeed")
		db.expect("2\n1", `SELECT key FROM alike_rows(?, 3)`, quoted)
		db.expect("2", `SELECT count(*) FROM "`+strings.ReplaceAll(name, `"`, `""`)+`_alike_match"`)
		db.expect("3", `SELECT count(*) FROM alike_pairs(?)`, quoted)
		db.expect("3", `SELECT count(*) FROM alike_clusters(?)`, quoted)
		db.expect("0", `SELECT alike_refresh(?)`, quoted)
		db.expect("3|0", `SELECT sketched, pending FROM alike_status()`)
		db.rows(`SELECT alike_detach(?, '{"drop": true}')`, quoted)
		db.expect("1", `SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL`)
	}
}

func TestOtherDatabases(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "main.db"))
	db.exec(`ATTACH ? AS "other one"`, filepath.Join(dir, "other.db"))
	for _, schema := range []string{"main", `"other one"`, "temp"} {
		db.exec(`CREATE TABLE ` + schema + `.d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO `+schema+`.d(body) VALUES (?), (?)`, fox, schema+" has a text of its own")
		db.expect("2", `SELECT alike_attach(?, 'body', '{"policy": "link"}')`, schema+".d")
		db.exec(`INSERT INTO `+schema+`.d(body) VALUES (?)`, schema+" has a text of its own!")
		db.expect("3|2", `SELECT id, other FROM `+schema+`.d_alike_match`)
		db.expect("2", `SELECT key FROM alike_rows(?, 3)`, schema+".d")
	}
	db.expect("3", `SELECT count(*) FROM alike_status()`)
	db.expect("temp has a text of its own", `SELECT body FROM temp.d WHERE id = (SELECT key FROM alike_rows('d', 3))`)
	db.Close()
	// Under another name of the database the triggers mean the same tables.
	db = open(t, filepath.Join(dir, "other.db"))
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.expect("4|1", `SELECT id, other FROM d_alike_match WHERE id = 4`)
}

func TestChangeOfMode(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.expect("1", `SELECT alike_attach('d', 'body', '{"mode": "queue"}')`)
	db.exec(`INSERT INTO d(body) VALUES ('one more document')`)
	db.exec(`UPDATE d SET body = 'another text' WHERE id = 1`)
	db.expect("2", `SELECT pending FROM alike_status()`)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"mode": "compute"}')`)
	db.expect("compute|2|0", `SELECT mode, sketched, pending FROM alike_status()`)
	db.exec(`INSERT INTO d(body) VALUES ('a third')`)
	db.check("d", "compute")
	db.expect("0", `SELECT alike_attach('d', 'body', '{"mode": "queue"}')`)
	db.exec(`INSERT INTO d(body) VALUES ('a fourth')`)
	db.expect("1", `SELECT alike_refresh('d')`)
	db.check("d", "queue")
}

func TestExtract(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES ('<html><style>p { color: red }</style><p>the quick <b>br</b>own fox<p>jumps &amp; runs over the lazy dog<script>var x = "<p>"</script>'),
		('the quick brown fox jumps & runs over the lazy dog')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4"}')`)
	db.expect("", `SELECT key FROM alike_rows('d', 1)`)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"extract": "html"}')`)
	db.expect("2|1.0", `SELECT key, resemblance FROM alike_rows('d', 1)`)
	db.expect("2\n1", `SELECT key FROM alike_rows_like('d', '<i>The quick brown fox</i> jumps &amp; runs over the lazy dog') ORDER BY key DESC`)
}

// What a transaction undoes is undone.
func TestAttachInATransaction(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.exec(`BEGIN`)
	db.expect("2", `SELECT alike_attach('d', 'body')`)
	db.exec(`ROLLBACK`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.exec(`SAVEPOINT s`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=2"}')`)
	db.exec(`ROLLBACK TO s; RELEASE s`)
	db.expect("chars w=3 set fast t=168 k=23 s=4 r=2 bits=4", `SELECT DISTINCT alike_profile(sketch) FROM d_alike`)
	db.exec(`INSERT INTO d(body) VALUES ('another')`)
	db.check("d", "after a change undone")
	db.exec(`CREATE TABLE log(x)`)
	db.fails("statements in progress", `INSERT INTO log SELECT alike_attach('d', 'body', '{"profile": "words w=2"}')`)
	db.check("d", "after an attach refused")
}

// In the JSON array of a composite key a blob is a hexadecimal string, wherever a
// key comes in or out.
func TestKeysWithBlobs(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(a BLOB, b TEXT, body TEXT, PRIMARY KEY (a, b))`)
	text := "the words of a document that is there already and which nobody wants to see again"
	for _, key := range []string{`x'00ff', 'x'`, `x'', 'x'`, `x'00ff', '\x00ff'`, `'\xno', 'y'`} {
		db.exec(`INSERT INTO d VALUES (`+key+`, ?)`, text)
	}
	db.expect("4", `SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
	db.expect(`["\\x","x"]
["\\x00ff","\\x00ff"]
["\\xno","y"]`, `SELECT key FROM alike_rows('d', '["\\x00ff", "x"]') ORDER BY 1`)
	db.expect(`["\\xno","y"]`, `SELECT key FROM alike_rows('d', json_array('\x00ff', '\x00ff')) ORDER BY 1 DESC LIMIT 1`)
	db.expect("6", `SELECT count(*) FROM alike_pairs('d')`)
	db.expect("1", `SELECT count(DISTINCT cluster) FROM alike_clusters('d') WHERE key LIKE '["%'`)
	db.expect("distinct", `SELECT alike_mark('d', '["\\x00FF", "x"]', '["\\x", "x"]', 'distinct')`)
	db.expect(`||x|00ff|x|distinct`, `SELECT '', hex(a), b, lower(hex(other_a)), other_b, verdict FROM d_alike_mark`)
	db.expect(`["\\x00ff","\\x00ff"]
["\\xno","y"]`, `SELECT key FROM alike_rows('d', json_array('\x00ff', 'x')) ORDER BY 1`)
	db.fails(`the document resembles row ["\\x`, `INSERT INTO d VALUES (x'01', 'x', ?)`, text)
	db.fails(`has no row`, `SELECT alike_mark('d', '["\\x02", "x"]', '["\\x", "x"]', 'distinct')`)
}

// A key that changes may turn the order of a pair round: it is one pair still.
func TestMarkAfterRekey(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, 'one two three four five'), (2, 'one two three four five')`)
	db.expect("2", `SELECT alike_attach('d', 'body')`)
	db.rows(`SELECT alike_mark('d', 1, 2, 'distinct')`)
	db.exec(`UPDATE d SET id = 5 WHERE id = 1`)
	db.expect("0", `SELECT count(*) FROM alike_pairs('d')`)
	db.rows(`SELECT alike_mark('d', 2, 5, 'duplicate')`)
	db.expect("2|5|duplicate", `SELECT id, other, verdict FROM d_alike_mark`)
	db.expect("1", `SELECT count(*) FROM alike_pairs('d')`)
}

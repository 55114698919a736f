package sqlext_test

import (
	"strings"
	"testing"
)

// A crowd of equal rows makes matches that grow with its rows and not with their
// square; how many more there are is on each.
func TestMatchesOfACrowd(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO d SELECT i, ? FROM n`, fox)
	db.expect("9945", `SELECT count(*) FROM d_alike_match`)
	db.expect("10|1|10|989|989", `SELECT count(*), min(other), max(other), min(omitted), max(omitted) FROM d_alike_match WHERE id = 1000`)
	db.expect("10|0", `SELECT count(*), max(omitted) FROM d_alike_match WHERE id = 11`)
	db.expect("10|1", `SELECT count(*), max(omitted) FROM d_alike_match WHERE id = 12`)

	// The nearest come first, whatever their order in the table.
	db.exec(`DELETE FROM d`)
	db.rows(`SELECT alike_attach('d', 'body', '{"matches": 2, "at_least": 0.5}')`)
	db.exec(`INSERT INTO d VALUES (1, ?1 || ' it does indeed'), (2, ?1), (3, ?1 || ' indeed'), (4, ?1 || ' it does'), (5, ?1)`, fox)
	db.expect("2|1.0|2\n3|0.94|2", `SELECT other, round(resemblance, 2), omitted FROM d_alike_match WHERE id = 5 ORDER BY resemblance DESC`)
	db.rows(`SELECT alike_attach('d', 'body', '{"matches": null}')`)
	db.exec(`INSERT INTO d VALUES (6, ?1)`, fox)
	db.expect("5|0", `SELECT count(*), max(omitted) FROM d_alike_match WHERE id = 6`)
	for _, wrong := range []string{"0", "1001", "-1", "1.5", `"10"`, "true"} {
		db.fails("the option matches is "+wrong+", want", `SELECT alike_attach('d', 'body', '{"matches": `+wrong+`}')`)
	}

	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
	db.fails("resembles row 2 of d (resemblance 1.000", `INSERT INTO d(body) VALUES (?)`, fox)
	db.fails("resembles row 1 of d (resemblance 1.000", `INSERT INTO d(body) VALUES (?)`, fox+" it does indeed")
}

func TestWarnSaysHowManyMore(t *testing.T) {
	out, err := shell(t, ":memory:", `.log stdout
CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT);
INSERT INTO d(body) VALUES (''), (''), ('');
UPDATE d SET body = '`+fox+`';
SELECT alike_attach('d', 'body', '{"policy": "warn", "matches": 2}');
INSERT INTO d(id, body) VALUES (9, '`+fox+`');`)
	if err != nil || strings.Count(out, "alike: row") != 2 || !strings.Contains(out, "alike: row 9 of d resembles row 1 (resemblance 1.000)\n") ||
		!strings.Contains(out, "alike: row 9 of d resembles row 2 (resemblance 1.000), and 1 other") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A verdict on a row without a word changes no question.
func TestVerdictOnAnEmptyRow(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?1), (3, ''), (4, NULL), (5, '...')`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	for _, pair := range []string{"1, 3", "1, 4", "5, 1", "3, 4"} {
		db.rows(`SELECT alike_mark('d', ` + pair + `, 'duplicate')`)
	}
	db.expect("2", `SELECT key FROM alike_rows('d', 1)`)
	db.expect("", `SELECT key FROM alike_rows('d', 3)`)
	db.expect("1|2", `SELECT key, other FROM alike_pairs('d')`)
	db.expect("2", `SELECT count(*) FROM alike_clusters('d')`)
	db.expect("1\n2", `SELECT key FROM alike_rows_like('d', ?)`, fox)
	db.exec(`UPDATE d SET body = ? WHERE id = 1`, fox+" indeed")
	db.expect("1|2", `SELECT id, other FROM d_alike_match`)
	db.exec(`UPDATE d SET body = NULL WHERE id = 2`)
	db.expect("", `SELECT id, other FROM d_alike_match`)
	db.check("d", "empty rows")
}

// A trigger of the user's that is newer than ours fires first and can keep its row
// from ours: status says so, and refresh puts ours first again.
func TestTriggersThatComeFirst(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"name": "other"}')`)
	db.exec(`CREATE TRIGGER counts AFTER INSERT ON d BEGIN SELECT 1; END`)
	db.expect("", `SELECT note FROM alike_status() WHERE note <> ''`)
	db.exec(`CREATE TRIGGER stops AFTER INSERT ON d WHEN new.body LIKE '%stop%' BEGIN SELECT RAISE(IGNORE); END`)
	db.exec(`INSERT INTO d(body) VALUES ('stop here')`)
	db.expect("1", `SELECT pending FROM alike_status() WHERE name = 'd'`)
	if got := db.rows(`SELECT note FROM alike_status()`); strings.Count(got, "the trigger stops fires first") != 2 {
		t.Errorf("status says %q", got)
	}
	db.expect("1|1", `SELECT alike_refresh('d'), alike_refresh('other')`)
	db.expect("", `SELECT note FROM alike_status() WHERE note <> ''`)
	db.exec(`INSERT INTO d(body) VALUES ('stop again')`)
	db.check("d", "after a refresh")
	db.check("other", "after a refresh")
}

// A unique index that is made later is heard of at the next refresh.
func TestUniqueIndexMadeLater(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT, v TEXT UNIQUE)`)
	db.exec(`INSERT INTO d VALUES (1, ?1, 'a', 'x'), (2, ?1, 'b', 'y')`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.exec(`CREATE UNIQUE INDEX later ON d(u)`)
	db.rows(`SELECT alike_refresh('d')`)
	db.exec(`REPLACE INTO d VALUES (3, 'a text', 'a', 'z')`)
	db.check("d", "a unique index")
	db.exec(`DROP INDEX later`)
	db.rows(`SELECT alike_refresh('d')`)
	db.exec(`ALTER TABLE d DROP COLUMN u`)
	db.exec(`REPLACE INTO d VALUES (4, 'a text', 'z')`)
	db.check("d", "without the index")
	db.expect("0", `SELECT alike_refresh('d')`)
	db.expect("0", `SELECT count(*) FROM sqlite_master WHERE name LIKE '%unique_old'`)
	// What a statement did that our triggers did not hear of.
	db.exec(`DROP TRIGGER d_alike_delete`)
	db.exec(`DELETE FROM d WHERE id = 4`)
	db.expect("1", `SELECT alike_refresh('d')`)
	db.expect("", `SELECT id FROM d_alike_unique EXCEPT SELECT id FROM d`)
}

package sqlext_test

import (
	"strings"
	"testing"
)

// A condition means what it meant when it was given, whatever its columns are
// called since.
func TestWhereFollowsTheSchema(t *testing.T) {
	for _, condition := range []string{`kind = 'mail'`, `"kind" = 'mail'`, `[kind] = 'mail' AND id > 0`, "`kind` IN ('mail', 'none') -- of these"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, kind TEXT, body TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, 'mail', ?1), (2, 'mail', ?1), (3, 'note', ?1)`, fox)
		options := `{"where": "` + strings.ReplaceAll(condition, `"`, `\"`) + `"}`
		db.expect("2", `SELECT alike_attach('d', 'body', ?)`, options)
		db.exec(`ALTER TABLE d RENAME COLUMN kind TO sort`)
		db.exec(`INSERT INTO d VALUES (4, 'mail', ?1), (5, 'note', ?1)`, fox)
		db.expect("1\n2\n4", `SELECT id FROM d_alike`)
		db.expect("3", `SELECT alike_attach('d', 'body', '{"profile": "words w=2"}')`)
		db.expect("1\n2\n4", `SELECT id FROM d_alike`)
		db.expect("3|3|0|", `SELECT "rows", sketched, pending, note FROM alike_status()`)
		db.exec(`ALTER TABLE d RENAME COLUMN sort TO kind`)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		db.exec(`ALTER TABLE d RENAME TO papers`)
		db.expect("0", `SELECT alike_refresh('papers')`)
		db.exec(`INSERT INTO papers VALUES (6, 'mail', ?1), (7, 'note', ?1)`, fox)
		db.expect("1\n2\n4\n6", `SELECT id FROM d_alike`)
		db.expect("2", `SELECT alike_attach('papers', 'body', '{"name": "d", "where": "kind = ''note''"}') - 1`)
		db.check("d", "another condition")
	}
}

// What is no condition on the columns of the table is refused, and nothing made.
func TestWhereIsOneCondition(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE other(x)`)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, kind TEXT, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, 'mail', 'not JSON'), (2, '{"a": 1}', 'x')`)
	for condition, want := range map[string]string{
		`1) limit (2`:                          "where: ",
		`0) OR (1`:                             "where: ",
		`1); DROP TABLE d; --`:                 "where: ",
		`1, 2`:                                 "where: ",
		`1) AND (2`:                            "where: ",
		`1 /*`:                                 "where: ",
		`1) --`:                                "where: ",
		`kind = 'x`:                            "where: ",
		`kind = "mail"`:                        "where: ",
		`"nothing" = 'mail'`:                   "where: ",
		`kind = ?1`:                            "where: ",
		`kind = :name`:                         "where: ",
		`count(*) > 1`:                         "where: ",
		`id IN (SELECT x FROM other)`:          "where: ",
		`random() > 0`:                         "where: non-deterministic functions are prohibited",
		`id IN (SELECT id FROM other)`:         "where: subqueries are prohibited",
		`date('now') > kind`:                   "where: date('now') changes with the time or the place; a condition means one thing for ever",
		`kind > DATE /* */ ( 'Now', '-1 day')`: "where: date('Now') changes with the time",
		`kind < strftime('%Y')`:                "where: strftime('%Y') changes with the time",
		`kind < strftime('%Y', upper('now'))`:  "where: strftime('now') changes with the time",
		`unixepoch() > id`:                     "where: unixepoch() changes with the time",
		`julianday(kind, 'utc') > id`:          "where: julianday('utc') changes with",
		`"date"('now') > kind`:                 "where: date('now') changes with the time",
		`kind = Current_Timestamp`:             "where: Current_Timestamp changes with the time",
		`CASE WHEN id THEN datetime() END`:     "where: datetime() changes",
		`json_extract(kind, '$.a') = 1`:        "where: malformed JSON",
		`new.kind = 'mail'`:                    "where: ",
		`alike_rows('d', 1)`:                   "where: ",
		"kind = 'mail'\x00 OR 1":               "where: ",
		`kind = 'mail' COLLATE nothing`:        "where: ",
		`id = 1 GROUP BY id`:                   "where: ",
		`id = 1 ORDER BY (id)`:                 "where: ",
		`1 UNION SELECT 1`:                     "where: ",
		`raise(abort, 'x')`:                    "where: ",
		`writefile('x', body) IS NULL`:         "where: ",
		`load_extension('x') IS NULL AND id`:   "where: ",
	} {
		if got, err := db.try(`SELECT alike_attach('d', 'body', json_object('where', ?))`, condition); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", condition, got, err)
			db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
		}
		db.expect("other\nd", `SELECT name FROM sqlite_master`)
		db.exec(`INSERT INTO d(body) VALUES ('goes on')`)
	}
	for _, condition := range []string{`kind IS NOT ')'`, `kind <> '--' /* ( */`, `(id) IN (1, 2) -- )`, `kind LIKE 'a;%'`, `id`, `CASE kind WHEN 'x' THEN 0 ELSE 1 END`, `d.kind = 'mail'`, `upper(kind) = 'MAIL' COLLATE NOCASE`, `length(body) BETWEEN 1 AND 5`,
		`date(kind) > '2024-01-01' OR kind = 'now'`, `"date" ('2024-01-01') > kind`, `kind = '''current_date' -- current_date`, `strftime('%Y', kind, '+1 day') > '2000' OR [kind] IS NOT 'now'`} {
		db.rows(`SELECT alike_attach('d', 'body', json_object('where', ?))`, condition)
		db.exec(`INSERT INTO d(body) VALUES ('goes on')`)
		db.check("d", condition)
		db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	}
}

// What cannot be evaluated any more is said, and keeps nothing else from work.
func TestWhereThatNoLongerHolds(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, kind TEXT, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, 'mail', ?1), (2, 'note', ?1)`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"where": "kind = ''mail''"}')`)
	// SQLite refuses to drop the column; somebody can still edit the schema.
	db.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'kind', 'sort') WHERE name = 'd'; PRAGMA writable_schema = RESET`)
	if got := db.rows(`SELECT note FROM alike_status()`); !strings.Contains(got, "kind") || !strings.Contains(got, "where") {
		t.Errorf("status says %q", got)
	}
	db.fails("where", `SELECT alike_refresh('d')`)
	db.fails("where", `SELECT alike_attach('d', 'body', '{"profile": "words w=2"}')`)
	db.expect("1", `SELECT id FROM d_alike`)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"where": ""}')`)
	db.expect("1\n2", `SELECT id FROM d_alike`)
}

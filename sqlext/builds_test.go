package sqlext_test

import (
	"fmt"
	"strings"
	"testing"
)

// madeElsewhere changes a database as though another build of Alike had attached d and
// sketched its rows: one whose fingerprint of the tokens is greater by one.
func (db database) madeElsewhere() (own int) {
	db.t.Helper()
	fmt.Sscan(db.rows(`SELECT tokens FROM alike_settings ORDER BY id DESC`), &own)
	db.exec(`UPDATE alike_settings SET tokens = tokens + 1`)
	db.exec(`UPDATE alike_attachment SET stamp = stamp + 1`)
	db.exec(`UPDATE d_alike SET sketch = CAST(substr(sketch, 1, 20) || ? || substr(sketch, 23) AS BLOB) WHERE sketch IS NOT NULL`, []byte{byte((own + 1) >> 8), byte(own + 1)})
	db.exec(`PRAGMA writable_schema = ON`)
	db.exec(`UPDATE sqlite_master SET sql = replace(sql, char(10) || ? || '''', char(10) || ? || '''') WHERE type = 'trigger'`, own, own+1)
	db.exec(`PRAGMA writable_schema = RESET`)
	return own
}

// Rows that a build with other tokens has sketched are counted by status, compared with
// their like alone, and sketched again by refresh, and no others are.
func TestRowsOfAnotherBuild(t *testing.T) {
	text := func(n int) string { return strings.Repeat(fox+" and ", 3) + fmt.Sprint("number ", n) }
	const counts = `SELECT "rows", sketched, stale, pending FROM alike_status()`
	for _, options := range []string{`{}`, `{"policy": "link"}`, `{"policy": "warn", "si": ["length"]}`, `{"mode": "queue", "policy": "link"}`, `{"where": "id <> 77"}`, `{"profile": "words mod=4"}`} {
		t.Run(options, func(t *testing.T) {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`INSERT INTO d VALUES (1, ?), (2, ?), (3, '')`, text(1), text(2))
			db.expect("3", `SELECT alike_attach('d', 'body', ?)`, options)
			own := db.madeElsewhere()
			db.expect("3|3|3|0", counts)
			db.expect("1", `SELECT note LIKE '3 rows were sketched by a build of Alike that makes other tokens%alike_refresh(''d'')%' FROM alike_status()`)

			// They compare with each other still, and a text of this build with none of them.
			db.expect("2", `SELECT key FROM alike_rows('d', 1)`)
			db.expect("1|2", `SELECT key, other FROM alike_pairs('d')`)
			db.expect("2", `SELECT count(*) FROM alike_clusters('d')`)
			db.fails("alike_rows_like: the rows of d were sketched by a build of Alike that makes other tokens; alike_refresh('d') sketches them again", `SELECT * FROM alike_rows_like('d', ?)`, text(3))

			// A row of this build goes in, and is left out of every comparison.
			db.exec(`INSERT INTO d VALUES (4, ?)`, text(4))
			if strings.Contains(options, "queue") {
				db.expect("4|3|3|1", counts)
			} else {
				db.expect("4|4|4|0", `SELECT "rows", sketched, stale, pending FROM alike_status()`)
				db.expect("0", `SELECT count(*) FROM d_alike_match WHERE id = 4 OR other = 4`)
				db.expect("", `SELECT key FROM alike_rows('d', 4)`)
				db.rows(`SELECT alike_mark('d', 1, 4, 'duplicate')`)
				db.expect("2", `SELECT key FROM alike_rows('d', 1)`)
				db.expect("1|2", `SELECT key, other FROM alike_pairs('d')`)
				db.expect("", `SELECT key FROM alike_clusters('d', 0.1) WHERE key = 4 AND size < 3`)
				if strings.Contains(options, "length") {
					db.expect("2", `SELECT key FROM alike_si_rows('d', 'length', 1)`)
				}
				db.exec(`DELETE FROM d_alike_mark`)
			}

			// What stops a refresh loses nothing.
			db.exec(`CREATE TABLE sketched(id)`)
			db.exec(`CREATE TRIGGER watch AFTER UPDATE ON d_alike BEGIN INSERT INTO sketched VALUES (new.id); END`)
			db.exec(`CREATE TRIGGER stop BEFORE UPDATE ON d_alike WHEN new.id = 2 BEGIN SELECT RAISE(ABORT, 'stopped'); END`)
			if _, err := db.Exec(`SELECT alike_refresh('d')`); err == nil {
				t.Fatal("the refresh was not stopped")
			}
			db.exec(`DROP TRIGGER stop`)
			db.rows(`SELECT alike_refresh('d')`)
			db.expect("4|4|0|0", counts)
			db.expect("", `SELECT note FROM alike_status() WHERE note <> ''`)
			db.check("d", options)
			db.expect(fmt.Sprint(own), `SELECT tokens FROM alike_settings s JOIN alike_attachment a ON a.profile = s.id`)
			db.expect("1|2\n1|4\n2|4", `SELECT key, other FROM alike_pairs('d') ORDER BY 1, 2`)
			db.expect("4", `SELECT key FROM alike_rows_like('d', ?) ORDER BY key DESC LIMIT 1`, text(3))

			// One row of another build among those of this one.
			db.exec(`UPDATE d_alike SET profile = 0 WHERE id = 3`)
			db.exec(`DELETE FROM sketched`)
			db.expect("4|4|1|0", counts)
			db.expect("1", `SELECT alike_refresh('d')`)
			db.expect("3", `SELECT group_concat(id) FROM sketched`)
			db.expect("4|4|0|0", counts)
			db.expect("0", `SELECT alike_refresh('d')`)
		})
	}
}

// The policy reject lets nothing pass that it cannot judge.
func TestRejectOfAnotherBuild(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, ?)`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
	db.madeElsewhere()
	db.fails("alike: the rows of d were sketched by a build of Alike that makes other tokens; alike_refresh('d') sketches them again", `INSERT INTO d VALUES (2, 'a text of its own about other things')`)
	db.expect("1", `SELECT count(*) FROM d`)
	db.rows(`SELECT alike_refresh('d')`)
	db.fails("resembles row 1", `INSERT INTO d VALUES (2, ?)`, fox)
	db.exec(`INSERT INTO d VALUES (2, 'a text of its own about other things')`)

	// A change of profile, an attach and a detach of what another build has made.
	db.madeElsewhere()
	db.expect("2", `SELECT alike_attach('d', 'body', '{"policy": "ignore"}')`)
	db.expect("0", `SELECT stale FROM alike_status()`)
	db.madeElsewhere()
	db.expect("2", `SELECT alike_attach('d', 'body', '{"profile": "words w=3"}')`)
	db.expect("0", `SELECT stale FROM alike_status()`)
	db.check("d", "after the change")
	db.madeElsewhere()
	db.expect("2", `SELECT alike_detach('d')`)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"profile": "words w=3"}')`)
	db.expect("0", `SELECT stale FROM alike_status()`)
	db.check("d", "attached again")
}

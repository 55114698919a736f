package sqlext_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// plain opens a database without the extension.
func plain(t testing.TB, name string) database {
	t.Helper()
	pool, err := sql.Open("without", name)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	return database{pool, t}
}

// A program without the extension alters every table of a database in which one is
// attached, that table too, and the extension follows.
func TestAlterWithoutTheExtension(t *testing.T) {
	for _, options := range []string{`{}`, `{"policy": "link"}`, `{"policy": "warn"}`, `{"policy": "reject"}`, `{"mode": "queue"}`, `{"where": "kind <> 'odd'", "policy": "link"}`, `{"si": ["length"], "extract": "html"}`} {
		for _, create := range []string{
			`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind TEXT, extra)`,
			`CREATE TABLE d(id TEXT PRIMARY KEY, body TEXT, kind TEXT UNIQUE, extra)`,
			`CREATE TABLE d(id INTEGER, part INTEGER, body TEXT, kind TEXT, extra, PRIMARY KEY (id, part)) WITHOUT ROWID`,
		} {
			t.Run(options+" "+create, func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "alter.db")
				db := open(t, name)
				db.exec(create)
				db.exec(`CREATE TABLE other(a, b, c); CREATE VIEW seen AS SELECT a FROM other; CREATE TRIGGER follows AFTER INSERT ON other BEGIN DELETE FROM other WHERE a = new.a - 1; END`)
				insert := `INSERT INTO d(id, body, kind) VALUES (%d, '` + fox + ` number %d', '%d')`
				if strings.Contains(create, "part") {
					insert = strings.Replace(strings.Replace(insert, "(id,", "(part, id,", 1), "VALUES (", "VALUES (0, ", 1)
				}
				db.exec(fmt.Sprintf(insert, 1, 1, 1))
				db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
				db.Close()

				without := plain(t, name)
				for _, statement := range []string{
					`ALTER TABLE other RENAME TO others`,
					`ALTER TABLE others RENAME COLUMN a TO alpha`,
					`ALTER TABLE others ADD COLUMN d`,
					`ALTER TABLE others DROP COLUMN b`,
					`ALTER TABLE d ADD COLUMN more`,
					`ALTER TABLE d DROP COLUMN extra`,
					`ALTER TABLE d RENAME COLUMN body TO contents`,
					`ALTER TABLE d RENAME COLUMN id TO number`,
					`ALTER TABLE d RENAME TO papers`,
					`CREATE INDEX more ON papers(more)`,
					`CREATE VIEW titles AS SELECT more FROM papers`,
					`DROP INDEX more`,
					`VACUUM`,
				} {
					without.exec(statement)
				}
				without.Close()

				db = open(t, name)
				insert = strings.Replace(strings.Replace(strings.Replace(insert, "INTO d(", "INTO papers(", 1), "id, body", "number, contents", 1), "number %d'", "about %d things that nobody else has heard of before'", 1)
				db.exec(fmt.Sprintf(insert, 2, 2, 2))
				db.rows(`SELECT alike_refresh('papers')`)
				if !strings.Contains(options, "si") {
					db.check("d", "altered")
				}
				db.expect("papers|contents|2|2", `SELECT "table", "column", "rows", sketched FROM alike_status()`)
			})
		}
	}
}

// A checkin and a fill compute a row once, and not again for each of its columns.
func TestRowIsComputedOnce(t *testing.T) {
	setup := `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); SELECT alike_attach('d', 'body', '{"policy": "link"}');`
	count := func(t *testing.T, program string) {
		t.Helper()
		if n := strings.Count(program, "alike__row(2)"); n != 1 {
			t.Errorf("the program calls alike__row in %d places, want 1", n)
		}
	}
	db := memory(t)
	for _, statement := range strings.Split(strings.TrimSuffix(setup, ";"), "; ") {
		db.rows(statement)
	}
	count(t, db.rows(`EXPLAIN INSERT INTO d(body) VALUES ('x')`))
	program, err := shell(t, ":memory:", setup+` EXPLAIN INSERT INTO d(body) VALUES ('x');`)
	if err != nil {
		t.Fatal(program, err)
	}
	count(t, program)
}

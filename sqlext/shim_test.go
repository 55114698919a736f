package sqlext_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
	"github.com/mattn/go-sqlite3"
)

// What a program does next hangs on the code of an error: it waits and tries again, or
// stops. A function passes on the code that SQLite gave it.
func TestErrorsKeepTheirCode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "codes.db")
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?1), (?1)`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	code := func(c database, query string) sqlite3.ErrNo {
		t.Helper()
		_, err := c.try(query)
		var coded sqlite3.Error
		if !errors.As(err, &coded) {
			t.Fatalf("%s: %v, want an error of SQLite's", query, err)
		}
		return coded.Code
	}
	writes := []string{`SELECT alike_attach('d', 'body', '{"policy": "link"}')`, `SELECT alike_mark('d', 1, 2, 'distinct')`, `SELECT alike_detach('d')`}
	readOnly := open(t, "file:"+name+"?mode=ro")
	other := open(t, "file:"+name+"?_busy_timeout=1")
	db.exec(`BEGIN EXCLUSIVE`)
	for _, query := range append(writes, `SELECT key FROM alike_rows('d', 1)`) {
		if got := code(other, query); got != sqlite3.ErrBusy {
			t.Errorf("%s beside a program that writes: code %d, want SQLITE_BUSY", query, got)
		}
	}
	db.exec(`ROLLBACK`)
	for _, query := range writes {
		if got := code(readOnly, query); got != sqlite3.ErrReadonly {
			t.Errorf("%s of a file that is read only: code %d, want SQLITE_READONLY", query, got)
		}
	}
	if got := code(db, `SELECT alike_attach('nothing', 'body')`); got != sqlite3.ErrError {
		t.Errorf("a table that is not there: code %d, want SQLITE_ERROR", got)
	}
}

// What changes the schema, or asks about a table that the statement names, is for
// statements of the host alone: a trigger or a view in a file may be a stranger's.
func TestSchemaCannotCallWhatIsDirect(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`CREATE TABLE log(x)`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	for _, call := range []string{`alike_attach('d', 'body')`, `alike_detach('d', '{"drop": true}')`, `alike_refresh('d')`, `alike_mark('d', 1, 2, 'distinct')`} {
		db.exec(`CREATE TRIGGER bad AFTER INSERT ON log BEGIN SELECT ` + call + `; END`)
		db.fails("unsafe use of", `INSERT INTO log VALUES (1)`)
		db.exec(`DROP TRIGGER bad`)
		db.exec(`CREATE VIEW bad AS SELECT ` + call)
		db.fails("unsafe use of", `SELECT * FROM bad`)
		db.exec(`DROP VIEW bad`)
	}
	db.expect("0|1", `SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM alike_status())`)
}

// The arguments of a function that returns rows are hidden columns of it, as those of
// SQLite's own are; their names cannot be those of its columns.
func TestArgumentsAreColumns(t *testing.T) {
	db := memory(t)
	db.expect("a b|words w=1|a\na b|words w=1|b", `SELECT "(document)", "(profile)", token FROM alike_tokens('a b', 'words w=1')`)
	db.expect("a b||a", `SELECT "(document)", "(profile)", token FROM alike_tokens('a b') LIMIT 1`)
	db.expect("a", `SELECT token FROM alike_tokens('a b') WHERE "(document)" LIKE '% b' LIMIT 1`)
	db.expect("", `SELECT token FROM alike_tokens('a b') WHERE "(document)" = 'a'`)
	db.expect("1|a\n1|b\n2|c", `SELECT d.id, f.token FROM (SELECT 1 AS id, 'a b' AS body UNION ALL SELECT 2, 'c') d JOIN alike_tokens f ON f."(document)" = d.body ORDER BY 1, 2`)
}

// A LIMIT counts the rows that every condition has let through.
func TestLimitComesLast(t *testing.T) {
	setup := `CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT);
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO d SELECT i, '` + fox + `' FROM n;
SELECT alike_attach('d', 'body') > 0;
`
	for query, want := range map[string]string{
		`SELECT key FROM alike_rows('d', 1) WHERE key > 20 LIMIT 2`:                           "1\n21\n22",
		`SELECT key FROM alike_rows('d', 1) WHERE key > 20 AND key <> 21 LIMIT 1 OFFSET 1`:    "1\n23",
		`SELECT key FROM alike_rows('d', 1) WHERE key IN (28, 29) LIMIT 1`:                    "1\n28",
		`SELECT key FROM alike_rows('d', 1) WHERE key LIKE '3%' LIMIT 1`:                      "1\n3",
		`SELECT key FROM alike_rows('d', 1) WHERE resemblance > 2 LIMIT 1`:                    "1",
		`SELECT key FROM alike_rows('d', 1) WHERE key = 30 LIMIT 1`:                           "1\n30",
		`SELECT key FROM alike_rows('d', 1) WHERE key = 30 AND shared > 0 LIMIT 1`:            "1\n30",
		`SELECT key FROM alike_rows('d', 1) WHERE "(table)" <> 'x' LIMIT 1`:                   "1\n2",
		`SELECT other FROM alike_pairs('d') WHERE key = 29 LIMIT 1`:                           "1\n30",
		`SELECT key FROM alike_rows('d', 1) WHERE key > 20 ORDER BY resemblance DESC LIMIT 1`: "1\n21",
	} {
		if got, err := shell(t, ":memory:", setup+query+";"); err != nil || got != want { // an SQLite other than that of the import
			t.Errorf("%s\n%v\ngot:\n%s\nwant:\n%s", query, err, got, want)
		}
	}
}

// A condition or a column that is only a text in double quotes is refused, whatever the
// host says about such texts, and what the host says holds afterwards.
func TestTextsInDoubleQuotes(t *testing.T) {
	for _, host := range []string{"on", "off"} {
		setup := `.dbconfig dqs_dml ` + host + `
.dbconfig dqs_ddl ` + host + `
CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind TEXT);
SELECT alike_attach('d', 'body', '{"where": "kind = \"mail\""}');
.dbconfig dqs_dml
.dbconfig dqs_ddl
`
		out, err := shell(t, ":memory:", setup)
		if err == nil {
			t.Error("no error")
		}
		for _, want := range []string{"where: no such column: mail", "dqs_dml " + host, "dqs_ddl " + host} {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				t.Errorf("%s: %s, want %q in it", host, out, want)
			}
		}
	}
}

// A sketch of each preset needs no memory but SQLite's.
func TestSketchesFitScratch(t *testing.T) {
	var call sqlite.Call
	for _, preset := range sketch.Presets() {
		p, err := sketch.ParseProfile(preset.Settings)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		s.Document([]byte("<p>a rose is a rose is a rose"))
		if b := s.AppendSketch(nil); len(b) > cap(call.Scratch()) {
			t.Errorf("a sketch under %s takes %d bytes, the scratch of a call has %d", preset.Name, len(b), cap(call.Scratch()))
		}
	}
}

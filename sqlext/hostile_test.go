package sqlext_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
)

var everyHostileFile = flag.Bool("hostile", false, "try every payload in every column of ours, instead of a part")

// payloads is what a hostile file has where one of ours has names, settings and numbers.
var payloads = []any{
	nil, "", 0, -1, 9223372036854775807, 1e308, []byte{}, []byte{0, 255}, "x", "ready", "next", "[]", `["length"]`, "{}", "d", "victim", "sqlite_master", "main.victim",
	`1); DELETE FROM victim; --`, `1); DELETE FROM other.victim; SELECT (1`, `'); DELETE FROM victim; --`, "';\nDELETE FROM victim;\nSELECT '", `"; DELETE FROM victim; --`, `d"; DELETE FROM victim; SELECT "`,
	"a;\nDELETE FROM victim;\n--", "x\x00'; DELETE FROM victim; --", "\x00DELETE FROM victim\x00", `["length; DELETE FROM victim"]`, `["length\u0000"]`, `text; DELETE FROM victim`, "words w=1 set fast t=84 k=12 s=7 r=2 bits=8",
	"words w=4 set fast t=16320 k=64 s=255 r=1", "html w=1024 k=1 s=1 r=1 t=1", strings.Repeat("(", 3000), strings.Repeat("x", 100_000), "%s%n%d", "(SELECT load_extension('x'))", "writefile('PWNED', 'x')", `alike_detach('d', '{"drop": true}')`,
}

// hostileScript is what a user does with a file that comes from elsewhere. A statement
// may fail; what it may not do is to run SQL of the file's choice.
var hostileScript = []string{
	`SELECT * FROM alike_status()`,
	`SELECT * FROM alike_rows('d', 1)`, `SELECT * FROM alike_rows_like('d', 'the quick brown fox')`, `SELECT * FROM alike_si_rows('d', 'length', 1)`,
	`SELECT * FROM alike_pairs('d')`, `SELECT * FROM alike_clusters('d')`, `SELECT * FROM alike_hot('d')`, `SELECT * FROM alike_errors('d')`,
	`INSERT INTO d(body) VALUES ('another text')`, `UPDATE d SET body = 'the quick brown fox' WHERE id = 2`,
	`SELECT alike_mark('d', 1, 2, 'distinct')`, `SELECT alike_refresh('d')`,
	`SELECT alike_attach('d', 'body')`, `SELECT alike_attach('d', 'body', '{"profile": "words w=3", "policy": "warn"}')`, `SELECT alike_refresh('d')`,
	`DELETE FROM d WHERE id = 1`, `SELECT alike_detach('d', '{"drop": true}')`,
}

// hostileFile makes a database with an attachment in which one column of one of our
// tables has a payload in every row.
func hostileFile(t *testing.T, template []byte, name, table, column string, payload any) {
	t.Helper()
	if err := os.WriteFile(name, template, 0o644); err != nil {
		t.Fatal(err)
	}
	without := plain(t, name)
	defer without.Close()
	without.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF`)
	without.exec(`PRAGMA foreign_keys = OFF`)
	_, err := without.Exec(fmt.Sprintf(`UPDATE OR REPLACE "%s" SET "%s" = ?`, table, column), payload)
	if err != nil && !strings.Contains(err.Error(), "constraint") && !strings.Contains(err.Error(), "mismatch") && !strings.Contains(err.Error(), "alike__") {
		t.Fatalf("%s.%s: %v", table, column, err)
	}
}

func TestHostileFile(t *testing.T) {
	for _, options := range []string{`{"policy": "link", "si": ["length"]}`, `{"mode": "queue", "where": "id < 1000", "policy": "warn"}`} {
		dir := t.TempDir()
		good, victims := filepath.Join(dir, "good.db"), filepath.Join(dir, "victims.db")
		db := open(t, victims)
		db.exec(`CREATE TABLE victim(x); INSERT INTO victim VALUES (1), (2), (3)`)
		db.Close()
		db = open(t, good)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE); CREATE TABLE victim(x); INSERT INTO victim VALUES (1), (2), (3)`)
		db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
		db.rows(`SELECT alike_mark('d', 1, 2, 'duplicate')`)
		db.exec(`INSERT INTO alike_error VALUES ('d', 1, 'x', 1, 1)`)
		columns := strings.Split(db.rows(`SELECT m.name || ' ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND (m.name LIKE 'alike%' OR m.name LIKE 'd\_alike%' ESCAPE '\')`), "\n")
		db.Close()
		if len(columns) < 40 {
			t.Fatalf("%d columns of ours: %s, want at least 40", len(columns), columns)
		}
		template, err := os.ReadFile(good)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for i, column := range columns {
			table, column, _ := strings.Cut(column, " ")
			for j, payload := range payloads {
				// The registry says what is built; the short form tries a part, and of the
				// other tables a smaller one.
				registry := strings.HasPrefix(table, "alike_")
				if !*everyHostileFile && (!registry && (i+j)%83 != 0 || registry && (i+j)%19 != 0) || strings.HasPrefix(column, "f") && len(column) == 2 && column != "f1" && column != "f2" {
					continue
				}
				for _, trusted := range []string{"ON", "OFF"} {
					if !*everyHostileFile && (i+j)%2 == 0 == (trusted == "ON") {
						continue
					}
					tried++
					name := filepath.Join(dir, "hostile.db")
					hostileFile(t, template, name, table, column, payload)
					db := open(t, name)
					db.exec(`PRAGMA synchronous = OFF; PRAGMA trusted_schema = ` + trusted)
					db.exec(`ATTACH ? AS other`, victims)
					where := fmt.Sprintf("%s.%s = %.60q, trusted_schema = %s", table, column, fmt.Sprint(payload), trusted)
					for _, statement := range hostileScript {
						if _, err := db.try(statement); err != nil && strings.Contains(err.Error(), "internal error") {
							t.Errorf("%s: %s: %v", where, statement, err)
						}
					}
					if got, err := db.try(`SELECT (SELECT count(*) FROM main.victim), (SELECT count(*) FROM other.victim), (SELECT integrity_check FROM pragma_integrity_check)`); got != "3|3|ok" {
						t.Fatalf("%s: %s, %v", where, got, err)
					}
					db.Close()
					os.Remove(name)
				}
			}
		}
		t.Logf("%d hostile files with %s", tried, options)
	}
}

// The same in the shell, which has functions that write files.
func TestHostileFileInTheShell(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.db")
	db := open(t, good)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); CREATE TABLE victim(x); INSERT INTO victim VALUES (1)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.Close()
	template, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	pwned := filepath.Join(dir, "pwned")
	for _, column := range []string{"name", "state", "table", "column", "si", "policy", "mode", "where", "extract"} {
		for _, payload := range []string{`writefile('` + pwned + `', 'x')`, `1); SELECT writefile('` + pwned + `', 'x'); --`, `1) AND (writefile('` + pwned + `', 'x')`, "';\nSELECT writefile('" + pwned + "', 'x');\n--"} {
			name := filepath.Join(dir, "hostile.db")
			hostileFile(t, template, name, "alike_attachment", column, payload)
			shell(t, name, "PRAGMA synchronous = OFF;\n"+strings.Join(hostileScript, ";\n")+";\n")
			if _, err := os.Stat(pwned); err == nil {
				t.Fatalf("%s = %q wrote a file", column, payload)
			}
			db := open(t, name)
			db.expect("1", `SELECT count(*) FROM victim`)
			db.Close()
			os.Remove(name)
		}
	}
}

// What a condition in a file may call is what a view in a file may: with trusted_schema
// off no function of the host, and never a function that is for statements alone.
func TestHostileConditionCallsNothing(t *testing.T) {
	dir := t.TempDir()
	good, pwned := filepath.Join(dir, "good.db"), filepath.Join(dir, "pwned")
	db := open(t, good)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"where": "id < 1000", "contains": true}')`)
	db.Close()
	template, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, condition := range []string{`spy(id)`, `1) AND (spy(id)`, `spy(1) = 1 AND id < 1000`, `writefile('` + pwned + `', 'x')`, `1) AND (writefile('` + pwned + `', 'x')`} {
		for _, begun := range []bool{false, true} {
			name := filepath.Join(dir, "hostile.db")
			if err := os.WriteFile(name, template, 0o644); err != nil {
				t.Fatal(err)
			}
			view := ` AS SELECT "id", "body" FROM "d"` + "\nWHERE 1 AND (\n" + condition + "\n)"
			without := plain(t, name)
			if begun {
				columns := without.rows(`SELECT group_concat('"' || name || '"', ', ') FROM pragma_table_info('alike_attachment') WHERE name NOT IN ('state', 'where')`)
				without.exec(`INSERT INTO alike_attachment(`+columns+`, state, "where") SELECT `+columns+`, 'next', ?1 FROM alike_attachment`, condition)
				without.exec(`CREATE TABLE d_alike_next AS SELECT * FROM d_alike`)
				without.exec(`CREATE VIEW d_alike_next_source(id, document)` + view)
			} else {
				without.exec(`UPDATE alike_attachment SET "where" = ?1, looked = 0`, condition)
				without.exec(`DROP VIEW d_alike_source`)
				without.exec(`CREATE VIEW d_alike_source(id, document)` + view)
			}
			without.Close()
			db := open(t, name)
			called := 0
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Raw(func(raw any) error {
				return raw.(*sqlite3.SQLiteConn).RegisterFunc("spy", func(int64) int64 { called++; return 1 }, true)
			}); err != nil {
				t.Fatal(err)
			}
			c.Close()
			db.exec(`PRAGMA trusted_schema = OFF`)
			for _, statement := range append([]string{`SELECT * FROM alike_advise('d', 'body')`, `SELECT * FROM alike_common('d')`, `SELECT * FROM alike_keep('d')`, `SELECT * FROM alike_containments('d')`}, hostileScript...) {
				if _, err := db.try(statement); err != nil && strings.Contains(err.Error(), "unsafe use of spy") {
					seen++
				}
				if called > 0 {
					t.Fatalf("%s, begun %v: %s called a function of the host", condition, begun, statement)
				}
			}
			db.Close()
			shell(t, name, "PRAGMA synchronous = OFF;\n"+strings.Join(hostileScript, ";\n")+";\n")
			if _, err := os.Stat(pwned); err == nil {
				t.Fatalf("%s, begun %v: it wrote a file", condition, begun)
			}
			os.Remove(name)
		}
	}
	if seen == 0 {
		t.Error("no statement came to the condition")
	}
}

// A file can bring views, triggers and tables of its own under the names of ours. What
// they do to the tables of their own file is theirs, as with every trigger; nothing of
// them reaches a statement of ours, another database or a function that writes files.
func TestHostileSchema(t *testing.T) {
	dir := t.TempDir()
	good, victims, pwned := filepath.Join(dir, "good.db"), filepath.Join(dir, "victims.db"), filepath.Join(dir, "pwned")
	db := open(t, victims)
	db.exec(`CREATE TABLE victim(x); INSERT INTO victim VALUES (1), (2), (3)`)
	db.Close()
	template, objects := attachedFile(t, good)
	forms := hostileForms("writefile('" + pwned + "', 'x')")
	tried, unreadable := 0, 0
	for i, object := range objects {
		words := strings.Fields(object)
		for j, form := range forms[words[0]] {
			if !*everyHostileFile && words[0] != "view" && (i+j)%4 != 0 {
				continue
			}
			tried++
			name := filepath.Join(dir, "hostile.db")
			made := hostileObject(t, template, name, words[0], words[1], form)
			db := open(t, name)
			if _, err := db.Exec(`ATTACH ? AS other`, victims); err != nil {
				unreadable++ // to every program
				db.Close()
				continue
			}
			for _, statement := range hostileScript {
				if _, err := db.try(statement); err != nil && strings.Contains(err.Error(), "internal error") {
					t.Errorf("%s: %s: %v", made, statement, err)
				}
			}
			if got, err := db.try(`SELECT count(*) FROM other.victim`); got != "3" {
				t.Fatalf("%s: %s rows of victim, error %v, want 3", made, got, err)
			}
			db.Close()
			shell(t, name, "PRAGMA synchronous = OFF;\n"+strings.Join(hostileScript, ";\n")+";\n")
			if _, err := os.Stat(pwned); err == nil {
				t.Fatalf("%s wrote a file", made)
			}
			os.Remove(name)
		}
	}
	if tried-unreadable < 25 {
		t.Errorf("%d objects tried, of which %d made a file that no program reads, want at least 25 others", tried, unreadable)
	}
}

// attachedFile makes a database with an attachment, and returns its bytes and each object
// of ours in it: the type, the name, and the table.
func attachedFile(t *testing.T, name string) (template []byte, objects []string) {
	t.Helper()
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"where": "id < 1000", "policy": "warn", "si": ["length"]}')`)
	db.rows(`SELECT alike_mark('d', 1, 2, 'duplicate')`)
	objects = strings.Split(db.rows(`SELECT type || ' ' || name || ' ' || tbl_name FROM sqlite_master WHERE type <> 'index' AND (name LIKE 'alike%' OR name LIKE 'd\_alike%' ESCAPE '\')`), "\n")
	db.Close()
	template, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return template, objects
}

// hostileForms is what may stand where a view, a trigger and a table of ours are, with
// %s for the name.
func hostileForms(write string) map[string][]string {
	return map[string][]string{
		"view": {
			`CREATE VIEW %s(id, document) AS SELECT id, ` + write + ` FROM d`,
			`CREATE VIEW %s(id, document) AS` + "\n" + `SELECT id, "body" FROM "d"` + "\n" + `WHERE 1 AND (` + "\n" + write + "\n)",
			`CREATE VIEW %s(id, document) AS` + "\n" + `SELECT id, "body" FROM "d"` + "\n" + `WHERE 1 AND (` + "\n" + `1) AND (SELECT 1 FROM other.victim` + "\n)",
			`CREATE VIEW %s(id, document) AS` + "\n" + `SELECT id, "body" FROM "d"` + "\n" + `WHERE 1 AND (` + "\n" + `1) OR id IN (1` + "\n)",
			`CREATE VIEW %s(id, document) AS SELECT alike_detach('d', '{"drop": true}'), 'x'`,
			`CREATE VIEW %s(id, document) AS SELECT key, other FROM alike_pairs('d')`,
			`CREATE VIEW %s AS SELECT * FROM %[1]s`,
			`CREATE VIEW %s(a) AS SELECT 1`,
			`CREATE TABLE %s(id INTEGER PRIMARY KEY, document, profile)`,
		},
		"trigger": {
			`CREATE TRIGGER %s AFTER INSERT ON d BEGIN SELECT ` + write + `; END`,
			`CREATE TRIGGER %s AFTER INSERT ON d BEGIN SELECT alike_detach('d', '{"drop": true}'); END`,
			`CREATE TRIGGER %s AFTER INSERT ON d BEGIN SELECT alike__row(new.body, 'x'), alike__cell(new.body, 3), alike__reject(1, 2, 3, 4), alike__warn(1, 2, 3, 4, 5), alike__cell(x'ff01', 1); END`,
			`CREATE TRIGGER %s AFTER UPDATE ON d_alike BEGIN DELETE FROM d; END`,
			`CREATE TRIGGER %s BEFORE DELETE ON alike_attachment BEGIN SELECT RAISE(ABORT, 'no'); END`,
		},
		"table": {
			`CREATE VIEW %s AS SELECT ` + write + ` AS name`,
			`CREATE TABLE %s(a)`,
			`CREATE TABLE %s(name, state, "table", "column", profile, si, policy, at_least, mode, "where", extract, generation, stamp, matches, id, x AS (` + write + `))`,
			`CREATE VIRTUAL TABLE %s USING fts5(name)`,
			`CREATE VIRTUAL TABLE %s USING alike_pairs('d')`,
			`CREATE TABLE %s(sketched_at INTEGER PRIMARY KEY, profile, name CHECK (` + write + `))`,
		},
	}
}

// hostileObject makes a file in which an object of ours, of the kind, has the form. It
// returns the SQL of the object.
func hostileObject(t *testing.T, template []byte, name, kind, object, form string) (made string) {
	t.Helper()
	if err := os.WriteFile(name, template, 0o644); err != nil {
		t.Fatal(err)
	}
	made = strings.ReplaceAll(form, "%[1]s", object)
	made = strings.Replace(made, "%s", object, 1)
	without := plain(t, name)
	without.exec(`PRAGMA writable_schema = ON`)
	becomes := strings.ToLower(strings.Fields(made)[1])
	if becomes == "virtual" {
		becomes = "table"
	}
	without.exec(`UPDATE sqlite_master SET sql = ?, type = ?, rootpage = CASE WHEN ? = 'table' THEN rootpage ELSE 0 END WHERE name = ?`, made, becomes, becomes, object)
	if becomes == "trigger" {
		without.exec(`UPDATE sqlite_master SET tbl_name = ? WHERE name = ?`, strings.Fields(made)[6], object)
	}
	if kind == "table" { // its indexes would be orphans
		without.exec(`DELETE FROM sqlite_master WHERE type = 'index' AND tbl_name = ?`, object)
	}
	without.Close()
	return made
}

// What a plain detach keeps is dropped by a later one, and the registry with it.
func TestDropAfterDetach(t *testing.T) {
	for _, options := range []string{`{"policy": "link"}`, `{"mode": "queue", "policy": "warn"}`, `{"si": ["length"], "name": "my notes"}`} {
		for _, qualified := range []bool{false, true} {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
			db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
			db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
			name := "d"
			if strings.Contains(options, "my notes") {
				name = `"my notes"`
			}
			if qualified {
				name = "main." + name
			}
			db.rows(`SELECT alike_mark(?, 1, 2, 'distinct')`, name)
			db.expect("2", `SELECT alike_detach(?)`, name)
			kept := db.rows(`SELECT count(*) FROM sqlite_master WHERE name LIKE '%alike%'`)
			db.fails("nothing is attached to", `SELECT alike_detach(?)`, name)
			db.expect(kept, `SELECT count(*) FROM sqlite_master WHERE name LIKE '%alike%'`)
			db.expect("2", `SELECT alike_detach(?, '{"drop": true}')`, name)
			db.expect("", `SELECT name FROM sqlite_master WHERE name LIKE '%alike%'`)
			db.fails("nothing is attached to", `SELECT alike_detach(?, '{"drop": true}')`, name)
			db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
			db.expect("2|2", `SELECT "rows", sketched FROM alike_status()`)
		}
	}
}

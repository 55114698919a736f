package sqlext_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A registry that was dropped and made again serves every function, on the connection
// that dropped it and on another that knew it.
func TestRegistryThatWasDropped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "again.db")
	db, other := open(t, name), open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	questions := []string{`SELECT key FROM alike_rows('d', 1)`, `SELECT key, other FROM alike_pairs('d')`, `SELECT name FROM alike_status()`, `SELECT alike_refresh('d')`,
		`SELECT key FROM alike_rows_like('d', ?)`, `SELECT count(*) FROM alike_clusters('d')`, `SELECT count(*) FROM alike_hot('d')`, `SELECT count(*) FROM alike_errors('d')`}
	for round := range 3 {
		for _, c := range []database{db, other} {
			c.expect(map[bool]string{true: "2", false: "0"}[c == db], `SELECT alike_attach('d', 'body')`)
			c.expect("0", `SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
			for _, question := range questions {
				args := []any{}
				if strings.Contains(question, "?") {
					args = append(args, fox)
				}
				c.rows(question, args...)
			}
		}
		db.expect("2", `SELECT alike_detach('d', '{"drop": true}')`)
		for _, c := range []database{db, other} {
			for _, question := range questions {
				if strings.Contains(question, "status") {
					c.expect("", question)
				} else {
					c.fails("nothing is attached to d", question, []any{fox}[:strings.Count(question, "?")]...)
				}
			}
		}
		db.expect("d", fmt.Sprintf("SELECT group_concat(name) FROM sqlite_master -- %d", round))
	}
}

// A name without a schema means what it means to SQLite, for every function: temp's
// table before main's, and main's before that of an attached database.
func TestOneNameInTwoSchemas(t *testing.T) {
	for _, shadow := range []string{`CREATE TEMP TABLE d(id INTEGER PRIMARY KEY, body TEXT)`, `CREATE TEMP VIEW d AS SELECT 1 AS id, 'x' AS body`, `CREATE TEMP TABLE "D"(id INTEGER PRIMARY KEY, body TEXT)`} {
		t.Run(shadow, func(t *testing.T) {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
			db.rows(`SELECT alike_attach('d', 'body', '{"si": ["length"]}')`)
			db.exec(shadow)
			functions := map[string]string{
				"detach": `SELECT alike_detach('%s')`, "refresh": `SELECT alike_refresh('%s')`, "mark": `SELECT alike_mark('%s', 1, 2, 'distinct')`,
				"rows": `SELECT key FROM alike_rows('%s', 1)`, "rows_like": `SELECT key FROM alike_rows_like('%s', '` + fox + `')`, "si_rows": `SELECT key FROM alike_si_rows('%s', 'length', 1)`,
				"pairs": `SELECT key FROM alike_pairs('%s')`, "clusters": `SELECT key FROM alike_clusters('%s')`, "hot": `SELECT slot FROM alike_hot('%s')`, "errors": `SELECT key FROM alike_errors('%s')`,
			}
			for function, query := range functions {
				db.fails("alike_"+function+": nothing is attached to d in temp; main.d is attached", fmt.Sprintf(query, "d"))
				if function != "detach" {
					db.rows(fmt.Sprintf(query, "main.d"))
				}
			}
			db.expect("d|2", `SELECT name, sketched FROM alike_status()`)
			db.exec(strings.Replace(strings.Fields(shadow)[0]+" "+strings.Fields(shadow)[2], "CREATE", "DROP", 1) + ` temp.d`)
			db.expect("0", `SELECT count(*) FROM alike_pairs('d')`) // marked as distinct above
			db.expect("2", `SELECT alike_detach('d')`)
		})
	}
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "main.db"))
	db.exec(`ATTACH ? AS aux`, filepath.Join(dir, "aux.db"))
	db.exec(`CREATE TABLE aux.d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO aux.d(body) VALUES (?), (?)`, fox, fox)
	db.expect("2", `SELECT alike_attach('d', 'body', '{"mode": "queue", "policy": "link"}')`)
	db.expect("2", `SELECT key FROM alike_rows('d', 1)`)
	db.exec(`CREATE TABLE main.d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.fails("nothing is attached to d in main; aux.d is attached", `SELECT key FROM alike_rows('d', 1)`)
	// One attached table each: the work on one does not touch the other's tables.
	db.exec(`INSERT INTO main.d(body) VALUES ('a text of main alone')`)
	db.expect("1", `SELECT alike_attach('d', 'body', '{"mode": "queue", "policy": "link"}')`)
	db.exec(`INSERT INTO aux.d(body) VALUES (?)`, fox)
	db.expect("1", `SELECT alike_refresh('aux.d')`)
	db.expect("1|3|2|0", `SELECT (SELECT count(*) FROM main.d_alike), (SELECT count(*) FROM aux.d_alike), (SELECT count(*) FROM aux.d_alike_match), (SELECT count(*) FROM main.d_alike_match)`)
}

// One attachment whose tables are gone is a line of alike_status, and no more.
func TestStatusBesideABrokenAttachment(t *testing.T) {
	db := memory(t)
	for _, name := range []string{"a", "b", "c"} {
		db.exec(`CREATE TABLE ` + name + `(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO ` + name + `(body) VALUES ('x')`)
		db.rows(`SELECT alike_attach(?, 'body')`, name)
	}
	db.expect(`3`, `SELECT count(*) FROM alike_status() WHERE note IS NULL`)
	db.exec(`DROP TABLE b_alike`)
	db.expect(`a|1|
b|0|the table b_alike of the attachment b is gone; alike_detach('b') removes the attachment
c|1|`, `SELECT name, sketched, note FROM alike_status()`)
	db.exec(`DROP TABLE c`)
	db.expect(`c|the table c of the attachment c is gone; alike_detach('c') removes the attachment`, `SELECT name, note FROM alike_status() WHERE name = 'c'`)
	db.rows(`SELECT alike_detach('b'), alike_detach('c', '{"drop": true}')`)
	db.expect("a", `SELECT name FROM alike_status()`)
}

// A question that is interrupted says so, and nothing of its inside.
func TestInterruptedQuestionsSayInterrupted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "interrupted.db")
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO d(body) SELECT ? || ' ' || (i % 50) FROM n`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.Close()
	// The host's progress handler interrupts at its 3rd, 30th and 300th call.
	host := `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.enable_load_extension(True)
db.load_extension(sys.argv[2])
for question in ["SELECT count(*) FROM alike_clusters('d')", "SELECT count(*) FROM alike_pairs('d', 0.1)", "SELECT * FROM alike_pairs('d', 0.1)", "SELECT count(*) FROM d, alike_rows('d', d.id)", "SELECT alike_refresh('d')"]:
    for last in 3, 30, 300:
        calls = 0
        def handler():
            global calls
            calls += 1
            return calls >= last
        db.set_progress_handler(handler, 10)
        try:
            db.execute(question).fetchall()
            print(question, last, "not interrupted")
        except Exception as e:
            if str(e) != "interrupted":
                print(question, last, e)
        db.set_progress_handler(None, 0)
print(db.execute("SELECT count(*) > 0 FROM alike_clusters('d')").fetchone()[0], db.in_transaction)
`
	out, err := exec.Command("/usr/bin/python3", "-c", host, name, library()).CombinedOutput()
	if err != nil || string(out) != "1 False\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// An authorizer that forbids reading is named as what stands in the way, whatever it
// forbids; nothing is changed and no transaction is left open.
func TestAuthorizerThatForbids(t *testing.T) {
	host := `
import sqlite3, sys
db = sqlite3.connect(":memory:", isolation_level=None)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.executescript("CREATE TABLE d(id INTEGER PRIMARY KEY, body); INSERT INTO d(body) VALUES ('one'), ('two'); CREATE TABLE e(id INTEGER PRIMARY KEY, body)")
db.execute("SELECT alike_attach('d', 'body')").fetchall()
actions = ["SQLITE_READ", "SQLITE_SELECT", "SQLITE_PRAGMA", "SQLITE_FUNCTION", "SQLITE_INSERT", "SQLITE_CREATE_TABLE", "SQLITE_CREATE_TRIGGER", "SQLITE_CREATE_VIEW"]
for statement in "SELECT alike_attach('e', 'body')", "SELECT alike_attach('d', 'body', '{\"policy\": \"link\"}')":
    for action in actions:
        code, seen = getattr(sqlite3, action), 0
        while True:
            left = seen
            def authorizer(a, *rest):
                global left
                if a == code and rest[-1] is None and rest[0] != "alike_attach":
                    left -= 1
                    if left < 0:
                        return sqlite3.SQLITE_DENY
                return sqlite3.SQLITE_OK
            db.set_authorizer(authorizer)
            error = ""
            try:
                db.execute("SAVEPOINT host")
                db.execute(statement).fetchall()
            except sqlite3.DatabaseError as e:
                error = str(e)
            db.set_authorizer(None)
            db.execute("ROLLBACK TO host")
            db.execute("RELEASE host")
            if db.in_transaction:
                print(statement, action, seen, "leaves a transaction open")
            if not error:
                break
            if not any(word in error for word in ("forbids", "prohibited", "not authorized")):
                print(statement, action, seen, error)
            seen += 1
            if seen > 60:
                break
print("done")
`
	out, err := exec.Command("/usr/bin/python3", "-c", host, library()).CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A table that hides an attached one of the same name is not attached, whatever tables
// the attachment of the other has.
func TestDetachOfAHiddenTable(t *testing.T) {
	for _, options := range []string{`{}`, `{"mode": "queue"}`, `{"policy": "reject"}`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE)`)
		db.exec(`INSERT INTO d(body) VALUES ('one'), ('two')`)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
		db.exec(`CREATE TEMP TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		schema := db.rows(`SELECT group_concat(sql) FROM main.sqlite_master`)
		for _, o := range []string{``, `, '{"drop": true}'`} {
			db.fails("nothing is attached to d in temp; main.d is attached", `SELECT alike_detach('d'`+o+`)`)
			db.expect(schema, `SELECT group_concat(sql) FROM main.sqlite_master`)
		}
		db.expect("2", `SELECT alike_detach('main.d', '{"drop": true}')`)
		db.expect("d", `SELECT name FROM main.sqlite_master WHERE type = 'table'`)
	}
}

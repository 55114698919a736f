package sqlext_test

import (
	"strings"
	"testing"
)

// Whatever options, keys, conditions and names are, a statement is done or refused with a sentence, the
// connection is in no transaction and the tables are whole.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{`{"profile": "words w=2", "si": ["length", "43B/40"], "policy": "link"}`, `{"where": "a = 'x' -- y"}`, `{"matches": 1e2, "at_least": null, "common": "00000001"}`,
		`[1, "x"]`, `[1.5e300, null, true]`, `["\\xff", 7]`, `"d" . "d"`, `{"layout": "parts", "verify": "text", "contains": true}`, `{"name": "x\u0000"}`, `{"drop": true}`, `43C/4/5`} {
		f.Add(text)
	}
	db := memory(f)
	db.exec("CREATE TABLE d(a, b, body TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
	db.exec("INSERT INTO d VALUES (1, 'x', ?1), (2, x'ff', ?1), (1.5e300, '', 'one two')", fox)
	db.rows("SELECT alike_attach('d', 'body', '{\"name\": \"kept\"}')")
	f.Fuzz(func(t *testing.T, text string) {
		for _, statement := range []string{
			"SELECT alike_attach('d', 'body', ?1)", "SELECT alike_detach('kept', ?1)", "SELECT count(*) FROM alike_rows('kept', ?1)", "SELECT alike_mark('kept', ?1, '[1, \"x\"]', 'distinct', ?1)",
			"SELECT count(*) FROM alike_pairs(?1)", "SELECT alike_attach(?1, ?1)", "SELECT alike_si(?1, ?1)", "SELECT alike_sketch(?1, ?1)", "SELECT count(*) FROM alike_rows_like('kept', ?1, 0.1)",
			"SELECT count(*) FROM alike_explain(?1, ?1)", "SELECT alike_resemblance(CAST(?1 AS BLOB), CAST(?1 AS BLOB))", "SELECT alike_attach('d', 'body', json_object('where', ?1))",
		} {
			if _, err := db.Exec("SAVEPOINT before"); err != nil {
				t.Fatal(err)
			}
			var answer any
			if err := db.QueryRow(statement, text).Scan(&answer); err != nil && (strings.Contains(err.Error(), "internal error") || !strings.Contains(err.Error(), " ")) {
				t.Fatalf("%s with %q: %v", statement, text, err)
			}
			if _, err := db.Exec("ROLLBACK TO before; RELEASE before"); err != nil {
				t.Fatalf("%s with %q: %v", statement, text, err)
			}
			// Outside of any transaction now: a second one can begin.
			if _, err := db.Exec("BEGIN; COMMIT"); err != nil {
				t.Fatalf("%s with %q: %v", statement, text, err)
			}
		}
		var attachments int
		if err := db.QueryRow("SELECT count(*) FROM alike_status()").Scan(&attachments); err != nil || attachments != 1 {
			t.Fatalf("%q: %d attachments, %v", text, attachments, err)
		}
	})
}

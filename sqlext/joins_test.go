package sqlext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sqlext"
)

// A question that is joined to a table is computed once for the statement, and the rows of
// a key are found without a look at all others, whatever the key and the way it is joined.
func TestJoinsComputeOnce(t *testing.T) {
	for _, key := range []struct{ columns, value, key string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d", "d.id"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key ' || (999 - %d)", "d.id"},
		{"id TEXT PRIMARY KEY, body TEXT", "%d", "d.id"},
		{"id BLOB PRIMARY KEY, body TEXT", "CAST(%d AS BLOB)", "d.id"},
		{"id REAL PRIMARY KEY, body TEXT", "%d / 4.0", "d.id"},
		{"id TEXT COLLATE NOCASE PRIMARY KEY, body TEXT", "'Key ' || (999 - %d)", "d.id"},
		{"id INTEGER PRIMARY KEY, body TEXT", "%d", "CAST(d.id AS TEXT) COLLATE NOCASE"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b)", "50 - %[1]d, 'k' || (%[1]d %% 5)", "json_array(d.a, d.b)"},
	} {
		db := memory(t)
		db.exec("CREATE TABLE d(" + key.columns + ")")
		db.fill("d", key.value, 1, 10, 6)
		db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.5}')`)
		for _, question := range []struct{ name, call string }{{"alike_clusters", "alike_clusters('d')"}, {"alike_keep", "alike_keep('d', 'longest')"}, {"alike_pairs", "alike_pairs('d')"}} {
			for _, join := range []struct {
				sql   string
				calls int
			}{
				{"SELECT %[2]s, c.key, count(*) FROM d LEFT JOIN %[1]s c ON c.key = %[2]s GROUP BY 1, 2", 1},
				{"SELECT %[2]s, c.key FROM d JOIN %[1]s c ON %[2]s = c.key", 1},
				{"SELECT %[2]s, (SELECT count(*) FROM %[1]s c WHERE c.key = %[2]s) FROM d", 1},
				{"SELECT %[2]s FROM d WHERE EXISTS (SELECT 1 FROM %[1]s c WHERE c.key = %[2]s)", 1},
				{"SELECT %[2]s, count(*) FROM d LEFT JOIN %[1]s c ON c.key <> %[2]s GROUP BY 1", 2},
			} {
				got := ""
				calls := sqlext.CountCalls(question.name, func() { got = db.rows(fmt.Sprintf(join.sql, question.call, key.key)) })
				want := db.rows(fmt.Sprintf("WITH c AS"+materialized+" (SELECT * FROM "+question.call+") "+join.sql, "c", key.key))
				sort := func(s string) string { return strings.Join(slices.Sorted(slices.Values(strings.Split(s, "\n"))), "\n") }
				if sort(got) != sort(want) {
					t.Errorf("%s, %s, %s:\n%.300s\nwant\n%.300s", key.columns, question.call, join.sql, got, want)
				}
				if calls > join.calls && !strings.Contains(key.columns+key.key, "NOCASE") || calls > 2 {
					t.Errorf("%s, %s, %s: computed %d times", key.columns, question.call, join.sql, calls)
				}
			}
		}
	}
}

// The answer that a statement has kept is no answer to the next statement, or after a function
// of the same statement has written.
func TestJoinsAreOfTheirStatement(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.fill("d", "%d", 1, 1, 1)
	db.exec(`INSERT INTO d VALUES (5, 'quite another text')`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	for i := range 4 {
		db.exec(`INSERT INTO d SELECT ?, body FROM d WHERE id = 1`, 10+i)
		db.expect(fmt.Sprint(2+i), `SELECT count(*) FROM d JOIN alike_clusters('d') c ON c.key = d.id`)
	}
	db.exec(`BEGIN; DELETE FROM d WHERE id > 10`)
	db.expect("2", `SELECT count(*) FROM d JOIN alike_clusters('d') c ON c.key = d.id`)
	db.exec(`ROLLBACK`)
	db.expect("5", `SELECT count(*) FROM d JOIN alike_clusters('d') c ON c.key = d.id`)
	db.expect("", `SELECT key FROM alike_clusters('d') WHERE key = NULL`)
	db.expect("1", `SELECT key FROM alike_clusters('d') WHERE key = '1' OR key = 1`)
	db.expect("", `SELECT key FROM alike_clusters('d') WHERE key = '1'`)
	db.expect("1", `SELECT key FROM alike_clusters('d') WHERE key = 1.0`)
	// Pairs are read before and after each verdict.
	db.expect("1||10\n5||10\n10||10\n11|distinct|9\n12||9\n13||9", `SELECT d.id, CASE WHEN d.id = 11 THEN alike_mark('d', 1, 10, 'distinct') END, (SELECT count(*) FROM alike_pairs('d') p WHERE p.shared > 0 AND d.id > 0) FROM d`)
}

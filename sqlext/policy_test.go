package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A policy by containment acts on the rows that contain the row of a checkin and on those
// that it contains, under any key and in every mode and layout.
func TestPolicyByContainment(t *testing.T) {
	for _, key := range []struct{ columns, value, other string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d", "id AS row, other"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key %d'", "substr(id, 5) AS row, substr(other, 5) AS other"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (b, a)", "%[1]d, 'k'", "a AS row, other_a AS other"},
	} {
		for _, options := range []string{``, `, "layout": "parts"`, `, "mode": "queue"`, `, "verify": "text"`} {
			t.Run(key.columns+options, func(t *testing.T) {
				r := rand.New(rand.NewPCG(8, 9))
				book := func() string { return strings.Join(prose(r, 3000), " ") }
				passage := func(of string, at, n int) string { return strings.Join(strings.Fields(of)[at:at+n], " ") }
				db := memory(t)
				db.exec("CREATE TABLE d(" + key.columns + ")")
				insert := func(n int, text string) {
					t.Helper()
					db.exec("INSERT INTO d VALUES ("+fmt.Sprintf(key.value, n)+", ?)", text)
				}
				where := func(n int) string {
					columns, _, _ := strings.Cut(key.columns, ", body")
					name, _, _ := strings.Cut(columns, " ")
					value, _, _ := strings.Cut(fmt.Sprintf(key.value, n), ",")
					return " WHERE " + name + " = " + value
				}
				keyOf := func(n int) string {
					value := fmt.Sprintf(key.value, n)
					if strings.HasPrefix(key.columns, "a ") {
						return fmt.Sprintf(`'["k",%d]'`, n)
					}
					return value
				}
				first, second := book(), book()
				insert(1, first)
				db.rows(`SELECT alike_attach('d', 'body', ?)`, `{"policy": "link", "by": "containment", "contains": true`+options+`}`)
				expect := func(want string) {
					t.Helper()
					if strings.Contains(options, "queue") {
						db.rows(`SELECT alike_refresh('d')`)
					}
					db.expect(want, `SELECT * FROM (SELECT `+key.other+`, relation, policy FROM d_alike_match) ORDER BY CAST(row AS INTEGER), CAST(other AS INTEGER)`)
				}
				insert(2, strings.ToUpper(passage(first, 700, 60)))
				insert(3, passage(second, 100, 60))
				insert(4, book())
				expect("2|1|contained|link")
				db.expect("1.0|1", `SELECT resemblance, low < 1 AND high = 1 OR low = 1 FROM d_alike_match`)
				insert(5, second) // after its excerpt
				expect("2|1|contained|link\n5|3|contains|link")
				insert(6, first+" and a word") // both ways: by the greater containment
				expect("2|1|contained|link\n5|3|contains|link\n6|1|contains|link\n6|2|contains|link")

				// What people call distinct is left out; a change of the text judges again.
				db.rows(`SELECT alike_mark('d', ` + keyOf(6) + `, ` + keyOf(2) + `, 'distinct')`)
				db.exec(`UPDATE d SET body = ?`+where(6), first+" and two words")
				expect("2|1|contained|link\n5|3|contains|link\n6|1|contains|link")
				db.exec(`UPDATE d SET body = ?`+where(6), passage(second, 90, 80))
				expect("2|1|contained|link\n5|3|contains|link\n6|3|contains|link\n6|5|contained|link")

				// What is gone or has another key takes its matches along.
				db.exec(`DELETE FROM d` + where(5))
				expect("2|1|contained|link\n6|3|contains|link")
				change := "id = " + fmt.Sprintf(key.value, 7)
				if strings.HasPrefix(key.columns, "a ") {
					change = "a = 7"
				}
				db.exec(`UPDATE d SET ` + change + where(1))
				expect("2|7|contained|link\n6|3|contains|link")

				// Back to resemblance, and to containment again.
				db.rows(`SELECT alike_attach('d', 'body', '{"by": "resemblance"}')`)
				insert(8, passage(first, 900, 60))
				insert(9, first+" and three words")
				expect("2|7|contained|link\n6|3|contains|link\n9|7|resembles|link")
				db.rows(`SELECT alike_attach('d', 'body', '{"by": "containment", "at_least": 0.9}')`)
				db.exec(`DELETE FROM d` + where(9))
				insert(10, passage(first, 1500, 70))
				expect("2|7|contained|link\n6|3|contains|link\n10|7|contained|link")
			})
		}
	}
}

// The policy reject says which way, and how much is contained; at_least counts, and a passage
// that is not in a row passes.
func TestRejectByContainment(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	book := prose(r, 3000)
	db.exec(`INSERT INTO d VALUES (1, ?)`, strings.Join(book, " "))
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject", "by": "containment", "contains": true}')`)
	excerpt := strings.Join(book[700:800], " ")
	db.fails("alike: the document is contained in row 1 of d (containment 1.000, rejected from 0.800)", `INSERT INTO d VALUES (2, ?)`, excerpt)
	db.exec(`INSERT INTO d VALUES (2, ?)`, strings.Join(prose(r, 100), " "))
	db.fails("alike: the document is contained in row 1 of d (containment 1.000, rejected from 0.800)", `UPDATE d SET body = ? WHERE id = 2`, excerpt)
	db.exec(`INSERT INTO d VALUES (3, ?)`, strings.Join(append(append([]string{}, book[200:230]...), prose(r, 200)...), " "))
	db.exec(`INSERT INTO d VALUES (4, ''), (5, NULL)`)
	db.exec(`DELETE FROM d WHERE id = 1`)
	db.exec(`INSERT INTO d VALUES (6, ?)`, excerpt)
	db.fails("alike: the document contains row 6 of d (containment 1.000, rejected from 0.800)", `INSERT INTO d VALUES (1, ?)`, strings.Join(book, " "))
	db.expect("5|5", `SELECT count(*), (SELECT count(*) FROM d_alike) FROM d`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "warn", "at_least": 0.05}')`)
	db.exec(`INSERT INTO d VALUES (1, ?)`, strings.Join(book, " "))
	db.expect("1|3|contains|warn|1\n1|6|contains|warn|0", `SELECT id, other, relation, policy, resemblance < 0.3 FROM d_alike_match ORDER BY 2`)

	// A crowd of excerpts is counted and not recorded.
	db.rows(`SELECT alike_attach('d', 'body', '{"matches": 3, "at_least": null}')`)
	for n := range 8 {
		db.exec(`INSERT INTO d VALUES (?, ?)`, 20+n, strings.Join(book[100*n:100*n+100], " "))
	}
	db.exec(`INSERT INTO d VALUES (40, ?)`, strings.Join(book[:1500], " "))
	db.expect("3|7|7", `SELECT count(*), min(omitted), max(omitted) FROM d_alike_match WHERE id = 40`)

	for _, c := range []struct{ options, want string }{
		{`{"by": "containments"}`, `the option by is "containments", want resemblance or containment`},
		{`{"by": true}`, `the option by is true, want a string`},
		{`{"contains": false}`, `a policy by containment needs the values that the option contains keeps; want {"by": "containment", "contains": true}`},
	} {
		db.fails(c.want, `SELECT alike_attach('d', 'body', ?)`, c.options)
	}
}

package sqlext_test

import (
	"fmt"
	"testing"
)

// What rows have in common is told by the passage, of pages as text, where a condition
// leaves rows out, with a key of several columns.
func TestCommon(t *testing.T) {
	db := memory(t)
	db.exec("CREATE TABLE d(a TEXT, b INTEGER, body TEXT, PRIMARY KEY (a, b))")
	for i := range 40 {
		body := fmt.Sprintf("<p>row%d has words%d of%d its%d own%d</p>", i, i, i, i, i)
		if i%4 == 0 {
			body += "<p>All rights reserved by the<br>owner of this site</p>"
		}
		if i%2 == 1 {
			body += "<p>this row is not attached at all</p>"
		}
		db.exec("INSERT INTO d VALUES ('k', ?, ?)", i, body)
	}
	db.exec("INSERT INTO d VALUES ('k', 100, NULL), ('k', 102, ''), ('k', 104, 12)")
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4", "extract": "html", "where": "b % 2 = 0"}')`)
	// Of 20 rows and one number ten have the sentence, whose nine words make six shingles.
	db.expect(`all rights reserved by the owner of this site|10|0.4762|6|["k",0]`, `SELECT passage, "rows", round(share, 4), shingles, key FROM alike_common('d')`)
	db.expect("1", `SELECT count(*) FROM alike_common('d', 0.47)`)
	db.expect("0", `SELECT count(*) FROM alike_common('d', 0.48)`)
	db.expect("0", `SELECT count(*) FROM alike_common('d', 1)`)
	db.fails("the share is the integer 2, want a number from 0 to 1", `SELECT * FROM alike_common('d', 2)`)
	db.fails("want above 0 and at most 1", `SELECT * FROM alike_common('d', 0)`)
	db.fails("nothing is attached to nothing", `SELECT * FROM alike_common('nothing')`)
}

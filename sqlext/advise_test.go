package sqlext_test

import (
	"strings"
	"testing"
)

func TestAdvise(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.edit("d", "%d", 12, 10)
	// The whole table is the sample: what is told of it is what the table says when it is
	// attached.
	db.exec(`CREATE TABLE advice AS SELECT * FROM alike_advise('d', 'body')`)
	for _, preset := range []string{"prose", "short"} {
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "` + preset + `"}')`)
		db.expect(db.rows(`SELECT count(*) FROM alike_pairs('d')`), `SELECT answers FROM advice WHERE preset = '`+preset+`'`)
		db.expect(db.rows(`SELECT round(2.0 * count(*) / 120, 6) FROM (SELECT DISTINCT id, other FROM d_alike_pair WHERE id < other)`), `SELECT round(candidates, 6) FROM advice WHERE preset = '`+preset+`'`)
		db.expect(db.rows(`SELECT count(*) FROM d a, d b WHERE a.id < b.id AND alike_resemblance_exact(a.body, b.body, '`+preset+`') >= (SELECT at_least FROM advice WHERE preset = '`+preset+`')`), `SELECT pairs FROM advice WHERE preset = '`+preset+`'`)
	}
	db.expect("1", `SELECT count(*) FROM advice WHERE chosen AND reason IS NOT NULL`)
	db.expect("5", `SELECT json_array_length(curve) FROM advice WHERE preset = 'logs'`)
	db.expect("1", `SELECT recall > 0.8 AND edited > 0.5 AND bytes > 500 AND seconds > 0 FROM advice WHERE preset = 'prose'`)

	// A large table is sampled everywhere, whatever its rowids are.
	for _, key := range []string{"id INTEGER PRIMARY KEY", "id INTEGER", "id INTEGER, PRIMARY KEY (id)) WITHOUT ROWID; --"} {
		db := memory(t)
		if strings.Contains(key, "WITHOUT") {
			db.exec(`CREATE TABLE d(body TEXT, ` + key)
		} else {
			db.exec(`CREATE TABLE d(body TEXT, ` + key + `)`)
		}
		db.exec(`INSERT INTO d(id, body) WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT CASE i WHEN 1 THEN -9223372036854775807 - 1 WHEN 3000 THEN 9223372036854775807 ELSE i * 3074457345618258 END, 'title number ' || i || ' of the table' FROM n`)
		db.expect("1", `SELECT candidates > 100 FROM alike_advise('d', 'body') WHERE preset = 'short'`)
	}
	db.fails("there is no table nothing", `SELECT * FROM alike_advise('nothing', 'body')`)
	db.fails("d has no column text", `SELECT * FROM alike_advise('d', 'text')`)
	db.expect("", `SELECT * FROM alike_advise(NULL, 'body')`)
	db.exec(`CREATE TABLE empty(body)`)
	db.expect("prose", `SELECT preset FROM alike_advise('empty', 'body') WHERE chosen AND recall IS NULL`)
}

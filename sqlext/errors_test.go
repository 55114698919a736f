package sqlext_test

import (
	"strings"
	"testing"
)

// sentences are the bad events that a caller can bring about and what is said of each.
// Those that can happen in PostgreSQL have the same sentence there (examples/internal/engines).
var sentences = []struct{ event, statement, sentence string }{
	{"a table that is missing", `SELECT alike_attach('x', 'body')`, `there is no table x`},
	{"a table that is missing in a schema", `SELECT alike_attach('main.x', 'body')`, `there is no table x in main`},
	{"a name of three parts", `SELECT alike_attach('a.b.c', 'body')`, `the table "a.b.c" has 3 parts, want table or schema.table; quote a name that has dots`},
	{"a quote inside a name", `SELECT alike_attach('d"', 'body')`, `the table "d\"": a quote inside a name that is not quoted`},
	{"quotes that do not match", `SELECT alike_attach('"d', 'body')`, `the table "\"d": the quotes do not match`},
	{"an empty name", `SELECT alike_attach('', 'body')`, `the table "": a name is missing`},
	{"a table that is a number", `SELECT alike_refresh(7)`, `the table is the integer 7, want a name`},
	{"a column that is a number", `SELECT alike_attach('d', 7)`, `the column is the integer 7, want a name`},
	{"a column that is missing", `SELECT alike_attach('d', 'text')`, `d has no column text`},
	{"a view", `SELECT alike_attach('v', 'body')`, `v is a view, want a table`},
	{"a virtual table", `SELECT alike_attach('r', 'a')`, `r is a virtual table, which cannot have triggers`},
	{"a key with the name of a column of ours", `SELECT alike_attach('k', 'body')`, `the key column sketch of k has the name of a column of the side table`},
	{"an unknown option", `SELECT alike_attach('d', 'body', '{"profil": "prose"}')`, `there is no option "profil", want profile, si, policy, at_least, short, recall, matches, verify, by, superfeatures, contains, clusters, mode, name, where, extract, layout or common`},
	{"an unknown layout", `SELECT alike_attach('d', 'body', '{"layout": "rows"}')`, `the layout is "rows", want columns or parts`},
	{"an unknown preset", `SELECT alike_attach('d', 'body', '{"profile": "novel"}')`, `profile "novel": "novel" is not a setting or a preset`},
	{"a misspelt preset", `SELECT alike_attach('d', 'body', '{"profile": "porse w=3"}')`, `profile "porse w=3": "porse" is not a setting or a preset; did you mean prose?`},
	{"a misspelt setting", `SELECT alike_sketch('x', 'word w=3')`, `profile "word w=3": "word" is not a setting or a preset; did you mean words?`},
	{"a misspelt similarity index", `SELECT alike_si('x', 'lenght')`, `similarity index "lenght": want a method, a variation and k as in 43B/40, or length, or forest/0`},
	{"a condition of blanks", `SELECT alike_attach('d', 'body', '{"where": " \n"}')`, `where: the condition is empty`},
	{"a condition of a comment", `SELECT alike_attach('d', 'body', '{"where": "-- all"}')`, `where: the condition is empty`},
	{"a database that is not there", `SELECT alike_attach('other.d', 'body')`, `there is no database other`},
	{"a question to a database that is not there", `SELECT * FROM alike_pairs('other.d')`, `there is no database other`},
	{"an option of another type", `SELECT alike_attach('d', 'body', '{"profile": 7}')`, `the option profile is 7, want a string`},
	{"an option that wants an array", `SELECT alike_attach('d', 'body', '{"si": "length"}')`, `the option si is "length", want an array of strings`},
	{"an option that wants true or false", `SELECT alike_detach('e', '{"drop": 1}')`, `the option drop is 1, want true or false`},
	{"options that are an array", `SELECT alike_attach('d', 'body', '[]')`, `the options are [], want a JSON object`},
	{"options that are a number", `SELECT alike_attach('d', 'body', 12)`, `the options are the integer 12, want JSON`},
	{"text after the options", `SELECT alike_attach('d', 'body', '{} x')`, `the options are not valid JSON: invalid character 'x' after top-level value`},
	{"an unknown similarity index", `SELECT alike_attach('d', 'body', '{"si": ["99Z"]}')`, `similarity index "99Z": method 99, want 1 to 14, 21 to 34 or 41 to 54`},
	{"a similarity index given twice", `SELECT alike_attach('d', 'body', '{"si": ["length", "length"]}')`, `the similarity index length is given twice`},
	{"an unknown policy", `SELECT alike_attach('d', 'body', '{"policy": "refuse"}')`, `the policy is "refuse", want ignore, link, warn or reject`},
	{"an unknown mode", `SELECT alike_attach('d', 'body', '{"mode": "later"}')`, `the mode is "later", want compute or queue`},
	{"an unknown way to extract", `SELECT alike_attach('d', 'body', '{"extract": "pdf"}')`, `the extract is "pdf", want plain or html`},
	{"reject in the mode queue", `SELECT alike_attach('d', 'body', '{"mode": "queue", "policy": "reject"}')`, `the policy reject judges a row as it is written and needs the mode compute`},
	{"at_least above 1", `SELECT alike_attach('d', 'body', '{"at_least": 2}')`, `at_least is 2, want above 0 and at most 1`},
	{"at_least that is text", `SELECT alike_attach('d', 'body', '{"at_least": "0.5"}')`, `the option at_least is "0.5", want a number above 0 and at most 1, or null`},
	{"a name that is empty", `SELECT alike_attach('d', 'body', '{"name": ""}')`, `the name is "", want 1 to 200 characters without a zero byte`},
	{"a condition on a missing column", `SELECT alike_attach('d', 'body', '{"where": "missing > 1"}')`, `where: no such column: missing`},
	{"nothing attached", `SELECT alike_detach('d')`, `nothing is attached to d; alike_attach(table, column) attaches a table`},
	{"nothing attached in a schema", `SELECT * FROM alike_pairs('main.d')`, `nothing is attached to d in main; alike_attach(table, column) attaches a table`},
	{"a table of an attachment", `SELECT alike_attach('e_alike', 'sketch')`, `e_alike is a table of an attachment`},
	{"a name that belongs to another attachment", `SELECT alike_attach('d', 'body', '{"name": "e"}')`, `the name e belongs to an attachment of e`},
	{"another column under the same name", `SELECT alike_attach('e', 'title')`, `e is attached to the column body; give the other column a name of its own`},
	{"a row that is missing", `SELECT * FROM alike_rows('e', 9)`, `e has no row 9`},
	{"a composite key that is a number", `SELECT * FROM alike_rows('c', 9)`, `the key is the integer 9, want a JSON array of 2 values`},
	{"a composite key with an object", `SELECT * FROM alike_rows('c', '[1, {}]')`, `the key is "[1, {}]", want a JSON array of numbers and strings`},
	{"at_least as an argument", `SELECT * FROM alike_rows('e', 1, 1.5)`, `at_least is the number 1.5, want a number from 0 to 1`},
	{"at_least of 0 as an argument", `SELECT * FROM alike_rows('e', 1, 0)`, `at_least is 0, want above 0`},
	{"a verdict on a missing row", `SELECT alike_mark('e', 1, 9, 'distinct')`, `e has no row 9`},
	{"a verdict on one row", `SELECT alike_mark('e', 1, 1, 'distinct')`, `both keys name the same row`},
	{"an unknown verdict", `SELECT alike_mark('e', 1, 2, 'perhaps')`, `the verdict is "perhaps", want duplicate, distinct or none`},
	{"an index that is not kept", `SELECT * FROM alike_si_rows('e', 'length', 1)`, `e has no similarity index length; it has none`},
	{"a negative fraction", `SELECT alike_si_low(5, -1)`, `the fraction is the integer -1, want a number of at least 0`},
	{"a sketch that is text", `SELECT alike_resemblance('x', 'y')`, `the first argument is "x", want a sketch`},
	{"a document that is too long to look at", `SELECT * FROM alike_tokens(zeroblob(20000000))`, `a document of 20000000 bytes, want at most 16777216`},
	{"two profiles in one set", `SELECT alike_sketch_set(x, 1, p) FROM (SELECT 1 AS x, 'prose' AS p UNION ALL SELECT 2, 'web')`, `one set has two profiles, "prose" and "web"`},
	{"a row that is missing from a table with a name like ours", `SELECT * FROM alike_rows('alike notes', 9)`, `alike notes has no row 9`},
	{"rows where a value is wanted", `SELECT alike_rows('e', 1)`, `the function returns rows; call it in FROM, as in SELECT * FROM alike_rows(...)`},
	{"a question on containment without values", `SELECT * FROM alike_containments('e')`, `e keeps no values for questions on containment; alike_attach('e', 'body', '{"contains": true}') adds them`},
	{"arguments that are missing", `SELECT * FROM alike_rows('e')`, `too few arguments: 1, want at least 2`},
}

func TestSentences(t *testing.T) {
	db := memory(t)
	for _, statement := range []string{
		`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`,
		`CREATE TABLE e(id INTEGER PRIMARY KEY, body TEXT, title TEXT)`,
		`CREATE TABLE k(sketch INTEGER PRIMARY KEY, body TEXT)`,
		`CREATE TABLE c(a, b, body TEXT, PRIMARY KEY (a, b))`,
		`CREATE TABLE "alike notes"(id INTEGER PRIMARY KEY, body TEXT)`,
		`CREATE VIEW v AS SELECT * FROM d`,
		`CREATE VIRTUAL TABLE r USING rtree(id, a, b)`,
		`INSERT INTO e(body) VALUES ('one text'), ('another')`,
		`SELECT alike_attach('e', 'body'), alike_attach('c', 'body'), alike_attach('alike notes', 'body')`,
	} {
		db.rows(statement)
	}
	schema := db.rows(`SELECT group_concat(name || sql) FROM sqlite_master`)
	for _, c := range sentences {
		t.Run(c.event, func(t *testing.T) {
			_, err := db.try(c.statement)
			if err == nil {
				t.Fatalf("%s gives no error, want %q", c.statement, c.sentence)
			}
			function, got, _ := strings.Cut(err.Error(), ": ")
			if !strings.HasPrefix(function, "alike_") || strings.HasPrefix(function, "alike__") || got != c.sentence {
				t.Errorf("%s\ngot:  %s\nwant: alike_…: %s", c.statement, err, c.sentence)
			}
		})
	}
	db.expect(schema, `SELECT group_concat(name || sql) FROM sqlite_master`)
}

// An error has the name of one function, or of none where a trigger speaks.
func TestErrorsHaveOneName(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, ?)`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "reject"}')`)
	if _, err := db.Exec(`INSERT INTO d VALUES (2, ?)`, fox); err == nil || !strings.HasPrefix(err.Error(), "alike: the document resembles row 1 of d") {
		t.Errorf("rejected with %v", err)
	}
}

// A view of the user's cannot ask.
func TestQuestionsAreDirect(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.exec(`CREATE VIEW w AS SELECT * FROM alike_pairs('d')`)
	db.fails("unsafe use", `SELECT * FROM w`)
}

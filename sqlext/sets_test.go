package sqlext_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Sets in columns have the sketches that the reference of FORMAT.md makes of them, as
// pgworker's test of the same name has it in PostgreSQL.
func TestSetsInColumns(t *testing.T) {
	data, err := os.ReadFile("../sketch/testdata/golden/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Profile, Text, Sketch string
		Base64                      []byte
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Profile, "elements") {
			continue
		}
		if tested++; v.Text == "" {
			v.Text = string(v.Base64)
		}
		for _, mode := range []string{"compute", "queue"} {
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, tags TEXT)`)
			db.exec(`INSERT INTO d VALUES (1, ?)`, v.Text)
			db.expect("1", `SELECT alike_attach('d', 'tags', ?)`, `{"mode": "`+mode+`", "profile": "`+v.Profile+` bits=64"}`)
			db.exec(`INSERT INTO d VALUES (2, ?)`, []byte(v.Text))
			db.exec(`INSERT INTO d VALUES (3, '[]')`)
			db.exec(`UPDATE d SET tags = ? WHERE id = 3`, v.Text)
			db.rows(`SELECT alike_refresh('d')`)
			sketch := "1|" + strings.ToUpper(v.Sketch)
			db.expect(sketch+"\n"+strings.Replace(sketch, "1", "2", 1)+"\n"+strings.Replace(sketch, "1", "3", 1), `SELECT id, coalesce(hex(sketch), '') FROM d_alike ORDER BY id`)
		}
	}
	if tested < 8 {
		t.Errorf("%d sets, want at least 8", tested)
	}
}

// Near sets find each other, in the statement that writes them; what is no set is refused
// by a sentence in the mode compute, and waits among the errors otherwise.
func TestQuestionsAboutSets(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE photos(id INTEGER PRIMARY KEY, tags TEXT)`)
	db.exec(`WITH g(g) AS (SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]'))
		INSERT INTO photos SELECT g.g, (WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 30) SELECT json_group_array('tag ' || (g.g / 10 * 100 + i)) FROM i WHERE i <> g.g % 10 + 1) FROM g`)
	db.rows(`SELECT alike_attach('photos', 'tags', '{"profile": "elements", "policy": "link", "si": ["length", "forest/0"]}')`)
	db.expect("9", `SELECT count(*) FROM alike_rows('photos', 13)`)
	db.exec(`INSERT INTO photos SELECT 41, json_group_array(value) FROM (SELECT value FROM photos, json_each(tags) WHERE photos.id = 13 ORDER BY 1 DESC)`)
	db.expect("1.0", `SELECT resemblance FROM alike_rows('photos', 41) WHERE key = 13`)
	db.expect("10", `SELECT count(*) FROM photos_alike_match WHERE id = 41`)
	db.expect("10", `SELECT count(*) FROM alike_rows_like('photos', (SELECT tags FROM photos WHERE id = 13)) WHERE key <> 13`)
	db.expect("0.5|a\nb", `SELECT alike_resemblance_exact('["a","b"]', '{"a": 1}', 'elements'), (SELECT group_concat(token, char(10)) FROM alike_tokens('["a", "b"]', 'elements'))`)

	db.exec(`CREATE TABLE scores(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO scores VALUES (1, '{"a": 1.5, "b": 2}'), (2, 'no set'), (3, '{"b": 2.0, "a": 15e-1}'), (4, '[["nested"]]'), (5, NULL), (6, '[]')`)
	db.rows(`SELECT alike_attach('scores', 'body', '{"profile": "elements weighted"}')`)
	if got := db.rows(`SELECT key, message FROM alike_errors('scores') ORDER BY 1`); !strings.Contains(got, "2|alike__row: a set is an array or an object of JSON") || !strings.Contains(got, "4|alike__row: element 1 of the set is an array") {
		t.Errorf("errors %q", got)
	}
	db.expect("3|1.0", `SELECT key, resemblance FROM alike_rows('scores', 1)`)
	db.fails("a set is an array or an object of JSON", `INSERT INTO scores VALUES (7, 'no set')`)
	db.fails("a set is an array or an object of JSON", `UPDATE scores SET body = '' WHERE id = 1`)
	db.expect("6|1", `SELECT count(*), sum(id = 1 AND body LIKE '{%') FROM scores`)
	db.rows(`SELECT alike_attach('scores', 'body', '{"mode": "queue"}')`)
	db.exec(`INSERT INTO scores VALUES (7, 'no set'), (8, '["b"]')`)
	db.rows(`SELECT alike_refresh('scores')`)
	db.expect("3\n2", `SELECT count(*) FROM alike_errors('scores') UNION ALL SELECT shingles + 1 FROM scores_alike WHERE id = 8`)
	db.fails("a set is an array or an object of JSON", `SELECT * FROM alike_rows_like('scores', 'no set')`)
	db.fails("a set is an array or an object of JSON", `SELECT * FROM alike_explain('[]', 'no set', 'elements')`)

	db.exec(`CREATE TABLE v(id INTEGER PRIMARY KEY, a TEXT)`)
	for options, want := range map[string]string{
		`{"profile": "elements", "si": ["43B/40"]}`:             "43B/40: the stream elements has no text",
		`{"profile": "elements", "contains": true}`:             "the stream elements has no passages",
		`{"profile": "elements", "extract": "html"}`:            "the stream elements has no text; want plain",
		`{"profile": "elements weighted", "verify": "text"}`:    "want sketch",
		`{"profile": "elements", "where": "json_valid(a) = 2"}`: "",
	} {
		if want == "" {
			db.rows(`SELECT alike_attach('v', 'a', ?)`, options)
			continue
		}
		db.fails(want, `SELECT alike_attach('v', 'a', ?)`, options)
	}
}

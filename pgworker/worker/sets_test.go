package worker

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// Sets in columns have the sketches that the reference of FORMAT.md makes of them, as
// sqlext's test of the same name has it in SQLite.
func TestSetsInColumns(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../sketch/testdata/golden/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Name, Profile, Text, Sketch string }
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	tested := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Profile, "elements") || v.Text == "" {
			continue
		}
		tested++
		table := fmt.Sprintf("sets%d", tested)
		exec(t, c, "create table "+table+" (id int primary key, body jsonb)")
		exec(t, c, "insert into "+table+" values (1, $1)", v.Text)
		exec(t, c, "select alike.attach($1, 'body', $2)", table, `{"profile": "`+v.Profile+` bits=64"}`)
		once(t, newWorker(t, database, nil))
		want, err := hex.DecodeString(v.Sketch)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			want = nil
		}
		if got := one[[]byte](t, c, "select sketch from "+table+"_alike"); !bytes.Equal(got, want) {
			t.Errorf("%s: the sketch of %s is %x, want %x", v.Name, v.Text, got, want)
		}
	}
	if tested < 4 {
		t.Errorf("%d sets, want at least 4", tested)
	}
}

// Near sets find each other; what is no set waits among the errors and stops nothing.
func TestQuestionsAboutSets(t *testing.T) {
	c, w := sketched(t,
		"create table photos (id int primary key, tags text[])",
		"insert into photos select g, array(select 'tag ' || (g / 10 * 100 + i) from generate_series(1, 30) as i where i <> g % 10 + 1) from generate_series(1, 40) as g",
		"select alike.attach('photos', 'tags', '{\"policy\": \"link\", \"si\": [\"length\", \"forest/0\"]}')")
	if got := one[int](t, c, "select count(*) from alike.rows('photos', '13')"); got != 9 {
		t.Errorf("%d sets are like one, want 9", got)
	}
	exec(t, c, "insert into photos select 41, array_agg(t) from (select unnest(tags) as t from photos where id = 13 order by 1 desc) s")
	once(t, w)
	if got := one[float64](t, c, "select resemblance from alike.rows('photos', '41') where key = '13'"); got != 1 {
		t.Errorf("the same set in another order resembles it %v, want 1", got)
	}
	if got := one[int](t, c, "select count(*) from photos_alike_match where id = 41"); got != 10 {
		t.Errorf("%d matches of a set, want 10", got)
	}
	exec(t, c, "create table scores (id int primary key, body text)")
	exec(t, c, `insert into scores values (1, '{"a": 1.5, "b": 2}'), (2, 'no set'), (3, '{"b": 2.0, "a": 15e-1}'), (4, '[["nested"]]'), (5, null), (6, '[]')`)
	exec(t, c, `select alike.attach('scores', 'body', '{"profile": "elements weighted"}')`)
	once(t, w)
	if got, want := one[string](t, c, `select string_agg(key || ' ' || message, '; ' order by key) from alike.errors('scores')`), "2 sketch: a set is an array or an object of JSON"; !strings.HasPrefix(got, want) || !strings.Contains(got, "4 sketch: element 1 of the set is an array") {
		t.Errorf("errors %q, want %q first and the nested array", got, want)
	}
	if got := one[string](t, c, "select string_agg(key || ' ' || resemblance, ' ') from alike.rows('scores', '1')"); got != "3 1" {
		t.Errorf("the answer is %s, want 3 1", got)
	}
	for _, v := range []struct{ create, column, options, want string }{
		{"id int primary key, a text[]", "a", `{"profile": "prose"}`, `v.a is an array, which the stream elements reads, not the profile "prose"`},
		{"id int primary key, a date[]", "a", `{}`, "want text, varchar"},
		{"id int primary key, a int[]", "a", `{"si": ["43B/40"]}`, "43B/40: the stream elements has no text"},
		{"id int primary key, a int[]", "a", `{"contains": true}`, "the stream elements has no passages"},
		{"id int primary key, a bytea", "a", `{"profile": "elements", "extract": "pdf"}`, "the stream elements has no text; want plain"},
		{"id int primary key, a jsonb", "a", `{"profile": "elements weighted", "verify": "text"}`, "want sketch"},
	} {
		exec(t, c, "create table v ("+v.create+")")
		if _, err := c.Exec(ctx, "select alike.attach('v', $1, $2)", v.column, v.options); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s, %s: error %v, want %q in it", v.create, v.options, err, v.want)
		}
		exec(t, c, "drop table v")
	}
}

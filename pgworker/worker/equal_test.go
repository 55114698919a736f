package worker

import (
	"fmt"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// Documents and keys that PostgreSQL takes for equal though their bytes differ are told
// apart: by the trigger of a statement, by that of a row, and by refresh where no trigger
// fired.
func TestEqualButNotTheSame(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct{ column, before, after string }{
		{"jsonb", `{"a": 1.0, "b": "one two three four"}`, `{"a": 1.000, "b": "one two three four"}`},
		{"text collate ignoring", "one two three four", "one two thrée FOUR"},
		{"citext", "one two three four", "one two THREE ſour"},
		{"char(30)", "one two three four", "one two three  four"},
	} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, `create extension citext; create collation ignoring (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`)
		w := newWorker(t, database, nil)
		for _, way := range []struct{ name, partition, before string }{
			{"statement", "", ""},
			{"row", " partition by range (id); create table parted partition of row default", ""},
			{"refresh", "", "alter table refresh disable trigger user"},
		} {
			exec(t, c, fmt.Sprintf("create table %s (id int primary key, body %s)%s", way.name, kind.column, way.partition))
			exec(t, c, fmt.Sprintf("insert into %s values (1, $1)", way.name), kind.before)
			exec(t, c, "select alike.attach($1, 'body')", way.name)
			once(t, w)
			exec(t, c, way.before)
			exec(t, c, fmt.Sprintf("update %s set body = $1", way.name), kind.after)
			if way.before != "" {
				exec(t, c, "select alike.refresh($1)", way.name)
			}
			once(t, w)
			checkSide(t, c, way.name, way.name, "body::text", "id::text", "true")
		}
	}
}

// A key that changes into an equal key stays one row.
func TestEqualKeys(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"citext", "text collate ignoring", "numeric"} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, `create extension citext; create collation ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
		exec(t, c, "create table documents (id "+column+" primary key, body text)")
		before, after := "1e2", "100.00"
		if column != "numeric" {
			before, after = "a", "A"
		}
		exec(t, c, "insert into documents values ($1, 'one two three four five'), ('7', 'one two three four five six')", before)
		exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words w=4"}')`)
		w := newWorker(t, database, nil)
		once(t, w)
		exec(t, c, "update documents set id = $1, body = body || ' six' where id <> '7'", after)
		once(t, w)
		if got := list(t, c, "select body || ' ' || (select count(*) from documents_alike s where s.id = d.id and s.shingles = 3) from documents d where id <> '7'"); got != "one two three four five six 1" {
			t.Errorf("%s: %s", column, got)
		}
		if n := count(t, c, "documents_alike"); n != 2 {
			t.Errorf("%s: %d side rows, want 2", column, n)
		}
		if n := count(t, c, "alike.error"); n != 0 {
			t.Errorf("%s: %d rows failed, want 0", column, n)
		}
		if got := list(t, c, "select key from alike.rows('documents', $1)", after); got != "7" {
			t.Errorf("%s: rows like %s: %s, want 7", column, after, got)
		}
		// What goes is spelled in another way than what is kept of it.
		if n := one[int](t, c, "select alike.write_clusters('documents')"); n != 2 {
			t.Errorf("%s: %d rows in clusters, want 2", column, n)
		}
		exec(t, c, "delete from documents where id <> '7'")
		once(t, w)
		if n := count(t, c, "documents_alike_cluster"); n != 0 {
			t.Errorf("%s: %d rows are in clusters when the other is gone, want 0", column, n)
		}
	}
}

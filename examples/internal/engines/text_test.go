//go:build unix

package engines

import (
	"context"
	"testing"
)

// The functions that take text, which PostgreSQL asks a worker.
func TestSameTexts(t *testing.T) {
	e := open(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	for _, statement := range []string{
		"create extension dblink schema public",
		`do $$ begin execute format('create server alike_ask foreign data wrapper dblink_fdw options (host %L, dbname %L)',
			split_part(current_setting('unix_socket_directories'), ',', 1), current_database()); end $$`,
		"create user mapping for postgres server alike_ask options (user 'postgres')",
		"set alike.timeout = 60",
	} {
		if _, err := e.postgres.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	e.exec("create table letter (id integer primary key, body text)")
	for i, body := range []any{
		"Dear Anna, the parcel with the books arrived on Monday morning, many thanks for everything.",
		"Dear Anna, the parcel with the books arrived on Friday morning, many thanks for everything.",
		"Minutes: the harbour committee met on Tuesday at seven in the old customs house.", "", nil, "one", "統計學是應用數學的一個分支，主要通過利用概率論建立數學模型",
		"it's \\ a \"trap\"; drop table letter; -- $1 %s {a,b}",
	} {
		e.exec("insert into letter values ($1, $2)", i+1, body)
	}
	e.same("select alike.attach('letter', 'body', $1)", `{"at_least": 0.3}`)
	e.follow()
	go func() { done <- e.worker.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	for _, statement := range []string{
		"select id, alike.sketch(body), alike.sketch(body, 'chars bits=8') from letter",
		"select id, alike.si(body, '43B/4'), alike.si(body, 'length'), alike.si(body, 'forest/0') from letter",
		"select a.id, b.id, alike.resemblance_exact(a.body, b.body), alike.containment_exact(a.body, b.body, 'words w=2') from letter a, letter b",
		"select a.id, b.id, alike.resemblance(alike.sketch(a.body), alike.sketch(b.body)) from letter a, letter b where a.id < b.id",
		"select position, token from alike.tokens('It''s the n-th: 3.14 Ünïcödé', 'words')",
		"select position, shingle, fingerprint from alike.shingles('a rose is a rose is a rose', 'words w=3')",
		"select kind, passage, tokens, left_position, right_position from alike.explain('a rose is a rose', 'a rose is a flower or two', 'words w=2')",
		"select slot, feature from alike.features(alike.sketch('a rose is a rose is a rose'))",
		"select count(*) from alike.superfeatures(alike.sketch('a rose is a rose')) where feature = alike.superfeature(alike.sketch('a rose is a rose'), slot)",
		"select alike.merge(alike.sketch(body)), alike.size(alike.merge(alike.sketch(body))) from letter",
		"select alike.merge(alike.sketch(body)) = (select alike.merge(s) from (select alike.sketch(body) as s from letter) as each_one) from letter",
		"select key, shared, resemblance, low, high from alike.rows_like('letter', 'Dear Anna, the parcel with the books arrived on Sunday morning, many thanks for everything.')",
		"select key from alike.rows_like('letter', 'Dear Anna, the parcel with the books arrived on Sunday morning, many thanks for everything.', 0.99)",
		"select alike.sketch(null), alike.sketch('x', null), alike.si(null, 'length'), alike.resemblance_exact('x', null)",
		"select * from alike.tokens(null)", "select * from alike.rows_like('letter', null)", "select * from alike.rows_like('letter', '')",
	} {
		e.same(statement)
	}
	for _, statement := range []string{
		"select alike.sketch('x', 'nonsense')", "select alike.si('x', '60B/4')", "select alike.si('x', 'forest/99')", "select * from alike.tokens('x', 'w=0')",
	} {
		e.failsAlike(statement)
	}
}

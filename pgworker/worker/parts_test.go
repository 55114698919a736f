package worker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch/advise"
)

// twoLayouts is a database with two tables of the same rows: c in the layout columns, and p in
// the layout parts, which are small.
type twoLayouts struct {
	t    *testing.T
	c    *pgx.Conn
	w    *Worker
	docs []string
}

func newTwoLayouts(t *testing.T, database string, rows int) *twoLayouts {
	l := &twoLayouts{t: t, c: pgtest.Connect(t, database), docs: collection(1000)}
	exec(t, l.c, "create or replace function alike._part_rows() returns integer language sql immutable as 'select 30'")
	for _, table := range []string{"c", "p"} {
		exec(t, l.c, fmt.Sprintf("create table %s (id int, part text, body text, primary key (id, part))", table))
	}
	for i := range rows {
		l.write("insert into %s values ($1, 'it''s %', $2)", i, l.docs[i])
	}
	for table, layout := range map[string]string{"c": "columns", "p": "parts"} {
		exec(t, l.c, "select alike.attach($1, 'body', $2)", table, `{"layout": "`+layout+`", "profile": "words w=1 k=5 s=2 r=1", "policy": "link", "at_least": 0.4}`)
	}
	l.w = newWorker(t, database, nil)
	once(t, l.w)
	return l
}

func (l *twoLayouts) write(sql string, args ...any) {
	l.t.Helper()
	for _, table := range []string{"c", "p"} {
		exec(l.t, l.c, strings.Replace(sql, "%s", table, 1), args...)
	}
}

var layoutQuestions = []string{
	"select key, shared, resemblance, low, high from %s_alike s cross join lateral alike.rows('%s', jsonb_build_array(id, part)::text) r where id % 7 = 0 order by id, key",
	"select * from alike.pairs('%s') order by key, other",
	"select * from alike.clusters('%s') order by key",
	"select * from alike.hot('%s')",
	"select * from %s_alike_pair order by 1, 2, 3, 4, 5",
	"select * from %s_alike_pair where id = 14 order by 1, 2, 3, 4, 5",
	"select * from %s_alike_feature order by 1, 2, 3",
	"select id, part, other_id, other_part, shared, resemblance, policy from %s_alike_match order by 1, 2, 3, 4",
}

// same fails for a question that the layouts answer otherwise.
func (l *twoLayouts) same(when string) {
	l.t.Helper()
	for _, question := range layoutQuestions {
		var answers [2]string
		for i, table := range []string{"c", "p"} {
			answers[i] = l.answer(l.c, strings.ReplaceAll(question, "%s", table))
		}
		if answers[0] != answers[1] {
			l.t.Errorf("%s, %s gives in columns\n%s\nand in parts\n%s", when, question, answers[0], answers[1])
		}
	}
}

func (l *twoLayouts) answer(c *pgx.Conn, question string) string {
	l.t.Helper()
	rows, err := c.Query(ctx, "select coalesce(string_agg(q::text, E'\n'), '') from ("+question+") q")
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	if err != nil {
		l.t.Fatalf("%s: %v", question, err)
	}
	return text
}

// Both layouts give the same answers whatever was written before.
func TestLayoutsAgree(t *testing.T) {
	t.Parallel()
	l := newTwoLayouts(t, pgtest.Database(t), 100)
	l.same("after the fill")
	r := rand.New(rand.NewPCG(1, 2))
	next := 100
	for round := range 8 {
		for range 40 {
			switch r.IntN(6) {
			case 0, 1, 2:
				l.write("insert into %s values ($1, 'it''s %', $2)", next, l.docs[next])
				next++
			case 3:
				l.write("update %s set body = $2 where id = $1", r.IntN(next), l.docs[r.IntN(len(l.docs))])
			case 4: // a row that changes and changes back has several entries
				id := r.IntN(next)
				l.write("update %s set body = reverse(body) where id = $1", id)
				if r.IntN(2) == 0 {
					once(t, l.w)
				}
				l.write("update %s set body = reverse(body) where id = $1", id)
			case 5:
				if id := r.IntN(next); r.IntN(2) == 0 {
					l.write("delete from %s where id = $1", id)
				} else {
					l.write("update %s set part = part || '!' where id = $1", id)
				}
			}
		}
		once(t, l.w)
		l.same(fmt.Sprintf("after round %d", round))
	}
	if text := one[string](t, l.c, "select merging from alike.status() where name = 'p'"); strings.Contains(text, ":") {
		t.Errorf("the worker has left off: %s", text)
	}
	if n := one[int](t, l.c, "select count(*) from p_alike s where s.sketch is not null and not exists (select from p_alike_part p where p.id = s.id and p.part = s.part and p.f1 = s.f1)"); n != 0 {
		t.Errorf("%d rows have no entry", n)
	}
	// Thrice as many entries as rows would be those of rows that are out of date.
	if n, rows := one[int](t, l.c, "select count(*) from p_alike_part"), one[int](t, l.c, "select count(*) from p_alike"); n > 2*rows+200 {
		t.Errorf("%d entries for %d rows", n, rows)
	}

	l.write("truncate %s")
	once(t, l.w)
	l.same("after truncate")
	l.write("insert into %s values (14, '', $1), (21, '', $1)", l.docs[0])
	once(t, l.w)
	l.same("after a new row")

	exec(t, l.c, `select alike.change('c', '{"layout": "parts"}'), alike.change('p', '{"layout": "columns"}')`)
	once(t, l.w)
	l.same("after a change of both layouts")
	if got := one[string](t, l.c, "select string_agg(layout || coalesce(' ' || merging, ''), ', ' order by name) from alike.status()"); got != "parts 0 parts, columns" {
		t.Errorf("status gives %q after a change of both layouts", got)
	}
	exec(t, l.c, "select alike.detach('p'), alike.detach('c')")
	const left = "select coalesce(string_agg(relname, ' ' order by relname), '') from pg_class where relname ~ '_part' and relnamespace = 'public'::regnamespace"
	if got := one[string](t, l.c, left); got != "" {
		t.Errorf("detach has left %s", got)
	}
	for _, question := range layoutQuestions[4:7] {
		if c, p := l.answer(l.c, strings.ReplaceAll(question, "%s", "c")), l.answer(l.c, strings.ReplaceAll(question, "%s", "p")); c != p || c == "" {
			t.Errorf("after detach %s gives\n%s\nand\n%s", question, c, p)
		}
	}
	exec(t, l.c, `select alike.attach('p', 'body', '{"layout": "parts", "profile": "words w=1 k=5 s=2 r=1", "policy": "link", "at_least": 0.4}'), alike.attach('c', 'body', '{"profile": "words w=1 k=5 s=2 r=1", "policy": "link", "at_least": 0.4}')`)
	once(t, l.w)
	l.same("after detach and attach")
}

// The status and the advice propose the layout from the same number of rows on.
func TestPartsAreProposed(t *testing.T) {
	t.Parallel()
	l := newTwoLayouts(t, pgtest.Database(t), 20)
	const proposes = `select coalesce(alike._note(a, $1, $1, 0), '') like '%"layout": "parts"%' from alike.attachment a where name = $2`
	for _, rows := range []int64{20, advise.PartsFrom - 1, advise.PartsFrom} {
		if got, want := one[bool](t, l.c, proposes, rows, "c"), advise.Layout(rows) == "parts"; got != want {
			t.Errorf("the status of %d rows in columns proposes parts: %v, want %v", rows, got, want)
		}
		if one[bool](t, l.c, proposes, rows, "p") {
			t.Errorf("the status of %d rows in parts proposes parts", rows)
		}
	}
}

// The worker vacuums the table of the newest entries, so that it does not grow with the number
// of entries that went through it.
func TestNewestEntriesStayFew(t *testing.T) {
	t.Parallel()
	l := newTwoLayouts(t, pgtest.Database(t), 20)
	exec(t, l.c, "alter table p_alike_part set (autovacuum_enabled = off)")
	for i := range 100 {
		l.write("insert into %s values ($1, '', $2)", 20+i, l.docs[20+i])
	}
	waitFor(t, "a vacuum of the newest entries", func() bool {
		once(t, l.w)
		exec(t, l.c, "select pg_stat_clear_snapshot()")
		return one[bool](t, l.c, "select vacuum_count > 0 and n_dead_tup < 30 from pg_stat_user_tables where relname = 'p_alike_part'")
	})
	l.same("after the vacuum")
}

// A step of a merge that is killed changes nothing, a transaction that began before the
// merge sees what it saw, and nothing is left when all are done.
func TestMergeIsInterrupted(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	l := newTwoLayouts(t, database, 200)
	other := pgtest.Connect(t, database)
	questions := []string{layoutQuestions[0], layoutQuestions[1], layoutQuestions[4]}
	ask := func(c *pgx.Conn) (answers string) {
		for _, question := range questions {
			answers += l.answer(c, strings.ReplaceAll(question, "%s", "p"))
		}
		return answers
	}
	steps := 0
	for round := range 4 {
		for i := range 35 {
			l.write("insert into %s values ($1, '', $2)", 200+35*round+i, l.docs[200+35*round+i])
		}
		for {
			did, err := l.w.queueBatch(ctx)
			if err != nil {
				t.Fatal(err)
			} else if !did {
				break
			}
		}
		want := ask(l.c)
		exec(t, other, "begin isolation level repeatable read")
		one[int](t, other, "select 1 from alike.attachment limit 1") // the snapshot, and no lock on what is merged
		step := func() bool {
			tx, err := l.c.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var copied *int64
			if err := tx.QueryRow(ctx, "select alike._merge()").Scan(&copied); err != nil {
				t.Fatal(err)
			}
			if steps++; tx.Rollback(ctx) != nil || ask(l.c) != want {
				t.Fatalf("round %d, step %d: the answers are others after a step that was rolled back", round, steps)
			}
			did, err := l.w.merge(ctx)
			if err != nil || did != (copied != nil) {
				t.Fatalf("merge gives %v, %v", did, err)
			}
			if ask(l.c) != want {
				t.Fatalf("round %d, step %d: the answers are others", round, steps)
			}
			return did
		}
		for step() {
		}
		if ask(other) != want {
			t.Errorf("round %d: a transaction that began before sees other rows", round)
		}
		exec(t, other, "commit")
		for step() {
		}
	}
	if steps < 30 {
		t.Errorf("%d steps, want more than 30", steps)
	}
	const unfinished = "select count(*) from alike._parts((select id from alike.attachment where name = 'p'), 'public') where state <> 'used'"
	if n := one[int](t, l.c, unfinished); n != 0 {
		t.Errorf("%d parts are unfinished", n)
	}
	// What a merge was for can be gone: it is dropped.
	id := one[int](t, l.c, "select id from alike.attachment where name = 'p'")
	exec(t, l.c, fmt.Sprintf("create table alike_part_%d_99 (like p_alike_part); comment on table alike_part_%[1]d_99 is 'state=filling sources=98'; create table alike_part_%[1]d_100 ()", id))
	once(t, l.w)
	if n := one[int](t, l.c, unfinished); n != 0 {
		t.Errorf("%d parts of nothing are left", n)
	}
	l.same("in the end")
}

// A server that crashes in any step of a merge loses nothing, and the worker goes on.
func TestCrashDuringMerge(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Version())
	database := s.Database(t)
	l := newTwoLayouts(t, database, 100)
	const question = "select * from alike.pairs('p') order by key, other"
	next := 100
	for crash := range 6 {
		for range 35 {
			l.write("insert into %s values ($1, '', $2)", next, l.docs[next])
			next++
		}
		w := newWorker(t, database, nil)
		for did := true; did; {
			var err error
			if did, err = w.queueBatch(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range crash {
			if _, err := w.merge(ctx); err != nil {
				t.Fatal(err)
			}
		}
		want := l.answer(l.c, question)
		exec(t, l.c, "begin")
		if one[*int64](t, l.c, "select alike._merge()") == nil {
			t.Errorf("crash %d happens after the merge", crash)
		}
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		l.c = pgtest.Connect(t, database)
		if got := l.answer(l.c, question); got != want {
			t.Errorf("crash %d: the pairs are\n%s\nwant\n%s", crash, got, want)
		}
		l.w = newWorker(t, database, nil)
		once(t, l.w)
		l.same(fmt.Sprintf("after crash %d", crash))
		if text := one[string](t, l.c, "select merging from alike.status() where name = 'p'"); strings.Contains(text, ":") {
			t.Errorf("the worker has left off: %s", text)
		}
	}
}

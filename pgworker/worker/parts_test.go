package worker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	if one[string](l.t, l.c, "select layout from alike.status() where name = 'p'") == "parts" {
		if n := one[int](l.t, l.c, entriesAmiss); n != 0 {
			l.t.Errorf("%s, %d rows do not have exactly one entry that counts", when, n)
		}
	}
}

// entriesAmiss counts the rows of p that do not have exactly one entry with their number, or one
// with other features.
const entriesAmiss = `select count(*) from p_alike s cross join lateral (
	select count(*) as entries, bool_and((p.f1, p.f2, p.f3, p.f4, p.f5) is not distinct from (s.f1, s.f2, s.f3, s.f4, s.f5)) as same
	from p_alike_part p where p.id = s.id and p.part = s.part and p.alike_entry = s.alike_entry) e
	where e.entries <> (s.sketch is not null)::int or e.same is false`

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
	if n := one[int](t, l.c, "select count(*) from pg_attribute where attrelid in ('c_alike'::regclass, 'p_alike'::regclass) and attname = 'alike_entry'"); n != 0 {
		t.Errorf("detach has left the numbers of entries")
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

// Every write of a row has one entry that counts: of the worker, and of others.
func TestEntriesCountOnce(t *testing.T) {
	t.Parallel()
	l := newTwoLayouts(t, pgtest.Database(t), 100)
	for _, write := range []string{
		"update p_alike set f1 = f1 + 1",
		"update p_alike s set alike_entry = e.first from (select id, part, min(alike_entry) as first from p_alike_part group by id, part) e where (e.id, e.part) = (s.id, s.part)",
		"update p_alike set f1 = f1 - 1", // as it was at first
		"update p_alike set f2 = null where id % 3 = 0",
		"update p_alike set content_hash = content_hash + 1",
		"update p_alike set f1 = null, f2 = null, f3 = null, f4 = null, f5 = null where id < 20",
		"update p_alike set sketch = null where id < 20",
		"update p_alike set sketch = (select sketch from p_alike where id = 50) where id < 20",
		"update p_alike set sketch = null where id between 5 and 19",
		"update p_alike set sketch = (select sketch from p_alike where id = 50), f3 = 7, alike_entry = 5 where id < 10",
		"update p_alike set alike_entry = 0 where id < 30",
		"update p_alike set id = id + 1000 where id < 40",
		"with gone as (delete from p_alike where id % 2 = 0 returning *) select * into again from gone",
		"insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1, f2, f3, f4, f5) select id, part, profile, content_hash, shingles, sketch, f1, f2, f3, f4, f5 from again",
		"insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1) select id, part, profile, content_hash, shingles, sketch, g from again cross join generate_series(1, 2) as g where g = 1 on conflict (id, part) do update set f1 = excluded.f1 where p_alike.id % 4 = 0 and p_alike.sketch is not null",
		"truncate p_alike restart identity",
		"insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1, f2, f3, f4, f5) select id, part, profile, content_hash, shingles, sketch, f5, f4, f3, f2, f1 from again",
	} {
		if tag, err := l.c.Exec(ctx, write); err != nil || tag.RowsAffected() == 0 && !strings.HasPrefix(write, "truncate") {
			t.Fatalf("%s writes %d rows, %v", write, tag.RowsAffected(), err)
		}
		for _, merged := range []bool{false, true} {
			if merged {
				once(t, l.w)
			}
			if n := one[int](t, l.c, entriesAmiss); n != 0 {
				t.Errorf("after %q, merged: %v, %d rows do not have exactly one entry that counts", write, merged, n)
			}
			if n := one[int](t, l.c, viewAmiss); n != 0 {
				t.Errorf("after %q, merged: %v, %d features or pairs are missing or there twice", write, merged, n)
			}
		}
	}
	if n := one[int](t, l.c, "select count(*) from alike._parts((select id from alike.attachment where name = 'p'), 'public')"); n == 0 {
		t.Errorf("there are no parts, or this tests nothing")
	}
	// The key gets another type.
	exec(t, l.c, "alter table p alter id type bigint")
	once(t, l.w)
	exec(t, l.c, "insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1) select id + 1000000000000, part, profile, content_hash, shingles, sketch, 7 from again where sketch is not null; update p_alike set f2 = 9 where id % 3 = 0 and sketch is not null")
	if n := one[int](t, l.c, entriesAmiss); n != 0 {
		t.Errorf("after another type of the key %d rows do not have exactly one entry that counts", n)
	}
	if n := one[int](t, l.c, viewAmiss); n != 0 {
		t.Errorf("after another type of the key %d features or pairs are missing or there twice", n)
	}
}

// viewAmiss counts what the views of p have otherwise than the side table.
const viewAmiss = `with features as (select s.id, s.part, v.slot, v.feature from p_alike s cross join lateral (values (1, s.f1), (2, s.f2), (3, s.f3), (4, s.f4), (5, s.f5)) as v(slot, feature) where v.feature is not null and s.sketch is not null),
	pairs as (select a.id, a.part, b.id, b.part, a.slot from features a join features b using (slot, feature) where (a.id, a.part) <> (b.id, b.part))
	select (select count(*) from ((table features except all table p_alike_feature) union all (table p_alike_feature except all table features)) d)
	+ (select count(*) from ((table pairs except all table p_alike_pair) union all (table p_alike_pair except all table pairs)) d)`

// While the worker moves and merges entries and others write, every statement finds each entry
// once, whatever its snapshot and the age of its plan.
func TestReadersDuringMerges(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	l := newTwoLayouts(t, database, 100)
	stop := make(chan struct{})
	var others sync.WaitGroup
	var statements [3]atomic.Int64
	run := func(n int, step func(c *pgx.Conn, round int) error) {
		c := pgtest.Connect(t, database)
		exec(t, c, "set jit = off")
		others.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := step(c, round); err != nil {
					t.Errorf("%d: %v", n, err)
					return
				}
				statements[n].Add(1)
			}
		})
	}
	look := func(c *pgx.Conn) error {
		var amiss int
		if err := c.QueryRow(ctx, viewAmiss).Scan(&amiss); err != nil {
			return err
		} else if amiss != 0 {
			return fmt.Errorf("%d features or pairs are missing or there twice", amiss)
		}
		return nil
	}
	run(0, func(c *pgx.Conn, _ int) error { return look(c) })
	run(1, func(c *pgx.Conn, round int) error {
		level := pgx.TxOptions{IsoLevel: []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead}[round%2]}
		return pgx.BeginTxFunc(ctx, c, level, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "select 1 from alike.settings limit 1"); err != nil { // takes the snapshot
				return err
			}
			time.Sleep(time.Duration(round%7) * 20 * time.Millisecond)
			for range 3 {
				if err := look(tx.Conn()); err != nil {
					return fmt.Errorf("%s: %w", level.IsoLevel, err)
				}
			}
			return nil
		})
	})
	run(2, func(c *pgx.Conn, round int) error {
		_, err := c.Exec(ctx, []string{
			"insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1, f2, f3, f4, f5) select 1000 + $1, 'x', profile, content_hash, shingles, sketch, $1, $1 / 2, $1 / 3, null, -$1 from p_alike where id = 50 limit 1",
			"update p_alike set f1 = f1 # 1 where id % 40 = $1::int % 40",
			"update p_alike set part = part || '!' where id % 80 = $1::int % 80",
			"delete from p_alike where id % 50 = $1::int % 50 and id <> 50",
		}[[]int{0, 0, 0, 0, 1, 1, 2, 0, 0, 3}[round%10]], round)
		time.Sleep(time.Millisecond)
		return err
	})
	steps := map[string]bool{}
	const states = "select coalesce(string_agg(distinct state, ' '), '') from alike._parts((select id from alike.attachment where name = 'p'), 'public')"
	// It ends when each state was seen and each reader was there for a while.
	for begin := time.Now(); !t.Failed() && time.Since(begin) < time.Minute && (len(steps) < 7 || statements[0].Load() < 30 || statements[1].Load() < 15 || time.Since(begin) < 4*time.Second); {
		if did, err := l.w.merge(ctx); err != nil {
			t.Error(err)
		} else if !did {
			time.Sleep(time.Millisecond)
		}
		for _, state := range strings.Fields(one[string](t, l.c, states)) {
			steps[state] = true
		}
	}
	close(stop)
	others.Wait()
	if len(steps) < 7 || statements[1].Load() < 15 || statements[2].Load() < 100 {
		t.Errorf("the parts were %v, with %d and %d transactions beside, want all seven states, 15 and 100", steps, statements[1].Load(), statements[2].Load())
	}
	once(t, l.w)
	if n := one[int](t, l.c, entriesAmiss); n != 0 {
		t.Errorf("%d rows do not have exactly one entry that counts", n)
	}
}

// A merge replaces no parts that a statement reads for long, and no reader waits for the merge.
func TestMergeLetsReadersPass(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	l := newTwoLayouts(t, database, 50)
	reader, next := pgtest.Connect(t, database), pgtest.Connect(t, database)
	const count = "select count(*) from alike._parts((select id from alike.attachment where name = 'p'), 'public') where state = '%s'"
	for i := 0; one[int](t, l.c, fmt.Sprintf(count, "waiting")+" and sources <> '{0}'") == 0; i++ {
		exec(t, l.c, "insert into p_alike (id, part, profile, content_hash, shingles, sketch, f1) select 1000 + $1, 'x', profile, content_hash, shingles, sketch, $1 from p_alike where id = 1", i)
		if _, err := l.w.merge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, reader, "begin")
	one[int](t, reader, "select count(*) from p_alike_part")
	exec(t, next, "set lock_timeout = '10ms'")
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				var n int
				if err := next.QueryRow(ctx, "select count(*) from p_alike_part").Scan(&n); err != nil {
					t.Errorf("a reader waits for a merge: %v", err)
					return
				}
			}
		}
	})
	for range 10 {
		if _, err := l.w.merge(ctx); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
	if n := one[int](t, l.c, fmt.Sprintf(count, "waiting")); n == 0 {
		t.Errorf("the merge has gone on, or this tests nothing")
	}
	exec(t, reader, "commit")
	once(t, l.w)
	if n := one[int](t, l.c, fmt.Sprintf(count, "waiting")); n != 0 {
		t.Errorf("%d merges wait for nothing", n)
	}
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
			for try := 0; copied != nil && !did && err == nil && try < 100; try++ {
				did, err = l.w.merge(ctx) // autovacuum held the lock of a part
			}
			if err != nil || copied != nil && !did {
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
	for _, crash := range []struct{ moves, steps int }{{0, 0}, {0, 1}, {0, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 7}, {2, 8}, {2, 10}} {
		w := newWorker(t, database, nil)
		for move := range crash.moves + 1 {
			for range 35 {
				l.write("insert into %s values ($1, '', $2)", next, l.docs[next])
				next++
			}
			for did := true; did; {
				var err error
				if did, err = w.queueBatch(ctx); err != nil {
					t.Fatal(err)
				}
			}
			steps := crash.steps
			if move < crash.moves {
				steps = 3
			}
			for range steps {
				if _, err := w.merge(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := l.answer(l.c, question)
		exec(t, l.c, "begin")
		if one[*int64](t, l.c, "select alike._merge()") == nil {
			t.Errorf("crash %v happens after the merge", crash)
		}
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		l.c = pgtest.Connect(t, database)
		if got := l.answer(l.c, question); got != want {
			t.Errorf("crash %v: the pairs are\n%s\nwant\n%s", crash, got, want)
		}
		l.w = newWorker(t, database, nil)
		once(t, l.w)
		l.same(fmt.Sprintf("after crash %v", crash))
		if text := one[string](t, l.c, "select merging from alike.status() where name = 'p'"); strings.Contains(text, ":") {
			t.Errorf("the worker has left off: %s", text)
		}
	}
}

// A table of somebody else that has the name of a part is not touched, and a dump without
// comments, which say how far a part is, loses no entry.
func TestForeignAndForgottenParts(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create or replace function alike._part_rows() returns integer language sql immutable as 'select 10'; create table d (id int primary key, body text)")
	exec(t, c, "insert into d select g, 'the piece with the number ' || g / 3 from generate_series(1, 30) as g")
	for _, id := range []int{1, 2} {
		for _, n := range []int{1, 2, 4} {
			exec(t, c, fmt.Sprintf("create table alike_part_%d_%d as select 7 as x", id, n))
		}
	}
	const options = `{"layout": "parts", "profile": "short"}`
	exec(t, c, "select alike.attach('d', 'body', $1)", options)
	w := newWorker(t, database, nil)
	once(t, w)
	for i := range 3 {
		exec(t, c, "insert into d select $1 + g, 'a later piece, number ' || g / 3 from generate_series(1, 30) as g", 100+100*i)
		once(t, w)
		exec(t, c, `do $$ declare p regclass; begin for p in select inhrelid::regclass from pg_inherits where inhparent = 'd_alike_part'::regclass loop execute format('comment on table %s is null', p); end loop; end $$`)
		once(t, w)
		if n := one[int](t, c, "select count(*) from d_alike s where 1 <> (select count(*) from d_alike_part p where p.id = s.id and p.alike_entry = s.alike_entry)"); n != 0 {
			t.Errorf("%d rows do not have exactly one entry that counts", n)
		}
	}
	if n := one[int](t, c, "select count(*) from pg_inherits where inhparent = 'd_alike_part'::regclass"); n == 0 {
		t.Error("there are no parts, or this tests nothing")
	}
	if failed := collect(t, c, "select message from alike.error"); len(failed) > 0 {
		t.Error(failed)
	}
	exec(t, c, `select alike.detach('d', '{"drop": true}')`)
	if got := collect(t, c, "select relname from pg_class where relname ~ '^alike_part_' order by 1"); len(got) != 6 {
		t.Errorf("%v are there, want six tables of somebody else", got)
	}
}

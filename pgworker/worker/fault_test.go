package worker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	process "os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch/extract"
)

// TestWorkerProcess is no test: it is the worker that the tests below start as
// a process of its own and kill.
func TestWorkerProcess(t *testing.T) {
	database := os.Getenv("ALIKE_TEST_WORKER")
	if database == "" {
		return
	}
	w, err := New(ctx, Config{DatabaseURL: database, AllowSuperuser: true, BatchSize: 50, ChunkRows: 100, PollInterval: 20 * time.Millisecond, Backoff: 10 * time.Millisecond,
		LockTimeout: 2 * time.Second, MaxAttempts: 3, Extract: extract.Config{Commands: commands(), Output: 64 << 20}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin) // ends with the process that started us
		os.Exit(1)
	}()
	w.Run(ctx)
}

// startWorker starts a worker as a process.
func startWorker(t testing.TB, database string) *process.Cmd {
	t.Helper()
	c := process.Command(os.Args[0], "-test.run=^TestWorkerProcess$")
	c.Env = append(os.Environ(), "ALIKE_TEST_WORKER="+database)
	// Its end is ours, however we end: Wait, called by kill, closes the pipe, and
	// the system does when this process is gone.
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(c) })
	return c
}

func kill(c *process.Cmd) {
	c.Process.Kill()
	c.Wait() // it was killed: its status says no more
}

// hang stops a worker until the server has ended its transactions, as it does after
// IdleTimeout (TestSlowDocuments looks at that): the worker goes on and finds them gone.
// Those of another worker end with them.
func hang(t testing.TB, c *pgx.Conn, w *process.Cmd) {
	t.Helper()
	w.Process.Signal(syscall.SIGSTOP)
	const sessions = "from pg_stat_activity where datname = current_database() and application_name = 'alike worker' and xact_start is not null"
	open := one[[]string](t, c, "select coalesce(array_agg(pid || ' ' || xact_start), '{}') "+sessions)
	waitFor(t, "the statements of the worker that hangs", func() bool {
		return !one[bool](t, c, "select exists (select "+sessions+" and state = 'active' and wait_event_type is distinct from 'Client' and pid || ' ' || xact_start = any ($1))", open)
	})
	exec(t, c, "select pg_terminate_backend(pid) "+sessions+" and pid || ' ' || xact_start = any ($1)", open)
	w.Process.Signal(syscall.SIGCONT)
}

// checkins writes documents until stopped, on its own connection, and goes on
// when the server is gone for a while.
func checkins(database string, seed uint64, stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(seed, 1))
	var c *pgx.Conn
	for {
		select {
		case <-stop:
			if c != nil {
				c.Close(ctx)
			}
			return
		default:
		}
		if c == nil || c.IsClosed() {
			var err error
			if c, err = pgx.Connect(ctx, database); err != nil {
				c = nil
				time.Sleep(20 * time.Millisecond)
				continue
			}
		}
		id := r.IntN(400)
		text := fmt.Sprintf("checkin %d, which says %d %d %d %d %d %d %d", r.IntN(1e9), r.IntN(100), r.IntN(100), r.IntN(100), r.IntN(100), r.IntN(100), r.IntN(100), r.IntN(100))
		if r.IntN(8) == 0 { // a near-duplicate of some others, not of all
			text = fmt.Sprintf("one of twenty notes that many people bring again, number %d of them, edit %d", r.IntN(20)*7919, r.IntN(3))
		}
		// What fails was not checked in.
		switch r.IntN(5) {
		case 0:
			c.Exec(ctx, "delete from documents where id = $1", id)
		case 1:
			c.Exec(ctx, "update documents set id = id + 1000 where id = $1", id)
		default:
			c.Exec(ctx, "insert into documents values ($1, $2) on conflict (id) do update set body = excluded.body", id, text)
		}
	}
}

// Workers and the server are killed again and again while documents are checked
// in; afterwards the side table is what a fresh computation gives, and nothing
// is pending. ALIKE_KILLS makes it long.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 12
	fmt.Sscan(os.Getenv("ALIKE_KILLS"), &kills)
	s := pgtest.New(t, pgtest.Version(), "fsync=on", "synchronous_commit=off", "deadlock_timeout=200ms")
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(2000, 5000) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	c.Close(ctx)

	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range uint64(2) {
		writers.Go(func() { checkins(database, i, stop) })
	}
	workers := []*process.Cmd{startWorker(t, database), startWorker(t, database)}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range kills {
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		switch {
		case i%6 == 5:
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
		case i%6 == 3:
			c := pgtest.Connect(t, database)
			hang(t, c, workers[0])
			c.Close(ctx)
		default:
			n := r.IntN(2)
			kill(workers[n])
			workers[n] = startWorker(t, database)
		}
	}
	close(stop)
	writers.Wait()
	for _, w := range workers {
		kill(w)
	}
	w := newWorker(t, database, nil)
	c = pgtest.Connect(t, database)
	waitFor(t, "the rest of the work", func() bool {
		once(t, w)
		if err := w.retryDue(ctx); err != nil {
			t.Fatal(err)
		}
		return one[int](t, c, "select (select count(*) from alike.queue) + (select count(*) from alike.chunk) + (select count(*) from alike.error) + (select count(*) from alike.backfill where finished_at is null)") == 0
	})
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	exec(t, c, "select * from alike.pairs('documents')")
}

// A row that was gone when the worker looked and is there when it gets to
// removing its side row, which another worker has written, stays.
func TestRowIsBack(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
	w := newWorker(t, database, nil)
	exec(t, c, "insert into documents values (1, $1), (2, $1)", story)
	once(t, w)
	tx, err := w.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attachments {
		if err := w.remove(ctx, tx, a, []string{"1", "3"}); err != nil {
			t.Fatal(err)
		}
		// The place of a row that stays is held, so that an older version of it is not written over a newer one.
		fails(t, c, "lock", "set lock_timeout = 50; update documents_alike set shingles = 0 where id = 1")
		// Nobody writes between the look and the removal of a whole sweep either.
		if err := w.sweep(ctx, tx, a); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, c, "lock", "set lock_timeout = 50; lock table documents_alike in row exclusive mode")
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := one[string](t, c, "select (select count(*) from documents_alike) || ' ' || (select count(*) from documents_alike_match) || ' ' || (select string_agg(key, ',') from alike.queue)"); got != "2 2 1" {
		t.Errorf("rows, matches and queue %q, want 2 2 1", got)
	}
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// Rows that cannot be sketched, and odd rows that can, stop nothing else.
func TestOddRows(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body bytea)")
	for _, when := range []string{"before", "after"} {
		if when == "after" {
			exec(t, c, "select alike.attach('documents', 'body', '{\"where\": \"id < 100\"}')")
		}
		base := map[string]int{"before": 0, "after": 50}[when]
		for i, doc := range [][]byte{
			[]byte(strings.Repeat("ten megabytes of words ", 10<<20/23)),
			[]byte(strings.Repeat("a", 1<<20)),
			[]byte(strings.Repeat("a ", 1<<20)),
			[]byte("zero\x00bytes\x00in\x00the\x00middle"),
			{0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 'a', ' ', 'b'},
			{}, nil, []byte("   "), []byte("ordinary words that are in the way of nobody"),
			[]byte(strings.Repeat("too large ", 2<<20)),
		} {
			exec(t, c, "insert into documents values ($1, $2)", base+i, doc)
		}
	}
	w := newWorker(t, database, func(c *Config) { c.MaxDocument = 15 << 20; c.MaxAttempts = 2 })
	once(t, w)
	waitFor(t, "the rows to be parked", func() bool {
		if err := w.retryDue(ctx); err != nil {
			t.Fatal(err)
		}
		once(t, w)
		return one[int](t, c, "select count(*) from alike.error where retry_at is null") == 2
	})
	if got, want := one[string](t, c, "select message from alike.errors('documents') limit 1"), "the document has 20971520 bytes, the limit is 15728640"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "length(body) is distinct from 20971520")
	// What is not a key does no harm either.
	exec(t, c, "insert into alike.queue (attachment, key) select id, 'not a number' from alike.attachment")
	exec(t, c, "insert into alike.queue (attachment, key) values (99999, '1')")
	exec(t, c, "insert into documents values (70, 'beside a key that is none')")
	once(t, w)
	if n := one[int](t, c, "select count(*) from documents_alike where id = 70"); n != 1 {
		t.Error("a bad key kept a good row waiting")
	}
	if got, want := one[string](t, c, "select message from alike.errors('documents') where key = 'not a number'"), "invalid input syntax"; !strings.Contains(got, want) {
		t.Errorf("message %q, want %q in it", got, want)
	}
}

// A column, a table or a side table that is gone is said, and nothing else stops.
func TestDropped(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	for _, name := range []string{"a", "b", "c", "d"} {
		exec(t, c, fmt.Sprintf("create table %s (id bigint primary key, body text); insert into %s values (1, 'x y z')", name, name))
		exec(t, c, "select alike.attach($1, 'body')", name)
	}
	w := newWorker(t, database, nil)
	once(t, w)
	for _, name := range []string{"a", "b", "c", "d"} {
		exec(t, c, "insert into "+name+" values (2, 'u v w')")
	}
	exec(t, c, "alter table a drop column body cascade")
	exec(t, c, "drop table b")
	exec(t, c, "drop table c_alike cascade")
	for name, want := range map[string]string{ // before a worker has seen it
		"a": `the column "body" of public.a was dropped: select alike.detach('a'), or make a column of that name`, "b": `the table of "b" was dropped: select alike.detach('b')`,
		"c": "the side table public.c_alike is missing: select alike.detach('c'), and attach again",
	} {
		if got := one[string](t, c, "select coalesce(note, '') from alike.status() where name = $1", name); !strings.Contains(got, want) {
			t.Errorf("%s: status says %q, want %q", name, got, want)
		}
	}
	for _, question := range []string{"select * from alike.rows('c', '1')", "select * from alike.pairs('c')", "select * from alike.clusters('c')", "select * from alike.keep('c')", "select * from alike.hot('c')",
		"select alike.mark('c', '1', '2', 'distinct')", "select alike.refresh('c')", `select alike.change('c', '{"policy": "link"}')`} {
		fails(t, c, "the side table public.c_alike is missing", question)
	}
	if err := w.Once(ctx); err == nil || !strings.Contains(err.Error(), "a cannot be worked on") {
		t.Errorf("Once returns %v, want the problems", err)
	}
	for name, want := range map[string]string{"a": `the column "body" of public.a was dropped`, "b": `the table of "b" was dropped`, "c": "the side table"} {
		if got := one[string](t, c, "select coalesce(note, '') from alike.status() where name = $1", name); !strings.Contains(got, want) {
			t.Errorf("%s: status says %q, want %q", name, got, want)
		}
	}
	checkSide(t, c, "d", "d", "body", "id::text", "true")
	for _, name := range []string{"a", "b", "c"} {
		exec(t, c, "select alike.detach($1, '{\"drop\": true}')", name)
	}
	if n := one[int](t, c, "select count(*) from alike.attachment"); n != 1 {
		t.Errorf("%d attachments remain, want 1", n)
	}
}

// Where a column of the key was dropped, the writes of the application go on, status says so, and
// nothing else fails for it.
func TestKeyDropped(t *testing.T) {
	t.Parallel()
	c, w := sketched(t, "create table other (id int primary key, body text); select alike.attach('other', 'body')")
	for _, drop := range []string{"drop column id cascade", "drop column body, drop column id cascade", "drop column part cascade, drop column body"} {
		for _, partitions := range []string{"", " partition by hash (kind); create table one partition of documents for values with (modulus 1, remainder 0)"} {
			exec(t, c, "create table documents (id int default 7, part text default 'x', kind int default 0, body text, more text, unique (id, part, kind))"+partitions+"; alter table documents alter id set not null, alter part set not null, alter kind set not null")
			exec(t, c, "insert into documents select g, 'x', 0, 'one two three four ' || g from generate_series(1, 6) as g; select alike.attach('documents', 'body', '{\"policy\": \"link\"}')")
			once(t, w)
			exec(t, c, `select alike.mark('documents', '[1, "x", 0]', '[2, "x", 0]', 'distinct')`)
			exec(t, c, "alter table documents "+drop)
			exec(t, c, "insert into documents (more) select 'y'; update documents set more = 'z'; update documents set kind = 0; delete from documents where more = 'y'; truncate documents; insert into other values (1, 'a b c') on conflict (id) do update set body = 'other words'")
			if drop == "drop column id cascade" {
				exec(t, c, "insert into documents (body) select 'y'; update documents set body = 'z'")
			}
			if note := one[string](t, c, "select note from alike.status() where name = 'documents'"); !strings.Contains(note, "of public.documents was dropped: select alike.detach('documents')") {
				t.Errorf("%s: status says %q", drop, note)
			}
			once(t, w) // no work waits for the table
			checkSide(t, c, "other", "other", "body", "id::text", "true")
			exec(t, c, "select alike.errors('documents'), alike.hot('documents'); select alike.detach('documents', '{\"drop\": true}'); drop table documents; delete from other")
		}
	}
}

// A clock that went back holds up nothing for longer than the longest wait.
func TestClockBack(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text); insert into documents values (1, 'x y z')")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "insert into alike.error (attachment, key, message, attempts, retry_at) select id, '1', 'from a clock ahead', 1, now() + interval '10 years' from alike.attachment")
	if err := w.retryDue(ctx); err != nil {
		t.Fatal(err)
	}
	once(t, w)
	if n := one[int](t, c, "select count(*) from alike.error"); n != 0 {
		t.Errorf("%d rows wait for a clock, want 0", n)
	}
}

// A long transaction elsewhere is said by status, and a lock on the table only
// makes the worker wait.
func TestLocksAndLongTransactions(t *testing.T) {
	database := pgtest.Database(t)
	c, d := pgtest.Connect(t, database), pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text); insert into documents values (1, 'x y z')")
	exec(t, c, "select alike.attach('documents', 'body')")
	var log testLog
	w := newWorker(t, database, func(c *Config) {
		c.LockTimeout, c.Lanes, c.Logger = 50*time.Millisecond, 2, slog.New(slog.NewTextHandler(&log, nil))
	})
	once(t, w)
	exec(t, c, "insert into documents values (2, 'a b c')")
	exec(t, d, "begin; lock table documents in access exclusive mode")
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	waitFor(t, "a wait for the lock that ends", func() bool { return log.has("lock timeout") })
	if n := one[int](t, c, "select count(*) from alike.queue"); n != 1 {
		t.Errorf("%d rows pending behind a lock, want 1", n)
	}
	if n := one[int](t, c, "select count(*) from alike.error"); n != 0 {
		t.Errorf("%d rows are blamed for a lock, want 0", n)
	}
	exec(t, d, "commit")
	waitFor(t, "the row", func() bool { return one[int](t, c, "select count(*) from documents_alike where id = 2") == 1 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Serialization failures and deadlocks cost a transaction, which is done again;
// no row is blamed for them.
func TestLostTransactions(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t, pgtest.Version())
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(1, 30) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	// A sequence goes on counting when its transaction is rolled back.
	exec(t, c, `create sequence attempts; grant usage on sequence attempts to public;
		create function fail() returns trigger language plpgsql as $$
		begin
			case nextval('public.attempts')
			when 1 then raise exception 'could not serialize access' using errcode = 'serialization_failure';
			when 2 then raise exception 'deadlock detected' using errcode = 'deadlock_detected';
			else return null;
			end case;
		end $$;
		create trigger fail after insert on documents_alike for each statement execute function fail()`)
	w := newWorker(t, database, nil)
	check := func() {
		t.Helper()
		once(t, w)
		checkSide(t, c, "documents", "documents", "body", "id::text", "true")
		if n := one[int](t, c, "select nextval('attempts')"); n < 4 {
			t.Errorf("%d attempts, want at least 3", n-1)
		}
		if n := one[int](t, c, "select count(*) from alike.errors('documents')"); n != 0 {
			t.Errorf("%d rows are blamed, want 0", n)
		}
	}
	check() // rows that were there, by COPY

	exec(t, c, "alter sequence attempts restart; insert into documents values (100, 'checked in')")
	check() // through the queue, a row alone, which would be blamed
}

// A server that takes no writes, as after a failover, is waited for.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Version())
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	var log testLog
	w := newWorker(t, database, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	once(t, w)
	exec(t, c, "insert into documents values (2, 'a b c')")
	exec(t, c, "alter system set default_transaction_read_only = on")
	exec(t, c, "select pg_reload_conf()")
	waitFor(t, "the setting", func() bool { return one[string](t, c, "show default_transaction_read_only") == "on" })
	w.pool.Reset()
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	waitFor(t, "a refused write", func() bool { return log.has("read-only transaction") })
	exec(t, c, "set default_transaction_read_only = off")
	exec(t, c, "alter system reset default_transaction_read_only")
	exec(t, c, "select pg_reload_conf()")
	waitFor(t, "the row", func() bool { return one[int](t, c, "select count(*) from documents_alike where id = 2") == 1 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A standby answers every question as its primary does, in both layouts, and records no verdict.
func TestStandby(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Version())
	database := s.Database(t)
	standby := s.Standby(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(1, 300) as g")
	exec(t, c, "insert into documents select id + 300, body || ' again' from documents where id <= 20")
	layouts := []string{"columns", "parts"}
	for _, layout := range layouts {
		exec(t, c, `select alike.attach('documents', 'body', jsonb_build_object('name', $1::text, 'layout', $1::text, 'contains', true,
			'clusters', true, 'si', '["forest/0", "forest/1", "forest/2", "length"]'::jsonb))`, layout)
	}
	run(t, newWorker(t, database, nil))
	waitFor(t, "full side tables", func() bool {
		return one[int](t, c, "select count(*) from alike.status() where sketched = 320 and note is null") == 2
	})
	written := one[string](t, c, "select pg_current_wal_insert_lsn()::text")
	d := pgtest.Connect(t, strings.Replace(database, url.QueryEscape(s.Dir), url.QueryEscape(standby.Dir), 1))
	waitFor(t, "the standby", func() bool { return one[bool](t, d, "select pg_last_wal_replay_lsn() >= $1::pg_lsn", written) })
	for _, layout := range layouts {
		for _, question := range []string{"pairs('NAME')", "clusters('NAME')", "keep('NAME')", "rows('NAME', '1')", "containers('NAME', '1')", "contained('NAME', '301')",
			"containments('NAME')", "forest_rows('NAME', '1')", "si_rows('NAME', 'length', '1')", "hot('NAME')"} {
			sql := "select coalesce(string_agg(x::text, ' ' order by x::text), '') from alike." + strings.Replace(question, "NAME", layout, 1) + " x"
			if got, want := one[string](t, d, sql), one[string](t, c, sql); got != want || (want == "" && !strings.HasPrefix(question, "hot")) {
				t.Errorf("%s in the layout %s: the standby answers %.200q, the primary %.200q", question, layout, got, want)
			}
		}
		if got := one[int](t, d, "select count(*) from alike.status() where name = $1 and rows = 320 and sketched = 320", layout); got != 1 {
			t.Errorf("status of %s has %d lines on the standby, want 1", layout, got)
		}
		fails(t, d, "read-only transaction", "select alike.mark($1, '1', '2', 'distinct')", layout)
	}
}

// The server dies and its standby takes over: the worker, given both, goes on
// there, and nothing that had been replicated is lost or done twice.
func TestFailover(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Version())
	database := s.Database(t)
	standby := s.Standby(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(1, 300) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	both := strings.Replace(database, url.QueryEscape(s.Dir), url.QueryEscape(s.Dir+","+standby.Dir), 1) + "&target_session_attrs=read-write"
	w := newWorker(t, both, nil)
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	waitFor(t, "the worker to begin", func() bool { return one[int](t, c, "select count(*) from documents_alike") == 300 })
	exec(t, c, "insert into documents select g, "+words+" from generate_series(301, 2000) as g")
	written := one[string](t, c, "select pg_current_wal_lsn()::text")
	d := pgtest.Connect(t, strings.Replace(database, url.QueryEscape(s.Dir), url.QueryEscape(standby.Dir), 1))
	waitFor(t, "the standby", func() bool { return one[bool](t, d, "select pg_last_wal_replay_lsn() >= $1::pg_lsn", written) })
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	exec(t, d, "select pg_promote()")
	exec(t, d, "insert into documents values (5000, 'checked in where the standby took over')")
	exec(t, d, "delete from documents where id between 100 and 150")
	waitFor(t, "the worker to go on", func() bool {
		return one[int](t, d, "select (select count(*) from alike.queue) + abs((select count(*) from documents_alike) - 1950)") == 0
	})
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	checkSide(t, d, "documents", "documents", "body", "id::text", "true")
}

package worker

import (
	"bytes"
	"fmt"
	"log/slog"
	process "os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
)

// The schema says its number, and the worker knows it.
func TestSchemaVersion(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	if got, latest := one[int](t, c, "select alike.migration()"), migrations.Latest(); got != latest || schemaVersion != latest {
		t.Errorf("alike.migration() gives %d and the worker wants %d: the newest migration is %d, and has to say so", got, schemaVersion, latest)
	}
}

// A worker of a newer release refuses an older schema, and one of an older release says
// that it should be replaced.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	for _, v := range []struct{ name, change, want string }{
		{"older", fmt.Sprintf("create or replace function alike.migration() returns integer language sql as 'select %d'", schemaVersion-1),
			fmt.Sprintf("the schema alike is that of migration %d, and this worker wants %d; pgworker migrate up", schemaVersion-1, schemaVersion)},
		{"before it had a number", "drop function alike.migration()", "the database has no schema alike, or one of a release before this worker's; pgworker migrate up makes it"},
		{"none", "drop schema alike cascade", "the database has no schema alike"},
		{"newer", fmt.Sprintf("create or replace function alike.migration() returns integer language sql as 'select %d'", schemaVersion+1), ""},
	} {
		database := pgtest.Database(t)
		exec(t, pgtest.Connect(t, database), v.change)
		var said bytes.Buffer
		w, err := New(ctx, Config{DatabaseURL: database, AllowSuperuser: true, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		if v.want != "" {
			if err == nil || !strings.Contains(err.Error(), v.want) {
				t.Errorf("%s: error %v, want %q", v.name, err, v.want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		w.Close()
		if !strings.Contains(said.String(), "newer release than this worker") {
			t.Errorf("%s: the log says %q", v.name, said.String())
		}
	}
}

// A later release adds columns and writes functions anew while workers of this one run and
// documents are checked in: no checkin fails, and nothing is lost.
func TestUpgradeUnderLoad(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(2000, 3000) as g")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
	first := newWorker(t, database, func(c *Config) { c.BatchSize, c.ChunkRows, c.MaxAttempts = 20, 100, 1 })
	run(t, first)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range uint64(2) {
		writers.Go(func() { checkins(database, i, stop) })
	}
	for i, sql := range []string{
		"alter table alike.attachment add column later integer",
		"alter table alike.queue add column priority integer not null default 0",
		"alter table alike.backfill add column later integer; alter table alike.error add column later text; alter table alike.extraction add column later text",
		"do $$ begin execute replace(pg_get_functiondef('alike._hold(integer, smallint)'::regprocedure), 'is not a table any more', 'is no table any more'); end $$",
		fmt.Sprintf("create or replace function alike.migration() returns integer language sql as 'select %d'", schemaVersion+1),
	} {
		if i == 2 {
			run(t, newWorker(t, database, func(c *Config) { c.BatchSize = 20 })) // the first of the new ones
		}
		exec(t, c, "set lock_timeout = 0; "+sql)
		waitFor(t, "more checkins", func() bool { return one[int](t, c, "select count(*) from alike.queue") > 0 })
	}
	close(stop)
	writers.Wait()
	waitFor(t, "the rest of the work", func() bool {
		return one[int](t, c, "select (select count(*) from alike.queue) + (select count(*) from alike.chunk) + (select count(*) from alike.backfill where finished_at is null)") == 0
	})
	if n := count(t, c, "alike.error"); n != 0 {
		t.Errorf("%d rows failed, want 0", n)
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// A database moves to a new release of PostgreSQL as a dump, with entries in its queue:
// triggers, verdicts, matches, clusters and sketches go with it.
func TestDumpAndRestore(t *testing.T) {
	t.Parallel()
	from := pgtest.Shared(t, 13)
	old := from.Database(t)
	c := pgtest.Connect(t, old)
	exec(t, c, `create table documents (gone int, id bigint, body text, constraint documents_pkey primary key (id)); alter table documents drop column gone;
		create table parts (id timestamptz, p int, body text, primary key (id, p)) partition by list (p); create table parts_0 partition of parts for values in (0); create table parts_rest partition of parts default`)
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link", "where": "body <> ''''", "si": ["length"]}'); select alike.attach('parts', 'body')`)
	exec(t, c, `create or replace function alike._part_rows() returns integer language sql immutable as 'select 10'; create table pieces (id int primary key, body text);
		select alike.attach('pieces', 'body', '{"layout": "parts", "profile": "short"}'); insert into pieces select g, 'the piece with the number ' || g / 3 from generate_series(1, 50) as g`)
	w := newWorker(t, old, nil)
	once(t, w)
	exec(t, c, "update pieces set body = 'another ' || body where id < 6")
	once(t, w)
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 5) as g", story)
	exec(t, c, "insert into parts select timestamptz '2024-01-01 00:00+00' + g * interval '1 hour', g % 3, $1 || ' word' || g from generate_series(1, 5) as g", story)
	once(t, w)
	exec(t, c, "select alike.mark('documents', '1', '2', 'distinct', 'a note'), alike.write_clusters('documents')")
	exec(t, c, "insert into documents values (6, 'waits in the queue')")
	w.Close()

	to := pgtest.Shared(t, 18)
	to.Database(t) // makes the roles
	fresh := to.Empty(t)
	dump := process.Command("pg_dump", "--no-sync", old)
	text, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	restore := process.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", fresh)
	restore.Stdin = bytes.NewReader(text)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	d := pgtest.Connect(t, fresh)
	exec(t, d, "insert into documents values (7, $1)", story)
	exec(t, d, "update documents set id = 10 where id = 1; delete from documents where id = 3; insert into parts values ('2025-01-01', 0, 'a new one')")
	exec(t, d, "update pieces set body = 'other ' || body where id < 20; delete from pieces where id = 20; insert into pieces select g, 'a new piece that came later, with more words than others ' || g from generate_series(51, 70) as g")
	w = newWorker(t, fresh, nil)
	once(t, w)
	once(t, w)
	checkSide(t, d, "pieces", "pieces", "body", "id::text", "true")
	if n := one[int](t, d, "select count(*) from pieces_alike s where 1 <> (select count(*) from pieces_alike_part p where p.id = s.id and p.alike_entry = s.alike_entry and p.f1 = s.f1)"); n != 0 {
		t.Errorf("%d rows do not have exactly one entry that counts", n)
	}
	if n := one[int](t, d, "select count(*) from pg_inherits where inhparent = 'pieces_alike_part'::regclass"); n == 0 {
		t.Errorf("there are no parts, or this tests nothing")
	}
	checkSide(t, d, "documents", "documents", "body", "id::text", "true")
	checkSide(t, d, "parts", "parts", "body", "jsonb_build_array(id, p)::text", "true")
	if got := one[string](t, d, "select string_agg(id || ' ' || other || ' ' || verdict || ' ' || note, ',') from documents_alike_mark"); got != "2 10 distinct a note" {
		t.Errorf("verdicts %q, want that of the row that was 1", got)
	}
	if n := count(t, d, "documents_alike_match where id in (2, 4, 5) and other in (2, 4, 5)"); n != 6 {
		t.Errorf("%d matches of rows that stayed, want the 6 of before", n)
	}
	if got := one[string](t, d, "select string_agg(id::text, ' ' order by id) from documents_alike_cluster where cluster is not null"); got != "4 5 7 10" {
		t.Errorf("the rows in kept clusters are %q, want 4 5 7 10: 2 is distinct from what was 1", got)
	}
	for _, note := range collect(t, d, "select name || ': ' || note from alike.status() where note is not null") {
		t.Errorf("status says %s", note)
	}
}

// pg_upgrade takes everything along, and the files that wait in the queue have other names then.
func TestPgUpgrade(t *testing.T) {
	old := pgtest.New(t, pgtest.Version())
	from := old.Database(t)
	c := pgtest.Connect(t, from)
	exec(t, c, `create table documents (id int primary key, body text);
		insert into documents select g, (select string_agg(md5((g / 3)::text || i), ' ') from generate_series(1, 8) as i) from generate_series(1, 3000) as g;
		select alike.attach('documents', 'body', '{"policy": "link", "profile": "words w=4 t=84 k=12 s=7", "where": "id > 0"}')`)
	once(t, newWorker(t, from, nil))
	exec(t, c, `select alike.mark('documents', '1', '2', 'distinct');
		insert into documents values (5000, 'this waits'); update documents set body = body || ' changed' where id > 1000`)
	name := one[string](t, c, "select current_database()")
	before := list(t, c, "select row(key, other)::text from alike.pairs('documents', 0.9) where key::int < 1000 and other::int < 1000")
	c.Close(ctx)
	upgraded := old.Upgraded(t)
	to := upgraded.URL("postgres", name)
	c = pgtest.Connect(t, to)
	once(t, newWorker(t, to, nil))
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if after := list(t, c, "select row(key, other)::text from alike.pairs('documents', 0.9) where key::int < 1000 and other::int < 1000"); after != before || len(before) < 1000 {
		t.Errorf("%d bytes of pairs before and %d after", len(before), len(after))
	}
	exec(t, c, "insert into documents values (6000, 'this comes afterwards'); delete from documents where id = 1")
	once(t, newWorker(t, to, nil))
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if n := count(t, c, "documents_alike_mark"); n != 0 {
		t.Errorf("%d verdicts remain of a row that is gone, want 0", n)
	}
}

// A database whose applications still write backslashes into strings takes the schema and a worker.
func TestDatabaseOfOldStrings(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Shared(t, pgtest.Version()).Empty(t))
	database := c.Config().ConnString()
	exec(t, c, "do $$ begin execute format('alter database %I set standard_conforming_strings = off', current_database()); end $$")
	if err := migrations.Up(ctx, database); err != nil {
		t.Fatal(err)
	}
	old := pgtest.Connect(t, database).PgConn()
	for _, sql := range []string{
		`create table documents (id int primary key, body text); insert into documents select g, 'a \\ text of ' || g / 2 || ' words and more' from generate_series(1, 20) as g`,
		`select alike.attach('documents', 'body', '{"policy": "link"}')`, `insert into documents values (21, 'a \\ text of 1 words and more')`,
	} {
		if _, err := old.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	once(t, newWorker(t, database, nil))
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// anyTables are tables that a user may own.
var anyTables = []struct{ name, create, insert, update, column, key, options string }{
	{"uuid", "create table t (id uuid primary key, body text)", "select md5(g::text)::uuid, " + words, "body = body || ' x'", "body", "id::text", "{}"},
	{"text", "create table t (id text primary key, body varchar(5000))", `select 'k''"\' || g, ` + words, "body = body || ' x'", "body", "id", "{}"},
	{"collation", `create table t (id text collate "C" primary key, body text)`, "select 'é' || g, " + words, "body = body || ' x'", "body", "id", "{}"},
	{"timestamp", "create table t (at timestamptz primary key, body text)", "select timestamptz '2026-01-01 12:00:00.123456+02' + g * interval '1 minute', " + words, "body = body || ' x'", "body", "to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')", "{}"},
	{"composite", `create table t (a int, "B b" text, c date, body text, primary key (a, "B b", c))`, "select g % 10, 'x\"' || g, date '2026-01-01' + g, " + words, "body = body || ' x'", "body", `jsonb_build_array(a, "B b", c)::text`, "{}"},
	{"json", "create table t (id int primary key, body json)", "select g, json_build_object('text', " + words + ")", "body = json_build_object('text', 'a b c d ' || id)", "body", "id::text", "{}"},
	{"jsonb", "create table t (id int primary key, body jsonb)", "select g, jsonb_build_object('text', " + words + ")", `body = body || '{"more": "words in here"}'`, "body", "id::text", "{}"},
	{"text[]", "create table t (id int primary key, body text[])", "select g, string_to_array(" + words + ", ' ') || array['a \"b\\', null]", "body = body || 'x'::text", "body", "id::text", "{}"},
	{"bigint[]", "create domain n as bigint; create domain ns as n[]; create table t (id int primary key, body ns)", "select g, array[g, g * 5000000000, null]", "body = body || 7::n", "body", "id::text", "{}"},
	{"set", "create table t (id int primary key, body jsonb)", "select g, jsonb_build_object('a', g, 'b' || g % 5, 1.50)", `body = body || '{"more": 12e-1}'`, "body", "id::text", `{"profile": "elements weighted"}`},
	{"set in text", "create table t (id int primary key, body text)", "select g, '[1.0, ' || g || 'e0, \"\\u00e9\"]'", `body = replace(body, '[', '["x" ,')`, "body", "id::text", `{"profile": "elements bag"}`},
	{"bytea", "create table t (id int primary key, body bytea)", `select g, convert_to(` + words + `, 'UTF8') || '\x00ff20c328'`, `body = body || '\x20616263'`, "body", "id::text", "{}"},
	{"generated", "create table t (id int primary key, title text, text text, body text generated always as (title || ' ' || text) stored)", "select g, 'a title ' || g, " + words, "text = text || ' x'", "body", "id::text", "{}"},
	{"domain", "create domain prose as text check (value <> 'no'); create table t (id int primary key, body prose)", "select g, " + words, "body = body || ' x'", "body", "id::text", "{}"},
	{"unique", "create table t (n int not null, body text); create unique index on t (n)", "select g, " + words, "body = body || ' x'", "body", "n::text", "{}"},
	{"partitioned", "create table t (id int, body text, primary key (id)) partition by range (id); create table t1 partition of t for values from (0) to (40); create table t2 partition of t default", "select g, " + words, "body = body || ' x'", "body", "id::text", "{}"},
	{"where", "create table t (id int primary key, body text, state text)", "select g, " + words + ", case g % 3 when 0 then 'draft' else 'done' end", "state = 'done'", "body", "id::text", `{"where": "state = 'done' and length(body) > 3"}`},
	{"odd columns", `create table t ("select" int primary key, "a ""column""; drop table t" text, key text, d text, n text)`, "select g, " + words + ", 'k', 'd', 'n'", `"a ""column""; drop table t" = 'x y z ' || n`, `a "column"; drop table t`, `"select"::text`, "{}"},
}

func TestAnyTable(t *testing.T) {
	t.Parallel()
	for _, v := range anyTables {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, `create schema "S ""s"; set search_path = "S ""s"`)
			exec(t, c, v.create)
			columns := map[string]string{"generated": "(id, title, text)", "where": "(id, body, state)"}[v.name]
			exec(t, c, "insert into t "+columns+" "+v.insert+" from generate_series(1, 60) as g")
			exec(t, c, "set timezone = 'Asia/Kolkata'; set datestyle = 'German'")
			exec(t, c, "select alike.attach('t', $1, $2)", v.column, v.options)
			w := newWorker(t, database, func(c *Config) { c.ChunkRows = 7; c.BatchSize = 11 })
			where := "true"
			if v.name == "where" {
				where = "state = 'done' and length(body) > 3"
			}
			column := `"` + strings.ReplaceAll(v.column, `"`, `""`) + `"`
			if v.name == "json" || v.name == "jsonb" {
				column += "::text"
			}
			if strings.HasSuffix(v.name, "[]") {
				column = "to_jsonb(body)::text"
			}
			check := func(step string) {
				t.Helper()
				once(t, w)
				checkSide(t, c, "t", "t", column, v.key, where)
				if t.Failed() {
					t.Fatal(step)
				}
			}
			check("backfill")
			exec(t, c, "insert into t "+columns+" "+v.insert+" from generate_series(61, 100) as g")
			check("insert")
			exec(t, c, "update t set "+v.update)
			check("update")
			if v.name == "partitioned" {
				exec(t, c, "insert into t1 values (0, 'straight into a partition')")
				exec(t, c, "update t set id = id + 1000 where id between 10 and 20")
				check("partitions")
				// A partition that is emptied or detached by itself tells its parent's
				// triggers nothing.
				exec(t, c, "truncate t1")
				exec(t, c, "select alike.refresh('t')")
				check("a partition")
			}
			exec(t, c, "delete from t where ctid in (select ctid from t limit 10)")
			check("delete")
			exec(t, c, "truncate t")
			check("truncate")
			exec(t, c, "insert into t "+columns+" "+v.insert+" from generate_series(1, 5) as g")
			check("insert")
			detachDropsAll(t, c)
		})
	}
}

func detachDropsAll(t *testing.T, c *pgx.Conn) {
	t.Helper()
	if n := one[int](t, c, "select alike.detach('t', '{\"drop\": true}')::int"); n > 5 {
		t.Errorf("detach gave %d, want at most 5", n)
	}
	if n := one[int](t, c, `select count(*) from pg_class where relnamespace = '"S ""s"'::regnamespace and relname ~ 'alike'`); n != 0 {
		t.Errorf("detach left %d relations, want 0", n)
	}
	if n := one[int](t, c, `select count(*) from pg_proc where pronamespace = '"S ""s"'::regnamespace`); n != 0 {
		t.Errorf("detach left %d functions, want 0", n)
	}
}

func TestSeveralAttachments(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, title text, body text)")
	exec(t, c, "insert into documents select g, 'title ' || g, "+words+" from generate_series(1, 30) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	exec(t, c, `select alike.attach('documents', 'title', '{"name": "titles", "profile": "chars w=3 k=4 s=2", "si": ["43b/40"]}')`)
	fails(t, c, `documents is attached to the column body`, "select alike.attach('documents', 'title')")
	w := newWorker(t, database, nil)
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	checkSide(t, c, "titles", "documents", "title", "id::text", "true")
	if got, want := one[string](t, c, "select profile from alike.status() where name = 'titles'"), "chars w=3 set fast t=168 k=4 s=2 r=2 bits=4"; got != want {
		t.Errorf("profile %q, want %q", got, want)
	}
	if n := one[int](t, c, "select count(*) from alike.pairs('titles', 1e-9)"); n < 10 {
		t.Errorf("%d pairs of titles, want at least 10", n)
	}
	exec(t, c, "select alike.detach('titles')")
	exec(t, c, "update documents set title = 'new'")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	// The side table stayed, and is taken up again.
	exec(t, c, `select alike.attach('documents', 'title', '{"name": "titles", "profile": "chars w=3 k=4 s=2", "si": ["43b/40"]}')`)
	once(t, w)
	checkSide(t, c, "titles", "documents", "title", "id::text", "true")
}

func TestAttachErrors(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	exec(t, c, "create table t (id int primary key, body text, n int, doc bytea); create table nokey (body text); create view v as select 1 as id, 'x' as body; create temp table tt (id int primary key, body text); create table clash (f1 int primary key, body text)")
	exec(t, c, "create table taken (id int primary key, body text); create table taken_alike (id int primary key, f1 bigint); create table victim (id int); create table nullable (id int unique, body text); create table parent (id int primary key, body text); create table child () inherits (parent)")
	for _, v := range []struct{ want, sql string }{
		{`there is no table missing`, "select alike.attach('missing', 'body')"},
		{`there is no table a..b`, "select alike.attach('a..b', 'body')"},
		{"v is a view, want a table", "select alike.attach('v', 'body')"},
		{"temporary table", "select alike.attach('tt', 'body')"},
		{"table of the system", "select alike.attach('alike.queue', 'key')"},
		{`has no column nothing`, "select alike.attach('t', 'nothing')"},
		{"t.n is integer, want text", "select alike.attach('t', 'n')"},
		{"no primary key", "select alike.attach('nokey', 'body')"},
		{"no primary key or unique index without NULLs", "select alike.attach('nullable', 'body')"},
		{"other tables inherit from public.parent: public.child", "select alike.attach('parent', 'body')"},
		{"has the name of a column of the side table", "select alike.attach('clash', 'body')"},
		{`"nonsense" is not a setting or a preset`, `select alike.attach('t', 'body', '{"profile": "nonsense"}')`},
		{`there is no option "polcy"`, `select alike.attach('t', 'body', '{"polcy": "warn"}')`},
		{`the policy is "shout", want ignore, link, warn or reject`, `select alike.attach('t', 'body', '{"policy": "shout"}')`},
		{"at_least is 7, want above 0 and at most 1", `select alike.attach('t', 'body', '{"at_least": 7}')`},
		{"recall is 1, want between 0 and 1", `select alike.attach('t', 'body', '{"recall": 1}')`},
		{`recall is for a filter that attach chooses; the profile "words k=9" has one`, `select alike.attach('t', 'body', '{"profile": "words k=9", "recall": 0.9}')`},
		{"at_least is 0, want above 0", `select alike.attach('t', 'body', '{"at_least": 0}')`},
		{"Citus is not installed in this database", `select alike.attach('t', 'body', '{"distributed": true}')`},
		{`option distributed is "yes", want true or false`, `select alike.attach('t', 'body', '{"distributed": "yes"}')`},
		{`option at_least is "x", want a number`, `select alike.attach('t', 'body', '{"at_least": "x"}')`},
		{"want a JSON object", `select alike.attach('t', 'body', '[]')`},
		{`x", want 1 to 49 bytes`, `select alike.attach('t', 'body', '{"name": "` + strings.Repeat("x", 50) + `"}')`},
		{"want a method, a variation and k", `select alike.attach('t', 'body', '{"si": ["43"]}')`},
		{"method 13", `select alike.attach('t', 'body', '{"si": ["13A/40"]}')`},
		{"a profile with t=168 has 21 of eight minima", `select alike.attach('t', 'body', '{"si": ["forest/21"]}')`},
		{`column "nothing" does not exist`, `select alike.attach('t', 'body', '{"where": "nothing > 3"}')`},
		{"semicolon", `select alike.attach('t', 'body', '{"where": "true); drop table victim; --"}')`},
		{"subquery", `select alike.attach('t', 'body', '{"where": "exists (select from victim)"}')`},
		{"syntax error", `select alike.attach('t', 'body', '{"where": "true) union select (1"}')`},
		{"needs a bytea document", `select alike.attach('t', 'body', '{"extract": "pdf"}')`},
		{`has no column "kind"`, `select alike.attach('t', 'doc', '{"extract": {"column": "kind"}}')`},
		{`the extract is "; rm -rf", want plain`, `select alike.attach('t', 'doc', '{"extract": "; rm -rf"}')`},
		{`the mode is "compute", want queue`, `select alike.attach('t', 'body', '{"mode": "compute"}')`},
		{"public.taken_alike exists with other columns: has id f1, want id profile", "select alike.attach('taken', 'body')"},
		{"no unique", `select alike.attach('t', 'body', '{"key": ["n"]}')`},
	} {
		if v.want == "no unique" {
			v.want = "no primary key or unique index without NULLs on"
		}
		fails(t, c, v.want, v.sql)
	}
	if n := one[int](t, c, "select (select count(*) from alike.attachment) + (select count(*) from pg_class where relname like 't\\_alike%') + (select count(*) from pg_trigger where tgrelid = 't'::regclass)"); n != 0 {
		t.Errorf("%d leftovers of what failed, want 0", n)
	}
	exec(t, c, "table victim")
}

// A member of each role can do what the role is for, and nothing else.
func TestRights(t *testing.T) {
	s := pgtest.Shared(t, pgtest.Version())
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	name := one[string](t, c, "select current_database()::text")
	for _, role := range []string{"reader", "worker", "admin", "writer", "stranger"} {
		exec(t, c, fmt.Sprintf("create role %s_%s login", name, role))
	}
	t.Cleanup(func() {
		for _, role := range []string{"reader", "worker", "admin", "writer", "stranger"} {
			c.Exec(context.Background(), fmt.Sprintf("drop owned by %s_%s cascade; drop role %s_%s", name, role, name, role))
		}
	})
	exec(t, c, fmt.Sprintf("grant alike_reader to %[1]s_reader; grant alike_worker, %[1]s_admin to %[1]s_worker; grant alike_admin to %[1]s_admin; create schema app authorization %[1]s_admin; grant usage on schema app to public", name))
	as := func(role string) string { return s.URL(name+"_"+role, name) }
	admin, writer := pgtest.Connect(t, as("admin")), pgtest.Connect(t, as("writer"))
	w := newWorker(t, as("worker"), nil)
	exec(t, admin, "create table app.documents (id int primary key, body text)")
	exec(t, admin, "grant select on app.documents to alike_reader; grant insert, update, delete, select on app.documents to "+name+"_writer")
	exec(t, admin, "insert into app.documents select g, "+words+" from generate_series(1, 20) as g")
	exec(t, admin, `select alike.attach('app.documents', 'body', '{"policy": "link"}')`)

	// The worker is a member of the owner.
	t.Run("a writer of documents needs no other right", func(t *testing.T) {
		exec(t, writer, "insert into app.documents values (21, 'a b c d e f'); update app.documents set body = body || ' x' where id < 5; delete from app.documents where id = 6")
		once(t, w)
		checkSide(t, c, "documents", "app.documents", "body", "id::text", "true")
		fails(t, writer, "row-level security", "insert into alike.queue (attachment, key) values (1, '1')")
		fails(t, writer, "permission denied", "delete from app.documents_alike")
	})
	t.Run("a reader reads and changes nothing", func(t *testing.T) {
		reader := pgtest.Connect(t, as("reader"))
		exec(t, reader, "select * from alike.pairs('app.documents')")
		exec(t, reader, "select * from alike.rows('app.documents', '1')")
		exec(t, reader, "select * from alike.clusters('app.documents')")
		exec(t, reader, "select * from alike.status()")
		exec(t, reader, "select * from alike.errors('app.documents')")
		exec(t, reader, "select * from alike.hot('app.documents')")
		for _, sql := range []string{
			"delete from app.documents_alike", "insert into app.documents_alike_mark values (1, 2, 'distinct')", "update alike.attachment set policy = 'reject'",
			"delete from alike.queue", "select alike.mark('app.documents', '1', '2', 'distinct')", "select alike.detach('app.documents')", "select alike.refresh('app.documents')",
			"select app.alike_build_1()", "create table alike.x ()", "insert into alike.error values (1, 'x', 'y', 1)",
		} {
			fails(t, reader, "", sql)
		}
	})
	t.Run("a stranger may do nothing", func(t *testing.T) {
		stranger := pgtest.Connect(t, as("stranger"))
		fails(t, stranger, "permission denied for function status", "select * from alike.status()")
		fails(t, stranger, "", "select alike.attach('app.documents', 'body', '{\"name\": \"mine\"}')")
	})
	// It leaves the rows where they are, and goes on when it is a member again.
	t.Run("a worker that is no member of the owner waits", func(t *testing.T) {
		exec(t, c, fmt.Sprintf("revoke %[1]s_admin from %[1]s_worker", name))
		exec(t, writer, "insert into app.documents values (30, 'while the right was revoked')")
		if err := w.Once(ctx); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("grant %[1]s_admin to %[1]s_worker", name)) {
			t.Errorf("Once returns %v, want what to grant", err)
		}
		want := fmt.Sprintf("no worker is a member of %[1]s_admin, who owns the table: grant %[1]s_admin to %[1]s_worker", name)
		if got := one[string](t, c, "select note from alike.status() where name = 'documents'"); got != want {
			t.Errorf("status says %q, want %q", got, want)
		}
		if n := one[int](t, c, "select pending from alike.status() where name = 'documents'"); n != 1 {
			t.Errorf("%d pending, want 1", n)
		}
		exec(t, c, fmt.Sprintf("grant %[1]s_admin to %[1]s_worker", name))
		once(t, w)
		checkSide(t, c, "documents", "app.documents", "body", "id::text", "true")
		if n := one[int](t, c, "select count(*) from alike.error"); n != 0 {
			t.Errorf("%d errors remain, want 0", n)
		}
		if got := one[*string](t, c, "select note from alike.status() where name = 'documents'"); got != nil {
			t.Errorf("status still says %q, want no note", *got)
		}
	})
	exec(t, admin, "select alike.detach('app.documents', '{\"drop\": true}')")
}

// Every function has a fixed search path, but for those of one expression whose
// names are all qualified; only those run as their owner that keep what everybody shares.
func TestFunctionsAreSafe(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	rows, err := c.Query(ctx, "select p.oid::regprocedure::text, prosecdef, coalesce(array_to_string(proconfig, ' '), ''), prosrc from pg_proc p where pronamespace = 'alike'::regnamespace")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
		var name, config, source string
		var definer bool
		if err := rows.Scan(&name, &definer, &config, &source); err != nil {
			t.Fatal(err)
		}
		if definer && name != "alike._keep_bounds(integer)" && name != "alike._keep_boilerplate(bytea)" && name != "alike._settings_id(text,integer,smallint)" {
			t.Errorf("%s runs as its owner", name)
		}
		if strings.Contains(config, "search_path=pg_catalog, pg_temp") {
			continue
		}
		if name != "alike._relation(text)" && name != "alike._shared_values(bytea,bytea)" && (strings.Count(source, ";") > 0 || strings.Contains(strings.ReplaceAll(source, "operator(pg_catalog.", ""), "||")) {
			t.Errorf("%s has no search path: %s", name, source)
		}
	}
	if n < 60 {
		t.Errorf("%d functions, want at least 60", n)
	}
	// A search path that hides built-in names changes nothing.
	exec(t, c, `create schema evil; create function evil.to_regclass(text) returns regclass language sql as 'select null::regclass'; create function evil.lower(text) returns text language sql as 'select 1/0; select ''''::text'; create table evil.documents (id int primary key, body text); set search_path = evil, pg_catalog`)
	exec(t, c, "select alike.attach('documents', 'body')")
	if got := one[string](t, c, `select "table" from alike.status()`); got != "evil.documents" {
		t.Errorf("attached %q, want evil.documents", got)
	}
}

// What at_least was given goes back to the default with null.
func TestAtLeastNull(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	w := newWorker(t, database, nil)
	for _, v := range []struct {
		options string
		want    float64
	}{{`{"at_least": 0.5}`, 0.5}, {`{"policy": "link"}`, 0.5}, {`{"at_least": null}`, 0.55}} {
		exec(t, c, "select alike.attach('documents', 'body', $1)", v.options)
		once(t, w)
		if got := one[float64](t, c, "select round(at_least::numeric, 3)::float from alike.attachment where name = 'documents'"); got != v.want {
			t.Errorf("%s: at_least %g, want %g", v.options, got, v.want)
		}
	}
}

// A change of profile is built beside the old side table, which answers and
// follows checkins until the two change places.
func TestChangeProfile(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(1, 50) as g")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link", "si": ["length"]}')`)
	w := newWorker(t, database, func(c *Config) { c.ChunkRows = 10 })
	once(t, w)
	exec(t, c, "insert into documents values (100, (select body || ' x' from documents where id = 1))")
	once(t, w)
	matches := one[int](t, c, "select count(*) from documents_alike_match")
	exec(t, c, "select alike.mark('documents', '1', '100', 'duplicate')")
	t.Run("attaching again begins one change and refuses another", func(t *testing.T) {
		if n := one[int](t, c, `select alike.attach('documents', 'body', '{"profile": "chars w=7 k=6 s=4"}')`); n != 51 {
			t.Errorf("attaching again gave %d, want 51", n)
		}
		fails(t, c, "is being changed already", `select alike.change('documents', '{"profile": "web"}')`)
		fails(t, c, "stays as it is", `select alike.change('documents', '{"where": "true"}')`)
	})
	t.Run("the old side table follows until the switch", func(t *testing.T) {
		exec(t, c, "update documents set body = body || ' meanwhile' where id = 2; delete from documents where id = 3")
		if _, err := w.queueBatch(ctx); err != nil {
			t.Fatal(err)
		}
		checkSide(t, c, "documents", "documents", "body", "id::text", "true")
		exec(t, c, "insert into documents values (101, 'just before the switch')")
		once(t, w)
		checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	})
	t.Run("matches and verdicts outlive the switch", func(t *testing.T) {
		if got, want := one[string](t, c, "select string_agg(name || ' ' || profile || ' ' || policy, ', ') from alike.status()"), "documents chars w=7 set fast t=168 k=6 s=4 r=2 bits=4 link"; got != want {
			t.Errorf("status %q, want %q", got, want)
		}
		if n := one[int](t, c, "select count(*) from documents_alike_match"); n != matches {
			t.Errorf("%d matches, want the %d of before", n, matches)
		}
		if n := one[int](t, c, "select count(*) from alike.pairs('documents', 1) where key = '1' and other = '100'"); n != 1 {
			t.Errorf("%d pairs with the verdict of before, want 1", n)
		}
		exec(t, c, "insert into documents values (102, 'just after the switch')")
		once(t, w)
		checkSide(t, c, "documents", "documents", "body", "id::text", "true")
		exec(t, c, "select * from documents_alike_pair, documents_alike_feature limit 1")
		if n := one[int](t, c, "select count(*) from pg_class where relname like '%next%'"); n != 0 {
			t.Errorf("%d relations called next remain, want 0", n)
		}
	})
	t.Run("a change that is given up leaves nothing", func(t *testing.T) {
		exec(t, c, `select alike.change('documents', '{"profile": "web"}')`)
		exec(t, c, `select alike.detach('documents', '{"drop": true}')`)
		if n := one[int](t, c, "select (select count(*) from pg_class where relname like 'documents_alike%') + (select count(*) from pg_proc where proname ~ '^alike_') + (select count(*) from pg_trigger where tgrelid = 'documents'::regclass)"); n != 0 {
			t.Errorf("%d leftovers, want 0", n)
		}
	})
}

// A view of the user's own holds the old side table fast. The change waits, says
// what it waits for, and the old one serves meanwhile.
func TestChangeWaitsForView(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t, pgtest.Version())
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(1, 20) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "create view lengths as select id, shingles from documents_alike")
	exec(t, c, `select alike.change('documents', '{"profile": "web"}')`)
	w.Once(ctx) // it may say that it could not finish
	if got := one[string](t, c, "select note from alike.status() where name = 'documents (next)'"); !strings.Contains(got, "view public.lengths depends on") {
		t.Errorf("the status says %q, want that the view lengths depends on the table", got)
	}
	if n := one[int](t, c, "select count(*) from lengths join documents_alike using (id, shingles)"); n != 20 {
		t.Errorf("%d rows in the view, want 20", n)
	}
	exec(t, c, "insert into documents values (100, 'checked in meanwhile')")
	w.Once(ctx)
	exec(t, c, "drop view lengths")
	once(t, w)
	if got := one[string](t, c, "select profile from alike.status()"); !strings.HasPrefix(got, "html ") {
		t.Errorf("the profile is %s, want html", got)
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if got := one[string](t, c, "select coalesce(note, '') from alike.status()"); strings.Contains(got, "depend") {
		t.Errorf("the status still says %q, want nothing of a view", got)
	}
}

// For another policy nothing is sketched again, and what asks a worker goes with
// the policy that it is for.
func TestChangePolicy(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "insert into documents select g, $1 || g from generate_series(1, 3) as g", story)
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	sketched := one[time.Time](t, c, "select max(sketched_at) from documents_alike")
	for i, policy := range []string{"link", "warn", "ignore"} {
		if n := one[int](t, c, "select alike.attach('documents', 'body', jsonb_build_object('policy', $1::text))", policy); n != 0 {
			t.Errorf("%s: %d rows are sketched again, want 0", policy, n)
		}
		exec(t, c, "insert into documents values ($1, $2)", 10+i, story)
		once(t, w)
		if got, want := one[bool](t, c, "select exists (select from documents_alike_match where id = $1)", 10+i), policy != "ignore"; got != want {
			t.Errorf("%s: a match is recorded: %v, want %v", policy, got, want)
		}
	}
	exec(t, c, `select alike.change('documents', '{"at_least": 0.99}')`)
	if got, want := one[string](t, c, "select policy || ' ' || at_least from alike.status()"), "ignore 0.99"; got != want {
		t.Errorf("policy and threshold %q, want %q", got, want)
	}
	exec(t, c, `select alike.change('documents', '{"policy": "reject"}')`)
	if _, err := c.Exec(ctx, "select alike.gate('documents', sketch) from documents_alike where id = 1"); err == nil {
		t.Error("a cut sketch passed the gate")
	}
	if got := one[time.Time](t, c, "select max(sketched_at) from documents_alike where id < 10"); !got.Equal(sketched) {
		t.Errorf("rows were sketched again at %v, want none after %v", got, sketched)
	}
	fails(t, c, "want ignore, link, warn or reject", `select alike.change('documents', '{"policy": "refuse"}')`)
	fails(t, c, "option policy", `select alike.change('documents', '{"policy": 1}')`)
	fails(t, c, "at_least", `select alike.change('documents', '{"policy": "link", "at_least": 2}')`)
	fails(t, c, "at_least", `select alike.change('documents', '{"at_least": "much"}')`)
	exec(t, c, `select alike.change('documents', '{"policy": "reject", "ask": {"connection": "nowhere", "timeout": 0.1}}')`)
	once(t, w)
	const asking = "select count(*) from pg_trigger where tgrelid = 'documents'::regclass and tgname like '%ask%'"
	if n := one[int](t, c, asking); n != 2 {
		t.Errorf("%d triggers ask, want 2", n)
	}
	exec(t, c, `select alike.change('documents', '{"policy": "link"}')`)
	once(t, w)
	if n := one[int](t, c, asking); n != 0 {
		t.Errorf("%d triggers ask under link, want 0", n)
	}
	exec(t, c, `select alike.change('documents', '{"policy": "reject", "profile": "web"}')`)
	once(t, w)
	exec(t, c, `select alike.detach('documents', '{"drop": true}')`)
}

// A table that takes no triggers is compared with its sketches every so often.
func TestScanMode(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text); insert into documents select g, "+words+" from generate_series(1, 30) as g")
	exec(t, c, `select alike.attach('documents', 'body', '{"mode": "scan"}')`)
	if n := one[int](t, c, "select count(*) from pg_trigger where tgrelid = 'documents'::regclass"); n != 0 {
		t.Errorf("%d triggers, want 0", n)
	}
	w := newWorker(t, database, func(c *Config) { c.ScanInterval = 20 * time.Millisecond })
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	exec(t, c, "update documents set body = body || ' changed' where id < 5; delete from documents where id = 7; insert into documents values (40, 'new words in here')")
	waitFor(t, "the scan", func() bool {
		return one[int](t, c, `select count(*) from documents d full join documents_alike s on s.id = d.id
			where d.id is null or s.id is null or (d.id < 5 and s.sketched_at < (select attached_at from alike.attachment))
			   or (d.id < 5 and s.content_hash is distinct from ('x' || encode(substr(sha256(convert_to(d.body, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint)`) == 0
	})
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	once(t, newWorker(t, database, nil))
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// A scan leaves alone what is up to date and what has failed, and forgets the
// matches of a row that is gone.
func TestScanOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body bytea); insert into documents select g, ("+words+")::bytea from generate_series(1, 30) as g")
	exec(t, c, "insert into documents values (50, null), (51, '')")
	exec(t, c, `select alike.attach('documents', 'body', '{"mode": "scan", "policy": "link"}'); create table noted (id int primary key, body text); select alike.attach('noted', 'body')`)
	w := newWorker(t, database, func(c *Config) { c.MaxDocument = 1000; c.MaxAttempts = 1 })
	once(t, w)
	sketched := one[time.Time](t, c, "select max(sketched_at) from documents_alike")
	once(t, w)
	if again := one[time.Time](t, c, "select max(sketched_at) from documents_alike"); !again.Equal(sketched) {
		t.Errorf("a row was sketched at %v, nothing changed since %v", again, sketched)
	}
	exec(t, c, "insert into documents select id + 100, body from documents where id = 1; insert into documents values (60, repeat('large ', 1000)::bytea)")
	once(t, w)
	if got := one[string](t, c, "select id || ' ' || other from documents_alike_match"); got != "101 1" {
		t.Errorf("match %s, want 101 1", got)
	}
	once(t, w)
	if n := one[int](t, c, "select attempts from alike.error where key = '60' and retry_at is null"); n != 1 {
		t.Errorf("the row that was given up was tried %d times, want 1", n)
	}
	exec(t, c, "delete from documents where id = 1")
	const looked = "select finished_at from alike.backfill b join alike.attachment a on a.id = b.attachment where a.name = $1"
	documents, noted := one[time.Time](t, c, looked, "documents"), one[time.Time](t, c, looked, "noted")
	once(t, w)
	if n := one[int](t, c, "select count(*) from documents_alike_match"); n != 0 {
		t.Errorf("%d matches with a row that is gone, want 0", n)
	}
	if again := one[time.Time](t, c, looked, "documents"); !again.After(documents) {
		t.Errorf("a table without triggers was looked at %v, and at %v before that", again, documents)
	}
	if again := one[time.Time](t, c, looked, "noted"); !again.Equal(noted) {
		t.Errorf("a table with triggers was read at %v, although it was full at %v", again, noted)
	}
	// An hour later it is looked at again.
	exec(t, c, "update documents set body = 'small' where id = 60; update documents set body = null where id = 2; update alike.error set failed_at = failed_at - interval '1 hour'")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	// A scan reads no row whose bytes are those of its sketch.
	exec(t, c, "vacuum full documents")
	equal := one[string](t, c, "select alike._fill('select count(*) from ({rows}) d join {side} s on {same} where s.content_hash = {hash}', alike._fragments(a)) from alike.attachment a where name = 'documents'")
	if got, want := one[int](t, c, equal), one[int](t, c, "select count(*) from documents"); got != want {
		t.Errorf("the server computes the hash of %d of %d rows as the worker does", got, want)
	}
}

// The media type of each document says how its bytes become text; a type
// that no command reads is an error of its row.
func TestExtract(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table files (id int primary key, kind text, body bytea)")
	exec(t, c, `insert into files values (1, 'text/plain', 'plain words that are here to be read'), (2, 'text/html', '<p>plain <b>words</b> that are <!-- not --> here to be read</p>'),
		(3, 'application/x-upper', 'PLAIN WORDS THAT ARE HERE TO BE READ'), (4, 'application/x-unknown', 'whatever')`)
	exec(t, c, `select alike.attach('files', 'body', '{"extract": {"column": "kind"}}')`)
	w := newWorker(t, database, func(c *Config) {
		c.Extract.Commands = map[string][]string{"application/x-upper": {"tr", "A-Z", "a-z"}}
		c.MaxAttempts = 1
	})
	once(t, w)
	if n := one[int](t, c, "select count(distinct sketch) from files_alike where id < 4"); n != 1 || one[int](t, c, "select count(*) from files_alike") != 3 {
		t.Errorf("%d sketches of one text in three forms, want 1, and 3 rows", n)
	}
	if got := one[string](t, c, "select key || ': ' || message from alike.errors('files')"); got != "4: extract: no way to extract text from application/x-unknown" {
		t.Errorf("error %q, want that application/x-unknown cannot be extracted", got)
	}
	exec(t, c, "update files set kind = 'text/plain' where id = 4")
	once(t, w)
	if n := one[int](t, c, "select (select count(*) from files_alike) * 10 + (select count(*) from alike.error)"); n != 40 {
		t.Errorf("a corrected type gives %d, want 40", n)
	}
}

// Attach reads some documents, chooses the preset, says which and why, and status
// says when the rows turn out to be of another kind.
func TestChoosesThePreset(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	paragraph := strings.Repeat("A paragraph of words that go on about the harbour. ", 8)
	for i, d := range []struct{ column, value, profile, chosen string }{
		{"text", paragraph, "chars w=5 set fast t=168 k=23 s=4 r=2 bits=4", "paragraphs: the median length of the texts looked at (20) is 407 characters, less than 2000"},
		{"varchar(99)", "a title of a few words, as of a book", "chars w=3 set fast t=168 k=23 s=4 r=2 bits=4", "short: the median length of the texts looked at (20) is 36 characters, less than 250"},
		{"bytea", "我能吞下玻璃而不伤身体我能吞下玻璃而不伤身体我能吞下玻璃而不伤身体", "chars w=3 set fast t=168 k=24 s=3 r=2 bits=4", "unsegmented: 100 % of the characters are of scripts whose words blanks do not tell apart"},
		{"jsonb", `{"name": "Ada"}`, "chars w=3 set fast t=168 k=31 s=5 r=2 bits=4", "records: 20 of the texts looked at (20) are JSON or XML"},
		{"xml", "<a><b/></a><c></c>", "chars w=3 set fast t=168 k=31 s=5 r=2 bits=4", "records: 20 of the texts looked at (20) are JSON or XML"},
	} {
		table := fmt.Sprint("t", i)
		exec(t, c, fmt.Sprintf("create table %s (id int primary key, body %s)", table, d.column))
		value := fmt.Sprintf("'%s'", d.value)
		if d.column == "bytea" {
			value = fmt.Sprintf("convert_to(%s, 'UTF8')", value)
			exec(t, c, fmt.Sprintf(`insert into %s values (101, '\x00'), (102, '\xff')`, table))
		}
		exec(t, c, fmt.Sprintf("insert into %s select g, %s from generate_series(1, 20) as g", table, value))
		exec(t, c, fmt.Sprintf("insert into %s values (100, null)", table))
		exec(t, c, fmt.Sprintf("select alike.attach('%s', 'body')", table))
		if got, want := one[string](t, c, "select profile || '|' || chosen || '|' || round(recall::numeric, 2) from alike.status() where name = $1", table), d.profile+"|"+d.chosen+"|0.95"; got != want {
			t.Errorf("%s: %s, want %s", d.column, got, want)
		}
	}
	// The look reads what the condition leaves, by key, and at most a thousand; what is extracted it leaves.
	exec(t, c, "create table many (id int primary key, body text)")
	exec(t, c, "insert into many select g, case when g <= 1500 then 'a title' else $1 end from generate_series(3000, 1, -1) as g", paragraph)
	for options, want := range map[string]string{
		`{"name": "first"}`:                    "names: the median length of the texts looked at (1000) is 7 characters, less than 30",
		`{"name": "last", "where": "id>1500"}`: "paragraphs: the median length of the texts looked at (1000) is 407 characters, less than 2000",
		`{"name": "html", "extract": "html"}`:  "prose: the text of the documents is extracted",
	} {
		exec(t, c, "select alike.attach('many', 'body', $1)", options)
		if got := one[string](t, c, "select chosen from alike.status() where name = $1::jsonb ->> 'name'", options); got != want {
			t.Errorf("%s: %s, want %s", options, got, want)
		}
	}
	exec(t, c, "create table empty (id int primary key, title text)")
	exec(t, c, "select alike.attach('empty', 'title')")
	exec(t, c, "insert into empty select g, 'title ' || g from generate_series(1, 9) as g")
	if got := one[string](t, c, "select chosen || note from alike.status() where name = 'empty'"); strings.Contains(got, "suits") || !strings.HasPrefix(got, "prose: there is no text to look at yet") {
		t.Errorf("preset and note %q, want prose, and that there is no text to look at yet", got)
	}
	exec(t, c, "alter table empty rename column title to heading")
	exec(t, c, "insert into empty values (10, 'title 10')")
	if got := one[string](t, c, "select note from alike.status() where name = 'empty'"); !strings.Contains(got,
		`the preset names suits the rows better than prose, since the median length of the texts looked at (10) is 7 characters, less than 30: select alike.change('empty', '{"profile": "names"}')`) {
		t.Errorf("note %q, want that the preset names suits the rows better", got)
	}
	exec(t, c, `select alike.change('empty', '{"profile": "names"}')`)
	once(t, newWorker(t, database, nil))
	if got := one[string](t, c, "select coalesce(chosen, 'told') || coalesce(note, '') from alike.status() where name = 'empty'"); got != "told" {
		t.Errorf("preset and note %q, want told", got)
	}
}

// The filter follows at_least and recall unless the profile gives it.
func TestFilterFollowsTheThreshold(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table d (id int primary key, body text)")
	exec(t, c, "insert into d select g, "+words+" from generate_series(1, 20) as g")
	w := newWorker(t, database, nil)
	for _, step := range []struct{ options, k, s, atLeast, recall string }{
		{`{"profile": "prose"}`, "23", "4", "0.55", "0.951"},
		{`{"at_least": 0.7}`, "23", "4", "0.7", "1.000"}, // what is there finds enough
		{`{"profile": "prose stop", "at_least": 0.6}`, "17", "4", "0.6", "0.958"},
		{`{"at_least": 0.4}`, "34", "3", "0.4", "0.953"},
		{`{"at_least": null}`, "34", "3", "0.55", "0.999"},
		{`{"recall": 0.9999}`, "23", "2", "0.55", "1.000"},
		{`{"profile": "records", "recall": null}`, "31", "5", "0.58", "0.951"},
		{`{"profile": "records w=4", "at_least": 0.9}`, "4", "9", "0.9", "0.960"},
		{`{"profile": "words k=12 s=7 t=168", "at_least": null}`, "12", "7", "0.77", "0.955"},
		{`{"at_least": 0.5}`, "12", "7", "0.5", "0.177"},
	} {
		exec(t, c, "select alike.attach('d', 'body', $1)", step.options)
		once(t, w)
		got := one[string](t, c, "select profile || '|' || at_least || '|' || round(recall::numeric, 3) from alike.status()")
		if want := fmt.Sprintf(" k=%s s=%s r=2 bits=4|%s|%s", step.k, step.s, step.atLeast, step.recall); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want …%s", step.options, got, want)
		}
	}
}

// A document that PostgreSQL generates from other columns, stored or computed when it is read (from 18 on).
func TestGeneratedDocuments(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t, 18).Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create extension dblink schema public")
	connection := one[string](t, c, "select format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1))")
	w := newWorker(t, database, nil)
	exec(t, c, "create table posts (id int primary key, body text, draft boolean, public boolean generated always as (not draft) virtual)")
	fails(t, c, `alike: where: "public" reads a virtual generated column, whose value triggers do not see`, `select alike.attach('posts', 'body', '{"where": "public"}')`)
	exec(t, c, `select alike.attach('posts', 'body', '{"where": "not draft"}'); insert into posts (id, body, draft) values (1, 'one two three', false), (2, 'two three four', true); update posts set draft = not draft`)
	once(t, w)
	checkSide(t, c, "posts", "posts", "body", "id::text", "public")
	for _, kind := range []string{"stored", "virtual"} {
		for _, partitions := range []string{"", " partition by hash (id); create table part partition of documents for values with (modulus 1, remainder 0)"} {
			exec(t, c, fmt.Sprintf("create table documents (id int primary key, title text, content text, body text generated always as (lower(title) || ' ' || content) %s)%s", kind, partitions))
			exec(t, c, "insert into documents (id, title, content) select g, 'One', 'two three four five ' || g from generate_series(1, 6) as g; select alike.attach('documents', 'body')")
			once(t, w)
			exec(t, c, "insert into documents (id, title, content) values (7, 'Other', 'words of that kind'); update documents set title = 'Changed' where id = 1; update documents set content = 'also changed' where id = 2; delete from documents where id = 3; update documents set id = 10 where id = 4")
			once(t, w)
			checkSide(t, c, "documents", "documents", "body", "id::text", "true")
			exec(t, c, "update documents set title = title")
			if n := count(t, c, "alike.queue"); n != 0 {
				t.Errorf("%s: %d entries for rows that did not change, want 0", kind, n)
			}
			exec(t, c, "select alike.detach('documents', '{\"drop\": true}')")
			exec(t, c, "select alike.attach('documents', 'body', jsonb_build_object('policy', 'reject', 'ask', jsonb_build_object('connection', $1::text, 'timeout', 20)))", connection)
			running, stop := context.WithCancel(ctx)
			done := make(chan error)
			go func() { done <- w.Run(running) }()
			exec(t, c, "insert into documents (id, title, content) values (20, 'The story', $1)", story)
			if _, err := c.Exec(ctx, "insert into documents (id, title, content) values (21, 'THE STORY', $1)", story); !rejected(err) {
				t.Errorf("%s: a duplicate gave %v", kind, err)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			exec(t, c, "select alike.detach('documents', '{\"drop\": true}'); drop table documents")
		}
	}
}

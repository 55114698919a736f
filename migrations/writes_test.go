package migrations_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// onEach runs a test on the oldest release, the newest and the one between them that
// tests run on.
func onEach(t *testing.T, test func(t *testing.T, database string, c *pgx.Conn)) {
	for _, version := range []int{13, 15, 18} {
		t.Run(fmt.Sprint("PostgreSQL ", version), func(t *testing.T) {
			t.Parallel()
			database := pgtest.Shared(t, version).Database(t)
			test(t, database, pgtest.Connect(t, database))
		})
	}
}

// queued returns the keys that wait, each once and sorted, and empties the queue.
func queued(t *testing.T, c *pgx.Conn) string {
	t.Helper()
	return one[string](t, c, `with taken as (delete from alike.queue returning key, more)
		select coalesce(string_agg(distinct coalesce(k, 'all'), ' ' order by coalesce(k, 'all')), '') from taken, unnest(array_prepend(key, more)) as k`)
}

func wantQueued(t *testing.T, c *pgx.Conn, what, want string) {
	t.Helper()
	if got := queued(t, c); got != want {
		t.Errorf("after %s the keys %q wait, want %q", what, got, want)
	}
}

// What a statement changed is queued, whatever kind of table and statement it is, and
// nothing else: a document whose bytes stay does not come again.
func TestChangesAreQueued(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, `create table plain (id int primary key deferrable, body text, seen int);
			create table parted (id int primary key, body text, seen int) partition by range (id);
			create table low partition of parted for values from (0) to (100);
			create table high partition of parted default`)
		for _, table := range []string{"plain", "parted"} {
			exec(t, c, "select alike.attach('"+table+"', 'body')")
			for _, step := range [][2]string{
				{"insert into %s select g, 'text ' || g, 0 from generate_series(1, 5) as g", "1 2 3 4 5"},
				{"update %s set seen = seen + 1", ""},
				{"update %s set body = body", ""},
				{"update %s set body = body || '!' where id in (2, 3)", "2 3"},
				{"update %s set id = 200 where id = 4", "200 4"},
				{"insert into %s values (1, 'again', 0), (6, 'six', 0) on conflict (id) do update set body = excluded.body", "1 6"},
				{"delete from %s where id < 3", "1 2"},
				{"truncate %s", "all"},
			} {
				statement := fmt.Sprintf(step[0], table)
				if table == "plain" && strings.Contains(statement, "on conflict") {
					statement = "insert into plain values (6, 'six', 0); update plain set body = 'again' where id = 1" // no arbiter
				}
				exec(t, c, statement)
				wantQueued(t, c, statement, step[1])
			}
		}
		// Two rows change places; a large statement keeps every key.
		exec(t, c, "insert into plain values (1, 'a', 0), (2, 'b', 0); delete from alike.queue; update plain set id = 3 - id")
		wantQueued(t, c, "a swap", "1 2")
		exec(t, c, "insert into plain select g, 'x', 0 from generate_series(10, 1009) as g")
		if n := one[int](t, c, "select count(*) from alike.queue"); n != 20 {
			t.Errorf("a thousand keys take %d entries, want 20", n)
		}
		if n := len(strings.Fields(queued(t, c))); n != 1000 {
			t.Errorf("%d keys wait, want 1000", n)
		}
	})
}

// Bytes are compared, not what PostgreSQL takes for equal.
func TestEqualDocumentsOfOtherBytesAreQueued(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, `create table documents (id int primary key, body jsonb); insert into documents values (1, '{"a": 1.0}');
			select alike.attach('documents', 'body'); update documents set body = '{"a": 1.000}'`)
		wantQueued(t, c, "1.0 becomes 1.000", "1")
	})
}

// A transaction that changed an attached table can be prepared.
func TestTwoPhaseCommit(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, "create table documents (id int primary key, body text); select alike.attach('documents', 'body')")
		for i, statement := range []string{"insert into documents values (1, 'x')", "update documents set body = 'y'", "delete from documents", "truncate documents"} {
			exec(t, c, "begin")
			exec(t, c, statement)
			exec(t, c, fmt.Sprintf("prepare transaction 't%d'", i))
			exec(t, c, fmt.Sprintf("commit prepared 't%d'", i))
		}
		wantQueued(t, c, "prepared transactions", "1 all")
	})
}

// After a rename, another type or a dropped column every write goes on, and status says
// what is to be done where nothing of ours can do it.
func TestRenamesAreFollowed(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, `create schema app; create table app.documents (id int primary key, body text, kind text);
			select alike.attach('app.documents', 'body', '{"where": "kind = ''a''"}')`)
		note := func() string {
			return one[string](t, c, "select coalesce(note, '') from alike.status()")
		}
		n := 0
		writes := func(what, table, key, body string) {
			t.Helper()
			n++
			exec(t, c, fmt.Sprintf("insert into %s (%s, %s, kind) values (%d, 'x', 'a')", table, key, body, n))
			wantQueued(t, c, what+": insert", fmt.Sprint(n))
			exec(t, c, fmt.Sprintf("update %s set %s = 'y' where %s = %d", table, body, key, n))
			wantQueued(t, c, what+": update", fmt.Sprint(n))
			exec(t, c, fmt.Sprintf("delete from %s where %s = %d", table, key, n))
			wantQueued(t, c, what+": delete", fmt.Sprint(n))
		}
		for _, step := range [][4]string{
			{"alter table app.documents rename column id to number", "app.documents", "number", "body"},
			{"alter table app.documents rename column body to content", "app.documents", "number", "content"},
			{"alter table app.documents rename to papers", "app.papers", "number", "content"},
			{"alter schema app rename to store", "store.papers", "number", "content"},
			{"alter table store.papers alter column number type bigint", "store.papers", "number", "content"},
			{"alter table store.papers alter column content type varchar(100)", "store.papers", "number", "content"},
		} {
			exec(t, c, step[0])
			writes(step[0], step[1], step[2], step[3])
			exec(t, c, "select alike.refresh('"+step[1]+"')")
			if got := note(); strings.Contains(got, "renamed") || strings.Contains(got, "missing") {
				t.Errorf("after %s and refresh status says %q", step[0], got)
			}
			writes(step[0]+", refreshed", step[1], step[2], step[3])
		}
		exec(t, c, "alter table store.papers drop column content; insert into store.papers values (100, 'a')")
		if got, want := note(), `the column "body" of store.papers was dropped`; !strings.Contains(got, want) {
			t.Errorf("status says %q, want %q", got, want)
		}
	})
}

// A write goes on without the rights on the queue and without the schema alike.
func TestWritesWithoutAlike(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, "create table documents (id int primary key, body text); select alike.attach('documents', 'body')")
		exec(t, c, "create role keeper; grant alike_admin to keeper; grant create on schema public to keeper; alter table documents owner to keeper; select alike.own('documents')")
		t.Cleanup(func() { c.Exec(context.Background(), "drop owned by keeper cascade; drop role keeper") }) // the server goes anyway
		exec(t, c, "revoke alike_admin from keeper; set role keeper; insert into documents values (1, 'x'); reset role")
		wantQueued(t, c, "an insert of an owner without a role of ours", "1")
		exec(t, c, "revoke insert (attachment, key, more) on alike.queue from public; set role keeper; insert into documents values (2, 'x'); update documents set body = 'y'; reset role")
		exec(t, c, "drop schema alike cascade; set role keeper; insert into documents values (3, 'x'); delete from documents; truncate documents")
	})
}

// Attach waits for an open transaction without holding up those that come after it, says
// whom it waits for, and gives up after alike.patience.
func TestAttachLeavesGaps(t *testing.T) {
	onEach(t, func(t *testing.T, database string, c *pgx.Conn) {
		ctx := context.Background()
		exec(t, c, "create table documents (id int primary key, body text); insert into documents values (1, 'x')")
		holder, other := pgtest.Connect(t, database), pgtest.Connect(t, database)
		exec(t, holder, "begin; update documents set body = 'y'")
		exec(t, c, "set alike.patience = '2s'")
		failed := make(chan error)
		go func() { _, err := c.Exec(ctx, "select alike.attach('documents', 'body')"); failed <- err }()
		exec(t, other, "set lock_timeout = '1500ms'")
		for !one[bool](t, other, "select exists (select from pg_locks where not granted and relation = 'documents'::regclass)") {
			time.Sleep(5 * time.Millisecond)
		}
		for i := range 5 { // each finds a gap
			exec(t, other, "insert into documents values ($1, 'z')", 10+i)
			time.Sleep(100 * time.Millisecond)
		}
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "alike: attach: public.documents is locked by process") {
			t.Errorf("attach beside an open transaction: error %v, want the process named", err)
		}
		exec(t, holder, "commit")
		exec(t, c, "begin; set local lock_timeout = '7s'; select alike.attach('documents', 'body')")
		if got := one[string](t, c, "select current_setting('lock_timeout')"); got != "7s" {
			t.Errorf("after attach the limit for locks is %s, want 7s as before", got)
		}
		exec(t, c, "commit")
		exec(t, holder, "begin; select from documents")
		fails(t, c, "alike: detach: public.documents is locked by process", "select alike.detach('documents')")
		exec(t, other, "select from documents")
		exec(t, holder, "commit")
		exec(t, c, "select alike.detach('documents')")
	})
}

// A key has one spelling, whatever the session's settings are.
func TestKeysHaveOneSpelling(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, c *pgx.Conn) {
		exec(t, c, "create table documents (at timestamptz, x float8, body text, primary key (at, x)); select alike.attach('documents', 'body')")
		for _, settings := range []string{"set timezone = 'Asia/Tokyo'; set datestyle = 'German'", "set timezone = 'America/New_York'; set extra_float_digits = -10"} {
			exec(t, c, settings)
			exec(t, c, "insert into documents values ('2024-01-01 00:00:00+00', 0.30000000000000004, 'x'); delete from documents")
		}
		wantQueued(t, c, "sessions of other settings", `["2024-01-01T00:00:00+00:00", 0.30000000000000004]`)
		exec(t, c, "create table odd (id int[] primary key, body text)")
		fails(t, c, "has no one spelling as text", "select alike.attach('odd', 'body')")
		exec(t, c, "create table parent (id int primary key, body text); create table child () inherits (parent)")
		fails(t, c, "other tables inherit from public.parent: public.child", "select alike.attach('parent', 'body')")
	})
}

// A checkin looks at its own attachment and not at every other, no matter who owns the table.
func TestCheckinLooksAtOneAttachment(t *testing.T) {
	onEach(t, func(t *testing.T, database string, c *pgx.Conn) {
		exec(t, c, "create table documents (id int primary key, body text); select alike.attach('documents', 'body')")
		role := "clerk_" + one[string](t, c, "select current_database()")
		exec(t, c, fmt.Sprintf("create role %[1]s; grant usage, create on schema public to %[1]s; alter table documents owner to %[1]s; select alike.own('documents'); set role %[1]s; select set_config('alike.checkin', (select id::text from alike.attachment), false)", role))
		rows, err := c.Query(context.Background(), "explain (analyze, costs off, timing off, summary off) insert into alike.queue (attachment, key) values (current_setting('alike.checkin')::int, '1')", pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if looks := strings.Count(strings.Join(plan, "\n"), "on attachment"); looks == 0 || strings.Count(strings.Join(plan, "\n"), "never executed") != looks-1 {
			t.Errorf("more than one look at the attachments:\n%s", strings.Join(plan, "\n"))
		}
	})
}

// A plan that the planner was told to avoid counts as very dear, and compiling it would take
// longer than a checkin may.
func TestForbiddenPlansAreNotCompiled(t *testing.T) {
	onEach(t, func(t *testing.T, database string, c *pgx.Conn) {
		if _, err := c.Exec(t.Context(), "create table jitted (id int primary key, body text); select alike.attach('jitted', 'body', '{\"policy\": \"link\"}')"); err != nil {
			t.Fatal(err)
		}
		rows, err := c.Query(t.Context(), `select p.oid::regprocedure::text from pg_proc p
			where p.proconfig::text like '%enable\_%=off%' and not 'jit=off' = any (p.proconfig) and p.oid::regprocedure::text not like 'pg_catalog.%'`)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			t.Errorf("functions that forbid plans and leave the compiler on: %q", found)
		}
	})
}

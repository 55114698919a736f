package migrations_test

import (
	"context"
	"fmt"
	process "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// describe spells out everything in the schema alike.
func describe(t *testing.T, c *pgx.Conn) string {
	t.Helper()
	rows, err := c.Query(context.Background(), `
		select 'function ' || p.oid::regprocedure || ' ' || coalesce(
		    (select concat_ws(' ', a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggtranstype::regtype) from pg_aggregate a where a.aggfnoid = p.oid),
		    md5(pg_get_functiondef(p.oid))) || coalesce(p.proacl::text, '')
		from pg_proc p where p.pronamespace = 'alike'::regnamespace
		union all
		select 'column ' || c.oid::regclass || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || coalesce(c.relacl::text, '')
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped where c.relnamespace = 'alike'::regnamespace
		union all
		select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace = 'alike'::regnamespace
		union all
		select 'index ' || pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'alike'::regnamespace
		union all
		select 'comment ' || classoid::regclass || ' ' || description from pg_description d where d.classoid in ('pg_proc'::regclass, 'pg_class'::regclass)
		  and exists (select from pg_proc p where p.oid = d.objoid and p.pronamespace = 'alike'::regnamespace
		              union all select from pg_class c where c.oid = d.objoid and c.relnamespace = 'alike'::regnamespace)
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestUpDownUp(t *testing.T) {
	for _, version := range pgtest.Extremes() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx := context.Background()
			database := pgtest.Shared(t, version).Empty(t)
			c := pgtest.Connect(t, database)
			if err := migrations.Up(ctx, database); err != nil {
				t.Fatal(err)
			}
			first := describe(t, c)
			if !strings.Contains(first, "alike.attach") {
				t.Fatal("attach is missing")
			}
			exec(t, c, "create table documents (id int primary key, body text)")
			exec(t, c, "select alike.attach('documents', 'body')")
			if err := migrations.Down(ctx, database); err != nil {
				t.Fatal(err)
			}
			var left int
			if err := c.QueryRow(ctx, "select (select count(*) from pg_namespace where nspname = 'alike') + (select count(*) from pg_trigger where tgrelid = 'documents'::regclass)").Scan(&left); err != nil || left != 0 {
				t.Fatalf("after down: %d leftovers, error %v", left, err)
			}
			exec(t, c, "insert into documents values (1, 'still writable')")
			if err := migrations.Up(ctx, database); err != nil {
				t.Fatal(err)
			}
			if second := describe(t, c); second != first {
				t.Errorf("up, down, up gives another schema:\n%s\n\n%s", first, second)
			}
			status, err := migrations.Current(ctx, database)
			if err != nil || status.Version != migrations.Latest() || status.Dirty {
				t.Errorf("status %+v, error %v", status, err)
			}
		})
	}
}

// The command of golang-migrate applies the same files, and gives the same schema.
func TestPlainMigrate(t *testing.T) {
	ctx := context.Background()
	command := filepath.Join(t.TempDir(), "migrate")
	if out, err := process.Command("go", "build", "-tags", "pgx5", "-o", command, "github.com/golang-migrate/migrate/v4/cmd/migrate").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ours, theirs := pgtest.Shared(t, pgtest.Version()).Empty(t), pgtest.Shared(t, pgtest.Version()).Empty(t)
	if err := migrations.Up(ctx, ours); err != nil {
		t.Fatal(err)
	}
	want := describe(t, pgtest.Connect(t, ours))
	run := func(args ...string) {
		t.Helper()
		args = append([]string{"-path", ".", "-database", strings.Replace(theirs, "postgres://", "pgx5://", 1)}, args...)
		if out, err := process.Command(command, args...).CombinedOutput(); err != nil {
			t.Fatalf("migrate %v: %v\n%s", args, err, out)
		}
	}
	c := pgtest.Connect(t, theirs)
	for range 2 {
		run("up")
		if got := describe(t, c); got != want {
			t.Errorf("the command makes another schema:\n%s\n\n%s", got, want)
		}
		if status, err := migrations.Current(ctx, theirs); err != nil || status.Version != migrations.Latest() || status.Dirty {
			t.Errorf("status %+v, error %v", status, err)
		}
		run("down", "-all")
		if n := one[int](t, c, "select count(*) from pg_namespace where nspname = 'alike'"); n != 0 {
			t.Error("down leaves the schema")
		}
	}
	// One at a time, in both directions, and each is taken back without a trace.
	for version := 1; version <= migrations.Latest(); version++ {
		run("up", "1")
		run("down", "1")
		run("up", "1")
	}
	if got := describe(t, c); got != want {
		t.Errorf("one by one gives another schema:\n%s\n\n%s", got, want)
	}
}

// A migration that cannot have its locks gives up, says so and leaves the database as it
// was: the lock of another migration, and the table of versions.
func TestMigrateGivesUp(t *testing.T) {
	ctx := context.Background()
	database := pgtest.New(t, pgtest.Version()).Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "begin; select from schema_migrations")
	wantLocked := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "another session holds a lock") {
			t.Errorf("%s: error %v, want who stands in the way", what, err)
		}
	}
	wantLocked("a transaction reads the versions", migrations.Down(ctx, database+"&lock_timeout=200ms"))
	first := make(chan error)
	go func() { first <- migrations.Down(ctx, database+"&lock_timeout=10min") }()
	watch := pgtest.Connect(t, database)
	for !one[bool](t, watch, "select exists (select from pg_locks where locktype = 'relation' and not granted) and exists (select from pg_locks where locktype = 'advisory' and granted)") {
		time.Sleep(5 * time.Millisecond)
	}
	wantLocked("another migration", migrations.Up(ctx, database+"&lock_timeout=200ms"))
	exec(t, c, "commit")
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := migrations.Up(ctx, database); err != nil {
		t.Error(err)
	}
	if status, err := migrations.Current(ctx, database); err != nil || status.Dirty || status.Version != migrations.Latest() {
		t.Errorf("status %+v, error %v", status, err)
	}
}

func exec(t *testing.T, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

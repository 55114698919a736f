package migrations_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// describe spells out everything in the schema alike.
func describe(t *testing.T, c *pgx.Conn) string {
	t.Helper()
	rows, err := c.Query(context.Background(), `
		select 'function ' || p.oid::regprocedure || ' ' || md5(pg_get_functiondef(p.oid)) || coalesce(p.proacl::text, '')
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
	for _, version := range pgtest.Versions() {
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

func exec(t *testing.T, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

package worker

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// What a statement changed that notes no keys is found, whatever happened to the rows before
// the worker looks: other transactions, savepoints, and a table that was written anew.
func TestLargeStatements(t *testing.T) {
	t.Parallel()
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint("PostgreSQL ", version), func(t *testing.T) {
			database := pgtest.Shared(t, version).Database(t)
			c := pgtest.Connect(t, database)
			// One feature a row: most of the time would go into the indexes of the others.
			exec(t, c, `create table documents (id int primary key, body text, seen int not null default 0, kind text not null default 'a');
				create function reverse_body() returns void language plpgsql as 'begin begin update documents set body = reverse(body); exception when division_by_zero then null; end; end';
				select alike.attach('documents', 'body', '{"where": "kind <> ''z''", "profile": "words k=1 s=7 r=1 t=7"}')`)
			w := newWorker(t, database, nil)
			large := func(want int) {
				t.Helper()
				if got := one[int](t, c, "select count(*) from alike.queue where file is not null"); got != want {
					t.Errorf("%d statements noted a file, want %d", got, want)
				}
			}
			for _, step := range []struct {
				sql   string
				noted int
			}{
				{"insert into documents select g, 'text ' || g / 2 from generate_series(1, 12000) as g", 1},
				{"analyze documents; update documents set body = 'other ' || id / 2", 1},
				{"update documents set seen = 1", 1},
				{"update documents set body = body || ' small' where id < 100", 0},
				{"update documents set id = id + 20000", 1},
				{"select reverse_body()", 1}, // its rows are of a subtransaction
				{"begin; savepoint s; update documents set body = body || ' and'; rollback to s; update documents set body = body || ' or'; commit", 1},
				{"update documents set body = body || ' of two'; update documents set body = body || ' statements' where id % 2 = 0; delete from documents where id % 7 = 0", 2},
				{"update documents set body = body || ' written anew'; alter table documents alter column seen type bigint using seen + 1", 1},
				{"update documents set kind = 'z' where id > 20100", 1},
				{"update documents set kind = 'a'", 1},
				{"insert into documents select g, 'more ' || g / 3 from generate_series(100001, 112000) as g; delete from documents where id < 100000", 1},
				{"truncate documents; insert into documents select g, 'again ' || g / 2 from generate_series(1, 11000) as g", 1},
				{"delete from documents", 0},
			} {
				exec(t, c, step.sql)
				large(step.noted)
				once(t, w)
				large(0)
				checkSide(t, c, "documents", "documents", "body", "id::text", "kind <> 'z'")
			}
		})
	}
}

// What a row resembled goes with the rows that a statement removed without naming them, and
// so does its place in a cluster.
func TestEmptiedTables(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"truncate documents", "begin; truncate documents; insert into documents values (1, 'one two three four five six'), (9, 'one two three four five six'); commit"} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, `create table documents (id int primary key, body text);
			select alike.attach('documents', 'body', '{"policy": "link"}');
			insert into documents select g, 'one two three four five six' from generate_series(1, 5) as g`)
		w := newWorker(t, database, nil)
		once(t, w)
		exec(t, c, "select alike.write_clusters('documents')")
		exec(t, c, statement)
		once(t, w)
		left := one[int](t, c, "select count(*) from documents")
		checkSide(t, c, "documents", "documents", "body", "id::text", "true")
		for _, sql := range []string{
			"select count(*) from (select id from documents_alike_match union select other from documents_alike_match) m",
			"select count(*) from documents_alike_cluster",
		} {
			if n := one[int](t, c, sql); n != left {
				t.Errorf("%s, of which %d rows are left: %s: %d", statement, left, sql, n)
			}
		}
	}
}

// A statement that changes many rows spends its time on them, not on us: by what its plan
// says of its triggers, and by how much log it writes.
func TestCostOfLargeStatements(t *testing.T) {
	for _, version := range pgtest.Releases() {
		c := pgtest.Connect(t, pgtest.Shared(t, version).Database(t))
		exec(t, c, "create table documents (id bigint primary key, body text, seen int); create table plain (id bigint primary key, body text, seen int); select alike.attach('documents', 'body')")
		for _, statement := range []string{
			"insert into %s select g, repeat(md5(g::text), 15), 0 from generate_series(1, 50000) as g",
			"update %s set body = 'x' || body",
			"update %s set seen = 1",
			"delete from %s",
		} {
			written := map[string]float64{}
			for _, table := range []string{"plain", "documents"} {
				before := one[string](t, c, "select pg_current_wal_insert_lsn()::text")
				var plan []struct {
					Triggers []struct {
						Time float64
					}
					Execution float64 `json:"Execution Time"`
				}
				if err := json.Unmarshal([]byte(one[string](t, c, "explain (analyze, format json) "+fmt.Sprintf(statement, table))), &plan); err != nil {
					t.Fatal(err)
				}
				written[table] = one[float64](t, c, "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)", before)
				spent := 0.0
				for _, trigger := range plan[0].Triggers {
					spent += trigger.Time
				}
				if spent > 0.3*plan[0].Execution {
					t.Errorf("PostgreSQL %d: of %.0f ms that %q took its triggers took %.0f", version, plan[0].Execution, statement, spent)
				}
			}
			if written["documents"] > 1.05*written["plain"]+1<<20 {
				t.Errorf("PostgreSQL %d: %q wrote %.0f bytes of log, and %.0f on a table that is not attached", version, statement, written["documents"], written["plain"])
			}
		}
	}
}

// The triggers' plans, which are made for a statement that changes one row, do for a statement that
// changes thousands of which each has to be noted: there are verdicts.
func TestPlansOfSmallStatements(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	exec(t, c, `create table documents (id int primary key, body text); insert into documents select g, 'text ' || g from generate_series(1, 40000) as g;
		select alike.attach('documents', 'body'); insert into documents_alike_mark values (1, 2, 'distinct')`)
	for i := range 8 {
		exec(t, c, "update documents set body = body || ' changed' where id = $1", i)
	}
	exec(t, c, "set statement_timeout = '1min'") // comparing each with each takes several
	exec(t, c, "update documents set body = body || ' changed'")
	if n := one[int](t, c, "select count(*) from alike.queue where file is not null"); n != 1 {
		t.Errorf("an update that moves no verdict noted %d files, want 1", n)
	}
	exec(t, c, "update documents set id = id + 100000")
	if n := one[int](t, c, "select count(*) from alike.queue where file is not null"); n != 1 {
		t.Errorf("a statement that moves keys noted %d files more, want 0", n-1)
	}
	if got, want := list(t, c, "select id || '-' || other from documents_alike_mark"), "100001-100002"; got != want {
		t.Errorf("the verdict is on %s, want %s", got, want)
	}
}

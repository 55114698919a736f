//go:build unix

package engines

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/migrations/pgtest"
)

// BenchmarkContainment compares the time of alike_containment for two sketches of about 40
// values in both engines. Beside it are what PostgreSQL takes at least: an empty function,
// and a function whose whole work is to look at each of the values once.
func BenchmarkContainment(b *testing.B) {
	const pairs = 4000
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	c := pgtest.Connect(b, pgtest.Database(b))
	scripts := []func(string) error{
		func(s string) error { _, err := db.Exec(s); return err },
		func(s string) error { _, err := c.Exec(context.Background(), s); return err },
	}
	for i, blob := range []string{"blob", "bytea"} {
		if err := scripts[i](fmt.Sprintf("create table pair (a %s, b %[1]s)", blob)); err != nil {
			b.Fatal(err)
		}
	}
	g := corpus.New(11, 600, 0.4)
	var batch pgx.Batch
	for range pairs {
		var x, y []byte
		if err := db.QueryRow("select alike_sketch(?1, 'mod=4'), alike_sketch(?1 || ?2, 'mod=4')", g.Next().Text, g.Next().Text).Scan(&x, &y); err != nil {
			b.Fatal(err)
		}
		if _, err := db.Exec("insert into pair values (?, ?)", x, y); err != nil {
			b.Fatal(err)
		}
		batch.Queue("insert into pair values ($1, $2)", x, y)
	}
	if err := c.SendBatch(context.Background(), &batch).Close(); err != nil {
		b.Fatal(err)
	}
	for _, f := range []string{
		"create function does_nothing(a bytea, b bytea) returns float8 language plpgsql immutable strict as $$ begin return 0; end $$",
		`create function looks_once(a bytea, b bytea) returns float8 language plpgsql immutable strict as $$
		begin
			for i in 31 .. length(a) by 8 loop if substr(a, i, 8) <= substr(a, i - 8, 8) then return null; end if; end loop;
			for i in 31 .. length(b) by 8 loop if substr(b, i, 8) <= substr(b, i - 8, 8) then return null; end if; end loop;
			return 0;
		end $$`,
		"set max_parallel_workers_per_gather = 0", "set jit = off",
	} {
		if _, err := c.Exec(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	one := func(query string) (n float64) {
		if err := c.QueryRow(context.Background(), query).Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	b.ReportMetric(one("select avg(length(a) - 22 + length(b) - 22) / 16 from pair"), "values")
	for name, run := range map[string]func(){
		"SQLite": func() {
			var n float64
			if err := db.QueryRow("select sum(alike_containment(a, b)) from pair").Scan(&n); err != nil {
				b.Fatal(err)
			}
		},
		"PostgreSQL":   func() { one("select sum(alike.containment(a, b)) from pair") },
		"looks_once":   func() { one("select count(looks_once(a, b)) from pair") },
		"does_nothing": func() { one("select count(does_nothing(a, b)) from pair") },
	} {
		best := time.Hour
		for range 9 {
			start := time.Now()
			run()
			best = min(best, time.Since(start))
		}
		b.ReportMetric(float64(best.Nanoseconds())/pairs/1000, "µs_"+name)
	}
	b.ReportMetric(0, "ns/op")
}

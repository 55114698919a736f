package worker

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/alike-sql/alike/migrations/pgtest"
)

var checkinRounds = flag.Int("rounds", 5, "how often BenchmarkCheckins runs statements of 10,000 rows")

// BenchmarkCheckins prints how many times as long a statement takes on an attached table as on
// another that is not, and so for a table whose triggers may see the rows and do nothing: of each the
// least time, in turns, so that a busy machine disturbs all alike.
func BenchmarkCheckins(b *testing.B) {
	for _, version := range []int{pgtest.Version(), 18} {
		s := pgtest.New(b, version, "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1h", "autovacuum=off", "synchronous_commit=off")
		database := s.Database(b)
		c := pgtest.Connect(b, database)
		exec(b, c, "create function nothing() returns trigger language plpgsql as 'begin return null; end'")
		for _, kind := range []struct{ name, table, profile, after string }{
			{"a table, 12 features", "create table %s (id bigint primary key, body text)", "words w=4 t=84 k=12 s=7", ""},
			{"a table, 34 features", "create table %s (id bigint primary key, body text)", "chars k=34 s=4", ""},
			{"a partitioned table", "create table %[1]s (id bigint primary key, body text) partition by hash (id); create table %[1]s_0 partition of %[1]s for values with (modulus 2, remainder 0); create table %[1]s_1 partition of %[1]s for values with (modulus 2, remainder 1)", "short", ""},
			{"a table with a verdict", "create table %s (id bigint primary key, body text)", "short", "insert into ours_alike_mark values (-2, -1, 'distinct')"},
		} {
			tables := []string{"ours", "plain", "idle"}
			for _, table := range tables {
				exec(b, c, fmt.Sprintf(kind.table, table))
			}
			exec(b, c, `create trigger i after insert on idle referencing new table as n for each statement execute function nothing();
				create trigger u after update on idle referencing old table as o new table as n for each statement execute function nothing()`)
			exec(b, c, fmt.Sprintf(`select alike.attach('ours', 'body', '{"profile": "%s"}'); %s`, kind.profile, kind.after))
			for _, rows := range []int{1, 100, 10_000, 1_000_000} {
				times := map[string][]time.Duration{}
				repeat := map[int]int{1: 200 * *checkinRounds, 100: 20 * *checkinRounds, 10_000: *checkinRounds, 1_000_000: 2}[rows]
				for round := range repeat {
					for _, table := range tables {
						for _, sql := range []string{
							fmt.Sprintf("insert into %s select g, repeat(md5(g::text), 15) from generate_series(%d, %d) as g", table, round*rows+1, (round+1)*rows),
							fmt.Sprintf("update %s set body = 'x' || body where id between %d and %d", table, round*rows+1, (round+1)*rows),
						} {
							if rows == 1_000_000 {
								exec(b, c, "checkpoint")
							}
							start := time.Now()
							exec(b, c, sql)
							times[table+sql[:6]] = append(times[table+sql[:6]], time.Since(start))
						}
					}
				}
				for _, verb := range []string{"insert", "update"} {
					ours, plain, idle := slices.Min(times["ours"+verb]), slices.Min(times["plain"+verb]), slices.Min(times["idle"+verb])
					fmt.Printf("PostgreSQL %d, %-24s %s of %7d rows: %.2f times as long, %s more a row; %.2f with a trigger that does nothing\n", version, kind.name, verb, rows,
						float64(ours)/float64(plain), (ours-plain)/time.Duration(rows), float64(idle)/float64(plain))
				}
				exec(b, c, "truncate ours; truncate plain; truncate idle; truncate alike.queue; "+kind.after)
			}
			exec(b, c, `select alike.detach('ours', '{"drop": true}'); drop table ours, plain, idle`)
		}
	}
}

// BenchmarkDelay prints how long after its commit a row is sketched whose checkin finds the
// worker waiting, one row at a time.
func BenchmarkDelay(t *testing.B) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table letters (id int primary key, body text); select alike.attach('letters', 'body')")
	w := newWorker(t, database, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	waitFor(t, "the fill", func() bool {
		return one[bool](t, c, "select not exists (select from alike.backfill where finished_at is null)")
	})
	var delays []time.Duration
	for i := range 200 {
		// The worker's wait is between 20 and 150 ms; begin anywhere in it.
		time.Sleep(time.Duration(i*7919%300) * time.Millisecond)
		exec(t, c, "insert into letters values ($1, 'a letter that nobody expected')", i)
		committed := time.Now()
		waitFor(t, "the sketch", func() bool { return one[bool](t, c, "select exists (select from letters_alike where id = $1)", i) })
		delays = append(delays, time.Since(committed))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	slices.Sort(delays)
	fmt.Printf("PostgreSQL %d: sketched within %s at the median, %s of 90 %%\n", pgtest.Version(), delays[len(delays)/2], delays[len(delays)*9/10])
}

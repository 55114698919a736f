package worker

import (
	"fmt"
	"testing"
	"time"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// What a checkin costs as a table grows, in both layouts: the log that the server writes for
// the row and for moving and merging its entry, the time to write it, the time of a question
// and the size. The features are random numbers that are written into the side table as the worker
// writes them, in transactions of 100. The server runs with its own settings.
func BenchmarkGrowth(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 300_000, 1_000_000} {
		for _, layout := range []string{"columns", "parts"} {
			b.Run(fmt.Sprintf("rows=%d/layout=%s", rows, layout), func(b *testing.B) {
				if testing.Short() && rows > 10_000 {
					b.Skip("only the smallest table")
				}
				growth(b, rows, layout)
			})
		}
	}
}

func growth(b *testing.B, rows int, layout string) {
	s := pgtest.New(b, pgtest.Version(), "full_page_writes=on", "max_wal_size=8GB", "checkpoint_timeout=1h")
	c := pgtest.Connect(b, s.Database(b))
	exec(b, c, "create table t (id bigint primary key, body text)")
	exec(b, c, `select alike.attach('t', 'body', $1)`, `{"profile": "prose", "layout": "`+layout+`"}`)
	features := one[int](b, c, "select features from alike.attachment")
	columns, values := "", ""
	for n := 1; n <= features; n++ {
		columns += fmt.Sprintf(", f%d", n)
		values += fmt.Sprintf(", ('x' || substr(md5(g || '.%d'), 1, 16))::bit(64)::bigint", n)
	}
	profile := one[int](b, c, "select profile_id from alike.attachment")
	write := fmt.Sprintf("insert into t_alike (id, profile, content_hash, shingles, sketch%s) select g, %d, g, 90, decode(repeat(md5(g::text), 7), 'hex')%s from generate_series($1::int, $2::int) as g", columns, profile, values)
	// As the worker does, the first rows are written before there is an index.
	exec(b, c, `do $$ declare i regclass; begin
	  for i in select indexrelid from pg_index where indrelid in ('t_alike'::regclass, to_regclass('t_alike_part')) and not indisprimary loop execute 'drop index ' || i; end loop; end $$`)
	exec(b, c, write, 1, rows)
	exec(b, c, "select alike_build_1()")
	exec(b, c, "vacuum analyze")
	merge := func() {
		for one[*int64](b, c, "select alike._merge()") != nil {
		}
	}
	logged := func() int64 { return one[int64](b, c, "select pg_current_wal_insert_lsn() - '0/0'") }
	for range b.N {
		var written, merged int64
		var spent, merging time.Duration
		checkins := 24_000
		for from := rows + 1; from < rows+checkins; from += 100 {
			if (from-rows)%3000 == 1 {
				exec(b, c, "checkpoint")
			}
			before, start := logged(), time.Now()
			exec(b, c, write, from, from+99)
			written, spent = written+logged()-before, spent+time.Since(start)
			before, start = logged(), time.Now()
			merge()
			merged, merging = merged+logged()-before, merging+time.Since(start)
		}
		rows += checkins
		b.ReportMetric(float64(written)/float64(checkins)/1000, "KB/row")
		b.ReportMetric(float64(merged)/float64(checkins)/1000, "KB-merged/row")
		b.ReportMetric(float64(checkins)/spent.Seconds(), "rows/s")
		b.ReportMetric(float64(checkins)/(spent+merging).Seconds(), "rows-merged/s")
	}
	const questions = 500
	ask := "select count(*) from generate_series(1, $1) g cross join lateral alike_similar_1(null, null, (1 + g * 7919 % $2)::text, 0.5, null) r"
	exec(b, c, "vacuum analyze")
	one[int](b, c, ask, questions, rows)
	start := time.Now()
	one[int](b, c, ask, questions, rows)
	b.ReportMetric(float64(time.Since(start).Microseconds())/1000/questions, "ms/question")
	b.ReportMetric(one[float64](b, c, "select sum(pg_total_relation_size(oid)) / $1::float8 from pg_class where relkind = 'r' and relname ~ '^(t_alike|t_alike_part|alike_part_.*)$'", rows), "bytes/row")
	b.ReportMetric(one[float64](b, c, "select count(*)::float8 from alike._parts(1, 'public')"), "parts")
	b.ReportMetric(0, "ns/op")
}

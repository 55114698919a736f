package worker

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// What a checkin costs as a table grows, in both layouts: the log that the server writes for
// the row and for moving and merging its entry, the time to write it, how long it waits in a
// transaction of its own while parts merge, the time of a question and of all pairs, and the
// size, at last after ALIKE_UPDATES changes of rows. ALIKE_PROFILE is another profile
// than prose and has another number of features. The features are random numbers that are
// written into the side table as the worker writes them, in transactions of 100. The server is
// on disk and has its own settings but for checkpoints, which come every 3,000 checkins.
func BenchmarkGrowth(b *testing.B) {
	sizes := os.Getenv("ALIKE_GROWTH")
	if sizes == "" {
		sizes = "10000"
	}
	for size := range strings.SplitSeq(sizes, ",") {
		rows, err := strconv.Atoi(size)
		if err != nil {
			b.Fatal(err)
		}
		for _, layout := range []string{"columns", "parts"} {
			b.Run(fmt.Sprintf("rows=%d/layout=%s", rows, layout), func(b *testing.B) { growth(b, rows, layout) })
		}
	}
}

func growth(b *testing.B, rows int, layout string) {
	s := pgtest.OnDisk(b, pgtest.Version(), "fsync=on", "full_page_writes=on", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1h")
	database := s.Database(b)
	c := pgtest.Connect(b, database)
	exec(b, c, "create table t (id bigint primary key, body text)")
	settings := cmp.Or(os.Getenv("ALIKE_PROFILE"), "prose")
	exec(b, c, `select alike.attach('t', 'body', $1)`, `{"profile": "`+settings+`", "layout": "`+layout+`"}`)
	features := one[int](b, c, "select features from alike.attachment")
	columns, values, changes := "", "", ""
	for n := 1; n <= features; n++ {
		columns += fmt.Sprintf(", f%d", n)
		value := fmt.Sprintf("('x' || substr(md5(g || '.%d'), 1, 16))::bit(64)::bigint", n)
		values += ", " + value
		changes += fmt.Sprintf(", f%d = %s", n, strings.Replace(value, "g ||", "$3::int::text || id ||", 1))
	}
	profile := one[int](b, c, "select profile_id from alike.attachment")
	write := fmt.Sprintf("insert into t_alike (id, profile, content_hash, shingles, sketch%s) select g, %d, g, 90, %s%s from generate_series($1::int, $2::int) as g",
		columns, profile, randomSketch(b, one[string](b, c, "select profile from alike.settings where id = $1", profile)), values)
	// As the worker does, the first rows are written before there is an index.
	exec(b, c, `do $$ declare i regclass; begin
	  for i in select indexrelid from pg_index where indrelid in ('t_alike'::regclass, to_regclass('t_alike_part')) and not indisprimary loop execute 'drop index ' || i; end loop; end $$`)
	exec(b, c, write, 1, rows)
	exec(b, c, "select alike_build_1()")
	exec(b, c, "vacuum analyze")
	merge := func() {
		for one[*int64](b, c, "select alike._merge()") != nil {
		}
		if table := one[*string](b, c, "select alike._to_vacuum()"); table != nil {
			exec(b, c, "vacuum "+*table) // as the worker does
		}
	}
	logged := func() int64 { return one[int64](b, c, "select pg_current_wal_insert_lsn() - '0/0'") }
	sizeOf := func(tables string) float64 {
		return one[float64](b, c, "select coalesce(sum(pg_total_relation_size(oid)), 0) / (select count(*) from t_alike)::float8 from pg_class where relkind = 'r' and relname ~ $1", "^("+tables+")$")
	}
	size := func() float64 { return sizeOf("t_alike|t_alike_part|alike_part_.*") }
	b.ReportMetric(float64(features), "features")
	b.ReportMetric(size(), "bytes-fresh/row")

	const checkins = 24_000
	var written, merged int64
	var spent, merging time.Duration
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
	b.ReportMetric(float64(written)/checkins/1000, "KB/row")
	b.ReportMetric(float64(merged)/checkins/1000, "KB-merged/row")
	b.ReportMetric(checkins/spent.Seconds(), "rows/s")
	b.ReportMetric(checkins/(spent+merging).Seconds(), "rows-merged/s")

	// One at a time, beside a worker that merges.
	other := pgtest.Connect(b, database)
	stop := make(chan struct{})
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if copied := one[*int64](b, other, "select alike._merge()"); copied == nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		}
	})
	var waits []time.Duration
	for range checkins {
		rows++
		start := time.Now()
		exec(b, c, write, rows, rows)
		waits = append(waits, time.Since(start))
	}
	close(stop)
	worker.Wait()
	slices.Sort(waits)
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(milliseconds(waits[len(waits)/2]), "ms/checkin")
	b.ReportMetric(milliseconds(waits[len(waits)*999/1000]), "ms-p99.9/checkin")
	b.ReportMetric(milliseconds(waits[len(waits)-1]), "ms-longest/checkin")
	merge()

	const questions = 500
	exec(b, c, "vacuum analyze")
	var asked []time.Duration
	for n := range 2 * questions {
		start := time.Now()
		exec(b, c, "select count(*) from alike.rows('t', $1)", fmt.Sprint(1+n*7919%rows))
		if n >= questions { // the first ones warm the caches
			asked = append(asked, time.Since(start))
		}
	}
	slices.Sort(asked)
	b.ReportMetric(milliseconds(asked[questions/2]), "ms/question")
	start := time.Now()
	one[int](b, c, "select count(*) from alike.pairs('t')")
	b.ReportMetric(time.Since(start).Seconds(), "s/pairs")
	b.ReportMetric(size(), "bytes/row")
	b.ReportMetric(one[float64](b, c, "select count(*)::float8 from alike._parts(1, 'public')"), "parts")

	if updates, _ := strconv.Atoi(os.Getenv("ALIKE_UPDATES")); updates > 0 {
		for from := 0; from < updates; from += 1000 {
			at := from % rows
			exec(b, c, "update t_alike set content_hash = content_hash + 1"+changes+" where id > $1 and id <= $2", at, at+1000, from/rows)
			merge()
			if from%(rows/5/1000*1000) == 0 {
				exec(b, c, "vacuum t_alike") // as autovacuum does in a table that changes slower
			}
		}
		exec(b, c, "vacuum")
		b.ReportMetric(size(), "bytes-changed/row")
		b.ReportMetric(sizeOf("t_alike_part|alike_part_.*"), "bytes-changed-in-parts/row")
	}

	// All pairs again where rows resemble each other.
	exec(b, c, resemble(profile, features, "t_alike"), rows)
	merge()
	exec(b, c, "vacuum analyze")
	start = time.Now()
	b.ReportMetric(float64(one[int](b, c, "select count(*) from alike.pairs('t')")), "pairs")
	b.ReportMetric(time.Since(start).Seconds(), "s/pairs-found")
	b.ReportMetric(0, "ns/op")
}

// randomSketch is an expression for a sketch with random slots under a profile, a different one for each g.
func randomSketch(tb testing.TB, settings string) string {
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		tb.Fatal(err)
	}
	s.Document([]byte(story))
	slots := (p.T*p.Bits + 7) / 8
	made := s.AppendSketch(nil)
	return fmt.Sprintf("decode('%x' || substr(repeat(md5(g::text), %d), 1, %d), 'hex')", made[:len(made)-slots], slots/16+1, 2*slots)
}

// resemble returns the statement that gives every tenth of $1 rows, whose keys count from 1, the sketch of
// another row and two of three of its features, so that a tenth of the rows resemble one.
func resemble(profile, features int, side string) string {
	set := ""
	for n := 1; n <= features; n++ {
		set += fmt.Sprintf(", f%[1]d = case when (s.id / 10 + %[1]d) %% 3 > 0 then o.f%[1]d else s.f%[1]d end", n)
	}
	return fmt.Sprintf("update %[1]s s set sketch = o.sketch%[2]s from %[1]s o where s.profile = %[3]d and s.id %% 10 = 0 and o.id = 1 + s.id * 7919 %% $1::bigint", side, set, profile)
}

// All pairs read about as much in both layouts where rows resemble each other. The entries that make them
// were once looked up three times for each feature that rows share.
func TestPairsReadAsMuchInParts(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	exec(t, c, `create function pg_temp.plan(question text) returns json language plpgsql as $$ declare plan json;
		begin execute 'explain (analyze, buffers, format json) ' || question into plan; return plan; end $$`)
	const rows = 20_000
	read := map[string]float64{}
	found := map[string]int{}
	for table, layout := range map[string]string{"c": "columns", "p": "parts"} {
		exec(t, c, fmt.Sprintf("create table %s (id bigint primary key, body text)", table))
		exec(t, c, "select alike.attach($1, 'body', $2)", table, `{"profile": "prose", "layout": "`+layout+`"}`)
		profile, features := one[int](t, c, "select profile_id from alike.attachment where name = $1", table), one[int](t, c, "select features from alike.attachment where name = $1", table)
		random := randomSketch(t, one[string](t, c, "select profile from alike.settings where id = $1", profile))
		columns, values := "", ""
		for n := 1; n <= features; n++ {
			columns += fmt.Sprintf(", f%d", n)
			values += fmt.Sprintf(", ('x' || substr(md5(g || '.%d'), 1, 16))::bit(64)::bigint", n)
		}
		exec(t, c, fmt.Sprintf("select alike_build_%d()", one[int](t, c, "select id from alike.attachment where name = $1", table)))
		for from := 1; from < rows; from += rows / 2 { // two parts, and the newest entries
			exec(t, c, fmt.Sprintf("insert into %s_alike (id, profile, content_hash, shingles, sketch%s) select g, %d, g, 90, %s%s from generate_series($1::int, $2::int) as g",
				table, columns, profile, random, values), from, from+rows/2-1)
			for one[*int64](t, c, "select alike._merge()") != nil {
			}
		}
		exec(t, c, resemble(profile, features, table+"_alike"), rows)
		exec(t, c, "vacuum analyze")
		question := fmt.Sprintf("select count(*) from alike.pairs('%s')", table)
		found[table] = one[int](t, c, question)
		read[table] = one[float64](t, c, "select (p -> 'Shared Hit Blocks')::text::float8 + (p -> 'Shared Read Blocks')::text::float8 from (select pg_temp.plan($1) -> 0 -> 'Plan' as p) q", question)
	}
	if found["c"] != found["p"] || found["c"] < rows/20 {
		t.Errorf("%d pairs in columns and %d in parts, want as many and at least %d", found["c"], found["p"], rows/20)
	}
	if ratio := read["p"] / read["c"]; ratio > 1.5 {
		t.Errorf("all pairs in parts read %.0f pages, in columns %.0f: %.2f times as many", read["p"], read["c"], ratio)
	}
}

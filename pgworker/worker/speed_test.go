package worker

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// generated is a source of 500-byte documents, a tenth of them edited copies.
type generated struct {
	i, n  int
	r     *rand.Rand
	texts [][]int
	row   []any
}

func (g *generated) Next() bool {
	if g.i++; g.i > g.n {
		return false
	}
	var words []int
	if len(g.texts) > 0 && g.r.IntN(10) == 0 {
		words = slices.Clone(g.texts[g.r.IntN(len(g.texts))])
		for range g.r.IntN(4) {
			words[g.r.IntN(len(words))] = g.r.IntN(50000)
		}
	} else {
		words = make([]int, 80)
		for i := range words {
			words[i] = g.r.IntN(50000)
		}
	}
	if len(g.texts) < 10000 {
		g.texts = append(g.texts, words)
	} else {
		g.texts[g.r.IntN(len(g.texts))] = words
	}
	text := make([]byte, 0, 560)
	for _, word := range words {
		text = append(strconv.AppendInt(append(text, 'w'), int64(word), 10), ' ')
	}
	g.row = []any{int64(g.i), string(text)}
	return true
}

func (g *generated) Values() ([]any, error) { return g.row, nil }
func (g *generated) Err() error             { return nil }

// BenchmarkPostgres prints what everything costs beside what it is compared to,
// in one run. ALIKE_ROWS is the size of the table, a million unless given.
func BenchmarkPostgres(b *testing.B) {
	rows := 1000000
	fmt.Sscan(os.Getenv("ALIKE_ROWS"), &rows)
	debug.SetMemoryLimit(150 << 20)
	s := pgtest.New(b, pgtest.Version(), "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1h", "work_mem=64MB", "maintenance_work_mem=256MB", "autovacuum=off", "full_page_writes=off")
	database := s.Database(b)
	c := pgtest.Connect(b, database)
	worker := func() *Worker {
		return newWorker(b, database, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	}
	line := func(what, format string, args ...any) { fmt.Printf("%-58s %s\n", what, fmt.Sprintf(format, args...)) }
	rate := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	load := func(table string, n int) {
		if _, err := c.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "body"}, &generated{n: n, r: rand.New(rand.NewPCG(1, 2))}); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Printf("\nPostgreSQL %d, %d rows of 500 bytes, profile text, one worker\n", s.Version, rows)

	// Backfill.
	exec(b, c, "create table documents (id bigint primary key, body text)")
	load("documents", rows)
	exec(b, c, "vacuum analyze documents")
	exec(b, c, "select alike.attach('documents', 'body')")
	chunks := func(w *Worker) time.Duration {
		return timed(func() {
			for {
				did, err := w.copyChunk(ctx)
				if err != nil {
					b.Fatal(err)
				}
				if !did {
					return
				}
			}
		})
	}
	split := func(w *Worker) {
		if _, err := w.splitBackfill(ctx); err != nil {
			b.Fatal(err)
		}
	}
	// In turns, since a disk is not always equally quick: the median of five.
	var w *Worker
	var ceilings, fulls []time.Duration
	var shares []float64
	fill := func() time.Duration {
		exec(b, c, "truncate documents_alike; select alike.refresh('documents')")
		w = worker()
		split(w)
		return chunks(w)
	}
	for range 5 {
		exec(b, c, "truncate documents_alike")
		ceilings = append(ceilings, timed(func() { copyThrough(b, database, rows) }))
		fulls = append(fulls, fill())
		shares = append(shares, ceilings[len(ceilings)-1].Seconds()/fulls[len(fulls)-1].Seconds())
	}
	slices.Sort(shares)
	line("COPY out and in with nothing between", "%.0f rows/s", rate(rows, middle(ceilings)))
	line("backfill", "%.0f rows/s, %.0f %% of COPY (want 60)", rate(rows, middle(fulls)), 100*shares[len(shares)/2])
	indexes := timed(func() { once(b, w) })
	line("its 12 indexes", "%.1f s", indexes.Seconds())
	exec(b, c, "vacuum analyze documents_alike")

	// Questions.
	for range 2 {
		times := make([]time.Duration, 3000)
		selects := make([]time.Duration, len(times))
		r := rand.New(rand.NewPCG(3, 4))
		found := 0
		for i := range times {
			id := 1 + r.IntN(rows)
			selects[i] = timed(func() { one[int64](b, c, "select id from documents where id = $1", id) })
			times[i] = timed(func() { found += one[int](b, c, "select count(*) from alike.rows('documents', $1)", fmt.Sprint(id)) })
		}
		slices.Sort(times)
		slices.Sort(selects)
		line("alike.rows, median and 99 %", "%v %v (want 1ms); a select by key %v; %d found", times[len(times)/2].Round(time.Microsecond), times[len(times)*99/100].Round(time.Microsecond), selects[len(selects)/2].Round(time.Microsecond), found)
	}
	var n int
	pairs := timed(func() { n = one[int](b, c, "select count(*) from alike.pairs('documents')") })
	line("alike.pairs of all rows", "%.2f s (want 6), %d pairs", pairs.Seconds(), n)
	exec(b, c, "set max_parallel_workers_per_gather = 0")
	pairs = timed(func() { n = one[int](b, c, "select count(*) from alike.pairs('documents')") })
	exec(b, c, "reset max_parallel_workers_per_gather")
	line("the same without parallel query", "%.2f s, %d pairs", pairs.Seconds(), n)

	// Triggers and the queue.
	bulk := rows / 5
	exec(b, c, "create table source (id bigint, body text)")
	load("source", bulk)
	exec(b, c, "create table plain (id bigint primary key, body text); create table live (id bigint primary key, body text); select alike.attach('live', 'body')")
	once(b, w)
	best := func(table string) time.Duration {
		least := time.Hour
		for range 3 {
			exec(b, c, "truncate "+table+", alike.queue")
			least = min(least, timed(func() { exec(b, c, "insert into "+table+" select id, body from source") }))
		}
		return least
	}
	without, with := best("plain"), best("live")
	line("INSERT in bulk through the trigger", "%.2f µs a row more (want 5), of %.2f", float64((with-without).Nanoseconds())/1e3/float64(bulk), float64(with.Nanoseconds())/1e3/float64(bulk))
	drain := func(workers ...*Worker) spent {
		exec(b, c, "truncate live_alike, live, alike.queue")
		exec(b, c, "insert into live select id, body from source")
		exec(b, c, "analyze live")
		exec(b, c, "checkpoint")
		before := spentUntilNow(b, s)
		done := make(chan error)
		for _, w := range workers {
			go func() { done <- w.Once(ctx) }()
		}
		for range workers {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
		return spentUntilNow(b, s).since(before)
	}
	real := drain(worker())
	two := drain(worker(), worker())
	line("live queue", "%.0f rows/s", rate(bulk, real.wall))
	line("live queue, two workers", "%.0f rows/s, %.2f times one (want 1.6)", rate(bulk, two.wall), real.wall.Seconds()/two.wall.Seconds())
	line("processor time a row of one worker and of two, in µs", "%s; %s", real.each(bulk), two.each(bulk))
	// No number of workers gets more out of the machine than it has left.
	possible := (real.ours() / float64(bulk)) * (two.available() / two.wall.Seconds()) / (two.ours() / float64(bulk)) * real.wall.Seconds() / real.ours()
	line("processors that nobody else used meanwhile", "%.2f of %d; one worker had %.2f busy, so that two gain at most %.2f", two.available()/two.wall.Seconds(), runtime.NumCPU(), real.ours()/real.wall.Seconds(), possible)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for _, text := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(text, "VmHWM") {
			line("memory of this process, workers and measurement", "%s (want 150 MB for a worker)", strings.Join(strings.Fields(text)[1:], " "))
		}
	}
}

// spent is what was used up: time, and processor time in seconds of the server,
// of this process and of everything on the machine.
type spent struct {
	wall                 time.Duration
	server, self, others float64
}

func (s spent) ours() float64 { return s.server + s.self }

// available is the processor time that was there for us.
func (s spent) available() float64 {
	return s.wall.Seconds()*float64(runtime.NumCPU()) - s.others
}

func (s spent) each(rows int) string {
	return fmt.Sprintf("server %.1f, worker %.1f", s.server/float64(rows)*1e6, s.self/float64(rows)*1e6)
}

func (s spent) since(before spent) spent {
	d := spent{s.wall - before.wall, s.server - before.server, s.self - before.self, s.others - before.others}
	d.others = max(0, d.others-d.ours())
	return d
}

var began = time.Now()

func spentUntilNow(t testing.TB, s *pgtest.Server) spent {
	t.Helper()
	pid, err := s.PID()
	if err != nil {
		t.Fatal(err)
	}
	now := spent{wall: time.Since(began), self: ticks(t, os.Getpid(), false), server: ticks(t, pid, true)}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(children)) {
		n, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		now.server += ticks(t, n, false)
	}
	all, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range strings.Fields(string(all))[1:9] { // of the line cpu: user nice system idle iowait irq softirq steal
		if n, err := strconv.ParseFloat(field, 64); err == nil && i != 3 && i != 4 {
			now.others += n / 100
		}
	}
	return now
}

// ticks is the processor time of a process, and of its children that have ended.
func ticks(t testing.TB, pid int, children bool) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has ended meanwhile, and its parent has its time
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	sum := 0.0
	for i := 11; i <= 14 && (children || i <= 12); i++ { // utime stime cutime cstime
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n / 100
	}
	return sum
}

// copyThrough reads the documents and writes as many side rows, both by COPY and
// at the same time, and computes nothing.
func copyThrough(b *testing.B, database string, rows int) {
	in, out := pgtest.Connect(b, database), pgtest.Connect(b, database)
	done := make(chan error, 1)
	go func() {
		_, err := out.PgConn().CopyTo(ctx, io.Discard, "copy (select id, body from documents) to stdout (format binary)")
		done <- err
	}()
	p := &copier{a: &attachment{keys: 1, profile: sketch.Profile{K: 12}, profileID: 1}}
	p.r = &aspect.Row{Sketch: make([]byte, 104)}
	for i := range 12 {
		p.r.Features = append(p.r.Features, sketch.Feature{Slot: i, Value: int64(i)})
	}
	reader, writer := io.Pipe()
	go func() {
		p.out, p.block = writer, append(p.block, copyHeader...)
		for i := range rows {
			p.fields = [][]byte{{0, 0, 0, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}}
			p.emit()
			if len(p.block) >= copyBlock {
				if err := p.flush(); err != nil {
					return
				}
			}
		}
		p.ended = true
		writer.CloseWithError(p.finish())
	}()
	if _, err := in.PgConn().CopyFrom(ctx, reader, "copy documents_alike (id, profile, content_hash, shingles, sketch, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12) from stdin (format binary)"); err != nil {
		b.Fatal(err)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

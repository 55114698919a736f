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
	c := costs{b, s, database, pgtest.Connect(b, database), rows}
	fmt.Printf("\nPostgreSQL %d, %d rows of 500 bytes, profile text, one worker\n", s.Version, rows)
	c.backfill()
	c.questions()
	c.checkins()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for _, text := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(text, "VmHWM") {
			c.line("memory of this process, workers and measurement", "%s (want 150 MB for a worker)", strings.Join(strings.Fields(text)[1:], " "))
		}
	}
}

// costs measures one table of one server.
type costs struct {
	*testing.B
	server   *pgtest.Server
	database string
	c        *pgx.Conn
	rows     int
}

func (c costs) line(what, format string, args ...any) {
	fmt.Printf("%-58s %s\n", what, fmt.Sprintf(format, args...))
}

func (c costs) worker() *Worker {
	return newWorker(c, c.database, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) })
}

func (c costs) load(table string, n int) {
	if _, err := c.c.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "body"}, &generated{n: n, r: rand.New(rand.NewPCG(1, 2))}); err != nil {
		c.Fatal(err)
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }

func (c costs) backfill() {
	exec(c, c.c, "create table documents (id bigint primary key, body text)")
	c.load("documents", c.rows)
	exec(c, c.c, "vacuum analyze documents")
	exec(c, c.c, "select alike.attach('documents', 'body')")
	var w *Worker
	fill := func() time.Duration {
		exec(c, c.c, "truncate documents_alike; select alike.refresh('documents')")
		w = c.worker()
		if _, err := w.splitBackfill(ctx); err != nil {
			c.Fatal(err)
		}
		return timed(func() {
			for did := true; did; {
				var err error
				if did, err = w.copyChunk(ctx); err != nil {
					c.Fatal(err)
				}
			}
		})
	}
	// In turns, since a disk is not always equally quick: the median of five.
	var ceilings, fulls []time.Duration
	var shares []float64
	for range 5 {
		exec(c, c.c, "truncate documents_alike")
		ceilings = append(ceilings, timed(func() { copyThrough(c.B, c.database, c.rows) }))
		fulls = append(fulls, fill())
		shares = append(shares, ceilings[len(ceilings)-1].Seconds()/fulls[len(fulls)-1].Seconds())
	}
	slices.Sort(shares)
	c.line("COPY out and in with nothing between", "%.0f rows/s", rate(c.rows, middle(ceilings)))
	c.line("backfill", "%.0f rows/s, %.0f %% of COPY (want 60)", rate(c.rows, middle(fulls)), 100*shares[len(shares)/2])
	indexes := timed(func() { once(c, w) })
	c.line("its 12 indexes", "%.1f s", indexes.Seconds())
	exec(c, c.c, "vacuum analyze documents_alike")
}

func (c costs) questions() {
	for range 2 {
		times := make([]time.Duration, 3000)
		selects := make([]time.Duration, len(times))
		r := rand.New(rand.NewPCG(3, 4))
		found := 0
		for i := range times {
			id := 1 + r.IntN(c.rows)
			selects[i] = timed(func() { one[int64](c, c.c, "select id from documents where id = $1", id) })
			times[i] = timed(func() { found += one[int](c, c.c, "select count(*) from alike.rows('documents', $1)", fmt.Sprint(id)) })
		}
		slices.Sort(times)
		slices.Sort(selects)
		c.line("alike.rows, median and 99 %", "%v %v (want 1ms); a select by key %v; %d found", times[len(times)/2].Round(time.Microsecond), times[len(times)*99/100].Round(time.Microsecond), selects[len(selects)/2].Round(time.Microsecond), found)
	}
	var n int
	pairs := timed(func() { n = one[int](c, c.c, "select count(*) from alike.pairs('documents')") })
	c.line("alike.pairs of all rows", "%.2f s (want 6), %d pairs", pairs.Seconds(), n)
	exec(c, c.c, "set max_parallel_workers_per_gather = 0")
	pairs = timed(func() { n = one[int](c, c.c, "select count(*) from alike.pairs('documents')") })
	exec(c, c.c, "reset max_parallel_workers_per_gather")
	c.line("the same without parallel query", "%.2f s, %d pairs", pairs.Seconds(), n)
	// What the planner makes of the join of the columns, which verifies nothing.
	arms := make([]string, one[int](c, c.c, "select features from alike.attachment where name = 'documents'"))
	for i := range arms {
		arms[i] = fmt.Sprintf("select a.id, b.id as other from documents_alike a join documents_alike b on a.f%[1]d = b.f%[1]d and a.id < b.id", i+1)
	}
	join := timed(func() { n = one[int](c, c.c, "select count(*) from ("+strings.Join(arms, " union ")+") as p") })
	c.line("PostgreSQL's own join of the feature columns", "%.2f s, %d pairs", join.Seconds(), n)
}

// checkins measures the triggers and the queue.
func (c costs) checkins() {
	bulk := c.rows / 5
	exec(c, c.c, "create table source (id bigint, body text)")
	c.load("source", bulk)
	exec(c, c.c, "create table plain (id bigint primary key, body text); create table live (id bigint primary key, body text); select alike.attach('live', 'body')")
	once(c, c.worker())
	best := func(table string) time.Duration {
		quickest := time.Hour
		for range 3 {
			exec(c, c.c, "truncate "+table+", alike.queue")
			quickest = min(quickest, timed(func() { exec(c, c.c, "insert into "+table+" select id, body from source") }))
		}
		return quickest
	}
	without, with := best("plain"), best("live")
	c.line("INSERT in bulk through the trigger", "%.2f µs a row more (want 5), of %.2f", float64((with-without).Nanoseconds())/1e3/float64(bulk), float64(with.Nanoseconds())/1e3/float64(bulk))
	drain := func(workers ...*Worker) spent {
		exec(c, c.c, "truncate live_alike, live, alike.queue")
		exec(c, c.c, "insert into live select id, body from source")
		exec(c, c.c, "analyze live")
		exec(c, c.c, "checkpoint")
		before := spentUntilNow(c.B, c.server)
		done := make(chan error)
		for _, w := range workers {
			go func() { done <- w.Once(ctx) }()
		}
		for range workers {
			if err := <-done; err != nil {
				c.Fatal(err)
			}
		}
		return spentUntilNow(c.B, c.server).since(before)
	}
	real := drain(c.worker())
	two := drain(c.worker(), c.worker())
	c.line("live queue", "%.0f rows/s", rate(bulk, real.wall))
	c.line("live queue, two workers", "%.0f rows/s, %.2f times one (want 1.6)", rate(bulk, two.wall), real.wall.Seconds()/two.wall.Seconds())
	c.line("processor time a row of one worker and of two, in µs", "%s; %s", real.each(bulk), two.each(bulk))
	// No number of workers gets more out of the machine than it has left.
	possible := (real.ours() / float64(bulk)) * (two.available() / two.wall.Seconds()) / (two.ours() / float64(bulk)) * real.wall.Seconds() / real.ours()
	c.line("processors that nobody else used meanwhile", "%.2f of %d; one worker had %.2f busy, so that two gain at most %.2f", two.available()/two.wall.Seconds(), runtime.NumCPU(), real.ours()/real.wall.Seconds(), possible)
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

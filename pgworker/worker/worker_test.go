package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var ctx = context.Background()

// testLog writes to the test's log as long as the test runs.
type testLog struct {
	mutex sync.Mutex
	t     testing.TB
	text  strings.Builder
}

// has reports whether something was logged.
func (l *testLog) has(words string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return strings.Contains(l.text.String(), words)
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.text.Write(b)
	if l.t != nil {
		l.t.Log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

func newWorker(t testing.TB, database string, change func(*Config)) *Worker {
	t.Helper()
	l := &testLog{t: t}
	t.Cleanup(func() {
		l.mutex.Lock()
		l.t = nil
		l.mutex.Unlock()
	})
	config := Config{DatabaseURL: database, AllowSuperuser: true, PollInterval: 20 * time.Millisecond, Backoff: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(l, nil))}
	if change != nil {
		change(&config)
	}
	w, err := New(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func exec(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func one[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func once(t testing.TB, w *Worker) {
	t.Helper()
	if err := w.Once(ctx); err != nil {
		t.Fatal(err)
	}
}

// profileOf returns how an attachment sketches.
func profileOf(t testing.TB, c *pgx.Conn, name string) (profile string, variants []string) {
	t.Helper()
	if err := c.QueryRow(ctx, "select s.profile, a.variants from alike.attachment a join alike.settings s on s.id = a.profile_id where a.name = $1 and a.replaces is null", name).Scan(&profile, &variants); err != nil {
		t.Fatal(err)
	}
	return profile, variants
}

// freshly computes what a side row should hold, and returns the columns that hold it.
func freshly(t testing.TB, profile string, variants []string) (row func(doc []byte) (text string, sketched []byte, features []sketch.Feature), columns string) {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range p.K {
		names = append(names, fmt.Sprintf("s.f%d", i+1))
	}
	var indexes []simindex.Variant
	for _, variant := range variants {
		v, err := simindex.Parse(variant)
		if err != nil {
			t.Fatal(err)
		}
		indexes = append(indexes, v)
		names = append(names, "s."+pgx.Identifier{"si_" + strings.ReplaceAll(strings.ToLower(variant), "/", "_")}.Sanitize())
	}
	return func(doc []byte) (string, []byte, []sketch.Feature) {
		s.Reset()
		s.Document(doc)
		numbers := make([]string, p.K+len(indexes))
		for i := range numbers {
			numbers[i] = "null"
		}
		features := s.AppendFeatures(nil)
		for _, f := range features {
			numbers[f.Slot] = fmt.Sprint(f.Value)
		}
		for i, v := range indexes {
			if n, ok := v.IndexOf(s, doc); ok {
				numbers[p.K+i] = fmt.Sprint(n)
			}
		}
		sketched := s.AppendSketch(nil)
		return fmt.Sprintf("%d %d %x [%s]", sketch.ContentHash(doc), s.Shingles(), sketched, strings.Join(numbers, ", ")), sketched, features
	}, strings.Join(names, ", ")
}

// checkSide compares a side table with a fresh computation: every row, and no
// row twice or too many.
func checkSide(t testing.TB, c *pgx.Conn, name, source, column, key, where string) {
	t.Helper()
	var id int32
	var side string
	if err := c.QueryRow(ctx, `select id, format('%I.%I', side_schema, side_name) from alike.attachment where name = $1 and replaces is null`, name).Scan(&id, &side); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, c, "select count(*) from alike.queue where attachment = $1", id); n != 0 {
		t.Errorf("%s: %d rows pending, want 0", name, n)
	}
	settings, variants := profileOf(t, c, name)
	fresh, columns := freshly(t, settings, variants)
	expected := map[string]string{}
	rows, err := c.Query(ctx, fmt.Sprintf("select %s, %s from %s where %s", key, column, source, where))
	if err != nil {
		t.Fatal(err)
	}
	var k string
	var doc []byte
	if _, err := pgx.ForEachRow(rows, []any{&k, &doc}, func() error {
		expected[k], _, _ = fresh(doc)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows, err = c.Query(ctx, fmt.Sprintf("select %s, content_hash || ' ' || shingles || ' ' || case when sketch = '' then 'empty' else coalesce(encode(sketch, 'hex'), '') end || ' ' || json_build_array(%s)::text from %s s", key, columns, side))
	if err != nil {
		t.Fatal(err)
	}
	var stored string
	seen := 0
	if _, err := pgx.ForEachRow(rows, []any{&k, &stored}, func() error {
		seen++
		if stored != expected[k] && !t.Failed() {
			t.Errorf("%s: row %s is\n%s, want\n%s", name, k, stored, expected[k])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if seen != len(expected) {
		t.Errorf("%s: %d rows, want %d", name, seen, len(expected))
	}
}

const words = "(select string_agg('w' || (g * 31 + i * i * 7) % 997, ' ') from generate_series(1, 80) as i)"

func TestBackfillAndQueue(t *testing.T) {
	t.Parallel()
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			database := pgtest.Shared(t, version).Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create table documents (id bigint primary key, body text, n int)")
			exec(t, c, "insert into documents select g, "+words+", 0 from generate_series(1, 12000) as g")
			exec(t, c, "insert into documents values (-1, null, 0), (-2, '', 0), (-3, '...', 0), (-4, 'one', 0)")
			if n := one[int](t, c, `select alike.attach('documents', 'body', '{"si": ["43B/40", "length", "forest/0"]}')`); n != 12004 {
				t.Errorf("attach gave %d, want 12004", n)
			}
			w := newWorker(t, database, func(c *Config) { c.ChunkRows = 1000 })
			once(t, w)
			check := func() {
				t.Helper()
				checkSide(t, c, "documents", "documents", "body", "id::text", "true")
			}
			check()
			indexes := 27
			if pgtest.InParts() {
				indexes = 4 // the parts have those of the 23 features
			}
			if n := one[int](t, c, "select count(*) from pg_index where indrelid = 'documents_alike'::regclass"); n != indexes {
				t.Errorf("%d indexes, want %d", n, indexes)
			}
			if !one[bool](t, c, "select indexed from alike.attachment") {
				t.Error("the attachment is not known to have its indexes")
			}

			exec(t, c, "update documents set n = 1 where id between 1 and 1000") // a larger statement notes no keys
			if n := one[int](t, c, "select count(*) from alike.queue"); n != 0 {
				t.Errorf("an update of another column queued %d rows, want 0", n)
			}
			exec(t, c, "update documents set body = body || ' more' where id % 10 = 0")
			exec(t, c, "update documents set id = -1000 - id where id % 100 = 3")
			exec(t, c, "delete from documents where id % 7 = 0")
			exec(t, c, "insert into documents select g, "+words+", 0 from generate_series(20001, 20500) as g")
			once(t, w)
			check()
			exec(t, c, "truncate documents")
			exec(t, c, "insert into documents values (1, 'a b c d e')")
			once(t, w)
			check()

			// What changes behind the triggers' back is found by refresh.
			exec(t, c, "set session_replication_role = replica")
			exec(t, c, "update documents set body = 'f g h i j'")
			exec(t, c, "insert into documents values (2, 'k l m n'), (3, 'o p q r')")
			exec(t, c, "reset session_replication_role")
			if n := one[int](t, c, "select alike.refresh('documents')"); n != 2 {
				t.Errorf("refresh gave %d, want 2", n)
			}
			once(t, w)
			check()
			exec(t, c, "set session_replication_role = replica")
			exec(t, c, "delete from documents where id = 2")
			exec(t, c, "reset session_replication_role")
			exec(t, c, "select alike.refresh('documents')")
			once(t, w)
			check()
		})
	}
}

// A worker that does its maintenance once an hour notices a checkin by itself.
func TestRunWakesUp(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, func(c *Config) { c.PollInterval = time.Hour; c.Lanes = 2 })
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	for i := range 20 {
		exec(t, c, "insert into documents values ($1, 'the quick brown fox jumps')", i)
		waitFor(t, "the sketch", func() bool {
			return one[int](t, c, "select count(*) from documents_alike where id = $1", i) == 1
		})
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// waitFor waits until a condition holds; the limit is that of go test.
func waitFor(t testing.TB, what string, condition func() bool) {
	t.Helper()
	pause := 5 * time.Millisecond
	for start, said := time.Now(), false; !condition(); time.Sleep(pause) {
		pause = min(pause*5/4, 100*time.Millisecond) // asking takes time from what it waits for
		if !said && time.Since(start) > time.Minute {
			said = true
			t.Logf("waiting for %s", what)
		}
	}
}

package worker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/extract"
)

// commands extract the texts of the tests: they hang, work, fail, or fill the memory.
func commands() map[string][]string {
	return map[string][]string{
		"application/x-hang": {"sleep", "600"},
		"application/x-good": {"cat"},
		"application/x-bad":  {"sh", "-c", "echo damaged >&2; exit 1"},
		"application/x-bomb": {"sh", "-c", "head -c 3000000000 /dev/zero | tr '\\0' 'a'"},
	}
}

// attachTyped makes a table of documents whose rows say their media type.
func attachTyped(t *testing.T, c *pgx.Conn) {
	t.Helper()
	exec(t, c, "create table documents (id int primary key, body bytea, type text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"extract": {"column": "type"}}')`)
}

// run starts a worker and stops it when the test ends.
func run(t *testing.T, w *Worker) {
	t.Helper()
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func count(t *testing.T, c *pgx.Conn, what string) int {
	t.Helper()
	return one[int](t, c, "select count(*) from "+what)
}

// A hundred documents whose text never comes keep neither the plain rows beside them
// waiting, nor those of the same table that are checked in later, and each costs an
// attempt of its own. There is one lane, and the server ends a transaction that is
// idle for half a second.
func TestSlowDocuments(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	attachTyped(t, c)
	exec(t, c, "create table notes (id int primary key, body text); select alike.attach('notes', 'body')")
	w := newWorker(t, database, func(c *Config) {
		c.IdleTimeout = 500 * time.Millisecond
		c.Extract = extract.Config{Commands: commands(), Timeout: 2 * time.Second}
		c.MaxAttempts = 1
	})
	once(t, w)
	exec(t, c, "insert into documents select g, 'text that hangs', 'application/x-hang' from generate_series(1, 100) as g")
	exec(t, c, "insert into documents values (200, 'plain text that hurts nobody', 'text/plain')")
	exec(t, c, "insert into notes values (1, 'a note beside them')")
	run(t, w)
	waitFor(t, "the plain rows", func() bool { return count(t, c, "documents_alike")+count(t, c, "notes_alike") == 2 })
	exec(t, c, "insert into documents values (201, 'another plain text that hurts nobody', 'text/plain')")
	waitFor(t, "the later row", func() bool { return count(t, c, "documents_alike") == 2 })
	if n := count(t, c, "alike.error"); n > 50 {
		t.Errorf("plain rows waited behind %d of 100 documents that hang, want at most 50", n)
	}
	waitFor(t, "an attempt at a document that hangs", func() bool { return count(t, c, "alike.error") > 0 })
	if got, want := one[string](t, c, "select message from alike.error limit 1"), "extract: sleep: longer than 2s"; got != want {
		t.Errorf("the attempt is recorded as %q, want %q", got, want)
	}
	if n := one[int](t, c, "select pending from alike.status() where name = 'documents'"); n < 90 {
		t.Errorf("status shows %d pending rows, want those that were not tried yet", n)
	}
}

// Documents whose text a command extracts are sketched, fail or are parked like
// others, whether they were there before or not.
func TestExtraction(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body bytea, type text)")
	for _, first := range []int{0, 100} {
		exec(t, c, "insert into documents select $1::int + g, convert_to('the good document number ' || g, 'UTF8'), 'application/x-good' from generate_series(1, 20) as g", first)
		exec(t, c, "insert into documents select $1::int + g, 'bad', 'application/x-bad' from generate_series(21, 23) as g", first)
		if first == 0 {
			exec(t, c, `select alike.attach('documents', 'body', '{"extract": {"column": "type"}}')`)
		}
	}
	w := newWorker(t, database, func(c *Config) { c.Extract.Commands = commands(); c.MaxAttempts = 2 })
	waitFor(t, "the bad rows to be parked", func() bool {
		once(t, w)
		if err := w.retryDue(ctx); err != nil {
			t.Fatal(err)
		}
		return count(t, c, "alike.error where retry_at is null") == 6
	})
	if n := count(t, c, "documents_alike"); n != 40 {
		t.Errorf("%d rows are sketched, want 40", n)
	}
	if n := count(t, c, "alike.extraction"); n != 0 {
		t.Errorf("%d rows wait for extraction, want 0", n)
	}
	if got, want := one[string](t, c, "select distinct message from alike.error"), "extract: sh: exit status 1: damaged"; got != want {
		t.Errorf("the failure is %q, want %q", got, want)
	}
	// A row that goes or changes while it waits is sketched as it is now.
	exec(t, c, "insert into documents values (1000, 'first', 'application/x-good'), (1001, 'first', 'application/x-good')")
	if _, err := w.queueBatch(ctx); err != nil {
		t.Fatal(err)
	}
	exec(t, c, "delete from documents where id = 1000")
	exec(t, c, "update documents set body = 'second' where id = 1001")
	once(t, w)
	if n := count(t, c, "documents_alike where id = 1000"); n != 0 {
		t.Errorf("a row that went is sketched")
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "type = 'application/x-good'")
}

// A document that is long is sketched by itself: a batch of many has an end.
func TestLongDocuments(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w) // what comes now is checked in
	exec(t, c, "insert into documents select g, repeat('words of document ' || g || ' ', case when g > 90 then 80000 else 45000 end) from generate_series(1, 100) as g")
	if _, err := w.queueBatch(ctx); err != nil {
		t.Fatal(err)
	}
	// 90 of about 0.9 MB each: 64 MiB of them are computed at once, the others wait.
	if n := count(t, c, "documents_alike"); n < 50 || n > 80 {
		t.Errorf("%d rows are sketched by the first batch, want as many as 64 MiB hold", n)
	}
	if n := count(t, c, "alike.extraction"); n != 10 {
		t.Errorf("%d rows wait to be read by themselves, want 10", n)
	}
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// A document that is too long to be computed at once never leaves the server for that, and
// workers get rows in the order of their keys, so that none waits for another in a circle.
func TestLongDocumentsAreNotFetched(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, `create table documents (id int primary key, body text); insert into documents select g, repeat('x', case g when 2 then 5000 else 100 end) from generate_series(1, 4) as g;
		select alike.attach('documents', 'body')`)
	w := newWorker(t, database, nil)
	attachments, err := w.catalog.get(ctx, w.pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attachments {
		const sizes = "select string_agg(key || ':' || coalesce(octet_length(document), -1), ' ') from (%s) r (%s)"
		read := fmt.Sprintf(sizes, a.sql(queries.ReadDocuments), "n, key, document, size, media, version, hash, profile")
		for _, limit := range []struct {
			one, all int
			want     string
		}{
			{1000, 10000, "3:100 2:-1 1:100 4:100"},
			{6000, 5150, "3:100 2:5000 1:-1 4:-1"},
			{1000, 250, "3:100 2:-1 1:100 4:-1"},
		} {
			if got := one[string](t, c, read, []string{"3", "2", "1", "4"}, limit.one, limit.all); got != limit.want {
				t.Errorf("of documents of %d bytes at most, and %d in all: %s, want %s", limit.one, limit.all, got, limit.want)
			}
		}
		ranges := a.ranges(nil, nil)
		ranges["limit"] = "1000"
		copied := fmt.Sprintf(sizes, a.sqlWith(queries.CopyDocuments, ranges), "id, hash, profile, key, media, size, document")
		if got, want := one[string](t, c, copied), "1:100 2:-1 3:100 4:100"; got != want {
			t.Errorf("a copy of documents of 1,000 bytes at most has %s, want %s", got, want)
		}
	}
}

// A worker that ends while it reads a document costs that document an attempt, and
// after the last one the document is parked: it does not end every worker.
func TestWorkerEndsWhileReading(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	attachTyped(t, c)
	w := newWorker(t, database, func(c *Config) { c.Extract.Commands = commands(); c.MaxAttempts = 3 })
	once(t, w)
	exec(t, c, "insert into documents values (1, 'a document that ends workers', 'application/x-good'), (2, 'a good document', 'application/x-good')")
	for attempt := 1; attempt <= 3; attempt++ {
		if _, err := w.queueBatch(ctx); err != nil {
			t.Fatal(err)
		}
		// As if a worker had taken it and was killed.
		exec(t, c, "update alike.extraction set taken_until = clock_timestamp() - interval '1 second' where key = '1'")
		once(t, w)
		if n := one[int](t, c, "select attempts from alike.error where key = '1'"); n != attempt {
			t.Fatalf("%d attempts are recorded, want %d", n, attempt)
		}
		exec(t, c, "update alike.error set retry_at = clock_timestamp() where retry_at is not null")
		if err := w.retryDue(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, c, "alike.error where retry_at is null"); n != 1 {
		t.Errorf("%d rows are parked, want 1", n)
	}
	if n := count(t, c, "documents_alike where id = 2"); n != 1 {
		t.Error("the good document was not sketched")
	}
	// A worker that is told to end gives back what it has, at no cost.
	exec(t, c, "insert into documents values (3, 'hangs', 'application/x-hang')")
	if _, err := w.queueBatch(ctx); err != nil {
		t.Fatal(err)
	}
	ending, end := context.WithCancel(ctx)
	done := make(chan error)
	go func() {
		_, err := w.extractOne(ending)
		done <- err
	}()
	waitFor(t, "the worker to begin", func() bool { return count(t, c, "alike.extraction where taken_until is not null") == 1 })
	end()
	if err := <-done; err == nil {
		t.Error("the attempt ended without an error")
	}
	if n := count(t, c, "alike.extraction where taken_until is null"); n != 1 {
		t.Error("the document was not given back")
	}
	if n := count(t, c, "alike.error where key = '3'"); n != 0 {
		t.Error("the document was blamed for the worker's end")
	}
	// A clock that was set back holds it up no longer than a clock that was not.
	exec(t, c, "update alike.extraction set taken_until = clock_timestamp() + interval '10 years'")
	if _, err := w.extractOne(ctx); err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "alike.extraction"); n != 0 {
		t.Error("the document waits for a clock")
	}
}

// A PDF that takes a password says so.
func TestPasswordPDF(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body bytea)")
	exec(t, c, `select alike.attach('documents', 'body', '{"extract": "auto"}')`)
	secret := strings.Repeat("5a", 32)
	exec(t, c, "insert into documents values (1, $1), (2, 'a text beside it')", []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"+
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>endobj\n"+
		"4 0 obj<</Filter/Standard/V 1/R 2/O<"+secret+">/U<"+secret+">/P -4>>endobj\n"+
		"trailer<</Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]>>\n%%EOF\n"))
	w := newWorker(t, database, nil)
	once(t, w)
	if got := one[string](t, c, "select message from alike.errors('documents')"); !strings.Contains(got, "Incorrect password") {
		t.Errorf("the failure is %q, want the incorrect password", got)
	}
	if n := count(t, c, "documents_alike"); n != 1 {
		t.Errorf("%d rows are sketched, want the text", n)
	}
}

// What poison documents can make the worker hold is bounded: a text that grows
// without an end, and long documents, one after the other.
func TestMemory(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	attachTyped(t, c)
	exec(t, c, "insert into documents select g, 'x', 'application/x-bomb' from generate_series(1, 5) as g")
	exec(t, c, "insert into documents select g, convert_to(repeat('a long document ', 3000000), 'UTF8'), 'text/plain' from generate_series(11, 16) as g")
	worker := startWorker(t, database)
	waitFor(t, "the documents", func() bool { return count(t, c, "documents_alike")+count(t, c, "alike.error") == 11 })
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", worker.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	kilobytes, err := strconv.Atoi(string(bytes.Fields(after)[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the worker held %d MB at most", kilobytes>>10)
	if kilobytes > 960<<10 {
		t.Errorf("the worker held %d MB, want at most 960, fifteen times the longest document", kilobytes>>10)
	}
}

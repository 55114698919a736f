package worker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// attached returns the one attachment of a database and a transaction of its worker.
func attached(t *testing.T, w *Worker) (pgx.Tx, *attachment) {
	t.Helper()
	tx, err := w.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(ctx) })
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil || len(attachments) != 1 {
		t.Fatalf("%d attachments, error %v", len(attachments), err)
	}
	for _, a := range attachments {
		return tx, a
	}
	return nil, nil
}

// What a row resembled is forgotten when either of the two changes or goes.
func TestMatchesAreForgotten(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"update documents set body = 'something else altogether that has no word of it' where id = 1",
		"update documents set body = 'something else altogether that has no word of it' where id = 2",
		"delete from documents where id = 1",
		"delete from documents where id = 2",
	} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, "create table documents (id int primary key, body text)")
		exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
		w := newWorker(t, database, nil)
		once(t, w)
		for id := range 2 { // the second has the match
			exec(t, c, "insert into documents values ($1, $2)", id+1, story)
			once(t, w)
		}
		if got := one[string](t, c, "select string_agg(id || ' ' || other, ',') from documents_alike_match"); got != "2 1" {
			t.Fatalf("matches %q, want 2 1", got)
		}
		exec(t, c, change)
		once(t, w)
		if n := count(t, c, "documents_alike_match"); n != 0 {
			t.Errorf("%s: %d matches remain, want 0", change, n)
		}
	}
}

// A row that goes leaves the cluster that it was in.
func TestClustersAreLeft(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "insert into documents select g, $1 from generate_series(1, 3) as g", story)
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	if n := one[int](t, c, "select alike.write_clusters('documents')"); n != 3 {
		t.Fatalf("%d rows are in clusters, want 3", n)
	}
	exec(t, c, "delete from documents where id = 2")
	once(t, w)
	if got, want := one[string](t, c, "select string_agg(id::text, ',' order by id) from documents_alike_cluster where cluster is not null"), "1,3"; got != want {
		t.Errorf("the cluster has %s, want %s", got, want)
	}
	exec(t, c, "delete from documents where id = 1")
	once(t, w)
	if n := count(t, c, "documents_alike_cluster"); n != 0 {
		t.Errorf("%d rows are in a cluster, want none: one row is left", n)
	}
}

// Of two like rows that two workers write at the same moment one is remembered as
// resembling the other, under each policy that remembers.
func TestConcurrentMatches(t *testing.T) {
	for _, policy := range []string{"link", "warn", "reject"} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, "create table documents (id int primary key, body text)")
		exec(t, c, "select alike.attach('documents', 'body', jsonb_build_object('policy', $1::text))", policy)
		once(t, newWorker(t, database, nil))
		exec(t, c, "insert into documents values (1, $1), (2, $1)", story)
		exec(t, c, "truncate alike.queue")
		done := make(chan error, 2)
		for i := range 2 {
			go func() {
				w := newWorker(t, database, nil)
				tx, a := attached(t, w)
				err := w.keys(ctx, tx, a, []string{fmt.Sprint(i + 1)}, time.Now())
				if err == nil {
					err = tx.Commit(ctx)
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, c, "documents_alike_match"); n != 1 {
			t.Errorf("%s: %d matches, want 1", policy, n)
		}
	}
	// The second waits for the first: its transaction is open, and has written.
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "warn"}')`)
	first, second := newWorker(t, database, nil), newWorker(t, database, nil)
	once(t, first)
	exec(t, c, "insert into documents values (1, $1), (2, $1)", story)
	exec(t, c, "truncate alike.queue")
	tx, a := attached(t, first)
	if err := first.keys(ctx, tx, a, []string{"1"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		tx, a := attached(t, second)
		err := second.keys(context.Background(), tx, a, []string{"2"}, time.Now())
		if err == nil {
			err = tx.Commit(ctx)
		}
		done <- err
	}()
	waitFor(t, "the second worker to wait", func() bool {
		return one[int](t, c, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") == 1
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := one[string](t, c, "select string_agg(id || ' ' || other, ',') from documents_alike_match"); got != "2 1" {
		t.Errorf("matches %q, want 2 1", got)
	}
}

// A document that changes between the look at it and the writing is queued again,
// and so is a row that comes back before its side row is removed.
func TestOvertakenVersions(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "insert into documents values (1, 'the first version'), (2, 'stays as it is')")
	exec(t, c, "truncate alike.queue")
	tx, a := attached(t, w)
	f, err := w.read(ctx, tx, a, []string{"1", "2", "3"})
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "update documents set body = 'the second version' where id = 1; insert into documents values (3, 'came meanwhile')")
	exec(t, c, "truncate alike.queue") // as if others had taken, and written, these versions already
	if err := w.record(ctx, tx, a, f); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := one[string](t, c, "select string_agg(key, ',' order by key) from alike.queue"), "1,3"; got != want {
		t.Errorf("the queue has %s, want %s: what was overtaken", got, want)
	}
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// Workers write rows in the order of their keys, or they would lock each other out.
func TestKeysAreSorted(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "insert into alike.queue (attachment, key) select id, k from alike.attachment, unnest(array['7', '1', '12', '7', '3']) as k")
	tx, a := attached(t, w)
	work, n, _, err := claim(ctx, tx, 100)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := work[a.id].keys, []string{"1", "12", "3", "7"}; n != 5 || !slices.Equal(got, want) {
		t.Errorf("%d entries give the keys %q, want 5 and %q: sorted, each once", n, got, want)
	}
	// What is read is in that order, whatever the order in the table is.
	exec(t, c, "insert into documents select k, 'the document ' || k from unnest(array[12, 7, 3, 1]) as k")
	f, err := w.read(ctx, tx, a, work[a.id].keys)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.write.keys, []string{"1", "12", "3", "7"}; !slices.Equal(got, want) {
		t.Errorf("the rows to write are %q, want %q", got, want)
	}
}

// A worker takes what another has not taken, and does not wait for it.
func TestClaimsAreApart(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	first, second := newWorker(t, database, nil), newWorker(t, database, func(c *Config) { c.LockTimeout = 100 * time.Millisecond })
	once(t, first)
	exec(t, c, "insert into alike.queue (attachment, key) select id, k from alike.attachment, unnest(array['1', '2', '3']) as k")
	if n := one[int](t, c, "select pending from alike.status()"); n != 3 {
		t.Errorf("status says that %d rows wait, want 3", n)
	}
	for i, w := range []*Worker{first, second} {
		tx, a := attached(t, w)
		work, _, _, err := claim(ctx, tx, 1+10*i)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := work[a.id].keys, [][]string{{"1"}, {"2", "3"}}[i]; !slices.Equal(got, want) {
			t.Errorf("worker %d takes %q, want %q", i, got, want)
		}
	}
}

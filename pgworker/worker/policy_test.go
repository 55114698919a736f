package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/queries"
)

const story = "it was a bright cold day in april and the clocks were striking thirteen winston smith his chin nuzzled into his breast in an effort to escape the vile wind slipped quickly through the glass doors of victory mansions though not quickly enough to prevent a swirl of gritty dust from entering along with him"

func TestLinkAndWarn(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "warn"}')`)
	exec(t, c, "listen alike_match")
	// Several workers write alike rows at the same moment: no pair is missed.
	workers := []*Worker{newWorker(t, database, func(c *Config) { c.BatchSize = 1 }), newWorker(t, database, func(c *Config) { c.BatchSize = 1 })}
	exec(t, c, "insert into documents select g, $1 || case g when 1 then '' else ' word' || g end from generate_series(1, 12) as g", story)
	exec(t, c, "insert into documents values (100, 'something else altogether that resembles nothing')")
	done := make(chan error)
	for _, w := range workers {
		go func() { done <- w.Once(ctx) }()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if n := one[int](t, c, "select count(distinct (least(id, other), greatest(id, other))) from documents_alike_match"); n != 65 {
		t.Errorf("%d pairs of 12 rows are linked, want 65: of 66 the last row records the nearest ten", n)
	}
	if n := one[int](t, c, "select max(omitted) from documents_alike_match"); n != 1 {
		t.Errorf("a row omitted %d matches, want 1: it resembles eleven and records ten", n)
	}
	notice, err := c.WaitForNotification(ctx)
	if err != nil || notice.Channel != "alike_match" || notice.Payload == "" {
		t.Errorf("notification %+v, error %v", notice, err)
	}
	exec(t, c, "delete from documents where id = 1")
	exec(t, c, "update documents set body = 'different now, entirely, as nobody could have foreseen' where id = 2")
	once(t, workers[0])
	if n := one[int](t, c, "select count(*) from documents_alike_match where id in (1, 2) or other = 1"); n != 0 {
		t.Errorf("%d matches of rows that are gone or changed, want 0", n)
	}
}

// reject reports the SQL error of a rejected checkin.
func rejected(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23000"
}

// waits reports whether a session of the database waits for a lock.
func waits(t testing.TB, c *pgx.Conn) bool {
	t.Helper()
	return one[bool](t, c, "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')")
}

func TestGate(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "reject"}')`)
	w := newWorker(t, database, nil)
	t.Run("refuses duplicates before and after the worker has seen them", func(t *testing.T) { gateRefuses(t, c, w) })
	t.Run("two transactions with one document", func(t *testing.T) { gateTwoAtOnce(t, c, database) })
	t.Run("refuses sketches that it cannot compare", func(t *testing.T) { gateForeignSketches(t, c) })
	t.Run("needs the right to insert", func(t *testing.T) { gateNeedsRight(t, c) })
	t.Run("wants read committed", func(t *testing.T) {
		fails(t, c, "want read committed", "begin isolation level repeatable read; select alike.gate('documents', '\\xa1'::bytea)")
		exec(t, c, "rollback")
	})
}

// gated checks a document in behind the gate of documents, in the transaction.
func gated(tx pgx.Tx, id int, text string) error {
	q, err := Ask(ctx, tx, "documents", []byte(text))
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "select alike.gate('documents', $1)", q.Sketch); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "insert into documents values ($1, $2)", id, text)
	return err
}

// gatedAlone does so in a transaction of its own.
func gatedAlone(c *pgx.Conn, id int, text string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return gated(tx, id, text) })
}

func gateRefuses(t *testing.T, c *pgx.Conn, w *Worker) {
	if err := gatedAlone(c, 1, story); err != nil {
		t.Fatal(err)
	}
	// Before the worker has seen it, and after.
	if err := gatedAlone(c, 2, story+" again"); !rejected(err) {
		t.Errorf("a duplicate that the worker has not seen: error %v, want a rejection", err)
	}
	once(t, w)
	err := gatedAlone(c, 2, story+" again")
	if !rejected(err) {
		t.Errorf("a duplicate: error %v, want a rejection", err)
	} else if got, want := err.Error(), "ERROR: alike: the document resembles row 1 of documents (resemblance 0."; !strings.HasPrefix(got, want) {
		t.Errorf("the error is %q, want the start %q", got, want)
	}
	if err := gatedAlone(c, 3, "an unrelated document of which nothing was ever heard"); err != nil {
		t.Errorf("a document like no other: error %v, want none", err)
	}
	if err := gatedAlone(c, 4, ""); err != nil {
		t.Errorf("a document without a token: error %v, want none", err)
	}
}

// The second transaction waits for the first, and is refused if the first commits.
func gateTwoAtOnce(t *testing.T, c *pgx.Conn, database string) {
	d, watch := pgtest.Connect(t, database), pgtest.Connect(t, database)
	for _, v := range []struct {
		name   string
		commit bool
	}{{"commit", true}, {"rollback", false}} {
		text := map[bool]string{
			true:  "two transactions at once with a document that the author of this test has called by a name",
			false: "this transaction rolls back, so the next writer may insert the same document without a refusal",
		}[v.commit]
		first, err := c.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := gated(first, 10, text); err != nil {
			t.Fatal(err)
		}
		second := make(chan error, 1)
		go func() { second <- gatedAlone(d, 11, text) }()
		waitFor(t, "the second to wait", func() bool {
			return len(second) > 0 || waits(t, watch)
		})
		if len(second) > 0 {
			t.Errorf("%s: the second did not wait", v.name)
		}
		if v.commit {
			err = first.Commit(ctx)
		} else {
			err = first.Rollback(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := <-second; rejected(err) != v.commit || err != nil && !v.commit {
			t.Errorf("%s: the second got the error %v, want a rejection: %v", v.name, err, v.commit)
		}
		exec(t, c, "delete from documents where id in (10, 11)")
	}
}

func gateForeignSketches(t *testing.T, c *pgx.Conn) {
	cut, err := Ask(ctx, c, "documents", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	foreign := append(append([]byte{}, cut.Sketch[:7]...), append([]byte{5}, cut.Sketch[8:]...)...)
	exec(t, c, `create table bare (id bigint primary key, body text); select alike.attach('bare', 'body', '{"policy": "reject"}')`)
	for _, table := range []string{"documents", "bare"} { // with rows to compare with and without
		fails(t, c, "different profiles", "select alike.gate($1, $2)", table, foreign)
	}
	exec(t, c, `create table lists (id bigint primary key, body text); select alike.attach('lists', 'body', '{"policy": "reject", "profile": "words scaled"}')`)
	list, err := Ask(ctx, c, "lists", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, c, "keeps a list of values", "select alike.gate('lists', $1)", list.Sketch)
}

func gateNeedsRight(t *testing.T, c *pgx.Conn) {
	cut, err := Ask(ctx, c, "documents", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	const name = "gate_test"
	exec(t, c, fmt.Sprintf(`create role %[1]q; grant alike_reader to %[1]q; grant select on documents to %[1]q; set role %[1]q`, name))
	fails(t, c, "may not insert into alike.admitted", "select alike.gate('documents', $1)", cut.Sketch)
	exec(t, c, fmt.Sprintf(`reset role; grant insert on alike.admitted to %[1]q; set role %[1]q`, name))
	fails(t, c, "resembles row 1 of documents", "select alike.gate('documents', $1)", cut.Sketch)
	exec(t, c, fmt.Sprintf(`reset role; drop owned by %[1]q; drop role %[1]q`, name))
}

// A verdict holds for a row that the worker has sketched and for a row that it has not.
func TestGateObeysVerdicts(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "reject"}')`)
	w := newWorker(t, database, nil)
	exec(t, c, "insert into documents_alike_mark (id, other, verdict) values (1, 2, 'distinct')")
	gate := func(id, text string) error {
		q, err := Ask(ctx, c, "documents", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Exec(ctx, "select alike.gate('documents', $1, $2)", q.Sketch, id)
		return err
	}
	if err := gate("1", story); err != nil {
		t.Fatal(err)
	}
	exec(t, c, "insert into documents values (1, $1)", story)
	for _, when := range []string{"before the worker has seen row 1", "after"} {
		if err := gate("2", story+" again"); err != nil {
			t.Errorf("%s: row 2 is distinct from row 1: error %v", when, err)
		}
		exec(t, c, "delete from alike.admitted where itself = '2'")
		if err := gate("3", story+" again"); !rejected(err) {
			t.Errorf("%s: row 3 is not: error %v", when, err)
		}
		once(t, w)
		exec(t, c, "delete from alike.admitted")
	}
}

func TestKeptClusters(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body')`)
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(5, 7) as g", story)
	exec(t, c, "insert into documents values (20, 'on its own among all of these and quite content with it')")
	w := newWorker(t, database, nil)
	once(t, w)
	if n := one[int](t, c, "select alike.write_clusters('documents')"); n != 3 {
		t.Errorf("%d rows in clusters, want 3", n)
	}
	state := func() string {
		return one[string](t, c, "select coalesce(string_agg(id || ':' || n, ' ' order by id), '') from (select id, dense_rank() over (order by cluster) as n from documents_alike_cluster where cluster is not null) q")
	}
	number := one[int64](t, c, "select min(cluster) from documents_alike_cluster")
	for _, step := range []struct{ statement, want string }{
		{"insert into documents select 4, body || ' newcomer' from documents where id = 5", "4:1 5:1 6:1 7:1"},
		{"delete from documents where id = 5", "4:1 6:1 7:1"},
		{"update documents set body = body || ' once more' where id = 4", "4:1 6:1 7:1"},
		{"insert into documents select 20 + g, body || ' word' || g from documents, generate_series(1, 3) as g where id = 20", "4:1 6:1 7:1 20:2 21:2 22:2 23:2"},
		{"select alike.mark('documents', '4', '20', 'duplicate')", "4:1 6:1 7:1 20:1 21:1 22:1 23:1"},
		{"select alike.mark('documents', '4', '20', 'none')", "4:2 6:2 7:2 20:1 21:1 22:1 23:1"},
		{"select alike.mark('documents', '4', '6', 'distinct'), alike.mark('documents', '4', '7', 'distinct'), alike.mark('documents', '6', '7', 'distinct')", "20:1 21:1 22:1 23:1"},
	} {
		exec(t, c, step.statement)
		once(t, w)
		if got := state(); got != step.want {
			t.Errorf("%s: clusters %q, want %q", step.statement, got, step.want)
		}
		if step.want[len(step.want)-1] == '1' && step.want[0] == '4' {
			if got := one[int64](t, c, "select min(cluster) from documents_alike_cluster where id = 6"); got != number && !strings.Contains(step.want, "20") {
				t.Errorf("%s: the cluster %d is %d now", step.statement, number, got)
			}
		}
	}
}

// Clusters are made while a worker has written rows that nobody sees yet: it is
// waited for, and they are in them.
func TestKeptClustersBesideWorker(t *testing.T) {
	database := pgtest.Database(t)
	c, d := pgtest.Connect(t, database), pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body')`)
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 3) as g", story)
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "insert into documents values (4, $1)", story)
	tx := checkedIn(t, w, "4")
	written := make(chan error, 1)
	go func() {
		_, err := d.Exec(ctx, "select alike.write_clusters('documents')")
		written <- err
	}()
	waitFor(t, "write_clusters to wait", func() bool {
		return one[int](t, c, "select count(*) from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())") == 1
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, c, "select count(*) from documents_alike_cluster"); n != 4 {
		t.Errorf("%d rows in clusters, want 4", n)
	}
}

// A worker that learned of the attachment before its clusters were kept writes alone all the same.
func TestClustersKeptMeanwhile(t *testing.T) {
	t.Parallel()
	c, w := short(t, "int primary key", 3)
	w.catalog.forget()
	if _, err := w.catalog.get(ctx, w.pool); err != nil {
		t.Fatal(err)
	}
	w.catalog.mutex.Lock()
	w.catalog.loaded = time.Now().Add(time.Hour)
	w.catalog.mutex.Unlock()
	exec(t, c, "select alike.write_clusters('documents'); insert into documents values (4, 'one two three four 1')")
	tx := checkedIn(t, w, "4")
	if got := list(t, c, "select distinct mode from pg_locks where locktype = 'advisory' and granted and objsubid = 2 and classid = hashtext('alike')::oid and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid() order by 1"); !strings.Contains(got, "ExclusiveLock") {
		t.Errorf("a writer holds %q, want a lock that lets no other write", got)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "documents_alike_cluster where id = 4"); n != 1 {
		t.Errorf("row 4 is in %d clusters, want 1", n)
	}
}

// A session that reads and has marked, in a transaction that stays open, stops neither
// the first clusters nor another policy, and waits for neither.
func TestOpenTransactionStopsNoChange(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c, d := pgtest.Connect(t, database), pgtest.Connect(t, database)
	exec(t, c, `create table documents (id bigint primary key, body text); select alike.attach('documents', 'body', '{"policy": "link"}')`)
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 3) as g", story)
	once(t, newWorker(t, database, nil))
	exec(t, d, "begin; select count(*) from documents_alike join documents_alike_match using (id); select alike.mark('documents', '1', '2', 'duplicate')")
	exec(t, c, "set lock_timeout = '1s'")
	for _, change := range []string{
		"select alike.write_clusters('documents')",
		`select alike.change('documents', '{"policy": "warn"}')`,
		`select alike.change('documents', '{"reveal": true}')`,
		`select alike.change('documents', '{"at_least": 0.7}')`,
	} {
		if _, err := c.Exec(ctx, change); err != nil {
			t.Errorf("%s beside an open transaction: %v", change, err)
		}
	}
	exec(t, d, "select * from alike.clusters('documents'); commit")
}

// A slow document that a trigger asks about is read once, however many workers look.
func TestSlowRequestIsTakenOnce(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	exec(t, c, `create table documents (id int primary key, body text); select alike.attach('documents', 'body');
		insert into alike.request (attachment, document, slow) select id, 'words', n > 1 from alike.attachment, generate_series(1, 3) as n`)
	for _, want := range []string{"2", "3", ""} {
		rows, err := c.Query(ctx, queries.TakeRequest)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprint(values[0])
		}
		if err := rows.Err(); err != nil || got != want {
			t.Errorf("request %q was taken, want %q; error %v", got, want, err)
		}
	}
}

// A trigger asks the worker and judges by its answer, in the checkin's own
// transaction; what happens when none answers is stated.
func TestAsk(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create extension dblink schema public")
	connection := one[string](t, c, "select format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1))")
	for _, otherwise := range []string{"accept", "refuse"} {
		exec(t, c, "create table "+otherwise+" (id bigint primary key, body text)")
		exec(t, c, "select alike.attach($1, 'body', jsonb_build_object('policy', 'reject', 'ask', jsonb_build_object('connection', $2::text, 'timeout', 20, 'otherwise', $1::text)))", otherwise, connection)
	}
	w := newWorker(t, database, nil)
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	for _, table := range []string{"accept", "refuse"} {
		exec(t, c, "insert into "+table+" values (1, $1)", story)
		if _, err := c.Exec(ctx, "insert into "+table+" values (2, $1)", story+" twice"); !rejected(err) {
			t.Errorf("%s: a duplicate gave %v", table, err)
		}
		exec(t, c, "insert into "+table+" values (3, 'an unrelated document, about which there is not much to say'), (4, null), (5, '')")
		if _, err := c.Exec(ctx, "update "+table+" set body = $1 where id = 3", "well then "+story); !rejected(err) {
			t.Errorf("%s: an update to a duplicate gave %v", table, err)
		}
		exec(t, c, "update "+table+" set body = body || ' .' where id = 1") // a row resembles itself
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	// Nobody answers.
	for _, table := range []string{"accept", "refuse"} {
		exec(t, c, "select alike.detach($1, '{\"drop\": true}')", table)
		exec(t, c, "select alike.attach($1, 'body', jsonb_build_object('policy', 'reject', 'ask', jsonb_build_object('connection', $2::text, 'timeout', 0.2, 'otherwise', $1::text)))", table, connection)
	}
	exec(t, c, "insert into accept values (10, $1)", story)
	fails(t, c, "no worker answered within 0.2 seconds", "insert into refuse values (10, $1)", story)
	if n := one[int](t, c, "select count(*) from alike.request"); n != 0 {
		t.Errorf("%d requests remain, want 0", n)
	}
	exec(t, c, "drop extension dblink")
	exec(t, c, "insert into accept values (11, $1)", story)
	fails(t, c, "the extension dblink is not installed", "insert into refuse values (11, $1)", story)
}

// Where a table of ours is missing the document counts as not judged.
func TestAskWithoutSideTables(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create extension dblink schema public")
	connection := one[string](t, c, "select format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1))")
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	w := newWorker(t, database, nil)
	go func() { done <- w.Run(running) }()
	for _, missing := range []string{"_mark", ""} {
		for _, otherwise := range []string{"accept", "refuse"} {
			exec(t, c, "create table "+otherwise+" (id bigint primary key, body text)")
			exec(t, c, "select alike.attach($1, 'body', jsonb_build_object('policy', 'reject', 'ask', jsonb_build_object('connection', $2::text, 'timeout', 20, 'otherwise', $1::text)))", otherwise, connection)
		}
		exec(t, c, fmt.Sprintf("drop table accept_alike%[1]s cascade; drop table refuse_alike%[1]s cascade", missing))
		exec(t, c, "insert into accept values (1, $1)", story)
		fails(t, c, "refuse: the document could not be judged: ", "insert into refuse values (1, $1)", story)
		for _, table := range []string{"accept", "refuse"} {
			exec(t, c, "select alike.detach($1, '{\"drop\": true}')", table)
			exec(t, c, "drop table "+table)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A row that was checked in while the side table was being filled has been
// written by the filling, which asks no policy: its entry in the queue does.
func TestLinkOfFilledRow(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 3) as g", story)
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
	exec(t, c, "insert into documents values (4, $1)", story)
	w := newWorker(t, database, nil)
	for { // the filling first
		did, err := w.backfillStep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !did {
			break
		}
	}
	if n := one[int](t, c, "select count(*) from documents_alike"); n != 4 {
		t.Fatalf("%d rows filled, want 4", n)
	}
	once(t, w)
	if n := one[int](t, c, "select count(*) from documents_alike_match where id = 4"); n != 3 {
		t.Errorf("row 4 is linked to %d rows, want 3", n)
	}
	if n := one[int](t, c, "select count(*) from documents_alike_match where id <> 4"); n != 0 {
		t.Errorf("%d links of rows that were not checked in, want 0", n)
	}
}

// unfilled attaches five documents that resemble each other, and has a worker list them as
// a chunk that it has not copied yet.
func unfilled(t *testing.T, options string) (*pgx.Conn, *Worker) {
	t.Helper()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 5) as g", story)
	exec(t, c, "select alike.attach('documents', 'body', $1)", options)
	w := newWorker(t, database, nil)
	if did, err := w.splitBackfill(ctx); err != nil || !did {
		t.Fatalf("splitBackfill: %v, %v, want a chunk", did, err)
	}
	return c, w
}

// fillBehindLock copies the chunk, and returns when that waits for a lock on a row.
func fillBehindLock(t *testing.T, c *pgx.Conn, w *Worker) (filled chan error) {
	t.Helper()
	filled = make(chan error, 1)
	go func() {
		_, err := w.copyChunk(ctx)
		filled <- err
	}()
	waitFor(t, "the chunk to wait for a row", func() bool {
		return one[int](t, c, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") == 1
	})
	return filled
}

// A row that another worker writes while its chunk is being filled is linked when the table
// is full, and no other row of that chunk is taken for a checkin.
func TestNoLinkOfFilledNeighbours(t *testing.T) {
	c, w := unfilled(t, `{"policy": "link"}`)
	tx := checkedIn(t, w, "2")
	filled := fillBehindLock(t, c, w)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-filled; err != nil {
		t.Fatal(err)
	}
	once(t, w)
	if got := one[string](t, c, "select concat_ws(' ', (select count(*) from documents_alike), count(*) filter (where 2 in (id, other)), count(*) filter (where 2 not in (id, other))) from documents_alike_match"); got != "5 4 0" {
		t.Errorf("rows, links of the row that was checked in, and other links: %s, want 5 4 0", got)
	}
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// A row that a chunk has read, and that is deleted and forgotten before the chunk writes
// it, is swept when the table is full.
func TestDeletedWhileFilled(t *testing.T) {
	c, w := unfilled(t, "{}")
	tx := checkedIn(t, w, "2")
	filled := fillBehindLock(t, c, w)
	exec(t, c, "delete from documents where id = 4")
	if did, err := w.queueBatch(ctx); err != nil || !did {
		t.Fatal(did, err)
	}
	if did, err := w.finishBackfill(ctx); did || err != nil {
		t.Fatalf("the table is full while its last chunk is being written: %v, %v", did, err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-filled; err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "documents_alike where id = 4"); n != 1 {
		t.Fatalf("the chunk wrote %d rows of the row that went, want 1, or this tests nothing", n)
	}
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// A column that goes while its table is being filled takes no chunk with it.
func TestChunkOfBrokenAttachment(t *testing.T) {
	c, w := unfilled(t, "{}")
	exec(t, c, "alter table documents drop body")
	w.catalog.forget()
	if did, err := w.copyChunk(ctx); did || err != nil {
		t.Fatal(did, err)
	}
	if note := one[string](t, c, "select note from alike.status()"); !strings.Contains(note, `the column "body" of public.documents was dropped`) {
		t.Errorf("note %q", note)
	}
	exec(t, c, "alter table documents add body text")
	exec(t, c, "update documents set body = $1 || ' word' || id", story)
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if note := one[string](t, c, "select coalesce(note, 'fine') from alike.status()"); note != "fine" {
		t.Errorf("note %q", note)
	}
}

// The same for clusters that are kept, whatever the policy.
func TestClusterOfFilledRow(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 3) as g", story)
	exec(t, c, `select alike.attach('documents', 'body')`)
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "select alike.write_clusters('documents')")
	exec(t, c, "insert into documents values (4, $1), (5, 'on its own among all of these and quite content with it')", story)
	exec(t, c, "select alike.refresh('documents')")
	for {
		did, err := w.backfillStep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !did {
			break
		}
	}
	for range 2 {
		if got, want := one[string](t, c, "select string_agg(id::text, ' ' order by id) || ' in ' || count(distinct cluster) from documents_alike_cluster"), "1 2 3 4 in 1"; got != want {
			t.Errorf("clusters %q, want %q", got, want)
		}
		once(t, w)
	}
}

// checkedIn begins a transaction that has written a row of every attachment. What
// is not committed is undone with the test.
func checkedIn(t *testing.T, w *Worker, key string) pgx.Tx {
	t.Helper()
	tx, err := w.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(context.Background()) })
	attachments, err := w.catalog.get(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attachments {
		if err := w.keys(t.Context(), tx, a, []string{key}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return tx
}

// What a crowd of identical rows has recorded grows with the rows and not with their
// square, and is the same as in SQLite when they come one by one.
func TestMatchesOfACrowd(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, `create table documents (id int primary key, body text); select alike.attach('documents', 'body', '{"policy": "link"}')`)
	w := newWorker(t, database, func(c *Config) { c.BatchSize = 1 })
	once(t, w)
	exec(t, c, "do $$ begin for i in 1 .. 300 loop insert into documents values (i, 'one two three four five six'); end loop; end $$")
	once(t, w)
	if n := count(t, c, "documents_alike_match"); n != 2945 {
		t.Errorf("%d matches, want 2945", n)
	}
	if n := one[int](t, c, "select max(omitted) from documents_alike_match where id = 300"); n != 289 {
		t.Errorf("the last row says that %d are not recorded, want 289", n)
	}
}

// A trigger that asks refuses, by containment, an excerpt of a row and what contains a row, also
// when the worker has not seen the other yet, and lets pass what a person called distinct.
func TestAskByContainment(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	r := rand.New(rand.NewPCG(14, 15))
	book := manyWords(r, 5000)
	excerpt := strings.Join(book[1000:1100], " ")
	exec(t, c, "create extension dblink schema public; create table books (id bigint primary key, body text)")
	exec(t, c, "insert into books values (1, $1)", strings.Join(book, " "))
	connection := one[string](t, c, "select format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1))")
	fails(t, c, "the policy reject by containment needs the option ask", `select alike.attach('books', 'body', '{"policy": "reject", "by": "containment", "contains": true}')`)
	exec(t, c, "select alike.attach('books', 'body', jsonb_build_object('policy', 'reject', 'by', 'containment', 'contains', true, 'ask', jsonb_build_object('connection', $1::text, 'timeout', 20, 'otherwise', 'refuse')))", connection)
	w := newWorker(t, database, nil)
	once(t, w)
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	fails(t, c, "the document is contained in row 1 of books (containment 1.000, rejected from 0.800)", "insert into books values (2, $1)", excerpt)
	exec(t, c, "insert into books values (2, $1), (3, null), (4, '')", strings.Join(manyWords(r, 100), " "))
	fails(t, c, "the document is contained in row 1 of books", "update books set body = $1 where id = 2", excerpt)
	exec(t, c, "update books set body = body || ' and the end' where id = 2") // a row contains itself
	exec(t, c, "delete from books where id = 1")
	waitFor(t, "the row to be forgotten", func() bool { return one[int](t, c, "select count(*) from books_alike where id = 1") == 0 })
	exec(t, c, "insert into books values (5, $1)", excerpt)
	// At once, while no worker may have written row 5, and in one transaction.
	fails(t, c, "the document contains ", "insert into books values (1, $1)", strings.Join(book, " "))
	fails(t, c, "a document that was checked in a moment ago", "with a as (insert into books values (6, $1)) insert into books values (7, $2)",
		strings.Join(book[2000:2100], " "), strings.Join(book[1900:2200], " "))
	// Another session waits until the book is committed, and then sees it.
	other, watch := pgtest.Connect(t, database), pgtest.Connect(t, database)
	tx, err := c.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "insert into books values (8, $1)", strings.Join(book[2000:3500], " ")); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := other.Exec(ctx, "insert into books values (9, $1)", strings.Join(book[2300:2400], " "))
		second <- err
	}()
	waitFor(t, "the second to wait", func() bool { return len(second) > 0 || waits(t, watch) })
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-second; !rejected(err) {
		t.Errorf("an excerpt of what another session was writing: error %v, want a rejection", err)
	}
	fails(t, c, "by containment, of which a sketch does not tell", "select alike.gate('books', '\\xa1'::bytea)")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A feature that many rows have costs a checkin no more than 300 of them do; the questions
// look at all. What shares more with the row is found.
func TestCheckinIntoACrowd(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"columns", "parts"} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, `create table documents (id int primary key, body text);
			insert into documents select g, (select string_agg(md5((g % 3500)::text || i), ' ') from generate_series(1, 30) as i) from generate_series(1, 3499) as g;
			insert into documents select g, 'one two three four five six seven eight' from generate_series(8001, 9200) as g`)
		exec(t, c, `select alike.attach('documents', 'body', $1)`, `{"policy": "link", "profile": "prose", "layout": "`+layout+`"}`)
		w := newWorker(t, database, func(c *Config) { c.BatchSize = 1 })
		once(t, w)
		// As if all had a letterhead, and few else of it in common.
		crowd := "update documents_alike set f3 = 42"
		if layout == "parts" {
			crowd += "; update documents_alike_part set f3 = 42"
		}
		exec(t, c, crowd+"; analyze")
		looked := func(sql string) (n int) {
			t.Helper()
			exec(t, c, "begin; set local track_functions = 'all'; "+sql)
			n = one[int](t, c, "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where schemaname = 'alike' and funcname = 'resemblance'")
			exec(t, c, "rollback")
			return n
		}
		exec(t, c, "insert into documents select 7000, body from documents where id = 3499")
		once(t, w)
		exec(t, c, "update documents_alike set f3 = 42 where id = 7000")
		if layout == "parts" {
			exec(t, c, "update documents_alike_part set f3 = 42 where id = 7000")
		}
		if got, want := list(t, c, "select id || ' ' || other || ' ' || shared from documents_alike_match"), "7000 3499 22"; got != want {
			t.Errorf("%s: matches %q, want %q", layout, got, want)
		}
		exec(t, c, "delete from documents_alike_match")
		if n := looked("select alike._match(a, '{7000}') from alike.attachment a"); n < 250 || n > 310 {
			t.Errorf("%s: a checkin looks at %d rows, want about 300", layout, n)
		}
		if n := looked("select alike._match(a, '{7000}') from alike.attachment a; select count(*) from alike.rows('documents', 7000)"); n < 4000 {
			t.Errorf("%s: a checkin and a question look at %d rows, want those of the crowd in the question", layout, n)
		}
		exec(t, c, "select alike._match(a, '{7000}') from alike.attachment a")
		if got, want := list(t, c, "select id || ' ' || other || ' ' || shared || ' ' || omitted from documents_alike_match"), "7000 3499 23 0"; got != want {
			t.Errorf("%s: matches in the crowd %q, want %q", layout, got, want)
		}

		// Of equal rows as many as it looks at are recorded, and none that is distinct.
		exec(t, c, "select alike.mark('documents', '9200', other::text, 'distinct') from generate_series(8001, 8010) as other; delete from documents_alike_match; select alike._match(a, '{9200}') from alike.attachment a")
		if got, want := list(t, c, "select row(count(*), min(omitted) between 270 and 291, min(other) > 8010, min(resemblance), min(shared))::text from documents_alike_match where id = 9200"), "(10,t,t,1,23)"; got != want {
			t.Errorf("%s: matches of a crowd of equal rows %q, want %q", layout, got, want)
		}
		if n := one[int](t, c, "select count(*) from alike.rows('documents', 9200)"); n != 1189 {
			t.Errorf("%s: %d rows resemble one of 1200 of which ten are distinct, want 1189", layout, n)
		}
	}
}

// Of a crowd the nearest are recorded, and how many there are beside them.
func TestNearestMatches(t *testing.T) {
	t.Parallel()
	c, w := sketched(t, "create table documents (id int primary key, body text)", `select alike.attach('documents', 'body', '{"policy": "link", "matches": 2, "at_least": 0.3, "profile": "words w=1"}')`)
	exec(t, c, "insert into documents select g, (select string_agg(case when i <= g * 3 then 'other' || g || i else 'word' || i end, ' ') from generate_series(1, 60) as i) from generate_series(5, 1, -1) as g")
	once(t, w)
	exec(t, c, "insert into documents select 10, string_agg('word' || i, ' ') from generate_series(1, 60) as i")
	once(t, w)
	if got, want := list(t, c, "select other || ' of ' || omitted + 2 from documents_alike_match where id = 10 order by other"), "1 of 5 2 of 5"; got != want {
		t.Errorf("matches %q, want %q", got, want)
	}
}

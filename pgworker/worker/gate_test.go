package worker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// family is one of several texts, edited a little: those of one number resemble each
// other, those of two do not.
func family(r *rand.Rand, n int) string {
	list := strings.Fields(story)
	for i := range list {
		list[i] = fmt.Sprint(list[i], n)
	}
	list[len(list)-1] = fmt.Sprint("edit", r.IntN(1000)) // one shingle of fifty is another
	return strings.Join(list, " ")
}

// attempts has clients check in documents of a few families at once until each has tried
// often, while worker processes and sessions are killed. Then it checks in one document of
// each family beside a worker that lives: who comes too late is rejected, so that every
// family is kept afterwards, however slow the machine was. It returns how many were kept.
func attempts(t *testing.T, database string, clients, tries, families int, checkin func(c *pgx.Conn, id int, text string) error, allowed ...string) int {
	t.Helper()
	var kept atomic.Int64
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			var c *pgx.Conn
			for n := range tries {
				for c == nil || c.IsClosed() {
					var err error
					if c, err = pgx.Connect(ctx, database+"&application_name=client"); err != nil {
						time.Sleep(10 * time.Millisecond)
						c = nil
					}
				}
				err := checkin(c, 1000*i+n, family(r, r.IntN(families)))
				var pg *pgconn.PgError
				switch {
				case err == nil:
					kept.Add(1)
				case rejected(err), !errors.As(err, &pg), pg.Code == "57P01":
				default:
					known := false
					for _, text := range allowed {
						known = known || strings.Contains(pg.Message, text)
					}
					if !known {
						t.Errorf("client %d: %v", i, err)
					}
				}
			}
			c.Close(ctx)
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	admin := pgtest.Connect(t, database)
	worker, r := startWorker(t, database), rand.New(rand.NewPCG(1, 4))
	for {
		select {
		case <-done:
			kill(worker) // it may have ended by itself: the last cut may have met it as it started
			worker = startWorker(t, database)
			defer kill(worker)
			for f := range families {
				err := checkin(admin, 100_000+7*f+1, family(r, f))
				for end := time.Now().Add(time.Minute); err != nil && !rejected(err) && time.Now().Before(end); {
					time.Sleep(100 * time.Millisecond) // the worker, killed a moment ago, is starting
					err = checkin(admin, 100_000+7*f+1, family(r, f))
				}
				if err == nil {
					kept.Add(1)
				} else if !rejected(err) {
					t.Errorf("family %d beside a living worker: %v", f, err)
				}
			}
			return int(kept.Load())
		case <-time.After(time.Duration(50+r.IntN(150)) * time.Millisecond):
		}
		if r.IntN(2) == 0 {
			kill(worker)
			worker = startWorker(t, database)
		} else {
			exec(t, admin, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name in ('client', 'asker', 'alike worker') order by random() limit 2")
		}
	}
}

// noTwins reports near-duplicates that were let in side by side.
func noTwins(t *testing.T, database string, kept, families int) {
	t.Helper()
	c := pgtest.Connect(t, database)
	once(t, newWorker(t, database, nil))
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if n := one[int](t, c, "select count(*) from alike.pairs('documents')"); n != 0 {
		t.Errorf("%d pairs of near-duplicates were let in, want 0", n)
	}
	// A session that was killed as it committed does not know whether it did.
	if n := count(t, c, "documents"); n != families || n < kept {
		t.Errorf("%d rows, of which %d are known to be kept, want one of each of %d families", n, kept, families)
	}
}

// Many sessions bring near-duplicates at once and ask the gate, while workers and
// sessions are killed: of each family one gets in.
func TestGateAtOnce(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "reject"}')`)
	profile, variants := profileOf(t, c, "documents")
	kept := attempts(t, database, 6, 40, 20, func(c *pgx.Conn, id int, text string) error {
		q, err := NewQuestion(profile, variants, []byte(text))
		if err != nil {
			return err
		}
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx)
		if _, err := tx.Exec(ctx, "select alike.gate('documents', $1, $2)", q.Sketch, fmt.Sprint(id)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "insert into documents values ($1, $2)", id, text); err != nil {
			return err
		}
		if id%7 == 0 {
			return errors.New("thought better of it")
		}
		return tx.Commit(ctx)
	})
	noTwins(t, database, kept, 20)
}

// The same for the trigger that asks a worker: workers and the connections on which it
// asks are cut, and a document that could not be judged is refused.
func TestAskAtOnce(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create extension dblink schema public; create table documents (id int primary key, body text)")
	connection := one[string](t, c, "select format('dbname=%s host=%s user=postgres application_name=asker', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1))")
	exec(t, c, "select alike.attach('documents', 'body', jsonb_build_object('policy', 'reject', 'ask', jsonb_build_object('connection', $1::text, 'timeout', 60, 'otherwise', 'refuse')))", connection)
	kept := attempts(t, database, 5, 12, 10, func(c *pgx.Conn, id int, text string) error {
		_, err := c.Exec(ctx, "insert into documents values ($1, $2)", id, text)
		return err
	}, "could not be judged")
	noTwins(t, database, kept, 10)
}

// A worker that stood still while it read a document, for longer than the document was
// left to it, goes on: another has recorded the attempt, and the row is written once.
func TestStoppedWhileReading(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	attachTyped(t, c)
	change := func(c *Config) { c.Extract.Commands = commands() }
	stopped, other := newWorker(t, database, change), newWorker(t, database, change)
	once(t, stopped)
	exec(t, c, "insert into documents values (1, 'a good document', 'application/x-good')")
	if _, err := stopped.queueBatch(ctx); err != nil {
		t.Fatal(err)
	}
	id := one[int64](t, c, "update alike.extraction set taken_until = clock_timestamp() - interval '1 second' returning id") // stopped has it
	if did, err := other.extractOne(ctx); err != nil || !did {
		t.Fatal(did, err)
	}
	if got, want := one[string](t, c, "select message from alike.error"), "a worker ended, or took longer than"; !strings.Contains(got, want) {
		t.Errorf("the attempt is recorded as %q, want %q in it", got, want)
	}
	attachments, err := stopped.catalog.get(ctx, stopped.pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attachments {
		if err := stopped.extract(ctx, id, a, "1", false); err != nil {
			t.Fatal(err)
		}
	}
	if got := one[string](t, c, "select (select count(*) from documents_alike) || ' ' || (select count(*) from alike.error) || ' ' || (select count(*) from alike.extraction)"); got != "1 0 0" {
		t.Errorf("rows, failures and documents that wait: %s, want 1 0 0", got)
	}
}

// What the gate let pass is remembered until the worker has sketched it, and no longer.
func TestAdmittedIsForgotten(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "reject"}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	q, err := Ask(ctx, c, "documents", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "begin")
	exec(t, c, "select alike.gate('documents', $1)", q.Sketch)
	exec(t, c, "insert into documents values (1, $1)", story)
	exec(t, c, "commit; update alike.admitted set admitted_at = admitted_at - interval '20 seconds'; update alike.queue set queued_at = queued_at - interval '20 seconds'")
	if err := w.tidy(ctx); err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "alike.admitted"); n != 1 {
		t.Errorf("%d documents are remembered while one waits for the worker, want it", n)
	}
	once(t, w)
	if err := w.tidy(ctx); err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "alike.admitted"); n != 0 {
		t.Errorf("%d documents are remembered that the worker has sketched, want 0", n)
	}
}

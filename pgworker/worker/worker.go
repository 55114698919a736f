package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/queries"
)

// Run works until ctx is cancelled, and then returns nil: the batch at hand is
// rolled back, and whoever comes next does it. A database that cannot be
// reached is waited for.
func (w *Worker) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	for range w.config.Lanes {
		wait.Go(func() { w.lane(ctx) })
	}
	wait.Go(func() { w.listen(ctx) })
	wait.Go(func() { w.maintain(ctx) })
	wait.Wait()
	return nil
}

// Once works until nothing is left to do, and returns the first error. Rows
// that failed and wait for another attempt are not waited for; tables that take
// no triggers are scanned once.
func (w *Worker) Once(ctx context.Context) error {
	w.catalog.forget() // a policy may be a moment old
	retry := 0
	start := time.Now()
	for {
		did, err := w.step(ctx, time.Since(start))
		switch {
		case err == nil && !did:
			return nil
		case err == nil:
			retry = 0
		case ctx.Err() != nil:
			return ctx.Err()
		case !whole(err) || retry == 5:
			return err
		default:
			retry++
			w.log.Warn("again", "error", err)
			w.pause(ctx, delay(retry))
		}
	}
}

// step does one transaction's worth of work: first what a checkin waits for,
// then what was checked in, then rows that were there before, then a look at a
// table without triggers whose last one is as long ago as given. It reports
// whether there was any.
func (w *Worker) step(ctx context.Context, sinceScan time.Duration) (bool, error) {
	n, err := w.answerRequests(ctx)
	if err != nil || n > 0 {
		return n > 0, err
	}
	n, err = w.queueBatch(ctx)
	if err != nil || n > 0 {
		return n > 0, err
	}
	if did, err := w.backfillStep(ctx); err != nil || did {
		return did, err
	}
	return w.scan(ctx, sinceScan)
}

// lane is a loop of steps.
func (w *Worker) lane(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		did, err := w.step(ctx, w.config.ScanInterval)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			failures++
			w.catalog.forget()
			w.counters.transaction()
			w.log.Warn("batch failed, will be tried again", "error", err, "failures", failures)
			w.pause(ctx, delay(failures))
		case did:
			failures = 0
		default:
			failures = 0
			select {
			case <-ctx.Done():
			case <-w.wake:
			case <-time.After(w.config.PollInterval):
			}
		}
	}
}

// delay grows from 50 ms to 5 s and is spread, so that workers that hindered
// each other do not meet again.
func delay(failures int) time.Duration {
	d := min(50*time.Millisecond<<min(failures-1, 10), 5*time.Second)
	return d/2 + rand.N(d/2)
}

func (w *Worker) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listen wakes a lane when something is checked in.
func (w *Worker) listen(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		err := w.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		failures++
		w.log.Warn("not listening, polling instead", "error", err)
		w.pause(ctx, delay(failures))
	}
}

func (w *Worker) listenOnce(ctx context.Context) error {
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection that listens is of no use to anybody else.
	c := conn.Hijack()
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, "listen alike"); err != nil {
		return err
	}
	for {
		if _, err := c.WaitForNotification(ctx); err != nil {
			return err
		}
		for range w.config.Lanes {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}
}

// maintain tidies up every now and then.
func (w *Worker) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.tidy(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("failed rows and old requests wait", "error", err)
		}
		w.progress(ctx)
		w.pause(ctx, w.config.PollInterval)
	}
}

// tidy puts failed rows whose time has come back into the queue, and forgets
// what nobody waits for any more.
func (w *Worker) tidy(ctx context.Context) error {
	if err := w.retryDue(ctx); err != nil {
		return err
	}
	for _, statement := range []string{queries.ForgetAdmitted, queries.ForgetRequests} {
		if _, err := w.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) retryDue(ctx context.Context) error {
	tag, err := w.pool.Exec(ctx, queries.RetryDue, w.config.MaxBackoff)
	if err == nil && tag.RowsAffected() > 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return err
}

// progress reports how far side tables are filled.
func (w *Worker) progress(ctx context.Context) {
	if w.config.Progress == nil {
		return
	}
	rows, err := w.pool.Query(ctx, queries.Progress)
	if err != nil {
		return // the lanes say what is wrong
	}
	defer rows.Close()
	for rows.Next() {
		var id int32
		var p Progress
		if err := rows.Scan(&id, &p.Name, &p.Rows, &p.Remaining); err != nil {
			return
		}
		w.config.Progress(p)
	}
}

// IsTransient reports whether an error of Once may go away by itself: a server
// that restarts, a lock, a full disk; but not a name or password that is wrong.
func IsTransient(err error) bool {
	var pg *pgError
	if errors.As(err, &pg) && (pg.Code[:2] == "28" || pg.Code == "3D000") {
		return false
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || whole(err)
}

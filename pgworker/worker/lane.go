package worker

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/alike-sql/alike/queries"
)

// step does one transaction's worth of work: first what a checkin waits for,
// then what was checked in (by statements that changed much of a table first), then rows that were there before, then a look at a
// table without triggers whose last one is as long ago as given. It reports
// whether there was any.
func (w *Worker) step(ctx context.Context, sinceScan time.Duration) (bool, error) {
	for _, do := range []func(context.Context) (bool, error){
		w.answerRequests,
		w.large,
		w.queueBatch,
		w.backfillStep,
		func(ctx context.Context) (bool, error) { return w.scan(ctx, sinceScan) },
	} {
		if did, err := do(ctx); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// lane is a loop of steps.
func (w *Worker) lane(ctx context.Context) {
	w.repeat(ctx, "batch failed, retrying", &w.bell, func(ctx context.Context) (bool, error) { return w.step(ctx, w.config.ScanInterval) })
}

// repeat calls do until ctx is cancelled: at once while there is something to do,
// when the bell rings or PollInterval has passed where there is not, and
// after a growing delay where do fails.
func (w *Worker) repeat(ctx context.Context, failure string, bell *bell, do func(context.Context) (bool, error)) {
	failures := 0
	for ctx.Err() == nil {
		rung := bell.rung() // before the look: what comes after it is not missed
		did, err := do(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			failures++
			w.catalog.forget()
			w.counters.transaction()
			w.log.Warn(failure, "error", err, "failures", failures)
			w.pause(ctx, delay(failures))
		case did:
			failures = 0
			select {
			case w.worked <- struct{}{}: // more may follow
			default:
			}
		default:
			failures = 0
			select {
			case <-ctx.Done():
			case <-rung:
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

// Between two looks for something to do pass minPoll, right after there was some,
// to maxPoll, when there was none for a while.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = 150 * time.Millisecond
)

// watch looks whether there is something to do, and wakes the loops. Applications
// announce nothing: NOTIFY would keep them from preparing a transaction.
func (w *Worker) watch(ctx context.Context) {
	wait, failures := minPoll, 0
	for ctx.Err() == nil {
		var found bool
		bounded, cancel := w.bound(ctx)
		err := w.pool.QueryRow(bounded, queries.Waiting, w.config.ScanInterval).Scan(&found)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil: // the loops say what is wrong
			failures++
			w.pause(ctx, delay(failures))
			continue
		case found:
			w.ring()
		}
		failures = 0
		select {
		case <-ctx.Done():
		case <-w.worked:
			wait = minPoll
		case <-time.After(wait):
			wait = min(wait*5/4, maxPoll)
		}
	}
}

// listen wakes the loops when a trigger or a function asks: somebody waits for the answer.
func (w *Worker) listen(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		err := w.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		failures++
		w.log.Warn("cannot listen, polling", "error", err)
		w.pause(ctx, delay(failures))
	}
}

func (w *Worker) listenOnce(ctx context.Context) error {
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection that listens does not go back to the pool.
	c := conn.Hijack()
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, "listen alike"); err != nil {
		return err
	}
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload == "question" { // one loop answers these, and the others would look for nothing
			w.asked.ring()
		} else {
			w.ring()
		}
	}
}

// ring wakes all loops.
func (w *Worker) ring() {
	w.bell.ring()
	w.asked.ring()
}

// A bell wakes everybody who waits for it.
type bell struct {
	mutex sync.Mutex
	next  chan struct{} // closed by ring
}

// rung returns a channel that is closed when the bell rings.
func (b *bell) rung() <-chan struct{} {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// A document that is slow to read moves from the queue to alike.extraction. A worker
// takes it there for a time, reads it outside of any transaction, and writes its row
// in a short one. So a document that hangs, or ends the worker, costs an attempt of
// its own and keeps no other row waiting: a worker that finds a document that was
// taken, and not done in time, records the attempt.

// extractionTime is how long one document may take, the text and its sketch, and
// extractionLease how long it is left to the worker that took it.
func (w *Worker) extractionTime() time.Duration  { return w.extractor.Timeout() + 30*time.Second }
func (w *Worker) extractionLease() time.Duration { return w.extractionTime() + 30*time.Second }

// extraction is a loop of slow documents.
func (w *Worker) extraction(ctx context.Context) {
	w.repeat(ctx, "extraction failed, retrying", &w.bell, w.extractOne)
}

// extractOne deals with one slow document, and reports whether there was one.
func (w *Worker) extractOne(ctx context.Context) (bool, error) {
	var id int64
	var attachment int32
	var key string
	var abandoned bool
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	// A worker that is told to end waits a little for the answer: it gives back what it has taken.
	taking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(5*time.Second, cancel) })()
	err := w.pool.QueryRow(taking, queries.TakeExtraction, w.extractionLease()).Scan(&id, &attachment, &key, &abandoned)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	attachments, err := w.catalog.get(ctx, w.pool)
	if err == nil {
		err = w.extract(ctx, id, attachments[attachment], key, abandoned)
	}
	if err != nil { // it costs no attempt, and the next worker need not wait
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, failed := w.pool.Exec(release, queries.ReleaseExtraction, id)
		err = errors.Join(err, failed)
	}
	return err == nil, err
}

// extract reads a document that was taken and writes what follows from it. An error
// is not one of the document.
func (w *Worker) extract(ctx context.Context, id int64, a *attachment, key string, abandoned bool) error {
	var f *found
	var reason error
	switch {
	case a == nil: // detached since
	case a.broken != nil:
		reason = a.broken
	case abandoned:
		f = &found{write: a.newColumns(), failures: []failure{{key, fmt.Errorf("a worker ended, or took longer than %s, while it read the document", w.extractionLease())}}}
	default:
		limited, cancel := context.WithTimeoutCause(ctx, w.extractionTime(), fmt.Errorf("reading the document took longer than %s", w.extractionTime()))
		defer cancel()
		if f, reason = w.readOne(limited, a, key); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	ctx, cancel := w.bound(ctx)
	defer cancel()
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer undo(ctx, tx)
	if f != nil && reason == nil {
		if reason = hold(ctx, tx, a); reason == nil {
			reason = savepoint(ctx, tx, func(tx pgx.Tx) error { return w.record(ctx, tx, a, f) })
		}
	}
	switch {
	case reason == nil && a != nil && a.broken == nil:
		err = w.cleared(ctx, tx, a)
	case reason == nil:
	case a.broken == nil && retryable(reason):
		return reason
	case a.broken != nil || failsEveryRow(reason):
		err = w.attachmentFailed(ctx, tx, a, []string{key}, reason)
	default:
		err = w.rowsFailed(ctx, tx, a, []string{key}, reason)
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, queries.EndExtraction, id); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

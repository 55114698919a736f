package worker

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// A task is one transaction's worth of work on a whole attachment.
type task struct {
	claim string // the query that takes it: the attachment, then more
	args  []any
	more  []any // where the rest of the query's columns goes
	fresh bool  // the attachment has to be as it is now, not as of a moment ago
	long  bool  // statements may take as long as they take
	run   func(ctx context.Context, tx pgx.Tx, a *attachment) (did bool, err error)
}

// perform takes a task and does it, and reports whether there was anything to do.
// Where the attachment was detached a moment ago there is not. Where something is
// wrong with the attachment the task is left where it was, to be retried, and the
// reason is recorded.
func (w *Worker) perform(ctx context.Context, t task) (bool, error) {
	if !t.long {
		bounded, cancel := w.bound(ctx)
		defer cancel()
		ctx = bounded
	}
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer undo(ctx, tx)
	var id int32
	if err := tx.QueryRow(ctx, t.claim, t.args...).Scan(append([]any{&id}, t.more...)...); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if t.fresh {
		w.catalog.forget()
	}
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return false, err
	}
	a := attachments[id]
	if a == nil {
		w.catalog.forget()
		return false, nil
	}
	if err := hold(ctx, tx, a); err != nil {
		if retryable(err) {
			return false, err
		}
		return false, w.taskFailed(ctx, tx, a, err)
	}
	if t.long {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return false, err
		}
	}
	did, err := t.run(ctx, tx, a)
	if err == nil {
		err = w.cleared(ctx, tx, a)
	}
	switch {
	case err == nil:
		return did, tx.Commit(ctx)
	case retryable(err):
		return false, err
	}
	return false, w.taskFailed(ctx, tx, a, err)
}

// taskFailed undoes what a task has done, its claim too, and records why.
func (w *Worker) taskFailed(ctx context.Context, undone pgx.Tx, a *attachment, reason error) error {
	if err := undone.Rollback(ctx); err != nil {
		return err
	}
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer undo(ctx, tx)
	if err := w.attachmentFailed(ctx, tx, a, nil, reason); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

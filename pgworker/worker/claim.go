package worker

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// claimed is what one transaction took from the queue for one attachment.
type claimed struct {
	keys      []string  // sorted, each once
	oldest    time.Time // when the first of them was queued
	truncated bool      // the table was emptied at some point
}

// queueBatch takes a batch from the queue, writes what follows from it, and
// commits both. It reports whether there were any entries.
//
// The order of things makes the last version of a document win whatever other
// workers do meanwhile:
//
//   - a document is read after its entry was taken, and its version (xmin) is
//     looked at again after its side row was written, when that row's lock keeps
//     other workers out. If it changed, the key goes back to the queue: another
//     worker may have overtaken us and written first.
//   - for a row that is gone, its place in the side table is taken and locked
//     before the table is looked at once more and the place cleared: another
//     worker may have written it since we looked, or be about to, and the
//     primary key makes one of us wait.
//
// Workers write keys in one order, so that they do not lock each other out;
// checkins never touch a side table.
func (w *Worker) queueBatch(ctx context.Context) (bool, error) {
	ctx, cancel := w.bound(ctx)
	defer cancel()
	start := time.Now()
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer undo(ctx, tx)
	work, n, oldest, err := claim(ctx, tx, w.config.BatchSize)
	if err != nil || n == 0 {
		return false, err
	}
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return false, err
	}
	ids := make([]int32, 0, len(work))
	for id := range work {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		a := attachments[id]
		if a == nil {
			continue // detached since: its entries mean nothing
		}
		if err := w.queued(ctx, tx, a, work[id]); err != nil {
			return false, err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	w.counters.batch(n, time.Since(start), time.Since(oldest))
	return true, nil
}

// claim takes entries from the queue.
func claim(ctx context.Context, tx pgx.Tx, limit int) (map[int32]*claimed, int, time.Time, error) {
	rows, err := tx.Query(ctx, queries.Claim, limit)
	if err != nil {
		return nil, 0, time.Time{}, err
	}
	work := map[int32]*claimed{}
	n := 0
	oldest := time.Now()
	var id int32
	var key *string
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &key, &at}, func() error {
		n++
		if at.Before(oldest) {
			oldest = at
		}
		c := work[id]
		if c == nil {
			c = &claimed{oldest: at}
			work[id] = c
		} else if at.Before(c.oldest) {
			c.oldest = at
		}
		if key == nil {
			c.truncated = true
		} else {
			c.keys = append(c.keys, *key)
		}
		return nil
	}); err != nil {
		return nil, 0, time.Time{}, err
	}
	for _, c := range work {
		slices.Sort(c.keys)
		c.keys = slices.Compact(c.keys)
	}
	return work, n, oldest, nil
}

// queued does the work of one attachment, or records why it could not be done.
// An error is one of the transaction as a whole.
func (w *Worker) queued(ctx context.Context, tx pgx.Tx, a *attachment, c *claimed) error {
	if err := hold(ctx, tx, a); err != nil {
		if retryable(err) {
			return err
		}
		return w.attachmentFailed(ctx, tx, a, c.keys, err)
	}
	if c.truncated {
		if err := savepoint(ctx, tx, func(tx pgx.Tx) error { return w.sweep(ctx, tx, a) }); err != nil {
			if retryable(err) {
				return err
			}
			return w.attachmentFailed(ctx, tx, a, c.keys, err)
		}
	}
	return w.keys(ctx, tx, a, c.keys, c.oldest)
}

// hold makes sure that the rows of an attachment may be read and removed, until
// the transaction ends.
func hold(ctx context.Context, tx pgx.Tx, a *attachment) error {
	if a.broken != nil {
		return a.broken
	}
	var why *string
	err := savepoint(ctx, tx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, queries.Hold, a.id, a.profileID).Scan(&why) })
	if err == nil && why != nil {
		err = withheldError(*why)
	}
	return err
}

// A withheldError says why the rows of an attachment may be neither read nor removed.
type withheldError string

func (e withheldError) Error() string { return string(e) }

// cleared forgets the problem of an attachment that works again.
func (w *Worker) cleared(ctx context.Context, tx pgx.Tx, a *attachment) error {
	if a.problem == nil {
		return nil
	}
	a.problem = nil
	_, err := tx.Exec(ctx, queries.Problem, a.id, nil)
	return err
}

// keys brings the side rows of keys up to date. When that fails for a reason
// that lies in a row, halves are tried, down to the row, which is recorded.
func (w *Worker) keys(ctx context.Context, tx pgx.Tx, a *attachment, keys []string, oldest time.Time) error {
	if len(keys) == 0 {
		return nil
	}
	err := savepoint(ctx, tx, func(tx pgx.Tx) error { return w.update(ctx, tx, a, keys, oldest) })
	switch {
	case err == nil:
		return w.cleared(ctx, tx, a)
	case retryable(err):
		return err
	case failsEveryRow(err):
		return w.attachmentFailed(ctx, tx, a, keys, err)
	case len(keys) == 1:
		return w.rowsFailed(ctx, tx, a, keys, err)
	}
	half := len(keys) / 2
	if err := w.keys(ctx, tx, a, keys[:half], oldest); err != nil {
		return err
	}
	return w.keys(ctx, tx, a, keys[half:], oldest)
}

// savepoint runs f so that its failure leaves the transaction usable.
func savepoint(ctx context.Context, tx pgx.Tx, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, tx, f)
}

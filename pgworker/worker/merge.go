package worker

import (
	"context"
	"time"

	"github.com/alike-sql/alike/queries"
)

// merge does a step for an attachment in the layout parts: it moves the newest entries into a
// part, or merges parts. It reports whether there was anything to do. A step is one
// transaction, and the database keeps what remains: a worker that is killed leaves the rest to
// the next.
func (w *Worker) merge(ctx context.Context) (bool, error) {
	start := time.Now()
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer undo(ctx, tx)
	if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
		return false, err
	}
	var copied *int64
	if err := tx.QueryRow(ctx, queries.Merge).Scan(&copied); err != nil || copied == nil {
		return false, err
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	w.counters.merged(*copied, time.Since(start))
	return true, nil
}

// keepParts does a step of merge, and when there is none removes what the moves have left in a table
// of the newest entries.
func (w *Worker) keepParts(ctx context.Context) (bool, error) {
	if did, err := w.merge(ctx); did || err != nil {
		return did, err
	}
	return w.vacuum(ctx)
}

// vacuum keeps a table of the newest entries small while checkins go on.
func (w *Worker) vacuum(ctx context.Context) (bool, error) {
	var table *string
	if err := w.pool.QueryRow(ctx, queries.ToVacuum).Scan(&table); err != nil || table == nil {
		return false, err
	}
	_, err := w.pool.Exec(ctx, "vacuum "+*table)
	return err == nil, err
}

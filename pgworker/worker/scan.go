package worker

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// scan compares a table that takes no triggers with its sketches, when the last
// scan of it is as long ago as given, and queues the rows that differ: new ones,
// those whose document or profile changed, and those that are gone. Documents
// are hashed where they are. It reports whether it found any.
//
// A row that changes while it is sketched is found by the next scan, and a row
// that failed is left to its own retries.
func (w *Worker) scan(ctx context.Context, since time.Duration) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	var id int32
	if err := tx.QueryRow(ctx, queries.ScanDue, since).Scan(&id); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
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
	if a.broken != nil {
		return w.backfillFailed(ctx, tx, a, a.broken)
	}
	found := int64(0)
	err = savepoint(ctx, tx, func(tx pgx.Tx) error {
		// One pass over the documents, as long as it takes.
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, a.sql.stale, w.config.MaxBackoff)
		found = tag.RowsAffected()
		return err
	})
	if err != nil {
		if whole(err) {
			return false, err
		}
		return w.backfillFailed(ctx, tx, a, err)
	}
	if err := w.cleared(ctx, tx, a); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, queries.ScanDone, id); err != nil {
		return false, err
	}
	return found > 0, tx.Commit(ctx)
}

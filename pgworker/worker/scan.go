package worker

import (
	"context"
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
	return w.perform(ctx, task{claim: queries.ScanDue, args: []any{since}, long: true, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		found, err := tx.Exec(ctx, a.sql(queries.QueueStale), w.config.MaxBackoff)
		if err != nil {
			return false, err
		}
		_, err = tx.Exec(ctx, queries.ScanDone, a.id)
		return found.RowsAffected() > 0, err
	}})
}

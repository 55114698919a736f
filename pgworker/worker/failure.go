package worker

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// rowsFailed records rows that failed for a reason of their own.
func (w *Worker) rowsFailed(ctx context.Context, tx pgx.Tx, a *attachment, keys []string, reason error) error {
	w.counters.failed(len(keys))
	w.log.Warn("row failed", "attachment", a.name, "key", abbreviate(keys[0]), "rows", len(keys), "error", reason)
	_, err := tx.Exec(ctx, queries.Fail, a.id, keys, message(reason), w.config.MaxAttempts, w.config.Backoff, w.config.MaxBackoff)
	return err
}

// attachmentFailed records rows that failed because of the whole attachment:
// they wait for as long as it takes.
func (w *Worker) attachmentFailed(ctx context.Context, tx pgx.Tx, a *attachment, keys []string, reason error) error {
	w.counters.failed(len(keys))
	w.catalog.forget() // whatever is wrong may be right the next time
	text := message(reason)
	if a.problem == nil || *a.problem != text {
		w.log.Error("attachment cannot be worked on", "attachment", a.name, "error", reason)
		a.problem = &text
	}
	if _, err := tx.Exec(ctx, queries.Problem, a.id, text); err != nil {
		return err
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, queries.Fail, a.id, keys, text, 0, w.config.Backoff, min(w.config.MaxBackoff, time.Minute))
	return err
}

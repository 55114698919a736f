package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// remove clears the side rows of keys that are not in the table any more, and
// puts back those that are there again: the worker that wrote them may have been
// overtaken by us, or have written before us.
func (w *Worker) remove(ctx context.Context, tx pgx.Tx, a *attachment, gone []string) error {
	if err := w.forget(ctx, a, gone); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, a.sql(queries.ReserveRows), gone); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, a.sql(queries.RemoveRows), gone)
	if err != nil {
		return err
	}
	removed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if err := w.unmatch(ctx, tx, a, removed); err != nil {
		return err
	}
	if a.mode != "scan" { // which looks again by itself
		if err := w.requeueChanged(ctx, tx, a, gone, make([]*string, len(gone))); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, queries.BackfillDeletions, a.id)
	return err
}

// forget has the verdicts on rows removed that are not in the table any more:
// those with the given keys, or nil for all. The triggers have done so already,
// but for a table that has none, and for a verdict that came between the deletion
// and us. It is done before and outside of our transaction, since Citus lets a
// function of another owner into none that has written; to do it too early or
// twice does no harm.
func (w *Worker) forget(ctx context.Context, a *attachment, keys []string) error {
	_, err := w.pool.Exec(ctx, a.sql(queries.ForgetVerdicts), keys)
	return err
}

// sweep removes what is not in the table any more. Nobody writes meanwhile: a
// row that was written since the sweep began to look would be taken for one
// without a document.
func (w *Worker) sweep(ctx context.Context, tx pgx.Tx, a *attachment) error {
	if err := w.forget(ctx, a, nil); err != nil {
		return err
	}
	clustered, err := lockWriting(ctx, tx, a)
	if err != nil {
		return err
	}
	for _, step := range []string{queries.LockSide, queries.Sweep, queries.UnmatchSwept, queries.UnmatchSweptOther} {
		if _, err := tx.Exec(ctx, a.sql(step)); err != nil {
			return err
		}
	}
	if clustered && !a.distributed { // what ends a fill of a distributed table does that later
		_, err = tx.Exec(ctx, queries.WriteClusters, a.id)
	}
	return err
}

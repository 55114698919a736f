package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// large finds the rows that statements changed which noted no keys, since they changed a
// large part of a table, and queues them. It reports whether there was such a statement.
func (w *Worker) large(ctx context.Context) (bool, error) {
	var versions []string
	return w.perform(ctx, task{claim: queries.ClaimLarge, more: []any{&versions}, long: true, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		_, err := tx.Exec(ctx, a.sql(queries.QueueLarge), versions)
		return true, err
	}})
}

package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// maintain tidies up every now and then.
func (w *Worker) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.tidy(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("maintenance failed, retrying", "error", err)
		}
		w.progress(ctx)
		w.pause(ctx, w.config.PollInterval)
	}
}

// tidy follows renames, takes over from workers of other builds, puts the failed rows whose
// time has come back into the queue and clears problems that are mended. It deletes what
// gates remembered of checkins that are sketched by now, and requests of triggers and
// questions of functions that are older than ten minutes.
func (w *Worker) tidy(ctx context.Context) error {
	ctx, cancel := w.bound(ctx)
	defer cancel()
	if err := w.mend(ctx); err != nil {
		return err
	}
	if err := w.takeOver(ctx); err != nil {
		return err
	}
	if err := w.retryDue(ctx); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	for _, statement := range []string{queries.ForgetAdmitted, queries.ForgetRequests, queries.ForgetQuestions} {
		if _, err := w.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// settle tries each attachment that has a problem and no work that waits, and clears the
// problem if the attachment can be worked on again. Where work waits, the lane that does it
// clears the problem.
func (w *Worker) settle(ctx context.Context) error {
	_, idle, err := w.problems(ctx)
	if err != nil {
		return err
	}
	for _, id := range idle {
		w.catalog.forget()
		if err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
			attachments, err := w.catalog.get(ctx, tx)
			if a := attachments[id]; err == nil && a != nil && hold(ctx, tx, a) == nil {
				err = w.cleared(ctx, tx, a)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// mend has the functions of attachments written again of which something was renamed.
func (w *Worker) mend(ctx context.Context) error {
	rows, err := w.pool.Query(ctx, queries.Mend)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		w.log.Info("something was renamed; every row is compared", "attachment", name)
		w.catalog.forget()
	}
	return err
}

func (w *Worker) retryDue(ctx context.Context) error {
	tag, err := w.pool.Exec(ctx, queries.RetryDue, w.config.MaxBackoff)
	if err == nil && tag.RowsAffected() > 0 {
		w.ring()
	}
	return err
}

// progress reports how far side tables are filled.
func (w *Worker) progress(ctx context.Context) {
	if w.config.Progress == nil {
		return
	}
	rows, err := w.pool.Query(ctx, queries.Progress)
	if err != nil {
		return // the lanes say what is wrong
	}
	defer rows.Close()
	for rows.Next() {
		var id int32
		var p Progress
		if err := rows.Scan(&id, &p.Name, &p.Rows, &p.Remaining); err != nil {
			return
		}
		w.config.Progress(p)
	}
}

package worker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// Rows that were in a table before it was attached are read in ranges of keys,
// by COPY out, and written by COPY in. A range is a row of alike.chunk: it is
// deleted in the transaction that writes its rows, so that a worker that is
// killed leaves it to the next.
//
// Live checkins go on meanwhile and win: a row whose place in the side table
// is taken fails the COPY, which then is tried again without it. Where rows were
// deleted meanwhile the side table is swept at the end.

// backfillStep does one transaction's worth of it, and reports whether there
// was anything to do.
func (w *Worker) backfillStep(ctx context.Context) (bool, error) {
	for _, step := range []func(context.Context) (bool, error){w.copyChunk, w.splitBackfill, w.finishBackfill, w.learn, w.revisit} {
		if did, err := step(ctx); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// ranges are the conditions of a chunk on the rows of the table and on those of the
// side table, as fragments.
func (a *attachment) ranges(above, upto *string) map[string]string {
	list := map[string]string{}
	for alias, keys := range map[string]string{"d": a.fragments["keys_d"], "s": a.fragments["keys_s"]} {
		condition := "true"
		for _, end := range []struct {
			operator string
			key      *string
		}{{">", above}, {"<=", upto}} {
			if end.key != nil { // the key is a constant: the planner has to see the range
				condition += fmt.Sprintf(" and (%s) %s (%s)", keys, end.operator, strings.ReplaceAll(a.fragments["values"], "k.key", literal(*end.key)))
			}
		}
		list["range_"+alias] = condition
	}
	return list
}

// literal writes a string constant, whatever standard_conforming_strings and backslash_quote are.
func literal(s string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// splitBackfill cuts a table that is to be filled into chunks, in one pass over
// its keys.
func (w *Worker) splitBackfill(ctx context.Context) (bool, error) {
	return w.perform(ctx, task{claim: queries.BackfillToSplit, fresh: true, long: true, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		if _, err := tx.Exec(ctx, a.sql(queries.Split), w.config.ChunkRows); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, queries.BackfillSplit, a.id)
		return true, err
	}})
}

// finishBackfill makes the indexes of a side table that is full.
func (w *Worker) finishBackfill(ctx context.Context) (bool, error) {
	var deletions bool
	var filled *attachment
	start := time.Now()
	did, err := w.perform(ctx, task{claim: queries.BackfillToFinish, more: []any{&deletions}, fresh: true, long: true, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		filled = a
		if a.distributed && a.replaces != nil {
			if _, err := tx.Exec(ctx, "set local citus.multi_shard_modify_mode = sequential"); err != nil {
				return false, err
			}
		}
		if deletions {
			if err := w.sweep(ctx, tx, a); err != nil {
				return false, err
			}
		}
		if !a.indexed {
			if _, err := tx.Exec(ctx, a.sql(queries.BuildIndexes)); err != nil {
				return false, err
			}
		}
		if a.replaces != nil {
			if _, err := tx.Exec(ctx, a.sql(queries.Switch)); err != nil {
				return false, err
			}
		}
		if _, err := tx.Exec(ctx, queries.BackfillFinish, a.id); err != nil {
			return false, err
		}
		var err error
		if !a.distributed {
			_, err = tx.Exec(ctx, queries.WriteClusters, a.id)
		}
		return true, err
	}})
	if did && err == nil {
		w.catalog.forget()
		w.log.Info("side table is full", "attachment", filled.name, "indexes", time.Since(start).Round(time.Millisecond))
		if filled.distributed { // Citus lets no other role compare rows in a transaction that has written them
			_, err = w.pool.Exec(ctx, queries.WriteClusters, filled.id)
		}
	}
	return did, err
}

// revisit records what some rows resemble that were checked in while the table was being
// filled, as if they were checked in now.
func (w *Worker) revisit(ctx context.Context) (bool, error) {
	var keys []string
	return w.perform(ctx, task{claim: queries.ClaimRevisit, more: []any{&keys}, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		if a.policy == "ignore" {
			return true, nil
		}
		if _, err := lockWriting(ctx, tx, a); err != nil {
			return false, err
		}
		rows, err := tx.Query(ctx, a.sql(queries.StillSketched), keys)
		if err != nil {
			return false, err
		}
		if keys, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return false, err
		}
		if err := w.unmatch(ctx, tx, a, keys); err != nil {
			return false, err
		}
		return true, w.match(ctx, tx, a, keys, nil)
	}})
}

package worker

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
)

// update reads the documents of keys, of which the first was queued at oldest, and
// brings their side rows up to date.
func (w *Worker) update(ctx context.Context, tx pgx.Tx, a *attachment, keys []string, oldest time.Time) error {
	f, err := w.read(ctx, tx, a, keys)
	if err != nil {
		return err
	}
	f.oldest = oldest
	return w.record(ctx, tx, a, f)
}

// record writes what was found out about some keys.
func (w *Worker) record(ctx context.Context, tx pgx.Tx, a *attachment, f *found) error {
	clustered, err := lockWriting(ctx, tx, a)
	if err != nil {
		return err
	}
	var clusters *clusterChange
	if clustered {
		if clusters, err = leaveClusters(ctx, tx, a, slices.Concat(f.write.keys, f.current, f.gone)); err != nil {
			return err
		}
	}
	if err := w.write(ctx, tx, a, f.write); err != nil {
		return err
	}
	if keys := slices.Concat(f.write.keys, f.current); a.policy != "ignore" && len(keys) > 0 {
		if _, err := tx.Exec(ctx, queries.NoteRevisit, a.id, keys); err != nil {
			return err
		}
	}
	if err := w.match(ctx, tx, a, f.write.keys, f.current); err != nil {
		return err
	}
	if len(f.write.keys) > 0 && a.mode != "scan" {
		if err := w.requeueChanged(ctx, tx, a, f.write.keys, f.write.versions); err != nil {
			return err
		}
	}
	if len(f.gone) > 0 {
		if err := w.remove(ctx, tx, a, f.gone); err != nil {
			return err
		}
	}
	if clustered {
		if err := clusters.join(ctx, tx); err != nil {
			return err
		}
	}
	if len(f.slow) > 0 {
		if _, err := tx.Exec(ctx, queries.Extract, a.id, f.slow, f.oldest); err != nil {
			return err
		}
	}
	if len(f.later) > 0 {
		if _, err := tx.Exec(ctx, queries.Requeue, a.id, f.later); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, queries.Succeed, a.id, slices.Concat(f.current, f.write.keys, f.gone, f.others)); err != nil {
		return err
	}
	for _, failed := range f.failures {
		if err := w.rowsFailed(ctx, tx, a, []string{failed.key}, failed.reason); err != nil {
			return err
		}
	}
	w.counters.rows(len(f.write.keys), len(f.gone), f.bytes)
	return nil
}

// write writes side rows, which are in the order of their keys, and forgets what was
// known of earlier documents of theirs.
func (w *Worker) write(ctx context.Context, tx pgx.Tx, a *attachment, rows *columns) error {
	if len(rows.keys) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, a.sql(queries.WriteRows), rows.arguments()...); err != nil {
		return err
	}
	if a.policy == "ignore" {
		return nil
	}
	return w.unmatch(ctx, tx, a, rows.keys)
}

// unmatch forgets the matches of rows.
func (w *Worker) unmatch(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) error {
	for _, step := range []string{a.sql(queries.Unmatch), a.sql(queries.UnmatchOther)} {
		if _, err := tx.Exec(ctx, step, keys); err != nil {
			return err
		}
	}
	return nil
}

// requeueChanged puts back the keys whose document is not of the version that was
// read; nil is the version of a row that was not there.
func (w *Worker) requeueChanged(ctx context.Context, tx pgx.Tx, a *attachment, keys []string, versions []*string) error {
	rows, err := tx.Query(ctx, a.sql(queries.Changed), keys, versions)
	if err != nil {
		return err
	}
	changed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(changed) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, queries.Requeue, a.id, changed)
	return err
}

// lockWriting lets workers write side by side where rows are only sketched. Two
// alike rows that are written at once must not miss each other where matches or
// clusters are recorded: there one writes after the other. It reports whether
// clusters are kept; a session that begins to keep them waits for those that write.
func lockWriting(ctx context.Context, tx pgx.Tx, a *attachment) (clustered bool, err error) {
	alone := a.policy != "ignore" || a.clustered
	lock := func(alone bool) error {
		var batch pgx.Batch
		batch.Queue(queries.LockWriting, a.id, alone)
		batch.Queue(queries.Clustered, a.id).QueryRow(func(row pgx.Row) error { return row.Scan(&clustered) })
		return tx.SendBatch(ctx, &batch).Close()
	}
	if err = lock(alone); err == nil && clustered && !alone {
		err = lock(true) // they are kept since a moment ago
	}
	return clustered, err
}

// match does what the policy says with rows that were written, and with those
// of the others that nothing is known of: a row that was there before attach
// and a row that was checked in meanwhile may be the same, and the filling of the
// side table asks no policy.
func (w *Worker) match(ctx context.Context, tx pgx.Tx, a *attachment, written, current []string) error {
	if a.policy == "ignore" {
		return nil
	}
	keys := written
	if len(current) > 0 {
		rows, err := tx.Query(ctx, a.sql(queries.Unmatched), current)
		if err != nil {
			return err
		}
		unknown, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		keys = append(slices.Clone(written), unknown...)
	}
	if len(keys) == 0 {
		return nil
	}
	if a.verify == "text" {
		return w.matchVerified(ctx, tx, a, keys)
	}
	_, err := tx.Exec(ctx, queries.Match, a.id, keys)
	return err
}

// clusterChange is what a transaction does to the clusters that are kept: rows leave them
// before they are written, and join them afterwards. Nobody else changes them meanwhile.
type clusterChange struct {
	attachment int32
	keys       []string
	touched    []int64
}

func leaveClusters(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) (*clusterChange, error) {
	c := &clusterChange{attachment: a.id, keys: keys}
	return c, tx.QueryRow(ctx, queries.LeaveClusters, c.attachment, keys).Scan(&c.touched)
}

func (c *clusterChange) join(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, queries.JoinClusters, c.attachment, c.keys, c.touched)
	return err
}

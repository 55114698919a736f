package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// claimed is what one transaction took from the queue for one attachment.
type claimed struct {
	keys      []string // sorted, each once
	truncated bool     // the table was emptied at some point
}

// queueBatch takes a batch from the queue, writes what follows from it, and
// commits both. It returns how many entries it took.
//
// The order of things makes the last version of a document win whatever other
// workers do meanwhile:
//
//   - a document is read after its entry was taken, and its version (xmin) is
//     looked at again after its side row was written, when that row's lock keeps
//     other workers out. If it changed, the key goes back to the queue: whoever
//     overtook us may have written first.
//   - for a row that is gone, its place in the side table is taken and locked
//     before the table is looked at once more and the place cleared: another
//     worker may have written it since we looked, or be about to, and the
//     primary key makes one of us wait.
//
// Workers write keys in one order, so that they do not lock each other out;
// checkins never touch a side table.
func (w *Worker) queueBatch(ctx context.Context) (int, error) {
	start := time.Now()
	tx, err := w.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	work, n, oldest, err := claim(ctx, tx, w.config.BatchSize)
	if err != nil || n == 0 {
		return 0, err
	}
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return 0, err
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
			return 0, err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return 0, err
	}
	w.counters.batch(n, time.Since(start), time.Since(oldest))
	return n, nil
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
			c = &claimed{}
			work[id] = c
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
	if a.broken != nil {
		return w.attachmentFailed(ctx, tx, a, c.keys, a.broken)
	}
	if c.truncated {
		if err := savepoint(ctx, tx, func(tx pgx.Tx) error { return w.sweep(ctx, tx, a) }); err != nil {
			if whole(err) {
				return err
			}
			return w.attachmentFailed(ctx, tx, a, c.keys, err)
		}
	}
	if err := w.keys(ctx, tx, a, c.keys); err != nil {
		return err
	}
	return nil
}

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
func (w *Worker) keys(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	err := savepoint(ctx, tx, func(tx pgx.Tx) error { return w.update(ctx, tx, a, keys) })
	switch {
	case err == nil:
		return w.cleared(ctx, tx, a)
	case whole(err):
		return err
	case ofAttachment(err):
		return w.attachmentFailed(ctx, tx, a, keys, err)
	case len(keys) == 1:
		return w.rowsFailed(ctx, tx, a, keys, err)
	}
	half := len(keys) / 2
	if err := w.keys(ctx, tx, a, keys[:half]); err != nil {
		return err
	}
	return w.keys(ctx, tx, a, keys[half:])
}

// savepoint runs f so that its failure leaves the transaction usable.
func savepoint(ctx context.Context, tx pgx.Tx, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, tx, f)
}

// update reads the documents of keys and writes their side rows.
func (w *Worker) update(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) error {
	c, err := w.newComputer(a, a.profile)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, a.sql.read, keys)
	if err != nil {
		return err
	}
	defer rows.Close()
	present := make([]bool, len(keys))
	type failure struct {
		key     string
		message error
	}
	var failures []failure
	var done []string
	bytes := int64(0)
	write := a.newColumns()
	for rows.Next() {
		var n int64
		var doc pgtype.DriverBytes
		var size, storedHash *int64
		var storedProfile *int16
		var media, version *string
		if err := rows.Scan(&n, &doc, &size, &media, &version, &storedHash, &storedProfile); err != nil {
			return err
		}
		key := keys[n-1]
		present[n-1] = true
		if size == nil { // a NULL is a document without a token
			size = new(int64)
		}
		if doc == nil && *size > 0 {
			failures = append(failures, failure{key, w.tooLarge(*size)})
			continue
		}
		bytes += int64(len(doc))
		hash := sketch.ContentHash(doc)
		if storedHash != nil && *storedHash == hash && *storedProfile == a.profileID && a.mediaFrom == "" {
			done = append(done, key)
			continue
		}
		kind := ""
		if media != nil {
			kind = *media
		}
		r, err := w.compute(c, ctx, hash, doc, kind)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failures = append(failures, failure{key, err})
			continue
		}
		write.add(a, key, version, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows.Close()

	var gone []string
	for i, there := range present {
		if !there {
			gone = append(gone, keys[i])
		}
	}
	clustered, err := lockWriting(ctx, tx, a)
	if err != nil {
		return err
	}
	if len(write.keys) > 0 {
		sortColumns(write)
		if _, err := tx.Exec(ctx, a.sql.write, write.arguments()...); err != nil {
			return err
		}
	}
	if a.policy != "ignore" && len(write.keys) > 0 {
		// What was known of an earlier document of theirs holds no longer.
		for _, step := range []string{a.sql.unmatch, a.sql.unmatchOther} {
			if _, err := tx.Exec(ctx, step, write.keys); err != nil {
				return err
			}
		}
	}
	if err := w.match(ctx, tx, a, write.keys, done, clustered); err != nil {
		return err
	}
	if len(write.keys) > 0 && a.mode != "scan" {
		if err := w.requeueChanged(ctx, tx, a, write); err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		if err := w.remove(ctx, tx, a, gone, clustered); err != nil {
			return err
		}
	}
	done = append(append(done, write.keys...), gone...)
	if _, err := tx.Exec(ctx, queries.Succeed, a.id, done); err != nil {
		return err
	}
	for _, f := range failures {
		if err := w.rowsFailed(ctx, tx, a, []string{f.key}, f.message); err != nil {
			return err
		}
	}
	w.counters.rows(len(write.keys), len(gone), bytes)
	return nil
}

// requeueChanged puts back the keys whose document changed after it was read.
func (w *Worker) requeueChanged(ctx context.Context, tx pgx.Tx, a *attachment, written *columns) error {
	rows, err := tx.Query(ctx, a.sql.verify, written.keys, written.versions)
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

// remove clears the side rows of keys that are not in the table any more, and
// puts back those that are there again: whoever checked them in may have been
// overtaken by us, or have written before us.
func (w *Worker) remove(ctx context.Context, tx pgx.Tx, a *attachment, gone []string, clustered bool) error {
	if err := w.forget(ctx, a, gone); err != nil {
		return err
	}
	for _, step := range []string{a.sql.reserve, a.sql.remove} {
		if _, err := tx.Exec(ctx, step, gone); err != nil {
			return err
		}
	}
	rows, err := tx.Query(ctx, a.sql.removed, gone)
	if err != nil {
		return err
	}
	removed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	steps := []string{a.sql.unmatch, a.sql.unmatchOther}
	if clustered {
		steps = append(steps, a.sql.uncluster)
	}
	for _, step := range steps {
		if _, err := tx.Exec(ctx, step, removed); err != nil {
			return err
		}
	}
	if a.mode != "scan" { // which looks again by itself
		if err := w.requeueChanged(ctx, tx, a, &columns{keys: gone, versions: make([]*string, len(gone))}); err != nil {
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
	_, err := w.pool.Exec(ctx, a.sql.forget, keys)
	return err
}

// sweep removes what is not in the table any more. Nobody writes meanwhile: a
// row that was written since the sweep began to look would be taken for one
// without a document.
func (w *Worker) sweep(ctx context.Context, tx pgx.Tx, a *attachment) error {
	if err := w.forget(ctx, a, nil); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, a.sql.lock); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, a.sql.sweep)
	return err
}

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

// lockWriting lets workers write side by side where rows are only sketched. Two
// alike rows that are written at once must not miss each other where matches or
// clusters are recorded: there one writes after the other. It reports whether
// clusters are kept; whoever begins to keep them waits for those who write.
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
// and one that was checked in meanwhile may be the same, and whoever fills the
// side table asks no policy and joins no cluster.
func (w *Worker) match(ctx context.Context, tx pgx.Tx, a *attachment, written, current []string, clustered bool) error {
	for _, step := range []struct {
		wanted  bool
		unknown string // which of the current rows
		run     string
	}{
		{a.policy != "ignore", a.sql.unmatched, queries.Match},
		{clustered, a.sql.unclustered, queries.JoinClusters},
	} {
		if !step.wanted {
			continue
		}
		keys := written
		if len(current) > 0 {
			rows, err := tx.Query(ctx, step.unknown, current)
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
			continue
		}
		if _, err := tx.Exec(ctx, step.run, a.id, keys); err != nil {
			return err
		}
	}
	return nil
}

// sortColumns puts rows into the order of their keys.
func sortColumns(cs *columns) {
	order := make([]int, len(cs.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case cs.keys[i] < cs.keys[j]:
			return -1
		case cs.keys[i] > cs.keys[j]:
			return 1
		}
		return 0
	})
	cs.keys, cs.versions, cs.profile = permute(order, cs.keys), permute(order, cs.versions), permute(order, cs.profile)
	cs.hash, cs.shingles, cs.sketch = permute(order, cs.hash), permute(order, cs.shingles), permute(order, cs.sketch)
	for i := range cs.features {
		cs.features[i] = permute(order, cs.features[i])
	}
	for i := range cs.indexes {
		cs.indexes[i] = permute(order, cs.indexes[i])
	}
}

func permute[T any](order []int, list []T) []T {
	out := make([]T, len(list))
	for i, from := range order {
		out[i] = list[from]
	}
	return out
}

// message is what is kept of an error: PostgreSQL's own words where they are.
func message(err error) string {
	text := err.Error()
	var pg *pgError
	if errors.As(err, &pg) {
		text = fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code)
		if pg.Code == "2BP01" { // what depends on a table; other details may quote documents
			text += ": " + pg.Detail
		}
	}
	return abbreviateTo(validText(text), 2000)
}

package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// answerRequests sketches the documents that triggers wait for, and reports how
// many there were.
func (w *Worker) answerRequests(ctx context.Context) (int, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	type request struct {
		ID         int64
		Attachment int32
		Document   []byte
		Media      *string
	}
	rows, err := tx.Query(ctx, queries.Requests)
	if err != nil {
		return 0, err
	}
	requests, err := pgx.CollectRows(rows, pgx.RowToStructByPos[request])
	if err != nil || len(requests) == 0 {
		return 0, err
	}
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, r := range requests {
		var stored []byte
		var failure *string
		if stored, err = w.wholeSketch(ctx, attachments[r.Attachment], r.Document, r.Media); err != nil {
			if ctx.Err() != nil {
				return 0, err
			}
			text := message(err)
			failure = &text
		}
		if _, err := tx.Exec(ctx, queries.Answer, r.ID, stored, failure); err != nil {
			return 0, err
		}
	}
	return len(requests), tx.Commit(ctx)
}

// wholeSketch is the sketch of a document with its whole minima, nil when it has
// no token.
func (w *Worker) wholeSketch(ctx context.Context, a *attachment, doc []byte, media *string) ([]byte, error) {
	if a == nil {
		w.catalog.forget()
		return nil, errDetached
	}
	if a.broken != nil {
		return nil, a.broken
	}
	if size := int64(len(doc)); size > w.config.MaxDocument {
		return nil, w.tooLarge(size)
	}
	p := a.profile
	p.Bits = 64
	c, err := w.newComputer(a, p)
	if err != nil {
		return nil, err
	}
	kind := ""
	if media != nil {
		kind = *media
	}
	r, err := c.compute(ctx, sketch.ContentHash(doc), doc, kind)
	if err != nil || len(r.Sketch) == 0 {
		return nil, err
	}
	return r.Sketch, nil
}

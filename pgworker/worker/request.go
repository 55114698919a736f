package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// A request is a document that a trigger asks about.
type request struct {
	ID         int64
	Attachment int32
	Document   []byte
	Media      *string
	Seconds    float64 // how long the trigger waits in all
}

func (r *request) media() string {
	if r.Media == nil {
		return ""
	}
	return *r.Media
}

// answerRequests sketches documents that triggers ask about, and reports whether
// there were any. It leaves slow ones to answerSlow.
func (w *Worker) answerRequests(ctx context.Context) (bool, error) {
	any, err := answerLocked(ctx, w, queries.Requests, nil, func(ctx context.Context, tx pgx.Tx, requests []request) error {
		start := time.Now()
		for _, r := range requests {
			a, err := w.catalog.find(ctx, tx, r.Attachment)
			if err != nil {
				return err
			}
			c, err := w.requested(a, &r)
			if err == nil && (c.slow(r.Document, r.media()) || time.Since(start) > batchTime) {
				_, err = tx.Exec(ctx, queries.RequestSlow, r.ID)
			} else {
				err = w.answer(ctx, tx, c, &r, err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if any {
		w.ring()
	}
	return any, err
}

// answerSlow sketches one slow document that a trigger asks about, outside of any
// transaction and for as long as the trigger waits.
func (w *Worker) answerSlow(ctx context.Context) (bool, error) {
	rows, err := w.pool.Query(ctx, queries.TakeRequest)
	if err != nil {
		return false, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[request])
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	a, err := w.catalog.find(ctx, w.pool, r.Attachment)
	if err != nil {
		return false, err
	}
	c, err := w.requested(a, &r)
	limit := time.Duration(r.Seconds * float64(time.Second))
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("reading the document took longer than %s", limit))
	defer cancel()
	return true, w.answer(limited, w.pool, c, &r, err)
}

// requested returns what sketches the document of a request, with whole minima.
func (w *Worker) requested(a *attachment, r *request) (*computer, error) {
	if a == nil {
		return nil, errDetached
	}
	if a.broken != nil {
		return nil, a.broken
	}
	if size := int64(len(r.Document)); size > w.config.MaxDocument {
		return nil, w.tooLarge(size)
	}
	p := a.profile
	p.Bits = 64
	return w.newComputer(a, p)
}

// answer writes the sketch of a requested document, nil when it has no token, or why
// there is none.
func (w *Worker) answer(ctx context.Context, db execer, c *computer, r *request, failure error) error {
	var stored []byte
	var passages []int64
	var shingles *int64
	if failure == nil {
		row, err := c.compute(ctx, sketch.ContentHash(r.Document), r.Document, r.media())
		if failure = err; err == nil && len(row.Sketch) > 0 {
			stored, shingles = row.Sketch, &row.Shingles
			if c.a.contains {
				passages = row.Passages
			}
		}
	}
	var text *string
	if failure != nil {
		if errors.Is(context.Cause(ctx), context.Canceled) {
			return context.Canceled
		}
		said := message(failure)
		text = &said
	}
	_, err := db.Exec(context.WithoutCancel(ctx), queries.Answer, r.ID, stored, text, passages, shingles)
	return err
}

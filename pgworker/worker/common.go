package worker

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/common"
	"github.com/alike-sql/alike/sketch/extract"
)

// Common finds what more than a share of the rows of an attached table, named as in SQL or
// by its attachment, have in common. It reads all documents two times, all at one moment;
// a document whose text a command extracts is left out.
func Common(ctx context.Context, conn *pgx.Conn, table string, share float64) ([]common.Passage[string], error) {
	tx, a, _, err := ask(ctx, conn, table, math.NaN())
	if err != nil {
		return nil, err
	}
	defer undo(ctx, tx)
	extractor, err := extract.New(extract.Config{})
	if err != nil {
		return nil, err
	}
	l, err := common.NewLearner[string](a.profile, share, func() error { return context.Cause(ctx) })
	if err != nil {
		return nil, err
	}
	read := func(each func(key string, text []byte) error) error { return a.eachText(ctx, tx, extractor, each) }
	if err := l.Learn(func(take func([]byte) error) error {
		return read(func(_ string, text []byte) error { return take(text) })
	}); err != nil {
		return nil, err
	}
	seen := errors.New("every shingle was seen")
	if err := read(func(key string, text []byte) error {
		if l.Example(key, text) {
			return seen
		}
		return nil
	}); err != nil && !errors.Is(err, seen) {
		return nil, err
	}
	return l.Passages(), nil
}

// eachText reads all documents but those whose text a command extracts.
func (a *attachment) eachText(ctx context.Context, q querier, extractor *extract.Extractor, each func(key string, text []byte) error) error {
	rows, err := q.Query(ctx, a.sql(queries.Texts))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var document pgtype.DriverBytes
		var said *string
		if err := rows.Scan(&key, &document, &said); err != nil {
			return err
		}
		if said == nil {
			said = new(string)
		}
		text := []byte(document)
		if media, extract := a.mediaOf(*said); extract {
			if extractor.RunsCommand(text, media) {
				continue
			}
			var unreadable error
			if text, unreadable = extractor.Text(ctx, text, media); unreadable != nil {
				continue
			}
		}
		if err := each(key, text); err != nil {
			return err
		}
	}
	return rows.Err()
}

// learn finds the shingles that very many rows of a full attachment share, and begins to
// sketch it without them, beside the sketches that there are.
func (w *Worker) learn(ctx context.Context) (bool, error) {
	var share *float64
	return w.perform(ctx, task{claim: queries.LearnDue, more: []any{&share}, fresh: true, long: true, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		if share == nil {
			share = new(float64)
			*share = common.Share
		}
		l, err := common.NewLearner[string](a.profile, *share, func() error { return context.Cause(ctx) })
		if err != nil {
			return false, err
		}
		if err := l.Learn(func(take func([]byte) error) error {
			return a.eachText(ctx, tx, w.extractor, func(_ string, text []byte) error { return take(text) })
		}); err != nil {
			return false, err
		}
		b, err := l.Boilerplate()
		if err != nil {
			return false, err
		}
		var stored []byte
		if b != nil {
			stored = b.Stored()
		}
		_, err = tx.Exec(ctx, a.sql(queries.Learned), stored)
		w.catalog.forget()
		return true, err
	}})
}

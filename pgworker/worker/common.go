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
	read := func(each func(key string, text []byte) error) error {
		rows, err := tx.Query(ctx, a.sql(queries.Texts))
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
	for _, take := range []func([]byte) error{l.Add, l.Count} {
		if err := read(func(_ string, text []byte) error { return take(text) }); err != nil {
			return nil, err
		}
	}
	if !l.Complete() {
		return nil, errors.New("the documents are too long to count their shingles in memory; ask for a greater share")
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

package worker

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// A transaction that holds claims computes what is quick: documents of up to
// inlineBytes that need no command, batchBytes of them, for batchTime. A longer
// document, or one whose text a command extracts, is read later and outside of any
// transaction (see extraction.go); what is over the budget goes back to the queue.
const (
	inlineBytes = 1 << 20
	batchBytes  = 64 << 20
	batchTime   = 5 * time.Second
)

// found is what was found out about the documents of some keys.
type found struct {
	write    *columns // the rows to write
	current  []string // their sketches are up to date
	gone     []string // they are not in the table any more
	others   []string // other spellings of keys that are above
	slow     []string // they wait for extraction
	later    []string // the budget was spent before them
	failures []failure
	bytes    int64
	oldest   time.Time // when the first of the keys was queued
}

// A failure is a row that could not be sketched, and why.
type failure struct {
	key    string
	reason error
}

// A document is a row of the table as it is read.
type document struct {
	n             int64 // the number of its key, from 1
	key           string
	bytes         []byte
	size          int64
	media         string
	version       *string
	storedHash    *int64
	storedProfile *int16
}

// scan reads a row. Its bytes are valid until the next one is read.
func (d *document) scan(rows pgx.Rows) error {
	var bytes pgtype.DriverBytes
	var size *int64
	var media *string
	if err := rows.Scan(&d.n, &d.key, &bytes, &size, &media, &d.version, &d.storedHash, &d.storedProfile); err != nil {
		return err
	}
	d.bytes, d.size, d.media = bytes, 0, ""
	if size != nil { // a NULL is a document without a token
		d.size = *size
	}
	if media != nil {
		d.media = *media
	}
	return nil
}

// current reports whether the sketch that is stored is that of the document, of
// which hash is the hash. A column that names the media type may have changed alone.
func (d *document) current(a *attachment, hash int64) bool {
	return d.storedHash != nil && *d.storedHash == hash && *d.storedProfile == a.profileID && a.mediaFrom == ""
}

// read reads the documents of keys and computes what can be computed at once.
func (w *Worker) read(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) (*found, error) {
	c, err := w.newComputer(a, a.profile)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, a.sql(queries.ReadDocuments), keys, min(inlineBytes, w.config.MaxDocument), batchBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := &found{write: a.newColumns()}
	present, seen := make([]bool, len(keys)), map[string]bool{}
	start := time.Now()
	for rows.Next() {
		var d document
		if err := d.scan(rows); err != nil {
			return nil, err
		}
		present[d.n-1] = true
		key := d.key // equal keys may be spelled in several ways, such as 1.5 and 1.50
		if keys[d.n-1] != key {
			f.others = append(f.others, keys[d.n-1])
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		switch {
		case d.size > w.config.MaxDocument:
			f.failures = append(f.failures, failure{key, w.tooLarge(d.size)})
			continue
		case d.size > inlineBytes:
			f.slow = append(f.slow, key)
			continue
		case d.bytes == nil && d.size > 0, time.Since(start) > batchTime:
			f.later = append(f.later, key)
			continue
		}
		f.bytes += int64(len(d.bytes))
		hash := sketch.ContentHash(d.bytes)
		if d.current(a, hash) {
			f.current = append(f.current, key)
			continue
		}
		if c.slow(d.bytes, d.media) {
			f.slow = append(f.slow, key)
			continue
		}
		r, err := c.compute(ctx, hash, d.bytes, d.media)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			f.failures = append(f.failures, failure{key, err})
			continue
		}
		f.write.add(a, key, d.version, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i, there := range present {
		if !there {
			f.gone = append(f.gone, keys[i])
		}
	}
	return f, nil
}

// readOne reads and computes one document, however long that takes, outside of any
// transaction.
func (w *Worker) readOne(ctx context.Context, a *attachment, key string) (*found, error) {
	f := &found{write: a.newColumns()}
	c, err := w.newComputer(a, a.profile)
	if err != nil {
		return nil, err
	}
	rows, err := w.pool.Query(ctx, a.sql(queries.ReadDocuments), []string{key}, w.config.MaxDocument, w.config.MaxDocument)
	if err != nil {
		return nil, err
	}
	d, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (document, error) {
		var d document
		err := d.scan(rows)
		d.bytes = append([]byte(nil), d.bytes...) // the connection is given back before the work begins
		return d, err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		f.gone = []string{key}
		return f, nil
	case err != nil:
		return nil, err
	case d.size > w.config.MaxDocument:
		f.failures = []failure{{key, w.tooLarge(d.size)}}
		return f, nil
	}
	f.bytes = int64(len(d.bytes))
	hash := sketch.ContentHash(d.bytes)
	if d.current(a, hash) {
		f.current = []string{key}
		return f, nil
	}
	r, err := c.compute(ctx, hash, d.bytes, d.media)
	if err != nil {
		f.failures = []failure{{key, err}}
		return f, nil
	}
	f.write.add(a, key, d.version, r)
	return f, nil
}

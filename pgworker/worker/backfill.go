package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// Rows that were in a table before it was attached are read in ranges of keys,
// by COPY out, and written by COPY in. A range is a row of alike.chunk: it is
// deleted in the transaction that writes its rows, so that a worker that is
// killed leaves it to the next.
//
// Live checkins go on meanwhile and win: a row whose place in the side table
// is taken fails the COPY, and then the rows of that chunk go through the
// queue. Where rows were deleted meanwhile the side table is swept at the end.

// backfillStep does one transaction's worth of it, and reports whether there
// was anything to do.
func (w *Worker) backfillStep(ctx context.Context) (bool, error) {
	for _, step := range []func(context.Context) (bool, error){w.copyChunk, w.splitBackfill, w.finishBackfill} {
		if did, err := step(ctx); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// splitSQL cuts the keys of the table into chunks of $1 rows: a chunk ends at
// every $1st key, and the last one is open.
func (a *attachment) splitSQL() string {
	order := a.each(", ", func(_ int, column string) string { return "d." + column })
	key := a.text("d")
	return fmt.Sprintf(
		`insert into alike.chunk (attachment, above, upto, rows)
select %d, lag(key) over (order by n), case when n %% $1 = 0 then key end, $1
from (
  select %s as key, row_number() over (order by %s) as n, count(*) over () as total from (%s) d
) as numbered
where n %% $1 = 0 or n = total
order by n`, a.id, key, order, a.rows())
}

// rangeSQL is the condition of a chunk on an alias.
func (a *attachment) rangeSQL(alias string, above, upto *string) string {
	columns := "(" + a.list(alias+".") + ")"
	constant := func(key string) string {
		return "(" + a.each(", ", func(i int, _ string) string { return a.value(i, literal(key)) }) + ")"
	}
	condition := "true"
	if above != nil {
		condition += " and " + columns + " > " + constant(*above)
	}
	if upto != nil {
		condition += " and " + columns + " <= " + constant(*upto)
	}
	return condition
}

// literal writes a string constant, whatever standard_conforming_strings is.
func literal(s string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// splitBackfill cuts a table that is to be filled into chunks.
func (w *Worker) splitBackfill(ctx context.Context) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	var id int32
	if err := tx.QueryRow(ctx, queries.BackfillToSplit).Scan(&id); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	w.catalog.forget()
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return false, err
	}
	a := attachments[id]
	if a == nil {
		return false, nil // detached a moment ago
	}
	if a.broken != nil {
		return w.backfillFailed(ctx, tx, a, a.broken)
	}
	err = savepoint(ctx, tx, func(tx pgx.Tx) error {
		// One pass over the keys, as long as it takes.
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, a.sql.split, w.config.ChunkRows)
		return err
	})
	if err != nil {
		if whole(err) {
			return false, err
		}
		return w.backfillFailed(ctx, tx, a, err)
	}
	if _, err := tx.Exec(ctx, queries.BackfillSplit, id); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}

// backfillFailed records why a table cannot be read. Nothing was done, and it
// is tried again at the next poll.
func (w *Worker) backfillFailed(ctx context.Context, tx pgx.Tx, a *attachment, reason error) (bool, error) {
	if err := w.attachmentFailed(ctx, tx, a, nil, reason); err != nil {
		return false, err
	}
	return false, tx.Commit(ctx)
}

// finishBackfill makes the indexes of a side table that is full.
func (w *Worker) finishBackfill(ctx context.Context) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	var id int32
	var deletions bool
	if err := tx.QueryRow(ctx, queries.BackfillToFinish).Scan(&id, &deletions); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	w.catalog.forget()
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return false, err
	}
	a := attachments[id]
	if a == nil {
		return false, nil
	}
	if a.broken != nil {
		return w.backfillFailed(ctx, tx, a, a.broken)
	}
	start := time.Now()
	err = savepoint(ctx, tx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		if a.distributed && a.replaces != nil {
			if _, err := tx.Exec(ctx, "set local citus.multi_shard_modify_mode = sequential"); err != nil {
				return err
			}
		}
		if deletions {
			if err := w.sweep(ctx, tx, a); err != nil {
				return err
			}
		}
		if !a.indexed {
			if _, err := tx.Exec(ctx, a.sql.build); err != nil {
				return err
			}
		}
		if a.replaces != nil {
			if _, err := tx.Exec(ctx, a.sql.change); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		if whole(err) {
			return false, err
		}
		return w.backfillFailed(ctx, tx, a, err)
	}
	if _, err := tx.Exec(ctx, queries.BackfillFinish, id); err != nil {
		return false, err
	}
	if err := w.cleared(ctx, tx, a); err != nil {
		return false, err
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	w.catalog.forget()
	w.log.Info("side table is full", "attachment", a.name, "indexes", time.Since(start).Round(time.Millisecond))
	return true, nil
}

// copyChunk fills one chunk.
func (w *Worker) copyChunk(ctx context.Context) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	var id int32
	var above, upto *string
	if err := tx.QueryRow(ctx, queries.ClaimChunk).Scan(&id, &above, &upto); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	attachments, err := w.catalog.get(ctx, tx)
	if err != nil {
		return false, err
	}
	a := attachments[id]
	if a == nil {
		w.catalog.forget()
		return false, nil
	}
	if a.broken != nil {
		return w.backfillFailed(ctx, tx, a, a.broken)
	}
	where := a.rangeSQL("d", above, upto)
	var again []string
	err = savepoint(ctx, tx, func(tx pgx.Tx) error {
		again, err = w.copyRows(ctx, tx, a, where, a.rangeSQL("s", above, upto))
		return err
	})
	if err != nil {
		switch {
		case whole(err):
			return false, err
		case ofAttachment(err):
			tx.Rollback(ctx)
			return w.chunkFailed(ctx, a, err)
		}
		// A row is in the way: one that was checked in meanwhile, or one that
		// cannot be sketched. The queue deals with each by itself.
		w.log.Info("a chunk goes through the queue", "attachment", a.name, "reason", err)
		if _, err := tx.Exec(ctx, fmt.Sprintf("insert into alike.queue (attachment, key) select %d, %s from (%s) d where %s", a.id, a.text("d"), a.rows(), where)); err != nil {
			return false, err
		}
	}
	if err := w.cleared(ctx, tx, a); err != nil {
		return false, err
	}
	if len(again) > 0 {
		if _, err := tx.Exec(ctx, queries.Requeue, a.id, again); err != nil {
			return false, err
		}
	}
	return true, tx.Commit(ctx)
}

// chunkFailed leaves a chunk where it was.
func (w *Worker) chunkFailed(ctx context.Context, a *attachment, reason error) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	return w.backfillFailed(ctx, tx, a, reason)
}

// copyRows reads a range by COPY on a connection of its own, computes while it
// reads, and writes by COPY in tx. Rows that are up to date are left alone; the
// keys of those that need the queue are returned: changed ones, and documents
// that fail.
//
// Both ways the format is COPY's binary one, so that the columns of the key
// pass through untouched. The range is said of the side table too: the planner
// does not see that it follows, and would read all of it for every chunk.
func (w *Worker) copyRows(ctx context.Context, tx pgx.Tx, a *attachment, where, whereSide string) (again []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := w.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Release()
	c, err := w.newComputer(a)
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		_, err := tx.Conn().PgConn().CopyFrom(ctx, reader, a.sql.copyIn)
		reader.CloseWithError(errors.Join(errCopyEnded, err))
		copied <- err
	}()
	p := &copier{ctx: ctx, w: w, a: a, c: c, out: writer, block: append(make([]byte, 0, 2*copyBlock), copyHeader...)}
	_, err = source.Conn().PgConn().CopyTo(ctx, p, fmt.Sprintf(
		`copy (select %s, s.content_hash, s.profile, %s, d.alike_media, octet_length(d.alike_document)::bigint, case when octet_length(d.alike_document) <= %d then d.alike_document end
from (%s) d left join %s s on %s and %s where %s order by %s) to stdout (format binary)`,
		a.list("d."), a.text("d"), w.config.MaxDocument, a.rows(), quote(a.schema, a.side), a.same("s", "d"), whereSide, where, a.list("d.")))
	if err == nil {
		err = p.finish()
	}
	writer.CloseWithError(err) // nil ends the COPY, anything else fails it
	copyErr := <-copied
	if copyErr != nil && (err == nil || errors.Is(err, errCopyEnded)) {
		return nil, copyErr
	}
	if err != nil {
		return nil, err
	}
	w.counters.rows(p.rows, 0, p.bytes)
	return p.again, nil
}

var errCopyEnded = errors.New("worker: the COPY into the side table ended early")

const copyBlock = 64 << 10

// copyHeader begins COPY's binary format: signature, flags, no extension.
var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// copier takes the output of one COPY and makes the input of the other.
type copier struct {
	ctx   context.Context
	w     *Worker
	a     *attachment
	c     *computer
	r     computed
	out   io.Writer
	block []byte // not yet written
	in    []byte // not yet a whole row
	begun bool   // the header has been read
	ended bool   // and the trailer
	again []string
	rows  int
	bytes int64

	fields [][]byte
}

// Write takes a piece of the output, which need not end where a row ends.
func (p *copier) Write(b []byte) (int, error) {
	n := len(b)
	if len(p.in) > 0 {
		p.in = append(p.in, b...)
		b = p.in
	}
	rest, err := p.consume(b)
	if err != nil {
		return 0, err
	}
	p.in = append(p.in[:0], rest...)
	if cap(p.in) > 4<<20 && len(p.in) < 1<<20 {
		p.in = append(make([]byte, 0, 1<<20), p.in...) // a large document has gone by
	}
	return n, nil
}

func (p *copier) consume(b []byte) (rest []byte, err error) {
	if !p.begun {
		if len(b) < len(copyHeader) {
			return b, nil
		}
		extension := int(binary.BigEndian.Uint32(b[15:]))
		if len(b) < len(copyHeader)+extension {
			return b, nil
		}
		b, p.begun = b[len(copyHeader)+extension:], true
	}
	for len(b) >= 2 {
		count := int(int16(binary.BigEndian.Uint16(b)))
		if count == -1 {
			p.ended = true
			return nil, nil
		}
		at := 2
		p.fields = p.fields[:0]
		for range count {
			if len(b) < at+4 {
				return b, nil
			}
			size := int(int32(binary.BigEndian.Uint32(b[at:])))
			at += 4
			if size < 0 {
				p.fields = append(p.fields, nil)
				continue
			}
			if len(b) < at+size {
				return b, nil
			}
			p.fields = append(p.fields, b[at:at+size:at+size])
			at += size
		}
		if err := p.row(); err != nil {
			return nil, err
		}
		b = b[at:]
	}
	return b, nil
}

// row computes one row. Its fields are the key, the hash and profile that are
// stored, the key as text, the media type, the document's size and the document.
func (p *copier) row() error {
	n := len(p.a.keys)
	if len(p.fields) != n+6 {
		return fmt.Errorf("worker: COPY gave %d columns, want %d", len(p.fields), n+6)
	}
	storedHash, storedProfile, key, media, size, doc := p.fields[n], p.fields[n+1], p.fields[n+2], p.fields[n+3], p.fields[n+4], p.fields[n+5]
	if doc == nil && size != nil {
		p.again = append(p.again, string(key)) // too large: the queue says so
		return nil
	}
	p.bytes += int64(len(doc))
	p.r.hash = sketch.ContentHash(doc)
	if storedHash != nil {
		if p.a.mediaFrom != "" || int64(binary.BigEndian.Uint64(storedHash)) != p.r.hash || int16(binary.BigEndian.Uint16(storedProfile)) != p.a.profileID {
			p.again = append(p.again, string(key))
		}
		return nil
	}
	if err := p.w.compute(p.c, p.ctx, &p.r, doc, string(media)); err != nil {
		if p.ctx.Err() != nil {
			return err
		}
		p.again = append(p.again, string(key))
		return nil
	}
	p.rows++
	p.emit()
	if len(p.block) >= copyBlock {
		return p.flush()
	}
	return nil
}

// emit appends the side row to the block.
func (p *copier) emit() {
	b := binary.BigEndian.AppendUint16(p.block, uint16(len(p.a.keys)+4+p.a.profile.K+len(p.a.variants)))
	for _, field := range p.fields[:len(p.a.keys)] {
		b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
		b = append(b, field...)
	}
	b = binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(p.a.profileID))
	b = appendInt64(b, p.r.hash, true)
	b = appendInt64(b, p.r.shingles, true)
	if len(p.r.sketch) == 0 {
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	} else {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.r.sketch))), p.r.sketch...)
	}
	next := 0
	for slot := range p.a.profile.K {
		if next < len(p.r.features) && p.r.features[next].Slot == slot {
			b = appendInt64(b, p.r.features[next].Value, true)
			next++
		} else {
			b = appendInt64(b, 0, false)
		}
	}
	for _, x := range p.r.indexes {
		b = appendInt64(b, x.value, x.ok)
	}
	p.block = b
}

// appendInt64 appends a bigint, or NULL.
func appendInt64(b []byte, v int64, ok bool) []byte {
	if !ok {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v))
}

func (p *copier) flush() error {
	_, err := p.out.Write(p.block)
	p.block = p.block[:0]
	return err
}

// finish writes the trailer.
func (p *copier) finish() error {
	if !p.ended {
		return io.ErrUnexpectedEOF
	}
	p.block = append(p.block, 0xff, 0xff)
	return p.flush()
}

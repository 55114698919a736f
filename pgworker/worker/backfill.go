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
	"github.com/alike-sql/alike/sketch/aspect"
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

// A task is one transaction's worth of work on a whole attachment.
type task struct {
	claim string // the query that takes it: the attachment, then more
	args  []any
	more  []any // where the rest of the query's columns goes
	fresh bool  // the attachment has to be as it is now, not as of a moment ago
	long  bool  // statements may take as long as they take
	run   func(tx pgx.Tx, a *attachment) (did bool, err error)
}

// perform takes a task and does it, and reports whether there was anything to do.
// Where the attachment was detached a moment ago there is not. Where something is
// wrong with the attachment the task is left where it was, to be tried again at the
// next poll, and the reason is recorded.
func (w *Worker) perform(ctx context.Context, t task) (bool, error) {
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	var id int32
	if err := tx.QueryRow(ctx, t.claim, t.args...).Scan(append([]any{&id}, t.more...)...); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if t.fresh {
		w.catalog.forget()
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
		return false, w.taskFailed(ctx, tx, a, a.broken)
	}
	if t.long {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return false, err
		}
	}
	did, err := t.run(tx, a)
	if err == nil {
		err = w.cleared(ctx, tx, a)
	}
	switch {
	case err == nil:
		return did, tx.Commit(ctx)
	case whole(err):
		return false, err
	}
	return false, w.taskFailed(ctx, tx, a, err)
}

// taskFailed undoes what a task has done, its claim too, and records why.
func (w *Worker) taskFailed(ctx context.Context, undone pgx.Tx, a *attachment, reason error) error {
	if err := undone.Rollback(ctx); err != nil {
		return err
	}
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	if err := w.attachmentFailed(ctx, tx, a, nil, reason); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// splitBackfill cuts a table that is to be filled into chunks, in one pass over
// its keys.
func (w *Worker) splitBackfill(ctx context.Context) (bool, error) {
	return w.perform(ctx, task{claim: queries.BackfillToSplit, fresh: true, long: true, run: func(tx pgx.Tx, a *attachment) (bool, error) {
		if _, err := tx.Exec(ctx, a.sql.split, w.config.ChunkRows); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, queries.BackfillSplit, a.id)
		return true, err
	}})
}

// finishBackfill makes the indexes of a side table that is full.
func (w *Worker) finishBackfill(ctx context.Context) (bool, error) {
	var deletions bool
	var name string
	start := time.Now()
	did, err := w.perform(ctx, task{claim: queries.BackfillToFinish, more: []any{&deletions}, fresh: true, long: true, run: func(tx pgx.Tx, a *attachment) (bool, error) {
		name = a.name
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
			if _, err := tx.Exec(ctx, a.sql.build); err != nil {
				return false, err
			}
		}
		if a.replaces != nil {
			if _, err := tx.Exec(ctx, a.sql.change); err != nil {
				return false, err
			}
		}
		_, err := tx.Exec(ctx, queries.BackfillFinish, a.id)
		return true, err
	}})
	if did && err == nil {
		w.catalog.forget()
		w.log.Info("side table is full", "attachment", name, "indexes", time.Since(start).Round(time.Millisecond))
	}
	return did, err
}

// copyAttempts is how often a chunk is copied anew because a row of it was checked
// in meanwhile. More than one are rare: the next attempt leaves that row alone.
const copyAttempts = 5

// copyChunk fills one chunk. What is in the way of a COPY is not the fault of the
// other rows: it is tried again, without those that have been written since. Only
// where a row cannot be read or written at all does the chunk go through the queue,
// which deals with each row by itself, as if it had been checked in.
func (w *Worker) copyChunk(ctx context.Context) (bool, error) {
	var above, upto *string
	return w.perform(ctx, task{claim: queries.ClaimChunk, more: []any{&above, &upto}, run: func(tx pgx.Tx, a *attachment) (bool, error) {
		where := a.rangeSQL("d", above, upto)
		var again []string
		var err error
		for range copyAttempts {
			err = savepoint(ctx, tx, func(tx pgx.Tx) error {
				again, err = w.copyRows(ctx, tx, a, where, a.rangeSQL("s", above, upto))
				return err
			})
			if !taken(err) {
				break
			}
		}
		if err != nil && (whole(err) || ofAttachment(err)) {
			return false, err
		} else if err != nil {
			w.log.Info("a chunk goes through the queue", "attachment", a.name, "reason", err)
			_, err = tx.Exec(ctx, fmt.Sprintf("insert into alike.queue (attachment, key) select %d, %s from (%s) d where %s", a.id, a.text("d"), a.rows(), where))
			return true, err
		}
		if len(again) > 0 {
			_, err = tx.Exec(ctx, queries.Requeue, a.id, again)
		}
		return true, err
	}})
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
	c, err := w.newComputer(a, a.profile)
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
	r     *aspect.Row
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
	hash := sketch.ContentHash(doc)
	if storedHash != nil {
		if p.a.mediaFrom != "" || int64(binary.BigEndian.Uint64(storedHash)) != hash || int16(binary.BigEndian.Uint16(storedProfile)) != p.a.profileID {
			p.again = append(p.again, string(key))
		}
		return nil
	}
	var err error
	if p.r, err = p.w.compute(p.c, p.ctx, hash, doc, string(media)); err != nil {
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
	b = appendInt64(b, p.r.ContentHash, true)
	b = appendInt64(b, p.r.Shingles, true)
	if len(p.r.Sketch) == 0 {
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	} else {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.r.Sketch))), p.r.Sketch...)
	}
	next := 0
	for slot := range p.a.profile.K {
		if next < len(p.r.Features) && p.r.Features[next].Slot == slot {
			b = appendInt64(b, p.r.Features[next].Value, true)
			next++
		} else {
			b = appendInt64(b, 0, false)
		}
	}
	for _, x := range p.r.Indexes {
		b = appendInt64(b, x.Value, x.Valid)
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

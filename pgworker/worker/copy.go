package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// copyAttempts is how often a chunk is copied anew because a row of it was checked
// in meanwhile. More than one are rare: the next attempt leaves that row alone.
const copyAttempts = 5

// copyChunk fills one chunk. What is in the way of a COPY is not the fault of the
// other rows: it is tried again, without those that have been written since. Only
// where a row cannot be read or written at all does the chunk go through the queue,
// which deals with each row by itself, as if it had been checked in.
func (w *Worker) copyChunk(ctx context.Context) (bool, error) {
	var above, upto *string
	return w.perform(ctx, task{claim: queries.ClaimChunk, more: []any{&above, &upto}, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
		ranges := a.ranges(above, upto)
		var again []string
		var err error
		for range copyAttempts {
			err = savepoint(ctx, tx, func(tx pgx.Tx) error {
				again, err = w.copyRows(ctx, tx, a, ranges)
				return err
			})
			if !duplicateKey(err) {
				break
			}
		}
		if err != nil && (retryable(err) || failsEveryRow(err)) {
			return false, err
		} else if err != nil {
			w.log.Info("a chunk goes through the queue", "attachment", a.name, "reason", err)
			_, err = tx.Exec(ctx, a.sqlWith(queries.QueueRange, ranges))
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
// pass through untouched.
func (w *Worker) copyRows(ctx context.Context, tx pgx.Tx, a *attachment, ranges map[string]string) (again []string, err error) {
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
		_, err := tx.Conn().PgConn().CopyFrom(ctx, reader, a.sql(queries.CopyRows))
		reader.CloseWithError(errors.Join(errCopyEnded, err))
		copied <- err
	}()
	p := &copier{ctx: ctx, start: time.Now(), w: w, a: a, c: c, out: writer, block: append(make([]byte, 0, 2*copyBlock), copyHeader...)}
	ranges["limit"] = fmt.Sprint(min(inlineBytes, w.config.MaxDocument))
	_, err = source.Conn().PgConn().CopyTo(ctx, p, "copy ("+a.sqlWith(queries.CopyDocuments, ranges)+"\n) to stdout (format binary)")
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
	start time.Time
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
	n := p.a.keys
	if len(p.fields) != n+6 {
		return fmt.Errorf("worker: COPY gave %d columns, want %d", len(p.fields), n+6)
	}
	storedHash, storedProfile, key, media, size, doc := p.fields[n], p.fields[n+1], p.fields[n+2], p.fields[n+3], p.fields[n+4], p.fields[n+5]
	if doc == nil && size != nil {
		p.again = append(p.again, string(key)) // too long
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
	if p.c.slow(doc, string(media)) || time.Since(p.start) > p.w.config.StatementTimeout/4 {
		p.again = append(p.again, string(key)) // the statement has a time limit
		return nil
	}
	var err error
	if p.r, err = p.c.compute(p.ctx, hash, doc, string(media)); err != nil {
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
	count := p.a.keys + 4 + p.a.profile.K + p.a.superfeatures + len(p.a.variants)
	if p.a.contains {
		count++
	}
	b := binary.BigEndian.AppendUint16(p.block, uint16(count))
	for _, field := range p.fields[:p.a.keys] {
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
	b = appendFeatures(b, p.r.Features, p.a.profile.K)
	b = appendFeatures(b, p.r.Superfeatures, p.a.superfeatures)
	for _, x := range p.r.Indexes {
		b = appendInt64(b, x.Value, x.Valid)
	}
	if p.a.contains {
		b = appendInt64s(b, p.r.Passages)
	}
	p.block = b
}

// appendFeatures appends n columns: a feature each, or NULL.
func appendFeatures(b []byte, features []sketch.Feature, n int) []byte {
	for slot := range n {
		if len(features) > 0 && features[0].Slot == slot {
			b = appendInt64(b, features[0].Value, true)
			features = features[1:]
		} else {
			b = appendInt64(b, 0, false)
		}
	}
	return b
}

// appendInt64 appends a bigint, or NULL.
func appendInt64(b []byte, v int64, ok bool) []byte {
	if !ok {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v))
}

// appendInt64s appends an array of bigint, or NULL where it is empty.
func appendInt64s(b []byte, values []int64) []byte {
	if len(values) == 0 {
		return appendInt64(b, 0, false)
	}
	const bigint = 20                                                            // pg_type.oid
	for _, n := range []int{20 + 12*len(values), 1, 0, bigint, len(values), 1} { // size, dimensions, no NULL, type, length, first
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, v := range values {
		b = appendInt64(b, v, true)
	}
	return b
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

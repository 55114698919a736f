package main

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A parquetFile writes a flat table in Apache Parquet's format: row groups of column
// chunks of pages, whose values are plain and compressed by zstd, and a footer that
// says where they are, in Thrift's compact protocol. The library for it would make
// the command a quarter larger, for codecs, encodings and nested types that no file
// of ours has.
type parquetFile struct {
	out     io.Writer
	columns []column
	zip     *zstd.Encoder
	err     error
	offset  int64
	rows    int64
	pages   []page  // of the columns, not yet compressed
	chunks  []chunk // of the row group that is being written
	groups  []rowGroup
}

// A page holds values of one column.
type page struct {
	values  []byte
	present []bool // of an optional column: which rows have one
	rows    int
}

// A chunk is what a row group has of one column.
type chunk struct {
	body     []byte // pages with their headers
	rows     int64
	zipped   int64 // bytes, as they are in the file
	unzipped int64
	offset   int64 // in the file
}

type rowGroup struct {
	chunks []chunk
	rows   int64
}

const (
	pageRows  = 20_000
	groupRows = 16 * pageRows

	parquetInt32, parquetInt64, parquetBytes = 1, 2, 6
)

func newParquet(out io.Writer, columns []column) *parquetFile {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	f := &parquetFile{out: out, columns: columns, zip: zip, err: err, pages: make([]page, len(columns)), chunks: make([]chunk, len(columns))}
	f.write([]byte("PAR1"))
	return f
}

func (f *parquetFile) write(b []byte) {
	if f.err == nil {
		_, f.err = f.out.Write(b)
		f.offset += int64(len(b))
	}
}

// row adds a row: a value of each column's type, or nil where it is optional.
func (f *parquetFile) row(values []any) error {
	for i, v := range values {
		p := &f.pages[i]
		p.rows++
		if f.columns[i].optional {
			p.present = append(p.present, v != nil)
		}
		kind, text := f.columns[i].parquetType()
		fits := false
		switch v := v.(type) {
		case nil:
			fits = f.columns[i].optional
		case int32:
			fits = kind == parquetInt32
			p.values = binary.LittleEndian.AppendUint32(p.values, uint32(v))
		case int64:
			fits = kind == parquetInt64
			p.values = binary.LittleEndian.AppendUint64(p.values, uint64(v))
		case string:
			fits = text
			p.values = append(binary.LittleEndian.AppendUint32(p.values, uint32(len(v))), v...)
		case []byte:
			fits = kind == parquetBytes && !text
			p.values = append(binary.LittleEndian.AppendUint32(p.values, uint32(len(v))), v...)
		}
		if !fits {
			return fmt.Errorf("export: the column %s has a %T, want a %T", f.columns[i].name, v, f.columns[i].example)
		}
	}
	f.rows++
	if f.pages[0].rows == pageRows {
		f.endPages()
	}
	if f.chunks[0].rows == groupRows {
		f.endGroup()
	}
	return f.err
}

// endPages compresses the page of each column.
func (f *parquetFile) endPages() {
	for i := range f.pages {
		p, c := &f.pages[i], &f.chunks[i]
		if p.rows == 0 || f.err != nil {
			continue
		}
		body := p.values
		if f.columns[i].optional {
			body = append(levels(p.present), body...)
		}
		zipped := f.zip.EncodeAll(body, nil)
		var header thrift
		header.int(1, 0) // a data page
		header.int(2, int64(len(body)))
		header.int(3, int64(len(zipped)))
		header.begin(5)
		header.int(1, int64(p.rows))
		header.int(2, 0) // plain values
		header.int(3, 3) // levels by runs
		header.int(4, 3)
		header.end()
		header.end()
		c.body = append(append(c.body, header.b...), zipped...)
		c.rows += int64(p.rows)
		c.unzipped += int64(len(header.b) + len(body))
		p.values, p.present, p.rows = p.values[:0], p.present[:0], 0
	}
}

// levels says which rows have a value, a bit each, in groups of eight.
func levels(present []bool) []byte {
	groups := (len(present) + 7) / 8
	run := binary.AppendUvarint(nil, uint64(groups)<<1|1)
	at := len(run)
	run = append(run, make([]byte, groups)...)
	for i, there := range present {
		if there {
			run[at+i/8] |= 1 << (i % 8)
		}
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// endGroup writes the row group.
func (f *parquetFile) endGroup() {
	g := rowGroup{chunks: make([]chunk, len(f.columns)), rows: f.chunks[0].rows}
	if g.rows == 0 {
		return
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		g.chunks[i] = chunk{rows: c.rows, zipped: int64(len(c.body)), unzipped: c.unzipped, offset: f.offset}
		f.write(c.body)
		*c = chunk{body: c.body[:0]}
	}
	f.groups = append(f.groups, g)
}

// close writes what remains and the footer.
func (f *parquetFile) close() error {
	f.endPages()
	f.endGroup()
	footer := f.footer()
	f.write(footer)
	f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	f.write([]byte("PAR1"))
	return f.err
}

// footer describes the columns and says where their chunks are.
func (f *parquetFile) footer() []byte {
	var t thrift
	t.int(1, 1) // the version of the format
	t.list(2, len(f.columns)+1, thriftStruct)
	t.element()
	t.text(4, "schema")
	t.int(5, int64(len(f.columns)))
	t.end()
	for _, c := range f.columns {
		kind, text := c.parquetType()
		t.element()
		t.int(1, int64(kind))
		t.int(3, map[bool]int64{true: 1}[c.optional])
		t.text(4, c.name)
		if text {
			t.int(6, 0) // UTF-8, as old readers know it, and new ones
			t.begin(10)
			t.begin(1)
			t.end()
			t.end()
		}
		t.end()
	}
	t.long(3, f.rows)
	t.list(4, len(f.groups), thriftStruct)
	for _, g := range f.groups {
		bytes := int64(0)
		t.element()
		t.list(1, len(g.chunks), thriftStruct)
		for i, c := range g.chunks {
			kind, _ := f.columns[i].parquetType()
			t.element()
			t.long(2, c.offset)
			t.begin(3)
			t.int(1, int64(kind))
			t.list(2, 2, thriftInt)
			t.b = append(t.b, 0, 6) // plain, and by runs: 3, in zigzag
			t.list(3, 1, thriftText)
			t.bytes(f.columns[i].name)
			t.int(4, 6) // zstd
			t.long(5, g.rows)
			t.long(6, c.unzipped)
			t.long(7, c.zipped)
			t.long(9, c.offset)
			t.end()
			t.end()
			bytes += c.unzipped
		}
		t.long(2, bytes)
		t.long(3, g.rows)
		t.end()
	}
	t.text(6, "pgworker")
	t.end()
	return t.b
}

// parquetType is the type of a column's values, and whether they are text.
func (c *column) parquetType() (kind int, text bool) {
	switch c.example.(type) {
	case int32:
		return parquetInt32, false
	case int64:
		return parquetInt64, false
	case string:
		return parquetBytes, true
	}
	return parquetBytes, false
}

// thrift writes a struct in Thrift's compact protocol, field by field.
type thrift struct {
	b    []byte
	last []int // the number of the last field, of each struct that is open but the outermost
	at   int   // of the innermost
}

const (
	thriftInt, thriftLong, thriftText, thriftList, thriftStruct = 5, 6, 8, 9, 12
)

func (t *thrift) field(n, kind int) {
	t.b = append(t.b, byte((n-t.at)<<4|kind)) // the numbers grow by less than sixteen
	t.at = n
}

func (t *thrift) int(n int, v int64) {
	t.field(n, thriftInt)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) long(n int, v int64) {
	t.field(n, thriftLong)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) text(n int, s string) {
	t.field(n, thriftText)
	t.bytes(s)
}

func (t *thrift) bytes(s string) { t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...) }

func (t *thrift) list(n, size, kind int) {
	t.field(n, thriftList)
	if size < 15 {
		t.b = append(t.b, byte(size<<4|kind))
		return
	}
	t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(size))
}

// begin opens a struct that is a field, element one of a list.
func (t *thrift) begin(n int) {
	t.field(n, thriftStruct)
	t.element()
}

func (t *thrift) element() { t.last, t.at = append(t.last, t.at), 0 }

// end closes the innermost struct.
func (t *thrift) end() {
	t.b = append(t.b, 0)
	if n := len(t.last); n > 0 {
		t.at, t.last = t.last[n-1], t.last[:n-1]
	}
}

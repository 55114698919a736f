package sqlite

/*
#include "shim.h"
#cgo noescape alike_grow
#cgo nocallback alike_grow
*/
import "C"

import "unsafe"

// Want is what the caller of a table-valued function does with its rows.
type Want struct {
	Limit   int64 // the most rows that it reads, or -1
	Ordered bool  // whether it relies on their order
}

// Source gives the rows of a table-valued function. Next fills the batch and
// says whether there may be more. Close is called once, at the end or before it.
type Source interface {
	Next(b *Batch) (more bool, err error)
	Close()
}

// SourceFunc is a source that holds nothing open.
type SourceFunc func(b *Batch) (more bool, err error)

func (f SourceFunc) Next(b *Batch) (bool, error) { return f(b) }
func (f SourceFunc) Close()                      {}

// Rows is a source of n rows.
func Rows(n int, row func(b *Batch, cells []Value, i int)) Source {
	next := 0
	return SourceFunc(func(b *Batch) (bool, error) {
		for ; next < n && !b.Full(); next++ {
			row(b, b.Row(), next)
		}
		return next < n, nil
	})
}

// Batch is alike_batch: rows of a table-valued function on their way to SQLite.
type Batch struct {
	cells          *Value
	columns        int64
	capacity, rows int64
	arena          *byte
	used, size     int64
}

// Full tells whether there is no room for another row.
func (b *Batch) Full() bool { return b.rows == b.capacity }

// Row starts a row of NULLs and returns its cells.
func (b *Batch) Row() []Value {
	cells := unsafe.Slice(b.cells, int(b.columns*b.capacity))[b.rows*b.columns:][:b.columns]
	for i := range cells {
		cells[i].Kind = Null
	}
	b.rows++
	return cells
}

// cell is one of a row that was filled.
func (b *Batch) cell(row, column int) *Value {
	return &unsafe.Slice(b.cells, int(b.columns*b.capacity))[row*int(b.columns)+column]
}

// bytes are the text or the blob of a cell.
func (b *Batch) bytes(v *Value) []byte {
	if v.n == 0 {
		return nil
	}
	return unsafe.Slice(b.arena, int(b.size))[v.i:][:v.n]
}

// SetBytes puts text or a blob into a cell. It panics with ErrNoMemory, which
// the dispatcher turns into SQLite's error.
func (b *Batch) SetBytes(v *Value, kind int64, p []byte) {
	v.Kind, v.i, v.n = kind, b.used, int64(len(p))
	if b.used+int64(len(p)) > b.size && C.alike_grow((*C.alike_batch)(unsafe.Pointer(b)), C.int64_t(len(p))) == 0 {
		panic(ErrNoMemory)
	}
	if len(p) > 0 {
		copy(unsafe.Slice(b.arena, int(b.size))[b.used:], p)
		b.used += int64(len(p))
	}
}

// SetText puts text into a cell.
func (b *Batch) SetText(v *Value, s string) {
	b.SetBytes(v, Text, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// SetAny puts a value that Copy has made into a cell.
func (b *Batch) SetAny(cell *Value, v any) {
	switch v := v.(type) {
	case int64:
		cell.SetInt(v)
	case float64:
		cell.SetFloat(v)
	case string:
		b.SetText(cell, v)
	case []byte:
		b.SetBytes(cell, Blob, v)
	}
}

package sqlite

/*
#include <stdlib.h>
#include "shim.h"
#cgo noescape alike_bind
#cgo nocallback alike_bind
#cgo noescape alike_reset
#cgo noescape alike_step
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// Statement is a prepared statement on the caller's own connection.
type Statement struct {
	c       *Conn
	p       unsafe.Pointer
	sql     string
	columns []Value // of the row last stepped to, in C memory's layout
	busy    bool
}

// Prepare compiles one statement for use now; close it.
func (c *Conn) Prepare(sql string) (*Statement, error) { return c.compile(sql, 0, 0) }

func (c *Conn) compile(sql string, keep, limited C.int) (*Statement, error) {
	s := &Statement{c: c, sql: sql}
	text := C.CString(sql)
	var used C.int
	rc := C.alike_prepare(c.db, text, C.int(len(sql)), keep, limited, &s.p, &used)
	C.free(unsafe.Pointer(text))
	if rc != 0 {
		return nil, c.sqliteError(rc)
	}
	if s.p == nil {
		return nil, fmt.Errorf("%.60q is not a statement", sql)
	}
	if strings.TrimSpace(sql[used:]) != "" {
		s.Close()
		return nil, fmt.Errorf("there is text after the statement: %.60q", sql[used:])
	}
	s.columns = make([]Value, int(C.alike_column_count(s.p)))
	return s, nil
}

// Cached returns a statement kept for the connection. The caller calls Done when it
// has read what it wants.
func (c *Conn) Cached(sql string) (*Statement, error) {
	if s := c.statements[sql]; s != nil && !s.busy {
		s.busy = true
		return s, nil
	}
	if err := c.anchor(); err != nil {
		return nil, err
	}
	s, err := c.compile(sql, 1, 0)
	if err != nil {
		return nil, err
	}
	if c.statements[sql] == nil {
		c.statements[sql] = s
	}
	s.busy = true
	return s, nil
}

// anchor makes sure that forget will be called. sqlite3_close refuses while a
// statement is open, and before that it disconnects the table-valued functions that
// were used; so this uses one.
func (c *Conn) anchor() error {
	if c.anchored {
		return nil
	}
	s, err := c.Prepare("SELECT 1 FROM alike_profiles()")
	if err != nil {
		return err
	}
	s.Close()
	c.anchored = true
	return nil
}

// forget closes the statements kept, before the connection closes: those in use when
// they are done. After sqlite3_close_v2 a cursor may still be read to its end, and
// nothing can be compiled any more, so that it waits for the last of them.
func (c *Conn) forget() {
	c.anchored = false
	if c.closing = len(c.states) > 0; c.closing {
		return
	}
	for sql, s := range c.statements {
		delete(c.statements, sql)
		if !s.busy {
			s.Close()
		}
	}
}

func (s *Statement) Close() {
	if s.p != nil {
		C.alike_finalize(s.p)
		s.p = nil
	}
}

// Done makes the statement ready for its next use, or closes it if it is not kept.
func (s *Statement) Done() {
	C.alike_reset(s.p)
	s.busy = false
	if s.c.statements[s.sql] != s {
		s.Close()
	}
}

func (s *Statement) Reset() { C.alike_reset(s.p) }

// Bind sets the parameters, in their order.
func (s *Statement) Bind(args ...any) error {
	for i, arg := range args {
		var rc C.int
		n := C.int(i + 1)
		switch a := arg.(type) {
		case nil:
			rc = C.alike_bind(s.p, n, Null, 0, nil, 0)
		case int:
			rc = C.alike_bind(s.p, n, Integer, C.int64_t(a), nil, 0)
		case int64:
			rc = C.alike_bind(s.p, n, Integer, C.int64_t(a), nil, 0)
		case bool:
			b := 0
			if a {
				b = 1
			}
			rc = C.alike_bind(s.p, n, Integer, C.int64_t(b), nil, 0)
		case float64:
			rc = C.alike_bind(s.p, n, Float, C.int64_t(math.Float64bits(a)), nil, 0)
		case string:
			rc = C.alike_bind(s.p, n, Text, 0, unsafe.Pointer(unsafe.StringData(a)), C.int64_t(len(a)))
		case []byte:
			rc = C.alike_bind(s.p, n, Blob, 0, unsafe.Pointer(unsafe.SliceData(a)), C.int64_t(len(a)))
		case *Value:
			rc = C.alike_bind(s.p, n, C.int(a.Kind), C.int64_t(a.i), a.pointer(), C.int64_t(a.n))
		default:
			panic(fmt.Sprintf("cannot bind %T", arg))
		}
		if rc != 0 {
			return s.c.sqliteError(rc)
		}
	}
	return nil
}

// Step goes to the next row and reads its columns, which are valid until the
// next step. It reports false at the end.
func (s *Statement) Step() (bool, error) {
	var columns *C.alike_value
	if len(s.columns) > 0 {
		columns = (*C.alike_value)(unsafe.Pointer(&s.columns[0]))
	}
	switch rc := C.alike_step(s.p, columns, C.int(len(s.columns))); rc {
	case codeRow:
		return true, nil
	case codeDone:
		return false, nil
	default:
		return false, s.c.sqliteError(rc)
	}
}

// Columns are those of the row last stepped to.
func (s *Statement) Columns() []Value { return s.columns }

// Scan reads rows of integers into out, a multiple of the columns long, and
// returns how many rows there were; fewer than asked for is the end.
func (s *Statement) Scan(out []int64) (int, error) {
	var got C.int
	n := len(s.columns)
	rc := C.alike_scan(s.p, (*C.int64_t)(unsafe.Pointer(&out[0])), C.int(len(out)/n), C.int(n), &got)
	if rc != codeRow && rc != codeDone {
		return int(got), s.c.sqliteError(rc)
	}
	return int(got), nil
}

// Runs merges the rows of statements that are bound. Each gives two integers, ordered by the
// first.
type Runs struct {
	c       *Conn
	sources []C.alike_source
	last    C.alike_run // the last row, and whether it was given
}

// Merge makes Runs of statements of one connection.
func Merge(statements ...*Statement) *Runs {
	r := &Runs{c: statements[0].c}
	for _, s := range statements {
		r.sources = append(r.sources, C.alike_source{stmt: s.p})
	}
	return r
}

// Next gives the rows of a first integer that several rows have. It reports false after the
// last.
func (r *Runs) Next(out []int64) (n int, more bool, err error) {
	var got C.int
	rc := C.alike_runs(&r.sources[0], C.int(len(r.sources)), (*C.int64_t)(unsafe.Pointer(&out[0])), C.int(len(out)/2), &r.last, &got)
	if rc != codeRow && rc != codeDone {
		return 0, false, r.c.sqliteError(rc)
	}
	return int(got), rc == codeRow, nil
}

// StatementRows are the rows of a statement that is bound.
type StatementRows struct{ *Statement }

func (s StatementRows) Next(b *Batch) (bool, error) {
	for !b.Full() {
		more, err := s.Step()
		if err != nil || !more {
			return false, err
		}
		cells := b.Row()
		for i := range cells {
			if v := &s.columns[i]; v.Kind == Text || v.Kind == Blob {
				b.SetBytes(&cells[i], v.Kind, v.Bytes())
			} else {
				cells[i] = *v
			}
		}
	}
	return true, nil
}

func (s StatementRows) Close() { s.Done() }

// Run executes a statement with parameters to its end, and calls row for each
// of its rows.
func (c *Conn) Run(sql string, row func(columns []Value) error, args ...any) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Each(row, args...)
}

// Each binds, steps to the end and calls row for each row.
func (s *Statement) Each(row func(columns []Value) error, args ...any) error {
	if err := s.Bind(args...); err != nil {
		return err
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if row != nil {
			if err := row(s.columns); err != nil {
				return err
			}
		}
	}
}

// maxSchemaText is the longest text that SQLite's manual recommends to allow.
const maxSchemaText = 100_000

// Exec executes statements that change the schema. Each is compiled by itself: a text
// that turns out to be two statements is refused.
func (c *Conn) Exec(statements []string) error {
	for _, sql := range statements {
		if len(sql) > maxSchemaText {
			return fmt.Errorf("a trigger or view needs %d bytes of SQL, want at most %d; give the attachment a shorter name or a profile with fewer features", len(sql), maxSchemaText)
		}
		s, err := c.compile(sql, 0, 1)
		if err != nil {
			return err
		}
		err = s.Each(nil)
		s.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Interrupted fails when the host has asked to stop: it steps a statement, since
// SQLite has no function that tells before 3.41.
func (c *Conn) Interrupted() error {
	s, err := c.Cached("SELECT 1")
	if err != nil {
		return err
	}
	defer s.Done()
	if err := s.Bind(); err != nil {
		return err
	}
	_, err = s.Step()
	return err
}

// HasColumn tells whether a table of the schema has a column.
func (c *Conn) HasColumn(schema, table, column string) (bool, error) {
	_, err := c.Collation(schema, table, column)
	if missing := (*Error)(nil); errors.As(err, &missing) && missing.Code == CodeError {
		return false, nil
	}
	return err == nil, err
}

// Changes counts the rows that the last statement has changed, without what its
// triggers have.
func (c *Conn) Changes() int64 { return int64(C.alike_changes(c.db)) }

// Collation is the collating sequence of a column.
func (c *Conn) Collation(schema, table, column string) (string, error) {
	var names [3]*C.char
	for i, name := range []string{schema, table, column} {
		names[i] = C.CString(name)
		defer C.free(unsafe.Pointer(names[i]))
	}
	var collation *C.char
	if rc := C.alike_column_metadata(c.db, names[0], names[1], names[2], nil, &collation); rc != 0 {
		return "", c.sqliteError(rc)
	}
	return C.GoString(collation), nil
}

// LogWarning writes to the error log of SQLite, which the host reads.
func LogWarning(text string) {
	p := C.CString(text)
	defer C.free(unsafe.Pointer(p))
	C.alike_log(p)
}

package sqlext

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
	"fmt"
	"io"
	"math"
	"strings"
	"unsafe"
)

var errEOF = io.EOF

// statement is a prepared statement on the caller's own connection.
type statement struct {
	c       *conn
	p       unsafe.Pointer
	sql     string
	columns []value // of the row last stepped to, in C memory's layout
	busy    bool
}

// sqliteError is the error that the connection has just reported.
func (c *conn) sqliteError(rc C.int) error {
	if rc == codeNoMemory {
		return errNoMemory
	}
	return &sqlError{int(rc) & 0xff, C.GoString(C.alike_message(c.db))}
}

// prepare compiles one statement for use now; close it.
func (c *conn) prepare(sql string) (*statement, error) { return c.compile(sql, 0) }

func (c *conn) compile(sql string, keep C.int) (*statement, error) {
	s := &statement{c: c, sql: sql}
	text := C.CString(sql)
	var used C.int
	rc := C.alike_prepare(c.db, text, C.int(len(sql)), keep, &s.p, &used)
	C.free(unsafe.Pointer(text))
	if rc != 0 {
		return nil, c.sqliteError(rc)
	}
	if s.p == nil {
		return nil, fmt.Errorf("%.60q is no statement", sql)
	}
	if strings.TrimSpace(sql[used:]) != "" {
		s.close()
		return nil, fmt.Errorf("%.60q follows the statement", sql[used:])
	}
	s.columns = make([]value, int(C.alike_column_count(s.p)))
	return s, nil
}

// cached returns a statement kept for the connection. It must be one that reads
// to the end or is reset by its user.
func (c *conn) cached(sql string) (*statement, error) {
	if s := c.statements[sql]; s != nil && !s.busy {
		s.busy = true
		return s, nil
	}
	if err := c.anchor(); err != nil {
		return nil, err
	}
	s, err := c.compile(sql, 1)
	if err != nil {
		return nil, err
	}
	if c.statements[sql] == nil {
		c.statements[sql] = s
	}
	s.busy = true
	return s, nil
}

// anchor makes sure that forget will be called: sqlite3_close refuses while a
// statement is open, and tells nobody first but the table-valued functions that
// were used. So one is, whatever the caller uses.
func (c *conn) anchor() error {
	if c.anchored {
		return nil
	}
	s, err := c.prepare("SELECT 1 FROM alike_profiles()")
	if err != nil {
		return err
	}
	s.close()
	c.anchored = true
	return nil
}

// forget closes the statements kept, before the connection closes.
func (c *conn) forget() {
	c.anchored = false
	for sql, s := range c.statements {
		delete(c.statements, sql)
		s.close()
	}
}

func (s *statement) close() {
	if s.p != nil {
		C.alike_finalize(s.p)
		s.p = nil
	}
}

// done makes the statement ready for its next use; one that is not kept closes.
func (s *statement) done() {
	C.alike_reset(s.p)
	s.busy = false
	if s.c.statements[s.sql] != s {
		s.close()
	}
}

func (s *statement) reset() { C.alike_reset(s.p) }

// bind sets the parameters, in their order.
func (s *statement) bind(args ...any) error {
	for i, arg := range args {
		var rc C.int
		n := C.int(i + 1)
		switch a := arg.(type) {
		case nil:
			rc = C.alike_bind(s.p, n, typeNull, 0, nil, 0)
		case int:
			rc = C.alike_bind(s.p, n, typeInteger, C.int64_t(a), nil, 0)
		case int64:
			rc = C.alike_bind(s.p, n, typeInteger, C.int64_t(a), nil, 0)
		case bool:
			b := 0
			if a {
				b = 1
			}
			rc = C.alike_bind(s.p, n, typeInteger, C.int64_t(b), nil, 0)
		case float64:
			rc = C.alike_bind(s.p, n, typeFloat, C.int64_t(math.Float64bits(a)), nil, 0)
		case string:
			rc = C.alike_bind(s.p, n, typeText, 0, unsafe.Pointer(unsafe.StringData(a)), C.int64_t(len(a)))
		case []byte:
			rc = C.alike_bind(s.p, n, typeBlob, 0, unsafe.Pointer(unsafe.SliceData(a)), C.int64_t(len(a)))
		case *value:
			rc = C.alike_bind(s.p, n, C.int(a.kind), C.int64_t(a.i), a.pointer(), C.int64_t(a.n))
		default:
			panic(fmt.Sprintf("cannot bind %T", arg))
		}
		if rc != 0 {
			return s.c.sqliteError(rc)
		}
	}
	return nil
}

// step goes to the next row and reads its columns, which are valid until the
// next step. It reports false at the end.
func (s *statement) step() (bool, error) {
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

// scan reads rows of integers into out, a multiple of the columns long, and
// returns how many rows there were; fewer than asked for is the end.
func (s *statement) scan(out []int64) (int, error) {
	var got C.int
	n := len(s.columns)
	rc := C.alike_scan(s.p, (*C.int64_t)(unsafe.Pointer(&out[0])), C.int(len(out)/n), C.int(n), &got)
	if rc != codeRow && rc != codeDone {
		return int(got), s.c.sqliteError(rc)
	}
	return int(got), nil
}

// run is what runs remembers: the last row, and whether it was given.
type run C.alike_run

// runs reads rows of two integers, of which the first is in order, and gives
// those of a first that several rows have. It reports false after the last.
func (s *statement) runs(out []int64, last *run) (n int, more bool, err error) {
	var got C.int
	rc := C.alike_runs(s.p, (*C.int64_t)(unsafe.Pointer(&out[0])), C.int(len(out)/2), (*C.alike_run)(last), &got)
	if rc != codeRow && rc != codeDone {
		return 0, false, s.c.sqliteError(rc)
	}
	return int(got), rc == codeRow, nil
}

// rowsOfStatement are the rows of a statement that is bound.
type rowsOfStatement struct{ *statement }

func (s rowsOfStatement) next(b *batch) (bool, error) {
	for !b.full() {
		more, err := s.step()
		if err != nil || !more {
			return false, err
		}
		cells := b.row()
		for i := range cells {
			if v := &s.columns[i]; v.kind == typeText || v.kind == typeBlob {
				b.setBytes(&cells[i], v.kind, v.bytes())
			} else {
				cells[i] = *v
			}
		}
	}
	return true, nil
}

func (s rowsOfStatement) close() { s.done() }

// run executes a statement with parameters to its end, and calls row for each
// of its rows.
func (c *conn) run(sql string, row func(columns []value) error, args ...any) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer s.close()
	return s.each(row, args...)
}

// each binds, steps to the end and calls row for each row.
func (s *statement) each(row func(columns []value) error, args ...any) error {
	if err := s.bind(args...); err != nil {
		return err
	}
	for {
		more, err := s.step()
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

// exec executes any number of statements without parameters.
func (c *conn) exec(sql string) error {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	if rc := C.alike_exec(c.db, text); rc != 0 {
		return c.sqliteError(rc)
	}
	return nil
}

// interrupted steps a statement that does nothing, which fails when the caller
// asked to stop; there is no other way to know before SQLite 3.41.
func (c *conn) interrupted() error {
	s, err := c.cached("SELECT 1")
	if err != nil {
		return err
	}
	defer s.done()
	if err := s.bind(); err != nil {
		return err
	}
	_, err = s.step()
	return err
}

// changes counts the rows that the last statement has changed, without what its
// triggers have.
func (c *conn) changes() int64 { return int64(C.alike_changes(c.db)) }

// collation is the collating sequence of a column.
func (c *conn) collation(schema, table, column string) (string, error) {
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

func logWarning(text string) {
	p := C.CString(text)
	defer C.free(unsafe.Pointer(p))
	C.alike_log(p)
}

package sqlext

/*
#cgo CFLAGS: -O2 -Wall -fvisibility=hidden
#cgo linux LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "sqlite3.h"
#include "shim.h"
#cgo noescape alike_malloc
#cgo nocallback alike_malloc
#cgo noescape alike_grow
#cgo nocallback alike_grow
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

// The types of a value, and the codes of an error, are SQLite's.
const (
	typeInteger = C.SQLITE_INTEGER
	typeFloat   = C.SQLITE_FLOAT
	typeText    = C.SQLITE_TEXT
	typeBlob    = C.SQLITE_BLOB
	typeNull    = C.SQLITE_NULL
	typeError   = -1

	codeError      = C.SQLITE_ERROR
	codeBusy       = C.SQLITE_BUSY
	codeNoMemory   = C.SQLITE_NOMEM
	codeInterrupt  = C.SQLITE_INTERRUPT
	codeReadOnly   = C.SQLITE_READONLY
	codeTooBig     = C.SQLITE_TOOBIG
	codeConstraint = C.SQLITE_CONSTRAINT
	codeRow        = C.SQLITE_ROW
	codeDone       = C.SQLITE_DONE
)

// sqlError is an error with SQLite's code for it.
type sqlError struct {
	code int
	text string
}

func (e *sqlError) Error() string { return e.text }

var errNoMemory = &sqlError{codeNoMemory, "out of memory"}

// value is alike_value: an argument, a column, a cell. The address is a number to
// Go, since the collector must not follow it after SQLite has freed it.
type value struct {
	kind int64
	i    int64
	n    int64
	p    uintptr
}

func (v *value) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&v.p)) }

func (v *value) null() bool { return v.kind == typeNull }

// bytes is a view of text or a blob, valid until the call returns.
func (v *value) bytes() []byte {
	if v.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(v.pointer()), int(v.n))
}

func (v *value) text() string { return string(v.bytes()) }

// number is an integer or a float as a float; text that SQLite has not
// converted is no number.
func (v *value) number() (float64, bool) {
	switch v.kind {
	case typeInteger:
		return float64(v.i), true
	case typeFloat:
		return math.Float64frombits(uint64(v.i)), true
	}
	return 0, false
}

// frame is alike_call: one crossing. A test pins that the layouts agree.
type frame struct {
	op, function, conn, argc, rows int32
	given                          uint32
	ordered                        int32
	limit                          int64
	argv                           *value
	handle                         int64
	db                             unsafe.Pointer
	batch                          *batch
	result                         value
	code                           int64
	small                          [C.ALIKE_SMALL]byte
}

// args are the arguments of the call; for a step of an aggregate those of all
// its rows, one after the other.
func (f *frame) args() []value {
	return unsafe.Slice(f.argv, int(f.argc)*max(1, int(f.rows)))
}

func (f *frame) setInt(i int64) { f.result.kind, f.result.i = typeInteger, i }

func (f *frame) setFloat(d float64) {
	f.result.kind, f.result.i = typeFloat, int64(math.Float64bits(d))
}

func (f *frame) setBool(b bool) {
	f.setInt(0)
	if b {
		f.setInt(1)
	}
}

func (f *frame) setText(s string) {
	f.setBytes(typeText, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// scratch is room for a short result that needs no allocation: append to it
// and hand what comes out to setBytes.
func (f *frame) scratch() []byte { return f.small[:0] }

// setBytes makes b the result, which it copies unless b lies in the scratch.
func (f *frame) setBytes(kind int64, b []byte) {
	f.result.kind, f.result.n, f.result.p = kind, int64(len(b)), 0
	if len(b) == 0 || unsafe.SliceData(b) == &f.small[0] {
		return
	}
	if len(b) <= len(f.small) {
		copy(f.small[:], b)
		return
	}
	p := C.alike_malloc(C.int64_t(len(b)))
	if p == nil {
		f.result.kind, f.result.n, f.code = typeError, 0, codeNoMemory
		return
	}
	copy(unsafe.Slice((*byte)(p), len(b)), b)
	f.result.p = uintptr(p)
}

// fail makes err the result, in the name of the function.
func (f *frame) fail(err error) {
	code := codeError
	text := err.Error()
	var coded *sqlError
	if errors.As(err, &coded) {
		code = coded.code
	}
	if f.function >= 0 && int(f.function) < len(functions) && code != codeInterrupt {
		name := functions[f.function].name
		if text = strings.TrimPrefix(text, "sketch: "); !strings.HasPrefix(text, "alike") {
			text = name + ": " + text
		}
	}
	f.setBytes(typeError, []byte(text))
	if f.code != codeNoMemory {
		f.code = int64(code)
	}
}

// batch is alike_batch: rows of a table-valued function on their way out.
type batch struct {
	cells          *value
	columns        int64
	capacity, rows int64
	arena          *byte
	used, size     int64
}

func (b *batch) full() bool { return b.rows == b.capacity }

// row starts a row of NULLs and returns its cells.
func (b *batch) row() []value {
	cells := unsafe.Slice(b.cells, int(b.columns*b.capacity))[b.rows*b.columns:][:b.columns]
	for i := range cells {
		cells[i].kind = typeNull
	}
	b.rows++
	return cells
}

func (v *value) setInt(i int64) { v.kind, v.i = typeInteger, i }

func (v *value) setFloat(d float64) { v.kind, v.i = typeFloat, int64(math.Float64bits(d)) }

// setBytes puts text or a blob into a cell. It panics with errNoMemory, which
// the dispatcher turns into SQLite's error.
func (b *batch) setBytes(v *value, kind int64, p []byte) {
	v.kind, v.i, v.n = kind, b.used, int64(len(p))
	if b.used+int64(len(p)) > b.size && C.alike_grow((*C.alike_batch)(unsafe.Pointer(b)), C.int64_t(len(p))) == 0 {
		panic(errNoMemory)
	}
	if len(p) > 0 {
		copy(unsafe.Slice(b.arena, int(b.size))[b.used:], p)
		b.used += int64(len(p))
	}
}

func (b *batch) setText(v *value, s string) {
	b.setBytes(v, typeText, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// wanted is what the caller will do with the rows of a table-valued function.
type wanted struct {
	limit   int64 // how many it reads at most, or -1
	ordered bool  // whether it relies on their order
}

// source gives the rows of a table-valued function: next fills the batch and
// says whether there may be more. It is closed whether it came to its end or not.
type source interface {
	next(b *batch) (more bool, err error)
	close()
}

// sourceFunc is a source that holds nothing open.
type sourceFunc func(b *batch) (more bool, err error)

func (f sourceFunc) next(b *batch) (bool, error) { return f(b) }
func (f sourceFunc) close()                      {}

// rowsOf is a source of n rows.
func rowsOf(n int, row func(b *batch, cells []value, i int)) source {
	next := 0
	return sourceFunc(func(b *batch) (bool, error) {
		for ; next < n && !b.full(); next++ {
			row(b, b.row(), next)
		}
		return next < n, nil
	})
}

// conn is one connection: what is kept from call to call. SQLite lets one
// thread at a time into a connection.
type conn struct {
	db            unsafe.Pointer
	id            int32
	profiles      map[string]*sketcher
	last          *sketcher
	featureBuffer []sketch.Feature
	rows          map[string]*rowSettings
	lastRow       *rowSettings
	drawn         bool // a line of progress is on the terminal
	drawnAt       time.Time
	variants      map[string]simindex.Variant
	states        map[int64]any
	nextState     int64
	statements    map[string]*statement
	anchored      bool // forget will be called before the connection closes
	known         map[string]*attachment
	registry      map[string]string // the query of attachments, by schema and condition
}

var connections struct {
	sync.Mutex
	list atomic.Pointer[[]*conn] // replaced, never changed, so that a call needs no lock
	byDB map[unsafe.Pointer]*conn
}

// connect makes the conn of a database handle, or returns nil when there is one.
func connect(db unsafe.Pointer) *conn {
	connections.Lock()
	defer connections.Unlock()
	if connections.byDB == nil {
		connections.byDB = map[unsafe.Pointer]*conn{}
	}
	if connections.byDB[db] != nil {
		return nil
	}
	var list []*conn
	if old := connections.list.Load(); old != nil {
		list = append(list, *old...)
	}
	c := &conn{db: db, profiles: map[string]*sketcher{}, variants: map[string]simindex.Variant{},
		states: map[int64]any{}, statements: map[string]*statement{}, known: map[string]*attachment{}, registry: map[string]string{}, rows: map[string]*rowSettings{}}
	c.id = int32(len(list))
	for i, other := range list {
		if other == nil {
			c.id = int32(i)
			break
		}
	}
	if int(c.id) == len(list) {
		list = append(list, nil)
	}
	list[c.id] = c
	connections.list.Store(&list)
	connections.byDB[db] = c
	return c
}

func disconnect(id int32) {
	connections.Lock()
	defer connections.Unlock()
	list := append([]*conn(nil), *connections.list.Load()...)
	delete(connections.byDB, list[id].db)
	list[id] = nil
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	connections.list.Store(&list)
}

// keep stores the state of an aggregate or a cursor under a handle.
func (c *conn) keep(state any) int64 {
	c.nextState++
	c.states[c.nextState] = state
	return c.nextState
}

var specsOnce sync.Once

// alikeCall is the only way in from C.
//
//export alikeCall
func alikeCall(p *C.alike_call) {
	f := (*frame)(unsafe.Pointer(p))
	defer f.recover()
	if f.op == C.ALIKE_CONNECT {
		f.function = -1
		specsOnce.Do(makeSpecs)
		f.conn = -1
		if c := connect(f.db); c != nil {
			f.conn = c.id
		}
		return
	}
	if f.op == C.ALIKE_DISCONNECT {
		disconnect(f.conn)
		return
	}
	c := (*connections.list.Load())[f.conn]
	fn := &functions[f.function]
	if f.op == C.ALIKE_SCALAR {
		if err := fn.scalar(c, f); err != nil {
			f.fail(err)
		}
		return
	}
	if err := c.dispatch(fn, f); err != nil {
		f.fail(err)
	}
}

// recover turns a panic into an SQL error: nothing that a row contains may end
// the host.
func (f *frame) recover() {
	switch e := recover().(type) {
	case nil:
	case *sqlError:
		f.fail(e)
	default:
		if onPanic != nil {
			onPanic(e, debug.Stack())
		}
		f.fail(fmt.Errorf("internal error: %v", e))
	}
}

// onPanic sees what recover makes an error of; only tests set it.
var onPanic func(e any, stack []byte)

func (c *conn) dispatch(fn *function, f *frame) error {
	switch f.op {
	case C.ALIKE_FORGET:
		c.forget()
	case C.ALIKE_STEP:
		if f.handle == 0 {
			f.handle = c.keep(fn.aggregate())
		}
		state := c.states[f.handle].(aggregate)
		for a := f.args(); len(a) > 0; a = a[f.argc:] {
			if err := state.step(c, a[:f.argc]); err != nil {
				return err
			}
		}
	case C.ALIKE_FINAL:
		state := c.states[f.handle].(aggregate)
		delete(c.states, f.handle)
		return state.final(f)
	case C.ALIKE_OPEN:
		given := make([]value, len(fn.arguments))
		args := f.args()
		for i := range given {
			given[i].kind = typeNull
			if f.given>>i&1 != 0 {
				given[i], args = args[0], args[1:]
			}
		}
		if f.limit == 0 {
			return nil
		}
		rows, err := fn.table(c, given, wanted{limit: f.limit, ordered: f.ordered != 0})
		if err != nil || rows == nil {
			return err
		}
		f.handle = c.keep(rows)
		return c.fetch(f)
	case C.ALIKE_NEXT:
		return c.fetch(f)
	case C.ALIKE_CLOSE:
		c.drop(f.handle)
	}
	return nil
}

// fetch fills a batch; a source at its end is dropped.
func (c *conn) fetch(f *frame) (err error) {
	more := false
	defer func() {
		if !more || err != nil {
			c.drop(f.handle)
			f.handle = 0
		}
	}()
	more, err = c.states[f.handle].(source).next(f.batch)
	return err
}

func (c *conn) drop(handle int64) {
	rows := c.states[handle].(source)
	delete(c.states, handle)
	rows.close()
}

// makeSpecs hands the table of functions to C, once and for good.
func makeSpecs() {
	specs := unsafe.Slice((*C.alike_spec)(C.calloc(C.size_t(len(functions)), C.sizeof_alike_spec)), len(functions))
	for i := range functions {
		fn, s := &functions[i], &specs[i]
		s.name = C.CString(fn.name)
		s.flags = C.int32_t(fn.flags)
		s.least, s.most = C.int32_t(fn.least), C.int32_t(fn.most())
		for j, argument := range fn.arguments {
			if strings.HasSuffix(argument, " text") {
				s.text |= 1 << j
			}
		}
		switch {
		case fn.scalar != nil:
			s.kind = C.ALIKE_IS_SCALAR
		case fn.aggregate != nil:
			s.kind = C.ALIKE_IS_AGGREGATE
		default:
			s.kind = C.ALIKE_IS_TABLE
			s.columns = C.int32_t(len(fn.columns))
			s.order = C.int32_t(fn.order)
			s.declare = C.CString(fn.declaration())
		}
	}
	C.alike_specs = &specs[0]
	C.alike_spec_count = C.int(len(specs))
}

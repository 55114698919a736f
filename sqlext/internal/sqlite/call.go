package sqlite

/*
#cgo CFLAGS: -O2 -Wall -fvisibility=hidden
#cgo linux LDFLAGS: -ldl -lpthread
#include "shim.h"
#cgo noescape alike_malloc
#cgo nocallback alike_malloc
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Call is alike_call: one crossing from C to Go.
type Call struct {
	op, function, conn, argc, rows int32
	given                          uint32
	ordered, equal                 int32
	limit                          int64
	argv                           *Value
	handle, kept                   int64
	db                             unsafe.Pointer
	batch                          *Batch
	result                         Value
	code                           int64
	small                          [C.ALIKE_SMALL]byte
}

// The layouts in C and in Go agree, or this does not compile.
const (
	_ = uint(unsafe.Sizeof(Call{})-unsafe.Sizeof(C.alike_call{})) + uint(unsafe.Sizeof(C.alike_call{})-unsafe.Sizeof(Call{}))
	_ = uint(unsafe.Offsetof(Call{}.result)-unsafe.Offsetof(C.alike_call{}.result)) + uint(unsafe.Offsetof(C.alike_call{}.result)-unsafe.Offsetof(Call{}.result))
	_ = uint(unsafe.Sizeof(Value{})-unsafe.Sizeof(C.alike_value{})) + uint(unsafe.Sizeof(C.alike_value{})-unsafe.Sizeof(Value{}))
	_ = uint(unsafe.Sizeof(Batch{})-unsafe.Sizeof(C.alike_batch{})) + uint(unsafe.Sizeof(C.alike_batch{})-unsafe.Sizeof(Batch{}))
)

// Args are the arguments of the call.
func (f *Call) Args() []Value { return unsafe.Slice(f.argv, int(f.argc)*max(1, int(f.rows))) }

// last is the value after the arguments.
func (f *Call) last() *Value { return &unsafe.Slice(f.argv, int(f.argc)+1)[f.argc] }

// SetInt makes an integer the result.
func (f *Call) SetInt(i int64) { f.result.SetInt(i) }

// SetFloat makes a float the result.
func (f *Call) SetFloat(d float64) { f.result.Kind, f.result.i = Float, int64(math.Float64bits(d)) }

// SetBool makes 1 or 0 the result.
func (f *Call) SetBool(b bool) {
	f.SetInt(0)
	if b {
		f.SetInt(1)
	}
}

// SetText makes text the result.
func (f *Call) SetText(s string) { f.SetBytes(Text, unsafe.Slice(unsafe.StringData(s), len(s))) }

// Scratch is room for a short result that needs no allocation: append to it and
// pass what append returns to SetBytes.
func (f *Call) Scratch() []byte { return f.small[:0] }

// SetBytes makes b the result, which it copies unless b lies in the scratch.
func (f *Call) SetBytes(kind int64, b []byte) {
	f.result.Kind, f.result.n, f.result.p = kind, int64(len(b)), 0
	if len(b) == 0 || unsafe.SliceData(b) == &f.small[0] {
		return
	}
	if len(b) <= len(f.small) {
		copy(f.small[:], b)
		return
	}
	p := C.alike_malloc(C.int64_t(len(b)))
	if p == nil {
		f.result.Kind, f.result.n, f.code = isFailed, 0, CodeNoMemory
		return
	}
	copy(unsafe.Slice((*byte)(p), len(b)), b)
	f.result.p = uintptr(p)
}

// fail makes err the result.
func (f *Call) fail(err error) {
	code, text := CodeError, err.Error()
	var coded *Error
	if errors.As(err, &coded) {
		code = coded.Code
	}
	switch {
	case code == CodeInterrupt:
		text = ErrInterrupted.Text
	case f.function >= 0 && int(f.function) < len(functions):
		text = message(&functions[f.function], err)
	}
	if list := connections.list.Load(); list != nil && f.conn >= 0 && int(f.conn) < len(*list) && (*list)[f.conn] != nil {
		(*list)[f.conn].sent = text
	}
	f.SetBytes(isFailed, []byte(text))
	if f.code != CodeNoMemory {
		f.code = int64(code)
	}
}

// recover turns a panic into an SQL error: nothing that a row contains may end
// the host.
func (f *Call) recover() {
	switch e := recover().(type) {
	case nil:
	case *Error:
		f.fail(e)
	default:
		f.fail(fmt.Errorf("internal error: %v", e))
	}
}

// alikeCall is the only way in from C.
//
//export alikeCall
func alikeCall(p *C.alike_call) {
	f := (*Call)(unsafe.Pointer(p))
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
		if fn.Flags&Direct != 0 {
			c.Wrote()
		}
		if err := fn.Scalar(c, f); err != nil {
			f.fail(err)
		}
		return
	}
	if err := c.dispatch(fn, f); err != nil {
		f.fail(err)
	}
}

func (c *Conn) dispatch(fn *Function, f *Call) error {
	switch f.op {
	case C.ALIKE_FORGET:
		c.forget()
	case C.ALIKE_STEP:
		if f.handle == 0 {
			f.handle = c.keep(fn.Aggregate())
		}
		state := c.states[f.handle].(Aggregate)
		for a := f.Args(); len(a) > 0; a = a[f.argc:] { // of all its rows, one after the other
			if err := state.Step(a[:f.argc]); err != nil {
				return err
			}
		}
	case C.ALIKE_FINAL:
		defer c.left()
		return c.remove(f.handle).(Aggregate).Final(f)
	case C.ALIKE_OPEN:
		given := make([]Value, len(fn.Arguments))
		args := f.Args()
		for i := range given {
			given[i].Kind = Null
			if f.given>>i&1 != 0 {
				given[i], args = args[0], args[1:]
			}
		}
		if f.limit == 0 {
			return nil
		}
		rows, err := c.answer(fn, f, given)
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
func (c *Conn) fetch(f *Call) (err error) {
	more := false
	defer func() {
		if !more || err != nil {
			c.drop(f.handle)
			f.handle = 0
		}
	}()
	more, err = c.states[f.handle].(Source).Next(f.batch)
	return err
}

func (c *Conn) drop(handle int64) {
	c.remove(handle).(Source).Close()
	c.left()
}

// left closes the statements kept when the connection waits for that.
func (c *Conn) left() {
	if c.closing {
		c.forget()
	}
}

package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"strings"
	"sync"
	"unsafe"
)

// Function is one SQL function: a scalar, an aggregate or a table-valued one,
// whichever of the three is set.
//
// A NULL argument gives NULL, or no row, without a call, unless the flag Nulls
// is set. Arguments beyond Required may be left out. The word " text" after the
// name of an argument says that a number is taken as its text there.
type Function struct {
	Name      string
	Flags     int32
	Required  int
	Arguments []string
	Columns   []string // of a table-valued function
	Order     int      // the column, from 1, by which its rows come in order; negative when descending

	Scalar    func(c *Conn, f *Call) error
	Aggregate func() Aggregate
	Table     func(c *Conn, args []Value, want Want) (Source, error)
}

// The flags of a function, as in shim.h.
const (
	Pure      = 1 // deterministic and innocuous: for triggers, views, indexes and generated columns
	Direct    = 2 // reads or writes tables: only from a statement of the caller's own
	Nulls     = 4
	NoEcho    = 8
	Innocuous = 16 // for triggers, but called each time
)

// Aggregate is the state of an aggregate function over one group.
type Aggregate interface {
	Step(args []Value) error
	Final(f *Call) error
}

// Quote writes an identifier as SQL does.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// declaration is the table that a table-valued function pretends to be.
func (fn *Function) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	for i, column := range fn.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(column))
	}
	for _, argument := range fn.Arguments {
		// The parentheses keep an argument from having the name of a column.
		b.WriteString(", " + Quote("("+strings.TrimSuffix(argument, " text")+")") + " HIDDEN")
	}
	b.WriteString(")")
	return b.String()
}

// What Declare was given.
var (
	functions []Function
	newState  func(*Conn) any
	message   func(fn *Function, err error) string
	specsOnce sync.Once
)

// Declare names the functions of every connection, what makes the State of one, and
// what words the error of a function. It is called once, before a connection is made.
func Declare(list []Function, state func(*Conn) any, wording func(fn *Function, err error) string) {
	functions, newState, message = list, state, wording
}

// makeSpecs copies the table of functions to C's memory, for the life of the process.
func makeSpecs() {
	specs := unsafe.Slice((*C.alike_spec)(C.calloc(C.size_t(len(functions)), C.sizeof_alike_spec)), len(functions))
	for i := range functions {
		fn, s := &functions[i], &specs[i]
		s.name = C.CString(fn.Name)
		s.flags = C.int32_t(fn.Flags)
		s.min, s.max = C.int32_t(fn.Required), C.int32_t(len(fn.Arguments))
		for j, argument := range fn.Arguments {
			if strings.HasSuffix(argument, " text") {
				s.text |= 1 << j
			}
		}
		switch {
		case fn.Scalar != nil:
			s.kind = C.ALIKE_IS_SCALAR
		case fn.Aggregate != nil:
			s.kind = C.ALIKE_IS_AGGREGATE
		default:
			s.kind = C.ALIKE_IS_TABLE
			s.columns = C.int32_t(len(fn.Columns))
			s.order = C.int32_t(fn.Order)
			s.declare = C.CString(fn.declaration())
		}
	}
	C.alike_specs = &specs[0]
	C.alike_spec_count = C.int(len(specs))
}

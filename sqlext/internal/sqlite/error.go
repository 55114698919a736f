package sqlite

/*
#include "shim.h"
#include "sqlite3.h"
*/
import "C"

import (
	"fmt"
	"strings"
)

// The types of a value and the codes of an error are SQLite's.
const (
	Integer  = C.SQLITE_INTEGER
	Float    = C.SQLITE_FLOAT
	Text     = C.SQLITE_TEXT
	Blob     = C.SQLITE_BLOB
	Null     = C.SQLITE_NULL
	isFailed = -1

	CodeError      = C.SQLITE_ERROR
	CodeNoMemory   = C.SQLITE_NOMEM
	CodeInterrupt  = C.SQLITE_INTERRUPT
	CodeAuth       = C.SQLITE_AUTH
	CodeConstraint = C.SQLITE_CONSTRAINT
	codeMisuse     = C.SQLITE_MISUSE
	codeRow        = C.SQLITE_ROW
	codeDone       = C.SQLITE_DONE
)

// Error is an error with SQLite's code for it.
type Error struct {
	Code  int
	Text  string
	Named bool // the text says already who speaks
}

func (e *Error) Error() string { return e.Text }

// Is compares errors by their code, so that errors.Is(err, ErrInterrupted) holds for
// every interrupt.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

var (
	ErrNoMemory    = &Error{Code: CodeNoMemory, Text: "out of memory"}
	ErrInterrupted = &Error{Code: CodeInterrupt, Text: "interrupted"}
)

// limits are what SQLite says when one of its limits stops a statement.
var limits = []struct {
	text, name string
	number     C.int
}{
	{"string or blob too big", "LENGTH", C.SQLITE_LIMIT_LENGTH},
	{"statement too long", "SQL_LENGTH", C.SQLITE_LIMIT_SQL_LENGTH},
	{"too many columns", "COLUMN", C.SQLITE_LIMIT_COLUMN},
	{"Expression tree is too large", "EXPR_DEPTH", C.SQLITE_LIMIT_EXPR_DEPTH},
	{"too many terms in compound SELECT", "COMPOUND_SELECT", C.SQLITE_LIMIT_COMPOUND_SELECT},
	{"too many arguments on function", "FUNCTION_ARG", C.SQLITE_LIMIT_FUNCTION_ARG},
	{"pattern too complex", "LIKE_PATTERN_LENGTH", C.SQLITE_LIMIT_LIKE_PATTERN_LENGTH},
	{"too many SQL variables", "VARIABLE_NUMBER", C.SQLITE_LIMIT_VARIABLE_NUMBER},
	{"variable number must be between", "VARIABLE_NUMBER", C.SQLITE_LIMIT_VARIABLE_NUMBER},
	{"triggers nested too deep", "TRIGGER_DEPTH", C.SQLITE_LIMIT_TRIGGER_DEPTH},
	{"too many levels of trigger recursion", "TRIGGER_DEPTH", C.SQLITE_LIMIT_TRIGGER_DEPTH},
}

// sqliteError is the error that the connection has just reported. It names the limit
// that it is about.
func (c *Conn) sqliteError(rc C.int) error {
	if rc == CodeNoMemory {
		return ErrNoMemory
	}
	if c.closing && rc == codeMisuse {
		return &Error{Code: CodeError, Text: "the connection is closed"}
	}
	text := C.GoString(C.alike_message(c.db))
	err := &Error{Code: int(rc) & 0xff, Text: text, Named: text == c.sent}
	for _, limit := range limits {
		if !err.Named && strings.Contains(text, limit.text) {
			err.Text += fmt.Sprintf(" (SQLITE_LIMIT_%s is %d)", limit.name, C.alike_limit(c.db, limit.number))
			break
		}
	}
	return err
}

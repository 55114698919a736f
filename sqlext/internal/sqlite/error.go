package sqlite

/*
#include "sqlite3.h"
*/
import "C"

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
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Is compares errors by their code, so that errors.Is(err, ErrInterrupted) holds for
// every interrupt.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

var (
	ErrNoMemory    = &Error{CodeNoMemory, "out of memory"}
	ErrInterrupted = &Error{CodeInterrupt, "interrupted"}
)

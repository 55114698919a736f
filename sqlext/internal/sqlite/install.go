// Package sqlite is what stands between SQLite and the functions of the extension:
// the C callbacks that SQLite calls (shim.c), the one crossing into Go (call.go), the
// table of functions (function.go), values, and statements on the caller's own
// connection. It knows nothing of sketches.
package sqlite

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

var errNoSQLite = errors.New("sqlext: no SQLite is linked into this program; import github.com/mattn/go-sqlite3 beside it")

// Install gives the functions to every connection that the program opens from now on.
func Install() error {
	switch rc := C.alike_install(); rc {
	case 0:
		return nil
	case -1:
		return errNoSQLite
	default:
		return fmt.Errorf("sqlext: SQLite refused the extension with code %d", rc)
	}
}

// Uninstall undoes Install for connections opened from now on.
func Uninstall() { C.alike_uninstall() }

// Register gives the functions to one connection, by its sqlite3*.
func Register(db unsafe.Pointer) error {
	var message [256]C.char
	switch rc := C.alike_register_handle(db, &message[0], C.int(len(message))); rc {
	case 0:
		return nil
	case -1:
		return errNoSQLite
	case -2:
		return errors.New("sqlext: this SQLite was built without extensions (the tag sqlite_omit_load_extension)")
	default:
		if text := C.GoString(&message[0]); text != "" {
			return errors.New(text)
		}
		return fmt.Errorf("sqlext: SQLite refused the extension with code %d", rc)
	}
}

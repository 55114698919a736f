// Package sqlext gives SQLite the functions of Alike and the aspect that keeps
// a table's near-duplicates known.
//
// It has two doors with one implementation behind them. Every program that can
// load extensions loads alike.so, built from the package loadable below this
// one. A Go program with github.com/mattn/go-sqlite3 imports this package and
// calls Auto once, or Register for each connection:
//
//	sql.Register("sqlite3_alike", &sqlite3.SQLiteDriver{
//		ConnectHook: func(c *sqlite3.SQLiteConn) error { return sqlext.Register(c) },
//	})
package sqlext

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
)

var errNoSQLite = errors.New("sqlext: no SQLite is linked into this program; import github.com/mattn/go-sqlite3 beside it")

// Auto gives the functions to every connection that the program opens from now
// on, through whichever driver name.
func Auto() error {
	switch rc := C.alike_install(); rc {
	case 0:
		return nil
	case -1:
		return errNoSQLite
	default:
		return fmt.Errorf("sqlext: SQLite refused the extension with code %d", rc)
	}
}

// cancelAuto undoes Auto for connections opened from now on.
func cancelAuto() { C.alike_uninstall() }

// Register gives the functions to one connection, a *sqlite3.SQLiteConn of
// github.com/mattn/go-sqlite3, and is meant for its ConnectHook. The type is
// not named here so that the loadable library needs no SQLite of its own.
func Register(connection any) error {
	v := reflect.ValueOf(connection)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("sqlext: a %T is no connection, want a *sqlite3.SQLiteConn", connection)
	}
	db := v.FieldByName("db")
	if !db.IsValid() || db.Kind() != reflect.Pointer || db.IsNil() {
		return fmt.Errorf("sqlext: a %T has no database handle, want an open *sqlite3.SQLiteConn", connection)
	}
	var message [256]C.char
	switch rc := C.alike_register_handle(db.UnsafePointer(), &message[0], C.int(len(message))); rc {
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

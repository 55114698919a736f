package sqlext

import (
	"fmt"
	"reflect"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// Auto gives the functions to every connection that the program opens from now
// on, through whichever driver name.
func Auto() error { return sqlite.Install() }

// Register gives the functions to one connection, a *sqlite3.SQLiteConn of
// github.com/mattn/go-sqlite3, and is meant for its ConnectHook. The type is
// not named here so that the loadable library needs no SQLite of its own.
func Register(connection any) error {
	v := reflect.ValueOf(connection)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("sqlext: a %T is not a connection, want a *sqlite3.SQLiteConn", connection)
	}
	db := v.FieldByName("db")
	if !db.IsValid() || db.Kind() != reflect.Pointer || db.IsNil() {
		return fmt.Errorf("sqlext: a %T has no database handle, want an open *sqlite3.SQLiteConn", connection)
	}
	return sqlite.Register(db.UnsafePointer())
}

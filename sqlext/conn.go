package sqlext

import (
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// conn is what the functions keep of a connection from call to call.
type conn struct {
	*sqlite.Conn
	profiles      map[string]*sketcher
	last          *sketcher
	featureBuffer []sketch.Feature
	rows          map[string]*rowSettings
	lastRow       *rowSettings
	variants      map[string]simindex.Variant
	cache         cache
	left          []int64 // components that a row has left which is to join another
	drawn         bool    // a line of progress is on the terminal
	drawnAt       time.Time
}

func newConn(c *sqlite.Conn) any {
	return &conn{Conn: c, profiles: map[string]*sketcher{}, rows: map[string]*rowSettings{}, variants: map[string]simindex.Variant{}, cache: newCache()}
}

// scalar and tableOf adapt functions that take a *conn to those of package sqlite.
func scalar(call func(*conn, *sqlite.Call) error) func(*sqlite.Conn, *sqlite.Call) error {
	return func(c *sqlite.Conn, f *sqlite.Call) error { return call(c.State.(*conn), f) }
}

func tableOf(call func(*conn, []sqlite.Value, sqlite.Want) (sqlite.Source, error)) func(*sqlite.Conn, []sqlite.Value, sqlite.Want) (sqlite.Source, error) {
	return func(c *sqlite.Conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
		return call(c.State.(*conn), args, want)
	}
}

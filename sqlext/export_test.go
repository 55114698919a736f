package sqlext

import "github.com/alike-sql/alike/sqlext/internal/sqlite"

// PanicIn makes a function panic until the function it returns is called.
func PanicIn(name string) (restore func()) {
	for i := range functions {
		f := &functions[i]
		if f.Name != name {
			continue
		}
		kept := *f
		switch {
		case f.Scalar != nil:
			f.Scalar = func(*sqlite.Conn, *sqlite.Call) error { panic("on purpose") }
		case f.Aggregate != nil:
			f.Aggregate = func() sqlite.Aggregate { panic("on purpose") }
		default:
			f.Table = func(*sqlite.Conn, []sqlite.Value, sqlite.Want) (sqlite.Source, error) { panic("on purpose") }
		}
		return func() { *f = kept }
	}
	panic("no function " + name)
}

// CancelAuto undoes Auto.
func CancelAuto() { sqlite.Uninstall() }

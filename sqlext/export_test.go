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

// SmallParts makes the parts so small that a test of a few rows goes through all of them.
func SmallParts() { shape = partShape{list: 4, slices: []int64{4, 4, 4}} }

// CancelAuto undoes Auto.
func CancelAuto() { sqlite.Uninstall() }

// CountCalls counts how often a table-valued function computes its rows.
func CountCalls(name string, work func()) (n int) {
	for i := range functions {
		if fn := &functions[i]; fn.Name == name {
			table := fn.Table
			fn.Table = func(c *sqlite.Conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
				n++
				return table(c, args, want)
			}
			defer func() { fn.Table = table }()
		}
	}
	work()
	return n
}

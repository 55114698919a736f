package sqlext

import "github.com/alike-sql/alike/sqlext/internal/sqlite"

// detach is alike_detach. It gives the number of rows of the side table, which
// it keeps or drops.
func detach(c *conn, f *sqlite.Call) error {
	args := f.Args()
	var o struct {
		Drop bool `json:"drop"`
	}
	if err := readJSON(argument(args, 1), &o); err != nil {
		return err
	}
	ref, err := readReference(&args[0])
	if err != nil {
		return err
	}
	a, err := c.findAny(ref)
	if err != nil {
		return err
	}
	var rows int64
	err = c.atomically(func() error {
		// The side table itself may have been dropped.
		if err := c.Run(a.sql("count_rows"), func(row []sqlite.Value) error {
			rows = row[0].Int()
			return nil
		}); err != nil {
			rows = 0
		}
		if err := c.Exec(a.statements("drop_triggers")); err != nil {
			return err
		}
		if err := c.abandonNext(a); err != nil {
			return err
		}
		if err := c.Exec(a.statements("drop_working")); err != nil {
			return err
		}
		if o.Drop {
			if err := c.Exec(a.statements("drop_data")); err != nil {
				return err
			}
		}
		for _, statement := range []string{"unregister", "clear_errors"} {
			if err := c.Run(a.sql(statement), nil, a.Name); err != nil {
				return err
			}
		}
		if !o.Drop {
			return nil
		}
		return c.dropEmptyRegistry(a)
	})
	c.cache.forget(a)
	f.SetInt(rows)
	return err
}

// dropEmptyRegistry leaves nothing behind when the last attachment went with its
// data. The profiles stay as long as a side table that was kept needs them.
func (c *conn) dropEmptyRegistry(a *attachment) error {
	needed := false
	if err := c.Run(a.sql("registry_needed"), func(row []sqlite.Value) error {
		needed = row[0].Int() != 0
		return nil
	}); err != nil || needed {
		return err
	}
	return c.Exec(a.statements("drop_registry"))
}

package sqlext

import "fmt"

// detach is alike_detach. It gives the number of rows of the side table, which
// it keeps or drops.
func detach(c *conn, f *frame) error {
	args := f.args()
	var o struct {
		Drop bool `json:"drop"`
	}
	if err := readJSON(argument(args, 1), &o); err != nil {
		return err
	}
	a, err := c.findAny(&args[0])
	if err != nil {
		return err
	}
	var rows int64
	err = c.atomically(func() error {
		// The side table itself may have been dropped.
		if err := c.run("SELECT count(*) FROM "+a.In(a.Side()), func(row []value) error {
			rows = row[0].i
			return nil
		}); err != nil {
			rows = 0
		}
		if err := c.dropTriggers(a); err != nil {
			return err
		}
		if err := c.abandonNext(a); err != nil {
			return err
		}
		if err := c.exec("DROP VIEW IF EXISTS " + a.In(a.Source()) + "; DROP TABLE IF EXISTS " + a.In(a.Queue()) + "; DROP TABLE IF EXISTS " + a.In(a.Replaced())); err != nil {
			return err
		}
		if o.Drop {
			for _, view := range []string{"pair", "feature"} {
				if err := c.exec("DROP VIEW IF EXISTS " + a.In(a.Object(view))); err != nil {
					return err
				}
			}
			for _, table := range []string{a.Side(), a.Match(), a.Mark()} {
				if err := c.exec("DROP TABLE IF EXISTS " + a.In(table)); err != nil {
					return err
				}
			}
		}
		for _, table := range []string{"alike_attachment", "alike_error"} {
			if err := c.run("DELETE FROM "+a.Schema()+"."+table+" WHERE name = ?1", nil, a.Name); err != nil {
				return err
			}
		}
		return c.dropEmptyRegistry(a, o.Drop)
	})
	delete(c.known, a.schemaName+"."+a.State+"."+a.Name)
	f.setInt(rows)
	return err
}

// dropEmptyRegistry leaves nothing behind when the last attachment went with its
// data. The profiles stay as long as a side table that was kept needs them.
func (c *conn) dropEmptyRegistry(a *attachment, drop bool) error {
	if !drop {
		return nil
	}
	var left int64
	err := c.run(fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s.alike_attachment) + (SELECT count(*) FROM %[1]s.sqlite_master WHERE type = 'table' AND name LIKE '%%\\_alike' ESCAPE '\\')", a.Schema()), func(row []value) error {
		left = row[0].i
		return nil
	})
	if err != nil || left > 0 {
		return err
	}
	return c.exec(fmt.Sprintf("DROP TABLE %[1]s.alike_error; DROP TABLE %[1]s.alike_attachment; DROP TABLE %[1]s.alike_settings", a.Schema()))
}

package sqlext

import (
	"errors"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// detach is alike_detach. It gives the number of rows of the side table, which
// it keeps or drops.
func detach(c *conn, f *sqlite.Call) error {
	args := f.Args()
	var o struct {
		Drop bool `json:"drop" want:"true or false"`
	}
	if err := readJSON(argument(args, 1), &o); err != nil {
		return err
	}
	ref, err := readReference(&args[0])
	if err != nil {
		return err
	}
	a, err := c.findAny(ref)
	var none *notAttached
	if errors.As(err, &none) && none.elsewhere == "" {
		a, err = c.findKept(ref, err, o.Drop)
	}
	if err != nil {
		return err
	}
	rows := int64(0)
	attached := []string{"drop_triggers", "drop_source"}
	has, err := c.HasColumn(a.schema, a.object(""), "profile")
	if err != nil {
		return err
	} else if has {
		if err := c.Run(a.sql("count_rows"), func(row []sqlite.Value) error {
			rows = row[0].Int()
			return nil
		}); err != nil {
			return err
		}
	} else if none == nil {
		attached = append(attached, "drop_views") // of a side table that somebody has dropped
	}
	if err := c.Atomically(func() error {
		if err := c.Exec(a.statements(attached...)); err != nil {
			return err
		}
		if err := c.abandonNext(a); err != nil {
			return err
		}
		if none != nil {
			return nil // what follows was done by the detach that was interrupted
		}
		if err := c.leaveParts(a, has && !o.Drop); err != nil {
			return err
		}
		for _, statement := range []string{"unregister", "clear_errors"} {
			if err := c.Run(a.sql(statement), nil, a.Name); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	c.cache.forget(a)
	// From here on it is detached, and doing it again goes on where this ends.
	next := *a
	next.State = stateNext
	if err := c.Exec(append(next.statements("drop_next"), a.statements("drop_working")...)); err != nil {
		return err
	}
	if err := c.dropParts(a); err != nil {
		return err
	}
	if o.Drop {
		if err := c.Exec(a.statements("drop_data")); err != nil {
			return err
		}
		if err := c.dropEmptyRegistry(a.schema); err != nil {
			return err
		}
	}
	f.SetInt(rows)
	return nil
}

// findKept finds what an earlier detach has kept, or was interrupted before it had
// dropped it.
func (c *conn) findKept(ref reference, notFound error, drop bool) (*attachment, error) {
	list := []string{ref.schema}
	if ref.schema == "" {
		var err error
		if list, err = c.schemas(); err != nil {
			return nil, err
		}
	}
	tables := []struct{ name, column string }{{"queue", "queued_at"}, {"old", "sketched_at"}, {"next", "sketched_at"}}
	if drop {
		tables = append(tables, []struct{ name, column string }{{"", "sketched_at"}, {"match", "matched_at"}, {"mark", "marked_at"}, {"cluster", "clustered_at"}, {"event", "happened_at"}}...)
	}
	for _, schema := range list {
		a := &attachment{schema: schema, Name: ref.name}
		for _, table := range tables {
			if has, err := c.HasColumn(schema, a.object(table.name), table.column); err != nil || has {
				return a, err
			}
		}
		if has, err := c.hasTable(schema, a.object("unique")); err != nil || has {
			return a, err
		}
		if has, err := c.hasTable(schema, a.object("value")); err != nil || has {
			return a, err
		}
		if _, tables, err := c.parts(a, false); err != nil || len(tables) > 0 {
			return a, err
		}
	}
	if drop {
		for _, schema := range list {
			if err := c.dropEmptyRegistry(schema); err != nil {
				return nil, err
			}
		}
	}
	return nil, notFound
}

// dropEmptyRegistry leaves nothing behind when the last attachment went with its
// data. The profiles stay as long as a side table that was kept needs them.
func (c *conn) dropEmptyRegistry(schema string) error {
	needed, asked := false, []string{"has_side_tables"}
	attachments, err := c.HasColumn(schema, "alike_attachment", "name")
	if err != nil {
		return err
	}
	if attachments {
		asked = append(asked, "has_attachments")
	} else if settings, err := c.HasColumn(schema, "alike_settings", "profile"); err != nil || !settings {
		return err
	}
	for _, name := range asked {
		if err := c.Run(inSchema(schema, name), func([]sqlite.Value) error { needed = true; return nil }); err != nil || needed {
			return err
		}
	}
	return c.Exec((&attachment{schema: schema}).statements("drop_registry"))
}

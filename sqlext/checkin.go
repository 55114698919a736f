package sqlext

import (
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// checkin is the trigger's work on one row at a time, outside of the trigger.
type checkin struct {
	c     *conn
	a     *attachment
	steps []*sqlite.Statement
}

func (c *conn) checkin(a *attachment, policy string) (*checkin, error) {
	with := *a
	with.Mode, with.Policy = "compute", policy
	one := &checkin{c: c, a: a}
	for _, step := range with.statements("one") {
		s, err := c.Prepare(step)
		if err != nil {
			one.close()
			return nil, err
		}
		one.steps = append(one.steps, s)
	}
	return one, nil
}

func (one *checkin) close() {
	for _, s := range one.steps {
		s.Close()
	}
}

// row checks a row in. A row whose document gives an error is noted, and the
// others go on.
func (one *checkin) row(key []any) (ok bool, err error) {
	failed := one.c.Atomically(func() error {
		for _, s := range one.steps {
			err := s.Each(nil, key...)
			s.Reset()
			if err != nil {
				return err
			}
		}
		return nil
	})
	name, err := keyValue(key)
	if err != nil {
		return false, err
	}
	if failed == nil {
		return true, one.c.Run(one.a.sql("clear_error"), nil, one.a.Name, name)
	}
	if !isOfRow(failed) {
		return false, failed
	}
	if err := one.c.Run(one.a.sql("delete_row"), nil, key...); err != nil {
		return false, err
	}
	return false, one.c.Run(one.a.sql("note_error"), nil, one.a.Name, name, failed.Error())
}

package sqlext

import "fmt"

// status is alike_status: what is attached in the databases of the connection.
func status(c *conn, _ []value, _ wanted) (source, error) {
	schemas, err := c.schemas()
	if err != nil {
		return nil, err
	}
	type line struct {
		a                              *attachment
		table                          string
		rows, sketched, failed, oldest int64
		pending                        int64
		waiting                        bool // oldest is known
		note                           string
	}
	var list []line
	for _, schema := range schemas {
		found, err := c.attachments(schema, "state <> 'next' ORDER BY name")
		if err == errNoRegistry {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			l := line{a: a, table: a.Table}
			if schema != "main" {
				l.note = "in " + schema
			}
			adopted, err := c.adopt(a)
			if err != nil {
				l.note = err.Error()
				list = append(list, l)
				continue
			}
			l.table = adopted.Table
			l.a = adopted
			count := func(into *int64, query string, args ...any) {
				if err == nil {
					err = c.run(query, func(row []value) error {
						*into, l.waiting = row[0].i, l.waiting || len(row) > 1 && !row[1].null()
						if len(row) > 1 {
							l.oldest = row[1].i
						}
						return nil
					}, args...)
				}
			}
			count(&l.rows, "SELECT count(*) FROM "+a.In(a.Source()))
			count(&l.sketched, "SELECT count(*) FROM "+a.In(a.Side()))
			count(&l.failed, "SELECT count(*) FROM "+a.Schema()+".alike_error WHERE name = ?1", a.Name)
			if a.Mode == "queue" && a.State == stateReady {
				count(&l.pending, "SELECT count(*), min(queued_at) FROM "+a.In(a.Queue()))
			} else {
				l.pending = max(0, l.rows-l.sketched)
			}
			switch {
			case err != nil:
				l.note = err.Error()
			case a.State == stateFilling:
				l.note = fmt.Sprintf("not filled yet: alike_refresh(%s) goes on", literal(a.Name))
			default:
				if next, err := c.attachments(schema, "state = 'next' AND name = ?1", a.Name); err == nil && len(next) > 0 {
					l.note = fmt.Sprintf("a change to %s is not complete: alike_refresh(%s) goes on", next[0].Profile, literal(a.Name))
				}
			}
			list = append(list, l)
		}
	}
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		l := &list[i]
		for j, text := range []string{l.a.Name, l.table, l.a.Column, l.a.Profile, l.a.Mode, l.a.Policy} {
			b.setText(&cells[j], text)
		}
		cells[6].setFloat(l.a.threshold())
		for j, n := range []int64{l.rows, l.sketched, l.pending, l.failed} {
			cells[7+j].setInt(n)
		}
		if l.waiting {
			cells[11].setInt(l.oldest)
		}
		if l.note != "" {
			b.setText(&cells[12], l.note)
		}
	}), nil
}

// failures is alike_errors.
func failures(c *conn, args []value, _ wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	var list [][]any
	err = c.run("SELECT key, message, attempts, failed_at FROM "+a.Schema()+".alike_error WHERE name = ?1 ORDER BY failed_at, key", func(row []value) error {
		list = append(list, owned(row))
		return nil
	}, a.Name)
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		for j := range cells {
			b.setAny(&cells[j], list[i][j])
		}
	}), err
}

package sqlext

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// fillBatch is how many rows one statement brings up to date: few enough for the
// progress and for others who want to write, many enough for the disk.
const fillBatch = 5000

// refresh is alike_refresh.
func refresh(c *conn, f *sqlite.Call) error {
	a, err := c.find(&f.Args()[0])
	if err != nil {
		return err
	}
	if a, err = c.adopt(a); err != nil {
		return err
	}
	n, err := c.fill(a)
	if err != nil {
		return err
	}
	// A change of profile that was interrupted.
	next, err := c.next(a)
	if err != nil {
		return err
	}
	if next != nil {
		if next, err = c.adopt(next); err != nil {
			return err
		}
		more, err := c.fill(next)
		if err != nil {
			return err
		}
		n += more
	}
	f.SetInt(n)
	return nil
}

// fill brings every row up to date and finishes what attach began, and computes the clusters
// that are kept. It returns how many rows it computed, or removed because their document is gone.
func (c *conn) fill(a *attachment) (int64, error) {
	if a.Clusters > 0 && a.State == stateReady {
		if err := c.Run(a.sql("clusters_wait"), nil, a.Name); err != nil {
			return 0, err
		}
	}
	n, err := c.fillRows(a)
	if err != nil || a.Clusters == 0 {
		return n, err
	}
	found, err := c.attachments(a.schema, inUseByName, a.Name)
	if err == nil && len(found) > 0 && found[0].broken == nil && found[0].State == stateReady {
		_, err = c.writeClusters(found[0])
	}
	return n, err
}

func (c *conn) fillRows(a *attachment) (int64, error) {
	if err := c.takeOver(a); err != nil {
		return 0, err
	}
	if err := c.dropLeftovers(a); err != nil {
		return 0, err
	}
	if a.State == stateReady && a.Mode == "queue" {
		n, err := c.drain(a)
		if err != nil {
			return n, err
		}
		more, err := c.sweep(a, false)
		return n + more, err
	}
	n, err := c.sweep(a, true)
	if err != nil || a.State == stateReady {
		return n, err
	}
	for i, column := range a.indexed() {
		c.progress(a, fmt.Sprintf("index %d of %d", i+1, len(a.indexed())), 1)
		if err := c.Run(a.fragments(fragments{Item: column}).sql("index"), nil); err != nil {
			return n, err
		}
	}
	more, err := c.finish(a)
	c.progress(a, "", 0)
	return n + more, err
}

// dropLeftovers drops what a change has put out of use: it cannot be dropped in the
// transaction of the change.
func (c *conn) dropLeftovers(a *attachment) error {
	var drop []string
	if has, err := c.HasColumn(a.schema, a.object("old"), "profile"); err != nil {
		return err
	} else if has {
		drop = append(drop, a.sql("drop_old"))
	}
	if has, err := c.hasTable(a.schema, a.object("unique_old")); err != nil {
		return err
	} else if has {
		drop = append(drop, a.sql("drop_old_unique"))
	}
	if has, err := c.hasTable(a.schema, (&attachment{Name: a.Name}).object("value")); err != nil {
		return err
	} else if has && !a.Contains && a.State != stateNext {
		drop = append(drop, a.sql("drop_values"))
	}
	if has, err := c.hasTable(a.schema, (&attachment{Name: a.Name}).object("cluster")); err != nil {
		return err
	} else if has && a.Clusters == 0 && a.State != stateNext {
		drop = append(drop, a.statements("drop_clusters")...)
	}
	if has, err := c.HasColumn(a.schema, a.object("queue"), "queued_at"); err != nil {
		return err
	} else if has && a.Mode != "queue" {
		// What it holds has no row in the side table, so the fill finds it.
		drop = append(drop, a.sql("drop_queue"))
	}
	triggers, tables, err := c.parts(a, true)
	if err != nil {
		return err
	}
	drop = append(append(drop, triggers...), tables...)
	// Indexes of another generation or layout, on a side table that a detach has kept.
	if err := c.Run("SELECT name FROM pragma_index_list(?1, ?2) WHERE origin = 'c'", func(row []sqlite.Value) error {
		name := row[0].Text()
		for _, column := range a.Numbers() {
			if a.isOldIndex(name, column) || !slices.Contains(a.indexed(), column) && sqlite.Quote(name) == a.fragments(fragments{}).Index(column) {
				drop = append(drop, a.fragments(fragments{Item: name}).sql("drop_index"))
			}
		}
		return nil
	}, a.object(""), a.schema); err != nil {
		return err
	}
	return c.Exec(drop)
}

// finish makes a filled side table the one in use, in one transaction.
func (c *conn) finish(a *attachment) (n int64, err error) {
	ready := *a
	ready.State, ready.stamp = stateReady, rand.Int64()
	err = c.LegacyRename(func() error {
		return c.Atomically(func() error {
			if a.State == stateNext {
				// Whatever changed while it was built.
				if n, err = c.sweep(a, true); err != nil {
					return err
				}
				if err := c.replace(a, &ready); err != nil {
					return err
				}
				if err := c.Run(ready.sql("delete_unmatched"), nil); err != nil {
					return err
				}
				if err := c.keepValues(&ready, true); err != nil {
					return err
				}
			}
			if err := c.Run(a.sql("unregister"), nil, a.Name); err != nil {
				return err
			}
			if err := c.Exec(ready.statements("match")); err != nil {
				return err
			}
			if ready.InParts() {
				c.progress(a, "features", 1)
				statements := ready.statements("make_parts")
				if a.State == stateFilling {
					statements = append(statements, ready.statements("drop_views", "views")...)
				}
				if err := c.Exec(statements); err != nil {
					return err
				}
			}
			if err := c.register(&ready, true); err != nil {
				return err
			}
			return c.Run(a.sql("drop_unused_boilerplate"), nil)
		})
	})
	if err != nil {
		return n, err
	}
	if err := c.dropLeftovers(&ready); err != nil || ready.Mode != "queue" {
		return n, err
	}
	// The sweep has computed and counted what was queued meanwhile; the policy has not judged it.
	_, err = c.drain(&ready)
	return n, err
}

// replace puts the side table of a change in the place of the one before.
func (c *conn) replace(next, ready *attachment) error {
	if err := c.Exec(ready.statements("drop_triggers", "drop_views", "drop_source")); err != nil {
		return err
	}
	return c.Exec(append(next.statements("switch"), ready.statements("source", "views")...))
}

// sweep compares every document with its row, batch by batch in the order of
// the key, and removes the rows without a document.
func (c *conn) sweep(a *attachment, verify bool) (int64, error) {
	var total int64
	if err := c.Run(a.sql("count_documents"), func(row []sqlite.Value) error {
		total = row[0].Int()
		return nil
	}); err != nil {
		return 0, err
	}
	if err := c.Run(a.sql("delete_orphans"), nil); err != nil {
		return 0, err
	}
	changed := c.Changes()
	if err := c.sweepUniques(a); err != nil {
		return changed, err
	}
	var low []any
	for seen := int64(0); ; seen += fillBatch {
		batch := a.fragments(fragments{Hash: verify, above: low != nil, Item: strconv.Itoa(fillBatch - 1)})
		var high []any
		if err := c.Run(batch.sql("batch_end"), func(row []sqlite.Value) error {
			high = sqlite.Copies(row)
			return nil
		}, low...); err != nil {
			return changed, err
		}
		batch.upTo = high != nil
		bounds := slices.Concat(low, high)
		c.progress(a, "rows", float64(seen)/float64(max(total, 1)))
		n := int64(0)
		// Another connection may be filling the same rows in.
		if err := c.Atomically(func() (err error) {
			n, err = c.fillRange(batch, bounds)
			return err
		}); err != nil {
			return changed, err
		}
		changed += n
		if high == nil {
			break
		}
		low = high
	}
	c.progress(a, "", 0)
	return changed, c.Run(a.sql("settle_errors"), nil, a.Name)
}

// sweepUniques brings what is unique in each row up to date. The triggers are made
// anew when the constraints have changed, or a trigger of the user's comes first.
func (c *conn) sweepUniques(a *attachment) error {
	if a.State == stateNext {
		return nil
	}
	same, _, err := c.uniquesAreKnown(a)
	if err != nil {
		return err
	}
	newer, err := c.newerTrigger(a)
	if err != nil {
		return err
	}
	if !same || newer != "" {
		if err := c.Atomically(func() error { return c.register(a, true) }); err != nil {
			return err
		}
	}
	if len(a.Uniques) == 0 {
		return nil
	}
	return c.Exec(a.statements("delete_unique_orphans", "complete_unique"))
}

// newerTrigger is the name of a trigger of the user's that can keep rows from ours.
func (c *conn) newerTrigger(a *attachment) (name string, err error) {
	err = c.Run(a.sql("newer_triggers"), func(row []sqlite.Value) error {
		if !ourTrigger.MatchString(row[0].Text()) && keepsRows.MatchString(row[1].Text()) {
			name = row[0].Text()
		}
		return nil
	}, a.Table, a.Name+"_alike_insert")
	return name, err
}

var (
	ourTrigger = regexp.MustCompile(`_alike_(insert|update|moved|delete|rekey|unique_changed)$`)
	keepsRows  = regexp.MustCompile(`(?i)\bRAISE\s*\(\s*(IGNORE|FAIL)\b`)
)

// fillRange brings a range of rows up to date.
func (c *conn) fillRange(batch fragments, bounds []any) (int64, error) {
	if err := c.Run(batch.sql("is_fresh"), func(row []sqlite.Value) error {
		batch.Fresh = row[0].Int() != 0
		return nil
	}, bounds...); err != nil {
		return 0, err
	}
	err := c.Run(batch.sql("fill"), nil, bounds...)
	if isOfRow(err) {
		return c.oneByOne(batch, bounds)
	}
	return c.Changes(), err
}

// isOfRow tells whether an error is about a document, and not about the database.
func isOfRow(err error) bool {
	var coded *sqlite.Error
	return errors.As(err, &coded) && coded.Code == sqlite.CodeError
}

// drain brings the rows of the queue up to date, with the policy that the
// trigger would have followed.
func (c *conn) drain(a *attachment) (changed int64, err error) {
	one, err := c.checkin(a, a.Policy)
	if err != nil {
		return 0, err
	}
	defer one.close()
	for {
		var queued [][]any
		err := c.Run(a.sql("queued"), func(row []sqlite.Value) error {
			queued = append(queued, sqlite.Copies(row))
			return nil
		}, fillBatch)
		if err != nil || len(queued) == 0 {
			return changed, err
		}
		c.progress(a, fmt.Sprintf("%d queued rows", len(queued)), 0)
		err = c.Atomically(func() error {
			for _, key := range queued {
				if ok, err := one.row(key); err != nil {
					return err
				} else if ok {
					changed++
				}
				if err := c.Run(a.sql("unqueue"), nil, key...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return changed, err
		}
	}
}

// oneByOne does what a batch failed to do row by row, and notes the rows that
// cannot be computed.
func (c *conn) oneByOne(batch fragments, bounds []any) (done int64, err error) {
	var stale [][]any
	if err := c.Run(batch.sql("stale"), func(row []sqlite.Value) error {
		stale = append(stale, sqlite.Copies(row))
		return nil
	}, bounds...); err != nil {
		return 0, err
	}
	one, err := c.checkin(batch.attachment, "ignore")
	if err != nil {
		return 0, err
	}
	defer one.close()
	for _, key := range stale {
		ok, err := one.row(key)
		if err != nil {
			return done, err
		}
		if ok {
			done++
		}
	}
	return done, nil
}

package sqlext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// attach is alike_attach. It gives the number of rows brought up to date.
func attach(c *conn, f *sqlite.Call) error {
	args := f.Args()
	if args[0].Kind != sqlite.Text {
		return fmt.Errorf("the table is %s, want a name", args[0].Describe())
	}
	if args[1].Kind != sqlite.Text {
		return fmt.Errorf("the column is %s, want a name", args[1].Describe())
	}
	var o options
	if err := readJSON(argument(args, 2), &o); err != nil {
		return err
	}
	ref, err := parseReference(args[0].Text())
	if err != nil {
		return err
	}
	t, err := c.findTable(ref)
	if err != nil {
		return err
	}
	column, err := t.column(args[1].Text())
	if err != nil {
		return err
	}
	name := t.name
	if o.Name != nil {
		name = *o.Name
	}
	if err := checkName(name); err != nil {
		return err
	}
	a, err := c.settle(t, column, name, &o)
	if err != nil {
		return err
	}
	n, err := c.fill(a)
	f.SetInt(n)
	return err
}

// maxColumns is the most columns that SQLite's manual recommends to allow in a table.
const maxColumns = 100

// settle brings the registry and the schema to what attach was told, short of
// filling the rows in, and returns the attachment that is to be filled.
func (c *conn) settle(t *table, column, name string, o *options) (a *attachment, err error) {
	if err := c.checkCondition(t, name, o); err != nil {
		return nil, err
	}
	var wanted *settings // once they are known, although what was begun is abandoned
	for {
		abandoned := (*attachment)(nil)
		if err := c.Atomically(func() error {
			var old, begun *attachment
			if a, old, begun, err = c.settings(t, column, name, o, wanted); err != nil {
				return err
			}
			if old != nil && old.needsRebuild(a) {
				a.State, a.generation, wanted = stateNext, old.generation+1, &a.settings
			}
			next := *a
			next.State = stateNext
			if has, err := c.HasColumn(a.schema, next.object(""), "profile"); err != nil {
				return err
			} else if has {
				if a.State == stateNext && begun != nil && !begun.needsRebuild(a) {
					if err := c.number(a); err != nil {
						return err
					}
					return c.register(a, false)
				}
				abandoned = &next
				return c.abandonNext(&next)
			}
			return c.establish(a, old)
		}); err != nil || abandoned == nil {
			return a, err
		}
		if err := c.Exec(abandoned.statements("drop_next")); err != nil {
			return a, err
		}
	}
}

// checkCondition checks the condition that attach was told, or else the one in use.
func (c *conn) checkCondition(t *table, name string, o *options) error {
	if o.Where != nil {
		if *o.Where == "" {
			return nil
		}
		return c.checkWhere(t, *o.Where)
	}
	found, err := c.attachments(t.schema, inUseByName, name)
	if err != nil || len(found) == 0 || found[0].broken != nil || found[0].Where == "" {
		return err
	}
	where, err := c.whereNow(found[0])
	if err != nil {
		return err
	}
	return c.checkWhere(t, where)
}

// settings are those that attach was told, and where it was not, those of a change that
// was begun and is not complete, or those of the attachment as it is. old is that, and
// begun the change; nil where there is none.
func (c *conn) settings(t *table, column, name string, o *options, wanted *settings) (a, old, begun *attachment, err error) {
	a = &attachment{schema: t.schema, Name: name, Table: t.name, Column: column, State: stateFilling, generation: 1, Keys: t.keys, Uniques: t.uniques, stamp: rand.Int64()}
	a.settings = settings{SI: []string{}, Policy: "ignore", By: byResemblance, Matches: defaultMatches, Verify: "sketch", Mode: "compute", Extract: "plain", Layout: layoutColumns, Looked: math.MaxInt64}
	found, err := c.attachments(t.schema, inUseByName, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(found) > 0 {
		if old = found[0]; old.broken != nil {
			return nil, nil, nil, old.broken
		}
		now, err := c.tableNow(old)
		if err != nil {
			return nil, nil, nil, err
		}
		if now != "" && !strings.EqualFold(now, t.name) || now == "" && !strings.EqualFold(old.Table, t.name) {
			return nil, nil, nil, fmt.Errorf("the name %s belongs to an attachment of %s", name, old.Table)
		}
		if !strings.EqualFold(old.Column, column) && now != "" && c.columnNow(old, t) != column {
			return nil, nil, nil, fmt.Errorf("%s is attached to the column %s; give the other column a name of its own", name, old.Column)
		}
		kept := *old // what is read of the registry stays as it is there
		if old = &kept; old.Where != "" {
			if old.Where, err = c.whereNow(old); err != nil {
				return nil, nil, nil, err
			}
		}
		a.settings = old.settings
		if begun, err = c.begun(old, t); err != nil {
			return nil, nil, nil, err
		}
		if begun != nil {
			a.settings = begun.settings
		}
		a.ProfileID, a.generation, a.State = old.ProfileID, old.generation, old.State
		if a.Keys, err = old.Keys.now(old, t); err != nil {
			return nil, nil, nil, err
		}
	}
	if wanted != nil {
		a.settings = *wanted
	} else if err := o.apply(&a.settings); err != nil {
		return nil, nil, nil, err
	}
	if o.Where != nil && a.Where != "" && (old == nil || a.Where != old.Where) {
		if err := c.tryWhere(a); err != nil {
			return nil, nil, nil, err
		}
	}
	if wanted == nil {
		if err := c.choose(a, old, o); err != nil {
			return nil, nil, nil, err
		}
		if old == nil {
			if err := c.takeUp(a, o); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	if a.profile, a.variants, err = a.settings.check(); err != nil {
		return nil, nil, nil, err
	}
	if a.Short != nil && a.Short.AtLeast < a.threshold() {
		return nil, nil, nil, fmt.Errorf("the option short has at_least %g, want %g, that of longer texts, or more", a.Short.AtLeast, a.threshold())
	}
	if err := a.checkClusterKeys(); err != nil {
		return nil, nil, nil, err
	}
	n := len(a.Keys) + len(a.columns())
	if a.OwnRow() {
		n++
	}
	if n > maxColumns {
		return nil, nil, nil, fmt.Errorf("the side table needs %d columns, want at most %d; keep fewer features, superfeatures or similarity indexes", n, maxColumns)
	}
	return a, old, begun, nil
}

// begun is the change of an attachment that is not complete, as it can go on; a change that
// cannot is nil.
func (c *conn) begun(a *attachment, t *table) (*attachment, error) {
	found, err := c.attachments(a.schema, nextByName, a.Name)
	if err != nil || len(found) == 0 || found[0].broken != nil {
		return nil, err
	}
	kept := *found[0]
	if kept.Where, err = c.whereNow(found[0]); err == nil && kept.Where != "" {
		err = c.checkWhere(t, kept.Where)
	}
	return &kept, err
}

// establish writes an attachment into the registry and makes what it needs.
func (c *conn) establish(a, old *attachment) error {
	if err := c.Exec(a.statements("registry")); err != nil {
		return err
	}
	if err := c.number(a); err != nil {
		return err
	}
	switch {
	case old == nil:
		if err := c.makeSide(a); err != nil {
			return err
		}
	case a.State == stateNext:
		// The one in use stays as it is, with the policy it has, until the other is
		// complete.
		if err := c.Exec(a.statements("side")); err != nil {
			return err
		}
		return c.register(a, false)
	default:
		if err := c.Exec(a.statements("match")); err != nil {
			return err
		}
		if !old.Contains && a.State == stateReady {
			if err := c.keepValues(a, true); err != nil {
				return err
			}
		}
	}
	return c.register(a, true)
}

// takeUp gives an attachment what the rows that a detach has kept were made with and attach was not
// told: the profile, the similarity indexes and the superfeatures.
func (c *conn) takeUp(a *attachment, o *options) error {
	has, err := c.HasColumn(a.schema, a.object(""), "sketch")
	if err != nil || !has {
		return err
	}
	if o.Superfeatures == nil {
		if a.Superfeatures, err = c.HasColumn(a.schema, a.object(""), aspect.SuperfeatureColumn(0)); err != nil {
			return err
		}
	}
	if o.SI == nil {
		if err := c.Run("SELECT name FROM pragma_table_info(?1, ?2) ORDER BY cid", func(row []sqlite.Value) error {
			name, ours := strings.CutPrefix(row[0].Text(), "si_")
			if v, err := simindex.Parse(strings.ReplaceAll(name, "_", "/")); ours && err == nil {
				a.SI = append(a.SI, v.String())
			}
			return nil
		}, a.object(""), a.schema); err != nil {
			return err
		}
	}
	if o.Profile != nil || o.AtLeast.given || o.Recall.given || o.Common.given {
		return nil
	}
	return c.Run("SELECT sketch FROM "+sqlite.Quote(a.schema)+"."+sqlite.Quote(a.object(""))+" WHERE sketch IS NOT NULL LIMIT 1", func(row []sqlite.Value) error {
		// A profile of other tokens, or with a list that may be gone, is no profile for new rows.
		if p, err := sketch.ProfileOf(row[0].Bytes()); err == nil && p.Tokens == 0 && p.Without == 0 && p.String() != a.Profile {
			a.Profile, a.Preset, a.Recall = p.String(), "", nil
			a.recognize(p)
			a.Reason, a.Looked = "the rows that a detach kept have this profile", math.MaxInt64
		}
		return nil
	})
}

// recognize finds the preset that a profile is, with the filter that attach chooses for it.
func (a *attachment) recognize(p sketch.Profile) {
	for _, preset := range sketch.Presets() {
		q, err := storedProfile(preset.Name)
		if err == nil && preset.Background != 0 {
			err = q.Follow(preset.AtLeast, sketch.FilterRecall, preset.Background)
		}
		if err != nil || q != p {
			continue
		}
		if a.Preset = preset.Name; preset.Background != 0 {
			recall := sketch.FilterRecall
			a.Recall = &recall
		}
	}
}

// makeSide makes the tables and views of a new attachment, or takes up those
// that a detach has kept.
func (c *conn) makeSide(a *attachment) error {
	var kept []string
	if err := c.Run("SELECT name FROM pragma_table_info(?1, ?2) ORDER BY cid", func(row []sqlite.Value) error {
		kept = append(kept, row[0].Text())
		return nil
	}, a.object(""), a.schema); err != nil {
		return err
	}
	if kept == nil {
		return c.Exec(a.statements("side", "match", "views"))
	}
	var columns []string
	for _, k := range a.Keys {
		columns = append(columns, k.Name)
	}
	for _, column := range a.columns() {
		columns = append(columns, strings.Trim(column, `"`))
	}
	if a.OwnRow() {
		columns = append(columns, "alike__row")
	}
	if !slices.Equal(kept, columns) {
		return fmt.Errorf("the table %s exists and has other columns than this attachment needs; alike_detach(%s, '{\"drop\": true}') drops it, or give the attachment another name", a.object(""), literal(a.Name))
	}
	return c.Exec(a.statements("drop_views", "source", "match", "views"))
}

// abandonNext forgets a change that was begun and not finished. Its table is left.
func (c *conn) abandonNext(a *attachment) error {
	next := *a
	next.State = stateNext
	if err := c.Run(next.sql("drop_source"), nil); err != nil {
		return err
	}
	if has, err := c.HasColumn(a.schema, "alike_attachment", "name"); err != nil || !has {
		return err
	}
	return c.Run(a.sql("forget_next"), nil, a.Name)
}

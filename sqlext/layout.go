package sqlext

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// This file, sql/columns.sql and sql/parts.sql store the features of the rows so that
// equal features are found quickly.

const (
	layoutColumns = "columns" // an index for each feature
	layoutParts   = "parts"   // entries of all features in a few tables
)

// shape sets the size of the parts: list is the number of rows in the list when it becomes
// entries, and slices the number of steps in which each table moves all of its features to
// the table below. A table with n slices holds the rows of n/2 lists, so a slice is merged
// into eight times as many entries in the table below; in the last table, too, at ten
// million rows.
var shape = partShape{list: 256, slices: []int64{16, 256, 4096}}

type partShape struct {
	list   int
	slices []int64
}

// InParts tells whether the features are found through parts. An attachment that is not
// ready yet has no parts; it uses the statements of columns, without the indexes.
func (a *attachment) InParts() bool { return a.Layout == layoutParts && a.State == stateReady }

// Features returns the columns of the side table that hold a feature each.
func (a *attachment) Features() []string {
	list := make([]string, a.profile.K)
	for i := range list {
		list[i] = aspect.FeatureColumn(i)
	}
	return list
}

// SuperfeatureColumns returns the columns of the side table that hold a superfeature each.
func (a *attachment) SuperfeatureColumns() []string {
	if !a.Superfeatures {
		return nil
	}
	list := make([]string, a.profile.Superfeatures())
	for i := range list {
		list[i] = aspect.SuperfeatureColumn(i)
	}
	return list
}

// Numbers returns the columns of the side table that can have an index each.
func (a *attachment) Numbers() []string {
	return slices.Concat(a.Features(), a.SuperfeatureColumns(), a.Indexes())
}

// indexed returns the columns that get an index each once the rows are filled in.
func (a *attachment) indexed() []string {
	if a.Layout == layoutParts {
		return a.Indexes()
	}
	return a.Numbers()
}

// OwnRow tells whether the side table numbers its rows in a column of its own. Entries name
// rows by number, and VACUUM or a dump can change a rowid that no column holds.
func (a *attachment) OwnRow() bool { return a.Layout == layoutParts && !a.Keys.Rowid() }

// Row is the name of the side table's rowid.
func (f fragments) Row() string {
	if f.OwnRow() {
		return "alike__row"
	}
	return f.Keys.Row()
}

// Union returns a compound of a SELECT for each feature, made by the template arm, and of
// the further templates.
func (f fragments) Union(arm string, further ...string) string {
	var arms []string
	for i, column := range f.Features() {
		f.Item, f.Number = column, i+1
		arms = append(arms, f.sql(arm))
	}
	return compound(append(arms, f.each(further)...))
}

func (f fragments) each(names []string) []string {
	var arms []string
	for _, name := range names {
		arms = append(arms, f.sql(name))
	}
	return arms
}

// Candidates returns a SELECT of the rows that share a feature with the row of a checkin,
// compounded with the further templates.
func (f fragments) Candidates(further ...string) string {
	if !f.InParts() {
		return f.Union("newest_with_feature", further...)
	}
	return compound(f.each(append([]string{"newest_of_slots", "newest_of_list"}, further...)))
}

// SharedFeatures counts the features that two rows have in common.
func (f fragments) SharedFeatures(p, q string) string {
	return f.countEqual(p, func(i int, column string) string { return q + "." + column })
}

// SharedWithGiven counts the features that a row has in common with the parameters.
func (f fragments) SharedWithGiven(p string) string {
	return f.countEqual(p, func(i int, _ string) string { return "?" + strconv.Itoa(i+1) })
}

func (f fragments) countEqual(p string, with func(i int, column string) string) string {
	list := f.Features()
	for i, column := range list {
		list[i] = "ifnull(" + p + "." + column + " = " + with(i, column) + ", 0)"
	}
	return balanced(" + ", list)
}

// Shares is true when two rows have a feature in common. The expression does not nest
// deeper with more features.
func (f fragments) Shares(p, q string) string {
	list := f.Features()
	for i, column := range list {
		list[i] = "WHEN " + p + "." + column + " = " + q + "." + column + " THEN 1"
	}
	return "CASE " + strings.Join(list, " ") + " END"
}

// Given lists the parameters for the features.
func (f fragments) Given() string {
	return f.list(func(i int, _ string) string { return "?" + strconv.Itoa(i+1) })
}

// FeatureList lists the features of a row, and OldList its former features in part_new.
func (f fragments) FeatureList(prefix string) string {
	return f.list(func(_ int, column string) string { return qualified(prefix, column) })
}

func (f fragments) OldList(prefix string) string {
	return f.list(func(i int, _ string) string { return qualified(prefix, f.OldFeatures()[i]) })
}

func (f fragments) OldFeatures() []string {
	list := f.Features()
	for i := range list {
		list[i] = "o" + strconv.Itoa(i+1)
	}
	return list
}

func (f fragments) list(each func(i int, column string) string) string {
	list := f.Features()
	for i, column := range list {
		list[i] = each(i, column)
	}
	return strings.Join(list, ", ")
}

// Slots is a table n of the numbers of the features. FeatureOf is the feature with the
// number in n, from a row's columns f1, f2 and so on, or o1, o2.
func (f fragments) Slots() string {
	return "(VALUES " + f.list(func(i int, _ string) string { return "(" + strconv.Itoa(i+1) + ")" }) + ") n"
}

func (f fragments) FeatureOf(prefix, letter string) string {
	list := f.Features()
	for i := range list {
		n := strconv.Itoa(i + 1)
		list[i] = "WHEN " + n + " THEN " + prefix + "." + letter + n
	}
	return "CASE n.column1 " + strings.Join(list, " ") + " END"
}

// Part returns the name of an object of the layout, in the generation of the side table.
func (f fragments) Part(what string) string {
	name := f.Name + partOf + what
	if f.generation > 1 {
		name += "_" + strconv.FormatInt(f.generation, 10)
	}
	return f.inTrigger(sqlite.Quote(name))
}

const partOf = "_alike_part_"

// partTable is a table of entries. Levels count from 1; a table hands its entries down to
// the next level.
type partTable struct{ fragments }

// Tables returns the tables of entries. New entries go into the first.
func (f fragments) Tables() []partTable {
	list := make([]partTable, len(shape.slices)+1)
	for i := range list {
		f.Level = i + 1
		list[i] = partTable{f}
	}
	return list
}

// Listed is the length at which the list becomes entries. At each multiple of Every below it,
// one table hands a range down.
func (f fragments) Listed() int { return shape.list }
func (f fragments) Every() int  { return shape.list / (len(shape.slices) + 1) }

func (t partTable) sql(name string) string { return executed(name, t) }

func (t partTable) First() bool        { return t.Level == 1 }
func (t partTable) Last() bool         { return t.Level > len(shape.slices) }
func (t partTable) Entries() string    { return t.Part(strconv.Itoa(t.Level)) }
func (t partTable) Below() partTable   { return t.Tables()[t.Level] }
func (t partTable) Above() []partTable { return t.Tables()[:t.Level-1] }
func (t partTable) MinInt() int64      { return math.MinInt64 }
func (t partTable) MaxInt() int64      { return math.MaxInt64 }

// MaxEntries is the largest number of entries handed down in one step: twice as many as updates
// bring between two steps, two for each feature.
func (t partTable) MaxEntries() int { return 4 * shape.list * t.profile.K }

// RowsForSlices is the number of rows from which a step hands down one slice. The table then
// has the entries of an eighth of the rows.
func (t partTable) RowsForSlices() int64 { return 4 * t.Slices() * int64(shape.list) }

// Slices is the number of ranges of equal width that the features are cut into, and Width
// the number of values in each.
func (t partTable) Slices() int64     { return shape.slices[t.Level-1] }
func (t partTable) HalfSlices() int64 { return t.Slices() / 2 }
func (t partTable) Width() int64      { return math.MaxInt64/t.HalfSlices() + 1 }
func (t partTable) WidthLess1() int64 { return t.Width() - 1 }

// Arms returns a compound of a SELECT for each table of entries, made by the template arm,
// and of the template list, which reads the list.
func (f fragments) Arms(arm, list string) string {
	return compound(append(f.ofTables(arm), f.sql(list)))
}

// ArmsOfTables is the same without the list.
func (f fragments) ArmsOfTables(arm string) string { return compound(f.ofTables(arm)) }

func (f fragments) ofTables(arm string) []string {
	var arms []string
	for _, table := range f.Tables() {
		arms = append(arms, table.sql(arm))
	}
	return arms
}

// parts returns statements that drop the triggers and tables of this layout that a schema
// has for an attachment. With keep it leaves out those in use.
func (c *conn) parts(a *attachment, keep bool) (triggers, tables []string, err error) {
	type object struct {
		kind, name, what string
		generation       int64
	}
	var list []object
	err = c.Run(a.sql("objects_of_parts"), func(row []sqlite.Value) error {
		kind, name := row[0].Text(), row[1].Text()
		n := len(a.Name) + len(partOf)
		if len(name) <= n || !strings.EqualFold(name[:n], a.Name+partOf) {
			return nil
		}
		words := strings.Split(name[n:], "_")
		if words[0] == "step" && len(words) > 1 {
			words = words[1:]
		}
		generation := int64(1)
		if len(words) == 2 {
			if generation, err = strconv.ParseInt(words[1], 10, 64); err != nil {
				return nil // the name belongs to something else
			}
		}
		names := []string{"new", "sweep", "insert", "update", "move", "delete", "full"}
		for _, table := range a.fragments(fragments{}).Tables() {
			names = append(names, strconv.Itoa(table.Level))
		}
		if len(words) <= 2 && slices.Contains(names, words[0]) {
			list = append(list, object{kind, name, words[0], generation})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	// A table of somebody else can have such a name.
	list = slices.DeleteFunc(list, func(o object) bool {
		if o.kind != "table" || err != nil {
			return false
		}
		column := map[string]string{"new": "o1", "sweep": "to_feature"}[o.what]
		if column == "" {
			column = "feature"
		}
		has := false
		has, err = c.HasColumn(a.schema, o.name, column)
		return !has
	})
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	// The registry is read after the list: a generation that another connection puts into
	// use in between is not in the list.
	used := int64(0)
	if keep {
		inUse, err := c.attachments(a.schema, inUseByName, a.Name)
		if err != nil {
			return nil, nil, err
		}
		if len(inUse) > 0 && inUse[0].InParts() {
			used = inUse[0].generation
		}
	}
	for _, o := range list {
		drop := fmt.Sprintf("DROP %s IF EXISTS %s.%s", strings.ToUpper(o.kind), sqlite.Quote(a.schema), sqlite.Quote(o.name))
		switch {
		case o.generation == used:
		case o.kind == "trigger":
			triggers = append(triggers, drop)
		default:
			tables = append(tables, drop)
		}
	}
	return triggers, tables, nil
}

// dropParts runs the statements of parts.
func (c *conn) dropParts(a *attachment) error {
	triggers, tables, err := c.parts(a, false)
	if err != nil {
		return err
	}
	return c.Exec(append(triggers, tables...))
}

// step is alike__step: it takes the step of the parts that is due after the checkin of a row.
// Where two copies of a database are attached, the trigger does not tell which is meant, and
// the list that has the row does.
func step(c *conn, f *sqlite.Call) error {
	args := f.Args()
	list, err := c.namedByTrigger(args)
	if err != nil {
		return err
	}
	for _, a := range list {
		meant := a.InParts() && len(list) == 1
		if a.InParts() && !meant {
			if err := c.each(a, "is_listed", func([]sqlite.Value) error { meant = true; return nil }, args[2].Int()); err != nil {
				return err
			}
		}
		if meant {
			if err := c.each(a, "take_step", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// merging describes the progress of the parts.
func (c *conn) merging(a *attachment) (text string, err error) {
	err = c.Run(a.sql("progress_of_parts"), func(row []sqlite.Value) error {
		if text == "" {
			text = fmt.Sprintf("%d of %d rows listed; ", row[0].Int(), shape.list)
		} else {
			text += ", "
		}
		if level := row[1].Int(); level >= 1 && level <= int64(len(shape.slices)) {
			text += fmt.Sprintf("part %d at slice %d of %d", level, row[2].Int()+1, shape.slices[level-1])
		}
		return nil
	})
	return text, err
}

// leaveParts drops the views and triggers of the parts in the transaction of a detach. If
// the detach keeps a side table, its views are made anew without the parts.
func (c *conn) leaveParts(a *attachment, keep bool) error {
	triggers, tables, err := c.parts(a, false)
	if err != nil || len(tables) == 0 {
		return err
	}
	statements := append(triggers, a.statements("drop_views")...)
	if a.broken == nil && keep {
		kept := *a
		kept.State = stateFilling
		statements = append(statements, kept.statements("views")...)
	}
	return c.Exec(statements)
}

package sqlext

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// The SQL of the aspect. The files are templates: a table has as many feature
// columns as its profile has features. Each holds the statement of its name, or the
// statements that it defines.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"quote": sqlite.Quote, "text": literal, "list": func(list ...string) []string { return list }}).ParseFS(sqlFiles, "sql/*.sql"))

// fragments are the pieces of SQL that a template puts together: those of the
// attachment, and what the one statement is about.
type fragments struct {
	*attachment
	Event  string // new, old or ?: whose key is meant
	Item   string // a column
	Number int    // of a feature, from 1
	Level  int    // of a table of entries, from 1
	Hash   bool   // whether documents are compared by their content
	Fresh  bool   // whether the side table has nothing in the range
	above  bool   // whether the range of keys has a lower bound,
	upTo   bool   // and an upper one
}

func (a *attachment) fragments(f fragments) fragments {
	f.attachment = a
	return f
}

// sql is a statement that is about the attachment alone.
func (a *attachment) sql(name string) string { return a.fragments(fragments{}).sql(name) }

// statements are several of them.
func (a *attachment) statements(names ...string) []string {
	var list []string
	for _, name := range names {
		list = append(list, a.fragments(fragments{}).statements(name)...)
	}
	return list
}

// sql executes a template.
func (f fragments) sql(name string) string { return executed(name, f) }

func executed(name string, data any) string {
	if templates.Lookup(name) == nil {
		name += ".sql"
	}
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // a template of ours that does not fit its data
	}
	return b.String()
}

// divider stands between statements. It is in no name and no text that reaches a
// template, so what is between two dividers is compiled as one statement or refused.
const divider = "\x00"

// statements executes a template of several statements.
func (f fragments) statements(name string) []string {
	return slices.DeleteFunc(strings.Split(f.sql(name), divider), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// Next ends a statement of a file with several.
func (f fragments) Next() string { return divider }

// End ends a statement of a trigger's body, or the same one outside of the trigger.
func (f fragments) End() string {
	if f.Event == "?" {
		return divider
	}
	return ";"
}

func (f fragments) At(row string) fragments {
	f.Event = row
	return f
}

// object names an object that belongs to the attachment.
func (a *attachment) object(what string) string {
	name := a.Name + "_alike"
	if a.State == stateNext {
		name += "_next"
	}
	if what != "" {
		name += "_" + what
	}
	return name
}

func (f fragments) Object(what string) string { return sqlite.Quote(f.Name + "_alike_" + what) }
func (f fragments) Side() string              { return f.inTrigger(sqlite.Quote(f.object(""))) }
func (f fragments) Source() string            { return f.inTrigger(sqlite.Quote(f.object("source"))) }
func (f fragments) Match() string             { return f.inTrigger(f.Object("match")) }
func (f fragments) Mark() string              { return f.inTrigger(f.Object("mark")) }
func (f fragments) Queue() string             { return f.inTrigger(f.Object("queue")) }
func (f fragments) Values() string            { return f.inTrigger(f.Object("value")) }
func (f fragments) Clusters() string          { return f.inTrigger(f.Object("cluster")) }
func (f fragments) Events() string            { return f.inTrigger(f.Object("event")) }
func (f fragments) KeepsClusters() bool       { return f.settings.Clusters > 0 }
func (f fragments) Stamp() int64              { return f.stamp }
func (f fragments) Unique() string            { return f.inTrigger(f.Object("unique")) }
func (f fragments) Schema() string            { return sqlite.Quote(f.schema) }
func (f fragments) In(object string) string   { return f.Schema() + "." + object }

// inTrigger is a name as a statement of a trigger has it, where it means the trigger's
// schema; outside of the trigger the same statement names the schema.
func (f fragments) inTrigger(name string) string {
	if f.Event == "?" {
		return f.In(name)
	}
	return name
}

// InUse is the side table that a change in progress is to replace, and Old what it
// is called then, until it is dropped.
func (f fragments) InUse() string { return sqlite.Quote(f.Name + "_alike") }
func (f fragments) Old() string   { return f.Object("old") }

// Index names the index on a column; the side tables of two generations exist
// side by side and SQLite cannot rename an index.
func (f fragments) Index(column string) string {
	name := f.Name + "_alike_" + strings.Trim(column, `"`)
	if f.generation > 1 {
		name += "_" + strconv.FormatInt(f.generation, 10)
	}
	return sqlite.Quote(name)
}

// isOldIndex tells whether a name is that of the index on a column in another
// generation.
func (a *attachment) isOldIndex(name, column string) bool {
	first := a.Name + "_alike_" + strings.Trim(column, `"`)
	generation, ok := strings.CutPrefix(name, first+"_")
	if !ok && name != first {
		return false
	}
	if _, err := strconv.ParseUint(generation, 10, 63); ok && err != nil {
		return false
	}
	return a.fragments(fragments{}).Index(column) != sqlite.Quote(name)
}

func (f fragments) IndexedBy(column string) string {
	if f.State != stateReady {
		return ""
	}
	return "INDEXED BY " + f.Index(column)
}

func (a *attachment) Indexes() []string {
	list := make([]string, len(a.variants))
	for i, v := range a.variants {
		list[i] = sqlite.Quote(v.Column())
	}
	return list
}

// compound joins SELECTs with UNION ALL. SQLite's manual recommends to allow hostile SQL
// no more than three SELECTs in a compound, and a schema with more of them would be
// malformed to a program that does; so they are nested by three.
func compound(arms []string) string {
	if len(arms) > 3 {
		parts := make([]string, 3)
		for i := range parts {
			parts[i] = compound(arms[len(arms)*i/3 : len(arms)*(i+1)/3])
			if strings.Contains(parts[i], unionAll) {
				parts[i] = "SELECT * FROM (" + parts[i] + ")"
			}
		}
		arms = parts
	}
	return strings.Join(arms, unionAll)
}

const unionAll = "\nUNION ALL "

// balanced joins operands of an operator so that the expression is as flat as can be:
// the manual recommends a depth of at most ten.
func balanced(operator string, operands []string) string {
	switch n := len(operands); n {
	case 1:
		return operands[0]
	case 2:
		return operands[0] + operator + operands[1]
	default:
		return "(" + balanced(operator, operands[:n/2]) + ")" + operator + "(" + balanced(operator, operands[n/2:]) + ")"
	}
}

// Range limits the keys to those above and up to the parameters.
func (f fragments) Range(prefix string) string { return f.Keys.between(prefix, f.above, f.upTo) }

// SideColumns are the columns of the side table, and RowColumns what fills those
// after the key.
func (f fragments) SideColumns() string {
	return f.Keys.List("") + ", " + strings.Join(f.columns(), ", ")
}

func (f fragments) RowColumns(row string) string {
	list := f.columns()
	for i := range list {
		list[i] = "alike__cell(" + row + ", " + strconv.Itoa(i+1) + ")"
	}
	return strings.Join(list, ", ")
}

func (a *attachment) columns() []string {
	return slices.Concat([]string{"profile", "content_hash", "shingles", "sketch"}, a.Numbers(), []string{"sketched_at"})
}

// SetExcluded gives a row of the side table the values of the row that conflicts with it.
func (f fragments) SetExcluded() string {
	list := f.columns()
	for i, column := range list {
		list[i] = column + " = excluded." + column
	}
	return strings.Join(list, ", ")
}

// Newest is how many of the rows that share a feature a checkin looks at, the
// newest of them: a checkin takes ten milliseconds at most, however many
// rows have a letterhead in common. The questions look at all.
func (f fragments) Newest() int { return maxMatches }

// Judged is what a function says of the sketches of a and b, unless their documents
// were read and say it.
func (f fragments) Judged(function string) string {
	if f.Verify == "text" {
		return "coalesce(c.exact, " + function + "(a.sketch, b.sketch))"
	}
	return function + "(a.sketch, b.sketch)"
}

// Threshold is the resemblance from which the policy counts two rows as alike.
func (f fragments) Threshold() string { return strconv.FormatFloat(f.threshold(), 'g', -1, 64) }

// uniqueColumns are the columns of the user's table that are unique, alone or with
// others, each once.
func (f fragments) uniqueColumns() []string {
	var list []string
	for _, u := range f.Uniques {
		for _, column := range u.columns {
			if !slices.Contains(list, column) {
				list = append(list, column)
			}
		}
	}
	return list
}

func (f fragments) UniqueColumns(prefix string) string {
	list := f.uniqueColumns()
	for i := range list {
		list[i] = qualified(prefix, list[i])
	}
	return strings.Join(list, ", ")
}

// uniqueName is the name of such a column in our table.
func uniqueName(column string) string {
	if name, ok := strings.CutPrefix(column, `"`); ok {
		return `"unique_` + name
	}
	return `"unique_` + column + `"`
}

func (f fragments) UniqueList() string {
	return f.uniqueNames(func(name string) string { return name })
}

func (f fragments) UniqueExcluded() string {
	return f.uniqueNames(func(name string) string { return name + " = excluded." + name })
}

func (f fragments) UniqueNew() string {
	return f.uniqueNames(func(name string) string { return "excluded." + name })
}

func (f fragments) uniqueNames(each func(string) string) string {
	list := f.uniqueColumns()
	for i, column := range list {
		list[i] = each(uniqueName(column))
	}
	return strings.Join(list, ", ")
}

// UniqueSets are, for each unique constraint, the condition that a row had what new
// has. The sign takes the affinity away, which would keep the index from being used.
func (f fragments) UniqueSets() []string {
	return f.uniqueSets(func(parts []string) string { return balanced(" AND ", parts) }, func(column, collation string) string {
		return uniqueName(column) + collation + " = +new." + column
	})
}

// UniqueIndexes are the columns of the index for each.
func (f fragments) UniqueIndexes() []string {
	return f.uniqueSets(func(parts []string) string { return strings.Join(parts, ", ") }, func(column, collation string) string { return uniqueName(column) + collation })
}

func (f fragments) uniqueSets(join func([]string) string, each func(column, collation string) string) []string {
	var sets []string
	for _, u := range f.Uniques {
		var parts []string
		for i, column := range u.columns {
			collation := ""
			if u.collations[i] != "" && !strings.EqualFold(u.collations[i], "BINARY") {
				collation = " COLLATE " + sqlite.Quote(u.collations[i])
			}
			parts = append(parts, each(column, collation))
		}
		if set := join(parts); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return sets
}

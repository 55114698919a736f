package sqlext

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

// The SQL of the aspect. The files are templates: a table has as many feature
// columns as its profile has features.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote, "text": literal}).ParseFS(sqlFiles, "sql/*.sql"))

// literal writes a text constant as SQL does.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// attachment is one aspect of one table, as the registry has it.
type attachment struct {
	schemaName string
	settings
	Name       string
	Table      string
	Column     string
	ProfileID  int64
	State      string // filling, ready, or next: being built beside the one in use
	generation int64
	stamp      int64
	Keys       []key
	KeyIsRowid bool // the side table's key is its INTEGER PRIMARY KEY
	Uniques    []unique
	profile    sketch.Profile
	variants   []simindex.Variant
	queries    map[string]string // by template and column, once made

	// What a template is executed for.
	Row0   string // new, old or ?: whose key is meant
	Item   string
	Verify bool
	Fresh  bool // the side table has nothing in the range
	from   int  // parameters of the lower bound of a range; 0 is none
	upto   int
}

// settings are what the options of attach decide.
type settings struct {
	Profile string // canonical, with the bits that are stored
	SI      []string
	Policy  string
	AtLeast *float64
	Mode    string
	Where   string
	Extract string
}

const (
	stateFilling = "filling"
	stateReady   = "ready"
	stateNext    = "next"
)

// key is a column of the key: its name in the side table, and the expression
// for it in the user's.
type key struct {
	Name     string
	Expr     string // a quoted column, or an alias of rowid
	Type     string
	Collate  string
	isRowid  bool
	composed bool // one of several columns
}

func (k key) declared() string {
	s := quote(k.Name)
	if k.Type != "" {
		s += " " + k.Type
	}
	if k.Collate != "" && !strings.EqualFold(k.Collate, "BINARY") {
		s += " COLLATE " + quote(k.Collate)
	}
	return s
}

// blobs says whether the column is one for blobs, or for anything.
func (k key) blobs() bool { return k.Type == "" || strings.Contains(strings.ToUpper(k.Type), "BLOB") }

// Definition is the column in the side table.
func (k key) Definition() string {
	if k.isRowid {
		return quote(k.Name) + " INTEGER PRIMARY KEY"
	}
	return k.declared() + " NOT NULL"
}

// Column and OtherColumn are the columns in the tables about pairs.
func (k key) Column() string { return k.declared() + " NOT NULL" }

func (k key) OtherColumn() string {
	k.Name = k.other()
	return k.Column()
}

func (k key) other() string {
	if k.composed {
		return "other_" + k.Name
	}
	return "other"
}

// unique is a constraint of the user's table through which a REPLACE can remove
// a row of another key without a trigger.
type unique struct{ columns, collations []string }

// Object names an object that belongs to the attachment.
func (a attachment) object(what string) string {
	name := a.Name + "_alike"
	if a.State == stateNext {
		name += "_next"
	}
	if what != "" {
		name += "_" + what
	}
	return name
}

func (a attachment) Object(what string) string { return quote(a.Name + "_alike_" + what) }
func (a attachment) Side() string              { return quote(a.object("")) }
func (a attachment) Source() string            { return quote(a.object("source")) }
func (a attachment) Match() string             { return a.Object("match") }
func (a attachment) Mark() string              { return a.Object("mark") }
func (a attachment) Queue() string             { return a.Object("queue") }
func (a attachment) Replaced() string          { return a.Object("replaced") }
func (a attachment) Schema() string            { return quote(a.schemaName) }
func (a attachment) In(object string) string   { return a.Schema() + "." + object }

// Index names the index on a column; the side tables of two generations exist
// side by side and SQLite cannot rename an index.
func (a attachment) Index(column string) string {
	name := a.Name + "_alike_" + strings.Trim(column, `"`)
	if a.generation > 1 {
		name += "_" + strconv.FormatInt(a.generation, 10)
	}
	return quote(name)
}

func (a attachment) IndexedBy(column string) string {
	if a.State != stateReady {
		return ""
	}
	return "INDEXED BY " + a.Index(column)
}

// Features and Indexes are the columns with an index each.
func (a attachment) Features() []string {
	list := make([]string, a.profile.K)
	for i := range list {
		list[i] = aspect.FeatureColumn(i)
	}
	return list
}

func (a attachment) Indexes() []string {
	list := make([]string, len(a.variants))
	for i, v := range a.variants {
		list[i] = quote(v.Column())
	}
	return list
}

func (a attachment) Slot(i int) int { return i + 1 }

// Row is the name of the side table's rowid.
func (a attachment) Row() string {
	if a.KeyIsRowid {
		return quote(a.Keys[0].Name)
	}
	return rowidName(func(name string) bool {
		for _, k := range a.Keys {
			if strings.EqualFold(k.Name, name) {
				return true
			}
		}
		return false
	})
}

// rowidName is a name of the rowid that no column has taken.
func rowidName(taken func(string) bool) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !taken(name) {
			return name
		}
	}
	return ""
}

func (a attachment) join(separator string, each func(k key) string) string {
	parts := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		parts[i] = each(k)
	}
	return strings.Join(parts, separator)
}

func dotted(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

func (a attachment) KeyList(prefix string) string {
	return a.join(", ", func(k key) string { return dotted(prefix, quote(k.Name)) })
}

func (a attachment) Others(prefix string) string {
	return a.join(", ", func(k key) string { return dotted(prefix, quote(k.other())) })
}

func (a attachment) OthersAs(prefix string) string {
	return a.join(", ", func(k key) string { return dotted(prefix, quote(k.Name)) + " AS " + quote(k.other()) })
}

func (a attachment) TableKeys(prefix string) string {
	return a.join(", ", func(k key) string { return dotted(prefix, k.Expr) })
}

func (a attachment) KeysKnown() string {
	if a.KeyIsRowid {
		return "1"
	}
	return a.join(" AND ", func(k key) string { return k.Expr + " IS NOT NULL" })
}

// KeyIs compares the key of a side table with that of new, of old, or with
// parameters.
func (a attachment) KeyIs(prefix, row string) string {
	i := 0
	return a.join(" AND ", func(k key) string {
		i++
		return dotted(prefix, quote(k.Name)) + " = " + a.given(k, row, i)
	})
}

func (a attachment) OtherIs(prefix, row string) string {
	i := 0
	return a.join(" AND ", func(k key) string {
		i++
		return dotted(prefix, quote(k.other())) + " = " + a.given(k, row, i)
	})
}

func (a attachment) given(k key, row string, i int) string {
	if row == "?" {
		return "?" + strconv.Itoa(i)
	}
	return row + "." + k.Expr
}

func (a attachment) Same(p, q string) string {
	return a.join(" AND ", func(k key) string { return dotted(p, quote(k.Name)) + " = " + dotted(q, quote(k.Name)) })
}

// SameOther compares the other key of p with the key of q.
func (a attachment) SameOther(p, q string) string {
	return a.join(" AND ", func(k key) string { return dotted(p, quote(k.other())) + " = " + dotted(q, quote(k.Name)) })
}

func (a attachment) SetKey(row string) string {
	return a.join(", ", func(k key) string { return quote(k.Name) + " = " + row + "." + k.Expr })
}

func (a attachment) SetOther(row string) string {
	return a.join(", ", func(k key) string { return quote(k.other()) + " = " + row + "." + k.Expr })
}

// KeyOut is the key as one value, as keyText gives it.
func (a attachment) KeyOut(prefix string) string {
	return a.keyOut(prefix, func(k key) string { return k.Name })
}

// OtherOut is the same of the other row.
func (a attachment) OtherOut(prefix string) string { return a.keyOut(prefix, key.other) }

func (a attachment) keyOut(prefix string, name func(key) string) string {
	if len(a.Keys) == 1 {
		return dotted(prefix, quote(name(a.Keys[0])))
	}
	return "json_array(" + a.join(", ", func(k key) string {
		column := dotted(prefix, quote(name(k)))
		return "CASE typeof(" + column + ") WHEN 'blob' THEN '" + hexadecimal + "' || lower(hex(" + column + ")) ELSE " + column + " END"
	}) + ")"
}

// Range limits the keys to those above and up to the parameters.
func (a attachment) Range(prefix string) string {
	compare := func(operator string, first int) string {
		marks := make([]string, len(a.Keys))
		for i := range marks {
			marks[i] = "?" + strconv.Itoa(first+i)
		}
		return "(" + a.KeyList(prefix) + ") " + operator + " (" + strings.Join(marks, ", ") + ")"
	}
	var parts []string
	if a.from > 0 {
		parts = append(parts, compare(">", 1))
	}
	if a.upto > 0 {
		parts = append(parts, compare("<=", a.from+1))
	}
	if parts == nil {
		return "1"
	}
	return strings.Join(parts, " AND ")
}

// SideColumns are the columns of the side table, and RowColumns what fills those
// after the profile.
func (a attachment) SideColumns() string {
	return a.KeyList("") + ", profile, " + strings.Join(a.columns(a.Indexes()), ", ")
}

func (a attachment) RowColumns(prefix string) string {
	numbered := make([]string, len(a.SI))
	for i := range numbered {
		numbered[i] = "s" + strconv.Itoa(i+1)
	}
	list := a.columns(numbered)
	for i := range list {
		list[i] = dotted(prefix, list[i])
	}
	return strings.Join(list, ", ")
}

func (a attachment) columns(indexes []string) []string {
	list := append([]string{"content_hash", "shingles", "sketch"}, a.Features()...)
	return append(append(list, indexes...), "sketched_at")
}

// SetExcluded makes a row of the side table the one that was to be inserted.
func (a attachment) SetExcluded() string {
	list := append([]string{"profile"}, a.columns(a.Indexes())...)
	for i, column := range list {
		list[i] = column + " = excluded." + column
	}
	return strings.Join(list, ", ")
}

// SharedFeatures counts the features that two rows have in common.
func (a attachment) SharedFeatures(p, q string) string {
	list := a.Features()
	for i, f := range list {
		list[i] = "ifnull(" + p + "." + f + " = " + q + "." + f + ", 0)"
	}
	return strings.Join(list, " + ")
}

// Newest is how many of the rows that share a feature a checkin looks at, the
// newest of them: a checkin takes some ten milliseconds at most, however many
// rows have a letterhead in common. The questions look at all.
func (a attachment) Newest() int { return 1000 }

// RowSettings is what alike__row is told.
func (a attachment) RowSettings() string {
	return a.Profile + "\n" + strings.Join(a.SI, ",") + "\n" + a.Extract
}

func (a attachment) threshold() float64 {
	if a.AtLeast != nil {
		return *a.AtLeast
	}
	return sketch.HalfPoint(a.profile.K, a.profile.S, a.profile.R)
}

// Threshold is the resemblance from which the policy counts two rows as alike.
func (a attachment) Threshold() string { return strconv.FormatFloat(a.threshold(), 'g', -1, 64) }

func (a attachment) At(row string) attachment {
	a.Row0 = row
	return a
}

// Conflicts is true for the rows of the user's table that stand in the way of new.
func (a attachment) Conflicts(prefix string) string {
	var alternatives []string
	for _, u := range a.Uniques {
		var parts []string
		for i, column := range u.columns {
			part := dotted(prefix, column) + " = new." + column
			if u.collations[i] != "" {
				part += " COLLATE " + quote(u.collations[i])
			}
			parts = append(parts, part)
		}
		alternatives = append(alternatives, strings.Join(parts, " AND "))
	}
	return strings.Join(alternatives, " OR ")
}

// sql executes a template.
func (a attachment) sql(name string) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name+".sql", a); err != nil {
		panic(err) // a template of ours that does not fit its data
	}
	return b.String()
}

// ours matches the names of columns that the aspect's own tables have.
var ours = regexp.MustCompile(`(?i)^(profile|content_hash|shingles|sketch|sketched_at|f[0-9]+|si_.*|other|other_.*|slot|feature|document|shared|resemblance|low|high|policy|matched_at|verdict|note|marked_at|marked_by|queued_at|this|marked)$`)

// reference is a table or an attachment as a caller names it.
type reference struct{ schema, name string }

// parseReference reads `name`, `schema.name` and their quoted forms. Unquoted, a
// name may hold anything but a dot and a quote.
func parseReference(s string) (reference, error) {
	parts, rest := []string{}, strings.TrimSpace(s)
	for {
		part, after, err := parseIdentifier(rest)
		if err != nil {
			return reference{}, fmt.Errorf("the table %.60q: %w", s, err)
		}
		parts = append(parts, part)
		if after == "" {
			break
		}
		rest = after[1:]
	}
	switch len(parts) {
	case 1:
		return reference{name: parts[0]}, nil
	case 2:
		return reference{schema: parts[0], name: parts[1]}, nil
	}
	return reference{}, fmt.Errorf("the table %.60q has %d parts, want table or schema.table; quote a name that has dots", s, len(parts))
}

func parseIdentifier(s string) (name, rest string, err error) {
	if s == "" {
		return "", "", fmt.Errorf("a name is missing")
	}
	closing := map[byte]string{'"': `"`, '`': "`", '[': "]"}[s[0]]
	if closing == "" {
		if i := strings.IndexAny(s, ".\"`"); i >= 0 && s[i] != '.' {
			return "", "", fmt.Errorf("a quote inside a name that is not quoted")
		} else if i >= 0 {
			name, rest = strings.TrimSpace(s[:i]), s[i:]
		} else {
			name = strings.TrimSpace(s)
		}
		if name == "" || rest == "." {
			return "", "", fmt.Errorf("a name is missing")
		}
		return name, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != closing[0] {
			b.WriteByte(s[i])
			continue
		}
		if closing != "]" && i+1 < len(s) && s[i+1] == closing[0] {
			b.WriteByte(s[i])
			i++
			continue
		}
		rest = strings.TrimSpace(s[i+1:])
		if b.Len() == 0 || rest != "" && (rest[0] != '.' || len(rest) == 1) {
			break
		}
		if rest != "" {
			rest = "." + strings.TrimSpace(rest[1:])
		}
		return b.String(), rest, nil
	}
	return "", "", fmt.Errorf("the quotes do not match")
}

package worker

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

// An attachment is one aspect of one table, with the statements for it. A key
// is text everywhere outside of the database: its value, or a JSON array.
type attachment struct {
	id          int32
	name        string
	replaces    *int32
	relation    string // quoted
	column      string
	document    string // type
	keys        []string
	keyTypes    []string
	schema      string
	side        string // not quoted, without its schema
	profileID   int16
	profile     sketch.Profile
	variants    []simindex.Variant
	names       []string // of the variants
	policy      string
	mode        string
	distributed bool // among the nodes of Citus
	atLeast     float64
	filter      string
	media       string // how bytes become text; "" for not at all
	mediaFrom   string // the column that says it
	indexed     bool
	clustered   bool // clusters are kept
	problem     *string
	broken      error // why nothing can be done for it

	fragments map[string]string // of SQL, as alike._fragments makes them
	sql       statements
}

// statements for one attachment. Names are quoted identifiers; the filter is
// PostgreSQL's own spelling of a parsed expression, and types are
// format_type's.
type statements struct {
	read         string // $1 keys, $2 the longest document, $3 bytes in all: the documents
	write        string // the arrays of computed columns
	verify       string // $1 keys, $2 versions: keys whose document changed since
	reserve      string // $1 keys: rows that block others who would insert the same
	remove       string // $1 keys
	removed      string // $1 keys: those that are not in the side table
	unmatch      string // $1 keys: what they resembled when they were checked in
	unmatchOther string // $1 keys: who resembled them
	unmatched    string // $1 keys: those without a match
	forget       string // $1 keys, or NULL for all: verdicts on those that are not in the table
	uncluster    string // $1 keys
	unclustered  string // $1 keys: those in no cluster
	lock         string // no other worker writes
	sweep        string // remove what is not in the table any more
	stale        string // $1 how long a row that failed is left alone: queue what a scan finds
	build        string
	split        string // $1 rows a chunk
	change       string // puts it in the place of the attachment it replaces
	copyIn       string
}

func quote(names ...string) string { return pgx.Identifier(names).Sanitize() }

// each joins the results of f over the key columns.
func (a *attachment) each(separator string, f func(i int, column string) string) string {
	parts := make([]string, len(a.keys))
	for i, key := range a.keys {
		parts[i] = f(i, quote(key))
	}
	return strings.Join(parts, separator)
}

// list names the key columns of an alias.
func (a *attachment) list(alias string) string {
	return a.each(", ", func(_ int, column string) string { return alias + column })
}

// value is key column i out of a key as text.
func (a *attachment) value(i int, text string) string {
	if len(a.keys) == 1 {
		return fmt.Sprintf("(%s)::%s", text, a.keyTypes[0])
	}
	return fmt.Sprintf("((%s)::jsonb->>%d)::%s", text, i, a.keyTypes[i])
}

// is compares an alias with a key as text.
func (a *attachment) is(alias, text string) string {
	return a.each(" and ", func(i int, column string) string { return alias + "." + column + " = " + a.value(i, text) })
}

// same compares two aliases.
func (a *attachment) same(x, y string) string {
	return a.each(" and ", func(_ int, column string) string { return x + "." + column + " = " + y + "." + column })
}

// text is the key of an alias as text.
func (a *attachment) text(alias string) string {
	if len(a.keys) == 1 {
		return alias + "." + quote(a.keys[0]) + "::text"
	}
	return "jsonb_build_array(" + a.list(alias+".") + ")::text"
}

// computed names the columns that the worker fills, and their array types.
func (a *attachment) computed() (columns, types []string) {
	columns = append([]string{"profile"}, aspect.Columns(a.profile.K, a.variants)...)
	types = []string{"smallint", "bigint", "bigint", "bytea"}
	for len(types) < len(columns) {
		types = append(types, "bigint")
	}
	return columns, types
}

// rows is the table as far as it is attached: its key, the document as bytes
// or NULL above the limit, and its size.
func (a *attachment) rows() string {
	document := "d." + quote(a.column)
	if a.document != "bytea" && a.document != "text" {
		document += "::text"
	}
	media := "null::text"
	if a.mediaFrom != "" {
		media = "d." + quote(a.mediaFrom) + "::text"
	}
	where := ""
	if a.filter != "" {
		where = " where " + a.filter
	}
	version := ", d.xmin::text as alike_version"
	if a.mode == "scan" {
		version = ", null::text as alike_version"
	}
	return fmt.Sprintf("select %s, %s as alike_document, %s as alike_media%s from %s d%s",
		a.list("d."), document, media, version, a.relation, where)
}

// hash is what sketch.ContentHash gives of a document, computed where the
// document is.
func (a *attachment) hash(document string) string {
	if a.document != "bytea" {
		document = "convert_to(" + document + ", 'UTF8')"
	}
	return "('x' || encode(substr(sha256(coalesce(" + document + ", '')), 1, 8), 'hex'))::bit(64)::bigint"
}

// prepare writes the statements.
func (a *attachment) prepare() {
	side, match := quote(a.schema, a.side), quote(a.schema, a.side+"_match")
	columns, types := a.computed()
	a.sql.read = fmt.Sprintf(
		`select n, case when size <= $2::bigint and sum(case when size <= $2::bigint then size end) over (order by n) <= $3::bigint then alike_document end,
  size, alike_media, alike_version, content_hash, profile
from (
  select k.n, d.alike_document, octet_length(d.alike_document)::bigint as size, d.alike_media, d.alike_version, s.content_hash, s.profile
  from unnest($1::text[]) with ordinality as k(key, n)
  join (%s) d on %s
  left join %s s on %s) q`, a.rows(), a.is("d", "k.key"), side, a.same("s", "d"))
	names := make([]string, len(columns))
	unnest := make([]string, len(columns))
	set := make([]string, len(columns))
	for i, column := range columns {
		names[i] = "v.c" + strconv.Itoa(i)
		unnest[i] = fmt.Sprintf("$%d::%s[]", i+2, types[i])
		set[i] = column + " = excluded." + column
	}
	a.sql.write = fmt.Sprintf(
		`insert into %s (%s, %s, sketched_at)
select %s, %s, clock_timestamp() from unnest($1::text[], %s) as v(key, %s)
on conflict (%s) do update set %s, sketched_at = excluded.sketched_at`,
		side, a.list(""), strings.Join(columns, ", "),
		a.each(", ", func(i int, _ string) string { return a.value(i, "v.key") }), strings.Join(names, ", "),
		strings.Join(unnest, ", "), strings.ReplaceAll(strings.Join(names, ", "), "v.", ""),
		a.list(""), strings.Join(set, ", "))
	a.sql.verify = fmt.Sprintf(
		`select k.key from unnest($1::text[], $2::text[]) as k(key, version)
left join (%s) d on %s where d.alike_version is distinct from k.version`, a.rows(), a.is("d", "k.key"))
	a.sql.reserve = fmt.Sprintf(
		`insert into %s (%s, profile, content_hash, shingles)
select %s, %d, 0, 0 from unnest($1::text[]) as k(key)
on conflict (%s) do update set shingles = excluded.shingles where false`, // locks, and changes nothing
		side, a.list(""), a.each(", ", func(i int, _ string) string { return a.value(i, "k.key") }), a.profileID, a.list(""))
	given := fmt.Sprintf("(select %s from unnest($1::text[]) as k(key))", a.each(", ", func(i int, _ string) string { return a.value(i, "k.key") }))
	a.sql.remove = fmt.Sprintf("delete from %s s where (%s) in %s and not exists (select from (%s) d where %s)", side, a.list("s."), given, a.rows(), a.same("d", "s"))
	a.sql.removed = fmt.Sprintf("select k.key from unnest($1::text[]) as k(key) except select %s from %s s where (%s) in %s", a.text("s"), side, a.list("s."), given)
	a.sql.unmatch = fmt.Sprintf("delete from %s m where (%s) in %s", match, a.list("m."), given)
	a.sql.unmatchOther = fmt.Sprintf("delete from %s m where (%s) in %s", match, a.each(", ", func(i int, _ string) string { return "m." + quote(a.other(i)) }), given)
	a.sql.unmatched = fmt.Sprintf("select k.key from unnest($1::text[]) as k(key) except select %s from %s m where (%s) in %s", a.text("m"), match, a.list("m."), given)
	a.sql.uncluster = fmt.Sprintf("delete from %s where key = any ($1::text[])", quote(a.schema, a.side+"_cluster"))
	a.sql.unclustered = fmt.Sprintf("select k.key from unnest($1::text[]) as k(key) where not exists (select from %s c where c.key = k.key)", quote(a.schema, a.side+"_cluster"))
	a.sql.lock = fmt.Sprintf("lock table %s in share row exclusive mode", side)
	a.sql.sweep = fmt.Sprintf("delete from %s s where not exists (select from (%s) d where %s)", side, a.rows(), a.same("d", "s"))
	a.sql.stale = fmt.Sprintf(
		`with stale as materialized (
  select %[1]s as key from (%[3]s) d left join %[4]s s on %[5]s where s.profile is distinct from %[6]d or s.content_hash is distinct from %[7]s
  union all
  select %[2]s from %[4]s s where not exists (select from (%[3]s) d where %[5]s)
)
insert into alike.queue (attachment, key)
select %[8]d, key from stale
where key not in (select e.key from alike.error e where e.attachment = %[8]d and (e.retry_at is not null or e.failed_at > clock_timestamp() - $1::interval))`,
		a.text("d"), a.text("s"), a.rows(), side, a.same("s", "d"), a.profileID, a.hash("d.alike_document"), a.id)
	a.sql.forget = fmt.Sprintf("select %s($1::text[])", quote(a.schema, "alike_forget_"+strconv.Itoa(int(a.id))))
	a.sql.build = fmt.Sprintf("select %s()", quote(a.schema, "alike_build_"+strconv.Itoa(int(a.id))))
	a.sql.change = fmt.Sprintf("select %s()", quote(a.schema, "alike_switch_"+strconv.Itoa(int(a.id))))
	a.sql.split = a.splitSQL()
	a.sql.copyIn = fmt.Sprintf("copy %s (%s, %s) from stdin (format binary)", side, a.list(""), strings.Join(columns, ", "))
}

// other is the column that holds part i of the other row's key.
func (a *attachment) other(i int) string {
	if len(a.keys) == 1 {
		return "other"
	}
	return "other_" + a.keys[i]
}

// resolve parses what the attachment names.
func (a *attachment) resolve(profile string, extract []byte) error {
	var err error
	if a.profile, err = sketch.ParseProfile(profile); err != nil {
		return err
	}
	if a.variants, err = aspect.Parse(a.profile, a.names); err != nil {
		return err
	}
	if extract == nil {
		return nil
	}
	var from struct{ Column string }
	if json.Unmarshal(extract, &a.media) == nil {
		return nil
	}
	if err := json.Unmarshal(extract, &from); err != nil || from.Column == "" {
		return fmt.Errorf("extract is %s, want a media type or {\"column\": NAME}", extract)
	}
	a.mediaFrom = from.Column
	return nil
}

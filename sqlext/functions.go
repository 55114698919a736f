package sqlext

import (
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// function is one SQL function: a scalar, an aggregate or a table-valued one,
// whichever of the three is set.
//
// A NULL argument gives NULL, or no row, without a call, unless the flag nulls
// is set. Arguments beyond least may be left out. The word " text" after the
// name of an argument says that a number is taken as its text there.
type function struct {
	name      string
	flags     int32
	least     int
	arguments []string
	columns   []string // of a table-valued function
	order     int      // the column, from 1, by which its rows come in order; negative when descending

	scalar    func(c *conn, f *frame) error
	aggregate func() aggregate
	table     func(c *conn, args []value, want wanted) (source, error)
}

// aggregate is the state of an aggregate function over one group.
type aggregate interface {
	step(c *conn, args []value) error
	final(f *frame) error
}

func (fn *function) most() int { return len(fn.arguments) }

// declaration is the table that a table-valued function pretends to be.
func (fn *function) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	for i, column := range fn.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(column))
	}
	for _, argument := range fn.arguments {
		// The space keeps an argument from having the name of a column.
		b.WriteString(", " + quote("("+strings.TrimSuffix(argument, " text")+")") + " HIDDEN")
	}
	b.WriteString(")")
	return b.String()
}

// The flags of a function, as in shim.h.
const (
	pure      = 1 // deterministic and innocuous: for triggers, views, indexes and generated columns
	direct    = 2 // reads or writes tables: only from a statement of the caller's own
	nulls     = 4
	noEcho    = 8
	innocuous = 16 // for triggers, but called each time
)

func arguments(names ...string) []string { return names }

var (
	answerColumns = []string{"key", "shared", "resemblance", "low", "high", "containment"}
	pairColumns   = []string{"key", "other", "shared", "resemblance", "low", "high"}
)

// functions is every function of the extension.
var functions []function

func init() {
	functions = []function{
		{name: "alike_sketch", flags: pure, least: 1, arguments: arguments("document text", "profile"), scalar: sketchOf},
		{name: "alike_sketch_set", flags: pure, least: 1, arguments: arguments("element text", "weight", "profile"), aggregate: newElements},
		{name: "alike_merge", flags: pure, least: 1, arguments: arguments("sketch"), aggregate: newUnion},
		{name: "alike_resemblance", flags: pure, least: 2, arguments: arguments("a", "b"), scalar: resemblance},
		{name: "alike_containment", flags: pure, least: 2, arguments: arguments("a", "b"), scalar: containment},
		{name: "alike_bounds", flags: pure, least: 2, arguments: arguments("a", "b", "confidence"), scalar: bounds},
		{name: "alike_resemblance_exact", flags: pure, least: 2, arguments: arguments("a text", "b text", "profile"), scalar: exact(sketch.ExactResemblance)},
		{name: "alike_containment_exact", flags: pure, least: 2, arguments: arguments("a text", "b text", "profile"), scalar: exact(sketch.ExactContainment)},
		{name: "alike_features", flags: pure, least: 1, arguments: arguments("sketch"), columns: []string{"slot", "feature"}, order: 1, table: features},
		{name: "alike_superfeatures", flags: pure, least: 1, arguments: arguments("sketch"), columns: []string{"slot", "feature"}, order: 1, table: superfeatures},
		{name: "alike_feature", flags: pure, least: 2, arguments: arguments("sketch", "slot"), scalar: feature},
		{name: "alike_shared", flags: pure, least: 2, arguments: arguments("a", "b"), scalar: shared},
		{name: "alike_alike", flags: pure, least: 2, arguments: arguments("a", "b"), scalar: alike},
		{name: "alike_si", flags: pure, least: 2, arguments: arguments("document text", "variant"), scalar: similarityIndex},
		{name: "alike_si_low", flags: pure, least: 1, arguments: arguments("si", "fraction"), scalar: siLow},
		{name: "alike_si_high", flags: pure, least: 1, arguments: arguments("si", "fraction"), scalar: siHigh},
		{name: "alike_tokens", flags: pure, least: 1, arguments: arguments("document text", "profile"), columns: []string{"position", "token"}, order: 1, table: tokens},
		{name: "alike_shingles", flags: pure, least: 1, arguments: arguments("document text", "profile"), columns: []string{"position", "shingle", "fingerprint"}, order: 1, table: shingles},
		{name: "alike_explain", flags: pure, least: 2, arguments: arguments("left text", "right text", "profile"), columns: []string{"kind", "passage", "tokens", "left_position", "right_position"}, table: explain},
		{name: "alike_filter", flags: pure, least: 4, arguments: arguments("k", "s", "r", "resemblance"), scalar: filter},
		{name: "alike_filter_curve", flags: pure, least: 3, arguments: arguments("k", "s", "r"), columns: []string{"resemblance", "probability"}, order: 1, table: filterCurve},
		{name: "alike_filter_plan", flags: pure, least: 4, arguments: arguments("resemblance", "miss", "accept_below", "accept_rate"),
			columns: []string{"k", "s", "r", "bytes", "miss", "accept"}, table: filterPlan},
		{name: "alike_cells", flags: pure, least: 3, arguments: arguments("x", "radius", "spacing", "y", "z"), columns: []string{"cell"}, table: cells},
		{name: "alike_profile", flags: pure, least: 1, arguments: arguments("sketch"), scalar: profile},
		{name: "alike_profiles", flags: pure, columns: []string{"name", "settings", "purpose"}, table: profiles},
		{name: "alike_version", flags: pure, scalar: version},

		{name: "alike_attach", flags: direct, least: 2, arguments: arguments("table", "column", "options"), scalar: attach},
		{name: "alike_detach", flags: direct, least: 1, arguments: arguments("table", "options"), scalar: detach},
		{name: "alike_refresh", flags: direct, least: 1, arguments: arguments("table"), scalar: refresh},
		{name: "alike_rows", flags: direct, least: 2, arguments: arguments("table", "key", "at_least"), columns: answerColumns, order: -3, table: rows},
		{name: "alike_rows_like", flags: direct, least: 2, arguments: arguments("table", "text text", "at_least"), columns: answerColumns, order: -3, table: rowsLike},
		{name: "alike_si_rows", flags: direct, least: 3, arguments: arguments("table", "variant", "key", "fraction"), columns: []string{"key", "si"}, table: siRows},
		{name: "alike_pairs", flags: direct, least: 1, arguments: arguments("table", "at_least"), columns: pairColumns, order: -4, table: pairs},
		{name: "alike_clusters", flags: direct, least: 1, arguments: arguments("table", "at_least"), columns: []string{"key", "cluster", "size"}, table: clusters},
		{name: "alike_mark", flags: direct | nulls, least: 4, arguments: arguments("table", "key", "other", "verdict", "note"), scalar: mark},
		{name: "alike_status", flags: direct, columns: []string{"name", "table", "column", "profile", "mode", "policy", "at_least", "rows", "sketched", "pending", "failed", "oldest", "note"}, table: status},
		{name: "alike_errors", flags: direct, least: 1, arguments: arguments("table"), columns: []string{"key", "message", "attempts", "failed_at"}, table: failures},
		{name: "alike_hot", flags: direct, least: 1, arguments: arguments("table"), columns: []string{"slot", "feature", "rows", "key"}, order: -3, table: hot},

		// What triggers and other functions call. They are no part of the contract.
		{name: "alike__pairs", flags: direct | noEcho, least: 2, arguments: arguments("table", "at_least"), columns: pairColumns, table: scanPairs},
		{name: "alike__list", flags: direct | noEcho, least: 1, arguments: arguments("numbers"), columns: []string{"position", "number"}, order: 1, table: list},
		{name: "alike__row", flags: pure | nulls | noEcho, least: 2, arguments: arguments("document text", "settings"), columns: rowColumns(), table: sideRow},
		{name: "alike__compare", flags: pure | noEcho, least: 3, arguments: arguments("a", "b", "least"), columns: []string{"resemblance", "low", "high"}, table: compare},
		{name: "alike__content_hash", flags: pure, least: 1, arguments: arguments("document text"), scalar: contentHash},
		{name: "alike__reject", flags: innocuous, least: 4, arguments: arguments("name", "key", "resemblance", "least"), scalar: reject},
		{name: "alike__warn", flags: innocuous, least: 4, arguments: arguments("name", "key", "other", "resemblance"), scalar: warn},
		{name: "alike__extension_must_be_loaded", flags: pure, scalar: loaded},
	}
}

// quote writes an identifier as SQL does.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

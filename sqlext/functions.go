package sqlext

import (
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/rabin"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

const (
	pure      = sqlite.Pure
	direct    = sqlite.Direct
	nulls     = sqlite.Nulls
	noEcho    = sqlite.NoEcho
	innocuous = sqlite.Innocuous
)

func arguments(names ...string) []string { return names }

var (
	answerColumns      = []string{"key", "shared", "resemblance", "low", "high", "containment"}
	heldColumns        = []string{"key", "containment", "low", "high"}
	containmentColumns = []string{"key", "other", "containment", "low", "high"}
	pairColumns        = []string{"key", "other", "shared", "resemblance", "low", "high"}
)

// functions is every function of the extension.
var functions []sqlite.Function

func init() {
	functions = []sqlite.Function{
		{Name: "alike_sketch", Flags: pure, Required: 1, Arguments: arguments("document text", "profile"), Scalar: scalar(sketchOf)},
		{Name: "alike_sketch_set", Flags: pure, Required: 1, Arguments: arguments("element text", "weight", "profile"), Aggregate: newElements},
		{Name: "alike_merge", Flags: pure, Required: 1, Arguments: arguments("sketch"), Aggregate: newUnion},
		{Name: "alike_resemblance", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(resemblance)},
		{Name: "alike_containment", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(containment)},
		{Name: "alike_bounds", Flags: pure, Required: 2, Arguments: arguments("a", "b", "confidence"), Scalar: scalar(bounds)},
		{Name: "alike_size", Flags: pure, Required: 1, Arguments: arguments("sketch"), Scalar: scalar(size)},
		{Name: "alike_resemblance_exact", Flags: pure, Required: 2, Arguments: arguments("a text", "b text", "profile"), Scalar: scalar(exact(sketch.ExactResemblance))},
		{Name: "alike_containment_exact", Flags: pure, Required: 2, Arguments: arguments("a text", "b text", "profile"), Scalar: scalar(exact(sketch.ExactContainment))},
		{Name: "alike_features", Flags: pure, Required: 1, Arguments: arguments("sketch"), Columns: []string{"slot", "feature"}, Order: 1, Table: tableOf(features)},
		{Name: "alike_superfeatures", Flags: pure, Required: 1, Arguments: arguments("sketch"), Columns: []string{"slot", "feature"}, Order: 1, Table: tableOf(superfeatures)},
		{Name: "alike_feature", Flags: pure, Required: 2, Arguments: arguments("sketch", "slot"), Scalar: scalar(feature)},
		{Name: "alike_superfeature", Flags: pure, Required: 2, Arguments: arguments("sketch", "slot"), Scalar: scalar(superfeature)},
		{Name: "alike_shared", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(shared)},
		{Name: "alike_alike", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(alike)},
		{Name: "alike_si", Flags: pure, Required: 2, Arguments: arguments("document text", "variant"), Scalar: scalar(similarityIndex)},
		{Name: "alike_si_low", Flags: pure, Required: 1, Arguments: arguments("si", "fraction"), Scalar: scalar(siLow)},
		{Name: "alike_si_high", Flags: pure, Required: 1, Arguments: arguments("si", "fraction"), Scalar: scalar(siHigh)},
		{Name: "alike_tokens", Flags: pure, Required: 1, Arguments: arguments("document text", "profile"), Columns: []string{"position", "token"}, Order: 1, Table: tableOf(tokens)},
		{Name: "alike_shingles", Flags: pure, Required: 1, Arguments: arguments("document text", "profile"), Columns: []string{"position", "shingle", "fingerprint"}, Order: 1, Table: tableOf(shingles)},
		{Name: "alike_explain", Flags: pure, Required: 2, Arguments: arguments("left text", "right text", "profile"), Columns: []string{"kind", "passage", "tokens", "left_position", "right_position"}, Table: tableOf(explain)},
		{Name: "alike_filter", Flags: pure, Required: 4, Arguments: arguments("k", "s", "r", "resemblance"), Scalar: scalar(filter)},
		{Name: "alike_filter_curve", Flags: pure, Required: 3, Arguments: arguments("k", "s", "r"), Columns: []string{"resemblance", "probability"}, Order: 1, Table: tableOf(filterCurve)},
		{Name: "alike_filter_plan", Flags: pure, Required: 4, Arguments: arguments("resemblance", "miss", "accept_below", "accept_rate"),
			Columns: []string{"k", "s", "r", "bytes", "miss", "accept"}, Table: tableOf(filterPlan)},
		{Name: "alike_contains_plan", Flags: pure, Required: 1, Arguments: arguments("tokens", "profile", "key_bytes"), Columns: []string{"passage", "sampled", "sqlite_bytes", "postgres_bytes"}, Table: tableOf(containsPlan)},
		{Name: "alike_half_point", Flags: pure, Required: 3, Arguments: arguments("k", "s", "r"), Scalar: scalar(halfPoint)},
		{Name: "alike_steepest_group", Flags: pure, Required: 1, Arguments: arguments("resemblance"), Scalar: scalar(steepestGroup)},
		{Name: "alike_steepest_resemblance", Flags: pure, Required: 1, Arguments: arguments("s"), Scalar: scalar(steepestResemblance)},
		{Name: "alike_within", Flags: pure, Required: 3, Arguments: arguments("samples", "resemblance", "epsilon"), Scalar: scalar(withinEpsilon)},
		{Name: "alike_collision_bound", Flags: pure, Required: 3, Arguments: arguments("bits_of_a", "bits_of_b", "bits"), Scalar: scalar(collisionBound)},
		{Name: "alike_expected_collisions", Flags: pure, Required: 2, Arguments: arguments("shingles", "bits"), Scalar: scalar(ofFingerprints(rabin.ExpectedCollisions))},
		{Name: "alike_fingerprint_error", Flags: pure, Required: 2, Arguments: arguments("shingles", "bits"), Scalar: scalar(ofFingerprints(rabin.FingerprintError))},
		{Name: "alike_fingerprint_bits", Flags: pure, Required: 2, Arguments: arguments("shingles", "error"), Scalar: scalar(fingerprintBits)},
		{Name: "alike_cells", Flags: pure, Required: 3, Arguments: arguments("x", "radius", "spacing", "y", "z"), Columns: []string{"cell"}, Table: tableOf(cells)},
		{Name: "alike_profile", Flags: pure, Required: 1, Arguments: arguments("sketch"), Scalar: scalar(profile)},
		{Name: "alike_profiles", Flags: pure, Columns: []string{"name", "settings", "purpose", "at_least", "recall"}, Table: tableOf(profiles)},
		{Name: "alike_version", Flags: pure, Scalar: scalar(version)},

		{Name: "alike_attach", Flags: direct, Required: 2, Arguments: arguments("table", "column", "options"), Scalar: scalar(attach)},
		{Name: "alike_advise", Flags: direct, Required: 2, Arguments: arguments("table", "column"), Columns: adviceColumns, Table: tableOf(advice)},
		{Name: "alike_detach", Flags: direct, Required: 1, Arguments: arguments("table", "options"), Scalar: scalar(detach)},
		{Name: "alike_refresh", Flags: direct, Required: 1, Arguments: arguments("table"), Scalar: scalar(refresh)},
		{Name: "alike_rows", Flags: direct, Required: 2, Arguments: arguments("table", "key", "at_least"), Columns: answerColumns, Order: -3, Table: tableOf(rows)},
		{Name: "alike_rows_like", Flags: direct, Required: 2, Arguments: arguments("table", "text text", "at_least"), Columns: answerColumns, Order: -3, Table: tableOf(rowsLike)},
		{Name: "alike_si_rows", Flags: direct, Required: 3, Arguments: arguments("table", "variant", "key", "fraction"), Columns: []string{"key", "si"}, Table: tableOf(siRows)},
		{Name: "alike_forest_rows", Flags: direct, Required: 2, Arguments: arguments("table", "key", "depth"), Columns: []string{"key", "depth", "resemblance"}, Order: -2, Table: tableOf(forestRows)},
		{Name: "alike_pairs", Flags: direct, Required: 1, Arguments: arguments("table", "at_least"), Columns: pairColumns, Order: -4, Table: tableOf(pairs)},
		{Name: "alike_clusters", Flags: direct, Required: 1, Arguments: arguments("table", "at_least", "linkage"), Columns: []string{"key", "cluster", "size"}, Table: tableOf(clusters)},
		{Name: "alike_write_clusters", Flags: direct, Required: 1, Arguments: arguments("table"), Scalar: scalar(writeClusters)},
		{Name: "alike_keep", Flags: direct, Required: 1, Arguments: arguments("table", "rule", "at_least"), Columns: []string{"key", "kept", "resemblance"}, Table: tableOf(keep)},
		{Name: "alike_containers", Flags: direct, Required: 2, Arguments: arguments("table", "key", "at_least"), Columns: heldColumns, Order: -2, Table: tableOf(containers)},
		{Name: "alike_contained", Flags: direct, Required: 2, Arguments: arguments("table", "key", "at_least"), Columns: heldColumns, Order: -2, Table: tableOf(contained)},
		{Name: "alike_containers_like", Flags: direct, Required: 2, Arguments: arguments("table", "text text", "at_least"), Columns: heldColumns, Order: -2, Table: tableOf(containersLike)},
		{Name: "alike_contained_like", Flags: direct, Required: 2, Arguments: arguments("table", "text text", "at_least"), Columns: heldColumns, Order: -2, Table: tableOf(containedLike)},
		{Name: "alike_containments", Flags: direct, Required: 1, Arguments: arguments("table", "at_least"), Columns: containmentColumns, Order: -3, Table: tableOf(containments)},
		{Name: "alike_mark", Flags: direct | nulls, Required: 4, Arguments: arguments("table", "key", "other", "verdict", "note"), Scalar: scalar(mark)},
		{Name: "alike_status", Flags: direct, Columns: []string{"name", "table", "column", "profile", "mode", "layout", "policy", "at_least", "recall", "rows", "sketched", "stale", "pending", "failed", "oldest", "chosen", "short", "merging", "note"}, Table: tableOf(status)},
		{Name: "alike_errors", Flags: direct, Required: 1, Arguments: arguments("table"), Columns: []string{"key", "message", "attempts", "failed_at"}, Table: tableOf(failures)},
		{Name: "alike_common", Flags: direct, Required: 1, Arguments: arguments("table", "share"), Columns: []string{"passage", "rows", "share", "shingles", "key"}, Table: tableOf(commonPassages)},
		{Name: "alike_hot", Flags: direct, Required: 1, Arguments: arguments("table"), Columns: []string{"slot", "feature", "rows", "key"}, Order: -3, Table: tableOf(hot)},

		// What triggers and other functions call. They are no part of the contract.
		{Name: "alike__pairs", Flags: direct | noEcho, Required: 1, Arguments: arguments("table", "at_least"), Columns: pairColumns, Table: tableOf(scanPairs)},
		{Name: "alike__containments", Flags: direct | noEcho, Required: 2, Arguments: arguments("table", "at_least"), Columns: containmentColumns, Table: tableOf(scanContainments)},
		{Name: "alike__list", Flags: direct | noEcho, Required: 1, Arguments: arguments("numbers"), Columns: []string{"position", "number"}, Order: 1, Table: tableOf(list)},
		{Name: "alike__row", Flags: pure | nulls, Required: 2, Arguments: arguments("document text", "settings"), Scalar: scalar(sideRow)},
		{Name: "alike__passages", Flags: pure, Required: 2, Arguments: arguments("document text", "settings"), Scalar: scalar(passages)},
		{Name: "alike__low", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(bound(func(i sketch.Interval) float64 { return i.Low }))},
		{Name: "alike__high", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(bound(func(i sketch.Interval) float64 { return i.High }))},
		{Name: "alike__open", Flags: pure, Required: 3, Arguments: arguments("a", "b", "at_least"), Scalar: scalar(open)},
		{Name: "alike__exact", Flags: pure, Required: 5, Arguments: arguments("a text", "hash_a", "b text", "hash_b", "settings"), Scalar: scalar(exactOfRows)},
		{Name: "alike__content_hash", Flags: pure, Required: 1, Arguments: arguments("document text"), Scalar: scalar(contentHash)},
		{Name: "alike__damaged", Flags: pure | nulls, Required: 3, Arguments: arguments("sketch", "shingles", "settings"), Scalar: scalar(damaged)},
		{Name: "alike__resemblance", Flags: pure, Required: 2, Arguments: arguments("a", "b"), Scalar: scalar(resemblanceOfRows)},
		{Name: "alike__cannot_judge", Flags: innocuous, Required: 1, Arguments: arguments("name"), Scalar: scalar(cannotJudge)},
		{Name: "alike__reject", Flags: innocuous, Required: 4, Arguments: arguments("name", "key", "resemblance", "at_least"), Scalar: scalar(reject)},
		{Name: "alike__warn", Flags: innocuous, Required: 5, Arguments: arguments("name", "key", "other", "resemblance", "omitted"), Scalar: scalar(warn)},
		{Name: "alike__hold", Flags: innocuous, Required: 3, Arguments: arguments("name", "stamp", "row"), Scalar: scalar(hold)},
		{Name: "alike__leave", Flags: innocuous, Required: 4, Arguments: arguments("name", "stamp", "row", "gone"), Scalar: scalar(leave)},
		{Name: "alike__join", Flags: innocuous, Required: 3, Arguments: arguments("name", "stamp", "row"), Scalar: scalar(join)},
		{Name: "alike__step", Flags: innocuous, Required: 3, Arguments: arguments("name", "stamp", "row"), Scalar: scalar(step)},
		{Name: "alike__extension_must_be_loaded", Flags: pure, Scalar: scalar(loaded)},
	}
	for i := range functions {
		explainErrors(&functions[i])
	}
	sqlite.Declare(functions, newConn, wording)
}

// wording is the error of a function as SQL shows it: the function's name, and what is
// wrong. An error that comes from another function of ours has a name already.
func wording(fn *sqlite.Function, err error) string {
	if e, ok := err.(*sqlite.Error); ok && e.Named {
		return e.Text
	}
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "sketch: "), "cluster: ")
	if forbidden(err) {
		text = "the authorizer of the host forbids what this needs: " + text
	}
	// alike_pairs reads alike__pairs, a name that its caller does not know.
	name := strings.Replace(fn.Name, "alike__", "alike_", 1)
	if !slices.ContainsFunc(functions, func(f sqlite.Function) bool { return f.Name == name }) {
		name = fn.Name
	}
	return name + ": " + text
}

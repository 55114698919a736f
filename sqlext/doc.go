// Package sqlext gives SQLite the functions of Alike and the aspect that keeps
// a table's near-duplicates known.
//
// It has two doors with one implementation behind them. Every program that can
// load extensions loads alike.so, built from the package loadable below this
// one. A Go program with github.com/mattn/go-sqlite3 imports this package and
// calls Auto once, or Register for each connection:
//
//	sql.Register("sqlite3_alike", &sqlite3.SQLiteDriver{
//		ConnectHook: func(c *sqlite3.SQLiteConn) error { return sqlext.Register(c) },
//	})
//
// The functions follow, with optional arguments in brackets and, after a colon, the
// columns of a table-valued function. A NULL argument gives NULL, or no row. The
// README beside this file shows each with its result.
//
// Sketches, and what two of them say:
//
//	alike_sketch(document [, profile])
//	alike_sketch_set(element [, weight [, profile]])
//	alike_merge(sketch)
//	alike_resemblance(a, b)
//	alike_containment(a, b)
//	alike_bounds(a, b [, confidence])
//	alike_size(sketch)
//	alike_resemblance_exact(a, b [, profile])
//	alike_containment_exact(a, b [, profile])
//	alike_features(sketch): slot, feature
//	alike_superfeatures(sketch): slot, feature
//	alike_feature(sketch, slot)
//	alike_superfeature(sketch, slot)
//	alike_shared(a, b)
//	alike_alike(a, b)
//
// Similarity indexes:
//
//	alike_si(document, variant)
//	alike_si_low(si [, fraction])
//	alike_si_high(si [, fraction])
//
// To look at texts:
//
//	alike_tokens(document [, profile]): position, token
//	alike_shingles(document [, profile]): position, shingle, fingerprint
//	alike_explain(left, right [, profile]): kind, passage, tokens, left_position, right_position
//
// Filters, measurements, settings:
//
//	alike_filter(k, s, r, resemblance)
//	alike_filter_curve(k, s, r): resemblance, probability
//	alike_filter_plan(resemblance, miss, accept_below, accept_rate): k, s, r, bytes, miss, accept
//	alike_contains_plan(tokens [, profile [, key_bytes]]): passage, sampled, sqlite_bytes, postgres_bytes
//	alike_half_point(k, s, r)
//	alike_steepest_group(resemblance)
//	alike_steepest_resemblance(s)
//	alike_within(samples, resemblance, epsilon)
//	alike_collision_bound(bits_of_a, bits_of_b, bits)
//	alike_expected_collisions(shingles, bits)
//	alike_fingerprint_error(shingles, bits)
//	alike_fingerprint_bits(shingles, error)
//	alike_cells(x, radius, spacing [, y [, z]]): cell
//	alike_profile(sketch)
//	alike_profiles(): name, settings, purpose, at_least, recall
//	alike_version()
//
// A table and its attachment:
//
//	alike_attach(table, column [, options])
//	alike_advise(table, column): preset, chosen, at_least, expected, recall, pairs, edited, same, answers, candidates, bytes, seconds, layout, settings, reason, curve, only, missed
//	alike_detach(table [, options])
//	alike_refresh(table)
//
// Questions:
//
//	alike_rows(table, key [, at_least]): key, shared, resemblance, low, high, containment
//	alike_rows_like(table, text [, at_least]): key, shared, resemblance, low, high, containment
//	alike_si_rows(table, variant, key [, fraction]): key, si
//	alike_forest_rows(table, key [, depth]): key, depth, resemblance
//	alike_pairs(table [, at_least]): key, other, shared, resemblance, low, high
//	alike_clusters(table [, at_least [, linkage]]): key, cluster, size
//	alike_write_clusters(table)
//	alike_keep(table [, rule [, at_least]]): key, kept, resemblance
//	alike_containers(table, key [, at_least]): key, containment, low, high
//	alike_contained(table, key [, at_least]): key, containment, low, high
//	alike_containers_like(table, text [, at_least]): key, containment, low, high
//	alike_contained_like(table, text [, at_least]): key, containment, low, high
//	alike_containments(table [, at_least]): key, other, containment, low, high
//
// People's verdicts, and what to watch:
//
//	alike_mark(table, key, other, verdict [, note])
//	alike_status(): name, table, column, profile, mode, layout, policy, at_least, recall, rows, sketched, stale, pending, failed, oldest, chosen, short, merging, note
//	alike_errors(table): key, message, attempts, failed_at
//	alike_common(table [, share]): passage, rows, share, shingles, key
//	alike_hot(table): slot, feature, rows, key
package sqlext

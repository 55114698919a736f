package sqlext_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
)

// hardened are the limits that SQLite's manual recommends where SQL may be hostile, and
// a limit that is lower still.
var hardened = map[string]int{"LENGTH": 1_000_000, "SQL_LENGTH": 100_000, "COLUMN": 100, "EXPR_DEPTH": 10, "COMPOUND_SELECT": 3, "VDBE_OP": 25_000,
	"FUNCTION_ARG": 8, "ATTACHED": 0, "LIKE_PATTERN_LENGTH": 50, "VARIABLE_NUMBER": 10, "TRIGGER_DEPTH": 10}

var limits = map[string]int{"LENGTH": 0, "SQL_LENGTH": 1, "COLUMN": 2, "EXPR_DEPTH": 3, "COMPOUND_SELECT": 4, "VDBE_OP": 5, "FUNCTION_ARG": 6, "ATTACHED": 7,
	"LIKE_PATTERN_LENGTH": 8, "VARIABLE_NUMBER": 9, "TRIGGER_DEPTH": 10}

func (db database) limit(values map[string]int) {
	db.t.Helper()
	c, err := db.Conn(context.Background())
	if err != nil {
		db.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Raw(func(raw any) error {
		for name, value := range values {
			raw.(*sqlite3.SQLiteConn).SetLimit(limits[name], value)
		}
		return nil
	}); err != nil {
		db.t.Fatal(err)
	}
}

func (db database) limitNow(name string) (value int) {
	db.t.Helper()
	c, err := db.Conn(context.Background())
	if err != nil {
		db.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Raw(func(raw any) error { value = raw.(*sqlite3.SQLiteConn).GetLimit(limits[name]); return nil }); err != nil {
		db.t.Fatal(err)
	}
	return value
}

// Under the limits for hostile SQL everything works, and the schema that is left can be
// read by a program without the extension.
func TestHardenedLimits(t *testing.T) {
	for _, options := range []string{`{"policy": "link"}`, `{"policy": "warn"}`, `{"policy": "reject"}`, `{"policy": "link", "verify": "text"}`, `{"policy": "reject", "verify": "text"}`, `{"mode": "queue", "policy": "link"}`, `{"profile": "words k=64 s=3 t=192", "policy": "link"}`,
		`{"profile": "words k=1 s=7 r=1 t=7", "policy": "link"}`, `{"si": ["length", "43B/4"], "where": "u <> 'no'"}`, `{"policy": "warn", "where": "u <> 'no' and (id <> 17 or u is not null)"}`, `{"mode": "queue", "policy": "link", "where": "u <> 'no'"}`,
		`{"policy": "reject", "verify": "text", "short": {"below": 30, "at_least": 0.9}}`, `{"policy": "warn", "short": {"below": 30, "at_least": 0.9}}`,
		`{"policy": "link", "verify": "text", "where": "u <> 'no'"}`, `{"profile": "words t=84 k=12 s=7", "superfeatures": true, "policy": "link"}`} {
		for _, key := range []string{"id INTEGER PRIMARY KEY, body TEXT, u TEXT UNIQUE", "id TEXT, id2 TEXT, body TEXT, u TEXT, PRIMARY KEY (id, id2)) WITHOUT ROWID; --",
			"id TEXT, id2 TEXT, body TEXT, u TEXT UNIQUE, PRIMARY KEY (id, id2)", "id TEXT PRIMARY KEY, body TEXT, u TEXT, UNIQUE (u, body)"} {
			t.Run(options+" "+key, func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "limits.db")
				db := open(t, name)
				db.limit(hardened)
				db.exec(`CREATE TABLE d(` + key + `)`)
				insert := `INSERT INTO d(id, body, u) VALUES (?1, ?2, ?1)`
				keyOf := func(n int) string { return fmt.Sprint(n) }
				if strings.Contains(key, "id2") {
					insert = `INSERT INTO d(id, id2, body, u) VALUES (?1, ?1, ?2, ?1)`
					keyOf = func(n int) string { return fmt.Sprintf(`'["%d","%d"]'`, n, n) }
				}
				text := func(n int) string { return strings.Repeat(fox+" and ", 3) + fmt.Sprint("number ", n) }
				db.exec(insert, 1, text(1))
				db.expect("1", `SELECT alike_attach('d', 'body', ?)`, options)
				_, err := db.Exec(insert, 2, text(2))
				if strings.Contains(options, "reject") {
					if err == nil || !strings.Contains(err.Error(), "resembles row") {
						t.Fatalf("a row is not rejected: %v", err)
					}
					err = nil
					db.exec(insert, 2, "a text of its own about other things")
				}
				if err != nil {
					t.Fatal(err)
				}
				db.exec(`UPDATE d SET body = body || ' indeed' WHERE u = '1'`)
				db.exec(`UPDATE d SET id = 3 WHERE u = '2'`)
				db.exec(`REPLACE INTO d SELECT * FROM d`)
				db.rows(`SELECT alike_refresh('d')`)
				for _, question := range []string{
					`SELECT * FROM alike_rows('d', ` + keyOf(1) + `)`, `SELECT * FROM alike_rows_like('d', 'the quick brown fox')`,
					`SELECT * FROM alike_pairs('d')`, `SELECT * FROM alike_clusters('d')`, `SELECT * FROM alike_hot('d')`, `SELECT * FROM alike_status()`, `SELECT * FROM alike_errors('d')`,
				} {
					db.rows(question)
				}
				db.exec(`CREATE TABLE another(x)`) // kept statements are compiled again
				db.rows(`SELECT * FROM alike_rows('d', ` + keyOf(1) + `)`)
				if !strings.Contains(options, "si") && !strings.Contains(options, "k=1 ") {
					db.limit(map[string]int{"EXPR_DEPTH": 1000, "COMPOUND_SELECT": 500, "COLUMN": 2000})
					db.check("d", "limits")
					db.limit(hardened)
				}
				db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=3", "superfeatures": false}')`)
				db.Close()

				without := plain(t, name)
				without.limit(hardened)
				without.expect("ok", `PRAGMA integrity_check`)
				without.rows(`SELECT other, count(*) FROM (SELECT ` + map[bool]string{true: "other_id AS other", false: "other"}[strings.Contains(key, "id2")] + ` FROM d_alike_pair WHERE id = 1) GROUP BY other`)
				without.rows(`SELECT count(*) FROM d_alike_feature`)
				without.exec(`DELETE FROM d`)
				without.Close()

				db = open(t, name)
				db.limit(hardened)
				db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
				db.expect("d", `SELECT group_concat(name) FROM sqlite_master WHERE type <> 'index' AND name <> 'another'`)
			})
		}
	}
}

// Keys of many columns stay within the limits too.
func TestHardenedLimitsOfLongKeys(t *testing.T) {
	db := memory(t)
	db.limit(map[string]int{"EXPR_DEPTH": 10, "COMPOUND_SELECT": 3, "FUNCTION_ARG": 8, "VARIABLE_NUMBER": 10})
	var columns []string
	for i := range 12 {
		columns = append(columns, fmt.Sprint("k", i+1))
	}
	list := strings.Join(columns, ", ")
	db.exec(`CREATE TABLE d(` + list + `, body TEXT, PRIMARY KEY (` + list + `)) WITHOUT ROWID`)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "warn"}')`)
	db.exec(`INSERT INTO d VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, '` + fox + `'), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, x'11', 'y', '` + fox + `')`)
	db.expect(`[1,2,3,4,5,6,7,8,9,10,"\\x11","y"]`, `SELECT key FROM alike_rows('d', '[1,2,3,4,5,6,7,8,9,10,11,12]')`)
	db.expect("1", `SELECT count(*) FROM d_alike_match`)
	db.exec(`UPDATE d SET k12 = 'z' WHERE k12 = 'y'`)
	db.expect("z", `SELECT max(k12) || '' FROM d_alike`)
}

func TestTooWide(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	var variants []string
	for i := range 32 {
		variants = append(variants, fmt.Sprintf(`"43B/%d"`, i+2))
	}
	db.fails("the side table needs 102 columns, want at most 100", `SELECT alike_attach('d', 'body', ?)`, `{"profile": "words k=64 s=3 t=192", "si": [`+strings.Join(variants, ",")+`]}`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
}

// The plain view finds a row's partners through the index of each feature.
func TestPairViewUsesItsIndexes(t *testing.T) {
	for _, k := range []int{1, 3, 4, 12, 64} {
		name := filepath.Join(t.TempDir(), "plan.db")
		db := open(t, name)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.rows(`SELECT alike_attach('d', 'body', ?)`, fmt.Sprintf(`{"profile": "words k=%d s=3 t=192 r=1"}`, k))
		query := `EXPLAIN QUERY PLAN SELECT other, count(*) FROM d_alike_pair WHERE id = 42 GROUP BY other HAVING count(*) >= 2`
		plans := map[string]string{"import": db.rows(query)}
		if k < 20 { // the shell draws the tree, as far as there is room
			out, err := shell(t, name, query+";")
			if err != nil {
				t.Fatal(out, err)
			}
			plans["shell"] = out
		}
		for where, plan := range plans {
			if scans := len(regexp.MustCompile(`SCAN (TABLE )?(a|b|d_alike)\b[^_]`).FindAllString(plan, -1)); scans > 0 {
				t.Errorf("k=%d, %s: %d scans:\n%s", k, where, scans, plan)
			}
			if n := strings.Count(plan, map[string]string{"columns": "d_alike_f", "parts": "e USING PRIMARY KEY (feature=?)"}[*layout]); n < k && *layout == "columns" || n < 4 && *layout == "parts" {
				t.Errorf("k=%d, %s: %d of the indexes:\n%s", k, where, n, plan)
			}
		}
	}
}

// Under each limit, low by itself, each function works or says which limit stops it, and
// what it has done then is undone. The sentences are those of a current SQLite: make oldest
// leaves this test out.
func TestLimitsAreNamed(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); CREATE TABLE e(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?1), (?1), (?1 || ' indeed'), ('another text')`, fox)
	db.exec(`INSERT INTO e(body) SELECT body FROM d`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true, "si": ["length", "forest/3"], "policy": "link", "profile": "words w=2", "clusters": true}')`)
	db.exec(`CREATE TABLE s AS SELECT alike_sketch(body) AS s, alike_sketch(body, 'words mod=1') AS m FROM d`)
	db.exec(`DELETE FROM d_alike WHERE id = 3`)
	calls := map[string]string{ // by function, what follows its name
		"alike_sketch": `('a b c')`, "alike_sketch_set": `(body) FROM d`, "alike_merge": `(m) FROM s`, "alike_resemblance": `(s, s) FROM s`, "alike_containment": `(m, m) FROM s`, "alike_bounds": `(s, s) FROM s`,
		"alike_size": `(m) FROM s`, "alike_resemblance_exact": `('a', 'b')`, "alike_containment_exact": `('a', 'b')`, "alike_features": `(s.s)`, "alike_superfeatures": `(s.s)`, "alike_feature": `(s, 1) FROM s`,
		"alike_superfeature": `(s, 1) FROM s`, "alike_shared": `(s, s) FROM s`, "alike_alike": `(s, s) FROM s`, "alike_si": `('a b', 'length')`, "alike_si_low": `(1)`, "alike_si_high": `(1)`, "alike_tokens": `('a b')`,
		"alike_shingles": `('a b')`, "alike_explain": `('a b', 'a c')`, "alike_filter": `(1, 2, 1, .5)`, "alike_filter_curve": `(1, 2, 1)`, "alike_filter_plan": `(.8, .1, .3, .1)`, "alike_contains_plan": `(400)`, "alike_half_point": `(1, 2, 1)`,
		"alike_steepest_group": `(.5)`, "alike_steepest_resemblance": `(2)`, "alike_within": `(9, .5, .1)`, "alike_collision_bound": `(9, 9, 64)`, "alike_expected_collisions": `(9, 64)`, "alike_fingerprint_error": `(9, 64)`,
		"alike_fingerprint_bits": `(9, .1)`, "alike_cells": `(1, 1, 1)`, "alike_profile": `(s) FROM s`, "alike_profiles": `()`, "alike_version": `()`, "alike_attach": `('e', 'body')`, "alike_advise": `('d', 'body')`,
		"alike_detach": `('d', '{"drop": true}')`, "alike_refresh": `('d')`, "alike_rows": `('d', 1)`, "alike_rows_like": `('d', 'the quick brown fox')`, "alike_si_rows": `('d', 'length', 1)`, "alike_forest_rows": `('d', 1)`,
		"alike_pairs": `('d')`, "alike_clusters": `('d')`, "alike_write_clusters": `('d')`, "alike_keep": `('d')`, "alike_containers": `('d', 1)`, "alike_contained": `('d', 1)`, "alike_containers_like": `('d', 'a b')`, "alike_contained_like": `('d', 'a b')`,
		"alike_containments": `('d')`, "alike_mark": `('d', 1, 2, 'distinct')`, "alike_status": `()`, "alike_errors": `('d')`, "alike_common": `('d')`, "alike_hot": `('d')`,
	}
	everything := `SELECT group_concat(name || sql) FROM sqlite_master`
	schema, stopped := db.rows(everything), map[string]int{}
	for limit, values := range map[string][]int{"LENGTH": {40, 100, 400, 1500}, "SQL_LENGTH": {100}, "COLUMN": {1, 5, 20}, "EXPR_DEPTH": {2, 5}, "COMPOUND_SELECT": {1, 2}, "VDBE_OP": {200, 2000}, "FUNCTION_ARG": {4},
		"ATTACHED": {0}, "LIKE_PATTERN_LENGTH": {1, 3}, "VARIABLE_NUMBER": {0, 1, 3}, "TRIGGER_DEPTH": {0, 1}} {
		for _, value := range values {
			for _, name := range strings.Split(db.rows(`SELECT DISTINCT name FROM (SELECT name FROM pragma_function_list UNION ALL SELECT name FROM pragma_module_list) WHERE name LIKE 'alike\_%' ESCAPE '\' AND name NOT LIKE 'alike\_\_%' ESCAPE '\'`), "\n") {
				call, there := calls[name]
				if !there {
					t.Fatalf("this test does not call %s", name)
				}
				query := "SELECT " + name + call
				if db.rows(`SELECT count(*) FROM pragma_module_list WHERE name = ?`, name) != "0" {
					query = "SELECT x.* FROM " + name + call + " x LIMIT 5"
					if limit == "COLUMN" {
						query = "SELECT count(*) FROM " + name + call
					}
					if strings.Contains(call, "(s.s)") {
						query = strings.Replace(query, "FROM ", "FROM s, ", 1)
					}
				}
				db.exec(`SAVEPOINT here`)
				normal := map[string]int{}
				for name := range limits {
					normal[name] = 1 << 30
				}
				db.limit(map[string]int{limit: value})
				_, err := db.try(query)
				if left := db.limitNow(limit); left != value {
					t.Errorf("%s: the limit %s is %d afterwards, was %d", query, limit, left, value)
				}
				db.limit(normal)
				if err != nil {
					if stopped[limit]++; name != "alike_attach" && (limit == "VARIABLE_NUMBER" || limit == "COMPOUND_SELECT" || limit == "SQL_LENGTH" || limit == "VDBE_OP") {
						t.Errorf("%s = %d stops %s: %v", limit, value, query, err) // it is lifted for our statements
					}
					// The statement of this test is under the limit, too, and so is an error.
					own := !strings.HasPrefix(err.Error(), name+": ") && (value < 10 || limit == "LENGTH" && (value < 200 || strings.Contains(query, "FROM s"))) && strings.Contains(err.Error(), map[string]string{
						"COLUMN": "too many columns", "EXPR_DEPTH": "Expression tree is too large", "LENGTH": "string or blob too big"}[limit])
					if !own && (!strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), "SQLITE_LIMIT_"+limit)) {
						t.Errorf("%s = %d: %s: %v", limit, value, query, err)
					}
				}
				db.exec(`ROLLBACK TO here; RELEASE here`)
			}
		}
	}
	db.expect(schema, everything)
	db.rows(`SELECT alike_refresh('d')`)
	db.check("d", "limits")
	for _, limit := range []string{"LENGTH", "COLUMN", "EXPR_DEPTH", "TRIGGER_DEPTH"} {
		if stopped[limit] == 0 {
			t.Errorf("the limit %s stopped nothing", limit)
		}
	}
}

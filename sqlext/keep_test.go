package sqlext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// lines are the lines of an answer, each split into its cells.
func (db database) lines(query string, args ...any) [][]string {
	db.t.Helper()
	var list [][]string
	if text := db.rows(query, args...); text != "" {
		for _, line := range strings.Split(text, "\n") {
			list = append(list, strings.Split(line, "|"))
		}
	}
	return list
}

// alikePairs is the answer of alike_pairs, both ways round, with the resemblance.
func (db database) alikePairs(atLeast float64) map[[2]string]string {
	db.t.Helper()
	pairs := map[[2]string]string{}
	for _, p := range db.lines(`SELECT key, other, resemblance FROM alike_pairs('d', ?)`, atLeast) {
		pairs[[2]string{p[0], p[1]}], pairs[[2]string{p[1], p[0]}] = p[2], p[2]
	}
	return pairs
}

// What alike_keep says is what a person with the list of pairs would do, whatever the key
// and the rule.
func TestKeep(t *testing.T) {
	for _, key := range []struct{ columns, value, out, descending, same string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d", "id", "id DESC", "s.id = d.id"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key ' || (999 - %d)", "id", "id DESC", "s.id = d.id"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b)", "50 - %[1]d, 'k' || (%[1]d %% 5)", "json_array(a, b)", "a DESC, b DESC", "s.a = d.a AND s.b = d.b"},
	} {
		ascending := strings.ReplaceAll(key.descending, " DESC", "")
		db := memory(t)
		db.exec("CREATE TABLE d(" + strings.Replace(key.columns, "body TEXT", "body TEXT, score INTEGER", 1) + ")")
		db.exec("CREATE VIEW v AS SELECT " + ascending + ", body FROM d")
		db.exec("CREATE TRIGGER into_v INSTEAD OF INSERT ON v BEGIN INSERT INTO d SELECT new." + strings.ReplaceAll(ascending, ", ", ", new.") + ", new.body, length(new.body) % 7; END")
		db.fill("v", key.value, 1, 6, 9)
		db.exec(`UPDATE d SET body = body || ' and some more words at the end of it', score = NULL WHERE score < 3`)
		db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.5}')`)
		all := db.lines(`SELECT key, other FROM alike_pairs('d', 0.5)`)
		db.rows(`SELECT alike_mark('d', ?, ?, 'distinct'), alike_mark('d', ?, ?, 'duplicate')`, all[0][0], all[0][1], all[1][0], all[40][1])
		for rule, order := range map[string]string{
			"oldest": ascending, "newest": key.descending, "longest": "(SELECT shingles FROM d_alike s WHERE " + key.same + ") DESC, " + ascending,
			"score": "score DESC NULLS LAST, " + ascending, " -score ": "-score DESC NULLS LAST, " + ascending, "length(body) % 5 -- a comment": "length(body) % 5 DESC, " + ascending,
			"verdict": ascending,
		} {
			for _, atLeast := range []float64{0.3, 0.5, 0.8} {
				pairs := db.alikePairs(atLeast)
				if rule == "verdict" {
					pairs = map[[2]string]string{{all[1][0], all[40][1]}: pairs[[2]string{all[1][0], all[40][1]}]}
					pairs[[2]string{all[40][1], all[1][0]}] = pairs[[2]string{all[1][0], all[40][1]}]
				}
				duplicate := func(x, y string) bool {
					return x == all[1][0] && y == all[40][1] || y == all[1][0] && x == all[40][1]
				}
				var want, kept []string
				for _, row := range db.lines("SELECT " + key.out + " FROM d ORDER BY " + order) {
					best := ""
					for _, k := range kept {
						r, alike := pairs[[2]string{row[0], k}]
						if alike && (best == "" || !duplicate(row[0], best) && (duplicate(row[0], k) || r > pairs[[2]string{row[0], best}])) {
							best = k
						}
					}
					if best == "" {
						kept = append(kept, row[0])
						want = append(want, row[0]+"|"+row[0]+"|1.0")
					} else {
						want = append(want, row[0]+"|"+best+"|"+pairs[[2]string{row[0], best}])
					}
				}
				slices.Sort(want)
				got := strings.Split(db.rows(`SELECT key, kept, resemblance FROM alike_keep('d', ?, ?)`, rule, atLeast), "\n")
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s from %v:\n%s\nwant\n%s", key.columns, rule, atLeast, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if len(kept) == len(want) {
					t.Errorf("%s, %s from %v: all are kept", key.columns, rule, atLeast)
				}
			}
		}
		db.expect(db.rows(`SELECT * FROM alike_keep('d', 'oldest', 0.5) ORDER BY 1`), `SELECT * FROM alike_keep('d') ORDER BY 1`)
		db.expect("1", `SELECT count(*) > 0 FROM alike_keep('d', 'popular') WHERE key <> kept`)
		kept := map[string]bool{}
		for _, row := range db.lines(`SELECT key FROM alike_keep('d', 'popular') WHERE key = kept`) {
			kept[row[0]] = true
		}
		for pair := range db.alikePairs(0.5) {
			if kept[pair[0]] && kept[pair[1]] {
				t.Errorf("%s: popular keeps %v", key.columns, pair)
			}
		}
	}
}

// A row about which nothing is known yet, or that has no words, stays.
func TestKeepWhatIsNotSketched(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, ?1, 'a'), (2, ?1, 'a'), (3, '...', 'a'), (4, NULL, 'a'), (5, ?1, 'other')`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"mode": "queue", "where": "kind = ''a''"}')`)
	db.exec(`INSERT INTO d VALUES (6, ?1, 'a')`, fox)
	db.expect("1|1|1.0\n2|1|1.0\n3|3|\n4|4|\n6|6|", `SELECT key, kept, resemblance FROM alike_keep('d') ORDER BY 1`)
	db.exec(`ALTER TABLE d RENAME TO papers`)
	db.exec(`ALTER TABLE papers RENAME COLUMN id TO number`)
	db.expect("1|2\n2|2\n3|3\n4|4\n6|6", `SELECT key, kept FROM alike_keep('papers', 'number') ORDER BY 1`)
	db.expect("", `SELECT key FROM alike_keep(NULL)`)
	db.exec(`DELETE FROM papers WHERE number IN (SELECT key FROM alike_keep('papers') WHERE key <> kept)`)
	db.expect("1\n3\n4\n5\n6", `SELECT number FROM papers`)
}

// A rule is one expression on the columns of the table, and no way to anything else.
func TestKeepRefusesOtherRules(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE other(x)`)
	db.exec(`INSERT INTO other VALUES ('secret')`)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, kind TEXT, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, 'mail', ?1), (2, 'note', ?1)`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	for _, rule := range []string{
		`id) FROM d; DROP TABLE d; --`, `id), (kind`, `id, kind`, `1) OR (1`, `1 /*`, `1) --`, `(SELECT x FROM other)`, `id IN (SELECT rowid FROM other)`, `random()`,
		`nothing`, `"nothing"`, `?1`, `:name`, `count(*)`, `max(id) OVER ()`, `t.id`, `s.shingles`, `sketch`, `alike_refresh('d')`, `alike_rows('d', 1)`, `kind = 'x`, `load_extension('x')`, "id\x00", ``, ` `,
	} {
		db.fails("rule: ", `SELECT count(*) FROM alike_keep('d', ?)`, rule)
	}
	db.fails("the rule is the integer 3, want text", `SELECT count(*) FROM alike_keep('d', 3)`)
	db.fails("at_least is the integer 2, want a number from 0 to 1", `SELECT count(*) FROM alike_keep('d', 'oldest', 2)`)
	db.fails(`the linkage is "average", want complete, single, greedy or popular`, `SELECT count(*) FROM alike_clusters('d', 0.5, 'average')`)
	db.fails("the linkage is the integer 1, want text", `SELECT count(*) FROM alike_clusters('d', 0.5, 1)`)
	db.expect("2", `SELECT count(*) FROM d`)
	db.expect("1|2\n2|2", `SELECT key, kept FROM alike_keep('d', 'kind') ORDER BY key`)
	db.expect("1|1\n2|1", `SELECT key, kept FROM alike_keep('d', '"body"') ORDER BY key`)
	db.exec(`CREATE TABLE words(newest INTEGER, body TEXT, id INTEGER PRIMARY KEY)`)
	db.exec(`INSERT INTO words VALUES (2, ?1, 1), (1, ?1, 2)`, fox)
	db.rows(`SELECT alike_attach('words', 'body')`)
	db.expect("1|2\n2|2", `SELECT key, kept FROM alike_keep('words', 'newest') ORDER BY key`)
	db.expect("1|1\n2|1", `SELECT key, kept FROM alike_keep('words', '"newest"') ORDER BY key`)
}

// Clusters of every linkage against their definitions.
func TestClustersByLinkage(t *testing.T) {
	for _, key := range []struct{ columns, value string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d"},
		{"id TEXT PRIMARY KEY, body TEXT", "printf('key %%03d', 999 - %d)"},
	} {
		db := memory(t)
		db.exec("CREATE TABLE d(" + key.columns + ")")
		db.fill("d", key.value, 1, 5, 9)
		// A chain: each text has some words of the one before.
		for i := range 30 {
			words := make([]string, 30)
			for j := range words {
				words[j] = fmt.Sprint("word", 5*i+j)
			}
			db.exec("INSERT INTO d VALUES ("+fmt.Sprintf(key.value, 100+i)+", ?)", strings.Join(words, " "))
		}
		db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.5}')`)
		db.expect(db.rows(`SELECT * FROM alike_clusters('d', 0.5, 'complete')`), `SELECT * FROM alike_clusters('d')`)
		for _, atLeast := range []float64{0.3, 0.5, 0.9} {
			pairs := db.alikePairs(atLeast)
			var keys []string
			for _, row := range db.lines(`SELECT id FROM d ORDER BY id`) {
				keys = append(keys, row[0])
			}
			single, greedy := map[string]string{}, map[string]string{}
			for _, k := range keys {
				single[k] = k
			}
			for changed := true; changed; {
				changed = false
				for _, x := range keys { // the lesser first
					for _, y := range keys {
						if _, alike := pairs[[2]string{x, y}]; alike && slices.Index(keys, single[x]) < slices.Index(keys, single[y]) {
							single[y], changed = single[x], true
						}
					}
				}
			}
			for _, k := range db.lines(`SELECT key, kept FROM alike_keep('d', 'oldest', ?)`, atLeast) {
				greedy[k[0]] = k[1]
			}
			for linkage, want := range map[string]map[string]string{"single": single, "greedy": greedy} {
				sizes := map[string]int{}
				for _, c := range want {
					sizes[c]++
				}
				var lines []string
				for _, k := range keys {
					if n := sizes[want[k]]; n > 1 {
						lines = append(lines, fmt.Sprintf("%s|%s|%d", k, want[k], n))
					}
				}
				if len(lines) == 0 {
					t.Fatal("no clusters")
				}
				db.expect(strings.Join(lines, "\n"), `SELECT key, cluster, size FROM alike_clusters('d', ?, ?) ORDER BY 1`, atLeast, linkage)
			}
			for _, linkage := range []string{"complete", "popular"} {
				in := map[string][]string{}
				for _, c := range db.lines(`SELECT key, cluster FROM alike_clusters('d', ?, ?)`, atLeast, linkage) {
					in[c[1]] = append(in[c[1]], c[0])
				}
				for _, members := range in {
					if len(members) > 30 {
						continue
					}
					hub := linkage == "complete"
					for _, x := range members {
						strangers := 0
						for _, y := range members {
							if db.rows(`SELECT alike_resemblance(a.sketch, b.sketch) >= ? FROM d_alike a, d_alike b WHERE a.id = ? AND b.id = ?`, atLeast, x, y) != "1" {
								strangers++
							}
						}
						if linkage == "complete" && strangers > 0 {
							t.Errorf("complete, %v: %s is with %d strangers", atLeast, x, strangers)
						}
						hub = hub || strangers == 0
					}
					if !hub {
						t.Errorf("popular, %v: %v has no member that all are alike to", atLeast, members)
					}
				}
			}
		}
	}
}

// What to keep of twenty-five thousand rows takes no more than all pairs and a look at the rows.
func TestKeepIsQuick(t *testing.T) {
	const groups = 2500
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.fill("d", "%d", 1, groups, 10)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "prose", "at_least": 0.5}')`)
	pairs := processorTime(func() { db.rows(`SELECT count(*) FROM alike_pairs('d')`) })
	keeping := processorTime(func() { db.rows(`SELECT count(*) FROM alike_keep('d', 'longest')`) })
	if keeping > 3*pairs+time.Second {
		t.Errorf("alike_keep took %v of processor time, want at most three times the %v of alike_pairs", keeping, pairs)
	}
	db.expect("1", `SELECT count(*) BETWEEN ?1 AND 4 * ?1 FROM alike_keep('d') WHERE key = kept`, groups*8/10)
}

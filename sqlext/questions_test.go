package sqlext_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill inserts groups of documents that differ by a word. The key is a format
// for the number of a document, which counts from first.
func (db database) fill(table, key string, first, groups, each int) {
	db.t.Helper()
	random := rand.New(rand.NewPCG(11, 12))
	words := strings.Fields("river mountain paper letter window engine garden winter summer bottle market silver copper bridge harbour castle forest meadow island morning evening kitchen journey question answer number window story chapter")
	n := first - 1
	for range groups {
		text := make([]string, 40)
		for i := range text {
			text[i] = words[random.IntN(len(words))]
		}
		for range each {
			n++
			copied := append([]string{}, text...)
			copied[random.IntN(len(copied))] = fmt.Sprint("edit", n)
			db.exec(fmt.Sprintf("INSERT INTO %s VALUES (%s, ?)", table, fmt.Sprintf(key, n)), strings.Join(copied, " "))
		}
	}
}

// The best pairs come first, whatever the key, and the lesser key of a pair; a
// LIMIT is not the first few that are found, and SQLite need not sort them again.
func TestPairsBestFirst(t *testing.T) {
	for _, key := range []struct{ columns, value string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key ' || (999 - %d)"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b)", "50 - %[1]d, 'k' || (%[1]d %% 5)"},
	} {
		db := memory(t)
		db.exec("CREATE TABLE d(" + key.columns + ")")
		db.fill("d", key.value, 1, 5, 8)
		db.exec(`PRAGMA trusted_schema = OFF`)
		db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.4}')`)
		all := db.rows(`SELECT * FROM alike_pairs('d')`)
		db.expect(all, `SELECT key, other, shared, resemblance, low, high FROM (SELECT * FROM alike__pairs('d', 0.4)) ORDER BY +resemblance DESC, key, other`)
		lines := strings.Split(all, "\n")
		if len(lines) < 40 {
			t.Fatalf("%s: %d pairs, want at least 40", key.columns, len(lines))
		}
		db.expect(fmt.Sprint(len(lines)), `SELECT count(*) FROM alike_pairs('d')`)
		db.expect(strings.Join(lines[:7], "\n"), `SELECT * FROM alike_pairs('d') LIMIT 7`)
		db.expect(strings.Join(lines[:7], "\n"), `SELECT * FROM alike_pairs('d') ORDER BY resemblance DESC LIMIT 7`)
		db.expect(strings.Join(lines[3:7], "\n"), `SELECT * FROM alike_pairs('d') ORDER BY resemblance DESC LIMIT 4 OFFSET 3`)
		db.expect(lines[len(lines)-1], `SELECT * FROM (SELECT * FROM alike_pairs('d') ORDER BY resemblance, key DESC, other DESC LIMIT 1)`)
		db.expect("0", `SELECT count(*) FROM alike_pairs('d') WHERE typeof(key) = 'integer' AND key >= other`)
		if strings.Contains(key.columns, "id") {
			db.expect("1", `SELECT min(key < other) FROM alike_pairs('d')`)
		} else {
			db.expect("1", `SELECT min((json_extract(key, '$[0]'), json_extract(key, '$[1]')) < (json_extract(other, '$[0]'), json_extract(other, '$[1]'))) FROM alike_pairs('d')`)
		}
		if plan := db.rows(`EXPLAIN QUERY PLAN SELECT * FROM alike_pairs('d') ORDER BY resemblance DESC LIMIT 7`); strings.Contains(plan, "ORDER BY") {
			t.Errorf("sorted twice: %s", plan)
		}
		db.expect("1", `SELECT count(*) > 0 FROM (SELECT 'd' AS name UNION ALL SELECT NULL) n, alike_pairs(n.name, 0.4) p WHERE p.resemblance = (SELECT max(resemblance) FROM alike_pairs('d')) LIMIT 1`)
	}
}

// A feature that very many rows share makes the same pairs as others, each once.
func TestPairsOfPopularFeatures(t *testing.T) {
	db := memory(t)
	db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)")
	db.fill("d", "%d", 1, 5, 10)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 150)
		INSERT INTO d SELECT 1000 + i, (SELECT body FROM d WHERE id = 1) || ' ending ' || i FROM n`)
	db.expect("200", `SELECT alike_attach('d', 'body')`)
	db.expect("1", `SELECT max("rows") > 100 FROM alike_hot('d')`)
	for _, atLeast := range []string{"0.5", "0.75", "0.9"} {
		want := db.rows(`SELECT a.id, b.id, count(*) FROM d_alike a, d_alike b, d_alike_feature f, d_alike_feature g
			WHERE a.id < b.id AND f.id = a.id AND g.id = b.id AND f.slot = g.slot AND f.feature = g.feature
			AND alike_resemblance(a.sketch, b.sketch) >= ` + atLeast + ` GROUP BY 1, 2 ORDER BY 1, 2`)
		if want == "" {
			t.Fatal("nothing is alike at", atLeast)
		}
		db.expect(want, `SELECT key, other, shared FROM alike_pairs('d', `+atLeast+`) ORDER BY 1, 2`)
	}
	db.rows(`SELECT alike_mark('d', 1001, 1002, 'distinct'), alike_mark('d', 1001, 50, 'duplicate')`)
	db.expect("0.0 1.0", `SELECT total(key = 1001 AND other = 1002) || ' ' || total(key = 50 AND other = 1001) FROM alike_pairs('d', 0.1)`)
}

// More pairs than are sorted in memory (1 MB) or compared at a time (8192) are the
// pairs that a comparison of everything with everything finds.
func TestPairsInFiles(t *testing.T) {
	for _, key := range []string{"id INTEGER PRIMARY KEY, body TEXT", "id TEXT PRIMARY KEY, body TEXT"} {
		t.Run(key, func(t *testing.T) {
			db := memory(t)
			db.exec("CREATE TABLE d(" + key + ")")
			db.fill("d", map[bool]string{true: "%d", false: "'key ' || (999 - %d)"}[strings.Contains(key, "INTEGER")], 1, 20, 90)
			db.rows(`SELECT alike_attach('d', 'body', '{"profile": "prose", "at_least": 0.5}')`)
			db.rows(`SELECT alike_mark('d', a, b, verdict) FROM (SELECT min(key) AS a, max(other) AS b, 'distinct' AS verdict FROM alike_pairs('d') UNION ALL SELECT max(key), min(other), 'duplicate' FROM alike_pairs('d'))`)
			db.expect("1", `SELECT 16 * count(*) > 1 << 20 FROM d_alike_pair WHERE id < other`)
			want := db.rows(`SELECT p.id, p.other FROM (SELECT DISTINCT id, other FROM d_alike_pair WHERE id < other) p JOIN d_alike a ON a.id = p.id JOIN d_alike b ON b.id = p.other
				WHERE alike_resemblance(a.sketch, b.sketch) >= 0.5 AND NOT EXISTS (SELECT 1 FROM d_alike_mark m WHERE m.id = a.id AND m.other = b.id)
				UNION SELECT id, other FROM d_alike_mark WHERE verdict = 'duplicate' ORDER BY 1, 2`)
			if n := strings.Count(want, "\n"); n < 8192 {
				t.Fatalf("%d pairs are compared at one time, want at least 8192", n)
			}
			db.expect(want, `SELECT key, other FROM alike_pairs('d') ORDER BY 1, 2`)
			db.expect("0", `SELECT count(*) FROM alike_pairs('d') p WHERE shared <> (SELECT count(*) FROM d_alike_feature f JOIN d_alike_feature g USING (slot, feature) WHERE f.id = p.key AND g.id = p.other)`)
			db.expect("1", `SELECT count(*) FROM (SELECT * FROM alike_pairs('d') LIMIT 1)`)
		})
	}
}

// The questions agree with each other and with a comparison of everything with
// everything, whatever the key and the profile.
func TestQuestionsAgree(t *testing.T) {
	for _, key := range []struct{ columns, value, out string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%d", "id"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key %03d'", "id"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b)", "%[1]d %% 5, 'k<%[1]d>'", "json_array(a, b)"},
	} {
		for _, profile := range []string{"prose", "words k=64 t=192 s=3", "words fast bits=64", "words bins bits=4", "words mod=2", "words bottom=50", "words scaled bag", "words lean", "words w=2 bits=1"} {
			t.Run(key.columns+" "+profile, func(t *testing.T) {
				db := memory(t)
				composite := strings.Contains(key.columns, "b TEXT")
				choose := map[bool]string{true: "(SELECT rowid FROM d_alike WHERE json_array(a, b) = %s)", false: "(SELECT rowid FROM d_alike WHERE id = %s)"}
				same := map[bool]string{true: "f.a = a.a AND f.b = a.b AND g.a = b.a AND g.b = b.b", false: "f.id = a.id AND g.id = b.id"}
				rowOf := choose[composite]
				value := key.value
				db.exec("CREATE TABLE d(" + key.columns + ")")
				db.fill("d", value, 1, 6, 5)
				db.exec(`PRAGMA trusted_schema = OFF`)
				db.expect("30", `SELECT alike_attach('d', 'body', ?)`, fmt.Sprintf(`{"profile": %q, "policy": "link", "at_least": 0.6}`, profile))
				db.fill("d", value, 501, 1, 1) // of the first group
				all := `SELECT count(*) || ' ' || coalesce(sum(x), 0) FROM (SELECT a.rowid * 1000 + b.rowid AS x FROM d_alike a, d_alike b WHERE a.rowid < b.rowid
					AND EXISTS (SELECT 1 FROM d_alike_feature f, d_alike_feature g WHERE f.slot = g.slot AND f.feature = g.feature AND ` + same[composite] + `)
					AND alike_resemblance(a.sketch, b.sketch) >= 0.6)`
				want := db.rows(all)
				if strings.HasPrefix(want, "0 ") {
					t.Fatal("nothing is alike")
				}
				sum := "min(x, y) * 1000 + max(x, y)"
				db.expect(want, `SELECT count(*) || ' ' || sum(`+sum+`) FROM (SELECT `+fmt.Sprintf(rowOf, "key")+` AS x, `+fmt.Sprintf(rowOf, "other")+` AS y FROM alike_pairs('d'))`)
				db.expect(want, `SELECT count(*) || ' ' || sum(`+sum+`) FROM (SELECT d.rowid AS x, `+fmt.Sprintf(rowOf, "r.key")+` AS y FROM d_alike d JOIN alike_rows('d', `+strings.ReplaceAll(key.out, "id", "d.id")+`) r WHERE x < y)`)
				db.expect("1", `SELECT min(low <= resemblance AND resemblance <= high) FROM alike_pairs('d')`)
				contains := strings.Contains(profile, "mod") || strings.Contains(profile, "scaled")
				db.expect(fmt.Sprint(map[bool]int{true: 1, false: 0}[contains]), `SELECT max(containment IS NOT NULL) FROM d_alike d JOIN alike_rows('d', `+strings.ReplaceAll(key.out, "id", "d.id")+`)`)
				// The row itself, asked for by its text, is the best answer.
				db.expect("0", `SELECT count(*) FROM d WHERE (SELECT round(resemblance, 9) FROM alike_rows_like('d', d.body) LIMIT 1) IS NOT 1`)
				db.expect("0", `SELECT count(*) FROM alike_clusters('d') c LEFT JOIN (SELECT key AS k FROM alike_pairs('d') UNION SELECT other FROM alike_pairs('d')) p ON p.k = c.key WHERE p.k IS NULL`)
				db.expect("0", `SELECT count(*) FROM (SELECT cluster, size, count(*) AS n, min(key) AS least FROM alike_clusters('d') GROUP BY cluster) WHERE n <> size OR least <> cluster`)
				db.check("d", "questions")
			})
		}
	}
}

// The rows that share the first bytes of a forest index with a row, of either sign, are those that a
// comparison of every two finds.
func TestForestRows(t *testing.T) {
	db := memory(t)
	db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)")
	db.fill("d", "%d", 1, 40, 6)
	db.rows(`SELECT alike_attach('d', 'body', '{"si": ["forest/0", "forest/1", "length"]}')`)
	// How many first bytes two numbers share, in SQL and without shifts of what is negative.
	bytes := "(WITH RECURSIVE b(n, x) AS (SELECT 0, printf('%016x%016x', a.s, b.s) UNION ALL SELECT n + 1, x FROM b WHERE n < 8 AND substr(x, 2 * n + 1, 2) = substr(x, 2 * n + 17, 2)) SELECT max(n) FROM b)"
	same := func(column string) string {
		return strings.NewReplacer("a.s", "a."+column, "b.s", "b."+column).Replace(bytes)
	}
	db.exec("CREATE TABLE near AS SELECT a.id, b.id AS other, " + same("si_forest_0") + " AS zero, " + same("si_forest_1") + " AS one, alike_resemblance(a.sketch, b.sketch) AS resemblance" +
		" FROM d_alike a JOIN d_alike b ON a.id <> b.id WHERE a.id <= 60")
	db.expect("1|1", "SELECT sum(si_forest_0 < 0) > 10, sum(si_forest_0 > 0) > 10 FROM d_alike WHERE id <= 60")
	for depth := 1; depth <= 8; depth++ {
		want := db.rows(fmt.Sprintf("SELECT id, other, max(zero, one), resemblance FROM near WHERE max(zero, one) >= %d ORDER BY id, max(zero, one) DESC, resemblance DESC, other", depth))
		if n := strings.Count(want, "\n"); n < 10 {
			t.Errorf("depth %d: %d pairs, want at least 10", depth, n)
		}
		db.expect(want, fmt.Sprintf("SELECT d.id, f.key, f.depth, f.resemblance FROM d, alike_forest_rows('d', d.id, %d) f WHERE d.id <= 60 ORDER BY d.id", depth))
	}
	db.expect(db.rows("SELECT d.id, f.key, f.depth FROM d, alike_forest_rows('d', d.id, 2) f"), "SELECT d.id, f.key, f.depth FROM d, alike_forest_rows('d', d.id) f")
	for _, depth := range []string{"0", "9", "-1"} {
		db.fails("the depth is "+depth+", want 1 to 8", "SELECT * FROM alike_forest_rows('d', 1, "+depth+")")
	}
	db.exec("INSERT INTO d VALUES (1000, NULL)")
	db.expect("", "SELECT * FROM alike_forest_rows('d', 1000)")
	db.expect("", "SELECT * FROM alike_forest_rows('d', 1) LIMIT 0")
	db.expect(strings.Join(strings.Split(db.rows("SELECT key FROM alike_forest_rows('d', 1)"), "\n")[:3], "\n"), "SELECT key FROM alike_forest_rows('d', 1) LIMIT 3")
	db.expect(db.rows("SELECT id, other FROM near WHERE zero >= 1 ORDER BY id, other"), "SELECT d.id, f.key FROM d, alike_si_rows('d', 'forest/0', d.id) f WHERE d.id <= 60 ORDER BY d.id, f.key")
}

// The range of a similarity index is open: both of its ends are outside.
func TestRangeOfASimilarityIndex(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	for n := 1; n <= 30; n++ {
		db.exec(`INSERT INTO d VALUES (?, ?)`, n, strings.Repeat("word ", n))
	}
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=1 bag", "si": ["length"]}')`)
	for _, c := range []struct{ arguments, want string }{{"10", "11,9,12,8"}, {"20", "21,19,22,18,23,17,24,16,25,15"}, {"10, 0.5", "11,9,12,8,13,7,14,6"}, {"10, 0", ""}, {"1", ""}} {
		got := strings.Split(db.rows(`SELECT group_concat(key) FROM (SELECT key FROM alike_si_rows('d', 'length', `+c.arguments+`))`), ",")
		want := strings.Split(c.want, ",")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.arguments, got, want)
		}
	}
}

// Ten rows that share a feature make it hot, and nine do not; it is of the first of them.
func TestHotFromTenRows(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (5) UNION ALL SELECT i + 1 FROM n WHERE i < 13) INSERT INTO d SELECT i, ? FROM n`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4 k=12 s=7 t=84"}')`)
	db.expect("", `SELECT * FROM alike_hot('d')`)
	db.exec(`INSERT INTO d VALUES (20, ?)`, fox)
	db.expect("12|10|10|5|5", `SELECT count(*), min("rows"), max("rows"), min(key), max(key) FROM alike_hot('d')`)
}

// A verdict holds for both of its rows, whichever it names first.
func TestVerdictsHoldForBoth(t *testing.T) {
	for _, marked := range []string{"1, 2", "2, 1"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?1), (3, ?1), (4, 'words that no other row has')`, fox)
		db.rows(`SELECT alike_attach('d', 'body')`)
		db.rows(`SELECT alike_mark('d', ` + marked + `, 'distinct'), alike_mark('d', ` + strings.NewReplacer("1", "3", "2", "4").Replace(marked) + `, 'duplicate')`)
		for row, want := range map[string]string{"1": "3", "2": "3", "3": "1,2,4", "4": "3"} {
			db.expect(want, `SELECT group_concat(key) FROM (SELECT key FROM alike_rows('d', `+row+`) ORDER BY key)`)
		}
		db.expect("1|3\n2|3\n3|4", `SELECT key, other FROM alike_pairs('d') ORDER BY 1, 2`)
	}
}

func TestOrderAndLimit(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.fill("d", "%d", 1, 2, 20)
	db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.5}')`)
	all := strings.Split(db.rows(`SELECT key FROM alike_rows('d', 1)`), "\n")
	if len(all) < 10 {
		t.Fatalf("%d rows are alike, want at least 10", len(all))
	}
	db.expect(strings.Join(all[:3], "\n"), `SELECT key FROM alike_rows('d', 1) LIMIT 3`)
	db.expect(strings.Join(all[2:5], "\n"), `SELECT key FROM alike_rows('d', 1) LIMIT 3 OFFSET 2`)
	db.expect(strings.Join(all[:3], "\n"), `SELECT key FROM alike_rows('d', 1) ORDER BY resemblance DESC LIMIT 3`)
	db.expect(all[len(all)-1], `SELECT key FROM (SELECT key, resemblance, row_number() OVER () AS n FROM alike_rows('d', 1)) ORDER BY n DESC LIMIT 1`)
	db.expect("1", `SELECT key = (SELECT max(key) FROM alike_rows('d', 1)) FROM alike_rows('d', 1) ORDER BY key DESC LIMIT 1`)
	db.expect(all[0], `SELECT key FROM alike_rows('d', 1) WHERE resemblance > 0.1 LIMIT 1`)
	db.expect("40", `SELECT count(*) FROM d, (SELECT 1) WHERE EXISTS (SELECT 1 FROM alike_rows('d', d.id) LIMIT 1)`)
	db.expect("40|40", `SELECT count(*), count(DISTINCT id) FROM (SELECT d.id, (SELECT key FROM alike_rows('d', d.id) LIMIT 1) AS best FROM d) WHERE best <> id`)
	if plan := db.rows(`EXPLAIN QUERY PLAN SELECT key FROM alike_rows('d', 1) ORDER BY resemblance DESC LIMIT 3`); strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("sorted again: %s", plan)
	}
	// Two cursors of one question at a time.
	db.expect("1", `SELECT count(*) = (SELECT count(*) FROM alike_pairs('d')) FROM alike_pairs('d') a JOIN alike_pairs('d') b ON a.key = b.key AND a.other = b.other`)
	db.expect("5", `SELECT count(*) FROM (SELECT * FROM alike_pairs('d') LIMIT 5)`)
}

// A long document and a long question give way to an interrupt.
func TestInterruptWithinACall(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO d(body) SELECT ? FROM n`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	for _, query := range []string{
		`SELECT length(alike_sketch(replace(hex(zeroblob(100000000)), '00', 'word '), 'chars lean'))`, // slow enough on any machine
		`SELECT count(*) FROM alike_pairs('d')`,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		var n int
		var err error
		took := processorTime(func() { err = db.QueryRowContext(ctx, query).Scan(&n) })
		cancel()
		if err == nil {
			t.Errorf("%s: %d before the interrupt", query, n)
		}
		if took > 15*time.Second {
			t.Errorf("%s: gave way after %v of processor time, want at most 15 s", query, took)
		}
	}
	db.expect("ok", "PRAGMA integrity_check")
}

// A person at a terminal sees a line that moves; a program sees nothing.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(script, []byte(`.load `+library()+`
CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT);
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO d(body) SELECT 'document ' || i FROM n;
SELECT alike_attach('d', 'body');
`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("script", "-qec", "sqlite3 :memory: < "+script, "/dev/null").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\rd: rows") && !strings.Contains(string(out), "d: rows") || !strings.Contains(string(out), "\x1b[K") {
		t.Errorf("%v\n%q", err, out)
	}
	out, err = exec.Command("sh", "-c", "sqlite3 :memory: < "+script).CombinedOutput()
	if err != nil || string(out) != "20000\n" {
		t.Errorf("%v\n%q", err, out)
	}
}

// Closing a connection in the middle of everything leaves nothing open.
func TestCloseInTheMiddle(t *testing.T) {
	for range 50 {
		pool, err := sql.Open("alike", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		pool.SetMaxOpenConns(1)
		db := database{pool, t}
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.fill("d", "%d", 1, 2, 20)
		db.rows(`SELECT alike_attach('d', 'body', '{"at_least": 0.3}')`)
		rows, err := db.Query(`SELECT * FROM alike_pairs('d')`)
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		rows.Close()
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A host that closes with sqlite3_close, as the shell does, closes: whichever
// functions it used, no statement of ours is left open.
func TestNothingKeepsAConnectionOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.db")
	for _, sql := range []string{
		`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO d(body) VALUES ('one two three four five'), ('one two three four five');`,
		`SELECT alike_attach('d', 'body', '{"policy": "link"}')`,
		`SELECT alike_refresh('d')`,
		`SELECT alike_mark('d', 1, 2, 'duplicate')`,
		`SELECT count(*) FROM alike_rows('d', 1)`,
		`INSERT INTO d(body) VALUES ('one two three four five')`,
		`SELECT count(*) FROM alike_pairs('d')`,
		`SELECT alike_detach('d', '{"drop": true}')`,
	} {
		if out, err := exec.Command("sqlite3", "-bail", "-cmd", ".load "+library(), file, sql).CombinedOutput(); err != nil || strings.Contains(string(out), "rror") {
			t.Errorf("%s: %v\n%s", sql, err, out)
		}
	}
}

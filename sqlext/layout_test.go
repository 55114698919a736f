package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkViews compares the views of the features and of the pairs with the columns.
func (db database) checkViews(name, where string) {
	db.t.Helper()
	keys := db.rows(`SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(?) WHERE cid < (SELECT cid FROM pragma_table_info(?) WHERE name = 'profile'))`, name+"_alike", name+"_alike")
	var slots, pairs []string
	for i := range strings.Count(db.rows(`SELECT group_concat(name, ' ') FROM pragma_table_info(?) WHERE name GLOB 'f[1-9]*'`, name+"_alike"), " ") + 1 {
		slots = append(slots, fmt.Sprintf("SELECT %s, %d AS slot, f%[2]d AS feature FROM %s_alike WHERE f%[2]d IS NOT NULL", keys, i+1, name))
		pairs = append(pairs, fmt.Sprintf("SELECT a.ordered AS x, b.ordered AS y, %d FROM ordered a JOIN ordered b ON a.f%[1]d = b.f%[1]d AND a.ordered <> b.ordered", i+1))
	}
	if features := strings.Join(slots, " UNION ALL "); db.rows(`SELECT * FROM `+name+`_alike_feature ORDER BY slot, feature, 1, 2`) != db.rows(`SELECT * FROM (`+features+`) ORDER BY slot, feature, 1, 2`) {
		db.t.Fatalf("%s: the view of the features is not what the columns have\n%s\nwanted:\n%s", where, db.rows(`SELECT * FROM `+name+`_alike_feature ORDER BY slot, feature, 1, 2`), db.rows(features+` ORDER BY slot, feature, 1, 2`))
	}
	numbered := `WITH ordered AS (SELECT *, row_number() OVER (ORDER BY ` + keys + `) AS ordered FROM ` + name + `_alike) `
	if got, want := db.rows(`SELECT count(*), sum(slot) FROM `+name+`_alike_pair`), db.rows(numbered+`SELECT count(*), sum(slot) FROM (SELECT 0 AS x, 0 AS y, 0 AS slot WHERE 0 UNION ALL `+strings.Join(pairs, " UNION ALL ")+`)`); got != want {
		db.t.Fatalf("%s: the view of the pairs has %s, want %s", where, got, want)
	}
}

// sorted is the answer of a query, the lines in order.
func (db database) sorted(query string) string {
	db.t.Helper()
	lines := strings.Split(db.rows(query), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// twoLayouts is one table d in both layouts: columns in memory, then parts in a file.
type twoLayouts struct {
	key  layoutKey
	name string // the file's
	dbs  []database
}

// layoutKey is a key of d: its columns, their list, and the value for a number.
type layoutKey struct{ columns, list, value string }

// Both layouts give the same answers, whatever was written before: to the questions, and
// to plain SQL.
func TestLayoutsAnswerTheSame(t *testing.T) {
	for i, key := range []layoutKey{
		{"id INTEGER PRIMARY KEY", "id", "%d"},
		{"id TEXT PRIMARY KEY", "id", "'k%d'"},
		{"a INTEGER, b TEXT, PRIMARY KEY (a, b)", "a, b", "%[1]d %% 5, 'k%[1]d'"},
	} {
		for _, options := range []string{`"policy": "link"`, `"mode": "queue", "policy": "link"`, `"policy": "reject", "at_least": 0.9`, `"verify": "text", "policy": "warn"`} {
			t.Run(key.columns+" "+options, func(t *testing.T) {
				l := newTwoLayouts(t, key, options)
				l.writeAtRandom(t, rand.New(rand.NewPCG(uint64(i), 7)))
				l.partsAreUsed(t)
				l.sameAfterWritesOutside(t)
				l.sameAfterExchange(t)
				l.detachLeavesPairs(t)
			})
		}
	}
}

func newTwoLayouts(t *testing.T, key layoutKey, options string) *twoLayouts {
	l := &twoLayouts{key: key, name: filepath.Join(t.TempDir(), "parts.db")}
	for _, layout := range []string{"columns", "parts"} {
		db := open(t, map[string]string{"columns": ":memory:", "parts": l.name}[layout])
		columns, constraint, _ := strings.Cut(key.columns, ", PRIMARY KEY")
		if constraint != "" {
			constraint = ", PRIMARY KEY" + constraint
		}
		db.exec(`CREATE TABLE d(` + columns + `, body TEXT` + constraint + `)`)
		db.exec(`INSERT INTO d VALUES (` + fmt.Sprintf(key.value, 1) + `, 'the first text that was there before')`)
		db.rows(`SELECT alike_attach('d', 'body', '{"layout": "` + layout + `", "profile": "words w=1 k=5 s=2 r=1", ` + options + `}')`)
		l.dbs = append(l.dbs, db)
	}
	return l
}

// same fails for a question that the layouts answer otherwise.
func (l *twoLayouts) same(t *testing.T, where string) {
	t.Helper()
	for _, question := range []string{
		`SELECT * FROM alike_pairs('d', 0.3)`, `SELECT * FROM alike_clusters('d', 0.5) ORDER BY 1`, `SELECT * FROM alike_keep('d') ORDER BY 1`, `SELECT * FROM alike_hot('d')`,
		`SELECT d.*, x.* FROM d, alike_rows_like('d', d.body, 0.3) x`, `SELECT * FROM d_alike_pair`, `SELECT * FROM d_alike_feature`,
		`SELECT ` + l.key.list + `, shared, resemblance, policy, omitted FROM d_alike_match`, `SELECT "rows", sketched, stale, pending, failed FROM alike_status()`,
	} {
		if want, got := l.dbs[0].sorted(question), l.dbs[1].sorted(question); want != got {
			t.Fatalf("%s: %s\ncolumns:\n%s\nparts:\n%s", where, question, want, got)
		}
	}
}

// writeAtRandom runs statements in both databases, which succeed or fail alike.
func (l *twoLayouts) writeAtRandom(t *testing.T, random *rand.Rand) {
	words := strings.Fields("river mountain paper letter window engine garden winter")
	text := func() string {
		list := make([]string, 3+random.IntN(4))
		for i := range list {
			list[i] = words[random.IntN(len(words))]
		}
		return "'" + strings.Join(list, " ") + "'"
	}
	one := func() string { return fmt.Sprintf(l.key.value, 1+random.IntN(25)) }
	for step := range 120 {
		statement := ""
		switch random.IntN(8) {
		case 0, 1, 2:
			statement = fmt.Sprintf("INSERT %s INTO d VALUES (%s, %s)", []string{"", "OR REPLACE", "OR IGNORE", "OR FAIL"}[random.IntN(4)], one(), text())
		case 3:
			statement = fmt.Sprintf("UPDATE d SET body = %s WHERE (%s) = (%s)", text(), l.key.list, one())
		case 4:
			statement = fmt.Sprintf("UPDATE OR REPLACE d SET (%s) = (%s) WHERE (%[1]s) = (%s)", l.key.list, one(), one())
		case 5:
			statement = fmt.Sprintf("DELETE FROM d WHERE (%s) = (%s)", l.key.list, one())
		case 6:
			statement = fmt.Sprintf("UPDATE d SET body = body || ' garden' WHERE (%s) < (%s)", l.key.list, one())
		case 7:
			statement = "SELECT alike_refresh('d')"
		}
		undo := random.IntN(6) == 0
		errs := make([]string, 2)
		for i, db := range l.dbs {
			if undo {
				db.exec("BEGIN")
			}
			if _, err := db.try(statement); err != nil {
				errs[i] = err.Error()
			}
			if undo {
				db.Exec("ROLLBACK")
			}
		}
		if errs[0] != errs[1] {
			t.Fatalf("step %d, %s:\ncolumns: %s\nparts: %s", step, statement, errs[0], errs[1])
		}
		if step%6 == 5 {
			l.same(t, fmt.Sprintf("step %d, %s", step, statement))
		}
	}
}

func (l *twoLayouts) partsAreUsed(t *testing.T) {
	parts := l.dbs[1]
	for _, db := range l.dbs {
		db.rows(`SELECT alike_refresh('d')`) // what is queued
	}
	parts.check("d", "parts")
	parts.checkViews("d", "parts")
	if parts.rows(`SELECT (SELECT count(*) FROM d_alike_part_1) * (SELECT count(*) FROM d_alike_part_4) > 0`) != "1" {
		t.Error("the part 1 or the part 4 is empty, want rows in both")
	}
	want := regexp.MustCompile(`^[0-3] of 4 rows listed; part 1 at slice [1-4] of 4, part 2 at slice [1-4] of 4, part 3 at slice [1-4] of 4$`)
	if got := parts.rows(`SELECT merging FROM alike_status()`); !want.MatchString(got) {
		t.Errorf("merging: %q, want %s", got, want)
	}
}

// sameAfterWritesOutside: the file is as good after VACUUM and after a program without the extension.
func (l *twoLayouts) sameAfterWritesOutside(t *testing.T) {
	l.dbs[1].exec(`VACUUM`)
	l.same(t, "after VACUUM")
	without := plain(t, l.name)
	without.exec(`ALTER TABLE d RENAME TO papers`)
	without.exec(`ALTER TABLE papers RENAME TO d`)
	without.exec(`DELETE FROM d WHERE (` + l.key.list + `) IN (SELECT ` + l.key.list + ` FROM d LIMIT 2)`)
	without.Close()
	l.dbs[0].exec(`DELETE FROM d WHERE (` + l.key.list + `) IN (SELECT ` + l.key.list + ` FROM d LIMIT 2)`)
	l.same(t, "without the extension")
}

// sameAfterExchange gives each database the layout of the other.
func (l *twoLayouts) sameAfterExchange(t *testing.T) {
	for i, db := range l.dbs {
		db.rows(`SELECT alike_attach('d', 'body', '{"layout": "` + []string{"parts", "columns"}[i] + `"}')`)
	}
	l.dbs[1].expect("columns||", `SELECT layout, merging, note FROM alike_status()`)
	l.dbs[1].expect("0", `SELECT count(*) FROM sqlite_master WHERE name GLOB 'd_alike_part_*'`)
	slices.Reverse(l.dbs)
	l.same(t, "the layouts exchanged")
}

func (l *twoLayouts) detachLeavesPairs(t *testing.T) {
	for _, db := range l.dbs {
		kept := db.sorted(`SELECT * FROM d_alike_pair`)
		db.rows(`SELECT alike_detach('d')`)
		db.expect("0", `SELECT count(*) FROM sqlite_master WHERE name GLOB 'd_alike_part_*'`)
		if now := db.sorted(`SELECT * FROM d_alike_pair`); now != kept {
			t.Errorf("a detach leaves the pairs\n%s\nof\n%s", now, kept)
		}
		db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
		db.expect("d", `SELECT group_concat(name) FROM sqlite_master WHERE type <> 'index'`)
	}
}

// However often a few rows are updated, the tables above the last one do not come to hold more entries
// than the rows have features, 5 each; an update brings 10.
func TestUpdatesLeaveFewEntries(t *testing.T) {
	db := open(t, ":memory:")
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"layout": "parts", "profile": "words w=1 k=5 s=2 r=1"}')`)
	for n := range 12 {
		db.exec(`INSERT INTO d VALUES (?, ?)`, n+1, fmt.Sprintf("the text number %d of all", n))
	}
	largest := 0
	for n := range 600 {
		db.exec(`UPDATE d SET body = ? WHERE id = ?`, fmt.Sprintf("another text %d with %d words", n, n%7), 1+n%12)
		var entries int
		fmt.Sscan(db.rows(`SELECT (SELECT count(*) FROM d_alike_part_1) + (SELECT count(*) FROM d_alike_part_2) + (SELECT count(*) FROM d_alike_part_3)`), &entries)
		if n > 300 {
			largest = max(largest, entries)
		}
	}
	if largest > 12*5 {
		t.Errorf("%d entries are above the last table, want at most %d", largest, 12*5)
	}
	db.check("d", "after the updates")
}

// An INSERT compiles to no more in parts than in columns, apart from the list: the steps are not
// compiled with it. The policy's probes are.
func TestPartsCompileQuickly(t *testing.T) {
	for _, policy := range []string{"ignore", "link", "reject"} {
		var sizes []int
		for _, layout := range []string{"columns", "parts"} {
			db := open(t, ":memory:")
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.rows(`SELECT alike_attach('d', 'body', ?)`, fmt.Sprintf(`{"layout": %q, "policy": %q, "profile": "words k=23 s=7 t=161"}`, layout, policy))
			sizes = append(sizes, strings.Count(db.rows(`EXPLAIN INSERT INTO d(body) VALUES ('a')`), "\n"))
		}
		if sizes[0] < 100 || sizes[1] > sizes[0]+300 {
			t.Errorf("with the policy %s an INSERT has %d instructions in columns and %d in parts, want at most 300 more", policy, sizes[0], sizes[1])
		}
	}
}

// The list stays short under the writes of every program: a program with the extension, also where a copy of the
// database is attached beside it, and a program without it, which deletes rows and changes keys.
func TestListStaysShort(t *testing.T) {
	dir := t.TempDir()
	name, copied := filepath.Join(dir, "parts.db"), filepath.Join(dir, "copy.db")
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"layout": "parts", "profile": "words w=1 k=5 s=2 r=1"}')`)
	short := func(db database, schema, where string) {
		t.Helper()
		db.expect("1", `SELECT count(*) < 4 FROM `+schema+`.d_alike_part_new -- `+where)
	}
	for n := range 50 {
		db.exec(`INSERT INTO d(body) VALUES (?)`, fmt.Sprintf("the text number %d of all", n))
		short(db, "main", "checked in")
	}
	db.exec(`VACUUM INTO ?`, copied)
	db.exec(`ATTACH ? AS copied`, "file:"+copied+"?mode=ro")
	before := db.rows(`SELECT * FROM copied.d_alike_part_sweep`)
	for n := range 40 {
		db.exec(`INSERT INTO main.d(body) VALUES (?)`, fmt.Sprintf("another text with the number %d", n))
		short(db, "main", "beside a copy")
	}
	if got := db.rows(`SELECT * FROM copied.d_alike_part_sweep`); got != before {
		t.Errorf("checkins into a database take steps in its copy: %s, want %s", got, before)
	}
	db.exec(`DETACH copied`)
	db.exec(`ATTACH ? AS copied`, copied)
	for n := range 40 {
		db.exec(`INSERT INTO copied.d(id, body) VALUES (?, ?)`, 1000+n, fmt.Sprintf("a text of the copy with the number %d", n))
		short(db, "copied", "in the copy")
	}
	db.exec(`DETACH copied`)
	db.check("d", "beside a copy")
	db.Close()
	db = open(t, name)
	db.rows(`SELECT alike_attach('d', 'body', '{"mode": "queue"}')`)
	db.Close()
	without := plain(t, name)
	for n := range 20 {
		without.exec(`DELETE FROM d WHERE id = ?`, 1+n)
		short(without, "main", "deleted without the extension")
		without.exec(`UPDATE d SET id = id + 500 WHERE id = ?`, 30+n)
		short(without, "main", "moved without the extension")
	}
	without.Close()
	db = open(t, name)
	db.rows(`SELECT alike_refresh('d')`)
	db.check("d", "without the extension")
	db.checkViews("d", "without the extension")
}

// Tables of somebody else that have the names of parts are never dropped, and attach says
// which name is taken.
func TestTakenNamesOfParts(t *testing.T) {
	for _, name := range []string{"d_alike_part_new", "d_alike_part_1", "d_alike_part_sweep", "d_alike_part_4", "d_alike_part_1_2", "D_ALIKE_PART_2"} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`CREATE TABLE ` + name + `(x)`)
		db.exec(`INSERT INTO ` + name + ` VALUES (7)`)
		if name == "d_alike_part_1_2" {
			db.rows(`SELECT alike_attach('d', 'body', '{"layout": "parts"}')`)
		} else {
			db.fails(`table "`+strings.ToLower(name)+`" already exists`, `SELECT alike_attach('d', 'body', '{"layout": "parts"}')`)
			db.rows(`SELECT alike_attach('d', 'body', '{"layout": "columns"}')`)
		}
		db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
		db.expect("1", `SELECT count(*) FROM alike_pairs('d')`)
		db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
		db.expect("d\n"+name+"\n7", `SELECT name FROM sqlite_master UNION ALL SELECT x FROM `+name)
	}
}

package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// checkSuperfeatures compares the columns g1 to g6 of a table of the profile k=4 r=2 with
// what they are for: two rows are equal in one of them where they are in two features.
func (db database) checkSuperfeatures(where string) {
	db.t.Helper()
	n := 0
	for i := 1; i <= 4; i++ {
		for j := i + 1; j <= 4; j++ {
			n++
			differ := fmt.Sprintf(`SELECT count(*), sum(a.g%[1]d IS NULL <> (a.f%[2]d IS NULL OR a.f%[3]d IS NULL)), sum(ifnull(a.g%[1]d = b.g%[1]d, 0) <> ifnull(a.f%[2]d = b.f%[2]d AND a.f%[3]d = b.f%[3]d, 0))
				FROM d_alike a, d_alike b WHERE a.sketch IS NOT NULL AND b.sketch IS NOT NULL`, n, i, j)
			if got := db.rows(differ); !strings.HasSuffix(got, "|0|0") {
				db.t.Fatalf("%s: g%d and f%d, f%d differ: %s", where, n, i, j, got)
			}
			own := fmt.Sprintf(`SELECT count(*) FROM d JOIN d_alike s ON s.id = d.id WHERE s.g%[1]d IS NOT alike_superfeature(alike_sketch(d.body, 'words bins w=1 t=8 k=4 s=2 r=2'), %[1]d)`, n)
			if got := db.rows(own); got != "0" {
				db.t.Fatalf("%s: %s rows have another g%d than alike_superfeature", where, got, n)
			}
			if plan := db.rows(fmt.Sprintf(`EXPLAIN QUERY PLAN SELECT a.id, b.id FROM d_alike a JOIN d_alike b ON b.g%[1]d = a.g%[1]d WHERE a.id = 1`, n)); !strings.Contains(plan, fmt.Sprintf("SEARCH b USING COVERING INDEX d_alike_g%d", n)) {
				db.t.Fatalf("%s: the index of g%d is not used:\n%s", where, n, plan)
			}
		}
	}
}

// The columns of superfeatures follow every change of a row, of its key, of the options and
// of the profile, and nothing is left of them.
func TestSuperfeatures(t *testing.T) {
	const options = `{"profile": "words bins w=1 t=8 k=4 s=2 r=2", "superfeatures": true}`
	db := open(t, filepath.Join(t.TempDir(), "super.db"))
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	random := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("the quick brown fox jumps over a lazy dog and runs far away from it")
	text := func() string {
		list := append([]string{}, words...)
		for range random.IntN(4) {
			list[random.IntN(len(list))] = fmt.Sprint("word", random.IntN(9))
		}
		return strings.Join(list[:1+random.IntN(len(list))], " ")
	}
	for range 40 {
		db.exec(`INSERT INTO d(body) VALUES (?)`, text())
	}
	db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
	db.checkSuperfeatures("filled")
	for range 20 {
		db.exec(`INSERT INTO d(body) VALUES (?)`, text())
		db.exec(`UPDATE d SET body = ? WHERE id = ?`, text(), 1+random.IntN(40))
	}
	db.exec(`UPDATE d SET id = id + 1000 WHERE id % 3 = 0`)
	db.exec(`REPLACE INTO d VALUES (1, ?)`, text())
	db.exec(`DELETE FROM d WHERE id % 7 = 0`)
	db.exec(`UPDATE d SET body = NULL WHERE id = 2`)
	db.checkSuperfeatures("written")
	columns := `SELECT count(*) FROM pragma_table_info('d_alike') WHERE name GLOB 'g[1-9]*'`
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "bing", "layout": "columns"}')`)
	db.expect("15", columns)
	db.rows(`SELECT alike_attach('d', 'body', '{"superfeatures": false, "layout": "columns", "profile": "prose"}')`)
	db.expect("0", columns)
	db.fails("under k=23 r=2 are 253 columns", `SELECT alike_attach('d', 'body', '{"superfeatures": true}')`)
	db.expect("0", columns)
	db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
	db.checkSuperfeatures("a change of the profile")
	db.rows(`SELECT alike_detach('d')`)
	db.exec(`UPDATE d SET body = ? WHERE id < 20`, text())
	db.rows(`SELECT alike_attach('d', 'body', '{"layout": "columns", "profile": "words bins w=1 t=8 k=4 s=2 r=2"}')`)
	db.checkSuperfeatures("attached again to what a detach kept")
	db.rows(`SELECT alike_attach('d', 'body', '{"mode": "queue", "layout": "columns"}')`)
	db.exec(`UPDATE d SET body = ? WHERE id > 20`, text())
	db.rows(`SELECT alike_refresh('d')`)
	db.checkSuperfeatures("refreshed")
	db.fails("which the layout parts does without", `SELECT alike_attach('d', 'body', '{"layout": "parts"}')`)
	db.checkSuperfeatures("parts refused")
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
}

// The profiles of the papers have room for their superfeatures, and so has a table with
// every similarity index that it can have beside them.
func TestSuperfeaturesHaveRoom(t *testing.T) {
	for profile, want := range map[string]string{
		"web": "15", "bing r=2": "15", "bing r=3": "20", "bing": "15", "words t=84 k=12 s=7": "66", "words k=8 s=4 r=4": "70", "words k=4 s=4 r=4": "1",
		"words k=13 s=4": "", "words k=64 s=2 r=63": "", "words k=64 s=2 r=32": "", "bing r=1": "",
	} {
		db := open(t, ":memory:")
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d(body) VALUES ('one two three four five six')`)
		options := fmt.Sprintf(`{"profile": %q, "superfeatures": true, "si": ["length", "forest/0", "forest/1"]}`, profile)
		if want == "" {
			db.fails("alike_attach: the superfeatures under ", `SELECT alike_attach('d', 'body', ?)`, options)
			continue
		}
		db.expect("1", `SELECT alike_attach('d', 'body', ?)`, options)
		db.expect(want, `SELECT count(*) FROM pragma_index_list('d_alike') WHERE name GLOB 'd_alike_g[1-9]*'`)
	}
}

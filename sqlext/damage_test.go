package sqlext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/cluster/clustertest"
)

// without runs statements while the triggers on a table of ours are away, as a disk or a
// program without the extension would do it.
func (db database) without(triggersOn string, statements ...string) {
	db.t.Helper()
	names := strings.Fields(db.rows(`SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? ORDER BY rowid`, triggersOn))
	var triggers []string
	for _, name := range names {
		triggers = append(triggers, db.rows(`SELECT sql FROM sqlite_master WHERE name = ?`, name))
		db.exec(`DROP TRIGGER ` + name)
	}
	for _, statement := range statements {
		db.exec(statement)
	}
	for _, trigger := range triggers {
		db.exec(trigger)
	}
}

// A damaged sketch fails no statement on the table. The checkins of other rows do not compare
// with it, the status and each question that meets it say what to do, and a refresh mends it.
func TestDamagedSketches(t *testing.T) {
	for _, options := range []string{
		`{"policy": "link"}`, `{"policy": "warn"}`, `{"policy": "reject"}`, `{"policy": "link", "clusters": true}`, `{"policy": "link", "clusters": true, "verify": "text"}`,
		`{"policy": "link", "verify": "text"}`, `{"policy": "link", "short": {"below": 9, "at_least": 0.9}, "clusters": true}`, `{"policy": "link", "mode": "queue"}`,
		`{"policy": "link", "profile": "words mod=2", "clusters": true}`, `{"policy": "link", "by": "containment", "contains": true, "clusters": true}`,
	} {
		for _, sketch := range []string{`NULL`, `x''`, `x'0102'`, `'text'`, `7`, `substr(sketch, 1, length(sketch) - 1)`, `x'a102' || substr(sketch, 3)`, `alike_sketch('another profile', 'chars')`} {
			for _, silent := range []bool{false, true} {
				t.Run(fmt.Sprint(options, sketch, silent), func(t *testing.T) {
					db := memory(t)
					db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
					db.rows(`SELECT alike_attach('d', 'body', ?)`, options)
					rejects, queued := strings.Contains(options, "reject"), strings.Contains(options, "queue")
					refreshed := func() {
						if queued {
							db.rows(`SELECT alike_refresh('d')`)
						}
					}
					db.exec(`INSERT INTO d VALUES (1, ?)`, fox)
					if !rejects {
						db.exec(`INSERT INTO d VALUES (2, ?), (3, ?)`, fox, fox)
						db.rows(`SELECT alike_mark('d', 1, 3, 'duplicate')`)
					}
					refreshed()
					damage := func() {
						if statement := `UPDATE d_alike SET sketch = ` + sketch + ` WHERE id = 1`; silent {
							db.without("d_alike", statement)
						} else {
							db.exec(statement)
						}
						if note := db.rows(`SELECT note FROM alike_status()`); !strings.Contains(note, "the sketch of 1 row is damaged") || !strings.Contains(note, "alike_refresh('d')") {
							t.Errorf("the status says %q", note)
						}
					}
					damage()
					if !rejects {
						if !strings.Contains(options, "mod") {
							questions := []string{`SELECT * FROM alike_rows('d', 2)`, `SELECT * FROM alike_rows_like('d', '` + fox + `')`, `SELECT * FROM alike_pairs('d')`, `SELECT count(*) FROM alike_pairs('d')`, `SELECT * FROM alike_clusters('d')`, `SELECT * FROM alike_keep('d')`}
							if sketch == `NULL` || sketch == `x''` || sketch == `7` { // is not read where many rows are
								questions = questions[:2]
							}
							for _, question := range questions {
								db.fails("the sketch of row 1 of d is damaged (", question)
								db.fails("); alike_refresh('d') sketches the row again", question)
							}
						}
						db.exec(`INSERT INTO d VALUES (4, ?)`, fox)
						if !queued && !strings.Contains(options, "containment") {
							db.expect("2\n3", `SELECT other FROM d_alike_match WHERE id = 4 ORDER BY 1`)
						}
						db.exec(`UPDATE d SET body = body || ' again' WHERE id = 3`)
						db.rows(`SELECT alike_mark('d', 1, 2, 'distinct'), alike_mark('d', 1, 2, NULL)`)
						db.exec(`DELETE FROM d WHERE id = 2`)
					} else {
						db.exec(`INSERT INTO d VALUES (4, ?)`, fox)
					}
					db.expect("1", `SELECT count(*) FROM d WHERE id = 4`)
					if got := db.rows(`SELECT alike_refresh('d')`); got == "0" {
						t.Error("the refresh mended nothing")
					}
					db.check("d", "refreshed")
					db.expect("0", `SELECT count(*) FROM alike_status() WHERE note LIKE '%damage%'`)
					db.expect("0", `SELECT alike_refresh('d')`)
					if strings.Contains(options, "clusters") {
						db.checkKept(1000)
						damage()
						db.exec(`DELETE FROM d WHERE id = 1`)
						db.checkKept(1000)
					}
				})
			}
		}
	}
}

// A row that linked two others leaves its cluster also when its sketch is damaged: its features
// tell which rows were its neighbours.
func TestDamagedLinkLeaves(t *testing.T) {
	for _, sketch := range []string{`NULL`, `x'0102'`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "at_least": 0.5, "clusters": true}')`)
		db.exec(`INSERT INTO d VALUES (1, ?), (2, ?), (3, ?)`, clustertest.Chained(0), clustertest.Chained(2), clustertest.Chained(4))
		db.expect("1|2\n2|3", `SELECT key, other FROM alike_pairs('d') ORDER BY 1`)
		db.expect("3", `SELECT count(*) FROM d_alike_cluster WHERE cluster > 0`)
		db.without("d_alike", `UPDATE d_alike SET sketch = `+sketch+` WHERE id = 2`)
		db.exec(`DELETE FROM d WHERE id = 2`)
		db.checkKept(1000)
		db.expect("0", `SELECT count(*) FROM d_alike_cluster WHERE cluster > 0`)
	}
}

// A connection that remembers an attachment says what is gone and what to do, whatever
// object of ours was dropped.
func TestDroppedObjects(t *testing.T) {
	questions := []string{
		`SELECT count(*) FROM alike_rows('e', 1)`, `SELECT count(*) FROM alike_rows_like('e', 'some text of a few words')`, `SELECT count(*) FROM alike_pairs('e')`, `SELECT * FROM alike_pairs('e')`,
		`SELECT count(*) FROM alike_clusters('e')`, `SELECT count(*) FROM alike_keep('e')`, `SELECT count(*) FROM alike_keep('e', 'contains')`, `SELECT count(*) FROM alike_si_rows('e', 'length', 1)`, `SELECT count(*) FROM alike_forest_rows('e', 1)`,
		`SELECT count(*) FROM alike_containers('e', 1)`, `SELECT count(*) FROM alike_contained('e', 1)`, `SELECT count(*) FROM alike_containers_like('e', 'some text of a few words')`, `SELECT * FROM alike_containments('e')`,
		`SELECT count(*) FROM alike_hot('e')`, `SELECT alike_mark('e', 1, 2, 'distinct')`, `SELECT alike_write_clusters('e')`, `SELECT alike_refresh('e')`,
	}
	for _, dropped := range []string{"TABLE e_alike", "VIEW e_alike_source", "TABLE e_alike_mark", "TABLE e_alike_cluster", "TABLE e_alike_value", "TABLE e_alike_part_new", "INDEX e_alike_f1"} {
		for _, schema := range []string{"main", "other"} {
			db := memory(t)
			db.exec(`ATTACH ':memory:' AS other`)
			db.exec(`CREATE TABLE ` + schema + `.e(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`INSERT INTO e(body) VALUES (?), (?)`, fox, fox)
			db.rows(`SELECT alike_attach('e', 'body', '{"clusters": true, "contains": true, "si": ["length", "forest/0"]}')`)
			for _, question := range questions {
				db.rows(question)
			}
			kind, name, _ := strings.Cut(dropped, " ")
			if db.rows(`SELECT count(*) FROM `+schema+`.sqlite_master WHERE name = ?`, name) == "0" {
				continue // of the other layout
			}
			db.exec(`DROP ` + kind + ` ` + schema + `.` + name)
			failed := 0
			for _, question := range questions {
				if _, err := db.try(question); err != nil {
					failed++
					if want := fmt.Sprintf("the %s %s of the attachment e is gone; alike_detach('e') removes the attachment", strings.ToLower(kind), name); !strings.Contains(err.Error(), want) {
						t.Errorf("without %s of %s, %s: %v, want %q in it", dropped, schema, question, err, want)
					}
				}
			}
			if failed == 0 || failed < len(questions) && name == "e_alike" {
				t.Errorf("without %s of %s %d of %d questions fail", dropped, schema, failed, len(questions))
			}
			if note := db.rows(`SELECT note FROM alike_status()`); name == "e_alike" && !strings.Contains(note, "the table e_alike of the attachment e is gone") {
				t.Errorf("without %s of %s the status says %q", dropped, schema, note)
			}
			db.rows(`SELECT alike_detach('e', '{"drop": true}')`)
			db.expect("e", `SELECT group_concat(name) FROM `+schema+`.sqlite_master WHERE name <> 'sqlite_sequence'`)
			db.rows(`SELECT alike_attach('e', 'body')`)
			db.expect("2", `SELECT key FROM alike_rows('e', 1)`)
		}
	}
}

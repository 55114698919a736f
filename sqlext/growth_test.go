package sqlext_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/cluster/clustertest"
)

// stepsOf runs statements in a host that counts what SQLite's machine does, each in a
// transaction that is undone. The answer has the steps of each, in thousands.
func stepsOf(t *testing.T, file string, statements []string) (steps []float64) {
	t.Helper()
	host := `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.enable_load_extension(True)
db.load_extension(sys.argv[2])
steps = []
for statement in json.loads(sys.argv[3]):
    for again in range(2): # the first time statements are made
        calls = 0
        def handler():
            global calls
            calls += 1
        db.execute("BEGIN")
        db.set_progress_handler(handler, 2)
        db.execute(statement).fetchall()
        db.set_progress_handler(None, 0)
        db.execute("ROLLBACK")
    steps.append(calls / 500)
print(json.dumps(steps))
`
	list, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/bin/python3", "-c", host, file, library(), string(list)).CombinedOutput()
	if err != nil || json.Unmarshal(out, &steps) != nil || len(steps) != len(statements) {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, n := range steps {
		if n < 0.1 {
			t.Errorf("%s takes %v thousand steps: the host does not count", statements[i], n)
		}
	}
	return steps
}

// checkGrowth fails where statements take more steps on a table that is larger by times.
func checkGrowth(t *testing.T, times int, statements []string, fill func(db database, times int)) {
	t.Helper()
	var steps [2][]float64
	for i, n := range []int{1, times} {
		file := filepath.Join(t.TempDir(), fmt.Sprint(n, ".db"))
		db := open(t, file)
		db.exec(`PRAGMA synchronous = OFF`)
		fill(db, n)
		db.Close()
		steps[i] = stepsOf(t, file, statements)
	}
	for i, statement := range statements {
		if steps[1][i] > 1.2*steps[0][i]+1 {
			t.Errorf("%.80s takes %.0f thousand steps, and %.0f in a table of %d times the rows", statement, steps[0][i], steps[1][i], times)
		}
	}
}

// A checkin under a policy by containment does not read all rows that share a passage with it,
// and the questions what contains a row and which rows are in others look up what is rare.
func TestSharedPassagesCostNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	notice := strings.Join(prose(r, 60), " ")
	mine := strings.Join(prose(r, 400), " ")
	excerpt := strings.Join(strings.Fields(mine)[100:160], " ")
	var statements []string
	for _, body := range []string{notice + " " + mine, mine + " " + notice + " and more", notice, excerpt, strings.Join(prose(r, 20), " ") + " " + notice} {
		statements = append(statements, "INSERT INTO d(body) VALUES ('"+body+"')")
	}
	statements = append(statements, "SELECT * FROM alike_containers('d', 1)", "SELECT count(*) FROM d WHERE id < 100 AND (SELECT count(*) FROM alike_containers('d', d.id)) > 0")
	checkGrowth(t, 8, statements, func(db database, times int) {
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO d VALUES (1, ?), (2, ?)`, notice+" "+mine, excerpt)
		for n := range 500 * times {
			db.exec(`INSERT INTO d VALUES (?, ?)`, 10+n, strings.Join(prose(r, 100), " ")+" "+notice)
		}
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "policy": "link", "by": "containment", "contains": true}')`)
	})
}

// A checkin that keeps clusters costs as much in a large table as in a small one: whether the
// row is alone, in a cluster, or in a chain of more rows than a cluster may have.
func TestKeptClustersCostNothing(t *testing.T) {
	for _, layout := range []string{"columns", "parts"} {
		var statements []string
		for _, at := range []int{10, 20, 100} { // a cluster, the chain, and where that breaks
			statements = append(statements, fmt.Sprintf("INSERT INTO d(body) VALUES ('%s')", clustertest.Chained(at)),
				fmt.Sprintf("DELETE FROM d WHERE id = %d", at), fmt.Sprintf("UPDATE d SET body = '%s' WHERE id = %d", clustertest.Chained(at+1), at))
		}
		statements = append(statements, "INSERT INTO d(body) VALUES ('a text that has no other row beside it in the whole of the table')", "DELETE FROM d WHERE id > 100000 AND id < 100003",
			"SELECT alike_mark('d', 1, 2, 'distinct')")
		checkGrowth(t, 8, statements, func(db database, times int) {
			r := rand.New(rand.NewPCG(14, 15))
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			for n := range 12 {
				db.exec(`INSERT INTO d VALUES (?, ?)`, n+1, clustertest.Chained(n+1))
			}
			for n := 20; n < 20+150*times; n++ {
				db.exec(`INSERT INTO d VALUES (?, ?)`, n, clustertest.Chained(n))
			}
			for n := range 500 * times {
				db.exec(`INSERT INTO d VALUES (?, ?)`, 100000+n, strings.Join(prose(r, 20), " "))
			}
			db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "at_least": 0.4, "clusters": 40, "layout": "` + layout + `"}')`)
			for n := range 100 * times {
				db.rows(`SELECT alike_mark('d', ?, ?, 'duplicate')`, 100100+2*n, 100101+2*n)
			}
			if got, want := db.rows(`SELECT count(*) FROM d_alike_cluster WHERE component = -1`), fmt.Sprint(150*times); got != want {
				t.Errorf("%s rows are in the chain, want %s", got, want)
			}
		})
	}
}

// All pairs, and what many rows share, take about as many steps in parts as in columns where rows
// share features, in every table of entries and in the list.
func TestPairsInPartsCostNoMore(t *testing.T) {
	statements := []string{"SELECT count(*), sum(key * other), sum(shared) FROM alike_pairs('d')", "SELECT count(*), sum(rows) FROM alike_hot('d')"}
	var steps [2][]float64
	var answers [2]string
	for i, layout := range []string{"columns", "parts"} {
		file := filepath.Join(t.TempDir(), layout+".db")
		db := open(t, file)
		db.exec(`PRAGMA synchronous = OFF`)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "layout": "` + layout + `"}')`)
		r := rand.New(rand.NewPCG(16, 17))
		db.exec(`BEGIN`)
		for range 1000 {
			text := prose(r, 40)
			for range 2 {
				text[r.IntN(len(text))] = "another"
				db.exec(`INSERT INTO d(body) VALUES (?)`, strings.Join(text, " "))
			}
		}
		for n := range 201 {
			db.exec(`UPDATE d SET body = (SELECT body FROM d WHERE id = ?) || ' again' WHERE id = ?`, 2*n+1, 2*n+1000)
		}
		db.exec(`COMMIT`)
		for _, statement := range statements {
			answers[i] += db.rows(statement) + "\n"
		}
		if layout == "parts" {
			db.expect("1", `SELECT (SELECT count(*) FROM d_alike_part_1) * (SELECT count(*) FROM d_alike_part_4) * (SELECT count(*) FROM d_alike_part_new) > 0`)
		}
		db.Close()
		steps[i] = stepsOf(t, file, statements)
	}
	if answers[0] != answers[1] || strings.HasPrefix(answers[0], "0") {
		t.Errorf("columns answer\n%s\nparts\n%s", answers[0], answers[1])
	}
	for i, statement := range statements {
		if columns, parts := steps[0][i], steps[1][i]; parts > 1.5*columns {
			t.Errorf("%s takes %.0f thousand steps in columns and %.0f in parts", statement, columns, parts)
		}
	}
}

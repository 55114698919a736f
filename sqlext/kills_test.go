package sqlext_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var killsWanted = flag.Int("kills", 24, "how often TestKills kills a program that works with an attached table")

// killedChild names the database of a child of TestKills, and its seed.
const killedChild = "ALIKE_KILLED_CHILD"

// mayFail are the statements of the child that another's state can make impossible: what
// is detached cannot be refreshed.
func (db database) mayFail(statement string) {
	if _, err := db.try(statement); err != nil && !strings.Contains(err.Error(), "nothing is attached") && !strings.Contains(err.Error(), "has other columns") && !strings.Contains(err.Error(), "need the mode compute") {
		fmt.Println("error", statement, err)
		os.Exit(1)
	}
}

// beKilled does what a program does with an attached table, until it is killed. After
// each transaction it prints its number.
func beKilled(arguments string) {
	var seed uint64
	file, number, _ := strings.Cut(arguments, "|")
	fmt.Sscan(number, &seed)
	random := rand.New(rand.NewPCG(seed, 9))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	db := open(&testing.T{}, file)
	var n int
	fmt.Sscan(db.rows(`SELECT max(n) FROM done`), &n)
	for {
		n++
		document := fmt.Sprintf("'%s number ' || (%d + i)", pick(fox, "a text of its own kind", "words that others have not"), random.IntN(1000))
		from := random.IntN(3000)
		// With each transaction goes how many rows and verdicts there are at its end.
		marks := "-1"
		if db.rows(`SELECT count(*) FROM sqlite_master WHERE name = 'd_alike_mark'`) == "1" {
			marks = "(SELECT count(*) FROM d_alike_mark)"
		}
		commit := func(statements ...string) {
			db.exec(`BEGIN IMMEDIATE`)
			for _, s := range statements {
				db.mayFail(s)
			}
			db.exec(`INSERT INTO done SELECT ?, (SELECT count(*) FROM d), `+marks, n)
			db.exec(`COMMIT`)
			fmt.Println(n)
		}
		switch random.IntN(12) {
		case 0, 1, 2:
			commit(fmt.Sprintf(`WITH RECURSIVE n(i) AS (VALUES (%d) UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT OR REPLACE INTO d SELECT i, %s FROM n`, from, from+random.IntN(200), document))
		case 3:
			commit(fmt.Sprintf(`UPDATE d SET body = body || ' and more' WHERE id BETWEEN %d AND %d`, from, from+100))
		case 4:
			commit(fmt.Sprintf(`UPDATE OR REPLACE d SET id = id + 1000 WHERE id BETWEEN %d AND %d`, from, from+50))
		case 5:
			commit(fmt.Sprintf(`DELETE FROM d WHERE id BETWEEN %d AND %d`, from, from+random.IntN(150)))
		case 6:
			if marks != "-1" {
				commit(`SELECT alike_mark('d', min(id), max(id), 'distinct') FROM d_alike HAVING count(*) > 1`)
			}
		case 7, 8:
			db.mayFail(`SELECT alike_attach('d', 'body', '{` + pick(`"policy": "link"`, `"policy": "ignore"`, `"mode": "queue"`, `"mode": "compute"`, `"profile": "words w=2"`, `"profile": "words w=3 k=4 s=2 t=8"`,
				`"layout": "parts"`, `"layout": "columns"`, `"contains": true`, `"contains": false`, `"where": "id < 2000"`, `"where": ""`, `"si": ["length"]`, `"clusters": true`, `"clusters": 60`, `"clusters": false`) + `}')`)
		case 9:
			db.mayFail(`SELECT alike_refresh('d')`)
		case 10:
			marks = "-1"
			commit()
			db.mayFail(`SELECT alike_detach('d'` + pick("", `, '{"drop": true}'`) + `)`)
		case 11:
			db.exec(`VACUUM`)
		}
	}
}

// A program is killed in the middle of whatever it does. What it has committed is there,
// the database is whole, and a refresh, or another attach, goes on where it stopped.
// The long form is -args -kills 1000.
func TestKills(t *testing.T) {
	kills := *killsWanted
	if testing.Short() {
		kills = min(kills, 8)
	}
	for i, journal := range []string{"WAL", "DELETE"} {
		t.Run(journal, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "killed.db")
			db := open(t, file)
			db.exec(`PRAGMA journal_mode = ` + journal)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`CREATE TABLE done(n INTEGER PRIMARY KEY, "rows" INTEGER, marks INTEGER)`)
			random := rand.New(rand.NewPCG(uint64(i), 10))
			within, matches, clustered := 0, 0, 0
			for n := range (kills + 1 - i) / 2 {
				db.Close()
				child := exec.Command(os.Args[0])
				child.Stderr = os.Stderr
				child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", killedChild, file, n*2+i))
				out, err := child.StdoutPipe()
				if err == nil {
					err = child.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				said, last := 0, ""
				for lines.Scan() {
					last = lines.Text()
					if said++; said == 1 { // the rest of its life
						go func() {
							time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
							child.Process.Kill()
						}()
					}
				}
				if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
					t.Fatalf("the program ends with %v, and says %q", err, last)
				}
				db = open(t, file)
				where := fmt.Sprintf("kill %d after %s", n, last)
				db.expect("ok", `PRAGMA integrity_check`)
				var promised, kept int
				fmt.Sscan(last, &promised)
				fmt.Sscan(db.rows(`SELECT max(n) FROM done`), &kept)
				if kept < promised {
					t.Fatalf("%s: the last transaction is %d", where, kept)
				}
				db.expect("1", `SELECT "rows" = (SELECT count(*) FROM d) FROM done ORDER BY n DESC LIMIT 1`)
				if db.rows(`SELECT count(*) FROM sqlite_master WHERE name = 'd_alike_mark'`) == "1" {
					db.expect("1", `SELECT marks IN (-1, (SELECT count(*) FROM d_alike_mark)) FROM done ORDER BY n DESC LIMIT 1`)
				}
				if note := db.rows(`SELECT note FROM alike_status()`); strings.Contains(note, "alike_refresh('d')") {
					within++
				}
				if db.rows(`SELECT count(*) FROM alike_status()`) == "0" {
					if _, err := db.try(`SELECT alike_attach('d', 'body')`); err != nil {
						if !strings.Contains(err.Error(), "has other columns") { // a detach kept another profile's
							t.Fatalf("%s: %v", where, err)
						}
						db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
						db.rows(`SELECT alike_attach('d', 'body')`)
					}
				}
				clustered += db.checkKeptNumbers(where)
				db.rows(`SELECT alike_refresh('d')`)
				db.expect("0|0|1", `SELECT pending, stale, note IS NULL OR note LIKE '%suits the rows better%' FROM alike_status()`)
				db.checkSide("d", where)
				matches += db.checkKeptMatches(where)
				if n%10 == 9 {
					db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
					db.expect("d,done", `SELECT group_concat(name) FROM sqlite_master WHERE name <> 'sqlite_sequence'`)
				}
			}
			if t.Logf("%d of %d kills stopped a fill; %d matches, %d rows in clusters", within, (kills+1-i)/2, matches, clustered); kills >= 100 && (within == 0 || matches == 0 || clustered == 0) {
				t.Error("no kill stopped a fill, or none left a match or a cluster")
			}
		})
	}
}

// checkKeptNumbers: the clusters that are kept are those that are computed afresh, and no number
// changes, unless the status says that they wait for that.
func (db database) checkKeptNumbers(where string) (rows int) {
	db.t.Helper()
	if db.rows(`SELECT count(*) FROM alike_status() WHERE note LIKE '%alike_refresh(%'`) != "0" || db.rows(`SELECT count(*) FROM alike_attachment WHERE clusters > 0`) == "0" {
		return 0
	}
	const numbers = `SELECT id, cluster FROM d_alike_cluster WHERE cluster > 0 ORDER BY 1`
	before, events := db.rows(numbers), db.rows(`SELECT count(*) FROM d_alike_event`)
	fmt.Sscan(db.rows(`SELECT alike_write_clusters('d')`), &rows)
	if after := db.rows(numbers); after != before || db.rows(`SELECT count(*) FROM d_alike_event`) != events {
		db.t.Fatalf("%s: the clusters are\n%.2000s\ncomputed afresh they are\n%.2000s", where, before, after)
	}
	return rows
}

// checkKeptMatches: whatever the profile in use, the two rows of a match are attached, and as alike
// under a profile that was in use as the match says.
func (db database) checkKeptMatches(where string) (matches int) {
	db.t.Helper()
	if got := db.rows(`SELECT m.id, m.other, m.resemblance FROM d_alike_match m WHERE m.id = m.other OR NOT EXISTS (
		SELECT 1 FROM d x, d y, d_alike a, d_alike b, alike_settings p
		WHERE x.id = m.id AND y.id = m.other AND a.id = m.id AND b.id = m.other
			AND abs(m.resemblance - alike_resemblance(alike_sketch(x.body, p.profile), alike_sketch(y.body, p.profile))) < 1e-9) LIMIT 5`); got != "" {
		db.t.Fatalf("%s: these matches are not what the documents say:\n%s", where, got)
	}
	fmt.Sscan(db.rows(`SELECT count(*) FROM d_alike_match`), &matches)
	return matches
}

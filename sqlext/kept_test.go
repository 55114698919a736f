package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/cluster/clustertest"
)

func numberOf(t testing.TB, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkKept compares the clusters that are kept with clusters computed afresh, and with what
// their events tell.
func (db database) checkKept(maxRows int) {
	db.t.Helper()
	for _, difference := range db.keptDiffer("d", "main", "id", maxRows) {
		db.t.Error(difference)
	}
}

// keptDiffer does so for the attachment d of a table; key is an expression of the key's columns.
func (db database) keptDiffer(table, schema, key string, maxRows int) (differences []string) {
	db.t.Helper()
	numbers := map[string]int64{"": 0} // of keys
	number := func(key string) int64 {
		if _, known := numbers[key]; !known {
			numbers[key] = int64(len(numbers))
		}
		return numbers[key]
	}
	var pairs [][2]int64
	for _, p := range db.lines(`SELECT lower(quote(key)), lower(quote(other)) FROM alike_pairs(?)`, table) {
		pairs = append(pairs, [2]int64{number(p[0]), number(p[1])})
	}
	crowded := clustertest.Crowded(pairs, maxRows)
	fresh, kept := map[string][]int64{}, map[string][]int64{}
	for _, line := range db.lines(`SELECT quote(cluster), lower(quote(key)) FROM alike_clusters(?, (SELECT at_least FROM alike_status() WHERE name = 'd'), 'single')`, table) {
		if n := number(line[1]); !slices.Contains(crowded, n) {
			fresh[line[0]] = append(fresh[line[0]], n)
		}
	}
	for _, line := range db.lines(`SELECT cluster, lower(quote(` + key + `)) FROM ` + schema + `.d_alike_cluster WHERE cluster > 0`) {
		kept[line[0]] = append(kept[line[0]], number(line[1]))
	}
	sets := func(clusters map[string][]int64) []string {
		var list []string
		for _, members := range clusters {
			slices.Sort(members)
			list = append(list, fmt.Sprint(members))
		}
		slices.Sort(list)
		return list
	}
	if got, want := sets(kept), sets(fresh); !slices.Equal(got, want) {
		differences = append(differences, fmt.Sprintf("the clusters that are kept are\n%q, want\n%q, where the keys are %v", got, want, numbers))
	}
	var events []clustertest.Event
	first := strings.Split(strings.TrimPrefix(key, "json_array("), ",")[0]
	for _, e := range db.lines(`SELECT event, cluster, other, CASE WHEN ` + first + ` IS NOT NULL THEN lower(quote(` + key + `)) END FROM ` + schema + `.d_alike_event ORDER BY event_id`) {
		events = append(events, clustertest.Event{Event: e[0], Cluster: numberOf(db.t, e[1]), Other: numberOf(db.t, e[2]), Key: number(e[3])})
	}
	of, err := clustertest.Replay(events)
	if err != nil {
		return append(differences, err.Error())
	}
	told := map[string][]int64{}
	for key, cluster := range of {
		told[strconv.FormatInt(cluster, 10)] = append(told[strconv.FormatInt(cluster, 10)], key)
	}
	for cluster, members := range kept {
		slices.Sort(told[cluster])
		if !slices.Equal(members, told[cluster]) {
			differences = append(differences, fmt.Sprintf("cluster %s has the rows %v, by its events %v", cluster, members, told[cluster]))
		}
	}
	if len(told) != len(kept) {
		differences = append(differences, fmt.Sprintf("there are %d clusters, by their events %d", len(kept), len(told)))
	}
	return differences
}

func TestClustersFollow(t *testing.T) {
	for _, settings := range []string{
		`"clusters": true`, `"clusters": 5`, `"clusters": true, "policy": "link", "layout": "parts"`, `"clusters": true, "where": "kind <> ''none''"`, `"clusters": 7, "verify": "text"`,
	} {
		t.Run(settings, func(t *testing.T) {
			maxRows := 1000
			fmt.Sscanf(settings, `"clusters": %d`, &maxRows)
			db := memory(t)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind TEXT DEFAULT 'some')`)
			db.exec(`INSERT INTO d(id, body) VALUES (1, ?1), (2, ?1), (3, ?1)`, clustertest.Chained(0))
			db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "at_least": 0.4, ` + settings + `}')`)
			db.checkKept(maxRows)
			db.expect("3", `SELECT count(*) FROM d_alike_cluster WHERE cluster > 0`)
			r := rand.New(rand.NewPCG(1, uint64(maxRows)))
			for step := range 150 {
				x, y := 1+r.IntN(30), 1+r.IntN(30)
				var statement string
				switch r.IntN(10) {
				case 0, 1:
					statement = fmt.Sprintf("DELETE FROM d WHERE id = %d", x)
				case 2:
					statement = fmt.Sprintf("UPDATE OR IGNORE d SET id = id + 30 WHERE id = %d", x)
				case 3:
					if x == y || db.rows(`SELECT count(*) FROM d_alike WHERE sketch IS NOT NULL AND id IN (?, ?)`, x, y) != "2" {
						continue
					}
					statement = fmt.Sprintf("SELECT alike_mark('d', %d, %d, '%s')", x, y, []string{"duplicate", "distinct", "none"}[r.IntN(3)])
				case 4:
					statement = fmt.Sprintf("REPLACE INTO d(id, body) VALUES (%d, '%s')", x, clustertest.Chained(r.IntN(16)))
				case 5:
					statement = fmt.Sprintf("UPDATE d SET kind = CASE kind WHEN 'none' THEN 'some' ELSE 'none' END WHERE id %% 7 = %d", r.IntN(7))
				case 6:
					statement = fmt.Sprintf("UPDATE d SET body = '%s' WHERE id BETWEEN %d AND %d", clustertest.Chained(r.IntN(16)), x, x+2)
				default:
					statement = fmt.Sprintf("INSERT INTO d(id, body) VALUES (%d, '%s') ON CONFLICT (id) DO UPDATE SET body = excluded.body", x, clustertest.Chained(r.IntN(16)))
				}
				db.rows(statement)
				if db.checkKept(maxRows); t.Failed() {
					t.Fatalf("after step %d: %s", step, statement)
				}
			}
			if maxRows == 1000 {
				db.expect("gone joined made split", `SELECT group_concat(event, ' ') FROM (SELECT DISTINCT event FROM d_alike_event ORDER BY 1)`)
			}
			numbers := db.rows(`SELECT id, cluster FROM d_alike_cluster WHERE cluster > 0 ORDER BY 1`)
			db.rows(`SELECT alike_write_clusters('d'), alike_refresh('d')`)
			db.expect(numbers, `SELECT id, cluster FROM d_alike_cluster WHERE cluster > 0 ORDER BY 1`)
			db.checkKept(maxRows)
			db.rows(`SELECT alike_attach('d', 'body', '{"clusters": false}')`)
			db.expect("", `SELECT name FROM sqlite_master WHERE name LIKE 'd\_alike\_cluster%' ESCAPE '\' OR name LIKE 'd\_alike\_event%' ESCAPE '\'`)
			db.fails("d keeps no clusters", `SELECT alike_write_clusters('d')`)
		})
	}
}

// Clusters that were not computed to the end, since the program or the machine stopped, are not
// followed from where they are: the status says so, and a refresh computes them.
func TestClustersWait(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?1), (3, ?2), (4, ?2)`, clustertest.Chained(0), clustertest.Chained(9))
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "clusters": true}')`)
	db.exec(`DELETE FROM d_alike_cluster WHERE id > 2; DELETE FROM d_alike_event WHERE cluster > 1; UPDATE alike_attachment SET clusters = -clusters`)
	const note = `SELECT note FROM alike_status()`
	db.expect("the clusters are not complete, and checkins do not change them; alike_refresh('d') computes them", note)
	state := db.rows(`SELECT * FROM d_alike_cluster`)
	db.exec(`INSERT INTO d SELECT id + 10, body FROM d; UPDATE d SET body = ? WHERE id = 4`, clustertest.Chained(0))
	db.rows(`SELECT alike_mark('d', 1, 11, 'distinct')`)
	db.expect(state, `SELECT * FROM d_alike_cluster`)
	db.rows(`SELECT alike_refresh('d')`)
	db.expect("", note)
	db.checkKept(1000)
	db.exec(`INSERT INTO d SELECT id + 20, body FROM d`)
	db.checkKept(1000)

	// A refresh that fails leaves them waiting.
	db.exec(`CREATE TEMP TRIGGER refuse BEFORE INSERT ON d_alike_cluster BEGIN SELECT RAISE(ABORT, 'no room'); END`)
	db.exec(`DELETE FROM d_alike_cluster`)
	db.fails("no room", `SELECT alike_refresh('d')`)
	db.exec(`DROP TRIGGER refuse`)
	db.expect("1", `SELECT note LIKE 'the clusters are not complete%' FROM alike_status()`)
}

// The number of a cluster stays when its rows change and resemble each other still.
func TestClusterNumbersStay(t *testing.T) {
	for _, where := range []string{"", `, "where": "kind = 1"`} {
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, kind INTEGER DEFAULT 1)`)
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "clusters": true` + where + `}')`)
		db.exec(`INSERT INTO d(id, body) VALUES (1, ?1), (2, ?1), (3, ?2), (4, ?2)`, clustertest.Chained(0), clustertest.Chained(9))
		state := db.rows(`SELECT id, cluster FROM d_alike_cluster ORDER BY 1`)
		events := db.rows(`SELECT count(*) FROM d_alike_event`)
		db.exec(`UPDATE d SET body = body || ' more'`)
		db.exec(`UPDATE d SET body = body || ' once more' WHERE id IN (1, 4)`)
		db.expect(state, `SELECT id, cluster FROM d_alike_cluster ORDER BY 1`)
		db.expect(events, `SELECT count(*) FROM d_alike_event`)
		db.exec(`UPDATE d SET id = id + 10 WHERE id = 1`)
		db.expect("2", `SELECT count(*) FROM d_alike_cluster WHERE cluster = (SELECT cluster FROM d_alike_cluster WHERE id = 2)`)
		if where != "" {
			db.exec(`UPDATE d SET kind = 0 WHERE id = 3`)
			db.expect("0", `SELECT count(*) FROM d_alike_cluster WHERE id IN (3, 4)`)
		}
		db.checkKept(1000)
	}
}

// Of the parts that a cluster falls into the largest keeps its number, and of clusters that
// become one the largest.
func TestLargestPartKeepsTheNumber(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "at_least": 0.35, "clusters": true}')`)
	for i := range 6 {
		db.exec(`INSERT INTO d VALUES (?, ?)`, i+1, clustertest.Chained(3*(i+1)))
	}
	number := db.rows(`SELECT DISTINCT cluster FROM d_alike_cluster`)
	of := func(number string) string {
		return db.rows(`SELECT group_concat(id, ' ') FROM (SELECT id FROM d_alike_cluster WHERE cluster = ? ORDER BY id)`, number)
	}
	for _, step := range [][3]string{{"1 2 3 4 5 6", "3", "4 5 6"}, {"1 2 3 4 5 6", "4", "1 2 3"}} {
		if got := of(number); got != step[0] {
			t.Errorf("the cluster has %s, want %s", got, step[0])
		}
		db.exec(`DELETE FROM d WHERE id = ?`, step[1])
		db.checkKept(1000)
		if got := of(number); got != step[2] {
			t.Errorf("without %s the number is that of %s, want %s", step[1], got, step[2])
		}
		n := int(step[1][0] - '0')
		db.exec(`INSERT INTO d VALUES (?, ?)`, n, clustertest.Chained(3*n))
		db.checkKept(1000)
	}
}

// With verify=text a pair is linked that the estimate would not link. When the text in the middle of
// a chain changes, its ends are still found.
func TestClustersByText(t *testing.T) {
	chains := 0
	for i := range 16 {
		words := make([]string, 100)
		for n := range words {
			words[n] = fmt.Sprintf("w%dx%d", i, n)
		}
		db := memory(t)
		db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
		db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "at_least": 0.5, "verify": "text", "clusters": true}')`)
		for id, text := range [][]string{words[:60], append(slices.Clone(words[:40]), words[60:78]...), append(slices.Clone(words[20:60]), words[80:98]...)} {
			db.exec(`INSERT INTO d VALUES (?, ?)`, id+1, strings.Join(text, " "))
		}
		if db.rows(`SELECT count(*) FROM d_alike_cluster WHERE cluster > 0`) != "3" {
			continue // a pair shares no feature
		}
		chains++
		db.exec(`UPDATE d SET body = 'a text about something else entirely' WHERE id = 1`)
		db.checkKept(1000)
		db.expect("0", `SELECT count(*) FROM d_alike_cluster WHERE cluster > 0`)
	}
	if chains < 6 {
		t.Errorf("%d chains of three rows, want at least 6", chains)
	}
}

// A statement that fails leaves the clusters as they were.
func TestClustersAreUndone(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT CHECK (body <> 'no'))`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "clusters": true}')`)
	db.exec(`INSERT INTO d VALUES (1, ?1), (2, ?1), (5, ?2)`, clustertest.Chained(0), clustertest.Chained(9))
	db.expect("3", `SELECT cluster + 2 FROM d_alike_cluster WHERE id = 1`)
	const state = `SELECT * FROM (SELECT id, component, cluster FROM d_alike_cluster UNION ALL SELECT event_id, cluster, event FROM d_alike_event) ORDER BY 1, 2, 3`
	before := db.rows(state)
	for _, statement := range []string{
		`INSERT INTO d SELECT 6, body FROM d WHERE id = 5 UNION ALL SELECT 7, 'no'`,
		`UPDATE d SET body = CASE id WHEN 5 THEN 'no' ELSE 'something else' END`,
	} {
		db.fails("CHECK constraint failed", statement)
		db.expect(before, state)
	}
	db.exec(`BEGIN; DELETE FROM d WHERE id < 3; ROLLBACK`)
	db.expect(before, state)
	db.checkKept(1000)
	for options, want := range map[string]string{
		`{"clusters": 1}`: "the option clusters is 1, want true, false, or the most rows of a cluster, from 2 to 1000000", `{"clusters": 2.5}`: "the option clusters is 2.5, want true",
		`{"clusters": 1e7}`: "the option clusters is 1e7, want true", `{"clusters": "single"}`: `the option clusters is "single", want true`,
		`{"clusters": null}`: "the option clusters is null, want true", `{"clusters": -2}`: "the option clusters is -2, want true", `{"mode": "queue"}`: "clusters are kept as a row is written and need the mode compute",
	} {
		db.fails(want, `SELECT alike_attach('d', 'body', ?)`, options)
	}
	db.expect(before, state)
	db.exec(`CREATE TABLE k(region TEXT, cluster INTEGER, body TEXT, PRIMARY KEY (region, cluster))`)
	db.fails(`k keeps no clusters: the key column "cluster" has the name of a column of theirs`, `SELECT alike_attach('k', 'body', '{"clusters": true}')`)
	db.rows(`SELECT alike_detach('d')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "clusters": true}')`)
	db.expect("1|1 2|1", `SELECT group_concat(id || '|' || cluster, ' ') FROM (SELECT * FROM d_alike_cluster ORDER BY id)`)
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("d k sqlite_sequence", `SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1)`)
}

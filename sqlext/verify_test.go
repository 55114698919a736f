package sqlext_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
)

// verified is what the questions have to say of d under verify: text, told by the
// functions of the texts and sketches alone: of the pairs that share a feature, those whose
// bounds contain the threshold are decided by the texts. %s is the threshold, and what
// makes a document of a body.
var verified = `
WITH p AS` + materialized + ` (SELECT DISTINCT id, other FROM d_alike_pair WHERE id < other),
b AS` + materialized + ` (
  SELECT p.id, p.other, json_extract(j, '$.low') AS low, json_extract(j, '$.estimate') AS estimate, json_extract(j, '$.high') AS high
  FROM (SELECT p.id, p.other, alike_bounds(x.sketch, y.sketch) AS j FROM p JOIN d_alike x ON x.id = p.id JOIN d_alike y ON y.id = p.other) p),
e AS` + materialized + ` (
  SELECT b.*, CASE WHEN b.low < %[1]v AND b.high >= %[1]v THEN alike_resemblance_exact(x.body, y.body, %[2]s) END AS exact
  FROM b JOIN d x ON x.id = b.id JOIN d y ON y.id = b.other),
v AS` + materialized + ` (
  SELECT id, other, coalesce(exact, estimate) AS resemblance, coalesce(exact, low) AS low, coalesce(exact, high) AS high FROM e
  WHERE coalesce(exact, estimate) >= %[1]v)`

// materialized follows AS in a WITH clause. SQLite before 3.35 does not have the word.
var materialized = func() string {
	if _, version, _ := sqlite3.Version(); version < 3_035_000 {
		return ""
	}
	return " MATERIALIZED"
}()

// fourWords is a profile whose filter leaves pairs out, and whose estimates are coarse.
const fourWords = "words w=4 t=84 k=12 s=7"

// edit inserts groups of documents of 40 words with up to six words exchanged, whose
// resemblance lies everywhere.
func (db database) edit(table, key string, groups, each int) {
	db.t.Helper()
	random := rand.New(rand.NewPCG(21, 22))
	n := 0
	for range groups {
		text := make([]string, 40)
		for i := range text {
			text[i] = fmt.Sprint("word", random.IntN(400))
		}
		for range each {
			n++
			copied := slices.Clone(text)
			for range random.IntN(7) {
				copied[random.IntN(len(copied))] = fmt.Sprint("edit", n)
			}
			db.exec(fmt.Sprintf("INSERT INTO %s VALUES (%s, ?)", table, fmt.Sprintf(key, n)), strings.Join(copied, " "))
		}
	}
}

func verifiedTable(t *testing.T, options string) database {
	t.Helper()
	db := memory(t)
	db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)")
	db.edit("d", "%d", 12, 12)
	db.exec("INSERT INTO d VALUES (1000, NULL), (1001, ''), (1002, '...'), (1003, 'one'), (1004, 'one'), (1005, 12), (1006, x'ff00')")
	db.rows(`SELECT alike_attach('d', 'body', '` + options + `')`)
	return db
}

// same expects two statements to give the same rows, after a WITH of both.
func (db database) same(with, want, got string) {
	db.t.Helper()
	for _, pair := range [][2]string{{want, got}, {got, want}} {
		if more := db.rows(with + " SELECT * FROM (" + pair[0] + ") EXCEPT SELECT * FROM (" + pair[1] + ") LIMIT 5"); more != "" {
			db.t.Errorf("in one and not in the other:\n%s\n%s\n%s", pair[0], pair[1], more)
		}
	}
}

func TestVerifiedAnswers(t *testing.T) {
	reads, corrections := 0, 0
	for _, profile := range []string{"words w=5", "prose", "chars k=20 s=3", "words bag", "bins", "bottom=40", "mod=2", "weighted"} {
		db := verifiedTable(t, `{"verify": "text", "profile": "`+profile+`", "at_least": 0.6}`)
		for _, atLeast := range []float64{0.55, 0.65} {
			v := fmt.Sprintf(verified, atLeast, "'"+profile+"'")
			// Some pairs are read, and of them some are not on the side where the sketches see them.
			var read, corrected int
			fmt.Sscanf(db.rows(v+fmt.Sprintf(` SELECT count(exact), sum((exact >= %[1]v) <> (estimate >= %[1]v)) FROM e`, atLeast)), "%d|%d", &read, &corrected)
			reads, corrections = reads+read, corrections+corrected
			db.same(v, `SELECT id, other, resemblance, low, high FROM v`, fmt.Sprintf(`SELECT key, other, resemblance, low, high FROM alike_pairs('d', %v)`, atLeast))
			db.same(v, `SELECT * FROM (SELECT id, other, resemblance, low, high FROM v UNION ALL SELECT other, id, resemblance, low, high FROM v)`,
				fmt.Sprintf(`SELECT d.id, r.key, r.resemblance, r.low, r.high FROM d JOIN alike_rows('d', d.id, %v) r`, atLeast))
			db.same("", fmt.Sprintf(`SELECT d.id, r.key, r.shared, r.resemblance, r.low, r.high FROM d JOIN alike_rows('d', d.id, %v) r WHERE d.id %% 9 = 0`, atLeast),
				fmt.Sprintf(`SELECT d.id, r.key, r.shared, r.resemblance, r.low, r.high FROM d JOIN alike_rows_like('d', d.body, %v) r WHERE d.id %% 9 = 0 AND r.key <> d.id`, atLeast))
		}
		// No pair of a cluster is below the threshold, by the texts where the sketches leave
		// it open, and each pair that could be one is in one.
		db.expect("1", `SELECT count(*) > 40 FROM alike_clusters('d')`)
		db.expect("0", `WITH c AS`+materialized+` (SELECT * FROM alike_clusters('d')), p AS`+materialized+` (SELECT x.key, y.key AS other FROM c x JOIN c y ON y.cluster = x.cluster AND y.key > x.key WHERE x.size <= 30)
			SELECT count(*) FROM (SELECT p.*, alike_bounds(x.sketch, y.sketch) AS j, alike_resemblance_exact(dx.body, dy.body, '`+profile+`') AS exact
			FROM p JOIN d_alike x ON x.id = p.key JOIN d_alike y ON y.id = p.other JOIN d dx ON dx.id = x.id JOIN d dy ON dy.id = y.id)
			WHERE json_extract(j, '$.high') < 0.6 OR json_extract(j, '$.low') < 0.6 AND exact < 0.6`)
	}
	if reads < 1000 || corrections < 50 {
		t.Errorf("%d pairs were read and %d of them corrected: the documents are too easy", reads, corrections)
	}
}

// A checkin decides as a question does, however the row comes, and a rejected one
// is named with its true resemblance.
func TestVerifiedPolicies(t *testing.T) {
	for _, mode := range []string{"compute", "queue"} {
		db := verifiedTable(t, `{"profile": "`+fourWords+`", "verify": "text", "at_least": 0.6, "matches": 1000, "policy": "link", "mode": "`+mode+`"}`)
		db.exec(`UPDATE d SET body = body || ' again and again' WHERE id % 3 = 0`)
		db.exec(`INSERT INTO d SELECT id + 500, body || ' once more' FROM d WHERE id % 5 = 0 AND id < 500`)
		db.exec(`DELETE FROM d WHERE id % 7 = 0`)
		db.rows(`SELECT alike_refresh('d')`)
		v := fmt.Sprintf(verified, 0.6, "'"+fourWords+"'")
		db.expect("0", v+` SELECT count(*) FROM d_alike_match m LEFT JOIN v ON ((v.id, v.other) = (m.id, m.other) OR (v.id, v.other) = (m.other, m.id))
			WHERE v.id IS NULL OR v.resemblance <> m.resemblance OR v.low <> m.low OR v.high <> m.high`)
		db.expect("0", v+` SELECT count(*) FROM v WHERE (id % 3 = 0 OR other % 3 = 0 OR id > 500 AND id < 1000 OR other > 500 AND other < 1000)
			AND NOT EXISTS (SELECT 1 FROM d_alike_match m WHERE ((v.id, v.other) = (m.id, m.other) OR (v.id, v.other) = (m.other, m.id)))`)
		db.expect("1|1", `SELECT count(*) > 50, sum(low = high) > 10 FROM d_alike_match`)
	}
	// Estimated at 0.5 and more; in truth below it: the sketches would refuse.
	db := verifiedTable(t, `{"profile": "`+fourWords+`", "verify": "sketch", "at_least": 0.6}`)
	wrong := db.rows(fmt.Sprintf(verified, 0.6, "'"+fourWords+"'") + ` SELECT id, other FROM e WHERE estimate >= 0.6 AND exact < 0.6
		AND NOT EXISTS (SELECT 1 FROM e o WHERE (o.id = e.id OR o.other = e.id) AND (o.id, o.other) <> (e.id, e.other) AND (o.estimate >= 0.6 OR o.exact >= 0.6)) LIMIT 1`)
	if wrong == "" {
		wrong = db.rows(fmt.Sprintf(verified, 0.6, "'"+fourWords+"'") + ` SELECT id, other FROM e WHERE estimate >= 0.6 AND exact < 0.6 LIMIT 1`)
	}
	one, other, _ := strings.Cut(wrong, "|")
	db.exec(`CREATE TABLE two(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO two SELECT id, body FROM d WHERE id = ` + one)
	db.rows(`SELECT alike_attach('two', 'body', '{"policy": "reject", "at_least": 0.6, "profile": "` + fourWords + `"}')`)
	db.fails("resembles row "+one, `INSERT INTO two SELECT id, body FROM d WHERE id = `+other)
	db.rows(`SELECT alike_attach('two', 'body', '{"verify": "text"}')`)
	db.exec(`INSERT INTO two SELECT id, body FROM d WHERE id = ` + other)
	exact := db.rows(`SELECT printf('%.3f', alike_resemblance_exact(x.body, y.body, '` + fourWords + `')) FROM two x, two y WHERE x.id < y.id`)
	db.rows(`SELECT alike_attach('two', 'body', '{"at_least": ` + fmt.Sprint(exact[:4]) + `}')`)
	db.exec(`DELETE FROM two WHERE id = ` + other)
	db.fails("resembles row "+one+" of two (resemblance "+exact, `INSERT INTO two SELECT id, body FROM d WHERE id = `+other)
	db.fails(`the verify is "texts", want sketch or text`, `SELECT alike_attach('two', 'body', '{"verify": "texts"}')`)
}

// What people said is not read again, pages are read as text, a condition leaves rows
// out, and a row whose document has changed since it was sketched keeps its estimate.
func TestVerifiedOddly(t *testing.T) {
	db := verifiedTable(t, `{"profile": "`+fourWords+`", "at_least": 0.6}`)
	pair := db.rows(fmt.Sprintf(verified, 0.6, "'"+fourWords+"'") + ` SELECT id, other FROM e WHERE estimate >= 0.6 AND exact < 0.6 LIMIT 1`)
	one, other, _ := strings.Cut(pair, "|")
	question := `SELECT low < high FROM alike_rows('d', ` + one + `) WHERE key = ` + other
	db.expect("1", question)
	db.rows(`SELECT alike_attach('d', 'body', '{"verify": "text"}')`)
	db.expect("", question)
	db.rows(`SELECT alike_mark('d', ` + one + `, ` + other + `, 'duplicate')`)
	db.expect("1", question)
	db.expect("1", `SELECT low < high FROM alike_pairs('d') WHERE (key, other) IN ((`+one+`, `+other+`), (`+other+`, `+one+`))`)
	db.exec(`DELETE FROM d_alike_mark`)
	db.expect("", question)

	// A trigger of somebody's that is newer and ends the statement keeps ours from the row.
	db.exec(`CREATE TRIGGER last AFTER UPDATE ON d BEGIN SELECT RAISE(IGNORE); END`)
	db.exec(`UPDATE d SET body = 'quite another document' WHERE id = ` + other)
	db.expect("1", question)
	db.exec(`DROP TRIGGER last`)
	db.exec(`UPDATE d SET body = NULL WHERE id = ` + other)
	db.expect("", question)
	db.exec(`DELETE FROM d WHERE id = ` + other)
	db.expect("", question)

	db = memory(t)
	db.exec("CREATE TABLE plain(a TEXT, b INTEGER, body TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
	db.edit("plain", "'k', %d", 12, 12)
	db.exec("CREATE TABLE pages(a TEXT, b INTEGER, body BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID")
	db.exec(`INSERT INTO pages SELECT a, b, CAST('<html><script>var x = ' || b || '</script><p>' || replace(body, ' ', '<br> ') || '</p>' AS BLOB) FROM plain`)
	for _, table := range []string{"plain", "pages"} {
		db.rows(`SELECT alike_attach('` + table + `', 'body', '{"profile": "prose", "verify": "text", "at_least": 0.6, "extract": "` + map[string]string{"plain": "plain", "pages": "html"}[table] + `", "where": "b % 5 <> 0"}')`)
	}
	db.expect(db.rows(`SELECT * FROM alike_pairs('plain') ORDER BY key, other`), `SELECT * FROM alike_pairs('pages') ORDER BY key, other`)
	db.expect("1|0", `SELECT sum(low = high) > 3, sum(key LIKE '%5]' OR key LIKE '%0]') FROM alike_pairs('pages')`)
}

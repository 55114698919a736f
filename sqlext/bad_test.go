package sqlext_test

import (
	"context"
	"database/sql"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch"
)

var mutations = flag.Int("mutations", 100_000, "how many damaged sketches TestMutatedSketches tries")

// Damaged and foreign sketches give an error or a valid answer.
func TestMutatedSketches(t *testing.T) {
	db := memory(t)
	random := rand.New(rand.NewPCG(3, 4))
	var originals [][]byte
	for _, settings := range []string{"prose", "words bits=8", "words bits=1", "words mod=3", "words bottom=10", "words scaled", "fast", "bins t=100", "lean", "elements weighted"} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		document := fox + " with a few more words to have enough of them"
		if p.Stream == sketch.Elements {
			document = `{"one": 1, "two": 2.5, "three": 3}`
		}
		s.Document([]byte(document))
		original := s.AppendSketch(nil)
		if len(original) == 0 {
			t.Fatalf("%s: the document has no sketch", settings)
		}
		originals = append(originals, original)
	}
	if len(originals) < 5 {
		t.Fatalf("%d sketches to mutate, want at least 5", len(originals))
	}
	statements := make([]*sql.Stmt, 0, 8)
	for _, query := range []string{
		`SELECT alike_resemblance(?1, ?2)`, `SELECT alike_containment(?1, ?2)`, `SELECT alike_bounds(?1, ?2)`, `SELECT alike_shared(?1, ?2)`,
		`SELECT alike_alike(?1, ?2)`, `SELECT alike_feature(?1, 1) + length(?2)`, `SELECT count(*) + length(?2) FROM alike_features(?1)`,
		`SELECT alike_profile(?1) || length(?2)`, `SELECT alike_merge(x) FROM (SELECT ?1 AS x UNION ALL SELECT ?2)`, `SELECT alike__low(?1, ?2) + alike__high(?1, ?2)`,
	} {
		s, err := db.Prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		statements = append(statements, s)
	}
	valid := 0
	for i := range *mutations {
		b := append([]byte{}, originals[random.IntN(len(originals))]...)
		switch random.IntN(4) {
		case 0:
			b = b[:random.IntN(len(b)+1)]
		case 1:
			b = append(b, originals[random.IntN(len(originals))][:random.IntN(20)]...)
		default:
			for range 1 + random.IntN(3) {
				at := random.IntN(min(len(b), 24))
				if random.IntN(3) == 0 {
					at = random.IntN(len(b))
				}
				b[at] ^= byte(1 << random.IntN(8))
			}
		}
		var answer any
		err := statements[i%len(statements)].QueryRow(b, originals[random.IntN(len(originals))]).Scan(&answer)
		if err == nil {
			valid++
		} else if strings.Contains(err.Error(), "internal") {
			t.Fatalf("%x: %v", b, err)
		}
	}
	if valid == 0 || valid == *mutations {
		t.Errorf("%d of %d mutations are valid", valid, *mutations)
	}
}

func TestOddDocuments(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body)`)
	db.rows(`SELECT alike_attach('d', 'body')`)
	for _, document := range []any{nil, "", " ", "one", 42, 4.25, []byte("bytes"), []byte{}, []byte{0xff, 0xfe, 'a', 0, 'b'}, "a\x00b\x00c d e f g", "\xff\xfe broken \xc3", strings.Repeat("x", 1<<20), strings.Repeat("many words ", 1<<17)} {
		db.exec(`INSERT INTO d(body) VALUES (?)`, document)
	}
	db.check("d", "odd documents")
	db.exec(`UPDATE d SET body = 42.0 WHERE body = 42`) // equal, and another text
	db.exec(`UPDATE d SET body = CAST('one' AS BLOB) WHERE body = 'one'`)
	db.check("d", "other types")
	db.expect("ok", "PRAGMA integrity_check")
	db.expect("1", `SELECT alike_sketch(?) = alike_sketch('a b c d e f g')`, "a\x00b\x00c d e f g")
	// The longest document that SQLite holds.
	if !testing.Short() {
		db.expect("null", `SELECT typeof(alike_sketch(zeroblob(999999999)))`)
	}
}

func TestReadOnlyDatabase(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ro.db")
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	db.Close()
	db = open(t, "file:"+name+"?mode=ro")
	db.fails("readonly", `SELECT alike_attach('d', 'body')`)
	db.Close()
	db = open(t, name)
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.Close()
	db = open(t, "file:"+name+"?mode=ro")
	db.expect("2", `SELECT key FROM alike_rows('d', 1)`)
	db.expect("1|2", `SELECT key, other FROM alike_pairs('d')`)
	db.expect("2|2", `SELECT "rows", sketched FROM alike_status()`)
	db.fails("readonly", `SELECT alike_mark('d', 1, 2, 'distinct')`)
}

func TestFullDatabase(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "full.db"))
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO d(body) SELECT 'a document about number ' || i FROM n`)
	db.exec(`PRAGMA max_page_count = 900`)
	db.fails("full", `SELECT alike_attach('d', 'body')`)
	db.expect("ok", "PRAGMA integrity_check")
	db.exec(`PRAGMA max_page_count = 100000`)
	if got, want := db.rows(`SELECT note FROM alike_status()`), "alike_refresh('d') continues it"; !strings.Contains(got, want) {
		t.Errorf("status says %q, want %q in it", got, want)
	}
	db.rows(`SELECT alike_refresh('d')`)
	db.expect("20000|20000|0|", `SELECT "rows", sketched, pending, note FROM alike_status()`)
	db.check("d", "refresh")
}

// An interrupt stops a fill; what is done stays done, and refresh goes on.
func TestInterrupt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "interrupt.db")
	db := open(t, name)
	db.exec(`PRAGMA journal_mode = WAL`)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO d(body) SELECT 'a document about number ' || i FROM n`)
	watch := open(t, name)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for {
			var n int
			if err := watch.QueryRow(`SELECT count(*) FROM d_alike`).Scan(&n); err == nil && n > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var n int
	err := db.QueryRowContext(ctx, `SELECT alike_attach('d', 'body')`).Scan(&n)
	if err == nil {
		t.Fatal("the fill was not interrupted")
	}
	db.expect("ok", "PRAGMA integrity_check")
	var done int
	if err := db.QueryRow(`SELECT count(*) FROM d_alike`).Scan(&done); err != nil || done == 0 || done == 50000 {
		t.Fatalf("%d rows after the interrupt, %v", done, err)
	}
	// The table is in use all the while.
	db.exec(`INSERT INTO d(body) VALUES ('one more')`)
	db.exec(`DELETE FROM d WHERE id < 3`)
	db.exec(`UPDATE d SET body = ? WHERE id = 50000`, fox)
	if err := db.QueryRow(`SELECT alike_refresh('d')`).Scan(&n); err != nil || n > 50000-done {
		t.Errorf("refresh computed %d rows after %d, %v", n, done, err)
	}
	db.expect("49999|49999|0|", `SELECT "rows", sketched, pending, note FROM alike_status()`)
	db.check("d", "refresh")
}

// A row that cannot be computed is noted and does not keep the others.
func TestErrorsOfRows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "errors.db")
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, raw TEXT, body TEXT AS (raw) VIRTUAL)`)
	db.exec(`INSERT INTO d(raw) VALUES ('{"body": "a document"}'), ('not JSON'), ('{"body": "another document"}')`)
	// SQLite would not have taken the second row in under this definition.
	db.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '(raw)', '(json_extract(raw, ''$.body''))') WHERE name = 'd'; PRAGMA writable_schema = OFF`)
	db.Close()
	db = open(t, name)
	db.expect("2", `SELECT alike_attach('d', 'body')`)
	db.expect("1\n3", `SELECT id FROM d_alike`)
	db.expect("2|malformed JSON|1", `SELECT key, message, attempts FROM alike_errors('d')`)
	db.expect("3|2|1|1", `SELECT "rows", sketched, pending, failed FROM alike_status()`)
	db.fails("malformed JSON", `INSERT INTO d(raw) VALUES ('neither')`)
	db.expect("0", `SELECT alike_refresh('d')`)
	db.expect("2|2", `SELECT key, attempts FROM alike_errors('d')`)
	db.exec(`DELETE FROM d WHERE id = 2`)
	db.exec(`INSERT INTO d(id, raw) VALUES (2, '{"body": "mended"}')`)
	db.rows(`SELECT alike_refresh('d')`)
	db.expect("1\n2\n3", `SELECT id FROM d_alike ORDER BY id`)
	db.expect("", `SELECT * FROM alike_errors('d')`)
}

func TestChangedSchemas(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.rows(`SELECT alike_attach('d', 'body')`)
	if db.rows(`SELECT sqlite_version() LIKE '3.3_.%' AND sqlite_version() < '3.35'`) == "0" { // before, SQLite dropped no columns
		db.fails("d_alike", `ALTER TABLE d DROP COLUMN body`)
	}
	db.exec(`ALTER TABLE d RENAME COLUMN body TO contents`)
	db.exec(`ALTER TABLE d RENAME COLUMN id TO number`)
	db.exec(`ALTER TABLE d RENAME TO papers`)
	db.exec(`INSERT INTO papers(contents) VALUES (?)`, fox)
	db.expect("1", `SELECT key FROM alike_rows('papers', 2)`)
	db.expect("papers|contents", `SELECT "table", "column" FROM alike_status()`)
	db.expect("0", `SELECT alike_refresh('papers')`)
	db.expect("2", `SELECT alike_attach('papers', 'contents', '{"name": "d", "profile": "words w=2"}')`)
	db.exec(`INSERT INTO papers(contents) VALUES (?)`, fox)
	db.check("d", "after renaming")
	db.expect("0", `SELECT alike_attach('papers', 'contents', '{"name": "d", "policy": "link"}')`)
	db.exec(`INSERT INTO papers(contents) VALUES (?)`, fox)
	db.expect("3", `SELECT count(*) FROM d_alike_match`)
	db.check("d", "after renaming")
	db.exec(`DROP TABLE papers`)
	if got, want := db.rows(`SELECT note FROM alike_status()`), "is gone; alike_detach('d') removes the attachment"; !strings.Contains(got, want) {
		t.Errorf("status says %q, want %q in it", got, want)
	}
	db.fails("is gone; alike_detach('d') removes the attachment", `SELECT alike_refresh('d')`)
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("", `SELECT group_concat(name) FROM sqlite_master`)

	db.exec(`CREATE TABLE e(id INTEGER PRIMARY KEY, body TEXT)`)
	db.rows(`SELECT alike_attach('e', 'body')`)
	db.exec(`DROP TABLE e_alike`)
	db.fails("the table e_alike of the attachment e is gone; alike_detach('e') removes the attachment", `SELECT * FROM alike_rows('e', 1)`)
	db.rows(`SELECT alike_detach('e', '{"drop": true}')`)
	db.expect("e", `SELECT group_concat(name) FROM sqlite_master`)

	db.exec(`INSERT INTO e(body) VALUES (?)`, fox)
	db.rows(`SELECT alike_attach('e', 'body', '{"clusters": true, "contains": true}')`)
	db.exec(`DROP TABLE e_alike`)
	db.expect("0", `SELECT alike_detach('e')`)
	db.expect("1", `SELECT alike_attach('e', 'body', '{"clusters": true, "contains": true}')`)
	db.check("e", "attached again")
}

// Without the extension a database can be read, and written where the mode is
// queue; else the error says what is missing.
func TestWithoutTheExtension(t *testing.T) {
	name := filepath.Join(t.TempDir(), "without.db")
	db := open(t, name)
	for _, table := range []string{"computed", "queued"} {
		db.exec(`CREATE TABLE ` + table + `(id INTEGER PRIMARY KEY, body TEXT)`)
		db.exec(`INSERT INTO `+table+`(body) VALUES (?), (?)`, fox, fox)
	}
	db.rows(`SELECT alike_attach('computed', 'body')`)
	db.rows(`SELECT alike_attach('queued', 'body', '{"mode": "queue", "policy": "link"}')`)
	db.Close()
	without := plain(t, name)
	without.expect("2", `SELECT other FROM computed_alike_pair WHERE id = 1 GROUP BY other HAVING count(*) >= 2`)
	without.fails("alike__extension_must_be_loaded", `INSERT INTO computed(body) VALUES ('x')`)
	without.fails("alike__extension_must_be_loaded", `UPDATE computed SET body = 'x'`)
	without.exec(`DELETE FROM computed WHERE id = 2`)
	without.exec(`INSERT INTO queued(body) VALUES (?)`, fox+" indeed")
	without.exec(`UPDATE queued SET body = 'something else entirely' WHERE id = 1`)
	without.exec(`DELETE FROM queued WHERE id = 2`)
	without.exec(`INSERT INTO queued(body) VALUES (?)`, fox)
	without.Close()
	db = open(t, name)
	db.expect("3|0|3", `SELECT "rows", sketched, pending FROM alike_status() WHERE name = 'queued'`)
	db.expect("3", `SELECT alike_refresh('queued')`)
	db.check("queued", "refresh")
	db.check("computed", "a deletion")
	db.expect("4|3", `SELECT id, other FROM queued_alike_match`)
	db.expect("0", `SELECT pending FROM alike_status() WHERE name = 'queued'`)
}

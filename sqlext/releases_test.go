package sqlext_test

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

var freeze = flag.Bool("freeze", false, "write the database of this release into testdata/releases, for the tests of later releases")

// releaseTables has an attached table for each kind of side table and key.
var releaseTables = []struct{ name, create, row, options string }{
	{"notes", "id INTEGER PRIMARY KEY, body TEXT", "?1, ?2", `{"profile": "prose t=84 k=12 s=7", "layout": "columns", "policy": "link", "si": ["length", "43B/40", "forest/0"], "contains": true, "clusters": true, "superfeatures": true}`},
	{"parts", "name TEXT, page INTEGER, body TEXT, PRIMARY KEY (name, page)", "'n' || ?1, ?1, ?2", `{"profile": "paragraphs", "policy": "warn", "layout": "parts", "where": "page < 90"}`},
	{"waiting", "id TEXT PRIMARY KEY, body TEXT", "'k' || ?1, ?2", `{"profile": "short", "mode": "queue", "verify": "text"}`},
	{"baskets", "id INTEGER PRIMARY KEY, body TEXT", "?1, ?3", `{"profile": "elements", "policy": "ignore"}`},
}

// releaseQuestions are asked in the release that writes a database and in every later one.
var releaseQuestions = func() (questions []string) {
	for _, table := range releaseTables {
		for _, question := range []string{
			`SELECT key, other, shared, resemblance, low, high FROM alike_pairs('%s') ORDER BY 1, 2`,
			`SELECT key, cluster, size FROM alike_clusters('%s') ORDER BY 1`,
			`SELECT key, kept, resemblance FROM alike_keep('%s') ORDER BY 1`,
			`SELECT profile, "rows", sketched, stale, pending, failed FROM alike_status() WHERE name = '%s'`,
			`SELECT group_concat(hex(sketch), ' ') FROM %s_alike`,
		} {
			questions = append(questions, fmt.Sprintf(question, table.name))
		}
	}
	return append(questions,
		`SELECT key, shared, resemblance FROM alike_rows('parts', '["n1", 1]')`,
		`SELECT key, other, containment FROM alike_containments('notes') ORDER BY 1, 2`,
		`SELECT key, si FROM alike_si_rows('notes', '43B/40', 1) ORDER BY 1`,
		`SELECT * FROM notes_alike_match ORDER BY id, other`,
		`SELECT id, other, verdict, note FROM notes_alike_mark`,
		`SELECT id, component, cluster FROM notes_alike_cluster ORDER BY id`)
}()

func releaseText(n int) string {
	return strings.Repeat(fmt.Sprintf("the harbour committee met on day %d and agreed to postpone the vote on the new breakwater ", n/3), 4) + fmt.Sprintf("until engineer %d has reported", n)
}

func (db database) releaseRow(table string, n int) {
	db.t.Helper()
	for _, r := range releaseTables {
		if r.name == table {
			db.exec(`INSERT INTO `+r.name+` SELECT `+r.row, n, releaseText(n), fmt.Sprintf(`["a%d", "b", "c", "d", "e", "f%d"]`, n/3, n))
		}
	}
}

// writeRelease makes a database that holds the answers of this build, and what it offers.
func writeRelease(t *testing.T, file string) {
	t.Helper()
	db := open(t, file)
	db.exec(`CREATE TABLE released(question TEXT PRIMARY KEY, answer TEXT)`)
	for _, table := range releaseTables {
		db.exec(`CREATE TABLE ` + table.name + `(` + table.create + `)`)
		for n := range 6 {
			db.releaseRow(table.name, n)
		}
		db.rows(`SELECT alike_attach(?, 'body', ?)`, table.name, table.options)
		for n := 6; n < 10; n++ {
			db.releaseRow(table.name, n)
		}
	}
	db.rows(`SELECT alike_mark('notes', 0, 1, 'distinct', 'a note')`)
	for _, question := range releaseQuestions {
		db.exec(`INSERT INTO released VALUES (?, ?)`, question, db.rows(question))
	}
	db.exec(`CREATE TABLE offered AS SELECT DISTINCT name || ' ' || narg AS what FROM pragma_function_list WHERE name LIKE 'alike%' AND name NOT LIKE 'alike\_\_%' ESCAPE '\'
		UNION SELECT m.name || '.' || c.name FROM pragma_module_list m, pragma_table_xinfo(m.name) c WHERE m.name LIKE 'alike%' AND m.name NOT LIKE 'alike\_\_%' ESCAPE '\'`)
	db.exec(`VACUUM`)
	db.Close()
}

// checkRelease fails unless this build answers what the database recorded, offers what was offered, and goes on.
func checkRelease(t *testing.T, file string) {
	t.Helper()
	db := open(t, file)
	questions := strings.Split(db.rows(`SELECT question FROM released`), "\n")
	if len(questions) < 20 {
		t.Fatalf("the database records %d questions", len(questions))
	}
	for _, question := range questions {
		db.expect(db.rows(`SELECT answer FROM released WHERE question = ?`, question), question)
	}
	offered := strings.Split(db.rows(`SELECT what FROM offered`), "\n")
	now := strings.Split(db.rows(`SELECT DISTINCT name || ' ' || narg FROM pragma_function_list UNION SELECT m.name || '.' || c.name FROM pragma_module_list m, pragma_table_xinfo(m.name) c WHERE m.name LIKE 'alike%'`), "\n")
	if len(offered) < 100 {
		t.Errorf("the database records %d functions and columns", len(offered))
	}
	for _, what := range offered {
		if !slices.Contains(now, what) {
			t.Errorf("the release had %s, which is gone", what)
		}
	}
	for _, table := range releaseTables {
		for n := 10; n < 13; n++ {
			db.releaseRow(table.name, n)
		}
		db.exec(`UPDATE `+table.name+` SET body = ? WHERE body = ?`, releaseText(9), releaseText(4))
		db.exec(`DELETE FROM `+table.name+` WHERE body = ?`, releaseText(5))
		db.rows(`SELECT alike_refresh(?)`, table.name)
		db.expect("0|0|0", `SELECT stale, pending, failed FROM alike_status() WHERE name = ?`, table.name)
		db.checkSide(table.name, "after the release")
		db.rows(`SELECT alike_attach(?, 'body', ?)`, table.name, table.options)
		db.rows(`SELECT alike_detach(?, '{"drop": true}')`, table.name)
	}
}

// A database that a release wrote answers the same in every later one, which goes on with it.
func TestReleases(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "own.db")
	writeRelease(t, own)
	if *freeze {
		b, err := os.ReadFile(own)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join("testdata/releases", sketch.Version+".db.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // the level is one of gzip's
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("this build", func(t *testing.T) { checkRelease(t, own) })
	files, err := filepath.Glob("testdata/releases/*.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "released.db")
			if err := os.WriteFile(copied, b, 0o600); err != nil {
				t.Fatal(err)
			}
			checkRelease(t, copied)
		})
	}
}

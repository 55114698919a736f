package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alike-sql/alike/sqlext"
	"github.com/mattn/go-sqlite3"
)

const fts5Name = "SQLite FTS5, 5 rarest words"

func init() {
	own["alike SQLite"] = func(t *task) (*outcome, error) { return alikeSQLite(t, "columns", false) }
	own["alike SQLite, parts"] = func(t *task) (*outcome, error) { return alikeSQLite(t, "parts", false) }
	own["alike SQLite, verified"] = func(t *task) (*outcome, error) { return alikeSQLite(t, "columns", true) }
	own[fts5Name] = fts5
}

// openSQLite makes a database of the documents in a file. Nothing is forced to
// the disk: it is the engine that is measured. Its cache is what SQLite has of
// itself, two megabytes.
func openSQLite(t *task) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(os.TempDir(), "docs.db")+"?_journal_mode=off&_synchronous=off")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`create table docs (id integer primary key, body text)`); err != nil {
		return nil, err
	}
	return db, t.insert(db, 0, t.n)
}

// insert inserts the documents from one number to before another, in one transaction.
func (t *task) insert(db *sql.DB, from, to int) error {
	r, err := openTexts(t.path, from, to)
	if err != nil {
		return err
	}
	defer r.close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s, err := tx.Prepare(`insert into docs (id, body) values (?, ?)`)
	if err != nil {
		return err
	}
	for r.Next() {
		if _, err := s.Exec(r.at-1, r.text); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	return tx.Commit()
}

func sizeSQLite(db *sql.DB) (n float64, err error) {
	err = db.QueryRow(`select (select page_count from pragma_page_count) * (select page_size from pragma_page_size)`).Scan(&n)
	return n, err
}

// alikeSQLite uses the extension as its page says. To be verified, as the full text
// engines have to be, it is asked for more and each answer is compared exactly.
func alikeSQLite(t *task, layout string, verified bool) (*outcome, error) {
	if err := sqlext.Auto(); err != nil {
		return nil, err
	}
	db, err := openSQLite(t)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	before, err := sizeSQLite(db)
	if err != nil {
		return nil, err
	}
	m := map[string]float64{}
	began := time.Now()
	var n int
	if err := db.QueryRow(`select alike_attach('docs', 'body', '{"profile": "` + shingling + ` bits=8", "policy": "link", "at_least": 0.8, "layout": "` + layout + `"}')`).Scan(&n); err != nil {
		return nil, err
	}
	m[buildTime] = time.Since(began).Seconds()
	after, err := sizeSQLite(db)
	if err != nil {
		return nil, err
	}
	m[indexBytes] = after - before
	ask, err := db.Prepare(`select key from alike_rows('docs', ?, ?)`)
	if err != nil {
		return nil, err
	}
	library, _, _ := sqlite3.Version()
	o := &outcome{Settings: "SQLite " + library + "; alike_attach with policy link, ", Measures: m, Answers: true}
	if verified {
		v, err := newVerifier(t)
		if err != nil {
			return nil, err
		}
		n, err := t.ask(m, func(document int) error {
			found, err := numbers(ask.Query(document, verifyFrom))
			if err != nil {
				return err
			}
			return v.keep(document, found)
		})
		o.Queried = &n
		o.Settings += fmt.Sprintf("alike_rows at %v, each verified exactly at %v", verifyFrom, threshold)
		return o, err
	}
	if _, err := t.ask(m, func(document int) error {
		_, err := numbers(ask.Query(document, threshold))
		return err
	}); err != nil {
		return nil, err
	}
	began = time.Now()
	rows, err := db.Query(`select key, other from alike_pairs('docs', 0.8)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a, b int
		if err := rows.Scan(&a, &b); err != nil {
			return nil, err
		}
		t.answer(a, b)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	m[pairsTime], m[pairsFound] = time.Since(began).Seconds(), float64(t.answered)
	if m[peakBytes], err = peak(); err != nil {
		return nil, err
	}
	began = time.Now()
	if err := db.QueryRow(`select count(*) from alike_clusters('docs', 0.8)`).Scan(&n); err != nil {
		return nil, err
	}
	m[clustersTime] = time.Since(began).Seconds()
	if m[clustersPeak], err = peak(); err != nil {
		return nil, err
	}
	wrote, err := written()
	if err != nil {
		return nil, err
	}
	began = time.Now()
	if err := t.insert(db, t.n, t.n+checkins); err != nil {
		return nil, err
	}
	m[checkinsPS] = checkins / time.Since(began).Seconds()
	total, err := written()
	if err != nil {
		return nil, err
	}
	m[checkinBytes] = (total - wrote) / checkins
	o.Settings += "alike_rows, alike_pairs and alike_clusters at 0.8; checkins in one transaction"
	return o, nil
}

// written is how many bytes this process has given the system to write.
func written() (n float64, err error) {
	text, err := os.ReadFile("/proc/self/io")
	if err == nil {
		_, after, _ := strings.Cut(string(text), "wchar: ")
		_, err = fmt.Sscan(after, &n)
	}
	return n, err
}

func fts5(t *task) (*outcome, error) {
	db, err := openSQLite(t)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	v, err := newVerifier(t)
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(`pragma cache_size = -500000`); err != nil {
		return nil, err
	}
	before, err := sizeSQLite(db)
	if err != nil {
		return nil, err
	}
	m := map[string]float64{}
	began := time.Now()
	for _, s := range []string{
		`create virtual table f using fts5(body, content='docs', content_rowid='id', tokenize='unicode61')`,
		`insert into f (f) values ('rebuild')`,
		`insert into f (f) values ('optimize')`,
		`create virtual table v using fts5vocab('f', 'row')`,
	} {
		if _, err := db.Exec(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	frequency, err := frequencies(db, `select term, doc from v`)
	if err != nil {
		return nil, err
	}
	m[buildTime] = time.Since(began).Seconds()
	after, err := sizeSQLite(db)
	if err != nil {
		return nil, err
	}
	m[indexBytes] = after - before
	search, err := db.Prepare(`select rowid from f where f match ? order by rank limit 10`)
	if err != nil {
		return nil, err
	}
	question := func(text string) ([]int, error) {
		w := rarest(text, frequency)
		if len(w) == 0 {
			return nil, nil
		}
		return numbers(search.Query(`"` + strings.Join(w, `" OR "`) + `"`))
	}
	n, err := t.ask(m, func(document int) error {
		found, err := question(t.documents[document])
		if err != nil {
			return err
		}
		return v.keep(document, found)
	})
	if err != nil {
		return nil, err
	}
	if m[checkinsPS], err = checkinsFTS5(t, db, search, frequency); err != nil {
		return nil, err
	}
	library, _, _ := sqlite3.Version()
	return &outcome{Version: "SQLite " + library, Queried: &n, Answers: true, Measures: m,
		Settings: "a cache of 500 MB; unicode61, the 5 rarest words OR-ed, the best 10, each verified exactly at 0.8; checkins search and do not verify"}, nil
}

// checkinsFTS5 searches for each new document and adds it, in one transaction of five
// seconds at most, and returns how many a second.
func checkinsFTS5(t *task, db *sql.DB, search *sql.Stmt, frequency map[string]int32) (float64, error) {
	more, err := t.more()
	if err != nil {
		return 0, err
	}
	tx, err := db.Begin()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`create trigger live after insert on docs begin insert into f (rowid, body) values (new.id, new.body); end`); err != nil {
		return 0, err
	}
	put, err := tx.Prepare(`insert into docs (id, body) values (?, ?)`)
	if err != nil {
		return 0, err
	}
	find := tx.Stmt(search)
	began := time.Now()
	done := 0
	for i, d := range more {
		if w := rarest(d, frequency); len(w) > 0 {
			if _, err := numbers(find.Query(`"` + strings.Join(w, `" OR "`) + `"`)); err != nil {
				return 0, err
			}
		}
		if _, err := put.Exec(len(t.documents)+i, d); err != nil {
			return 0, err
		}
		if done++; time.Since(began) > 5*time.Second {
			break
		}
	}
	return float64(done) / time.Since(began).Seconds(), nil
}

func frequencies(db *sql.DB, query string) (map[string]int32, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := map[string]int32{}
	for rows.Next() {
		var word string
		var n int32
		if err := rows.Scan(&word, &n); err != nil {
			return nil, err
		}
		f[word] = n
	}
	return f, rows.Err()
}

// numbers reads the one column of a query.
func numbers(rows *sql.Rows, err error) ([]int, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []int
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

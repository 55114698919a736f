package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/passagetest"
	"github.com/alike-sql/alike/sqlext"
)

// passageWords are the lengths of the passages, and passageQuestions how many of each are asked.
var passageWords = []int{20, 50, 100, 300}

const passageQuestions = 200

// A passageRun is what was measured of passages that are looked for in pages.
type passageRun struct {
	Rows    int
	Commit  string
	Machine string
	Answers []*passageAnswers
}

// passageAnswers are those of a contender: for each length of passageWords the recall, the
// share of the answers that are true, and the seconds of the median and the slowest but one in a hundred.
type passageAnswers struct {
	Name, Version, How string
	Fill, Bytes        float64 // seconds and bytes a row
	Recall, True       []float64
	Median, Slow       []float64
}

// A passage is a question; page is the number of the page that it is from.
type passage struct {
	page int
	text string
}

// wordRuns is the set of the runs of five words of a text.
func wordRuns(words []string) map[string]bool {
	set := map[string]bool{}
	for i := range len(words) - 4 {
		set[strings.Join(words[i:i+5], " ")] = true
	}
	return set
}

// holds tells whether a page has eight tenths of the runs of five words of a passage.
func holds(page []string, passage string) bool {
	theirs, wanted, n := wordRuns(page), wordRuns(strings.Fields(passage)), 0
	for run := range wanted {
		if theirs[run] {
			n++
		}
	}
	return float64(n) >= threshold*float64(len(wanted))
}

// runPassages measures every contender that keep names.
func runPassages(ctx context.Context, rows int, out, module string, keep func(name string) bool) error {
	dir, err := os.MkdirTemp("", "passages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // a PostgreSQL server runs as somebody else
		return err
	}
	defer os.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	os.Setenv("TMPDIR", dir)
	run := &passageRun{Rows: rows, Commit: describe(module), Machine: machine()}
	if old, err := readPassages(out); err != nil {
		return err
	} else if old != nil && old.Rows == rows {
		run.Answers = old.Answers
	}
	questions := askedPassages(rows)
	for _, c := range []struct {
		name string
		ask  func(context.Context, *passageAnswers, int, [][]passage, string) ([][][]int, error)
	}{
		{"alike SQLite", passagesInSQLite}, {"SQLite FTS5, phrase", passagesFTS5}, {"alike PostgreSQL", passagesInPostgres},
		{"PostgreSQL full text, phrase", passagesFullText}, {"datasketch MinHashLSHEnsemble", passagesEnsemble(module)},
	} {
		if !keep(c.name) {
			continue
		}
		a := &passageAnswers{Name: c.name}
		found, err := c.ask(ctx, a, rows, questions, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		a.judge(rows, questions, found)
		run.Answers = append(slices.DeleteFunc(run.Answers, func(old *passageAnswers) bool { return old.Name == c.name }), a)
		log.Printf("%s: recall %.3f, true %.3f, median %.5f s", a.Name, a.Recall, a.True, a.Median)
		if err := run.write(out); err != nil {
			return err
		}
	}
	return nil
}

// askedPassages are the questions, by length.
func askedPassages(rows int) [][]passage {
	r := rand.New(rand.NewPCG(3, 4))
	lists := make([][]passage, len(passageWords))
	for i, words := range passageWords {
		for range passageQuestions {
			n := r.IntN(rows)
			page := passagetest.Page(n)
			at := r.IntN(len(page) - words)
			lists[i] = append(lists[i], passage{n, strings.Join(page[at:at+words], " ")})
		}
	}
	return lists
}

// judge completes what is measured of answers, the numbers of pages for each question. The pages that
// hold a passage are its own page and its neighbours, of which one may be an edit.
func (a *passageAnswers) judge(rows int, questions [][]passage, found [][][]int) {
	a.Recall, a.True = nil, nil
	for i := range questions {
		var truth, hit, answers, right int
		for j, q := range questions[i] {
			for n := max(0, q.page-1); n <= min(rows-1, q.page+1); n++ {
				if holds(passagetest.Page(n), q.text) {
					truth++
					if slices.Contains(found[i][j], n) {
						hit++
					}
				}
			}
			for _, n := range found[i][j] {
				if answers++; holds(passagetest.Page(n), q.text) {
					right++
				}
			}
		}
		a.Recall, a.True = append(a.Recall, ratio(hit, truth)), append(a.True, ratio(right, answers))
	}
}

// askAll asks every question and takes the time of each.
func (a *passageAnswers) askAll(questions [][]passage, ask func(i, j int, text string) ([]int, error)) (found [][][]int, err error) {
	for i, list := range questions {
		answers := make([][]int, len(list))
		var times []float64
		for j, q := range list {
			began := time.Now()
			if answers[j], err = ask(i, j, q.text); err != nil {
				return nil, err
			}
			times = append(times, time.Since(began).Seconds())
		}
		slices.Sort(times)
		a.Median, a.Slow = append(a.Median, times[len(times)/2]), append(a.Slow, times[len(times)*99/100])
		found = append(found, answers)
	}
	return found, nil
}

// sqlitePages makes a database of the pages.
func sqlitePages(file string, rows int) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+file+"?_synchronous=off&_cache_size=-500000")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table docs (id integer primary key, body text)"); err != nil {
		return nil, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for n := range rows {
		if _, err := tx.Exec("insert into docs values (?, ?)", n, strings.Join(passagetest.Page(n), " ")); err != nil {
			return nil, err
		}
	}
	return db, tx.Commit()
}

// filled runs what makes an index, and takes the time and the bytes of a row.
func (a *passageAnswers) filled(rows int, size func() (float64, error), fill func() error) error {
	before, err := size()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := fill(); err != nil {
		return err
	}
	a.Fill = time.Since(began).Seconds() / float64(rows)
	after, err := size()
	a.Bytes = (after - before) / float64(rows)
	return err
}

func passagesInSQLite(_ context.Context, a *passageAnswers, rows int, questions [][]passage, dir string) ([][][]int, error) {
	if err := sqlext.Auto(); err != nil {
		return nil, err
	}
	db, err := sqlitePages(filepath.Join(dir, "alike.db"), rows)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	a.Version, a.How = sketch.Version, "`alike_containers_like('docs', text)` of a table attached with `contains`"
	if err := a.filled(rows, func() (float64, error) { return sizeSQLite(db) }, func() error {
		_, err := numbers(db.Query(`select alike_attach('docs', 'body', '{"profile": "prose", "contains": true}')`))
		return err
	}); err != nil {
		return nil, err
	}
	return a.askAll(questions, func(_, _ int, text string) ([]int, error) {
		return numbers(db.Query("select key from alike_containers_like('docs', ?, ?)", text, threshold))
	})
}

func passagesFTS5(_ context.Context, a *passageAnswers, rows int, questions [][]passage, dir string) ([][][]int, error) {
	db, err := sqlitePages(filepath.Join(dir, "fts5.db"), rows)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := db.QueryRow("select sqlite_version()").Scan(&a.Version); err != nil {
		return nil, err
	}
	a.How = "`f match '\"…\"'`, the whole passage as a phrase, which finds it word for word alone"
	if err := a.filled(rows, func() (float64, error) { return sizeSQLite(db) }, func() error {
		_, err := db.Exec(`create virtual table f using fts5(body, content='docs', content_rowid='id', tokenize='unicode61');
			insert into f (f) values ('rebuild'); insert into f (f) values ('optimize')`)
		return err
	}); err != nil {
		return nil, err
	}
	return a.askAll(questions, func(_, _ int, text string) ([]int, error) {
		return numbers(db.Query("select rowid from f where f match ?", `"`+text+`"`))
	})
}

// postgresPages gives a server with a table of the pages.
func postgresPages(ctx context.Context, a *passageAnswers, rows int) (url string, c *pgx.Conn, stop func(), err error) {
	url, stopServer, err := startPostgres(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	stop = func() {
		stopServer()
		os.RemoveAll(filepath.Join(os.TempDir(), "pg"))
	}
	if c, err = pgx.Connect(ctx, url); err == nil {
		_, err = c.Exec(ctx, "create table docs (id bigint primary key, body text)")
	}
	n := -1
	if err == nil {
		_, err = c.CopyFrom(ctx, pgx.Identifier{"docs"}, []string{"id", "body"}, pgx.CopyFromFunc(func() ([]any, error) {
			if n++; n == rows {
				return nil, nil
			}
			return []any{n, strings.Join(passagetest.Page(n), " ")}, nil
		}))
	}
	if err == nil {
		err = c.QueryRow(ctx, "show server_version").Scan(&a.Version)
	}
	if err != nil {
		stop()
	}
	return url, c, stop, err
}

func passagesInPostgres(ctx context.Context, a *passageAnswers, rows int, questions [][]passage, dir string) ([][][]int, error) {
	url, c, stop, err := postgresPages(ctx, a, rows)
	if err != nil {
		return nil, err
	}
	defer stop()
	defer c.Close(ctx)
	a.How = "`alike.containers('docs', key)` of a table attached with `contains`, the passages being rows of it"
	if err := migrations.Up(ctx, url); err != nil {
		return nil, err
	}
	w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := c.Exec(ctx, `select alike.attach('docs', 'body', '{"profile": "prose", "contains": true}')`); err != nil {
		return nil, err
	}
	size := func() (n float64, err error) {
		return n, c.QueryRow(ctx, "select pg_total_relation_size('docs_alike') + pg_total_relation_size('docs_alike_value')").Scan(&n)
	}
	if err := a.filled(rows, size, func() error { return w.Once(ctx) }); err != nil {
		return nil, err
	}
	key := func(i, j int) int { return rows + i*passageQuestions + j }
	for i, list := range questions {
		for j, q := range list {
			if _, err := c.Exec(ctx, "insert into docs values ($1, $2)", key(i, j), q.text); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Once(ctx); err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "vacuum analyze"); err != nil {
		return nil, err
	}
	found, err := a.askAll(questions, func(i, j int, _ string) ([]int, error) {
		return column(c.Query(ctx, "select key from alike.containers('docs', $1, $2)", fmt.Sprint(key(i, j)), threshold))
	})
	for _, list := range found {
		for j := range list {
			list[j] = slices.DeleteFunc(list[j], func(n int) bool { return n >= rows })
		}
	}
	return found, err
}

func passagesFullText(ctx context.Context, a *passageAnswers, rows int, questions [][]passage, dir string) ([][][]int, error) {
	_, c, stop, err := postgresPages(ctx, a, rows)
	if err != nil {
		return nil, err
	}
	defer stop()
	defer c.Close(ctx)
	a.How = "`to_tsvector('simple', body) @@ phraseto_tsquery('simple', text)` over a GIN index, which finds the passage word for word alone"
	size := func() (n float64, err error) {
		return n, c.QueryRow(ctx, "select pg_indexes_size('docs')").Scan(&n)
	}
	if err := a.filled(rows, size, func() error {
		_, err := c.Exec(ctx, "create index on docs using gin (to_tsvector('simple', body))")
		return err
	}); err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "vacuum analyze docs"); err != nil {
		return nil, err
	}
	return a.askAll(questions, func(_, _ int, text string) ([]int, error) {
		return column(c.Query(ctx, "select id from docs where to_tsvector('simple', body) @@ phraseto_tsquery('simple', $1)", text))
	})
}

// passagesEnsemble asks datasketch, in a process of Python.
func passagesEnsemble(module string) func(context.Context, *passageAnswers, int, [][]passage, string) ([][][]int, error) {
	return func(ctx context.Context, a *passageAnswers, rows int, questions [][]passage, dir string) (found [][][]int, err error) {
		file := filepath.Join(dir, "passages.jsonl")
		f, err := os.Create(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := json.NewEncoder(f)
		var asked [][]string
		for _, list := range questions {
			var texts []string
			for _, q := range list {
				texts = append(texts, q.text)
			}
			asked = append(asked, texts)
		}
		if err := lines.Encode(asked); err != nil {
			return nil, err
		}
		for n := range rows {
			if err := lines.Encode(strings.Join(passagetest.Page(n), " ")); err != nil {
				return nil, err
			}
		}
		cmd := exec.CommandContext(ctx, python(), filepath.Join(module, "peers", "passages.py"), file, fmt.Sprint(threshold))
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		var said struct {
			Version      string
			Fill, Bytes  float64
			Found        [][][]int
			Median, Slow []float64
		}
		if err := json.Unmarshal(out, &said); err != nil {
			return nil, err
		}
		a.Version, a.Fill, a.Bytes, a.Median, a.Slow = said.Version, said.Fill, said.Bytes, said.Median, said.Slow
		a.How = fmt.Sprintf("threshold %v, 128 permutations, 32 partitions, weights 0.1 and 0.9, with which it finds most at that threshold (0.01 of the passages of 20 words with its own); its answers as they are; in memory, without a database", threshold)
		return said.Found, nil
	}
}

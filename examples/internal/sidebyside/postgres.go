package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/pgworker/worker"
)

func init() {
	own["alike PostgreSQL"] = onPostgres(alikePostgres("columns", false))
	own["alike PostgreSQL, parts"] = onPostgres(alikePostgres("parts", false))
	own["alike PostgreSQL, verified"] = onPostgres(alikePostgres("columns", true))
	own["pg_trgm GIN"] = onPostgres(indexed(`create extension pg_trgm; set pg_trgm.similarity_threshold = 0.7`,
		`create index docs_i on docs using gin (body gin_trgm_ops)`,
		`select id from docs where body % $1`, "similarity above 0.7, each answer verified exactly at 0.8"))
	own["pg_trgm GiST"] = onPostgres(indexed(`create extension pg_trgm; set pg_trgm.similarity_threshold = 0.7`,
		`create index docs_i on docs using gist (body gist_trgm_ops (siglen=256))`,
		`select id from docs where body % $1`, "siglen 256, similarity above 0.7, each answer verified exactly at 0.8"))
	own["pg_similarity GIN"] = onPostgres(indexed(`create extension pg_similarity; set pg_similarity.jaccard_threshold = 0.7`,
		`create index docs_i on docs using gin (body gin_similarity_ops)`,
		`select id from docs where body ~?? $1`, "jaccard of words at least 0.7, each answer verified exactly at 0.8"))
	own["dedup-pg"] = onPostgres(dedupPG)
	own["PostgreSQL full text, 5 rarest words"] = onPostgres(fullText)
}

// onPostgres gives a contender a server of its own, with the documents in a
// table and nothing forced to the disk.
func onPostgres(f func(context.Context, *task, string, *pgx.Conn) (*outcome, error)) func(*task) (*outcome, error) {
	return func(t *task) (*outcome, error) {
		ctx := context.Background()
		url, stop, err := startPostgres(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return nil, err
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, `create table docs (id bigint primary key, body text)`); err != nil {
			return nil, err
		}
		if err := t.copy(ctx, c, 0, t.n); err != nil {
			return nil, err
		}
		if _, err := c.Exec(ctx, `vacuum analyze docs`); err != nil {
			return nil, err
		}
		o, err := f(ctx, t, url, c)
		if err != nil {
			return nil, err
		}
		var version string
		if err := c.QueryRow(ctx, `show server_version`).Scan(&version); err != nil {
			return nil, err
		}
		o.Settings = "PostgreSQL " + strings.Fields(version)[0] + "; " + o.Settings
		return o, nil
	}
}

// dedupPG runs a library of Python that keeps bands in a table.
func dedupPG(ctx context.Context, t *task, url string, c *pgx.Conn) (*outcome, error) {
	o, err := t.peer(python(), "bands.py", url, t.path, strconv.Itoa(t.n))
	if err != nil {
		return nil, err
	}
	var size float64
	if err := c.QueryRow(ctx, `select pg_total_relation_size('bands')`).Scan(&size); err != nil {
		return nil, err
	}
	o.Measures[indexBytes] = size
	return o, nil
}

// copy copies the documents from one number to before another into the table.
func (t *task) copy(ctx context.Context, c *pgx.Conn, from, to int) error {
	r, err := openTexts(t.path, from, to)
	if err != nil {
		return err
	}
	defer r.close()
	_, err = c.CopyFrom(ctx, pgx.Identifier{"docs"}, []string{"id", "body"}, r)
	return err
}

const postgresBin = "/usr/lib/postgresql/15/bin"

func startPostgres(ctx context.Context) (url string, stop func(), err error) {
	dir := filepath.Join(os.TempDir(), "pg")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	var who *syscall.SysProcAttr
	if os.Getuid() == 0 {
		// The server refuses to run as root.
		u, err := user.Lookup("postgres")
		if err != nil {
			return "", nil, err
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if err := errors.Join(errU, errG, os.Chown(dir, uid, gid)); err != nil {
			return "", nil, err
		}
		who = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(postgresBin, name), args...)
		c.SysProcAttr, c.Dir = who, dir
		return c
	}
	if out, err := command("initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	server := command("postgres", "-D", dir+"/data", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off",
		"-c", "full_page_writes=off", "-c", "shared_buffers=1GB", "-c", "maintenance_work_mem=512MB", "-c", "work_mem=64MB", "-c", "max_wal_size=8GB", "-c", "autovacuum=off")
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() {
		server.Wait()
		close(ended)
	}()
	stop = func() {
		server.Process.Signal(syscall.SIGQUIT)
		<-ended
	}
	url = "postgres://postgres@/postgres?host=" + dir
	for {
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			return url, stop, c.Close(ctx)
		}
		select {
		case <-ended:
			return "", nil, fmt.Errorf("the PostgreSQL server ended before it answered: %w", err)
		case <-ctx.Done():
			stop()
			return "", nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// alikePostgres has a worker fill the side table. To be verified is as in alikeSQLite.
func alikePostgres(layout string, verified bool) func(context.Context, *task, string, *pgx.Conn) (*outcome, error) {
	return func(ctx context.Context, t *task, url string, c *pgx.Conn) (*outcome, error) {
		if err := migrations.Up(ctx, url); err != nil {
			return nil, err
		}
		w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true})
		if err != nil {
			return nil, err
		}
		defer w.Close()
		m := map[string]float64{}
		began := time.Now()
		if _, err := c.Exec(ctx, `select alike.attach('docs', 'body', '{"profile": "`+shingling+` bits=8", "policy": "link", "at_least": 0.8, "layout": "`+layout+`"}')`); err != nil {
			return nil, err
		}
		if err := w.Once(ctx); err != nil {
			return nil, err
		}
		m[buildTime] = time.Since(began).Seconds()
		if _, err := c.Exec(ctx, `vacuum analyze`); err != nil {
			return nil, err
		}
		if err := size(ctx, c, m, `select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname ~ '^(docs_alike(_part)?|alike_part_.*)$'`); err != nil {
			return nil, err
		}
		o := &outcome{Settings: "attach with policy link, filled by one worker; ", Measures: m, Answers: true}
		if verified {
			v, err := newVerifier(t)
			if err != nil {
				return nil, err
			}
			n, err := t.ask(m, func(document int) error {
				found, err := column(c.Query(ctx, `select key from alike.rows('docs', $1, $2)`, strconv.Itoa(document), verifyFrom))
				if err != nil {
					return err
				}
				return v.keep(document, found)
			})
			o.Queried = &n
			o.Settings += fmt.Sprintf("alike.rows at %v, each verified exactly at %v", verifyFrom, threshold)
			return o, err
		}
		if _, err := t.ask(m, func(document int) error {
			_, err := column(c.Query(ctx, `select key from alike.rows('docs', $1, $2)`, strconv.Itoa(document), threshold))
			return err
		}); err != nil {
			return nil, err
		}
		began = time.Now()
		rows, err := c.Query(ctx, `select key::int, other::int from alike.pairs('docs', 0.8)`)
		if err != nil {
			return nil, err
		}
		var a, b int
		if _, err := pgx.ForEachRow(rows, []any{&a, &b}, func() error { t.answer(a, b); return nil }); err != nil {
			return nil, err
		}
		m[pairsTime], m[pairsFound] = time.Since(began).Seconds(), float64(t.answered)
		if m[peakBytes], err = peak(); err != nil {
			return nil, err
		}
		began = time.Now()
		var n int
		if err := c.QueryRow(ctx, `select count(*) from alike.clusters('docs', 0.8)`).Scan(&n); err != nil {
			return nil, err
		}
		m[clustersTime] = time.Since(began).Seconds()
		if m[clustersPeak], err = peak(); err != nil {
			return nil, err
		}
		var start string
		if err := c.QueryRow(ctx, `select pg_current_wal_insert_lsn()::text`).Scan(&start); err != nil {
			return nil, err
		}
		began = time.Now()
		if err := t.copy(ctx, c, t.n, t.n+checkins); err != nil {
			return nil, err
		}
		if err := w.Once(ctx); err != nil {
			return nil, err
		}
		m[checkinsPS] = checkins / time.Since(began).Seconds()
		var logged float64
		if err := c.QueryRow(ctx, `select (pg_current_wal_insert_lsn() - $1::text::pg_lsn)::float8`, start).Scan(&logged); err != nil {
			return nil, err
		}
		m[checkinBytes] = logged / checkins
		o.Settings += "alike.rows, alike.pairs and alike.clusters at 0.8; checkins until the worker has done them"
		return o, nil
	}
}

func size(ctx context.Context, c *pgx.Conn, m map[string]float64, query string) error {
	var n int64
	err := c.QueryRow(ctx, query).Scan(&n)
	m[indexBytes] = float64(n)
	return err
}

// indexed is a contender that is an index and a query.
func indexed(prepare, index, query, settings string) func(context.Context, *task, string, *pgx.Conn) (*outcome, error) {
	return func(ctx context.Context, t *task, _ string, c *pgx.Conn) (*outcome, error) {
		v, err := newVerifier(t)
		if err != nil {
			return nil, err
		}
		m := map[string]float64{}
		if _, err := c.Exec(ctx, prepare); err != nil {
			return nil, err
		}
		began := time.Now()
		if _, err := c.Exec(ctx, index); err != nil {
			return nil, err
		}
		m[buildTime] = time.Since(began).Seconds()
		return finish(ctx, t, c, m, settings, func(document int, text string) error {
			found, err := column(c.Query(ctx, query, text))
			if err != nil || document < 0 {
				return err
			}
			return v.keep(document, found)
		})
	}
}

// finish measures what the finders with an index docs_i have in common.
// Checkins ask first, then insert, each with its own statement.
func finish(ctx context.Context, t *task, c *pgx.Conn, m map[string]float64, settings string, ask func(document int, text string) error) (*outcome, error) {
	if err := size(ctx, c, m, `select pg_relation_size('docs_i')`); err != nil {
		return nil, err
	}
	n, err := t.ask(m, func(document int) error { return ask(document, t.documents[document]) })
	if err != nil {
		return nil, err
	}
	more, err := t.more()
	if err != nil {
		return nil, err
	}
	began, done := time.Now(), 0
	for i, d := range more {
		if err := ask(-1, d); err != nil {
			return nil, err
		}
		if _, err := c.Exec(ctx, `insert into docs (id, body) values ($1, $2)`, len(t.documents)+i, d); err != nil {
			return nil, err
		}
		if done++; time.Since(began) > 5*time.Second {
			break
		}
	}
	m[checkinsPS] = float64(done) / time.Since(began).Seconds()
	return &outcome{Version: debianVersion(), Settings: settings, Measures: m, Queried: &n, Answers: true}, nil
}

func fullText(ctx context.Context, t *task, _ string, c *pgx.Conn) (*outcome, error) {
	v, err := newVerifier(t)
	if err != nil {
		return nil, err
	}
	m, frequency := map[string]float64{}, map[string]int32{}
	began := time.Now()
	if _, err := c.Exec(ctx, `create index docs_i on docs using gin (to_tsvector('simple', body))`); err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, `select word, ndoc from ts_stat($$select to_tsvector('simple', body) from docs$$)`)
	if err != nil {
		return nil, err
	}
	var word string
	var n int32
	if _, err := pgx.ForEachRow(rows, []any{&word, &n}, func() error { frequency[word] = n; return nil }); err != nil {
		return nil, err
	}
	m[buildTime] = time.Since(began).Seconds()
	return finish(ctx, t, c, m, "to_tsvector simple with GIN, the 5 rarest words OR-ed, the best 10 by ts_rank, each verified exactly at 0.8; checkins search and do not verify", func(document int, text string) error {
		w := rarest(text, frequency)
		if len(w) == 0 {
			return nil
		}
		// The words are letters and digits: they need no quotes.
		found, err := column(c.Query(ctx, `select id from docs, to_tsquery('simple', $1) q where to_tsvector('simple', body) @@ q order by ts_rank(to_tsvector('simple', body), q) desc limit 10`, strings.Join(w, "|")))
		if err != nil || document < 0 {
			return err
		}
		return v.keep(document, found)
	})
}

// column reads the one column of a query.
func column(rows pgx.Rows, err error) ([]int, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (int, error) {
		var s any
		if err := row.Scan(&s); err != nil {
			return 0, err
		}
		switch s := s.(type) {
		case int64:
			return int(s), nil
		case string:
			return strconv.Atoi(s)
		}
		return 0, fmt.Errorf("a key of type %T", s)
	})
}

func debianVersion() string {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version} ", "postgresql-15", "postgresql-15-similarity").Output()
	if err != nil {
		return "of unknown version"
	}
	return strings.TrimSpace(string(out))
}

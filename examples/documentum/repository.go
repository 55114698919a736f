package main

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/alike-sql/alike/examples/documentum/postgres"
	"github.com/alike-sql/alike/examples/documentum/sqlite"
	"github.com/alike-sql/alike/examples/internal/steps"
	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/pgworker/worker"
)

//go:embed tasks
var tasks embed.FS

// A repository is a database with the tables and procedures of an engine's
// files, which have the same names in both. The files run as they are in the
// sqlite3 shell and in psql too.
type repository struct {
	db    *sql.DB
	files fs.FS

	// Only with PostgreSQL: the worker, and the connections for worker.Ask.
	worker *worker.Worker
	pool   *pgxpool.Pool
}

// newSQLite makes a repository in a new file.
func newSQLite(file string) (*repository, error) {
	db, err := steps.Create(file)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return newRepository(&repository{db: db, files: sqlite.Files}, "pragma foreign_keys = on")
}

// newPostgres makes a repository in an empty database.
func newPostgres(ctx context.Context, url string) (*repository, error) {
	if err := migrations.Up(ctx, url); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // takes a whole file
	w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	return newRepository(&repository{db: stdlib.OpenDB(*config), files: postgres.Files, worker: w, pool: pool}, "")
}

func newRepository(r *repository, setting string) (*repository, error) {
	_, err := r.db.Exec(setting)
	for _, name := range []string{"repository.sql", "versions.sql", "aspect.sql"} {
		if err == nil {
			err = steps.Do(r.db, r.files, name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *repository) close() error {
	if r.worker != nil {
		r.worker.Close()
		r.pool.Close()
	}
	return r.db.Close()
}

// call calls a procedure.
func (r *repository) call(procedure string, args ...any) error {
	form, mark := "insert into %s values (%s)", "?"
	if r.worker != nil {
		form, mark = "call %s(%s)", "$"
	}
	marks := make([]string, len(args))
	for i := range marks {
		if marks[i] = mark; mark == "$" {
			marks[i] = fmt.Sprint("$", i+1)
		}
	}
	_, err := r.db.Exec(fmt.Sprintf(form, procedure, strings.Join(marks, ", ")), args...)
	return err
}

// sketch adds to the arguments of a procedure, in PostgreSQL, the sketch of the
// content, which the policy reject judges it by.
func (r *repository) sketch(content []byte, args []any) ([]any, error) {
	if r.worker == nil {
		return args, nil
	}
	q, err := worker.Ask(context.Background(), r.pool, "si_aspect", content)
	if err != nil {
		return nil, err
	}
	return append(args, q.Sketch), nil
}

func (r *repository) importDocument(kind, name, folder, owner string, content []byte, date any) error {
	args, err := r.sketch(content, []any{kind, name, folder, owner, nil, content, date})
	if err != nil {
		return err
	}
	return r.call("import_document", args...)
}

// A checkin is what the procedure takes. Content that is nil stays as it was.
type checkin struct {
	id, user, version string
	content           []byte
	label             any
	compareVersions   bool
}

func (r *repository) checkin(c checkin) error {
	content := c.content
	if content == nil {
		if err := r.db.QueryRow("select content from object_content where r_object_id = $1", c.id).Scan(&content); err != nil && err != sql.ErrNoRows {
			return err
		}
	}
	args, err := r.sketch(content, []any{c.id, c.user, c.version, c.content, c.label, c.compareVersions})
	if err != nil {
		return err
	}
	return r.call("checkin", args...)
}

// settle runs the worker until its queue is empty.
func (r *repository) settle() error {
	if r.worker == nil {
		return nil
	}
	return r.worker.Once(context.Background())
}

// do runs a task that returns no rows.
func (r *repository) do(name string) error {
	return errors.Join(steps.Do(r.db, tasks, "tasks/"+name+".sql"), r.settle())
}

// read runs a task and returns its rows.
func (r *repository) read(name string, args ...sql.NamedArg) ([][]string, error) {
	text, err := tasks.ReadFile("tasks/" + name + ".sql")
	if err != nil {
		return nil, err
	}
	query := string(text)
	var values []any
	for i, a := range args {
		if r.worker == nil {
			values = append(values, a)
		} else {
			query = strings.ReplaceAll(query, ":"+a.Name, fmt.Sprint("$", i+1))
			values = append(values, a.Value)
		}
	}
	rows, err := steps.Read(r.db, query, values...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, r.settle()
}

func (r *repository) show(out io.Writer, title, name string, args ...sql.NamedArg) error {
	rows, err := r.read(name, args...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n\n%s\n", title, steps.Table(rows))
	return err
}

// backfill runs backfill.sql until no object remains.
func (r *repository) backfill() error {
	for {
		if err := errors.Join(steps.Do(r.db, r.files, "backfill.sql"), r.settle()); err != nil {
			return err
		}
		rows, err := r.read("remaining")
		if err != nil || rows[1][0] == "0" {
			return err
		}
	}
}

// policy sets what a checkin does with a near-duplicate.
func (r *repository) policy(name string) error {
	_, err := r.read("policy", sql.Named("policy", name))
	return err
}

// id returns the current version of the document of that name.
func (r *repository) id(name string) (id string, err error) {
	err = r.db.QueryRow("select r_object_id from dm_document where object_name = $1", name).Scan(&id)
	return id, err
}

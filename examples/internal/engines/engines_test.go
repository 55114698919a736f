//go:build unix

package engines

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/mattn/go-sqlite3"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sqlext"
)

func TestMain(m *testing.M) {
	if err := sqlext.Auto(); err != nil {
		panic(err)
	}
	pgtest.Main(m)
}

// engines is a database of each kind with the same tables.
type engines struct {
	t        *testing.T
	sqlite   *sql.DB
	postgres *pgx.Conn
	worker   *worker.Worker
}

func open(t *testing.T) *engines {
	t.Helper()
	e := &engines{t: t}
	var err error
	if e.sqlite, err = sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "alike.db")+"?_synchronous=off"); err != nil {
		t.Fatal(err)
	}
	e.sqlite.SetMaxOpenConns(1)
	t.Cleanup(func() { e.sqlite.Close() })
	database := pgtest.Database(t)
	e.postgres = pgtest.Connect(t, database)
	if e.worker, err = worker.New(context.Background(), worker.Config{DatabaseURL: database, AllowSuperuser: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.worker.Close)
	return e
}

// inSQLite is a statement as SQLite has it: alike.name is alike_name there.
func inSQLite(statement string) string {
	return strings.NewReplacer("alike.", "alike_", "$", "?", "::text", "", "::bytea", "").Replace(statement)
}

// asText gives keys to PostgreSQL as it takes them.
func asText(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		if key, ok := arg.(int); ok {
			args[i] = strconv.Itoa(key)
		}
	}
	return args
}

// exec runs a statement in both, and lets the worker follow.
func (e *engines) exec(statement string, args ...any) {
	e.t.Helper()
	if _, err := e.sqlite.Exec(inSQLite(statement), args...); err != nil {
		e.t.Fatalf("SQLite: %s: %v", statement, err)
	}
	if _, err := e.postgres.Exec(context.Background(), statement, args...); err != nil {
		e.t.Fatalf("PostgreSQL: %s: %v", statement, err)
	}
}

func (e *engines) follow() {
	e.t.Helper()
	if err := e.worker.Once(context.Background()); err != nil {
		e.t.Fatal(err)
	}
}

// both asks both engines and returns the answers, a line a row, every float with
// all of its bits.
func (e *engines) both(query string, args ...any) (sqlite, postgres []string, sqliteErr, postgresErr error) {
	e.t.Helper()
	sqlite, sqliteErr = askSQLite(e.sqlite, inSQLite(query), args)
	rows, err := e.postgres.Query(context.Background(), query, asText(args)...)
	if err != nil {
		return sqlite, nil, sqliteErr, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return sqlite, postgres, sqliteErr, err
		}
		postgres = append(postgres, line(values))
	}
	return sqlite, postgres, sqliteErr, rows.Err()
}

func askSQLite(db *sql.DB, query string, args []any) (lines []string, err error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		lines = append(lines, line(values))
	}
	return lines, rows.Err()
}

// line writes a row so that two engines write the same for the same: a key may
// be a number here and text there.
func line(values []any) string {
	parts := make([]string, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case nil:
			parts[i] = "NULL"
		case float64:
			parts[i] = strconv.FormatFloat(v, 'x', -1, 64)
		case bool:
			parts[i] = map[bool]string{false: "0", true: "1"}[v]
		case []byte:
			parts[i] = fmt.Sprintf("%x", v)
		default:
			parts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(parts, " | ")
}

// same asks both and compares. It returns the answer, in the order of SQLite.
func (e *engines) same(query string, args ...any) []string {
	e.t.Helper()
	sqlite, postgres, sqliteErr, postgresErr := e.both(query, args...)
	if sqliteErr != nil || postgresErr != nil {
		e.t.Fatalf("%s %.80v: error %v in SQLite, %v in PostgreSQL", query, args, sqliteErr, postgresErr)
	}
	a, b := slices.Sorted(slices.Values(sqlite)), slices.Sorted(slices.Values(postgres))
	if !slices.Equal(a, b) {
		e.t.Errorf("%s %.80v: %d rows in SQLite, %d in PostgreSQL%s", query, args, len(a), len(b), firstDifference(a, b))
	}
	return sqlite
}

func firstDifference(a, b []string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	at := func(list []string) string {
		if i < len(list) {
			return list[i]
		}
		return "nothing"
	}
	return fmt.Sprintf(", the first that differs:\n%s\n%s", at(a), at(b))
}

// number is the one value of an answer.
func (e *engines) number(query string, args ...any) int {
	e.t.Helper()
	answer := e.same(query, args...)
	if len(answer) != 1 {
		e.t.Fatalf("%s: %d rows, want 1", query, len(answer))
	}
	n, err := strconv.Atoi(answer[0])
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

// fails has both refuse a query.
func (e *engines) fails(query string, args ...any) {
	e.t.Helper()
	if _, _, sqliteErr, postgresErr := e.both(query, args...); sqliteErr == nil || postgresErr == nil {
		e.t.Errorf("%s %.80v: error %v in SQLite, %v in PostgreSQL, want both", query, args, sqliteErr, postgresErr)
	}
}

// failsAlike has both refuse a query in one sentence, which each introduces in its way.
func (e *engines) failsAlike(query string, args ...any) {
	e.t.Helper()
	_, _, sqliteErr, postgresErr := e.both(query, args...)
	if a, b := sentence(sqliteErr), sentence(postgresErr); a == "" || a != b {
		e.t.Errorf("%s %.80v: error %q in SQLite, %q in PostgreSQL, want one and the same", query, args, a, b)
	}
}

// alikeInBoth asks a query to which both have the same answer, or the same error.
func (e *engines) alikeInBoth(query string, args ...any) {
	e.t.Helper()
	if _, _, sqliteErr, postgresErr := e.both(query, args...); sqliteErr != nil && postgresErr != nil {
		e.failsAlike(query, args...)
		return
	}
	e.same(query, args...)
}

var (
	introduction = regexp.MustCompile(`^(alike_\w+|alike|sketch): (sketch: )?`)
	typed        = regexp.MustCompile(`is the (integer|number) `) // SQLite's values have types of their own
)

// sentence is an error without the name of what says it.
func sentence(err error) string {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pg):
		return introduction.ReplaceAllString(pg.Message, "")
	}
	return typed.ReplaceAllString(introduction.ReplaceAllString(err.Error(), ""), "is ")
}

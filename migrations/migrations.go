// Package migrations carries the PostgreSQL schema of Alike and applies it
// with golang-migrate. The plain migrate command applies the same files:
//
//	migrate -path migrations -database "$DATABASE_URL" up
//
// Both keep the version in the table schema_migrations. Where a program's own
// migrations live there, add x-migrations-table=alike_migrations to the URL.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// FS holds the migrations, NNNNNN_name.up.sql and .down.sql.
//
//go:embed *.sql
var FS embed.FS

// Latest returns the version of the newest migration.
func Latest() int {
	latest := 0
	names, _ := fs.Glob(FS, "*.up.sql") // the pattern is well-formed
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.Atoi(number); err == nil && n > latest {
			latest = n
		}
	}
	return latest
}

// A Status is where a database's schema stands.
type Status struct {
	Version int  // 0: nothing was applied
	Latest  int  // what this build has
	Dirty   bool // the last migration failed half way
}

// Up applies the migrations that a database does not have.
func Up(ctx context.Context, databaseURL string) error {
	return with(ctx, databaseURL, func(m *migrate.Migrate) error { return m.Up() })
}

// Down takes all migrations back. Side tables and their rows stay.
func Down(ctx context.Context, databaseURL string) error {
	return with(ctx, databaseURL, func(m *migrate.Migrate) error { return m.Down() })
}

// Force records that a database is as a version leaves it, 0 for nothing, and that it
// is not dirty. It applies nothing.
func Force(ctx context.Context, databaseURL string, version int) error {
	if version == 0 {
		version = database.NilVersion
	}
	return with(ctx, databaseURL, func(m *migrate.Migrate) error { return m.Force(version) })
}

// Current reports where a database stands and changes nothing but to make
// golang-migrate's own table.
func Current(ctx context.Context, databaseURL string) (Status, error) {
	status := Status{Latest: Latest()}
	err := with(ctx, databaseURL, func(m *migrate.Migrate) error {
		version, dirty, err := m.Version()
		if errors.Is(err, migrate.ErrNilVersion) {
			return nil
		}
		status.Version, status.Dirty = int(version), dirty
		return err
	})
	return status, err
}

// with opens the database, runs f and closes it. Cancelling ctx stops after
// the migration that is running.
func with(ctx context.Context, databaseURL string, f func(*migrate.Migrate) error) error {
	databaseURL, table, err := splitTable(databaseURL)
	if err != nil {
		return err
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("migrations: database URL: %w", err)
	}
	config.RuntimeParams["standard_conforming_strings"] = "on" // pgx insists, and the role may have another
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		// golang-migrate waits for its lock on a connection that it then cannot close.
		_, err := c.Exec(ctx, "select set_config('lock_timeout', '1min', false) where current_setting('lock_timeout') = '0'")
		return err
	}))
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("migrations: connect: %w", err)
	}
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{MigrationsTable: table})
	if err != nil {
		return explained(err)
	}
	source, err := iofs.New(FS, ".")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", source, "pgx5", driver)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	m.LockTimeout = time.Hour // lock_timeout comes first
	stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true })
	defer stop()
	err = f(m)
	if errors.Is(err, migrate.ErrNoChange) {
		err = nil
	}
	if err != nil {
		err = explained(err)
	}
	sourceErr, closeErr := m.Close()
	return errors.Join(err, sourceErr, closeErr)
}

// explained says what a lock that was not to be had means. golang-migrate wraps some errors
// as text.
func explained(err error) error {
	if strings.Contains(err.Error(), "55P03") {
		return fmt.Errorf("migrations: another session holds a lock, such as another migration or a transaction that uses the schema alike; try again when it ends: %w", err)
	}
	return fmt.Errorf("migrations: %w", err)
}

// splitTable takes golang-migrate's own parameter out of a URL.
func splitTable(databaseURL string) (rest, table string, err error) {
	if !strings.Contains(databaseURL, "x-migrations-table") {
		return databaseURL, "", nil
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", "", fmt.Errorf("migrations: database URL: %w", err)
	}
	query := u.Query()
	table = query.Get("x-migrations-table")
	query.Del("x-migrations-table")
	u.RawQuery = query.Encode()
	return u.String(), table, nil
}

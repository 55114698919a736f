package queries_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// What people ask in PostgreSQL runs as it is, and has the same answer in the
// oldest release, the newest and the release that tests run on.
func TestPeoplesQueries(t *testing.T) {
	answers := map[string]string{}
	for _, version := range pgtest.Extremes() {
		t.Run(fmt.Sprint("PostgreSQL ", version), func(t *testing.T) {
			ctx := context.Background()
			url := pgtest.Shared(t, version).Database(t)
			c := pgtest.Connect(t, url)
			for _, file := range []string{"sample.sql", "postgres/attach.sql"} {
				if _, err := c.Exec(ctx, read(t, file), pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
			w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := w.Once(ctx); err != nil {
				t.Fatal(err)
			}
			for _, file := range peoples(t) {
				rows, err := c.Query(ctx, read(t, file), pgx.QueryExecModeSimpleProtocol)
				if err != nil {
					t.Errorf("%s: %v", file, err)
					continue
				}
				found, err := pgx.CollectRows(rows, pgx.RowToMap)
				if err != nil {
					t.Errorf("%s: %v", file, err)
				}
				got := strings.ReplaceAll(fmt.Sprint(found), "map", "\n")
				if before, ok := answers[file]; ok && got != before && filepath.Base(file) != "checkins.sql" {
					t.Errorf("%s: %s\nanother release: %s", file, got, before)
				}
				answers[file] = got
			}
		})
	}
	for _, file := range []string{"postgres/alike_to_row.sql", "both/hot.sql", "postgres/pairs.sql", "postgres/si_range.sql"} {
		if len(answers[file]) < 10 {
			t.Errorf("%s answers %q", file, answers[file])
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// peoples lists the questions: the files that the code does not embed.
func peoples(t *testing.T) (list []string) {
	t.Helper()
	code := read(t, "postgres.go")
	for _, file := range files(t, "postgres", "both") {
		if !strings.Contains(code, "//go:embed "+filepath.ToSlash(file)) && filepath.Base(file) != "attach.sql" {
			list = append(list, file)
		}
	}
	if len(list) < 10 {
		t.Fatalf("%d files: %v, want at least 10", len(list), list)
	}
	return list
}

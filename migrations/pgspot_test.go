package migrations_test

import (
	"context"
	"os"
	process "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// pgspot finds nothing in the migrations: no statement and no function depends on the
// search path of who runs it, but for those that look a table up as their caller
// would. .ci/setup installs it.
func TestPgspot(t *testing.T) {
	program := pgtest.Installed(t, "peers", "pgspot/bin/pgspot")
	// They look a table up where their caller would, by names that are all qualified.
	callers := map[string]bool{}
	for _, function := range []string{
		"_relation", "_attachment", "attach", "change", "detach", "refresh", "own", "rows", "rows_like", "advise", "common", "si_rows", "forest_rows", "pairs", "clusters", "keep", "mark", "hot", "errors",
		"gate", "write_clusters", "containers", "contained", "containers_like", "contained_like", "containments",
		"_shared_values", // the functions that call it have one
	} {
		callers[function] = false
	}
	finding := regexp.MustCompile(`(?m)^PS\d+: .*$`)
	withoutPath := regexp.MustCompile(`^PS005: Function without explicit search_path: alike\.(\w+)\(`)
	spot := func(files ...string) (found []string) {
		out, err := process.Command(program, append([]string{"--no-plpgsql"}, files...)...).CombinedOutput()
		if _, ended := err.(*process.ExitError); err != nil && !ended || strings.Count(string(out), "Unknown: 0") < len(files) {
			t.Fatalf("%s: %v: %s", files, err, out)
		}
		for _, line := range finding.FindAllString(string(out), -1) {
			if m := withoutPath.FindStringSubmatch(line); m != nil {
				if _, known := callers[m[1]]; known {
					callers[m[1]] = true
					continue
				}
			}
			found = append(found, line)
		}
		return found
	}
	files, err := filepath.Glob("0*.sql")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, error %v, want at least 60", len(files), err)
	}
	for _, found := range spot(files...) {
		t.Error(found)
	}
	for function, seen := range callers {
		if !seen {
			t.Errorf("alike.%s has a search path", function)
		}
	}
	for _, bad := range []string{
		"create table alike.x (at timestamptz default now());",
		"create function alike.x() returns int language sql security definer as 'select 1';",
		"create function alike.x() returns int language sql as 'select 1';",
		"create policy x on alike.x using (owner = current_user);",
	} {
		file := filepath.Join(t.TempDir(), "bad.sql")
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if len(spot(file)) == 0 {
			t.Errorf("nothing is found in %s", bad)
		}
	}
}

// The strings of every function, those that attach writes included, mean the same whether
// standard_conforming_strings is on or off.
func TestStringsHaveOneMeaning(t *testing.T) {
	for _, version := range pgtest.Extremes() {
		config, err := pgx.ParseConfig(pgtest.Shared(t, version).Database(t))
		if err != nil {
			t.Fatal(err)
		}
		var warnings []string
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
			if n.Code == "22P06" {
				warnings = append(warnings, n.Message)
			}
		}
		c, err := pgx.ConnectConfig(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		exec(t, c, `create table files (id int primary key, body text); select alike.attach('files', 'body', jsonb_build_object('where', $x$ body ~ '^\d+\w''' $x$, 'contains', true))`)
		rows, err := c.Query(context.Background(), "select p.oid::regprocedure::text, pg_get_functiondef(p.oid) from pg_proc p where pronamespace in ('alike'::regnamespace, 'public'::regnamespace) and prokind = 'f'")
		if err != nil {
			t.Fatal(err)
		}
		type function struct{ Name, Definition string }
		functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
		if err != nil || len(functions) < 100 {
			t.Fatalf("%d functions, error %v, want at least 100", len(functions), err)
		}
		exec(t, c, "set standard_conforming_strings = off; set escape_string_warning = on; set check_function_bodies = on")
		for _, f := range functions {
			warnings = nil
			if _, err := c.Exec(context.Background(), f.Definition); err != nil || warnings != nil {
				t.Errorf("PostgreSQL %d: %s: %v, error %v", version, f.Name, warnings, err)
			}
		}
		if _, err := c.Exec(context.Background(), `create function bad() returns text language sql as $$ select '\s' $$`); err != nil || warnings == nil {
			t.Errorf("a string with a backslash goes unnoticed, error %v", err)
		}
	}
}

package migrations_test

import (
	"os"
	process "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
		"_relation", "_attachment", "attach", "change", "detach", "refresh", "own", "rows", "rows_like", "si_rows", "forest_rows", "pairs", "clusters", "keep", "mark", "hot", "errors",
		"gate", "write_clusters", "containers", "contained", "containers_like", "contained_like", "containments",
	} {
		callers[function] = false
	}
	finding := regexp.MustCompile(`(?m)^PS\d+: .*$`)
	withoutPath := regexp.MustCompile(`^PS005: Function without explicit search_path: alike\.(\w+)\(`)
	spot := func(file string) (found []string) {
		out, err := process.Command(program, "--no-plpgsql", file).CombinedOutput()
		if _, ended := err.(*process.ExitError); err != nil && !ended || !strings.Contains(string(out), "Unknown: 0") {
			t.Fatalf("%s: %v: %s", file, err, out)
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
	for _, file := range files {
		for _, found := range spot(file) {
			t.Errorf("%s: %s", file, found)
		}
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

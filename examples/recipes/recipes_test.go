// Package recipes tests the blocks of README.md that the test of all pages does not run: those in Python and Ruby, and those
// that need Datasette or dbt.
package recipes

import (
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var (
	section = regexp.MustCompile(`(?m)^## (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```([a-z]+)(?: norun)?\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?")
)

// recipe returns the blocks of a section: language, code, output.
func recipe(t *testing.T, title string) [][]string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("the page has no section %s", title)
	}
	if end := section.FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	var blocks [][]string
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1:])
	}
	if len(blocks) == 0 {
		t.Fatalf("section %s has no blocks", title)
	}
	return blocks
}

func run(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %.100q: %v\n%s%s", program, args, err, out, stderr.String())
	}
	return string(out)
}

// installed lays out the extension and the command as the packages install them, and returns the folder.
func installed(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	run(t, ".", "go", "build", "-trimpath", "-buildmode=c-shared", "-o", filepath.Join(folder, "alike.so"), "../../sqlext/loadable")
	run(t, ".", "go", "build", "-trimpath", "-o", filepath.Join(folder, "alike"), "../../sqlext/alike")
	for _, name := range []string{"sqlite_alike.py", "sqlite_alike.rb"} {
		text, err := os.ReadFile("../../sqlext/packages/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PYTHONPATH", folder)
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return folder
}

func TestRecipes(t *testing.T) {
	folder := installed(t)
	python := pgtest.Installed(t, "recipes", "recipes/bin/python")
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Dir(pgtest.Installed(t, "packages", "packages/bin/datasette")))
	for title, program := range map[string][]string{
		"pandas and DuckDB": {python, "-c"}, "SQLAlchemy": {python, "-c"}, "Django": {python, "-c"},
		"ActiveRecord": {"ruby", "-I", folder, "-e"}, "Datasette": {"bash", "-euo", "pipefail", "-c"},
	} {
		t.Run(title, func(t *testing.T) {
			here := t.TempDir()
			if err := os.Symlink(filepath.Join(folder, "alike.so"), filepath.Join(here, "alike.so")); err != nil {
				t.Fatal(err)
			}
			for _, b := range recipe(t, title) {
				if got := run(t, here, program[0], append(program[1:], b[1])...); got != b[2] || got == "" {
					t.Errorf("printed\n%s\nwant\n%s", got, b[2])
				}
			}
		})
	}
}

// TestDbt runs a project that has the blocks of the page as its model and its test.
func TestDbt(t *testing.T) {
	dbt := pgtest.Installed(t, "recipes", "recipes/bin/dbt")
	address := pgtest.Database(t)
	if err := migrations.Up(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	conn := pgtest.Connect(t, address)
	for _, statement := range []string{`create table notes (id bigint primary key, body text)`,
		`insert into notes values (1, 'the harbour committee met on tuesday and agreed to postpone the vote on the new breakwater'),
			(2, 'MINUTES. The harbour committee met on tuesday, and agreed to postpone the vote on the new breakwater!'), (3, 'the library is closed for the holidays')`,
		`select alike.attach('notes', 'body', '{"profile": "short", "at_least": 0.6}')`} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	w, err := worker.New(t.Context(), worker.Config{DatabaseURL: address, AllowSuperuser: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	host, port := u.Hostname(), u.Port()
	if h := u.Query().Get("host"); h != "" {
		host = h
	}
	if port == "" {
		port = "5432"
	}
	password, _ := u.User.Password()
	blocks := recipe(t, "dbt")
	folder := t.TempDir()
	for name, text := range map[string]string{
		"dbt_project.yml":         "name: app\nversion: '1.0.0'\nprofile: app\nmodels: {app: {+materialized: table}}\nflags: {send_anonymous_usage_stats: false}\n",
		"profiles.yml":            "app: {target: t, outputs: {t: {type: postgres, host: '" + host + "', port: " + port + ", user: '" + u.User.Username() + "', password: '" + password + "', dbname: '" + strings.TrimPrefix(u.Path, "/") + "', schema: public, threads: 1}}}\n",
		"models/sources.yml":      "sources: [{name: app, schema: public, tables: [{name: notes}]}]\n",
		"models/notes_kept.sql":   blocks[0][1],
		"tests/nothing_alike.sql": blocks[1][1],
	} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, folder, dbt, "run", "--profiles-dir", folder)
	var kept string
	if err := conn.QueryRow(t.Context(), "select string_agg(id::text, ',' order by id) from notes_kept").Scan(&kept); err != nil || kept != "2,3" {
		t.Errorf("the model has the rows %s (error %v), want 2,3", kept, err)
	}
	cmd := exec.Command(dbt, "test", "--profiles-dir", folder)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Got 1 result, configured to fail if != 0") {
		t.Errorf("dbt test ended with %v, want the failure of one pair that is alike:\n%s", err, out)
	}
}

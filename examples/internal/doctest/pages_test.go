package doctest

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/migrations/pgtest"
)

var update = flag.Bool("update", false, "write outputs that differ into the pages")

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestPages runs every Markdown page of the repository.
func TestPages(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	built := false
	for _, page := range markdown(t, root) {
		path := filepath.Join(root, page)
		text := read(t, path)
		run, err := blocks(text)
		if err != nil {
			t.Errorf("%s: %v", page, err)
			continue
		}
		if len(run) == 0 {
			continue
		}
		if !built {
			output1(t, root, "make", "-s", "build")
			built = true
		}
		t.Run(page, func(t *testing.T) { runPage(t, root, path, text, run) })
	}
}

// TestFirstBlock pastes the first block of the README into sqlite3, started as a
// reader starts it: without arguments.
func TestFirstBlock(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	output1(t, root, "make", "-s", "build")
	page := read(t, filepath.Join(root, "README.md"))
	run, err := blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	first := run[0]
	if first.lang != "sql" || first.postgres || first.output == nil {
		t.Fatalf("line %d of the README: the first block is %s, want sql with its output", first.line, first.lang)
	}
	started := regexp.MustCompile(`(?m)^git clone .* && make build && (sqlite3 .*)$`).FindStringSubmatch(page)
	if started == nil {
		t.Fatal("the README does not start sqlite3 after make build")
	}
	cmd := exec.Command("sh", "-c", started[1])
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(first.code + "\n")
	got, err := cmd.CombinedOutput()
	if err != nil || !matches(first.output.text, string(got)) {
		t.Errorf("%v: %s", err, difference(first.output.text, string(got)))
	}
}

// markdown lists the pages, those not committed yet included.
func markdown(t *testing.T, root string) []string {
	return strings.Fields(output1(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"))
}

func runPage(t *testing.T, root, path, text string, run []block) {
	env := append(os.Environ(), "DB="+filepath.Join(t.TempDir(), "page.db"))
	for _, b := range run {
		if b.postgres {
			env = append(env, "DATABASE_URL="+pgtest.Shared(t, pgtest.Version()).Owned(t))
			break
		}
	}
	var sqlite, psql *shell
	lines := strings.Split(text, "\n")
	changed := false
	outputs := make([]string, len(run))
	for i, b := range run {
		var got string
		var err error
		switch {
		case b.lang == "sh":
			got, err = bash(root, env, b.code)
		case b.postgres:
			if psql == nil {
				psql = startPsql(t, root, env)
			}
			got, err = psql.do(b.code)
		default:
			if sqlite == nil {
				sqlite = startSQLite(t, root, env)
			}
			got, err = sqlite.do(b.code)
		}
		if err != nil {
			t.Fatalf("%s:%d: %v\n%s", path, b.line, err, got)
		}
		outputs[i] = got
		switch {
		case b.output == nil && b.lang == "sql" && tidy(got) != "":
			t.Errorf("%s:%d: the block prints something and shows no output:\n%s", path, b.line, tidy(got))
		case b.output == nil, matches(b.output.text, got):
		case *update:
			changed = true
		default:
			t.Errorf("%s:%d: %s", path, b.line, difference(b.output.text, got))
		}
	}
	if !changed {
		return
	}
	for i := len(run) - 1; i >= 0; i-- { // backwards: the lines of the blocks before stay where they are
		if o := run[i].output; o != nil && !matches(o.text, outputs[i]) {
			fresh := strings.Split(tidy(outputs[i]), "\n")
			lines = append(lines[:o.first], append(fresh, lines[o.end:]...)...)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// output1 runs a command and returns what it prints, without the last newline.
func output1(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, errs.Bytes())
	}
	return strings.TrimRight(string(out), "\n")
}

func bash(root string, env []string, code string) (string, error) {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", code)
	cmd.Dir = root
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

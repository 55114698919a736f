package doctest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write outputs that differ into the pages")

// patience is how long one block may take.
const patience = 5 * time.Minute

// TestPages runs every Markdown page of the repository.
func TestPages(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	pages := strings.Fields(output1(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"))
	built := false
	for _, page := range pages {
		path := filepath.Join(root, page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run, err := blocks(string(text))
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
		t.Run(page, func(t *testing.T) { runPage(t, root, path, string(text), run) })
	}
}

func runPage(t *testing.T, root, path, text string, run []block) {
	db := filepath.Join(t.TempDir(), "page.db")
	var sqlite *shell
	lines := strings.Split(text, "\n")
	changed := false
	// From the last block to the first when writing, so that line numbers hold;
	// outputs are gathered in order before.
	outputs := make([]string, len(run))
	for i, b := range run {
		var got string
		var err error
		if b.lang == "sql" {
			if sqlite == nil {
				sqlite = startSQLite(t, root, db)
			}
			got, err = sqlite.do(b.code)
		} else {
			got, err = bash(root, db, b.code)
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
	for i := len(run) - 1; i >= 0; i-- {
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

func bash(root, db, code string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", code)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "DB="+db)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shell is a running sqlite3 shell.
type shell struct {
	in  io.Writer
	out chan string // whole lines; closed at the end of the process
}

// startSQLite opens a session on a new database. stdbuf makes the shell write
// line by line, so that its results and its errors arrive in order.
func startSQLite(t *testing.T, root, db string) *shell {
	cmd := exec.Command("stdbuf", "-oL", "sqlite3", "-batch", "-cmd", ".load build/alike", "-cmd", ".mode column", db)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // no .sqliterc of the machine's owner
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := &shell{in: in, out: make(chan string)}
	stop := make(chan struct{})
	go func() {
		defer close(s.out)
		for buf, chunk := []byte(nil), make([]byte, 1<<16); ; {
			n, err := r.Read(chunk)
			buf = append(buf, chunk[:n]...)
			for {
				i := bytes.IndexByte(buf, '\n')
				if i < 0 {
					break
				}
				select {
				case s.out <- string(buf[:i]):
				case <-stop:
					return
				}
				buf = buf[i+1:]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		in.Close()
		r.Close()
		cmd.Wait()
	})
	return s
}

// sentinel ends the output of a block.
const sentinel = "-- end of block --"

// nearLine is what the shell adds to errors when it reads from a pipe; a
// reader at a terminal doesn't see it.
var nearLine = regexp.MustCompile(`(?m)^((?:Parse |Runtime )?[Ee]rror) near line \d+:`)

// do types a block and returns all that it prints.
func (s *shell) do(code string) (string, error) {
	if _, err := fmt.Fprintf(s.in, "%s\n.print %q\n", code, sentinel); err != nil {
		return "", fmt.Errorf("the sqlite3 shell has ended: %w", err)
	}
	var got strings.Builder
	late := time.After(patience)
	for {
		select {
		case line, ok := <-s.out:
			if !ok {
				return got.String(), fmt.Errorf("the sqlite3 shell ended within the block")
			}
			if line == sentinel {
				return nearLine.ReplaceAllString(got.String(), "$1:"), nil
			}
			got.WriteString(line + "\n")
		case <-late:
			return got.String(), fmt.Errorf("no end after %v (is the last statement closed by a semicolon?)", patience)
		}
	}
}

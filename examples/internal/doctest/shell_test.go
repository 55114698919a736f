package doctest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// shell is a running sqlite3 or psql.
type shell struct {
	name string
	echo string // its command that prints a line
	in   io.Writer
	out  chan string // whole lines; closed at the end of the process
}

// startSQLite opens a session on the page's database.
func startSQLite(t *testing.T, root string, env []string) *shell {
	cmd := exec.Command("stdbuf", "-oL", "sh", "-c", `exec sqlite3 -batch -cmd '.load build/alike' -cmd '.mode column' "$DB"`)
	return start(t, "sqlite3", ".print", cmd, root, append(env, "HOME="+t.TempDir())) // no .sqliterc of the machine's owner
}

// startPsql opens a session on the page's PostgreSQL database.
func startPsql(t *testing.T, root string, env []string) *shell {
	cmd := exec.Command("stdbuf", "-oL", "sh", "-c", `exec psql -X -q "$DATABASE_URL"`)
	return start(t, "psql", `\echo`, cmd, root, env)
}

// start runs a shell, in which stdbuf makes results and errors come in order.
func start(t *testing.T, name, echo string, cmd *exec.Cmd, root string, env []string) *shell {
	cmd.Dir, cmd.Env = root, env
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
	s := &shell{name: name, echo: echo, in: in, out: make(chan string)}
	stop := make(chan struct{})
	go s.read(r, stop)
	t.Cleanup(func() {
		close(stop)
		in.Close()
		r.Close()
		cmd.Wait()
	})
	return s
}

func (s *shell) read(r io.Reader, stop chan struct{}) {
	defer close(s.out)
	var buf []byte
	chunk := make([]byte, 1<<16)
	for {
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
}

// sentinel ends the output of a block.
const sentinel = "-- end of block --"

// nearLine is what sqlite3 adds to errors when it reads from a pipe; a reader
// at a terminal doesn't see it.
var nearLine = regexp.MustCompile(`(?m)^((?:Parse |Runtime )?[Ee]rror) near line \d+:`)

// do types a block and returns all that it prints.
func (s *shell) do(code string) (string, error) {
	if last := code[strings.LastIndexByte(code, '\n')+1:]; !strings.HasSuffix(last, ";") && !strings.ContainsAny(last[:min(len(last), 1)], `.\-`) {
		return "", fmt.Errorf("%s waits for a semicolon after %q", s.name, last)
	}
	if _, err := fmt.Fprintf(s.in, "%s\n%s '%s'\n", code, s.echo, sentinel); err != nil {
		return "", fmt.Errorf("%s has ended: %w", s.name, err)
	}
	var got strings.Builder
	for line := range s.out {
		if line == sentinel {
			return nearLine.ReplaceAllString(got.String(), "$1:"), nil
		}
		got.WriteString(line + "\n")
	}
	return got.String(), fmt.Errorf("%s ended within the block", s.name)
}

//go:build linux

package worker

import (
	"os"
	process "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// preloaded starts a server with a library of testdata, which looks at the file that an
// environment variable names.
func preloaded(t *testing.T, source, variable string) (s *pgtest.Server, file string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "alike-preload")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { // the server may be another user's
		t.Fatal(err)
	}
	library, file := filepath.Join(folder, "preloaded.so"), filepath.Join(folder, "file")
	if out, err := process.Command("cc", "-shared", "-fPIC", "-o", library, filepath.Join("testdata", source), "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	t.Setenv("LD_PRELOAD", library)
	t.Setenv(variable, file)
	s = pgtest.New(t, pgtest.Version())
	os.Unsetenv("LD_PRELOAD") // Setenv puts back what was there before
	return s, file
}

// The server's clock jumps forward by a year and back again, while documents wait, fail,
// are read, and were let pass: nothing is lost, parked or refused because of it.
func TestClockJumps(t *testing.T) {
	s, file := preloaded(t, "clock.c", "ALIKE_CLOCK")
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	attachTyped(t, c)
	exec(t, c, `create table gated (id int primary key, body text); select alike.attach('gated', 'body', '{"policy": "reject"}')`)
	run(t, newWorker(t, database, func(c *Config) { c.Extract.Commands = commands(); c.MaxAttempts = 2 }))
	clock := func(seconds string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(seconds), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	year := one[int](t, c, "select extract(year from clock_timestamp())")
	for i, seconds := range []string{"0", "31622400", "0", "-31622400", "0"} {
		clock(seconds)
		if i == 1 && one[int](t, c, "select extract(year from clock_timestamp())") != year+1 {
			t.Fatal("the clock did not move")
		}
		exec(t, c, "insert into documents values ($1, 'a plain text beside it', 'text/plain'), ($1 + 1, 'a text that a command reads', 'application/x-good'), ($1 + 2, 'fails', 'application/x-bad')", 10*i)
		q, err := Ask(ctx, c, "gated", []byte(strings.Repeat("x", i+1)+" "+story))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Exec(ctx, "select alike.gate('gated', $1)", q.Sketch)
		if i == 0 && err != nil || i > 0 && !rejected(err) {
			t.Errorf("step %d: the gate says %v", i, err)
		}
		if i == 0 {
			exec(t, c, "insert into gated values (1, $1)", "x "+story)
		}
		waitFor(t, "the documents of this step", func() bool {
			return one[int](t, c, "select (select count(*) from documents_alike) * 100 + (select count(*) from alike.error where retry_at is null)") == 200*(i+1)+i+1
		})
	}
	if n := one[int](t, c, "select (select count(*) from alike.queue) + (select count(*) from alike.extraction)"); n != 0 {
		t.Errorf("%d entries wait, want 0", n)
	}
	if got := one[string](t, c, "select distinct message from alike.error"); !strings.Contains(got, "damaged") {
		t.Errorf("a failure says %q, want what the command said", got)
	}
}

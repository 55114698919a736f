package sqlext_test

import (
	"context"
	"database/sql"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext"
)

// The traps of a Go runtime in somebody else's process.
func TestGuards(t *testing.T) {
	dir := t.TempDir()
	guard := filepath.Join(dir, "guard")
	if out, err := exec.Command("gcc", "-O1", "-g", "-o", guard, "testdata/guard.c", "-lsqlite3", "-ldl", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	for _, name := range []string{"fork", "fork first", "SIGURG", "entry point", "version", "open often", "load twice", "threads", "unfinished"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // against a hang
			defer cancel()
			out, err := exec.CommandContext(ctx, guard, library(), name, filepath.Join(dir, name+".db")).CombinedOutput()
			if err != nil || string(out) != "ok\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Other libraries in the process see one symbol of ours.
func TestExportedSymbols(t *testing.T) {
	out, err := exec.Command("nm", "-D", "--defined-only", "--format=posix", library()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "sqlite3_alike_init T") {
		t.Errorf("exported:\n%s", out)
	}
}

// The host's SQLite is the only one in the process.
func TestLibraryNeedsNoOtherLibrary(t *testing.T) {
	out, err := exec.Command("ldd", library()).CombinedOutput()
	if err != nil || strings.Contains(string(out), "sqlite") {
		t.Errorf("a second SQLite: %v\n%s", err, out)
	}
}

// A panic is an error of the statement, and the connection goes on.
func TestPanics(t *testing.T) {
	db := memory(t)
	for name, query := range map[string]string{
		"alike_version":    `SELECT alike_version()`,
		"alike_profiles":   `SELECT * FROM alike_profiles()`,
		"alike_sketch_set": `SELECT alike_sketch_set('x')`,
	} {
		restore := sqlext.PanicIn(name)
		db.fails(name+": internal error: on purpose", query)
		restore()
		db.rows(query)
	}
}

func TestAuto(t *testing.T) {
	if err := sqlext.Auto(); err != nil {
		t.Fatal(err)
	}
	defer sqlext.CancelAuto()
	for _, driver := range []string{"sqlite3", "alike"} { // and beside Register, which then has nothing to do
		db, err := sql.Open(driver, ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		database{db, t}.expect(sketch.Version, `SELECT alike_version()`)
	}
}

func TestRegisterWantsAConnection(t *testing.T) {
	var none *struct{ db *int }
	for _, c := range []any{nil, 7, "x", struct{}{}, &struct{ db int }{}, none, &struct{ db *int }{}} {
		if err := sqlext.Register(c); err == nil {
			t.Errorf("Register(%T) gives no error", c)
		}
	}
}

// Many connections of one program, reading and writing at once.
func TestManyConnections(t *testing.T) {
	name := "file:" + filepath.Join(t.TempDir(), "many.db") + "?_journal_mode=WAL&_busy_timeout=60000&_txlock=immediate"
	db := open(t, name)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?)`, fox)
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link"}')`)
	var wait sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 8 {
		wait.Go(func() {
			pool, err := sql.Open("alike", name)
			if err != nil {
				errs <- err
				return
			}
			defer pool.Close()
			for range 20 {
				if i < 2 {
					_, err = pool.Exec(`INSERT INTO d(body) VALUES (?)`, fox+strings.Repeat(" indeed", i))
				} else {
					_, err = database{pool, t}.try(`SELECT * FROM alike_rows('d', 1)`)
				}
				if err != nil {
					errs <- err
				}
			}
		})
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	db.expect("41|41", `SELECT (SELECT count(*) FROM d), (SELECT count(*) FROM d_alike)`)
	db.check("d", "many connections")
}

package sqlext_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alike-sql/alike/sqlext"
	"github.com/mattn/go-sqlite3"
)

// builds is where alike.so is built, and library its name; it is built once, when the
// first test loads it.
var builds string

var library = sync.OnceValue(func() string {
	name, err := build()
	if err != nil {
		panic(err)
	}
	return name
})

func TestMain(m *testing.M) {
	var err error
	if builds, err = os.MkdirTemp("", "alike"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The tests cut no power, and a commit that waits for the disk takes ten times as long.
	fast := func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA synchronous = OFF", nil)
		return err
	}
	sql.Register("without", &sqlite3.SQLiteDriver{ConnectHook: fast})
	sql.Register("alike", &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return errors.Join(fast(c), sqlext.Register(c)) },
	})
	sqlext.SmallParts()
	if child := os.Getenv(killedChild); child != "" {
		beKilled(child)
	}
	code := m.Run()
	os.RemoveAll(builds)
	os.Exit(code)
}

func build() (string, error) {
	name := filepath.Join(builds, "alike.so")
	exports, err := filepath.Abs("loadable/exports.map")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w -extldflags=-Wl,--version-script="+exports, "-o", name, "./loadable")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building alike.so: %v\n%s", err, out)
	}
	return name, nil
}

// database is one connection of the import door.
type database struct {
	*sql.DB
	t testing.TB
}

// memory opens a database in memory with one connection.
func memory(t testing.TB) database { return open(t, ":memory:") }

func open(t testing.TB, name string) database {
	t.Helper()
	db, err := sql.Open("alike", name)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return database{db, t}
}

var layout = flag.String("layout", "columns", "the layout that every attach of a test asks for which names none")

var attaches = regexp.MustCompile(`(alike_attach\((?:[^(),']|'(?:[^']|'')*')*,(?:[^(),']|'(?:[^']|'')*')*)(?:(, *'\{)|(\)))`)

// namesLayout tells whether options need no layout: superfeatures are columns.
func namesLayout(options string) bool {
	return strings.Contains(options, "layout") || strings.Contains(options, `"superfeatures": true`)
}

// inLayout is a statement whose attach asks for the layout of the flag.
func inLayout(statement string, args []any) (string, []any) {
	if *layout == "columns" || !strings.Contains(statement, "alike_attach(") || namesLayout(statement) {
		return statement, args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if options, ok := arg.(string); ok && strings.HasPrefix(options, "{") && !namesLayout(options) {
			args[i] = strings.Replace(fmt.Sprintf(`{"layout": "%s", %s`, *layout, options[1:]), ", }", "}", 1)
		}
	}
	return strings.ReplaceAll(attaches.ReplaceAllStringFunc(statement, func(s string) string {
		if call, ok := strings.CutSuffix(s, ")"); ok {
			return call + `, '{"layout": "` + *layout + `"}')`
		}
		return s + `"layout": "` + *layout + `", `
	}), `", }`, `"}`), args
}

func (db database) Exec(statement string, args ...any) (sql.Result, error) {
	statement, args = inLayout(statement, args)
	return db.DB.Exec(statement, args...)
}

func (db database) Query(statement string, args ...any) (*sql.Rows, error) {
	statement, args = inLayout(statement, args)
	return db.DB.Query(statement, args...)
}

func (db database) exec(statement string, args ...any) {
	db.t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		db.t.Fatalf("%s\n%v", statement, err)
	}
}

// fails runs a statement that must give an error with the given words in it.
func (db database) fails(want, statement string, args ...any) {
	db.t.Helper()
	rows, err := db.Query(statement, args...)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if err == nil {
		db.t.Fatalf("%s: no error, want %q", statement, want)
	}
	if !strings.Contains(err.Error(), want) {
		db.t.Fatalf("%s: %q, want %q in it", statement, err, want)
	}
}

// rows is the answer of a query as the shell prints it: columns separated by |,
// a line for each row.
func (db database) rows(query string, args ...any) string {
	db.t.Helper()
	text, err := db.try(query, args...)
	if err != nil {
		db.t.Fatalf("%s\n%v", query, err)
	}
	return text
}

func (db database) try(query string, args ...any) (string, error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var lines []string
	for rows.Next() {
		cells := make([]any, len(columns))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			return "", err
		}
		words := make([]string, len(cells))
		for i := range cells {
			switch v := (*cells[i].(*any)).(type) {
			case nil:
			case []byte:
				words[i] = string(v)
			case float64:
				if words[i] = fmt.Sprintf("%.15g", v); !strings.ContainsAny(words[i], ".eIN") {
					words[i] += ".0"
				}
			case bool:
				words[i] = "0"
				if v {
					words[i] = "1"
				}
			default:
				words[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, strings.Join(words, "|"))
	}
	return strings.Join(lines, "\n"), rows.Err()
}

// expect compares the answer of a query.
func (db database) expect(want, query string, args ...any) {
	db.t.Helper()
	if got := db.rows(query, args...); got != want {
		db.t.Errorf("%s\ngot:\n%s\nwant:\n%s", query, got, want)
	}
}

// processorTime is what f takes of the processors, however busy they are with other programs.
func processorTime(f func()) time.Duration {
	spent := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail for this process
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := spent()
	f()
	return spent() - start
}

// shell runs the sqlite3 shell with the library loaded, over a script.
func shell(t testing.TB, file, script string) (string, error) {
	t.Helper()
	command := exec.Command("sqlite3", "-batch", file)
	command.Stdin = strings.NewReader(".load " + library() + "\n" + script)
	out, err := command.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

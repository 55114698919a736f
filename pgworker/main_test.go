package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/parquet-go/parquet-go"
	"github.com/spf13/pflag"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// pgworker runs a command line and returns what it printed.
func pgworker(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := pgworker(t, args...)
	if err != nil {
		t.Fatalf("pgworker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// a database with three documents, two of them alike, attached and filled.
func filled(t *testing.T) (url string, conn *pgx.Conn) {
	t.Helper()
	url = pgtest.Database(t)
	t.Setenv("DATABASE_URL", url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	must(t, "migrate", "up")
	for _, sql := range []string{
		`create table documents (id bigint primary key, body text)`,
		`insert into documents values (1, 'the quick brown fox jumps over the lazy dog and runs away into the dark forest at night'),
		 (2, 'The quick brown fox jumps over the lazy dog, and runs away into the dark forest at night!'),
		 (3, 'something else entirely, with no word in common that matters to anyone here')`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "attach", "documents", "body", "--profile", "words w=4 t=84 k=12 s=7", "--si", "length")
	must(t, "run", "--once", "--allow-superuser")
	return url, conn
}

func TestCommandLineErrors(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	for _, args := range [][]string{
		{"rows"}, {"rows", "t"}, {"migrate", "sideways"}, {"migrate", "force"}, {"migrate", "force", "x"}, {"migrate", "force", "-1"}, {"migrate", "force", "100000"}, {"migrate", "up", "1"}, {"run", "--token-file", "/no/such/file", "--database-url", "postgres://x@/y"}, {"nonsense"}, {"curve", "6", "14"}, {"curve", "6", "x", "2"}, {"curve", "0", "14", "2"},
		{"plan", "0.9", "0.01", "0.95", "0.001"}, {"status"}, {"attach", "t", "c", "--options", "{"}, {"bench", "--size", "0"}, {"export", "t"},
		{"run", "--once", "--listen", ":0", "--database-url", "postgres://x@/y"}, {"run", "--extract", "x", "--database-url", "postgres://x@/y"},
	} {
		_, err := pgworker(t, args...)
		if code := exitCode(err); code != exitUsage {
			t.Errorf("%v: %v, exit code %d, want %d", args, err, code, exitUsage)
		}
	}
	t.Setenv("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")
	if _, err := pgworker(t, "status"); exitCode(err) != exitAgain {
		t.Errorf("no server: %v, want exit code %d", err, exitAgain)
	}
	s := pgtest.Shared(t, pgtest.Version())
	for _, url := range []string{s.URL("nobody", "postgres"), s.URL("postgres", "nothing")} {
		if _, err := pgworker(t, "status", "--database-url", url); exitCode(err) != exitFailure {
			t.Errorf("%s: %v, want exit code %d", url, err, exitFailure)
		}
	}
}

// Every flag of every verb says what it takes, in one line, before anything else is
// done; what only the database can judge is a wrong command line too.
func TestWrongValues(t *testing.T) {
	filled(t)
	for _, c := range []struct{ args, want string }{
		{"run --lanes -1", "want 1 to 64"}, {"run --lanes 0", "want 1 to 64"}, {"run --lanes x", "want 1 to 64"}, {"run --batch 0", "want 1 to 10000"},
		{"run --poll 0s", "want 1ms or more"}, {"run --poll -1s", "want 1ms or more"}, {"run --scan soon", "want 1ms or more"},
		{"run --max-document -5", "want 1 to 1073741824"}, {"run --max-attempts 0", "want 1 to 1000"},
		{"run --extractions 0", "want 1 to 64"}, {"run --extract-timeout 0s", "want 1ms or more"}, {"run --extract-memory 5", "want 1048576 to"}, {"run --requests 0", "want 1 to 10000"},
		{"run --listen nowhere", "want host:port"}, {"run --listen :99999", "want host:port"}, {"run --listen unix:", "missing path"},
		{"run --review", "needs --listen"}, {"run --review --listen :0", "and a token"}, {"run --review --listen :0 --token-file main.go", "needs --review-url"},
		{"run --review --listen :0 --token-file main.go --review-url port=x", "--review-url: "}, {"run --review --listen :0 --token-file main.go --review-url x=y --review-host http://x", "want a name alone"},
		{"run --extract x", "want type=command"}, {"run --extract no/type/at/all=cat", "as in application/msword"},
		{"run --database-url postgres://[", "database URL"}, {"migrate status --database-url port=x", "database URL"},
		{"status --json=perhaps", "invalid syntax"}, {"status --nonsense", "unknown flag"}, {"migrate sideways", "want up, down, status or force"},
		{"rows documents 1 --at-least 2", "want 0 to 1"}, {"pairs documents --at-least -0.1", "want 0 to 1"}, {"clusters documents --at-least nan", "want 0 to 1"},
		{"keep documents --rule (", "rule: "}, {"keep documents --at-least 2", "want 0 to 1"}, {"clusters documents --linkage average", "want complete, single"},
		{"rows documents 1 --exact=x", "invalid syntax"}, {"pairs documents --exact=x", "invalid syntax"}, {"clusters documents --exact=x", "invalid syntax"}, {"clusters documents --exact --write", "none of the others can be"},
		{"common documents --share 0", "want 0.0001 to 1"},
		{"attach documents body --name n --verify texts", "want sketch or text"}, {"attach documents body --name n --layout rows", "want columns or parts"}, {"attach documents body --name n --by length", "want resemblance or containment"},
		{"check main_test.go --at-least x", "want 0 to 1"}, {"check main_test.go --type image/x", "want auto, plain"}, {"check main_test.go --type nonsense/", "want auto, plain"},
		{"si-rows documents length 1 --fraction -1", "want 0 or more"}, {"si-rows documents 99Z/1 1", "want a method"},
		{"rows documents one", "is not bigint"}, {"mark documents 1 2 perhaps", "want duplicate, distinct or none"}, {"mark documents 1 x distinct", "are not both bigint"},
		{"report --clusters -1", "want 1 to 10000"}, {"report --members 1", "want 2 to 100"}, {"report --output=", "want a file"},
		{"curve --points 1", "want 2 to 10001"}, {"curve --profile nonsense", "nonsense"}, {"curve --log", "--svg"}, {"plan 0.9 nan 0.5 0.001", "want"}, {"plan --contains -1", "want 0 to 1000000000"}, {"plan --contains 9 --key-bytes 0", "want 1 to 1000"},
		{"plan --contains 9 --profile elements", "has no passages"}, {"plan 9 --contains 9", "takes no other"}, {"plan 0.9 0.1", "want RESEMBLANCE"}, {"bench --size 0", "want 1 to 1048576"},
		{"bench --profile t=x", "t=x"}, {"export documents --parquet=", "--parquet"}, {"detach documents --drop=x", "invalid syntax"}, {"clusters documents --write=x", "invalid syntax"},
		{"attach documents body --name n --at-least 1.5", "want 0 to 1"}, {"attach documents body --name n --short 1:0.9", "from 2 to"}, {"attach documents body --name n --at-least 0.9 --short 30:0.8", "the option short has at_least 0.8"}, {"attach documents body --name n --recall 2", "want 0 to 1"}, {"attach documents body --name n --profile nonsense", "nonsense"},
		{"attach documents body --name n --policy maybe", "want ignore, link, warn or reject"}, {"attach documents body --name n --mode maybe", "want queue or scan"},
		{"attach documents body --name n --si 99", "want a method"}, {"attach documents body --name n --extract ???", "want plain, html"},
		{"attach documents body --name n --extract {", "want a name, or"}, {"attach documents body --name n --where )", "where: "},
		{"attach documents body --name=", "want 1 to 49"}, {"attach documents body --options null", "want one JSON object"}, {"attach documents body --options []", "want one JSON object"},
		{`attach documents body --options {"x":1}`, "there is no option"}, {"attach documents body --distributed=x", "invalid syntax"}, {"attach documents body --contains=x", "invalid syntax"}, {"attach documents body --superfeatures=x", "invalid syntax"}, {"attach documents body --clusters=x", "invalid syntax"}, {"attach documents body --common=x", "invalid syntax"},
		{"containers documents 1 --at-least 2", "want 0 to 1"}, {"contained documents 1 --at-least 2", "want 0 to 1"}, {"containments documents --at-least nan", "want 0 to 1"},
		{"containers documents 1 --exact=x", "invalid syntax"}, {"contained documents 1 --exact=x", "invalid syntax"}, {"containments documents --exact=x", "invalid syntax"},
		{"run --review=x", "invalid syntax"},
	} {
		out, err := pgworker(t, strings.Fields(c.args)...)
		if code := exitCode(err); code != exitUsage || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || out != "" {
			t.Errorf("%s: exit code %d, %v, want %d and one line with %q; printed %q", c.args, code, err, exitUsage, c.want, out)
		}
	}
}

// Every flag with limits is in the table above.
func TestFlagsAreTried(t *testing.T) {
	source, err := os.ReadFile("main_test.go")
	if err != nil {
		t.Fatal(err)
	}
	free := []string{"help", "once", "table", "svg", "allow-superuser", "token-file"} // takes no value, or any
	for _, verb := range newRoot().Commands() {
		verb.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			tried := regexp.MustCompile(`"` + verb.Name() + ` [^"]*--` + f.Name + `\b|` + "`" + verb.Name() + " [^`]*--" + f.Name + `\b`)
			if !slices.Contains(free, f.Name) && !tried.Match(source) {
				t.Errorf("pgworker %s --%s: no wrong value is tried", verb.Name(), f.Name)
			}
		})
	}
}

// The media type of a document can be in a column.
func TestAttachExtractColumn(t *testing.T) {
	_, conn := filled(t)
	if _, err := conn.Exec(t.Context(), "create table files (id int primary key, kind text, data bytea)"); err != nil {
		t.Fatal(err)
	}
	must(t, "attach", "files", "data", "--extract", `{"column": "kind"}`)
	var extract string
	if err := conn.QueryRow(t.Context(), "select extract from alike.attachment where name = 'files'").Scan(&extract); err != nil || extract != `{"column": "kind"}` {
		t.Errorf("extract is %s, %v", extract, err)
	}
}

func TestCurve(t *testing.T) {
	out := must(t, "curve", "6", "14", "2", "--points", "11", "--json")
	decoder := json.NewDecoder(strings.NewReader(out))
	n := 0
	for {
		var at struct{ Resemblance, Probability float64 }
		if err := decoder.Decode(&at); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if want := sketch.FilterProbability(6, 14, 2, at.Resemblance); math.Abs(want-at.Probability) > 1e-12 {
			t.Errorf("at %v: %v, want %v", at.Resemblance, at.Probability, want)
		}
		n++
	}
	if n != 11 {
		t.Errorf("%d points, want 11", n)
	}
}

func TestCurvePicture(t *testing.T) {
	linear, logarithmic := filepath.Join(t.TempDir(), "linear.svg"), filepath.Join(t.TempDir(), "log.svg")
	if out := must(t, "curve", "6", "14", "2", "--svg", linear) + must(t, "curve", "--svg", logarithmic, "--log"); out != "" {
		t.Errorf("printed %q", out)
	}
	for name, want := range map[string]string{linear: "P(6,14,2)", logarithmic: "1e-10"} {
		picture, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(picture), "<svg") || !strings.Contains(string(picture), want) {
			t.Errorf("%s is not a picture with %q", name, want)
		}
	}
	if _, err := pgworker(t, "curve", "--log"); exitCode(err) != exitUsage {
		t.Errorf("--log alone: %v", err)
	}
}

type featureRow[K int64 | string] struct {
	Key     K     `parquet:"key"`
	Slot    int32 `parquet:"slot"`
	Feature int64 `parquet:"feature"`
}

type sketchRow[K int64 | string] struct {
	Key         K      `parquet:"key"`
	Profile     string `parquet:"profile"`
	ContentHash int64  `parquet:"content_hash"`
	Shingles    int64  `parquet:"shingles"`
	Sketch      []byte `parquet:"sketch,optional"`
	Length      *int64 `parquet:"si_length,optional"`
}

func TestExport(t *testing.T) {
	_, conn := filled(t)
	folder := filepath.Join(t.TempDir(), "out")
	must(t, "export", "documents", "--parquet", folder)
	features, err := parquet.ReadFile[featureRow[int64]](filepath.Join(folder, "features.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "select s.id, 1::int4, s.f1 from documents_alike s union all select s.id, 12, s.f12 from documents_alike s")
	if err != nil {
		t.Fatal(err)
	}
	want, err := pgx.CollectRows(rows, pgx.RowToStructByPos[featureRow[int64]])
	if err != nil {
		t.Fatal(err)
	}
	if len(features) != 36 || len(want) != 6 {
		t.Errorf("%d features, want 12 of each of three rows", len(features))
	}
	for _, f := range want {
		if !slices.Contains(features, f) {
			t.Errorf("the feature %+v is missing", f)
		}
	}
	sketches, err := parquet.ReadFile[sketchRow[int64]](filepath.Join(folder, "sketches.parquet"))
	if err != nil || len(sketches) != 3 {
		t.Fatalf("%d sketches, %v, want 3", len(sketches), err)
	}
	for _, s := range sketches {
		if err := sketch.Check(s.Sketch); err != nil {
			t.Errorf("row %d: %v", s.Key, err)
		}
		if s.Length == nil || *s.Length != s.Shingles || !strings.HasPrefix(s.Profile, "words ") {
			t.Errorf("row %d: %+v", s.Key, s)
		}
	}
	for _, name := range []string{"features.parquet", "sketches.parquet"} {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		read, err := parquet.OpenFile(file, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if got := read.Schema().String(); !strings.Contains(got, "required int64 key") {
			t.Errorf("%s: %s, want keys that are numbers", name, got)
		}
	}
	// A key of two columns is text; what a document lacks is NULL.
	for _, sql := range []string{
		`create table parts (a int, b text, body text, primary key (a, b))`,
		`insert into parts values (1, 'x', 'some words that are here to be read'), (2, 'y"', null)`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "attach", "parts", "body", "--si", "length")
	must(t, "run", "--once", "--allow-superuser")
	must(t, "export", "parts", "--parquet", folder)
	parts, err := parquet.ReadFile[sketchRow[string]](filepath.Join(folder, "sketches.parquet"))
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d sketches, %v, want 2", len(parts), err)
	}
	for _, s := range parts {
		if there := s.Key == `[1, "x"]`; there != (s.Sketch != nil) || there != (s.Length != nil) || !there && s.Key != `[2, "y\""]` {
			t.Errorf("part %+v", s)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".export-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Both files are of one moment: what is committed while the first is written is in
// neither.
func TestExportOfOneMoment(t *testing.T) {
	url, conn := filled(t)
	folder := t.TempDir()
	if _, err := conn.Exec(t.Context(), "begin; lock table documents_alike in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := pgworker(t, "export", "documents", "--parquet", folder, "--database-url", url)
		done <- err
	}()
	watch := pgtest.Connect(t, url)
	for waiting := 0; waiting == 0; time.Sleep(5 * time.Millisecond) {
		if err := watch.QueryRow(t.Context(), "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and application_name = 'pgworker'").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "insert into documents_alike (id, profile, content_hash, shingles, f1) select 1000, profile, 1, 1, 1 from documents_alike where id = 1; commit"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	features, err := parquet.ReadFile[featureRow[int64]](filepath.Join(folder, "features.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	sketches, err := parquet.ReadFile[sketchRow[int64]](filepath.Join(folder, "sketches.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if len(features) != 36 || len(sketches) != 3 {
		t.Errorf("%d features and %d sketches, want the 36 and 3 of the moment before", len(features), len(sketches))
	}
}

func TestEndpoint(t *testing.T) {
	url, _ := filled(t)
	w, err := worker.New(t.Context(), worker.Config{DatabaseURL: url, AllowSuperuser: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	call := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(b)
	}
	if status, body := call("GET", "/health", ""); status != 200 || !strings.Contains(body, "ok") {
		t.Errorf("health: %d %s", status, body)
	}
	if status, body := call("GET", "/metrics", ""); status != 200 || !strings.Contains(body, `alike_queue_entries{attachment="documents"} 0`) || !strings.Contains(body, "alike_database_up 1") {
		t.Errorf("metrics: %d %s", status, body)
	}
	status, body := call("POST", "/sketch?table=documents", "the quick brown fox jumps over the lazy dog and runs away into the dark forest at night")
	var q worker.Question
	if err := json.Unmarshal([]byte(body), &q); err != nil || status != 200 {
		t.Fatalf("sketch: %d %s %v", status, body, err)
	}
	if err := sketch.Check(q.Sketch); err != nil || len(q.Features) != 12 || q.Shingles != 15 || q.Indexes["length"] != 15 {
		t.Errorf("sketch: %v %+v", err, q)
	}
	for path, want := range map[string]int{
		"/sketch?profile=nonsense":            400,
		"/sketch?table=nonsense":              404,
		"/sketch?profile=prose&type=image/x":  415,
		"/check":                              400,
		"/check?table=documents&at_least=x":   400,
		"/sketch?profile=prose&si=99Z/1":      400,
		"/sketch?profile=words+w%3D3&si=1A/4": 200,
	} {
		if status, body := call("POST", path, "some words of a document"); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	if status, _ := call("GET", "/sketch", ""); status != 405 {
		t.Errorf("GET /sketch: %d, want 405", status)
	}
}

// A row that was given up is queued once more, and what was wrong is mended.
func TestRetry(t *testing.T) {
	_, conn := filled(t)
	if _, err := conn.Exec(t.Context(), "insert into documents values (9, repeat('words of a long document ', 1000))"); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "--once", "--allow-superuser", "--max-document", "1000", "--max-attempts", "1")
	out, err := pgworker(t, "errors", "documents")
	if exitCode(err) != exitFound || !strings.Contains(out, "the limit is 1000") {
		t.Errorf("errors: %v\n%s", err, out)
	}
	if _, err := pgworker(t, "status"); exitCode(err) != exitFound {
		t.Errorf("status with a failed row: %v, want exit code %d", err, exitFound)
	}
	if out := must(t, "run", "--once", "--allow-superuser") + must(t, "retry", "documents", "--json"); out != "{\"queued\":1}\n" {
		t.Errorf("retry printed %q", out)
	}
	must(t, "run", "--once", "--allow-superuser")
	if out := must(t, "errors", "documents"); out != "" {
		t.Errorf("errors after retry: %s", out)
	}
	if out := must(t, "retry", "documents", "--json"); out != "{\"queued\":0}\n" {
		t.Errorf("retry of nothing printed %q", out)
	}
	if _, err := pgworker(t, "retry", "nothing"); exitCode(err) != exitFailure {
		t.Errorf("retry of nothing attached: %v", err)
	}
}

// A database whose migration failed half-way says so with a status, and force mends it.
func TestMigrateDirty(t *testing.T) {
	url := pgtest.Shared(t, pgtest.Version()).Empty(t)
	t.Setenv("DATABASE_URL", url)
	must(t, "migrate", "up")
	c := pgtest.Connect(t, url)
	if _, err := c.Exec(t.Context(), "update schema_migrations set dirty = true"); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"status", "up"} {
		if out, err := pgworker(t, "migrate", verb); exitCode(err) != exitFailure {
			t.Errorf("migrate %s of a dirty database: error %v, %s; want exit code %d", verb, err, out, exitFailure)
		}
	}
	latest := fmt.Sprint(migrations.Latest())
	if out := must(t, "migrate", "force", latest); !strings.Contains(out, "false") {
		t.Errorf("migrate force prints %q, want dirty false", out)
	}
	must(t, "migrate", "status")
	must(t, "migrate", "force", "0")
	if out := must(t, "migrate", "status", "--json"); !strings.Contains(out, `"version":0,`) {
		t.Errorf("after force 0 status is %q, want version 0", out)
	}
}

// Scripts of users test these numbers; a release does not change them.
func TestExitCodes(t *testing.T) {
	if got, want := [...]int{exitFailure, exitUsage, exitFound, exitAgain}, [...]int{1, 2, 3, 4}; got != want {
		t.Errorf("the exit codes are %v, want %v", got, want)
	}
}

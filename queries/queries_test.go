package queries_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sqlext"
	_ "github.com/mattn/go-sqlite3"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// wants are what the queries return on the sample table, after the checkin and
// the marks of engine.sample. A cell that says * may hold anything.
var wants = map[string]string{
	"alike_to_row":  "other shared resemblance: 3 12 1; 10 5 0.8207282913",
	"alike_to_text": "id shared: 1 7; 3 7; 2 4; 10 4",
	"pairs": "id other shared resemblance: 1 3 12 1; 4 5 12 1; 2 3 6 0.8804855275; 1 10 5 0.8207282913; " +
		"3 10 5 0.8207282913; 2 10 3 0.7609710551",
	"clusters": "id cluster size: 1 1 4; 2 1 4; 3 1 4; 10 1 4; 4 4 2; 5 4 2",
	"keep": "cluster id title by_age by_length by_links: 1 1 Minutes 4 3 3; 1 2 Minutes,_corrected 3 4 4; 1 3 MINUTES_(web_site) 2 1 1; " +
		"1 10 Minutes,_again 1 2 2; 4 4 Letter 2 1 1; 4 5 Letter 1 2 2",
	"si_range": "id si low high: 1 1672489250 1170742475 2174236025; 2 1672489250 1170742475 2174236025; " +
		"3 1672489250 1170742475 2174236025; 10 1672489250 1170742475 2174236025",
	"nearest":          "id depth: 3 8; 10 2; 2 1",
	"contained":        "id containment: 4 1; 5 1",
	"exact_duplicates": "content_hash id first: 8312165379720667075 4 4; 8312165379720667075 5 4",
	"drift":            "profile documents: words_w=6_set_classic_t=84_k=12_s=7_r=2_bits=8 1",
	"hot": "slot feature documents example beginning: 3 -5583960561675151278 4 1 *; 5 1021910395524930828 4 1 *; " +
		"6 -2905514534520212609 4 1 *; 4 -6185487624883662997 3 1 *; 7 4393301155665433093 3 1 *; 8 6449678977051135719 3 1 *; " +
		"9 2447557132329769417 3 1 *; 11 -4875806169655635668 3 1 *",
	"checkins": "day sketched matched matches nearest: * 10 1 3 0.8207282913",
	"disputed": "id other verdict note resemblance: 1 2 distinct the_hour_matters 0.8804855275; 7 8 duplicate * 0",

	"portable/alike_to_row":  "key shared: 3 12; 2 6; 10 5",
	"portable/alike_to_text": "key shared: 1 7; 3 7; 2 4; 10 4",
	"portable/pairs":         "key other shared: 1 3 12; 4 5 12; 1 2 6; 2 3 6; 1 10 5; 3 10 5; 2 10 3",
	"portable/clusters":      "key cluster: 1 1; 2 1; 3 1; 10 1; 4 4; 5 4",
	"portable/label_step":    "key cluster: 1 1; 2 1; 3 1; 4 4; 5 4; 6 6; 7 7; 8 8; 10 1",
	"portable/same_features": "key other: 1 3; 4 5",
	"portable/hot": "slot feature documents example: 3 -5583960561675151278 4 1; 5 1021910395524930828 4 1; 6 -2905514534520212609 4 1; " +
		"4 -6185487624883662997 3 1; 7 4393301155665433093 3 1; 8 6449678977051135719 3 1; 9 2447557132329769417 3 1; 11 -4875806169655635668 3 1",
}

// cells writes a row for comparison: numbers to ten digits, no blanks inside.
func cells(row []any) []string {
	var out []string
	for _, v := range row {
		text := fmt.Sprint(v)
		switch v := v.(type) {
		case []byte:
			text = string(v)
		case float64:
			text = strconv.FormatFloat(math.Round(v*1e10)/1e10, 'f', -1, 64)
		case time.Time:
			text = v.Format(time.DateOnly)
		}
		out = append(out, strings.ReplaceAll(text, " ", "_"))
	}
	return out
}

// compare checks a result against what wants says.
func compare(t *testing.T, name string, columns []string, rows [][]any) {
	t.Helper()
	want, ok := wants[name]
	if !ok {
		t.Errorf("%s: no test says what it returns", name)
		return
	}
	head, body, _ := strings.Cut(want, ": ")
	if got := strings.Join(columns, " "); got != head {
		t.Errorf("%s: columns %s, want %s", name, got, head)
	}
	var wanted []string
	if body != "" {
		wanted = strings.Split(body, "; ")
	}
	got := make([]string, len(rows))
	for i, row := range rows {
		cell := cells(row)
		if i < len(wanted) {
			for j, w := range strings.Fields(wanted[i]) {
				if w == "*" && j < len(cell) {
					cell[j] = "*"
				}
			}
		}
		got[i] = strings.Join(cell, " ")
	}
	if !reflect.DeepEqual(got, append([]string{}, wanted...)) {
		t.Errorf("%s:\ngot  %s\nwant %s", name, strings.Join(got, "; "), body)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names lists the queries of a folder by their names without ending.
func names(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".sql"))
	}
	return out
}

type engine struct {
	*sql.DB
	t *testing.T
}

func (e engine) exec(statement string) {
	e.t.Helper()
	if _, err := e.Exec(statement); err != nil {
		e.t.Fatalf("%s\n%v", statement, err)
	}
}

func (e engine) query(statement string) (columns []string, out [][]any) {
	e.t.Helper()
	rows, err := e.Query(statement)
	if err != nil {
		e.t.Fatalf("%s\n%v", statement, err)
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		e.t.Fatal(err)
	}
	for rows.Next() {
		row := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			e.t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		e.t.Fatalf("%s\n%v", statement, err)
	}
	return columns, out
}

// sample makes the sample table, attaches it, checks a document in and marks two
// pairs. settle waits for the sketches where they are not there at once.
func (e engine) sample(folder, prefix string, settle func()) {
	e.t.Helper()
	for statement := range strings.SplitSeq(read(e.t, "sample.sql"), ";\n") {
		e.exec(statement)
	}
	for statement := range strings.SplitSeq(read(e.t, folder+"/attach.sql"), ";\n") {
		if strings.TrimSpace(statement) != "" {
			e.query(statement)
		}
	}
	settle()
	e.exec("insert into documents select 10, 'Minutes, again', replace(body, 'Tuesday', 'Wednesday'), '2024-04-01' from documents where id = 1")
	settle()
	e.query("select " + prefix + "mark('documents', '1', '2', 'distinct', 'the hour matters')")
	e.query("select " + prefix + "mark('documents', '7', '8', 'duplicate')")
}

// portable makes the tables that the portable queries read.
func (e engine) portable() {
	e.t.Helper()
	e.exec("create view document_feature as select id as key, slot, feature from documents_alike_feature")
	e.exec("create view document_label as select distinct id as key, id as cluster from documents_alike_feature")
	e.exec("create table asked_feature (slot integer, feature bigint)")
	list := read(e.t, "postgres/alike_to_text.sql")
	_, list, _ = strings.Cut(list, "array[")
	list, _, _ = strings.Cut(list, "]")
	for i, feature := range strings.Split(list, ",") {
		e.exec(fmt.Sprintf("insert into asked_feature values (%d, %s)", i+1, strings.TrimSpace(feature)))
	}
}

func (e engine) all(folder string) {
	e.t.Helper()
	for _, name := range names(e.t, folder) {
		known := name
		if folder == "portable" {
			known = "portable/" + name
		}
		// The worker's own statements in postgres/ are tested with the worker.
		if _, ours := wants[known]; !ours && folder == "postgres" || name == "attach" {
			continue
		}
		columns, rows := e.query(read(e.t, folder+"/"+name+".sql"))
		compare(e.t, known, columns, rows)
	}
}

func sqlite(t *testing.T) engine {
	t.Helper()
	if err := sqlext.Auto(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "queries.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e := engine{db, t}
	e.sample("sqlite", "alike_", func() {})
	return e
}

func TestSQLite(t *testing.T) {
	e := sqlite(t)
	columns, rows := e.query(read(t, "sqlite/drift.sql"))
	if len(rows) != 0 {
		t.Errorf("drift before there is any: %v %v", columns, rows)
	}
	e.exec("insert into alike_settings (profile) values ('words w=6 set classic t=84 k=12 s=7 r=2 bits=8')")
	e.exec("update documents_alike set profile = (select max(id) from alike_settings) where id = 7")
	e.all("sqlite")
	e.portable()
	e.all("portable")
}

func TestPostgreSQL(t *testing.T) {
	url := pgtest.Database(t)
	connector := pgtest.Connect(t, url).Config().Copy()
	db := stdlib.OpenDB(*connector)
	t.Cleanup(func() { db.Close() })
	e := engine{db, t}
	w, err := worker.New(t.Context(), worker.Config{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	e.sample("postgres", "alike.", func() {
		t.Helper()
		if err := w.Once(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
	columns, rows := e.query(read(t, "postgres/drift.sql"))
	if len(rows) != 0 {
		t.Errorf("drift before there is any: %v %v", columns, rows)
	}
	e.exec("insert into alike.settings (profile) values ('words w=6 set classic t=84 k=12 s=7 r=2 bits=8')")
	e.exec("update documents_alike set profile = (select max(id) from alike.settings) where id = 7")
	e.all("postgres")
	e.portable()
	e.all("portable")
}

// duckdb reads the tables and the queries from its standard input.
const duckdb = `
import duckdb, json, sys
given = json.load(sys.stdin)
db = duckdb.connect()
for table, (columns, rows) in given["tables"].items():
    db.execute("create table %s (%s)" % (table, ", ".join(c + " bigint" for c in columns)))
    db.executemany("insert into %s values (%s)" % (table, ", ".join("?" for _ in columns)), rows)
results = {}
for name, query in given["queries"].items():
    answer = db.execute(query)
    results[name] = [[c[0] for c in answer.description], [[str(v) for v in row] for row in answer.fetchall()]]
json.dump(results, sys.stdout)
`

// TestDuckDB runs the portable queries on the features of the SQLite table.
func TestDuckDB(t *testing.T) {
	cache := os.Getenv("ALIKE_CACHE")
	if cache == "" {
		cache = "/var/cache/alike"
		if os.Getuid() != 0 {
			folder, err := os.UserCacheDir()
			if err != nil {
				t.Fatal(err)
			}
			cache = filepath.Join(folder, "alike")
		}
	}
	e := sqlite(t)
	e.portable()
	tables, statements := map[string][2]any{}, map[string]string{}
	for _, table := range []string{"document_feature", "document_label", "asked_feature"} {
		columns, rows := e.query("select * from " + table)
		tables[table] = [2]any{columns, rows}
	}
	for _, name := range names(t, "portable") {
		statements["portable/"+name] = read(t, "portable/"+name+".sql")
	}
	input, err := json.Marshal(map[string]any{"tables": tables, "queries": statements})
	if err != nil {
		t.Fatal(err)
	}
	python := exec.Command(filepath.Join(cache, "venv/bin/python"), "-c", duckdb)
	python.Stdin = bytes.NewReader(input)
	var complaint bytes.Buffer
	python.Stderr = &complaint
	output, err := python.Output()
	if err != nil {
		t.Fatalf("%v (.ci/setup installs it)\n%s", err, complaint.Bytes())
	}
	var results map[string][2]json.RawMessage
	if err := json.Unmarshal(output, &results); err != nil {
		t.Fatal(err)
	}
	for name, result := range results {
		var columns []string
		var rows [][]any
		if err := json.Unmarshal(result[0], &columns); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(result[1], &rows); err != nil {
			t.Fatal(err)
		}
		compare(t, name, columns, rows)
	}
}

// The questions about one row go through the indexes.
func TestIndexes(t *testing.T) {
	e := sqlite(t)
	for _, name := range []string{"alike_to_row", "alike_to_text", "nearest"} {
		searches := 0
		_, plan := e.query("explain query plan " + read(t, "sqlite/"+name+".sql"))
		for _, step := range plan {
			line := fmt.Sprint(step[3])
			switch words := strings.Fields(line); words[1] {
			case "a", "b", "d", "documents_alike":
				if words[0] == "SCAN" {
					t.Errorf("%s: %s", name, line)
				}
			}
			if strings.HasPrefix(line, "SEARCH") {
				searches++
			}
		}
		if searches < 2 {
			t.Errorf("%s: the plan has %d searches:\n%v", name, searches, plan)
		}
	}
}

// Both engines have the same queries, and the page lists each.
func TestListed(t *testing.T) {
	page := read(t, "README.md")
	for name := range wants {
		files := []string{"sqlite/" + name + ".sql", "postgres/" + name + ".sql"}
		if strings.HasPrefix(name, "portable/") {
			files = []string{name + ".sql"}
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(page, "`"+filepath.Base(name)+"`") {
			t.Errorf("README.md does not list %s", name)
		}
	}
}

package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-sql/alike/sketch"
)

// alike runs a command line and returns what it printed and its exit code.
func alike(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errors bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errors)
	err := root.ExecuteContext(t.Context())
	code = exitCode(err)
	if err != nil {
		errors.WriteString(err.Error())
	}
	return out.String(), errors.String(), code
}

// texts are documents among which every third is an edit of an earlier one.
func texts(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 2+r.IntN(8))
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		return string(b)
	}
	var list []string
	for i := range n {
		if i%3 == 2 {
			words := strings.Fields(list[r.IntN(len(list))])
			for range 1 + r.IntN(12) {
				words[r.IntN(len(words))] = word()
			}
			list = append(list, strings.Join(words, " "))
			continue
		}
		var words []string
		for range 60 + r.IntN(30) {
			words = append(words, word())
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

type reason struct {
	Record      any
	Kept        any
	Resemblance float64
}

func reasons(t *testing.T, file string) (list []reason) {
	t.Helper()
	for line := range strings.Lines(string(read(t, file))) {
		var r reason
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}

// TestKeptAndLeftOut compares the answer with all pairs' resemblances.
func TestKeptAndLeftOut(t *testing.T) {
	const profile, atLeast = "words w=2 t=168 k=34 s=4 bits=4", 0.7
	documents := texts(600)
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	var sketches [][]byte
	for _, d := range documents {
		s.Document([]byte(d))
		b, err := sketch.Cut(nil, s.AppendSketch(nil), p.StoredBits())
		if err != nil {
			t.Fatal(err)
		}
		sketches = append(sketches, b)
	}
	resemblance := func(i, j int) float64 {
		r, err := sketch.Resemblance(sketches[i], sketches[j])
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, rule := range []string{"first", "last", "longest", "popular"} {
		t.Run(rule, func(t *testing.T) {
			folder := t.TempDir()
			in, out, why := filepath.Join(folder, "in.txt"), filepath.Join(folder, "out.txt"), filepath.Join(folder, "why.jsonl")
			write(t, in, strings.Join(documents, "\n")+"\n")
			if _, stderr, code := alike(t, "dedup", in, "-o", out, "--why", why, "--keep", rule, "--profile", profile, "--at-least", fmt.Sprint(atLeast)); code != 0 {
				t.Fatal(stderr)
			}
			kept := strings.Split(strings.TrimSuffix(string(read(t, out)), "\n"), "\n")
			var numbers []int
			for i, d := range documents {
				if slices.Contains(kept, d) {
					numbers = append(numbers, i)
				}
			}
			if len(kept) != len(numbers) || len(kept) < 300 || len(kept) > 550 {
				t.Fatalf("%d records are kept, %d of them found in the input; want the same number between 300 and 550", len(kept), len(numbers))
			}
			for a, i := range numbers {
				for _, j := range numbers[:a] {
					if r := resemblance(i, j); r >= atLeast {
						t.Errorf("records %d and %d are kept, their resemblance is %.3f", j+1, i+1, r)
					}
				}
			}
			left := reasons(t, why)
			if len(left)+len(kept) != len(documents) {
				t.Errorf("%d are kept and %d left out of %d", len(kept), len(left), len(documents))
			}
			for _, x := range left {
				i, j := int(x.Record.(float64))-1, int(x.Kept.(float64))-1
				if !slices.Contains(numbers, j) {
					t.Errorf("record %d stands for %d, and is not kept", j+1, i+1)
				}
				if r := resemblance(i, j); r < atLeast || r-x.Resemblance > 0.001 || x.Resemblance-r > 0.001 {
					t.Errorf("record %d for %d: resemblance %.4f, want %.4f", j+1, i+1, x.Resemblance, r)
				}
				switch {
				case rule == "first" && j > i, rule == "last" && j < i, rule == "longest" && len(documents[j]) < len(documents[i]):
					t.Errorf("rule %s: record %d is kept for %d", rule, j+1, i+1)
				}
			}
		})
	}
}

const (
	long    = "the harbour committee met on tuesday and agreed to postpone the vote on the new breakwater until the engineers have reported in full"
	edited  = "the harbour committee met on tuesday and agreed to postpone the vote on the new breakwater until the engineers have reported in march"
	another = "the library is closed for the holidays from the twentieth of december and opens again on the third of january at nine"
)

// TestFormats keeps records of every format, byte by byte.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ name, file, in, want string }{
		{"csv", "a.csv", "id,body\r\n1,\"" + long + "\"\r\n2,\"" + edited + "\"\r\n3,\"" + another + ", \"\"x\"\"\nand a second line\"\r\n",
			"id,body\r\n1,\"" + long + "\"\r\n3,\"" + another + ", \"\"x\"\"\nand a second line\"\r\n"},
		{"csv without an end", "a.csv", "body\n" + long + "\n" + another, "body\n" + long + "\n" + another + "\n"},
		{"csv with a mark", "a.csv", "\xef\xbb\xbfbody,n\n" + long + ",1\n" + edited + ",2\n", "\xef\xbb\xbfbody,n\n" + long + ",1\n"},
		{"short records", "a.csv", "id,body\n1\n2\n3,a b c d e f\n", "id,body\n1\n2\n3,a b c d e f\n"},
		{"tsv", "a.tsv", "id\ttext\n1\t\"" + long + "\n2\t" + edited + "\n", "id\ttext\n1\t\"" + long + "\n"},
		{"jsonl", "a.jsonl", `{"id":1,"text":"` + long + "\"}\n{\"text\": \"" + edited + "\", \"id\": 2}\n\n{\"id\":3}\n{\"id\":4,\"text\":null}\n",
			`{"id":1,"text":"` + long + "\"}\n\n{\"id\":3}\n{\"id\":4,\"text\":null}\n"},
		{"lines", "a.txt", long + "\n" + long + "\r\n" + another + "\n\n\n", long + "\n" + another + "\n\n\n"},
		{"nothing", "a.txt", "", ""},
		{"no record", "a.csv", "id,body\n", "id,body\n"},
		{"bad bytes", "a.txt", "\xff\xfe " + long + "\n\xff\xfe " + long + "\x00\n", "\xff\xfe " + long + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := filepath.Join(t.TempDir(), c.file)
			write(t, in, c.in)
			got, stderr, code := alike(t, "dedup", in)
			if code != 0 || got != c.want {
				t.Errorf("exit %d, printed %q, want %q\n%s", code, got, c.want, stderr)
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			io.WriteString(z, c.in)
			z.Close()
			write(t, in+".gz", packed.String())
			out := filepath.Join(t.TempDir(), c.file+".gz")
			if _, stderr, code := alike(t, "dedup", in+".gz", "-o", out); code != 0 {
				t.Fatalf("compressed: %s", stderr)
			}
			r, err := gzip.NewReader(bytes.NewReader(read(t, out)))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r); err != nil || string(b) != c.want {
				t.Errorf("compressed: %q (error %v), want %q", b, err, c.want)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"b.txt": edited, "a.html": "<p>" + long + "</p>", "c/d.txt": another, ".hidden": long, ".git/x": long} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), text)
	}
	why := filepath.Join(t.TempDir(), "why.csv")
	got, stderr, code := alike(t, "dedup", folder, "--why", why)
	if want := folder + "/a.html\n" + folder + "/c/d.txt\n"; code != 0 || got != want {
		t.Errorf("printed %q, want %q\n%s", got, want, stderr)
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, why))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][0] != folder+"/b.txt" || rows[1][1] != folder+"/a.html" {
		t.Errorf("why: %q (error %v)", rows, err)
	}
}

func TestParquet(t *testing.T) {
	type row struct {
		ID   int64   `parquet:"id"`
		Body *string `parquet:"body,optional"`
		Tags []string
	}
	a, b, c := long, edited, another
	in, out := filepath.Join(t.TempDir(), "a.parquet"), filepath.Join(t.TempDir(), "b.parquet")
	if err := parquet.WriteFile(in, []row{{1, &a, []string{"x", "y"}}, {2, &b, nil}, {3, nil, nil}, {4, &c, []string{"z"}}, {5, nil, nil}}); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := alike(t, "dedup", in, "-o", out); code != 0 {
		t.Fatal(stderr)
	}
	got, err := parquet.ReadFile[row](out)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range got {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []int64{1, 3, 4, 5}) || *got[0].Body != long || !slices.Equal(got[0].Tags, []string{"x", "y"}) {
		t.Errorf("kept %v: %+v", ids, got)
	}
}

// attached makes a database with three notes, attached.
func attached(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "notes #1?%.db")
	db, err := sql.Open("sqlite3", "file:"+escapeURI(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{`create table notes (id integer primary key, body text, n int)`,
		`insert into notes values (5, '` + long + `', 1), (7, '` + edited + `', 2), (9, '` + another + `', 3)`} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func TestTable(t *testing.T) {
	file, out := attached(t), filepath.Join(t.TempDir(), "out.db")
	if _, stderr, code := alike(t, "dedup", file, "--table", "notes", "-o", out); code != 0 {
		t.Fatal(stderr)
	}
	db, err := sql.Open("sqlite3", out)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow("select group_concat(id || ':' || n) from (select id, n from notes order by id)").Scan(&got); err != nil || got != "5:1,9:3" {
		t.Errorf("kept %q (error %v), want 5:1,9:3", got, err)
	}
	if _, stderr, code := alike(t, "dedup", file, "--table", "notes", "-o", out); code != exitFailure || !strings.Contains(stderr, "exists") {
		t.Errorf("over an existing file: exit %d, %s", code, stderr)
	}
}

// TestVerbs asks a database as a script does.
func TestVerbs(t *testing.T) {
	file := attached(t)
	run := func(want int, args ...string) string {
		t.Helper()
		out, stderr, code := alike(t, append(args, "--json")...)
		if code != want {
			t.Fatalf("alike %s: exit %d, want %d: %s", strings.Join(args, " "), code, want, stderr)
		}
		return out
	}
	if got, want := run(0, "attach", file, "notes", "body"), `"name":"notes"`; !strings.Contains(got, want) {
		t.Errorf("attach printed %s, want %q in it", got, want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rows", file, "notes", "5"}, `"key":7`},
		{[]string{"pairs", file, "notes", "--at-least", "0.5"}, `"key":5,"other":7`},
		{[]string{"clusters", file, "notes"}, `"key":7,"cluster":5,"size":2`},
		{[]string{"clusters", file, "notes", "--linkage", "greedy"}, `"key":7,"cluster":5,"size":2`},
		{[]string{"clusters", file, "notes", "--linkage", "single", "--at-least", "1"}, ``},
		{[]string{"keep", file, "notes", "--rule", "newest"}, `"key":5,"kept":7`},
		{[]string{"keep", file, "notes", "--at-least", "1"}, `"key":7,"kept":7`},
		{[]string{"common", file, "notes", "--share", "0.9"}, `"rows":3,"share":1`},
		{[]string{"attach", file, "notes", "body", "--options", `{"policy": "warn", "at_least": 0.5}`, "--contains", "--policy", "link", "--si", "length"}, `"policy":"link","at_least":0.5`},
		{[]string{"attach", file, "notes", "body", "--short", "1000:1"}, `"short":"{\"below\": 1000, \"at_least\": 1}"`},
		{[]string{"pairs", file, "notes"}, ``},
		{[]string{"attach", file, "notes", "body", "--short", "none"}, `"short":null`},
		{[]string{"pairs", file, "notes"}, `"key":5,"other":7`},
		{[]string{"containers", file, "notes", "5", "--at-least", "0.5"}, `"key":7,"containment":0.`},
		{[]string{"contained", file, "notes", "7", "--at-least", "0.5"}, `"key":5,"containment":0.`},
		{[]string{"containments", file, "notes", "--at-least", "0.5"}, `"key":5,"other":7,"containment":0.`},
		{[]string{"status", file}, `"rows":3`},
		{[]string{"hot", file, "notes"}, ``},
		{[]string{"errors", file, "notes"}, ``},
		{[]string{"detach", file, "notes"}, `"detached":3`},
		{[]string{"attach", file, "notes", "body"}, `"sketched":3`},
		{[]string{"detach", file, "notes", "--drop"}, `"detached":3`},
		{[]string{"status", file}, ``},
		{[]string{"attach", file, "notes", "body"}, `"sketched":3`},
	} {
		if got := run(0, c.args...); !strings.Contains(got, c.want) || (c.want == "" && got != "") {
			t.Errorf("alike %s printed %s, want %s", strings.Join(c.args, " "), got, c.want)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	write(t, text, long)
	if got := run(exitFound, "check", text, "--against", file); !strings.Contains(got, `"key":5`) || !strings.Contains(got, `"key":7`) {
		t.Errorf("check printed %s", got)
	}
	write(t, text, "nothing of the kind is in there at all, and that is all there is to it")
	if got := run(0, "check", text, "--against", file); got != "" {
		t.Errorf("check printed %s, want nothing", got)
	}
}

// dedup keeps records that are short and less alike than --short asks.
func TestDedupAsksMoreOfShortRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.txt")
	records := []string{"meet Ann in room 3 at noon", "meet Ann in room 5 at noon",
		"the boiler in the cellar was serviced on Monday, and the fitter left a bill for two valves",
		"the boiler in the cellar was serviced on Friday, and the fitter left no bill for the valves", "meet Ann in room 3 at noon"}
	write(t, file, strings.Join(records, "\n")+"\n")
	for short, want := range map[string]string{"": "0,2", "none": "0,2", "30:0.9": "0,1,2", "20:0.9": "0,2", "1000:0.9": "0,1,2,3"} {
		args := []string{"dedup", file, "--format", "lines", "--profile", "short", "--at-least", "0.75"}
		if short != "" {
			args = append(args, "--short", short)
		}
		out, stderr, code := alike(t, args...)
		var kept []string
		for i, record := range records[:4] {
			if strings.Contains(out, record+"\n") {
				kept = append(kept, strconv.Itoa(i))
			}
		}
		if got := strings.Join(kept, ","); code != 0 || got != want || strings.Count(out, "\n") != len(kept) || strings.Contains(stderr, "of short records from 0.9") != strings.HasSuffix(short, "0.9") {
			t.Errorf("--short %q keeps %s, want %s; exit %d, %s", short, got, want, code, stderr)
		}
	}
}

func TestDiff(t *testing.T) {
	folder := t.TempDir()
	a, b := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	for _, c := range []struct {
		a, b, want string
		code       int
	}{
		{"one two three", "one two three", "one two three\n", 0},
		{"one two three\n", "one four three\n", "one [-two-]{+four+} three\n", exitFound},
		{"", "x", "{+x+}\n", exitFound},
		{"a\x1b[31mb", "a\x1b[31mb", "a\uFFFD[31mb\n", 0},
		{"東京の支店", "東京の本店", "", exitFound},
	} {
		write(t, a, c.a)
		write(t, b, c.b)
		got, stderr, code := alike(t, "diff", a, b)
		if code != c.code || (c.want != "" && got != c.want) {
			t.Errorf("diff %q %q: exit %d, printed %q, want %d, %q %s", c.a, c.b, code, got, c.code, c.want, stderr)
		}
	}
}

func TestBadCommandLines(t *testing.T) {
	folder := t.TempDir()
	csvFile, jsonFile, empty := filepath.Join(folder, "a.csv"), filepath.Join(folder, "a.jsonl"), filepath.Join(folder, "e.csv")
	write(t, csvFile, "id,n\n1,2\n")
	write(t, jsonFile, "{\"text\":\"a\"}\n[1]\n")
	write(t, empty, "")
	lines, openQuote := filepath.Join(folder, "b.jsonl"), filepath.Join(folder, "q.csv")
	write(t, lines, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n")
	write(t, openQuote, "id,n\n1,\"2\n")
	text, damaged := filepath.Join(folder, "a.txt"), filepath.Join(folder, "b.txt.gz")
	write(t, text, "a\n")
	database := filepath.Join(folder, "a.db")
	write(t, database, "")
	write(t, damaged, "\x1f\x8b\x08\x00\x00")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"requires at least 1 arg(s), only received 0: alike dedup IN... [flags]", exitUsage, []string{"dedup"}},
		{"no such file", exitFailure, []string{"dedup", filepath.Join(folder, "none.csv")}},
		{"--column is missing: the columns are id, n", exitUsage, []string{"dedup", csvFile}},
		{`no column is called "x"; there are id, n`, exitUsage, []string{"dedup", csvFile, "--column", "x"}},
		{`--keep is "best", want first, last, oldest, newest, longest or popular`, exitUsage, []string{"dedup", csvFile, "--keep", "best"}},
		{"--at-least is 2, want a number above 0 and at most 1", exitUsage, []string{"dedup", csvFile, "--at-least", "2"}},
		{`--why is "x", want a name that ends in .csv or .jsonl`, exitUsage, []string{"dedup", csvFile, "--why", "x"}},
		{jsonFile + ": record 2: is an array; jq -c", exitFailure, []string{"dedup", jsonFile}},
		{jsonFile + ": record 2: is an array; jq -c", exitFailure, []string{"dedup", lines, jsonFile}},
		{jsonFile + ": record 2: is an array; jq -c", exitFailure, []string{"dedup", lines, jsonFile, lines, "--profile", "prose"}},
		{openQuote + ": a quote of the record in line 2 is not closed", exitFailure, []string{"dedup", csvFile, openQuote, csvFile, "--column", "n"}},
		{openQuote + ": a quote of the record in line 2 is not closed", exitFailure, []string{"dedup", csvFile, openQuote, "--column", "n", "--profile", "prose"}},
		{damaged + ": unexpected EOF", exitFailure, []string{"dedup", text, damaged}},
		{"the file is empty", exitFailure, []string{"dedup", empty}},
		{`"--policy" flag: want ignore, link, warn or reject`, exitUsage, []string{"attach", csvFile, "t", "body", "--policy", "refuse"}},
		{`"--layout" flag: want columns or parts`, exitUsage, []string{"attach", csvFile, "t", "body", "--layout", "part"}},
		{`--format is "x", want csv`, exitUsage, []string{"dedup", csvFile, "--format", "x"}},
		{`did you mean prose?`, exitUsage, []string{"dedup", csvFile, "--column", "n", "--profile", "prosa"}},
		{"--output is " + filepath.Dir(csvFile) + ", which is a folder", exitUsage, []string{"dedup", csvFile, "--column", "n", "-o", filepath.Dir(csvFile)}},
		{"no such file or directory", exitUsage, []string{"dedup", csvFile, "--column", "n", "--why", filepath.Join(folder, "x/y.csv")}},
		{"--short asks 0.7 of short records, want --at-least, 0.8, or more", exitUsage, []string{"dedup", csvFile, "--column", "n", "--short", "30:0.7"}},
		{"want two numbers such as 30:0.85", exitUsage, []string{"dedup", csvFile, "--short", "30"}},
		{"want two numbers such as 30:0.85", exitUsage, []string{"dedup", csvFile, "--short", "30:nan"}},
		{`--at-least is "1.2", want a number from 0 to 1`, exitUsage, []string{"pairs", database, "t", "--at-least", "1.2"}},
		{`--at-least is "nan", want a number from 0 to 1`, exitUsage, []string{"pairs", database, "t", "--at-least", "nan"}},
		{`--at-least is "-1", want a number from 0 to 1`, exitUsage, []string{"check", text, "--against", database, "--table", "t", "--at-least", "-1"}},
		{`--linkage: sketch: cluster: the linkage is "x", want complete, single, greedy or popular`, exitUsage, []string{"clusters", database, "t", "--linkage", "x"}},
		{`--share is "0", want a number from 0.0001 to 1`, exitUsage, []string{"common", database, "t", "--share", "0"}},
		{`did you mean prose?`, exitUsage, []string{"attach", database, "t", "body", "--profile", "prosa"}},
		{"--against is missing", exitUsage, []string{"check", csvFile}},
		{csvFile + ": file is not a database", exitFailure, []string{"status", csvFile}},
		{`--options "{", want one JSON object`, exitUsage, []string{"attach", csvFile, "t", "c", "--options", "{"}},
		{`--extract "{", want a name, or {"column": NAME}`, exitUsage, []string{"attach", csvFile, "t", "c", "--extract", "{"}},
		{"want 0 to 1", exitUsage, []string{"attach", csvFile, "t", "c", "--at-least", "nan"}},
		{"Did you mean this?\n\tdedup", exitUsage, []string{"dedupe"}},
	} {
		out, stderr, code := alike(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || out != "" {
			t.Errorf("alike %q: exit %d, said %q, printed %q; want %d, %q", c.args, code, stderr, out, c.code, c.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, ".alike-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q (error %v)", left, err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Scripts of users test these numbers; a release does not change them.
func TestExitCodes(t *testing.T) {
	if got, want := [...]int{exitFailure, exitUsage, exitFound}, [...]int{1, 2, 3}; got != want {
		t.Errorf("the exit codes are %v, want %v", got, want)
	}
}

package main

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/report"
)

func TestReport(t *testing.T) {
	for _, layout := range []string{"columns", "parts"} {
		t.Run(layout, func(t *testing.T) {
			file := attached(t)
			if _, stderr, code := alike(t, "attach", file, "notes", "body", "--options", `{"policy": "link", "at_least": 0.5, "layout": "`+layout+`"}`); code != 0 {
				t.Fatal(stderr)
			}
			db, err := sql.Open("sqlite3", "file:"+escapeURI(file))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("insert into notes values (11, ?, 4)", long+" <script>alert(1)</script>\u202e"); err != nil {
				t.Fatal(err)
			}
			asJSON := func() *report.Section {
				t.Helper()
				out, stderr, code := alike(t, "report", file, "--json")
				var r report.Report
				if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Attachments) != 1 || r.Engine != "SQLite" {
					t.Fatalf("exit %d, error %v: %s\n%s", code, err, stderr, out)
				}
				return r.Attachments[0]
			}
			s := asJSON()
			if s.Name != "notes" || s.Rows != 4 || s.Sketched != 4 || s.Candidates.Pairs != 3 || s.Clusters.Count != 1 || s.Clusters.Shown[0].Size != 3 || s.Waiting.Recorded != 2 {
				t.Errorf("%+v", s)
			}
			// The statement on the page does what it says.
			if _, err := db.Exec(s.Waiting.Pairs[0].Distinct); err != nil {
				t.Fatalf("%s: %v", s.Waiting.Pairs[0].Distinct, err)
			}
			if s := asJSON(); s.Waiting.Recorded != 1 || s.Waiting.Judged != 1 {
				t.Errorf("after a verdict: %+v", s.Waiting)
			}
			page := filepath.Join(t.TempDir(), "page.html")
			if out, stderr, code := alike(t, "report", file, "-o", page); code != 0 || out != page+"\n" {
				t.Fatalf("exit %d, printed %q: %s", code, out, stderr)
			}
			if b := string(read(t, page)); !strings.HasSuffix(b, "</html>\n") || strings.Contains(b, "<script") || strings.Contains(b, "\u202e") || !strings.Contains(b, "the harbour committee") {
				t.Error("the page is not whole, not escaped, or lacks the texts")
			}
		})
	}
}

// The report counts as alike what the questions count, also where short texts need more.
func TestReportAsksMoreOfShortTexts(t *testing.T) {
	file := attached(t)
	if _, stderr, code := alike(t, "attach", file, "notes", "body", "--options", `{"profile": "prose", "at_least": 0.5, "short": {"below": 1000, "at_least": 0.999}}`); code != 0 {
		t.Fatal(stderr)
	}
	out, stderr, code := alike(t, "report", file, "--json")
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("exit %d, error %v: %s", code, err, stderr)
	}
	db, err := sql.Open("sqlite3", "file:"+escapeURI(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var pairs, clusters int64
	if err := db.QueryRow("select (select count(*) from alike_pairs('notes')), (select count(distinct cluster) from alike_clusters('notes'))").Scan(&pairs, &clusters); err != nil {
		t.Fatal(err)
	}
	s := r.Attachments[0]
	if s.Candidates.Pairs == pairs || s.Candidates.Alike != pairs || int64(s.Clusters.Count) != clusters || s.Short == nil || s.Short.Below != 1000 {
		t.Errorf("%d candidates, %d of them alike, %d clusters, short %v; alike_pairs has %d and alike_clusters %d",
			s.Candidates.Pairs, s.Candidates.Alike, s.Clusters.Count, s.Short, pairs, clusters)
	}
}

// A report of what cannot be read says so, and leaves no page.
func TestReportErrors(t *testing.T) {
	file, folder := attached(t), t.TempDir()
	plain := filepath.Join(folder, "plain.txt")
	write(t, plain, strings.Repeat("no database ", 100))
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"nothing is attached in this file; alike_attach", exitFailure, []string{file}},
		{"file is not a database", exitFailure, []string{plain}},
		{"no such file", exitFailure, []string{filepath.Join(folder, "none.db")}},
		{"--clusters is 0, want 1 to 10000", exitUsage, []string{file, "--clusters", "0"}},
		{"--members is 1, want 2 to 100", exitUsage, []string{file, "--members", "1"}},
		{"--output is empty", exitUsage, []string{file, "--output", ""}},
		{"accepts 1 arg(s), received 2: alike report DATABASE", exitUsage, []string{file, file}},
	} {
		page := filepath.Join(folder, "page.html")
		args := append([]string{"report", "-o", page}, c.args...)
		if out, stderr, code := alike(t, args...); code != c.code || !strings.Contains(stderr, c.want) || out != "" {
			t.Errorf("alike %q: exit %d, said %q, printed %q; want %d, %q", args, code, stderr, out, c.code, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.html")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q (error %v)", left, err)
	}
}

// Text of a database cannot act on the terminal.
func TestCell(t *testing.T) {
	if got, want := cell("a\x1b[31m\u009b2J\r\n\tb\x7f\u202eé東 x"), "a␛[31m\uFFFD2J␍⏎ b␡\uFFFDé東 x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

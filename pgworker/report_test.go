package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/report"
)

func TestReport(t *testing.T) {
	_, conn := filled(t)
	for _, sql := range []string{
		`create table "O'Hara ""x""" (a int, b text, body bytea, primary key (a, b))`,
		`insert into "O'Hara ""x""" values (1, 'it''s', 'the quick brown fox jumps over the lazy dog and runs away into the dark forest'), (2, 'z', '\x00ff')`,
		`select alike.attach('"O''Hara ""x"""', 'body', '{"policy": "link", "at_least": 0.5}')`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "run", "--once", "--allow-superuser")
	if _, err := conn.Exec(t.Context(), `insert into "O'Hara ""x""" values (1, E'x\u202ey', 'the quick brown fox jumps over the lazy dog and runs away into the dark wood')`); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "--once", "--allow-superuser")
	var r report.Report
	if err := json.Unmarshal([]byte(must(t, "report", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Attachments) != 2 || r.Engine != "PostgreSQL" {
		t.Fatalf("%d attachments in %s", len(r.Attachments), r.Engine)
	}
	hostile, documents := r.Attachments[0], r.Attachments[1]
	if documents.Name != "documents" || documents.Rows != 3 || documents.Sketched != 3 || documents.Clusters.Count != 1 || documents.Clusters.Shown[0].Size != 2 ||
		documents.Candidates.Pairs != 1 || documents.Candidates.Bands[19] != 1 || documents.Candidates.Alike != 1 || len(documents.Indexes) != 1 || documents.Indexes[0].Inside != 2 {
		t.Errorf("documents: %+v", documents)
	}
	if hostile.Waiting.Recorded != 1 || len(hostile.Waiting.Pairs) != 1 {
		t.Fatalf("waiting: %+v", hostile.Waiting)
	}
	// The statements do what they say, whatever the names and keys are.
	if _, err := conn.Exec(t.Context(), hostile.Waiting.Pairs[0].Distinct); err != nil {
		t.Fatalf("%s: %v", hostile.Waiting.Pairs[0].Distinct, err)
	}
	if err := json.Unmarshal([]byte(must(t, "report", "--json", "--table", hostile.Name)), &r); err != nil {
		t.Fatal(err)
	}
	if w := r.Attachments[0].Waiting; len(r.Attachments) != 1 || w.Recorded != 0 || w.Judged != 1 || w.Disputed != 1 || r.Attachments[0].Clusters.Count != 0 {
		t.Errorf("after the verdict: %+v", r.Attachments[0])
	}

	name := filepath.Join(t.TempDir(), "report.html")
	if out := must(t, "report", "--output", name); out != name+"\n" {
		t.Errorf("printed %q", out)
	}
	written, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if page := string(written); !strings.HasSuffix(page, "</html>\n") || strings.Contains(page, "\u202e") || strings.Contains(page, "<script") || !strings.Contains(page, "O&#39;Hara") {
		t.Error("the page is not whole, or not escaped")
	}
	if out := must(t, "report", "--output", "-"); !strings.HasPrefix(out, "<!doctype html>") {
		t.Errorf("the standard output begins with %.40q", out)
	}
}

// The report counts as alike what the questions count, also where short texts need more.
func TestReportAsksMoreOfShortTexts(t *testing.T) {
	_, conn := filled(t)
	if _, err := conn.Exec(t.Context(), `update documents set body = body || ' or so' where id = 2`); err != nil {
		t.Fatal(err)
	}
	count := func() (alike int64) {
		t.Helper()
		must(t, "run", "--once", "--allow-superuser")
		var r report.Report
		if err := json.Unmarshal([]byte(must(t, "report", "--json")), &r); err != nil {
			t.Fatal(err)
		}
		var pairs int64
		if err := conn.QueryRow(t.Context(), "select count(*) from alike.pairs('documents')").Scan(&pairs); err != nil {
			t.Fatal(err)
		}
		s := r.Attachments[0]
		if alike = s.Candidates.Alike; alike != pairs || (s.Short == nil) != (alike > 0) || s.Candidates.Pairs == 0 {
			t.Errorf("%d candidates, %d of them alike, short %v; alike.pairs has %d", s.Candidates.Pairs, alike, s.Short, pairs)
		}
		return alike
	}
	if n := count(); n == 0 {
		t.Error("no pair is alike")
	}
	if _, err := conn.Exec(t.Context(), `select alike.attach('documents', 'body', '{"short": {"below": 1000, "at_least": 0.99999}}')`); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d pairs of short texts are alike, want none", n)
	}
}

// Documents that a command or the worker turns into text are shown as that.
func TestReportExtracts(t *testing.T) {
	_, conn := filled(t)
	for _, sql := range []string{
		`create table pages (id int primary key, body bytea)`,
		`insert into pages select n, convert_to('<style>p {}</style><p>The harbour office is closed on <b>Thursdays</b> and opens again on Friday number ' || n, 'UTF8') from generate_series(1, 2) n`,
		`select alike.attach('pages', 'body', '{"extract": "html", "at_least": 0.1}')`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "run", "--once", "--allow-superuser")
	page := must(t, "report", "--table", "pages", "--output", "-")
	if !strings.Contains(page, "The harbour office is closed on Thursdays") || strings.Contains(page, "&lt;b&gt;") || strings.Contains(page, "p {}") {
		t.Error("the page does not show the text of the documents")
	}
}

func TestReportErrors(t *testing.T) {
	filled(t)
	for name, args := range map[string][]string{
		"no such table":      {"report", "--table", "nothing"},
		"clusters":           {"report", "--clusters", "-1"},
		"members":            {"report", "--members", "1"},
		"no such folder":     {"report", "--output", filepath.Join(t.TempDir(), "none", "report.html")},
		"too many arguments": {"report", "a"},
	} {
		if _, err := pgworker(t, args...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/migrations/pgtest"
)

// TestMain lets the test program stand in for the command as a contender.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "contender" {
		if err := contend(os.Args[2:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	pgtest.Main(m)
}

func TestRun(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	c := config{documents: 2000, collections: "short", only: "^alike (text|classic|text, 1 feature|SQLite|SQLite, verified|PostgreSQL)$", limit: time.Minute, module: module}
	r, err := run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 6 {
		t.Fatalf("%d runs, want 6", len(r.Runs))
	}
	for _, x := range r.Runs {
		if x.Failed != "" || x.Quality == nil {
			t.Fatalf("%s: %s", x.Contender, x.Failed)
		}
		recall, pairs := x.Quality.recall(4)
		if recall < 0.99 || pairs < 100 {
			t.Errorf("%s: recall %v of %d pairs at 0.9 and more", x.Contender, recall, pairs)
		}
		if precision, answers := x.Quality.precision(2); x.Contender != "alike text, 1 feature" && precision < 0.99 {
			t.Errorf("%s: %v of %d answers at 0.7 and more", x.Contender, precision, answers)
		}
	}
	dir := t.TempDir()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "results.json", "recall-short.svg", "speed-short.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| alike text | 2,000 | all pairs |", "recall of pairs at 0.9 and more | 0.995 | 1.0000 of", "alike SQLite, verified"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Runs that are there stay; those of now replace theirs.
	r.Runs[0].Contender, r.Runs[1].Documents = "newcomer", 2001
	if err := r.merge(dir); err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 8 {
		t.Errorf("%d runs after a merge, want 8", len(r.Runs))
	}
}

func TestGrowth(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	c := config{sizes: []int{500, 1000, 2000}, collections: growth, only: "^alike (SQLite|PostgreSQL)(, parts)?$", limit: time.Minute, module: module}
	r, err := run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range engines {
		for _, o := range operations {
			if points := r.points(growth, name, o.measure); len(points) != 3 {
				t.Errorf("%s: %s at %d sizes, want 3", name, o.name, len(points))
			}
		}
		if e, _ := r.exponent(growth, name, pairsFound); e < 0.8 || e > 1.2 {
			t.Errorf("%s: pairs grow as n^%v; the edits should be a share of the documents", name, e)
		}
	}
	dir := t.TempDir()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "growth-sqlite.svg")); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"| operation | 500 | 1,000 | 2,000 | exponent |", "| growth: growth of memory of the process of alike SQLite, exponent | 0 to one digit |",
		"| growth: growth of a checkin of alike PostgreSQL, parts, exponent | at most 0.1 |", "| growth: growth of bytes written for a checkin of alike SQLite, parts, exponent | at most 0.1 |"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPace(t *testing.T) {
	p := newPace(time.Minute)
	p.took(1000, 10*time.Second)
	if why := p.tooSlow(100_000); why != "" {
		t.Errorf("after one size, of which nobody knows how it grows: %q", why)
	}
	p.took(10_000, 11*time.Second)
	if why := p.tooSlow(100_000); why != "" {
		t.Errorf("12 seconds: %q", why)
	}
	p.took(100_000, 44*time.Second)
	if want, why := "not tried: it took 44 s at 100,000", p.tooSlow(1_000_000); why != want {
		t.Errorf("176 seconds where twice the limit is 120: %q, want %q", why, want)
	}
}

func TestSizes(t *testing.T) {
	if s := sizes(100_000); len(s) != 2 || s[0] != 10_000 || s[1] != 100_000 {
		t.Errorf("sizes of 100,000: %v", s)
	}
	if s := sizes(2000); len(s) != 1 || s[0] != 2000 {
		t.Errorf("sizes of 2,000: %v", s)
	}
	if s, err := parseSizes("10,200"); err != nil || len(s) != 2 || s[0] != 10 || s[1] != 200 {
		t.Errorf("10,200: %v, %v", s, err)
	}
	for _, list := range []string{"", "x", "10,5", "0", "10,,20"} {
		if s, err := parseSizes(list); err == nil {
			t.Errorf("%q: %v, want an error", list, s)
		}
	}
}

func TestPeers(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	c := config{documents: 1000, collections: "short", only: "^(datasketch|rensa|gaoya|ekzhu/minhash-lsh|dgryski/go-minhash BottomK)$", limit: time.Minute, module: module}
	r, err := run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 5 {
		t.Errorf("%d peers ran, want 5", len(r.Runs))
	}
	for _, x := range r.Runs {
		if x.Failed != "" {
			t.Errorf("%s: %s; .ci/setup installs the peers", x.Contender, x.Failed)
			continue
		}
		if x.Measures[sketchCPU] <= 0 || x.Version == "" {
			t.Errorf("%s: %v, version %q", x.Contender, x.Measures, x.Version)
		}
		if x.Quality != nil {
			if recall, _ := x.Quality.recall(4); recall < 0.95 {
				t.Errorf("%s: recall %v at 0.9 and more; is it used as it should be?", x.Contender, recall)
			}
		}
	}
}

func TestContenderThatFails(t *testing.T) {
	col := &collection{Name: "none", path: filepath.Join(t.TempDir(), "none.jsonl"), lengths: []int{1}, queries: []int{0}}
	for _, test := range []struct {
		command []string
		limit   time.Duration
		want    string
	}{
		{[]string{"sh", "-c", "echo broken >&2; exit 3"}, time.Minute, "broken"},
		{[]string{"sh", "-c", "sleep 60"}, 50 * time.Millisecond, "more than 50ms"},
		{[]string{"sh", "-c", "echo nonsense"}, time.Minute, `outcome "nonsense": invalid character 'o' in literal null (expecting 'u')`},
	} {
		r := contender{name: "x", command: test.command}.run(context.Background(), col, 1, test.limit)
		if r.Failed != test.want {
			t.Errorf("%v: %q, want %q", test.command, r.Failed, test.want)
		}
	}
}

func TestJudge(t *testing.T) {
	answers := filepath.Join(t.TempDir(), "answers")
	if err := os.WriteFile(answers, []byte("0\t1\n1\t0\n2\t2\n0\t3\n1\t2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	col := &collection{lengths: []int{1, 2, 3, 4, 5}, truth: []corpus.Pair{{A: 0, B: 1, Resemblance: 1}, {A: 1, B: 2, Resemblance: 0.86}, {A: 2, B: 3, Resemblance: 0.5}, {A: 3, B: 4, Resemblance: 0.9}}}
	q, err := judge(col, 4, answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, n := q.recall(0); r != 2.0/3 || n != 3 {
		t.Errorf("recall %v of %d, want 2/3 of 3", r, n)
	}
	if p, n := q.precision(3); p != 2.0/3 || n != 3 {
		t.Errorf("precision %v of %d, want 2/3 of 3", p, n)
	}
	if q.Above85 != [2]int{2, 2} {
		t.Errorf("at 0.85 and more %v, want 2 of 2", q.Above85)
	}
	if q, err = judge(col, 4, answers, []int{0}); err != nil || q.True[0] != 0 || q.True[5] != 1 {
		t.Errorf("asked about 0: %v, %v", q, err)
	}
	if _, err := judge(col, 2, answers, nil); err == nil {
		t.Error("an answer outside the collection is accepted")
	}
}

// A goal that was set for a million documents is neither met nor missed with
// fewer, unless it is reached there already.
func TestGoals(t *testing.T) {
	for _, c := range []struct {
		documents int
		ours      float64 // times DuckDB's time
		met       string
	}{
		{100_000, 5, "fewer documents"},
		{100_000, 3, "yes"},
		{1_000_000, 5, "**no**"},
		{1_000_000, 3, "yes"},
	} {
		r := &report{Collections: []*collection{{Name: "short"}}, Runs: []result{
			{Collection: "short", Documents: c.documents, Contender: "alike SQLite", outcome: outcome{Measures: map[string]float64{pairsTime: c.ours}}},
			{Collection: "short", Documents: c.documents, Contender: duckDBName, outcome: outcome{Measures: map[string]float64{pairsTime: 1}}},
		}}
		var page bytes.Buffer
		r.goals(&page)
		if !strings.Contains(page.String(), "of 1,000,000 documents") || !strings.HasSuffix(page.String(), " | "+c.met+" |\n") {
			t.Errorf("%d documents, %v times: %s, want %s", c.documents, c.ours, page.String(), c.met)
		}
	}
}

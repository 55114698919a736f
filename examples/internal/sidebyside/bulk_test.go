package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
)

var (
	bulkEngines   = flag.String("engines", "duckdb", "what TestBulk runs the portable queries on: duckdb, spark")
	bulkDocuments = flag.Int("documents", 3000, "how many documents TestBulk has")
)

// TestBulk exports a table from PostgreSQL and has other engines answer what
// alike.pairs and alike.clusters answer there: the same rows, to the last one.
func TestBulk(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	root := checkout(module)
	url := pgtest.Database(t)
	c := pgtest.Connect(t, url)
	ctx := context.Background()
	exec := func(sql string) {
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec(`create table docs (id bigint primary key, body text)`)
	g := corpus.New(2000, 500, 0.3)
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"docs"}, []string{"id", "body"}, pgx.CopyFromSlice(*bulkDocuments, func(i int) ([]any, error) {
		return []any{int64(i), g.Next().Text}, nil
	})); err != nil {
		t.Fatal(err)
	}
	exec(`select alike.attach('docs', 'body', '{"profile": "` + shingling + ` bits=8"}')`)
	w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(ctx); err != nil {
		t.Fatal(err)
	}
	exec(`analyze docs_alike`)
	export := t.TempDir()
	command(t, root, "go", "run", "./pgworker", "export", "docs", "--parquet", export, "--database-url", url)

	// The same in PostgreSQL. At 0 every pair of a common feature is one, and every
	// chain of them a cluster, as in label propagation.
	ours := map[string]string{
		"pairs":     `select key, other, shared from alike.pairs('docs', 1e-9) where shared >= 2`,
		"clusters1": `select key, cluster from alike.clusters('docs', 1e-9)`,
		"estimate":  `select key, other, shared, resemblance from alike.pairs('docs', 0.75)`,
	}
	want := map[string][][]float64{}
	for name, sql := range ours {
		start := time.Now()
		want[name] = answers(t, c, sql)
		t.Logf("PostgreSQL: %s: %d rows, %.2f s", name, len(want[name]), time.Since(start).Seconds())
	}
	// Label propagation over the rows that share two features: the smallest label that arrives
	// is the cluster.
	want["clusters"] = answers(t, c, `with recursive pair as (
			select id, other from docs_alike_pair group by id, other having count(*) >= 2
		), label (id, cluster) as (
			select id, id from pair union select pair.other, label.cluster from label join pair on pair.id = label.id where pair.other > label.cluster
		)
		select id, min(cluster) from label group by id`)
	for engine := range strings.SplitSeq(*bulkEngines, ",") {
		t.Run(engine, func(t *testing.T) {
			out := t.TempDir()
			var o struct {
				Version string
				Seconds map[string]float64
			}
			folder := filepath.Join(module, "bulk")
			printed := command(t, root, python(), filepath.Join(folder, "bulk.py"), engine, export, filepath.Join(root, "queries", "portable"), out)
			if err := json.Unmarshal(printed, &o); err != nil {
				t.Fatalf("%q: %v", printed, err)
			}
			for _, name := range []string{"pairs", "clusters", "clusters1", "estimate"} {
				got := rowsOf(t, filepath.Join(out, name+".tsv"))
				t.Logf("%s: %s: %d rows, %.2f s", o.Version, name, len(got), o.Seconds[name])
				if len(got) < *bulkDocuments/10 {
					t.Errorf("%s: only %d rows", name, len(got))
				}
				compare(t, name, got, want[name])
			}
		})
	}
}

func command(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, failure.String())
	}
	return out
}

// answers reads rows of numbers, some of them keys as text.
func answers(t *testing.T, c *pgx.Conn, sql string) [][]float64 {
	t.Helper()
	rows, err := c.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all [][]float64
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		var row []float64
		for _, v := range values {
			x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, x)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func rowsOf(t *testing.T, path string) [][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]float64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row []float64
		for field := range strings.SplitSeq(lines.Text(), "\t") {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, x)
		}
		all = append(all, row)
	}
	return all
}

// compare wants the same rows in any order. Resemblances are sums in another
// order: they may differ in their last digits.
func compare(t *testing.T, name string, got, want [][]float64) {
	t.Helper()
	for _, rows := range [][][]float64{got, want} {
		slices.SortFunc(rows, func(a, b []float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !slices.EqualFunc(got[i], want[i], func(a, b float64) bool { return max(a-b, b-a) < 1e-12 }) {
			t.Errorf("%s: %d rows, want %d; row %d is %v, want %v", name, len(got), len(want), i, at(got, i), at(want, i))
			return
		}
	}
}

func at(rows [][]float64, i int) []float64 {
	if i >= len(rows) {
		return nil
	}
	return rows[i]
}

package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

func explain(t *testing.T, c *pgx.Conn, sql string) string {
	t.Helper()
	rows, err := c.Query(ctx, "explain "+sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// The planner answers from the indexes: the plain views, Roth's range, and what
// the functions run.
func TestPlans(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" || ' ' || g || ' ' || g * 7 || ' ' || g * 31 from generate_series(1, 6000) as g")
	exec(t, c, `select alike.attach('documents', 'body', '{"si": ["43b/40"], "layout": "columns"}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "vacuum analyze documents_alike")
	features := make([]string, 12)
	for i := range features {
		features[i] = fmt.Sprintf("documents_alike_f%d_idx", i+1)
	}
	for _, v := range []struct {
		sql  string
		want []string
	}{
		{"select other, count(*) from documents_alike_pair where id = 42 group by other having count(*) >= 2", append([]string{"documents_alike_pkey"}, features...)},
		{"select * from documents_alike_feature where feature = 7", features},
		{"select * from documents_alike_feature where slot = 3 and feature = 7", features[2:3]},
		{"select x.id from documents_alike i join documents_alike_feature x on x.feature = i.f1 where i.id = 42", append([]string{"documents_alike_pkey"}, features...)},
		{"select b.id, count(*) from documents_alike_feature a join documents_alike_feature b using (slot, feature) where a.id = 42 group by b.id", append([]string{"documents_alike_pkey"}, features...)},
		{"select * from documents_alike where si_43b_40 > 1000 and si_43b_40 < 1001", []string{"documents_alike_si_43b_40_idx"}},
		{"select * from documents_alike s where s.f1 = 1 or s.f2 = 2 or s.f12 = 3", []string{features[0], features[1], features[11]}},
		{"select f1 from documents_alike where f1 is not null group by f1 having count(*) > 1 order by 1 limit 1", []string{"Index Only Scan using documents_alike_f1_idx"}},
	} {
		plan := explain(t, c, v.sql)
		for _, want := range v.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s does not use %s:\n%s", v.sql, want, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s reads the whole table:\n%s", v.sql, plan)
		}
	}
	// Inside of a function the plan is not shown; the scans are counted.
	scans := func() (seq, index int) {
		exec(t, c, "select pg_stat_clear_snapshot()")
		seq = one[int](t, c, "select seq_scan from pg_stat_user_tables where relname = 'documents_alike'")
		return seq, one[int](t, c, "select sum(idx_scan) from pg_stat_user_indexes where relname = 'documents_alike'")
	}
	settle := func() { // statistics of this connection are sent when it is idle for a moment
		exec(t, c, "select pg_sleep(1.1)")
		exec(t, c, "select 1")
	}
	settle()
	seq, index := scans()
	for i := range 50 {
		exec(t, c, "select * from alike.rows('documents', $1)", fmt.Sprint(i+1))
	}
	settle()
	seqAfter, indexAfter := scans()
	if seqAfter != seq || indexAfter-index < 50*12 {
		t.Errorf("50 questions made %d sequential and %d index scans", seqAfter-seq, indexAfter-index)
	}
}

// A question whose arguments are constant is computed once for a statement, however often the
// plan reads its answer.
func TestComputedOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, $1 || ' word' || g from generate_series(1, 40) as g", story)
	exec(t, c, `select alike.attach('documents', 'body', '{"si": ["length", "forest/0"], "contains": true, "clusters": true}')`)
	once(t, newWorker(t, database, nil))
	for name, call := range map[string]string{
		"clusters": "alike.clusters('documents')", "keep": "alike.keep('documents')", "pairs": "alike.pairs('documents')", "containments": "alike.containments('documents')",
		"rows": "alike.rows('documents', '1')", "si_rows": "alike.si_rows('documents', 'length', '1')", "forest_rows": "alike.forest_rows('documents', '1')",
		"containers": "alike.containers('documents', '1')", "contained": "alike.contained('documents', '1')", "hot": "(select key, slot from alike.hot('documents'))", "errors": "alike.errors('documents')",
	} {
		names := []string{name, "_" + name}
		if strings.HasPrefix(name, "contain") && name != "containments" {
			names = []string{"_holding_row"}
		}
		tx, err := c.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		computed := func() (calls int) { // with what the session has not sent yet
			if err := tx.QueryRow(ctx, "select coalesce(max(calls), 0) from pg_stat_xact_user_functions where schemaname = 'alike' and funcname = any ($1)", names).Scan(&calls); err != nil {
				t.Error(err)
			}
			return calls
		}
		before, rows := computed(), 0
		if _, err := tx.Exec(ctx, "set local track_functions = 'all'; set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_material = off"); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(ctx, "select count(distinct d.id) from documents d left join "+call+" c on c.key = d.id::text").Scan(&rows); err != nil || rows != 40 {
			t.Errorf("%s: %d rows, %v", call, rows, err)
		}
		if calls := computed() - before; calls != 1 {
			t.Errorf("%s is computed %d times for %d rows", call, calls, rows)
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// PostgreSQL accepts every statement of the worker, with the parameters that its first lines name.
func TestStatements(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../queries/postgres.go")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`postgres/\w+\.sql`).FindAllString(string(source), -1)
	if len(files) < 15 {
		t.Fatalf("%d files, want at least 15", len(files))
	}
	parameter := regexp.MustCompile(`\$\d+`)
	for _, version := range pgtest.Extremes() {
		database := pgtest.Shared(t, version).Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, `create table pages (site int, "Path" text, body text, primary key (site, "Path"))`)
		exec(t, c, `select alike.attach('pages', 'body', '{"si": ["length"]}'), alike.write_clusters('pages')`)
		exec(t, c, `select alike.change('pages', '{"profile": "chars", "common": true}')`)
		w := newWorker(t, database, nil)
		attachments, err := w.catalog.get(ctx, w.pool)
		if err != nil {
			t.Fatal(err)
		}
		var a *attachment // of the two, the replacement
		for _, next := range attachments {
			if next.replaces != nil {
				a = next
			}
		}
		above, upto := `[1, "a"]`, `[2, "\\'b"]`
		more := a.ranges(&above, &upto)
		more["limit"] = "1000"
		for _, file := range files {
			text, err := os.ReadFile("../../queries/" + file)
			if err != nil {
				t.Fatal(err)
			}
			statement := string(text)
			if strings.Contains(statement, "{") {
				statement = a.sqlWith(statement, more)
			}
			if strings.HasSuffix(file, "copy_rows.sql") || strings.HasSuffix(file, "lock_side.sql") {
				continue // no statements that can be prepared
			}
			if _, err := c.Prepare(ctx, "", statement); err != nil {
				t.Errorf("PostgreSQL %d: %s: %v", version, file, err)
			}
			var comment strings.Builder
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "--") {
					comment.WriteString(line)
				}
			}
			for _, p := range parameter.FindAllString(string(text), -1) {
				if !strings.Contains(comment.String(), p) {
					t.Errorf("%s does not say what %s is", file, p)
				}
			}
		}
	}
}

// In a crowd, where there are millions of pairs, the query for some of them stops at the first.
func TestSomePairs(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" || ' ' || g from generate_series(1, 4000) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	once(t, newWorker(t, database, nil))
	exec(t, c, "vacuum analyze documents_alike")
	sql, err := os.ReadFile("../../queries/postgres/some_pairs.sql")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.Query(ctx, string(sql))
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		ID, Other   int64
		Resemblance float64
	}])
	if err != nil || len(found) != 10 {
		t.Fatalf("%d pairs, want 10: %v", len(found), err)
	}
	seen := map[[2]int64]bool{}
	for _, p := range found {
		if p.ID >= p.Other || p.Resemblance < 0.8 || seen[[2]int64{p.ID, p.Other}] {
			t.Errorf("%v: want each pair once, the lesser key first, at 0.8 or more", p)
		}
		seen[[2]int64{p.ID, p.Other}] = true
	}
	read := 0.0
	var visit func(n map[string]any)
	visit = func(n map[string]any) {
		read += n["Actual Rows"].(float64) * n["Actual Loops"].(float64)
		plans, _ := n["Plans"].([]any)
		for _, inner := range plans {
			visit(inner.(map[string]any))
		}
	}
	var plan []map[string]any
	if err := json.Unmarshal([]byte(one[string](t, c, "explain (analyze, format json) "+strings.TrimRight(strings.TrimSpace(string(sql)), ";"))), &plan); err != nil {
		t.Fatal(err)
	}
	if visit(plan[0]["Plan"].(map[string]any)); read > 50_000 {
		t.Errorf("%.0f rows were read for 10 of a crowd's pairs:\n%s", read, explain(t, c, string(sql)))
	} else {
		t.Logf("%.0f rows were read", read)
	}
}

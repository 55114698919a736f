package queries_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sqlext"
)

// more adds documents of different words to the sample, so that reading a table whole is
// not the quickest way to one of its rows. They are as long as those of the sample, so that
// attach chooses the same preset, whose features the queries name.
const more = `insert into documents
with recursive n (n) as (select 10 union all select n + 1 from n where n < 3000),
word (n, i) as (select n, 1 from n union all select n, i + 1 from word where i < 60)
select n, 'made', %s from word group by n`

// plans says for every question what its plan must have in PostgreSQL and in SQLite:
// the index that it is about, searched, not read through. The empty ones look at every row.
var plans = map[string]struct{ postgres, sqlite string }{
	"alike_to_row": {
		`Index Cond: \(id = 1\)(.|\n)*Index Scan using documents_alike_f12_idx on documents_alike b_\d+\n.*Index Cond: \(f12 = `,
		`SEARCH a USING INTEGER PRIMARY KEY(.|\n)*SEARCH b USING COVERING INDEX documents_alike_f12 \(f12=\?\)`,
	},
	"alike_to_text": {`Index Scan using documents_alike_f12_idx on documents_alike .*\n.*Index Cond: \(f12 = `, `SEARCH documents_alike USING COVERING INDEX documents_alike_f12 \(f12=\?\)`},
	"nearest": {
		`documents_alike_si_forest_0_idx(.|\n)*Index Cond: \(\(si_forest_0 >= (.|\n)*Index Cond: \(\(si_forest_1 >= `,
		`SEARCH d USING COVERING INDEX documents_alike_si_forest_0 \(si_forest_0>\? AND si_forest_0<\?\)(.|\n)*SEARCH d USING COVERING INDEX documents_alike_si_forest_1 \(`,
	},
	"si_range":   {`documents_alike_si_43b_4_idx(.|\n)*Index Cond: \(\(si_43b_4 > .*\) AND \(si_43b_4 < `, `SEARCH d USING COVERING INDEX documents_alike_si_43b_4 \(si_43b_4>\? AND si_43b_4<\?\)`},
	"disputed":   {`Seq Scan on documents_alike_mark(.|\n)*Index Scan using documents_alike_pkey on documents_alike b`, `SEARCH b USING INTEGER PRIMARY KEY`},
	"pairs":      {`(f12 = \w+.f12)`, `SEARCH b USING COVERING INDEX documents_alike_f12 \(f12=\? AND rowid>\?\)`},
	"clusters":   {`(f12 = \w+.f12)`, `SEARCH b USING COVERING INDEX documents_alike_f12 \(f12=\?`},
	"keep":       {`Function Scan on keep`, `SCAN k VIRTUAL TABLE`}, // the function finds the pairs
	"hot":        {``, `COVERING INDEX documents_alike_f12 `},
	"some_pairs": {`Limit(.|\n)*Limit`, ``},
	// These are about all rows, and read them once.
	"checkins": {`Seq Scan on documents_alike\n(.|\n)*Seq Scan on documents_alike_match\s*\z`, `SCAN documents_alike\n(.|\n)*SCAN documents_alike_match(.|\n)*SEARCH m USING AUTOMATIC`},
	"contained": {
		`Index Scan using samples_alike_pkey on samples_alike\n(.|\n)*Nested Loop\n.*\n *->  CTE Scan on a\n *->  Seq Scan on samples_alike b`,
		`SEARCH a USING INTEGER PRIMARY KEY \(rowid=\?\)\nSCAN b\n`,
	},
	"drift":            {`Seq Scan on documents_alike d\n`, `SCAN d\n(.|\n)*SEARCH alike_attachment USING INDEX (.|\n)*SEARCH s USING INTEGER PRIMARY KEY`},
	"exact_duplicates": {`WindowAgg(.|\n)*Sort Key: documents_alike.content_hash\n *->  Seq Scan on documents_alike\n.*Filter: \(sketch IS NOT NULL\)\s*\z`, `SCAN documents_alike\nUSE TEMP B-TREE FOR ORDER BY`},
}

// Every question about one row searches the index that it is about, and none reads
// the table whose row it has been given.
func TestPlans(t *testing.T) {
	ctx := context.Background()
	c, db := plannedDatabases(t)
	var features int
	if err := c.QueryRow(ctx, `select count(*) from pg_attribute where attrelid = 'documents_alike'::regclass and attname ~ '^f\d+$'`).Scan(&features); err != nil {
		t.Fatal(err)
	}
	check := func(file, plan string, wanted func(name string) (string, bool)) {
		t.Helper()
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		want, known := wanted(name)
		if !known {
			t.Errorf("%s: its plan is not described", file)
		} else if !regexp.MustCompile(want).MatchString(plan) {
			t.Errorf("%s: want %s in the plan\n%s", file, want, plan)
		}
		if strings.HasPrefix(name, "alike_to_") {
			searched := map[string]bool{}
			for _, f := range regexp.MustCompile(`\(f\d+ ?=`).FindAllString(plan, -1) {
				searched[strings.TrimRight(f, " =")] = true
			}
			if len(searched) != features {
				t.Errorf("%s: %d features are searched, want %d\n%s", file, len(searched), features, plan)
			}
		}
	}
	for _, file := range peoples(t) {
		rows, err := c.Query(ctx, "explain (costs off) "+read(t, file), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		check(file, strings.Join(lines, "\n"), func(name string) (string, bool) { p, ok := plans[name]; return p.postgres, ok })
	}
	for _, file := range files(t, "sqlite", "both") {
		if filepath.Base(file) == "attach.sql" {
			continue
		}
		rows, err := db.Query("explain query plan " + read(t, file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var plan strings.Builder
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(detail + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		check(file, plan.String(), func(name string) (string, bool) { p, ok := plans[name]; return p.sqlite, ok })
	}
}

// plannedDatabases are the sample and more rows in both engines, attached and analysed.
func plannedDatabases(t *testing.T) (c *pgx.Conn, db *sql.DB) {
	t.Helper()
	ctx := context.Background()
	url := pgtest.Database(t)
	c = pgtest.Connect(t, url)
	for _, text := range []string{read(t, "sample.sql"), strings.Replace(more, "%s", "string_agg('w' || ((n * 7919 + i * i * 104729) % 100003), ' ' order by i), null::date", 1), read(t, "postgres/attach.sql")} {
		if _, err := c.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%.100s: %v", text, err)
		}
	}
	w, err := worker.New(ctx, worker.Config{DatabaseURL: url, AllowSuperuser: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "analyze"); err != nil {
		t.Fatal(err)
	}
	if err := sqlext.Auto(); err != nil {
		t.Fatal(err)
	}
	db, err = sql.Open("sqlite3", filepath.Join(t.TempDir(), "alike.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, text := range []string{read(t, "sample.sql"), strings.Replace(more, "%s", "group_concat('w' || ((n * 7919 + i * i * 104729) % 100003), ' '), null", 1), read(t, "sqlite/attach.sql"), "analyze"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%.100s: %v", text, err)
		}
	}
	return c, db
}

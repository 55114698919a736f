package worker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch/cluster/clustertest"
)

// buffers counts the blocks that a statement looks at, when its plans are made and the blocks
// are in memory.
func buffers(t *testing.T, c *pgx.Conn, statement string) (n float64) {
	t.Helper()
	for range 2 {
		tx, err := c.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var plan string
		if err := tx.QueryRow(ctx, "explain (analyze, buffers, timing off, format json) "+statement).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Plan struct {
				Hit  float64 `json:"Shared Hit Blocks"`
				Read float64 `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal([]byte(plan), &list); err != nil {
			t.Fatal(err)
		}
		n = list[0].Plan.Hit + list[0].Plan.Read
		tx.Rollback(ctx)
	}
	return n
}

// checkCost fails where statements look at more blocks in a table with times the rows.
func checkCost(t *testing.T, times int, statements []string, fill func(c *pgx.Conn, w *Worker, times int)) {
	t.Helper()
	var cost [2][]float64
	for i, n := range []int{1, times} {
		database := pgtest.Shared(t, pgtest.Version()).Database(t)
		c := pgtest.Connect(t, database)
		fill(c, newWorker(t, database, nil), n)
		exec(t, c, "vacuum analyze")
		for _, statement := range statements {
			cost[i] = append(cost[i], buffers(t, c, statement))
		}
	}
	for i, statement := range statements {
		if cost[1][i] > 1.3*cost[0][i]+20 {
			t.Errorf("%s looks at %.0f blocks, and at %.0f in a table of %d times the rows", statement, cost[0][i], cost[1][i], times)
		}
	}
}

// A checkin under a policy by containment does not read all rows that share a passage with it,
// and the question what contains a row looks up what is rare.
func TestSharedPassagesCostNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 13))
	words := func(n int) string { return strings.Join(manyWords(r, n), " ") }
	notice, mine := words(60), words(400)
	texts := []string{mine + " " + notice, notice + " and " + mine + " " + notice, notice, strings.Join(strings.Fields(mine)[100:160], " "), words(20) + " " + notice}
	var statements []string
	for i := range texts {
		statements = append(statements, fmt.Sprintf("select count(*) from alike.attachment a, alike._held(a, array['%d'])", i))
	}
	statements = append(statements, "select count(*) from alike.containers('d', '0')", "select count(*) from alike.containers('d', '3')")
	checkCost(t, 8, statements, func(c *pgx.Conn, w *Worker, times int) {
		exec(t, c, "create table d (id int primary key, body text)")
		for i, text := range texts {
			exec(t, c, "insert into d values ($1, $2)", i, text)
		}
		exec(t, c, "insert into d select 10 + n, (select string_agg(md5(n::text || ' ' || k), ' ') from generate_series(1, 100) as k) || ' ' || $1 from generate_series(1, $2) as n", notice, 500*times)
		exec(t, c, `select alike.attach('d', 'body', '{"profile": "words", "policy": "link", "by": "containment", "contains": true}')`)
		once(t, w)
		if n := one[int](t, c, "select count(*) from alike.containers('d', '2', 1)"); n != 500*times+3 {
			t.Errorf("%d rows contain the notice", n)
		}
		if got := one[string](t, c, "select string_agg(key, ' ' order by key) from alike.containers('d', '3', 1)"); got != "0 1" {
			t.Errorf("the excerpt is in %s", got)
		}
		if got := one[string](t, c, "select string_agg(key, ' ' order by key) from alike.contained('d', '1', 1)"); got != "0 2 3" {
			t.Errorf("the second row contains %s", got)
		}
		exec(t, c, "truncate d_alike_match")
		exec(t, c, "insert into d select 9, body from d where id = 1")
		once(t, w)
		if got := one[string](t, c, "select string_agg(other || ' ' || relation, ', ' order by other) from d_alike_match where id = 9"); got != "0 contains, 1 contained, 2 contains, 3 contains" {
			t.Errorf("a checkin records %s", got)
		}
	})
}

// To follow a row that is written or goes costs as much in a large table as in a small one:
// whether the row is alone, in a cluster, or in a chain of more rows than a cluster may have.
func TestKeptClustersCostNothing(t *testing.T) {
	t.Parallel()
	var statements []string
	for _, id := range []int{10, 20, 100, 100001, 100100} { // a cluster, the chain twice, alone, called a duplicate
		for _, call := range []string{"_leave_clusters(a, array['%d'])", "_join_clusters(a, array['%d'], '{}')", "_join_clusters(a, array['%[1]d'], alike._leave_clusters(a, array['%[1]d']))"} {
			statements = append(statements, "select alike."+fmt.Sprintf(call, id)+" from alike.attachment a")
		}
	}
	checkCost(t, 8, statements, func(c *pgx.Conn, w *Worker, times int) {
		exec(t, c, "create table d (id int primary key, body text)")
		for n := range 12 {
			exec(t, c, "insert into d values ($1, $2)", n+1, clustertest.Chained(n+1))
		}
		for n := 20; n < 20+100*times; n++ {
			exec(t, c, "insert into d values ($1, $2)", n, clustertest.Chained(n))
		}
		// Fewer rows are read in parts as they are, which costs less than the indexes.
		exec(t, c, "insert into d select 100000 + n, (select string_agg(md5(n::text || ' ' || k), ' ') from generate_series(1, 20) as k) from generate_series(1, $1) as n", 1500*times)
		exec(t, c, `select alike.attach('d', 'body', '{"profile": "words", "at_least": 0.4, "clusters": 40}')`)
		once(t, w)
		for n := range 20 * times {
			exec(t, c, "select alike.mark('d', $1, $2, 'duplicate')", fmt.Sprint(100100+2*n), fmt.Sprint(100101+2*n))
		}
		once(t, w)
		if got := one[int](t, c, "select count(*) from d_alike_cluster where component = -1"); got != 100*times {
			t.Errorf("%d rows are in the chain, want %d", got, 100*times)
		}
	})
}

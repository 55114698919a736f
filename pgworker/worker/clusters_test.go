package worker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch/cluster/clustertest"
)

// checkKept compares the clusters that are kept with clusters computed afresh, and with what
// their events tell.
func checkKept(t testing.TB, c *pgx.Conn, maxRows int) {
	t.Helper()
	rows, err := c.Query(ctx, "select key::bigint, other::bigint from alike.pairs('documents')")
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (pair [2]int64, err error) { return pair, r.Scan(&pair[0], &pair[1]) })
	if err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, c, `
		with c as (select key::bigint as id, cluster, size from alike.clusters('documents', linkage => 'single') where key::bigint <> all ($1)),
		     k as (select id, cluster, count(*) over (partition by cluster) as size from documents_alike_cluster where cluster is not null)
		select count(*) from c full join k using (id) where c.size is distinct from k.size
		  or exists (select from c c2 join k k2 using (id) where (c2.cluster = c.cluster) <> (k2.cluster = k.cluster))`, clustertest.Crowded(pairs, maxRows)); n > 0 {
		t.Errorf("%d rows of the clusters that are kept are not as clusters computes them", n)
	}
	if rows, err = c.Query(ctx, "select event, cluster, coalesce(other, 0), coalesce(id, 0) from documents_alike_event order by event_id"); err != nil {
		t.Fatal(err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[clustertest.Event])
	if err != nil {
		t.Fatal(err)
	}
	of, err := clustertest.Replay(events)
	if err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, c, "select count(*) from documents_alike_cluster where cluster is not null"); n != len(of) {
		t.Errorf("%d rows are in clusters, their events tell of %d", n, len(of))
	}
	for id, cluster := range of {
		if n := one[int](t, c, "select count(*) from documents_alike_cluster where (id, cluster) = ($1, $2)", id, cluster); n != 1 {
			t.Errorf("by its events row %d is in cluster %d, and it is not", id, cluster)
		}
	}
}

func TestClustersFollow(t *testing.T) {
	for _, maxRows := range []int{1000, 5} {
		t.Run(fmt.Sprint(maxRows), func(t *testing.T) {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create table documents (id bigint primary key, body text)")
			exec(t, c, "insert into documents select g, $1 from generate_series(1, 3) as g", clustertest.Chained(0))
			exec(t, c, fmt.Sprintf(`select alike.attach('documents', 'body', '{"profile": "words", "at_least": 0.4, "clusters": %d}')`, maxRows))
			w := newWorker(t, database, nil)
			once(t, w)
			checkKept(t, c, maxRows)
			if n := one[int](t, c, "select count(*) from documents_alike_cluster where cluster is not null"); n != 3 {
				t.Errorf("%d rows are in clusters when the table is full, want 3", n)
			}
			r := rand.New(rand.NewPCG(1, uint64(maxRows)))
			for step := range 40 {
				var did []string
				for range 1 + r.IntN(3) {
					x, y := 1+r.IntN(30), 1+r.IntN(30)
					var statement string
					switch r.IntN(8) {
					case 0, 1:
						statement = fmt.Sprintf("delete from documents where id = %d", x)
					case 2:
						statement = fmt.Sprintf("update documents set id = id + 30 where id = %d and not exists (select from documents where id = %[1]d + 30)", x)
					case 3:
						verdict := []string{"duplicate", "distinct", "none"}[r.IntN(3)]
						if one[int](t, c, "select count(*) from documents_alike where id in ($1, $2)", x, y) < 2 || x == y {
							continue
						}
						statement = fmt.Sprintf("select alike.mark('documents', '%d', '%d', '%s')", x, y, verdict)
					default:
						statement = fmt.Sprintf("insert into documents values (%d, '%s') on conflict (id) do update set body = excluded.body", x, clustertest.Chained(r.IntN(16)))
					}
					did = append(did, statement)
					exec(t, c, statement)
				}
				once(t, w)
				if checkKept(t, c, maxRows); t.Failed() {
					t.Fatalf("after step %d: %s", step, strings.Join(did, "; "))
				}
			}
			if n := one[int](t, c, "select count(distinct event) from documents_alike_event"); n != 4 {
				t.Errorf("%d kinds of events, want 4", n)
			}
			exec(t, c, `select alike.write_clusters('documents')`)
			checkKept(t, c, maxRows)
			exec(t, c, `select alike.change('documents', '{"clusters": false}')`)
			if one[bool](t, c, "select to_regclass('documents_alike_cluster') is not null or to_regclass('documents_alike_event') is not null") {
				t.Error("the clusters are still there after clusters was set to false")
			}
		})
	}
}

// When a person calls the ends of a chain distinct, the end that resembles the middle less
// leaves the cluster.
func TestAVerdictDividesAChain(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	for i := range 3 {
		exec(t, c, "insert into documents values ($1, $2)", i+1, clustertest.Chained(i))
	}
	exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words", "at_least": 0.4, "clusters": true}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	for _, step := range []struct{ verdict, want string }{{"distinct", "1 2"}, {"none", "1 2 3"}} {
		exec(t, c, "select alike.mark('documents', 1, 3, $1)", step.verdict)
		once(t, w)
		checkKept(t, c, 1000)
		if got := list(t, c, "select id::text from documents_alike_cluster where cluster is not null order by id"); got != step.want {
			t.Errorf("after the verdict %s the cluster has %q, want %q", step.verdict, got, step.want)
		}
	}
}

// Of the parts that a cluster falls into the largest keeps its number, and of clusters that
// become one the largest.
func TestLargestPartKeepsTheNumber(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	for i := range 6 {
		exec(t, c, "insert into documents values ($1, $2)", i+1, clustertest.Chained(3*(i+1)))
	}
	exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words", "at_least": 0.35, "clusters": true}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	number := one[int64](t, c, "select distinct cluster from documents_alike_cluster")
	of := func() string {
		return list(t, c, fmt.Sprintf("select id::text from documents_alike_cluster where cluster = %d order by id", number))
	}
	for _, step := range []struct {
		gone int
		want string
	}{{3, "4 5 6"}, {4, "1 2 3"}} {
		if got := of(); got != "1 2 3 4 5 6" {
			t.Errorf("the cluster has %s", got)
		}
		exec(t, c, "delete from documents where id = $1", step.gone)
		once(t, w)
		checkKept(t, c, 1000)
		if got := of(); got != step.want {
			t.Errorf("without %d the number is that of %s, want %s", step.gone, got, step.want)
		}
		exec(t, c, "insert into documents values ($1, $2)", step.gone, clustertest.Chained(3*step.gone))
		once(t, w)
		checkKept(t, c, 1000)
	}
}

// A chain of too many rows that falls into parts with as many rows as a cluster may have is two
// clusters.
func TestACrowdFallsApart(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	for i := range 7 {
		exec(t, c, "insert into documents values ($1, $2)", i+1, clustertest.Chained(3*(i+1)))
	}
	exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words", "at_least": 0.35, "clusters": 3}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	clustered := func() string {
		return list(t, c, "select string_agg(id::text, ' ' order by id) from documents_alike_cluster where cluster is not null group by cluster order by 1")
	}
	if got := clustered(); got != "" {
		t.Errorf("a chain of seven rows has the clusters %q, want none", got)
	}
	for _, step := range []struct{ statement, want string }{
		{"delete from documents where id = 4", "1 2 3 5 6 7"}, {"delete from documents where id = 7", "1 2 3 5 6"},
		{"insert into documents values (7, '" + clustertest.Chained(3*7) + "')", "1 2 3 5 6 7"}, // as many rows as it may have
	} {
		exec(t, c, step.statement)
		once(t, w)
		checkKept(t, c, 3)
		if got := clustered(); got != step.want {
			t.Errorf("after %.40s the clusters are %q, want %q", step.statement, got, step.want)
		}
	}
}

// Workers, people and write_clusters at once: each of them ends, and the clusters are those
// of the rows.
func TestClustersFollowManyWorkers(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words", "at_least": 0.4, "clusters": true}')`)
	once(t, newWorker(t, database, nil))
	exec(t, c, "insert into documents values (1, $1), (2, $1)", clustertest.Chained(0))
	var doing sync.WaitGroup
	for n := range 3 {
		w := newWorker(t, database, func(config *Config) { config.BatchSize = 5 })
		doing.Go(func() {
			for range 12 {
				if err := w.Once(ctx); err != nil {
					t.Errorf("worker %d: %v", n, err)
				}
			}
		})
	}
	for n := range 2 {
		d := pgtest.Connect(t, database)
		doing.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for step := range 60 {
				statement := "insert into documents values ($1, $2) on conflict (id) do update set body = excluded.body"
				args := []any{1 + r.IntN(20) + n*20, clustertest.Chained(r.IntN(12))}
				switch {
				case step%20 == 19:
					statement, args = "select alike.write_clusters('documents')", nil
				case step%4 == 0:
					statement, args = "delete from documents where id = $1", args[:1]
				}
				if _, err := d.Exec(ctx, statement, args...); err != nil {
					t.Errorf("%s: %v", statement, err)
				}
			}
		})
	}
	doing.Wait()
	once(t, newWorker(t, database, nil))
	checkKept(t, c, 1000)
	if n := one[int](t, c, "select deadlocks from pg_stat_database where datname = current_database()"); n > 0 {
		t.Errorf("%d deadlocks, want none", n)
	}
}

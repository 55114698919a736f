//go:build citus

package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
)

// These tests compare Citus with one PostgreSQL. ALIKE_CITUS is the folder of
// the programs of a PostgreSQL that has Citus; "make citus" runs them.

// A citusCluster is a coordinator and two nodes.
type citusCluster struct {
	coordinator *pgtest.Server
	nodes       []*pgtest.Server
}

func citusPrograms(t testing.TB) string {
	t.Helper()
	bin := os.Getenv("ALIKE_CITUS")
	if bin == "" {
		t.Fatal("ALIKE_CITUS is empty, want the folder of the programs of a PostgreSQL with Citus")
	}
	return bin
}

// startCluster starts a cluster. Its servers talk over unix sockets, which
// Citus takes for names of hosts.
func startCluster(t testing.TB) *citusCluster {
	t.Helper()
	start := func() *pgtest.Server {
		return pgtest.From(t, citusPrograms(t), "shared_preload_libraries=citus", "max_connections=300", "citus.node_conninfo=sslmode=disable",
			"citus.enable_statistics_collection=off", "citus.recover_2pc_interval=1s", "max_wal_size=4GB", "max_prepared_transactions=600")
	}
	return &citusCluster{start(), []*pgtest.Server{start(), start()}}
}

// database makes a database on every server, joined, with the schema of Alike.
func (k *citusCluster) database(t testing.TB, name string) string {
	t.Helper()
	url := k.empty(t, name)
	k.join(t, name)
	migrate(t, url)
	return url
}

// empty makes a database on every server.
func (k *citusCluster) empty(t testing.TB, name string) string {
	t.Helper()
	for _, s := range append([]*pgtest.Server{k.coordinator}, k.nodes...) {
		exec(t, pgtest.Connect(t, s.URL("postgres", "postgres")), "create database "+name)
	}
	return k.coordinator.URL("postgres", name)
}

// join makes one cluster of the databases.
func (k *citusCluster) join(t testing.TB, name string) {
	t.Helper()
	for _, s := range append([]*pgtest.Server{k.coordinator}, k.nodes...) {
		exec(t, pgtest.Connect(t, s.URL("postgres", name)), "create extension citus")
	}
	c := pgtest.Connect(t, k.coordinator.URL("postgres", name))
	exec(t, c, "select citus_set_coordinator_host($1, 5432)", k.coordinator.Dir)
	for _, node := range k.nodes {
		exec(t, c, "select citus_add_node($1, 5432)", node.Dir)
	}
}

func migrate(t testing.TB, url string) {
	t.Helper()
	if err := migrations.Up(ctx, url); err != nil {
		t.Fatal(err)
	}
}

// A pair of databases that are to answer the same.
type both struct {
	t            testing.TB
	plain, citus *pgx.Conn
	workers      []*Worker
}

func newBoth(t testing.TB, plain, citus string) *both {
	change := func(c *Config) { c.MaxAttempts = 1 }
	return &both{t, pgtest.Connect(t, plain), pgtest.Connect(t, citus), []*Worker{newWorker(t, plain, change), newWorker(t, citus, change)}}
}

// lines are the rows of a query as text, or its error.
func lines(c *pgx.Conn, sql string) []string {
	rows, err := c.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return []string{err.Error()}
	}
	result, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		fields := make([]string, 0, 16)
		for _, value := range row.RawValues() {
			if value == nil {
				fields = append(fields, "NULL")
			} else {
				fields = append(fields, string(value))
			}
		}
		return strings.Join(fields, " | "), nil
	})
	if err != nil {
		return []string{err.Error()}
	}
	return result
}

// ask runs a statement on both and fails when the answers differ. It returns the
// answer with how long each took.
func (b *both) ask(sql string) (answer []string, plain, citus time.Duration) {
	b.t.Helper()
	start := time.Now()
	want := lines(b.plain, sql)
	plain = time.Since(start)
	start = time.Now()
	got := lines(b.citus, sql)
	citus = time.Since(start)
	if !slices.Equal(got, want) {
		b.t.Errorf("%s\nPostgreSQL: %d rows\n%s\nCitus: %d rows\n%s", sql, len(want), first(want), len(got), first(got))
	}
	return want, plain, citus
}

// works is ask for what must not be an error.
func (b *both) works(sql string) []string {
	b.t.Helper()
	answer, _, _ := b.ask(sql)
	if len(answer) == 1 && strings.HasPrefix(answer[0], "ERROR") {
		b.t.Errorf("%s: %s", sql, answer[0])
	}
	return answer
}

func first(lines []string) string { return strings.Join(lines[:min(5, len(lines))], "\n") }

func (b *both) once() {
	b.t.Helper()
	for _, w := range b.workers {
		once(b.t, w)
	}
}

// attach attaches a table on both, distributed on Citus.
func (b *both) attach(table, column, options string) {
	b.t.Helper()
	exec(b.t, b.plain, "select alike.attach($1, $2, $3::text::jsonb)", table, column, options)
	exec(b.t, b.citus, `select alike.attach($1, $2, $3::text::jsonb || '{"distributed": true}')`, table, column, options)
}

// Everything that is done with an attached table has the same results.
func TestCitusAnswers(t *testing.T) {
	plain := pgtest.From(t, citusPrograms(t))
	b := newBoth(t, plain.Database(t), startCluster(t).database(t, "answers"))
	for _, table := range []struct{ name, create, distribute, number, key, keys, pair string }{
		{"documents", "create table documents (id bigint primary key, body text)", "id", "id", "id", "$$%d$$", "id, other"},
		{`"Odd ""names"""`, `create table "Odd ""names""" ("the Key" text, body bytea, "the Tenant" int, primary key ("the Tenant", "the Key"))`, "the Tenant", `"the Key"`,
			`"the Tenant", "the Key"`, `json_build_array(%[1]d %% 7, 'row ' || %[1]d)::jsonb::text`, `"the Tenant", "the Key", "other_the Tenant", "other_the Key"`},
	} {
		t.Run(table.name, func(t *testing.T) {
			b.t = t
			quoted := "'" + table.name + "'"
			side := strings.TrimSuffix(table.name, `"`) + "_alike"
			suffix := ""
			if side != table.name+"_alike" {
				suffix = `"`
			}
			relation := func(part string) string { return side + part + suffix }
			insert := func(from, to int) string {
				body := "(select string_agg('w' || (g % 20 * 31 + i * i * 7 + case when i = g / 20 then g else 0 end) % 997, ' ') from generate_series(1, 80) as i)"
				if table.key == "id" {
					return fmt.Sprintf("insert into %s select g, %s from generate_series(%d, %d) g", table.name, body, from, to)
				}
				return fmt.Sprintf("insert into %s select 'row ' || g, %s::bytea, g %% 7 from generate_series(%d, %d) g", table.name, body, from, to)
			}
			key := func(n int) string { return fmt.Sprintf(table.keys, n) }
			questions := func() {
				t.Helper()
				b.works("select " + table.key + ", profile, content_hash, shingles, sketch, f1, f12, si_length, si_43b_4 from " + relation("") + " order by " + table.key)
				for _, n := range []int{1, 2, 33, 60} {
					b.works("select * from alike.rows(" + quoted + ", " + key(n) + ")")
					b.works("select * from alike.rows(" + quoted + ", " + key(n) + ", 0.9) limit 2")
					b.works("select * from alike.si_rows(" + quoted + ", '43B/4', " + key(n) + ")")
				}
				if pairs := b.works("select * from alike.pairs(" + quoted + ")"); len(pairs) < 50 {
					t.Errorf("%d pairs, want at least 50", len(pairs))
				}
				b.works("select * from alike.pairs(" + quoted + ", 0.9)")
				b.works("select * from alike.clusters(" + quoted + ") order by 2, 1")
				b.works("select slot, feature, rows from alike.hot(" + quoted + ") order by 3 desc, 1, 2")
				b.works("select key, message, attempts from alike.errors(" + quoted + ") order by 1")
				b.works("select " + table.pair + ", slot from " + relation("_pair") + " order by " + table.pair + ", slot")
				b.works("select " + table.key + ", slot, feature from " + relation("_feature") + " order by " + table.key + ", slot")
				b.works("select " + table.pair + ", shared, resemblance, low, high, policy from " + relation("_match") + " order by " + table.pair)
				b.works(`select name, "table", "column", profile, policy, at_least, short, rows, sketched, pending, failed from alike.status()`)
			}
			b.works(table.create)
			exec(t, b.citus, "select create_distributed_table($1, $2)", table.name, table.distribute)
			b.works(insert(1, 100))
			b.attach(table.name, "body", `{"policy": "link", "si": ["length", "43B/4"]}`)
			b.once()
			questions()

			b.works(insert(101, 130))
			b.works("update " + table.name + " set body = body || ' and more' where " + table.number + "::text ~ '3$'")
			b.once()
			questions()

			b.works("select alike.mark(" + quoted + ", " + key(1) + ", " + key(21) + ", 'distinct', 'seen')")
			b.works("select alike.mark(" + quoted + ", " + key(42) + ", " + key(1) + ", 'duplicate')")
			b.works("select alike.mark(" + quoted + ", " + key(1) + ", " + key(42) + ", 'duplicate', 'again')")
			b.works("select alike.mark(" + quoted + ", " + key(7) + ", " + key(5) + ", 'distinct', 'goes with row 7')")
			b.works("select alike.write_clusters(" + quoted + ")")
			b.works("delete from " + table.name + " where " + table.number + "::text ~ '7$'")
			b.works(insert(131, 150))
			b.once()
			questions()
			b.works("select count(distinct cluster), count(*), sum(judged) from " + relation("_cluster"))
			b.works("select " + table.pair + ", verdict, note from " + relation("_mark") + " order by " + table.pair)

			b.works("select alike.attach(" + quoted + `, 'body', '{"profile": "words w=3", "policy": "warn"}')`)
			b.once()
			questions()
			all := len(b.works("select key, other from alike.pairs(" + quoted + ")"))
			b.works("select alike.attach(" + quoted + `, 'body', '{"policy": "link", "short": {"below": 79, "at_least": 0.9}}')`) // 78 without "and more"
			b.works(insert(151, 170))
			b.once()
			questions()
			if n := len(b.works("select key, other from alike.pairs(" + quoted + ")")); n < 10 || n >= all {
				t.Errorf("%d pairs when short texts need more, %d before", n, all)
			}
			b.works("select alike.refresh(" + quoted + ")")
			b.works("truncate " + table.name)
			b.once()
			b.works("select count(*) from " + relation(""))
			b.works("select count(*) from " + relation("_match"))
			b.works("select count(*) from " + relation("_mark"))
			b.works("select alike.detach(" + quoted + `, '{"drop": true}')`)
			b.works("select relname from pg_class where relnamespace = 'public'::regnamespace and relname ~ 'alike' union all select proname from pg_proc where proname ~ '^alike_'")
			b.works("drop table " + table.name)
		})
	}
}

// What people ask in plain SQL has the same results; label propagation is
// recursive, which Citus takes no distributed table in. The schema was there
// before Citus.
func TestCitusQueries(t *testing.T) {
	plain := pgtest.From(t, citusPrograms(t))
	k := startCluster(t)
	database := k.empty(t, "queries")
	migrate(t, database)
	k.join(t, "queries")
	b := newBoth(t, plain.Database(t), database)
	file := func(name string) string {
		text, err := os.ReadFile("../../queries/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	b.works(file("sample.sql"))
	exec(t, b.citus, "select create_distributed_table('documents', 'id')")
	b.attach("documents", "body", `{"profile": "prose", "policy": "link", "si": ["43B/4", "length", "forest/0", "forest/1"]}`)
	b.attach("documents", "body", `{"name": "samples", "profile": "words mod=1"}`)
	b.once()
	b.works("select alike.mark('documents', '1', '2', 'distinct')")
	for _, name := range []string{"postgres/alike_to_row", "postgres/alike_to_text", "postgres/checkins", "postgres/contained", "postgres/disputed", "postgres/drift",
		"both/exact_duplicates", "both/hot", "postgres/pairs", "postgres/si_range"} {
		if answer := b.works(file(name + ".sql")); len(answer) == 0 && name != "postgres/drift" {
			t.Errorf("%s: no rows", name)
		}
	}
	// Citus refuses the join of nearest by a range; the function asks about one row.
	if answer := b.works("select * from alike.forest_rows('documents', '1')"); len(answer) == 0 {
		t.Error("alike.forest_rows finds nothing")
	}
}

// What cannot be attached is said, and leaves nothing.
func TestCitusErrors(t *testing.T) {
	database := startCluster(t).database(t, "errors")
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text); create table kinds (id bigint primary key, body text); create table here (id bigint primary key, body text); create table nokey (id bigint, body text)")
	exec(t, c, "select create_distributed_table('documents', 'id'), create_reference_table('kinds'), create_distributed_table('nokey', 'id')")
	for _, bad := range []struct{ want, sql string }{
		{"Citus distributes public.documents", "select alike.attach('documents', 'body')"},
		{"Citus distributes public.documents", `select alike.attach('documents', 'body', '{"mode": "scan"}')`},
		{"public.kinds is not distributed by a column", `select alike.attach('kinds', 'body', '{"distributed": true}')`},
		{"public.here is not distributed by a column", `select alike.attach('here', 'body', '{"distributed": true}')`},
		{"public.nokey has no primary key", `select alike.attach('nokey', 'body', '{"distributed": true}')`},
		{"mode queue needs triggers", `select alike.attach('documents', 'body', '{"distributed": true, "mode": "queue"}')`},
		{"ask needs triggers", `select alike.attach('documents', 'body', '{"distributed": true, "policy": "reject", "ask": {"connection": "x"}}')`},
	} {
		if _, err := c.Exec(ctx, bad.sql); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %q", bad.sql, err, bad.want)
		}
	}
	if n := one[int](t, c, "select (select count(*) from pg_class where relname ~ '_alike') + (select count(*) from alike.attachment)"); n != 0 {
		t.Errorf("%d leftovers, want 0", n)
	}
	// A gate needs no trigger.
	exec(t, c, "insert into documents values (1, 'the words of a document that is there already, and which nobody wants to see again')")
	exec(t, c, `select alike.attach('documents', 'body', '{"distributed": true, "policy": "reject"}')`)
	once(t, newWorker(t, database, nil))
	q, err := Ask(ctx, c, "documents", []byte("The words of a document that is there already and which nobody wants to see again."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "select alike.gate('documents', $1)", q.Sketch); err == nil || !strings.Contains(err.Error(), "resembles row 1 of documents (resemblance 1.000") {
		t.Errorf("gate: %v", err)
	}
	// The migrations go and come back.
	if err := migrations.Down(ctx, database); err != nil {
		t.Fatal(err)
	}
	migrate(t, database)
}

// Roles that own nothing of Alike do their part, the worker with SELECT alone.
func TestCitusRoles(t *testing.T) {
	k := startCluster(t)
	database := k.database(t, "roles")
	exec(t, pgtest.Connect(t, database), `create role a login in role alike_admin; create role w login in role alike_worker; create role r login in role alike_reader;
		create schema mine authorization a; grant usage on schema mine to alike_reader; grant a to w`)
	admin := pgtest.Connect(t, k.coordinator.URL("a", "roles"))
	reader := pgtest.Connect(t, k.coordinator.URL("r", "roles"))
	worker := newWorker(t, k.coordinator.URL("w", "roles"), nil)
	exec(t, admin, "create table mine.documents (id bigint primary key, body text)")
	exec(t, admin, "select create_distributed_table('mine.documents', 'id')")
	exec(t, admin, "insert into mine.documents select g, (select string_agg('w' || (g % 20 * 31 + i * i * 7) % 997, ' ') from generate_series(1, 80) as i) from generate_series(1, 60) g")
	exec(t, admin, `select alike.attach('mine.documents', 'body', '{"distributed": true, "policy": "link"}')`)
	exec(t, admin, "grant select on mine.documents to alike_reader")
	once(t, worker)
	exec(t, admin, "update mine.documents set body = body || ' more' where id < 10; delete from mine.documents where id = 30")
	exec(t, admin, "select alike.write_clusters('mine.documents')")
	once(t, worker)
	for sql, want := range map[string]string{
		"select count(*)::text from alike.rows('mine.documents', '15')":                                           "2",
		"select count(*)::text from alike.pairs('mine.documents')":                                                "58",
		"select count(*)::text || ' ' || max(size) from alike.clusters('mine.documents')":                         "59 3",
		"select count(*)::text from mine.documents_alike_match":                                                   "18",
		"select sketched || ' ' || pending || ' ' || failed || ' ' || coalesce(note, 'fine') from alike.status()": "59 0 0 fine",
	} {
		if got := one[string](t, reader, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	exec(t, admin, `select alike.attach('mine.documents', 'body', '{"profile": "web"}')`)
	once(t, worker)
	exec(t, admin, "select alike.mark('mine.documents', '5', '6', 'distinct')")
	exec(t, admin, "delete from mine.documents where id = 6")
	once(t, worker)
	if n := one[int](t, admin, "select count(*) from mine.documents_alike_mark"); n != 0 {
		t.Errorf("%d verdicts on a row that is gone, want 0", n)
	}
	exec(t, admin, `select alike.detach('mine.documents', '{"drop": true}')`)
}

// The generated collection on one PostgreSQL and on Citus: the same answers,
// also when nodes were killed while the table was filled and documents were
// checked in. ALIKE_DOCUMENTS is its size.
func TestCitusCollection(t *testing.T) {
	n := 2000
	fmt.Sscan(os.Getenv("ALIKE_DOCUMENTS"), &n)
	k := startCluster(t)
	plain := pgtest.From(t, citusPrograms(t), "max_wal_size=4GB")
	citus := k.database(t, "collection")
	b := newBoth(t, plain.Database(t), citus)
	line := func(what, format string, args ...any) { fmt.Printf("%-62s %s\n", what, fmt.Sprintf(format, args...)) }
	compare := func(what, sql string) {
		answer, one, many := b.ask(sql)
		line(what, "%d rows, PostgreSQL %s, Citus %s", len(answer), one.Round(time.Millisecond), many.Round(time.Millisecond))
	}
	ask := func() {
		compare("side table", "select * from (select id, profile, content_hash, shingles, sketch, f1, f2, f12 from documents_alike) s order by id")
		compare("pairs", "select * from alike.pairs('documents')")
		compare("clusters", "select * from alike.clusters('documents') order by key::bigint")
		sample := one[string](t, b.plain, "select array_agg(id order by id)::text from (select id, row_number() over (order by id) as n from documents) d where n % (select count(*) / 300 + 1 from documents) = 0")
		compare("rows of 300 documents", "select k, r.* from unnest('"+sample+"'::text[]) k cross join lateral alike.rows('documents', k) r")
		compare("hot", "select * from alike.hot('documents')")
	}
	fmt.Printf("\nPostgreSQL %s, Citus %s, a coordinator and two nodes, %d documents of 500 bytes, two workers\n",
		one[string](t, b.plain, "show server_version"), one[string](t, b.citus, "select extversion from pg_extension where extname = 'citus'"), n)
	for _, c := range []*pgx.Conn{b.plain, b.citus} {
		exec(t, c, "create table documents (id bigint primary key, body text)")
		if c == b.citus {
			exec(t, c, "select create_distributed_table('documents', 'id')")
		}
		if _, err := c.CopyFrom(ctx, pgx.Identifier{"documents"}, []string{"id", "body"}, &generatedCollection{g: newProse(1), n: n}); err != nil {
			t.Fatal(err)
		}
		exec(t, c, "analyze documents")
	}
	options := `{"si": ["length"]}`
	b.attach("documents", "body", options)
	second := []*Worker{newWorker(t, b.plain.Config().ConnString(), nil), newWorker(t, citus, nil)}
	for i, name := range []string{"PostgreSQL", "Citus"} {
		start := time.Now()
		var wait sync.WaitGroup
		for _, w := range []*Worker{b.workers[i], second[i]} {
			wait.Go(func() { once(t, w) })
		}
		wait.Wait()
		once(t, b.workers[i])
		line("filled, "+name, "%.0f rows/s", float64(n)/time.Since(start).Seconds())
	}
	ask()
	// What Citus takes by itself for the parts of an answer.
	start := time.Now()
	for range 300 {
		exec(t, b.citus, "select id from documents_alike where f1 = 0")
	}
	line("of it, Citus alone: one feature looked up on every shard", "%s", (time.Since(start) / 300).Round(10*time.Microsecond))
	arms := make([]string, one[int](t, b.citus, "select features from alike.attachment where name = 'documents'"))
	for i := range arms {
		arms[i] = fmt.Sprintf("(%[1]d::smallint, s.f%[1]d)", i+1)
	}
	exec(t, b.citus, "truncate documents_alike_probe")
	start = time.Now()
	exec(t, b.citus, "insert into documents_alike_probe (feature, slot, id) select v.feature, v.slot, s.id from documents_alike s cross join lateral (values "+strings.Join(arms, ", ")+") as v(slot, feature)")
	line("of it, Citus alone: the features moved to the nodes that join them", "%s", time.Since(start).Round(time.Millisecond))
	exec(t, b.citus, "truncate documents_alike_probe")
	start = time.Now()
	once(t, b.workers[1])
	line("a scan that finds nothing", "%s", time.Since(start).Round(time.Millisecond))
	exec(t, b.citus, "update documents set body = body || ' changed' where id % 10 = 0")
	start = time.Now()
	once(t, b.workers[1])
	line("a scan that finds a tenth changed, and sketching it", "%s", time.Since(start).Round(time.Millisecond))

	// Again from the start, with checkins, and nodes that are killed.
	exec(t, b.citus, `select alike.detach('documents', '{"drop": true}')`)
	exec(t, b.citus, `select alike.attach('documents', 'body', $1::text::jsonb || '{"distributed": true}')`, options)
	kills, during, checkins := checkinsWhileNodesDie(t, k, b.citus, n)
	line("killed nodes, of them while the table was filled", "%d, %d", kills, during)
	line("checkins meanwhile", "%d", checkins)
	once(t, b.workers[1])
	checkSide(t, b.citus, "documents", "documents", "body", "id::text", "true")

	// One PostgreSQL with what is in Citus now.
	exec(t, b.plain, `select alike.detach('documents', '{"drop": true}'); truncate documents`)
	rows, err := b.citus.Query(ctx, "select id, body from documents")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.plain.CopyFrom(ctx, pgx.Identifier{"documents"}, []string{"id", "body"}, &copied{rows}); err != nil {
		t.Fatal(err)
	}
	exec(t, b.plain, "select alike.attach('documents', 'body', $1::text::jsonb)", options)
	once(t, b.workers[0])
	ask()
}

// checkinsWhileNodesDie has two workers fill and two writers change the table of n documents
// while six nodes are killed, one after the other, and returns when the workers are done.
func checkinsWhileNodesDie(t *testing.T, k *citusCluster, c *pgx.Conn, n int) (kills, during, checkins int) {
	t.Helper()
	running, stop := context.WithCancel(ctx)
	defer stop()
	var work, writers sync.WaitGroup
	for range 2 {
		w := newWorker(t, c.Config().ConnString(), func(c *Config) { c.ScanInterval, c.ChunkRows = time.Second, max(n/50, 1) })
		work.Go(func() { w.Run(running) })
	}
	stopWriters := make(chan struct{})
	counts := make([]int, 2)
	for i := range counts {
		writers.Go(func() { counts[i] = checkinsFrom(c.Config().ConnString(), uint64(i), n, stopWriters) })
	}
	for kills < 6 {
		filling := one[bool](t, c, "select exists (select from alike.backfill where finished_at is null)")
		node := k.nodes[kills%2]
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		kills++
		if filling {
			during++
		}
		time.Sleep(300 * time.Millisecond)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	if during == 0 {
		t.Error("no node was killed while the table was filled")
	}
	close(stopWriters)
	writers.Wait()
	// Done is when a scan that began after the last checkin found nothing.
	last := one[time.Time](t, c, "select clock_timestamp()")
	for deadline := time.Now().Add(time.Minute + time.Duration(n)*time.Millisecond); ; time.Sleep(time.Second) {
		left := lines(c, "select (select count(*) from alike.queue), (select count(*) from alike.chunk), (select count(*) from alike.error), (select count(*) from alike.backfill where finished_at is null or requested_at < '"+last.Format(time.RFC3339Nano)+"')")
		if left[0] == "0 | 0 | 0 | 0" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("queue, chunks, errors, unfinished: %s", left)
		}
	}
	stop()
	work.Wait()
	return kills, during, counts[0] + counts[1]
}

// prose makes documents of 500 bytes whose words are as frequent as in a
// language. Three in ten are an earlier one with some words replaced.
type prose struct {
	random *rand.Rand
	ranks  *rand.Zipf
	recent []string
}

func newProse(seed uint64) *prose {
	r := rand.New(rand.NewPCG(seed, 1997))
	return &prose{random: r, ranks: rand.NewZipf(r, 1.1, 8, 49_999)}
}

func (p *prose) word() string { return "w" + strconv.FormatUint(p.ranks.Uint64(), 36) }

func (p *prose) next() string {
	if len(p.recent) > 0 && p.random.IntN(10) < 3 {
		words := strings.Fields(p.recent[p.random.IntN(len(p.recent))])
		for range 1 + p.random.IntN(8) {
			words[p.random.IntN(len(words))] = p.word()
		}
		return strings.Join(words, " ")
	}
	var b strings.Builder
	for b.Len() < 500 {
		b.WriteString(p.word() + " ")
	}
	if len(p.recent) < 10_000 {
		p.recent = append(p.recent, b.String())
	}
	return b.String()
}

// generatedCollection is a source of documents numbered from 0.
type generatedCollection struct {
	g    *prose
	i, n int
	text string
}

func (s *generatedCollection) Next() bool {
	if s.i == s.n {
		return false
	}
	s.i, s.text = s.i+1, s.g.next()
	return true
}
func (s *generatedCollection) Values() ([]any, error) { return []any{int64(s.i - 1), s.text}, nil }
func (s *generatedCollection) Err() error             { return nil }

// copied is a source of the rows of a query.
type copied struct{ pgx.Rows }

// checkinsFrom writes documents until stopped, waits for nodes that are gone,
// and returns how many it has written.
func checkinsFrom(database string, seed uint64, n int, stop <-chan struct{}) (done int) {
	r := rand.New(rand.NewPCG(seed, 2))
	g := newProse(seed + 10)
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		return 0
	}
	defer c.Close(ctx)
	for {
		select {
		case <-stop:
			return done
		default:
		}
		id, text := r.IntN(2*n), g.next()
		sql := "insert into documents values ($1, $2) on conflict (id) do update set body = excluded.body"
		args := []any{id, text}
		if r.IntN(4) == 0 {
			sql, args = "delete from documents where id = $1", args[:1]
		}
		// What fails was not checked in.
		if _, err := c.Exec(ctx, sql, args...); err == nil {
			done++
		} else {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

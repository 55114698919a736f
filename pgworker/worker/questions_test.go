package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

// collection makes n documents, many of them edited copies of earlier ones.
func collection(n int) []string {
	r := rand.New(rand.NewPCG(5, 7))
	docs := make([]string, n)
	for i := range docs {
		var words []string
		if i > 0 && r.IntN(3) == 0 {
			words = strings.Fields(docs[r.IntN(i)])
			for range r.IntN(8) {
				words[r.IntN(len(words))] = fmt.Sprintf("w%d", r.IntN(9000))
			}
		} else {
			words = make([]string, 90)
			for j := range words {
				words[j] = fmt.Sprintf("w%d", r.IntN(9000))
			}
		}
		docs[i] = strings.Join(words, " ")
	}
	return docs
}

type pairAnswer struct {
	Key, Other             string
	Shared                 int
	Resemblance, Low, High float64
}

// expectedPairs are computed from every pair of documents.
func expectedPairs(t *testing.T, profile string, docs []string, atLeast float64) []pairAnswer {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	sketches, features := make([][]byte, len(docs)), make([][]sketch.Feature, len(docs))
	for i, doc := range docs {
		s.Reset()
		s.Document([]byte(doc))
		sketches[i], features[i] = s.AppendSketch(nil), s.AppendFeatures(nil)
	}
	var pairs []pairAnswer
	for i := range docs {
		for j := i + 1; j < len(docs); j++ {
			shared := 0
			for _, f := range features[i] {
				if slices.Contains(features[j], f) {
					shared++
				}
			}
			if shared == 0 {
				continue
			}
			bounds, err := sketch.Bounds(sketches[i], sketches[j], 0.95)
			if err != nil {
				t.Fatal(err)
			}
			resemblance, err := sketch.Resemblance(sketches[i], sketches[j])
			if err != nil {
				t.Fatal(err)
			}
			if resemblance >= atLeast {
				pairs = append(pairs, pairAnswer{fmt.Sprint(i), fmt.Sprint(j), shared, resemblance, bounds.Low, bounds.High})
			}
		}
	}
	return pairs
}

func collectPairs(t *testing.T, c *pgx.Conn, sql string, args ...any) []pairAnswer {
	t.Helper()
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[pairAnswer])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func sortAnswers(list []pairAnswer) {
	slices.SortFunc(list, func(a, b pairAnswer) int { return strings.Compare(a.Key+" "+a.Other, b.Key+" "+b.Other) })
}

// Every question gives exactly what a comparison of all documents gives, with
// a key of one column and with one of two.
func TestQuestions(t *testing.T) {
	t.Parallel()
	docs := collection(400)
	for _, v := range []struct{ name, profile, stored, definition, insert, key string }{
		{"integer", "words k=12 s=7", "words k=12 s=7 bits=4", "id int primary key, body text", "$1, $2", "%s"},
		{"composite", "words fast k=6 s=5 r=1 bits=64", "words fast k=6 s=5 r=1 bits=64", `"The a" int, b text, body text, primary key ("The a", b)`, "$1, 'x', $2", `[%s, "x"]`},
		{"few bits", "words k=12 s=7 bits=2", "words k=12 s=7 bits=2", "id int primary key, body text", "$1, $2", "%s"},
		{"lists", "words k=12 s=7 scaled", "words k=12 s=7 scaled", "id int primary key, body text", "$1, $2", "%s"},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, `create schema "My schema"`)
			exec(t, c, `create table "My schema"."the documents" (`+v.definition+")")
			for i, doc := range docs {
				exec(t, c, `insert into "My schema"."the documents" values (`+v.insert+")", i, doc)
			}
			options, err := json.Marshal(map[string]any{"profile": v.profile, "at_least": 0.5, "name": "docs", "si": []string{"length"}})
			if err != nil {
				t.Fatal(err)
			}
			exec(t, c, `select alike.attach('"My schema"."the documents"', 'body', $1)`, string(options))
			once(t, newWorker(t, database, nil))
			key := func(k string) string { return fmt.Sprintf(v.key, k) }
			for _, atLeast := range []float64{0.5, 0.9} {
				want := expectedPairs(t, v.stored, docs, atLeast)
				if len(want) < 50 {
					t.Fatalf("the collection has %d pairs at %v, want at least 50", len(want), atLeast)
				}
				checkClusters(t, c, atLeast, v.stored, docs, key)
				for i := range want {
					want[i].Key, want[i].Other = key(want[i].Key), key(want[i].Other)
				}
				checkPairs(t, c, atLeast, want)
				checkRows(t, c, atLeast, want, len(docs), key)
			}
			checkVerdicts(t, c)
			checkRefusals(t, c, key)
			checkRange(t, c, keyText(v.name))
			if got, want := list(t, c, "select concat_ws(' ', rows, sketched, pending, failed) from alike.status() where name = 'docs'"), fmt.Sprint(len(docs), len(docs), 0, 0); got != want {
				t.Errorf("rows, sketched, pending and failed of status: %s, want %s", got, want)
			}
		})
	}
}

// checkPairs compares alike.pairs, with one process and with several.
func checkPairs(t *testing.T, c *pgx.Conn, atLeast float64, want []pairAnswer) {
	t.Helper()
	want = slices.Clone(want)
	sortAnswers(want)
	for _, cost := range []string{"reset parallel_setup_cost; reset parallel_tuple_cost", "set parallel_setup_cost = 0; set parallel_tuple_cost = 0"} {
		exec(t, c, cost)
		got := collectPairs(t, c, "select * from alike.pairs('docs', $1)", atLeast)
		sortAnswers(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d pairs at %v, want %d; the first are %v, want %v", cost, len(got), atLeast, len(want), got[:min(3, len(got))], want[:3])
		}
	}
	exec(t, c, "reset parallel_setup_cost; reset parallel_tuple_cost")
}

// checkRows compares alike.rows of every third of n rows with the pairs.
func checkRows(t *testing.T, c *pgx.Conn, atLeast float64, pairs []pairAnswer, n int, key func(string) string) {
	t.Helper()
	perRow := map[string][]pairAnswer{}
	for _, p := range pairs {
		perRow[p.Key] = append(perRow[p.Key], p)
		p.Key, p.Other = p.Other, p.Key
		perRow[p.Key] = append(perRow[p.Key], p)
	}
	for i := 0; i < n; i += 3 {
		k := key(fmt.Sprint(i))
		got := collectPairs(t, c, "select $1, key, shared, resemblance, low, high from alike.rows('docs', $1, $2)", k, atLeast)
		if !slices.IsSortedFunc(got, func(a, b pairAnswer) int { return cmp.Compare(b.Resemblance, a.Resemblance) }) {
			t.Errorf("rows of %s at %v are not the best first: %v", k, atLeast, got)
		}
		sortAnswers(got)
		sortAnswers(perRow[k])
		if !slices.Equal(got, perRow[k]) {
			t.Errorf("rows of %s at %v: %v, want %v", k, atLeast, got, perRow[k])
		}
	}
}

// checkVerdicts marks a pair distinct, then duplicate: verdicts come before estimates.
func checkVerdicts(t *testing.T, c *pgx.Conn) {
	t.Helper()
	pairs := collectPairs(t, c, "select * from alike.pairs('docs')")
	p := pairs[len(pairs)-1] // an answer for at_least alone
	expect := func(verdict string, want int, from string, args ...any) {
		t.Helper()
		if n := one[int](t, c, "select count(*) from "+from, args...); n != want {
			t.Errorf("%s %v: %d rows after the verdict %s, want %d", from, args, n, verdict, want)
		}
	}
	if got := one[string](t, c, "select alike.mark('docs', $1, $2, 'distinct', 'a note')", p.Other, p.Key); got != "distinct" {
		t.Errorf("mark gave %q, want distinct", got)
	}
	expect("distinct", 0, "alike.pairs('docs') where key = $1 and other = $2", p.Key, p.Other)
	expect("distinct", 0, "alike.rows('docs', $1) where key = $2", p.Key, p.Other)
	expect("distinct", 0, "alike.rows('docs', $1) where key = $2", p.Other, p.Key)
	expect("distinct", 0, "alike.clusters('docs') x join alike.clusters('docs') y on x.cluster = y.cluster where x.key = $1 and y.key = $2", p.Key, p.Other)
	exec(t, c, "select alike.mark('docs', $1, $2, 'duplicate')", p.Key, p.Other)
	if got := collectPairs(t, c, "select * from alike.pairs('docs', 1) where key = $1 and other = $2", p.Key, p.Other); len(got) != 1 || got[0] != p {
		t.Errorf("a pair marked duplicate is %v, want %v", got, p)
	}
	expect("duplicate", 1, "alike.rows('docs', $1, 1) where key = $2", p.Key, p.Other)
	expect("duplicate", 1, "alike.rows('docs', $1, 1) where key = $2", p.Other, p.Key)
	expect("duplicate", 1, "alike.clusters('docs', 1) x join alike.clusters('docs', 1) y on x.cluster = y.cluster where x.key = $1 and y.key = $2", p.Key, p.Other)
}

// checkRefusals asks what cannot be answered.
func checkRefusals(t *testing.T, c *pgx.Conn, key func(string) string) {
	t.Helper()
	first, second := key("0"), key("1")
	fails(t, c, "want duplicate, distinct or none", "select alike.mark('docs', $1, $2, 'same')", first, second)
	fails(t, c, "both keys name the same row", "select alike.mark('docs', $1, $1, 'distinct')", first)
	fails(t, c, "has no row ", "select alike.mark('docs', $1, $2, 'distinct')", first, key("100000"))
	fails(t, c, "has no row ", "select * from alike.rows('docs', $1)", key("100000"))
	fails(t, c, `the key `, "select * from alike.rows('docs', 'nonsense')")
	fails(t, c, "at_least is 2, want a number from 0 to 1", "select * from alike.rows('docs', $1, 2)", first)
	fails(t, c, "nothing is attached to nothing", "select * from alike.pairs('nothing')")
	fails(t, c, "has no similarity index 43B/40", "select * from alike.si_rows('docs', '43b/40', $1)", first)
}

// checkRange asks Roth's query, with the open range.
func checkRange(t *testing.T, c *pgx.Conn, keyText string) {
	t.Helper()
	var key string
	var low, high int64
	if err := c.QueryRow(ctx, `select `+keyText+`, alike.si_low(si_length, 0.05), alike.si_high(si_length, 0.05) from "My schema".docs_alike offset 3 limit 1`).Scan(&key, &low, &high); err != nil {
		t.Fatal(err)
	}
	want := one[int](t, c, `select count(*) - 1 from "My schema".docs_alike where si_length > $1 and si_length < $2`, low, high)
	if got := count(t, c, "alike.si_rows('docs', 'length', "+quote(key)+", 0.05)"); got != want || want < 1 {
		t.Errorf("si_rows of %s gives %d rows, want %d", key, got, want)
	}
}

func keyText(name string) string {
	if name == "composite" {
		return `jsonb_build_array("The a", b)::text`
	}
	return "id::text"
}

// checkClusters compares with the Finder of package cluster.
func checkClusters(t *testing.T, c *pgx.Conn, atLeast float64, profile string, docs []string, key func(string) string) {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	sketches := make([][]byte, len(docs))
	finder, err := cluster.New(cluster.Options{Resemblance: atLeast, Verify: func(a, b uint64) (float64, error) {
		return sketch.Resemblance(sketches[a], sketches[b])
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	for i, doc := range docs {
		s.Reset()
		s.Document([]byte(doc))
		sketches[i] = s.AppendSketch(nil)
		var features []int64
		for _, f := range s.AppendFeatures(nil) {
			features = append(features, f.Value)
		}
		if err := finder.Add(uint64(i), features); err != nil {
			t.Fatal(err)
		}
	}
	want, sizes := map[string]string{}, map[string]int{}
	if _, err := finder.Clusters(context.Background(), func(m cluster.Member) error {
		want[key(fmt.Sprint(m.ID))] = key(fmt.Sprint(m.Cluster))
		sizes[key(fmt.Sprint(m.Cluster))]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for k, cluster := range want {
		if sizes[cluster] == 1 {
			delete(want, k)
		}
	}
	rows, err := c.Query(ctx, "select key, cluster, size from alike.clusters('docs', $1)", atLeast)
	if err != nil {
		t.Fatal(err)
	}
	n, size := 0, 0
	var k, cluster string
	if _, err := pgx.ForEachRow(rows, []any{&k, &cluster, &size}, func() error {
		n++
		if want[k] != cluster || sizes[cluster] != size {
			t.Errorf("at least %v: row %s is in cluster %s of %d, want %s of %d", atLeast, k, cluster, size, want[k], sizes[want[k]])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n != len(want) {
		t.Errorf("at least %v: %d rows in clusters, want %d", atLeast, n, len(want))
	}
}

func fails(t testing.TB, c *pgx.Conn, want, sql string, args ...any) {
	t.Helper()
	_, err := c.Exec(ctx, sql, args...)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", sql, err, want)
	}
}

// The pairs of a crowd, rows of one template and rows that are the same, are those that a
// comparison of all documents gives.
func TestPairsOfACrowd(t *testing.T) {
	t.Parallel()
	docs := collection(40)
	for i := range 40 {
		words := strings.Fields(strings.Repeat("a template says much the same of every customer and of each order that he made ", 6))
		for j := range i % 6 {
			words[(i*7+j*13)%len(words)] = fmt.Sprintf("field%d", i*j)
		}
		docs = append(docs, strings.Join(words, " "))
	}
	for _, profile := range []string{"words bits=8", "words t=168 bits=4", "words t=240 bits=2", "words t=672 bits=1"} {
		t.Run(profile, func(t *testing.T) {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create table documents (id int primary key, body text)")
			exec(t, c, "insert into documents select n - 1, body from unnest($1::text[]) with ordinality as u(body, n)", docs)
			exec(t, c, "select alike.attach('documents', 'body', jsonb_build_object('profile', $1::text))", profile)
			once(t, newWorker(t, database, nil))
			all := expectedPairs(t, profile, docs, 0)
			for _, atLeast := range []float64{1e-9, 0.5, 0.95, 1} {
				got := collectPairs(t, c, "select * from alike.pairs('documents', $1)", atLeast)
				var want []pairAnswer
				for _, pair := range all {
					if pair.Resemblance >= atLeast {
						want = append(want, pair)
					}
				}
				sortAnswers(got)
				sortAnswers(want)
				if len(want) < 20 || !slices.Equal(got, want) {
					t.Errorf("at least %v: %d pairs, want the %d of a comparison of all, at least 20", atLeast, len(got), len(want))
				}
			}
		})
	}
}

// The views are the features and the equality join of the side table, in both layouts.
func TestPairView(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"columns", "parts"} {
		c, _ := sketched(t, "create table documents (id int, tag text, body text, primary key (id, tag))",
			"insert into documents select g, t, 'one two three four five six seven eight nine ' || g % 3 from generate_series(1, 6) as g, unnest(array['x', 'y']) as t",
			`select alike.attach('documents', 'body', '{"profile": "words w=2 k=6 s=2 t=12", "layout": "`+layout+`"}')`)
		exec(t, c, `create temp table features as select s.id, s.tag, substr(e.key, 2)::int as slot, e.value::bigint as feature
			from documents_alike s cross join lateral jsonb_each_text(to_jsonb(s)) e where e.key ~ '^f[0-9]+$' and e.value is not null`)
		const both = "select count(*) from ((table %[1]s except all table %[2]s) union all (table %[2]s except all table %[1]s)) d"
		exec(t, c, `create temp view joined as select a.id, a.tag, b.id as other_id, b.tag as other_tag, a.slot from features a join features b using (slot, feature) where (a.id, a.tag) <> (b.id, b.tag)`)
		if n := one[int](t, c, fmt.Sprintf(both, "features", "documents_alike_feature")); n != 0 {
			t.Errorf("%s: %d features differ from those of the view", layout, n)
		}
		if n := one[int](t, c, fmt.Sprintf(both, "joined", "documents_alike_pair")); n != 0 {
			t.Errorf("%s: %d pairs differ from those of the view", layout, n)
		}
		if n := one[int](t, c, "select count(distinct slot) from joined"); n != 6 {
			t.Errorf("%s: pairs in %d slots, want 6, or this tests nothing", layout, n)
		}
		// A condition on a feature or on a row goes through an index.
		exec(t, c, "analyze; set enable_seqscan = off; set jit = off")
		for _, question := range []string{
			"select * from documents_alike_feature where feature = 7",
			"select * from documents_alike_feature where slot = 3 and feature = 7",
			"select x.id from documents_alike a join documents_alike_feature x on x.slot = 1 and x.feature = a.f1 where a.id = 1 and a.tag = 'x'",
			"select b.id from documents_alike_feature a join documents_alike_feature b on b.slot = a.slot and b.feature = a.feature where a.id = 1 and a.tag = 'x'",
			"select b.id from documents_alike_feature a join documents_alike_feature b on b.slot = a.slot and b.feature = a.feature where a.slot = 1 and a.feature = 7",
			"select * from documents_alike_feature where id = 1 and tag = 'x'",
			"select other_id, count(*) from documents_alike_pair where id = 1 and tag = 'x' group by other_id",
		} {
			if plan := explain(t, c, question); strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s: %s reads a whole table:\n%s", layout, question, plan)
			}
		}
	}
}

// A row at the threshold itself is an answer; containment is told where the sketch tells it; a key
// that is none is named; the side table is not read as a whole, though it is small.
func TestSmallQuestions(t *testing.T) {
	t.Parallel()
	c, _ := sketched(t, "create table documents (id int primary key, body text)",
		"insert into documents select g, 'one two three four five six seven eight nine ten' || repeat(' and more of it ' || g % 3, g % 3) || repeat(' ' || g, g % 2) from generate_series(1, 40) as g",
		`select alike.attach('documents', 'body', '{"profile": "words w=2 scaled k=4 s=2", "at_least": 0.1}')`)
	exec(t, c, "analyze documents_alike; begin")
	const scans = "select seq_scan from pg_stat_xact_user_tables where relname = 'documents_alike'"
	before := one[int](t, c, scans)
	asked := list(t, c, "select key || ' ' || resemblance from alike.rows('documents', '1') where resemblance < 1 order by resemblance, key")
	if got := one[int](t, c, scans) - before; got != 0 {
		t.Errorf("a question reads the whole side table %d times", got)
	}
	exec(t, c, "commit")
	if asked == "" {
		t.Fatal("no row resembles row 1 in part, or this tests nothing")
	}
	if n := one[int](t, c, "select count(*) from alike.rows('documents', '1') r where not exists (select from alike.rows('documents', '1', r.resemblance) a where a.key = r.key)"); n != 0 {
		t.Errorf("%d rows are no answer at their own resemblance", n)
	}
	if n := one[int](t, c, `select count(*) from alike.rows('documents', '1') r join documents_alike a on a.id = 1 join documents_alike b on b.id = r.key::int
		where r.containment is distinct from alike.containment(a.sketch, b.sketch)`); n != 0 {
		t.Errorf("the containment of %d answers is not that of the two sketches", n)
	}
	fails(t, c, `alike: the key "one" of documents is not integer`, "select * from alike.rows('documents', 'one')")
	fails(t, c, "alike: there is no fragment {nothing}", "select alike._fill('select {nothing}', '{}')")
}

// A duplicate comes once, a row of another profile not at all, one at the end of a range is not in it,
// and a verdict is one of two words.
func TestSmallAnswers(t *testing.T) {
	t.Parallel()
	c, _ := sketched(t, "create table documents (id int primary key, body text)",
		"insert into documents select g, (select string_agg('word' || i, ' ') from generate_series(1, g) as i) from generate_series(1, 20) as g",
		`select alike.attach('documents', 'body', '{"profile": "words w=1 k=12 s=2", "si": ["length"], "at_least": 0.5}')`)
	if got, want := list(t, c, "select key from alike.si_rows('documents', 'length', '10', 0.5) order by key::int"), "6 7 8 9 11 12 13 14"; got != want {
		t.Errorf("lengths within half of 10: %s, want %s", got, want)
	}
	const nine = "select key from alike.rows('documents', '10') where key = '9'"
	if got := list(t, c, nine); got != "9" {
		t.Fatalf("the answers about row 10 have %q, want 9 once", got)
	}
	exec(t, c, "select alike.mark('documents', '10', '9', 'duplicate')")
	if got := list(t, c, nine); got != "9" {
		t.Errorf("with a verdict the answers have %q, want 9 once", got)
	}
	exec(t, c, "select alike.mark('documents', '10', '9', 'none'); update documents_alike set profile = profile + 100 where id = 9")
	if got := list(t, c, nine); got != "" {
		t.Errorf("the answers have the row %q of another profile", got)
	}
	fails(t, c, "documents_alike_verdict", "insert into documents_alike_mark (id, other, verdict) values (1, 2, 'perhaps')")
}

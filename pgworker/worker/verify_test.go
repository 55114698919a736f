package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

// edited are documents of 40 words in groups, with up to six words exchanged.
func edited(groups, each int) []string {
	random := rand.New(rand.NewPCG(21, 22))
	var list []string
	for range groups {
		text := make([]string, 40)
		for i := range text {
			text[i] = fmt.Sprint("word", random.IntN(400))
		}
		for range each {
			copied := slices.Clone(text)
			for range random.IntN(7) {
				copied[random.IntN(len(copied))] = fmt.Sprint("edit", len(list))
			}
			list = append(list, strings.Join(copied, " "))
		}
	}
	return list
}

// truth is every pair that shares a feature and is an answer when its open bounds are
// decided by the documents, which are told here from the texts by the functions for
// that, and the sketches by SQL. Stale rows keep their estimates.
func truth(t *testing.T, c *pgx.Conn, texts []string, profile string, atLeast float64, stale func(int) bool) (list []Answer, read, corrected int) {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.Query(ctx, `select p.id::int, p.other::int, alike.bounds(x.sketch, y.sketch)::text
		from (select distinct id, other from documents_alike_pair where id < other) p
		join documents_alike x on x.id = p.id join documents_alike y on y.id = p.other order by 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	var id, other int
	var bounds string
	if _, err := pgx.ForEachRow(rows, []any{&id, &other, &bounds}, func() error {
		var b struct{ Low, Estimate, High float64 }
		if err := json.Unmarshal([]byte(bounds), &b); err != nil {
			return err
		}
		x := Answer{Key: fmt.Sprint(id), Other: fmt.Sprint(other), Resemblance: b.Estimate, Low: b.Low, High: b.High}
		if b.Low < atLeast && b.High >= atLeast && !stale(id) && !stale(other) {
			r, _, err := sketch.ExactResemblance(p, []byte(texts[id]), []byte(texts[other]))
			if err != nil {
				return err
			}
			read++
			if (r >= atLeast) != (b.Estimate >= atLeast) {
				corrected++
			}
			x.Resemblance, x.Low, x.High = r, r, r
		}
		if x.Resemblance >= atLeast {
			list = append(list, x)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list, read, corrected
}

func withoutShared(list []Answer) []Answer {
	list = slices.Clone(list)
	for i := range list {
		list[i].Shared, list[i].Containment = 0, nil
		if len(list[i].Key) > len(list[i].Other) || len(list[i].Key) == len(list[i].Other) && list[i].Key > list[i].Other {
			list[i].Key, list[i].Other = list[i].Other, list[i].Key
		}
	}
	slices.SortFunc(list, func(x, y Answer) int { return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Other, y.Other)) })
	return list
}

func same(t *testing.T, what string, got, want []Answer) {
	t.Helper()
	got, want = withoutShared(got), withoutShared(want)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: %d: %+v, want %+v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d answers, want %d", what, len(got), len(want))
	}
}

func exactly(t *testing.T, c *pgx.Conn, atLeast float64) *Exact {
	t.Helper()
	e, err := NewExact(ctx, c, "documents", atLeast)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *Exact) all(t *testing.T) (list []Answer) {
	t.Helper()
	if err := e.Pairs(ctx, func(x Answer) error { list = append(list, x); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestExactAnswers(t *testing.T) {
	t.Parallel()
	texts := edited(10, 12)
	opened, changed := 0, 0
	for _, profile := range []string{"words w=4 t=84 k=12 s=7 bits=8", "prose bits=4", "words w=4 t=84 k=12 s=7 mod=2"} {
		t.Run(profile, func(t *testing.T) {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create table documents (id bigint primary key, body text)")
			exec(t, c, "insert into documents select n - 1, t from unnest($1::text[]) with ordinality as u(t, n)", texts)
			exec(t, c, "select alike.attach('documents', 'body', jsonb_build_object('profile', $1::text, 'at_least', 0.6, 'verify', 'text', 'policy', 'link', 'matches', 1000))", profile)
			w := newWorker(t, database, nil)
			once(t, w)
			if verifies, err := Verifies(ctx, c, "documents"); err != nil || !verifies {
				t.Errorf("verify is text: %v, error %v, want true", verifies, err)
			}
			for _, atLeast := range []float64{math.NaN(), 0.5} {
				limit := atLeast
				if math.IsNaN(limit) {
					limit = 0.6
				}
				want, read, corrected := truth(t, c, texts, profile, limit, unchanged)
				opened, changed = opened+read, changed+corrected
				e := exactly(t, c, atLeast)
				same(t, "pairs", e.all(t), want)
				rowsAreThePairs(t, e, want)
				clustersAreOfPairs(t, e, texts, profile, limit, want)
				e.Close(ctx)
			}
			matchesAreThePairs(t, c, w, database, texts, profile)
		})
	}
	if opened < 200 || changed < 20 {
		t.Errorf("%d pairs are open and %d decided otherwise, want at least 200 and 20", opened, changed)
	}
}

func rowsAreThePairs(t *testing.T, e *Exact, want []Answer) {
	for _, id := range []string{"0", "17", "101", "117"} {
		var of []Answer
		for _, x := range want {
			if x.Key == id || x.Other == id {
				of = append(of, x)
			}
		}
		got, err := e.Rows(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(got, func(x, y Answer) int { return cmp.Compare(y.Resemblance, x.Resemblance) }) {
			t.Errorf("the rows alike to %s are not best first", id)
		}
		same(t, "rows of "+id, got, of)
	}
}

func clustersAreOfPairs(t *testing.T, e *Exact, texts []string, profile string, limit float64, want []Answer) {
	inPairs, inClusters := map[string]bool{}, map[string]int{}
	for _, x := range want {
		inPairs[x.Key], inPairs[x.Other] = true, true
	}
	members := map[string][]string{}
	if err := e.Clusters(ctx, cluster.Complete, func(key, cluster string, size int) error {
		inClusters[key] = size
		members[cluster] = append(members[cluster], key)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for cluster, keys := range members {
		for _, key := range keys {
			if inClusters[key] != len(keys) || !inPairs[key] {
				t.Errorf("row %s is in a cluster of %d, want %d; in a pair: %v", key, inClusters[key], len(keys), inPairs[key])
			}
			for _, other := range keys {
				if other < key && !slices.ContainsFunc(want, func(x Answer) bool { return x.Key == key && x.Other == other || x.Key == other && x.Other == key }) {
					var x, y int
					fmt.Sscan(key, &x)
					fmt.Sscan(other, &y)
					p, _ := sketch.ParseProfile(profile)
					if r, _, _ := sketch.ExactResemblance(p, []byte(texts[x]), []byte(texts[y])); r < limit-0.25 {
						t.Errorf("%s and %s are in cluster %s at %v, want at least %v", key, other, cluster, r, limit-0.25)
					}
				}
			}
		}
	}
	if len(inClusters) < len(inPairs)/2 {
		t.Errorf("%d rows are in clusters, want at least half of the %d in pairs", len(inClusters), len(inPairs))
	}
}

// matchesAreThePairs checks the texts in one after the other, by a worker that takes a few at a time.
func matchesAreThePairs(t *testing.T, c *pgx.Conn, w *Worker, database string, texts []string, profile string) {
	want, _, _ := truth(t, c, texts, profile, 0.6, unchanged)
	exec(t, c, "delete from documents")
	once(t, w)
	w.Close()
	w = newWorker(t, database, func(c *Config) { c.BatchSize = 7 })
	exec(t, c, "insert into documents select n - 1, t from unnest($1::text[]) with ordinality as u(t, n)", texts)
	once(t, w)
	rows, err := c.Query(ctx, "select distinct on (least(id, other), greatest(id, other)) id::text, other::text, resemblance, low, high from documents_alike_match")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Answer, err error) {
		return x, row.Scan(&x.Key, &x.Other, &x.Resemblance, &x.Low, &x.High)
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "matches", got, want)
}

// Rows that have changed since they were sketched, pages, verdicts, keys of several
// columns and a condition.
func TestExactOddly(t *testing.T) {
	t.Parallel()
	texts := edited(8, 12)
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "create table pages (a text, b bigint, page bytea, primary key (a, b))")
	exec(t, c, "insert into documents select n - 1, t from unnest($1::text[]) with ordinality as u(t, n)", texts)
	exec(t, c, "insert into pages select 'k', id, convert_to('<script>' || id || '</script><p>' || replace(body, ' ', '<br>'), 'UTF8') from documents")
	exec(t, c, `select alike.attach('documents', 'body', '{"at_least": 0.6, "profile": "words w=4 t=84 k=12 s=7"}')`)
	exec(t, c, `select alike.attach('pages', 'page', '{"at_least": 0.6, "profile": "words w=4 t=84 k=12 s=7", "extract": "html", "where": "b % 5 <> 0"}')`)
	once(t, newWorker(t, database, nil))
	t.Run("pages with a composite key and a condition", func(t *testing.T) { exactPages(t, c, texts) })
	t.Run("rows that the worker has not seen yet", func(t *testing.T) { exactChanged(t, c, texts) })
	t.Run("what a person said is not read again", func(t *testing.T) { exactMarked(t, c, texts) })
	t.Run("refusals", func(t *testing.T) { exactRefused(t, c) })
}

func unchanged(int) bool { return false }

func exactPages(t *testing.T, c *pgx.Conn, texts []string) {
	want, _, _ := truth(t, c, texts, "words w=4 t=84 k=12 s=7 bits=8", 0.6, unchanged)
	e, err := NewExact(ctx, c, "pages", math.NaN())
	if err != nil {
		t.Fatal(err)
	}
	var pages, plain []Answer
	for _, x := range e.all(t) {
		for _, key := range []*string{&x.Key, &x.Other} {
			*key = strings.TrimSuffix(strings.TrimPrefix(*key, `["k", `), "]")
		}
		pages = append(pages, x)
	}
	e.Close(ctx)
	for _, x := range want {
		if !strings.HasSuffix(x.Key, "0") && !strings.HasSuffix(x.Key, "5") && !strings.HasSuffix(x.Other, "0") && !strings.HasSuffix(x.Other, "5") {
			plain = append(plain, x)
		}
	}
	same(t, "pages", pages, plain)
}

func exactChanged(t *testing.T, c *pgx.Conn, texts []string) {
	exec(t, c, "update documents set body = 'something else' where id % 3 = 0")
	exec(t, c, "update documents set body = null where id = 1")
	exec(t, c, "delete from documents where id = 2")
	stale, _, _ := truth(t, c, texts, "words w=4 t=84 k=12 s=7 bits=8", 0.6, func(id int) bool { return id%3 == 0 || id < 3 })
	e := exactly(t, c, math.NaN())
	same(t, "rows that have changed", e.all(t), stale)
	e.Close(ctx)
}

func exactMarked(t *testing.T, c *pgx.Conn, texts []string) {
	var rejected *Answer
	all, _, _ := truth(t, c, texts, "words w=4 t=84 k=12 s=7 bits=8", 0.01, unchanged)
	for _, x := range all {
		var a, b int
		fmt.Sscan(x.Key, &a)
		fmt.Sscan(x.Other, &b)
		p, _ := sketch.ParseProfile("words w=4 t=84 k=12 s=7")
		r, _, _ := sketch.ExactResemblance(p, []byte(texts[a]), []byte(texts[b]))
		if x.Resemblance >= 0.6 && r < 0.6 && a%3 != 0 && b%3 != 0 && a > 2 && b > 2 {
			rejected = &x
			break
		}
	}
	if rejected == nil {
		t.Fatal("no pair is estimated above the limit and truly below it")
	}
	ask := func() (list []Answer) {
		t.Helper()
		e := exactly(t, c, math.NaN())
		defer e.Close(ctx)
		rows, err := e.Rows(ctx, rejected.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range append(rows, e.all(t)...) {
			if x.Key == rejected.Key && x.Other == rejected.Other || x.Key == rejected.Other && x.Other == rejected.Key {
				list = append(list, x)
			}
		}
		return list
	}
	if got := ask(); len(got) != 0 {
		t.Errorf("a pair that is truly below the limit: %+v, want no answer", got)
	}
	exec(t, c, "select alike.mark('documents', $1, $2, 'duplicate')", rejected.Key, rejected.Other)
	if got := ask(); len(got) != 2 || got[0].Low == got[0].High {
		t.Errorf("a pair that a person called a duplicate: %+v, want two answers with an interval", got)
	}
}

func exactRefused(t *testing.T, c *pgx.Conn) {
	for _, table := range []string{"nothing", "documents'; drop table documents"} {
		if _, err := NewExact(ctx, c, table, math.NaN()); err == nil {
			t.Errorf("no error for the table %s", table)
		}
	}
	if _, err := NewExact(ctx, c, "documents", 2); err == nil {
		t.Error("no error for a limit of 2")
	}
	cancelled, cancel := context.WithCancel(ctx)
	e := exactly(t, c, math.NaN())
	cancel()
	if err := e.Pairs(cancelled, func(Answer) error { return nil }); err == nil {
		t.Error("no error after cancel")
	}
	if _, err := c.Exec(ctx, `select alike.attach('documents', 'body', '{"verify": "texts"}')`); err == nil || !strings.Contains(err.Error(), `the verify is "texts", want sketch or text`) {
		t.Errorf("another verify: error %v, want that it is sketch or text", err)
	}
}

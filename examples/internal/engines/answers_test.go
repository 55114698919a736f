//go:build unix

package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/pgworker/worker"
)

// odd documents come before the generated ones.
var odd = []any{
	nil, "", " \t\n", "...", "one", "one two", "one two three four", strings.Repeat("a", 100_000), strings.Repeat("a ", 50_000),
	"Ünïcödé Straße ﬁne №5 ǅ İstanbul ΣΊΣΥΦΟΣ", "統計學是應用數學的一個分支，主要通過利用概率論建立數學模型", "🙂🙃 👩‍👩‍👧‍👦 e\u0301 \u202eabc\u202c \ufeff",
	"<p>Tags &amp; entities &#65; <a href='http://example.org/x'>a link</a><script>var x = 1;</script></p>", "it's o'clock; rock-n-roll, e-mail 3.14 1,000",
	"\u0001\u0002 control \u007f characters", "x\r\ny\rz\n", "-- '; drop table documents; \\ \" %s $1 ?1",
}

var settings = []struct {
	name, options string
	documents     int
}{
	{"plain", `{"si": ["43B/40", "length", "forest/0", "forest/9", "3A/16", "25C/8/20"]}`, 600},
	{"whole", `{"profile": "words classic bits=64 k=6 s=5 r=1", "at_least": 0.4}`, 180},
	{"fast", `{"profile": "words fast t=128 bits=2 k=16 s=4", "si": ["length"]}`, 180},
	{"lists", `{"profile": "words scaled", "at_least": 0.3}`, 180},
	{"modulus", `{"profile": "words mod=8 w=2"}`, 180},
	{"bottom", `{"profile": "chars bottom=64", "at_least": 0.2}`, 80},
	{"bins", `{"profile": "words bins bits=4 bag"}`, 180},
	{"weighted", `{"profile": "words weighted w=2 bits=8"}`, 180},
	{"web", `{"profile": "web", "extract": "html"}`, 180},
	{"short", `{"profile": "short"}`, 180},
	{"records without numbers", `{"profile": "records numbers ids"}`, 180},
	{"page", `{"profile": "pages", "extract": "html"}`, 180},
	{"soundex", `{"profile": "soundex lean stop duplicates"}`, 180},
	{"contains", `{"profile": "prose", "contains": true}`, 180},
	{"superfeatures", `{"profile": "bing", "superfeatures": true, "si": ["length"]}`, 180},
	{"superfeatures of whole bins", `{"profile": "words bins bits=64 t=60 k=6 s=2 r=3", "superfeatures": true}`, 180},
}

// Every setting: what is stored, what is asked, after checkins and verdicts.
func TestSameAnswers(t *testing.T) {
	for i, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			e := open(t)
			e.exec("create table documents (id integer primary key, body text)")
			e.insert(s.documents)
			e.attach(s.options)
			e.stored()
			if pairs := e.number("select count(*) from alike.pairs('documents')"); pairs < s.documents/20 {
				t.Errorf("%d pairs of %d documents are no test", pairs, s.documents)
			}
			e.asked(s.documents, i%5 == 0)
			switch s.name {
			case "contains":
				e.contained()
			case "superfeatures of whole bins":
				e.superfeatures(20)
			}
			e.change(s.documents)
			e.stored()
			switch s.name {
			case "contains":
				e.contained()
			case "superfeatures of whole bins":
				e.superfeatures(20)
			}
			e.verdicts()
			e.asked(s.documents/4, i%5 == 0)
		})
	}
}

// insert fills both tables with the same documents.
func (e *engines) insert(n int) {
	e.t.Helper()
	g := corpus.New(11, 400, 0.4)
	tx, err := e.sqlite.Begin()
	if err != nil {
		e.t.Fatal(err)
	}
	var batch pgx.Batch
	for i := range n {
		var doc any = g.Next().Text
		if i < len(odd) {
			doc = odd[i]
		}
		if _, err := tx.Exec("insert into documents values (?, ?)", i, doc); err != nil {
			e.t.Fatal(err)
		}
		batch.Queue("insert into documents values ($1, $2)", i, doc)
	}
	if err := tx.Commit(); err != nil {
		e.t.Fatal(err)
	}
	if err := e.postgres.SendBatch(context.Background(), &batch).Close(); err != nil {
		e.t.Fatal(err)
	}
}

// attach attaches in both. The answer counts what was computed in the one and
// what will be in the other.
func (e *engines) attach(options string) {
	e.t.Helper()
	e.same("select alike.attach('documents', 'body', $1)", options)
	e.follow()
}

// stored compares the side tables and views byte for byte.
func (e *engines) stored() {
	e.t.Helper()
	columns := e.columns("documents_alike")
	// The hash of a NULL is NULL in SQLite and that of nothing in PostgreSQL.
	columns = strings.Replace(columns, "content_hash, shingles", "case when shingles > 0 then content_hash end, coalesce(shingles, 0)", 1)
	rows := e.same("select alike.profile(sketch), " + columns + " from documents_alike")
	if n := e.number("select count(*) from documents"); len(rows) != n {
		e.t.Errorf("%d rows have sketches, want %d", len(rows), n)
	}
	e.same("select id, other, slot from documents_alike_pair")
	e.same("select id, slot, feature from documents_alike_feature")
	e.same("select id, other, shared, resemblance, low, high, policy from documents_alike_match")
	e.same("select id, other, verdict, note from documents_alike_mark")
	e.same(`select name, "column", profile, policy, at_least, "rows", sketched, pending, failed, oldest, note from alike.status()`)
	e.same("select key, message from alike.errors('documents')")
}

// superfeatures compares the columns of superfeatures with the functions of both engines.
func (e *engines) superfeatures(n int) {
	e.t.Helper()
	for i := 1; i <= n; i++ {
		if differ := e.number(fmt.Sprintf("select count(*) from documents_alike where sketch is not null and coalesce(g%[1]d, 0) <> coalesce(alike.superfeature(sketch, %[1]d), 0)", i)); differ != 0 {
			e.t.Errorf("%d rows have another g%d than superfeature says", differ, i)
		}
	}
	e.same("select count(g1), count(g20) from documents_alike")
	if n := e.number("select count(*) from documents_alike a join documents_alike b on a.g1 = b.g1 and a.id < b.id"); n < 5 {
		e.t.Errorf("%d pairs share the first superfeature", n)
	}
}

// contained compares which documents are contained in which, where texts decide what the
// values leave open.
func (e *engines) contained() {
	e.t.Helper()
	e.same("select id, value from documents_alike_value")
	want, err := askSQLite(e.sqlite, "select key || ' ' || other || ' ' || containment || ' ' || low || ' ' || high from alike_containments('documents', 0.6) order by 1", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	q, err := worker.NewContainment(context.Background(), e.postgres, "documents", 0.6)
	if err != nil {
		e.t.Fatal(err)
	}
	defer q.Close(context.Background())
	var got []string
	number := func(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.13f", x), "0") }
	if err := q.Pairs(context.Background(), func(x worker.Contained) error {
		got = append(got, fmt.Sprint(x.Key, " ", x.Other, " ", number(x.Containment), " ", number(x.Low), " ", number(x.High)))
		return nil
	}); err != nil {
		e.t.Fatal(err)
	}
	for i, line := range want {
		var key, other string
		var containment, low, high float64
		if _, err := fmt.Sscan(line, &key, &other, &containment, &low, &high); err != nil {
			e.t.Fatal(err)
		}
		want[i] = fmt.Sprint(key, " ", other, " ", number(containment), " ", number(low), " ", number(high))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) < 20 {
		e.t.Errorf("%d are contained in others in PostgreSQL, %d in SQLite: %q", len(got), len(want), slices.DeleteFunc(got, func(x string) bool { return slices.Contains(want, x) }))
	}
}

// columns are those that both side tables have under one name, but for the
// number of the profile and the time.
func (e *engines) columns(table string) string {
	e.t.Helper()
	lite, err := askSQLite(e.sqlite, "select name from pragma_table_info(?) where name not in ('profile', 'sketched_at')", []any{table})
	if err != nil {
		e.t.Fatal(err)
	}
	rows, err := e.postgres.Query(context.Background(), "select attname::text from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname not in ('profile', 'sketched_at', 'passages', 'alike_entry') order by attnum", table)
	if err != nil {
		e.t.Fatal(err)
	}
	full, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatal(err)
	}
	if strings.Join(lite, ", ") != strings.Join(full, ", ") {
		e.t.Errorf("columns of %s: %v in SQLite, %v in PostgreSQL", table, lite, full)
	}
	return strings.Join(full, ", ")
}

// asked compares every question about rows below a number. What does not depend on the settings
// but on the pairs, the linkages and the rules, is asked in full under a few of them.
func (e *engines) asked(n int, full bool) {
	e.t.Helper()
	e.inOrder("select key, other, shared, resemblance, low, high from alike.pairs('documents')")
	for _, atLeast := range []any{nil, 0.9, 0.25} {
		e.inOrder("select key, other, shared, resemblance, low, high from alike.pairs('documents', $1)", atLeast)
	}
	e.same("select key, cluster, size from alike.clusters('documents')")
	e.same("select key, kept, resemblance from alike.keep('documents', 'body', 0.5)")
	if full {
		for _, atLeast := range []any{nil, 0.9, 0.25} {
			e.same("select key, cluster, size from alike.clusters('documents', $1)", atLeast)
		}
		for _, linkage := range []string{"complete", "single", "greedy", "popular"} {
			e.same("select key, cluster, size from alike.clusters('documents', 0.5, $1)", linkage)
		}
		e.same("select key, kept, resemblance from alike.keep('documents')")
		for _, rule := range []string{"oldest", "newest", "longest", "popular", "verdict", "-length(body)", "id % 7"} {
			e.same("select key, kept, resemblance from alike.keep('documents', $1, 0.5)", rule)
		}
	}
	for i := 0; i < n; i += max(1, n/24) {
		e.inOrder("select key, shared, resemblance, low, high, containment from alike.rows('documents', $1)", i)
		if i%3 == 0 {
			e.inOrder("select key, shared, resemblance, low, high, containment from alike.rows('documents', $1, 0.1)", i)
		}
		if e.t.Failed() {
			return
		}
	}
	for i := len(odd); i < n; i += 97 {
		for _, depth := range []string{"", ", 1", ", 3", ", 8"} {
			e.inOrder(fmt.Sprintf("select key, depth, resemblance from alike.forest_rows('documents', $1%s)", depth), i)
		}
	}
	e.failsAlike("select * from alike.forest_rows('documents', $1, 9)", len(odd))
	for _, variant := range []string{"length", "43B/40", "forest/0", "forest/9", "3a/16", "25c/8/20", "2B/4"} {
		for i := len(odd); i < n; i += 97 {
			e.siRows(variant, i)
		}
	}
	e.same(`select slot, feature, "rows", key from alike.hot('documents')`)
	e.fails("select * from alike.rows('documents', $1)", 1_000_000)
	e.fails("select * from alike.rows('documents', $1, 1.5)", 1)
	e.fails("select * from alike.pairs('nothing')")
	for _, question := range []string{"rows('documents', '20', 0.0)", "pairs('documents', 0.0)", "clusters('documents', 0.0)", "keep('documents', 'oldest', 0.0)", "keep('documents', 'newst')", "keep('documents', '')", "keep('documents', ' ')"} {
		e.failsAlike("select * from alike." + question)
	}
	e.fails("select * from alike.si_rows('documents', 'nonsense', $1)", 1)
}

// inOrder compares answers that have an order, or that both refuse the question.
func (e *engines) inOrder(query string, args ...any) {
	e.t.Helper()
	sqlite, postgres, sqliteErr, postgresErr := e.both(query, args...)
	if (sqliteErr != nil) != (postgresErr != nil) {
		e.t.Fatalf("%s %v: error %v in SQLite, %v in PostgreSQL", query, args, sqliteErr, postgresErr)
	}
	if !slices.Equal(sqlite, postgres) {
		e.t.Errorf("%s %v: %d rows in SQLite, %d in PostgreSQL%s", query, args, len(sqlite), len(postgres), firstDifference(sqlite, postgres))
	}
}

func (e *engines) siRows(variant string, key int) {
	e.t.Helper()
	for _, fraction := range []string{"", ", 0.5", ", 0.001"} {
		e.inOrder(fmt.Sprintf("select key, si from alike.si_rows('documents', '%s', $1%s)", variant, fraction), key)
	}
}

// change checks documents in, one at a time, so that each finds those before it
// and none after it in either engine.
func (e *engines) change(n int) {
	e.t.Helper()
	e.same("select alike.attach('documents', 'body', $1)", `{"policy": "link"}`)
	e.follow()
	g := corpus.New(11, 400, 0.4)
	random := rand.New(rand.NewPCG(3, 5))
	for i := range 16 {
		text := g.Next().Text
		switch i % 4 {
		case 0:
			e.exec("insert into documents values ($1, $2)", n+i, text)
		case 1:
			e.exec("insert into documents select $1, body from documents where id = $2", n+i, random.IntN(n))
		case 2:
			e.exec("update documents set body = body || ' and some words more' where id = $1", random.IntN(n))
		case 3:
			e.exec("delete from documents where id = $1", random.IntN(n))
		}
		e.follow()
	}
}

// verdicts has a person judge pairs, in both.
func (e *engines) verdicts() {
	e.t.Helper()
	pairs := e.same("select key, other from alike.pairs('documents') order by key, other")
	for i := 0; i < len(pairs); i += max(1, len(pairs)/12) {
		x, y, _ := strings.Cut(pairs[i], " | ")
		e.same("select alike.mark('documents', $1, $2, $3, $4)", y, x, []string{"distinct", "duplicate"}[i%2], fmt.Sprint("pair ", i))
	}
	// Rows that have nothing in common are duplicates because somebody says so.
	keys := e.same("select min(id), max(id) from documents_alike where shingles > 20")
	x, y, _ := strings.Cut(keys[0], " | ")
	e.same("select alike.mark('documents', $1, $2, 'duplicate')", x, y)
	e.fails("select alike.mark('documents', $1, $1, 'duplicate')", x)
	e.fails("select alike.mark('documents', $1, $2, 'perhaps')", x, y)
}

// The functions of two sketches and of one.
func TestSameSketches(t *testing.T) {
	e := open(t)
	e.exec("create table documents (id integer primary key, body text)")
	e.insert(120)
	for _, profile := range []string{
		"prose", "words bits=8", "words classic bits=1", "words fast bits=2", "words lean", "web bits=4", "bing", "code bag", "chars bottom=30", "words mod=4", "words scaled", "words bins", "words bins t=100 bits=4",
		"words weighted", "lines case", "words stop vowels duplicates w=2",
	} {
		sketches, err := askSketches(e, profile)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 9))
		for range 10 {
			a, b := sketches[random.IntN(len(sketches))], sketches[random.IntN(len(sketches))]
			e.same("select alike.resemblance($1, $2), alike.profile($1)", a, b)
			for _, confidence := range []float64{0.95, 0.6} {
				e.sameJSON("select alike.bounds($1, $2, $3)::text", a, b, confidence)
			}
			e.sameJSON("select alike.bounds($1, $2)::text", a, b)
			if strings.Contains(profile, "mod") || strings.Contains(profile, "scaled") {
				e.same("select alike.containment($1, $2)", a, b)
			} else {
				e.fails("select alike.containment($1, $2)", a, b)
			}
		}
		other, err := askSketches(e, profile+" w=7")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sketches[:5] {
			e.alikeInBoth("select slot, feature from alike.features($1)", s)
			e.failsAlike("select alike.feature($1, 99)", s)
			e.alikeInBoth("select alike.size($1)", s)
			e.alikeInBoth("select count(*), min(feature), max(feature) from alike.superfeatures($1)", s)
			e.alikeInBoth("select alike.shared($1, $2), alike.alike($1, $2)", s, sketches[0])
			e.alikeInBoth("select alike.merge(s) from (select $1::bytea as s union all select $2::bytea) as both_of_them", s, sketches[0])
			e.failsAlike("select alike.shared($1, $2)", s, other[0])
		}
		e.fails("select alike.resemblance($1, $2)", sketches[0], other[0])
		e.fails("select alike.resemblance($1, $2)", sketches[0][:len(sketches[0])-1], sketches[0])
	}
}

// Every function of SQLite is a function of PostgreSQL. PostgreSQL has a few more, which serve
// its workers and its transactions.
func TestSameFunctions(t *testing.T) {
	e := open(t)
	lite, err := askSQLite(e.sqlite, `select distinct substr(name, 7) from (select name from pragma_function_list union select name from pragma_module_list)
		where name like 'alike\_%' escape '\' and name not like 'alike\_\_%' escape '\' order by 1`, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := e.postgres.Query(context.Background(), `select distinct proname::text collate "C" from pg_proc where pronamespace = 'alike'::regnamespace and proname !~ '^_' order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	full, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append(lite, "change", "gate", "migration", "own", "sketches")))
	if !slices.Equal(full, want) || len(lite) < 50 {
		t.Errorf("the functions of PostgreSQL are %q, those of SQLite with five more %q", full, want)
	}
}

// The functions of numbers, and what is in every database.
func TestSameNumbers(t *testing.T) {
	e := open(t)
	e.same("select name, settings, purpose from alike.profiles()")
	e.same("select alike.version()")
	for _, f := range [][3]int{{12, 7, 1}, {12, 7, 2}, {6, 14, 2}, {6, 5, 4}, {64, 1, 9}, {1, 255, 1}} {
		for _, resemblance := range []float64{0, 0.1, 0.333, 0.5, 0.77, 0.95, 0.999, 1} {
			e.same(fmt.Sprintf("select alike.filter(%d, %d, %d, $1)", f[0], f[1], f[2]), resemblance)
		}
		e.same(fmt.Sprintf("select resemblance, probability from alike.filter_curve(%d, %d, %d)", f[0], f[1], f[2]))
	}
	e.fails("select alike.filter(6, 14, 7, $1)", 0.5)
	e.fails("select alike.filter(6, 14, 2, $1)", -0.5)
	e.fails("select alike.filter(6, 14, 2, $1)", 1.5)
	e.same("select k, s, r, bytes, miss, accept from alike.filter_plan(0.9, 0.01, 0.5, 0.001)")
	for _, settings := range []string{"", "prose mod=4", "words scaled w=12", "chars", "lines", "words w=1"} {
		for _, tokens := range []float64{0, 0.25, 1, 19, 20, 33.5, 453.25, 60_000, 557_060, 1e9} {
			for _, bytes := range []int{1, 4, 8, 9, 37} {
				e.same("select passage, sampled, sqlite_bytes, postgres_bytes from alike.contains_plan($1, $2, $3)", tokens, settings, int64(bytes))
			}
		}
	}
	e.same("select * from alike.contains_plan(100.5)")
	for _, arguments := range []string{"-1", "1, 'elements'", "1, 'novel'", "1, '', 0", "1, '', 1001"} {
		e.failsAlike("select * from alike.contains_plan(" + arguments + ")")
	}
	for _, si := range []int64{0, 1, -1, 2884449050, -2401276100, 1<<62 + 12345, -1 << 63} {
		e.same("select alike.si_low($1), alike.si_high($1)", si)
		e.same("select alike.si_low($1, $2), alike.si_high($1, $2)", si, 0.05)
	}
	for _, si := range []int64{7, -7, 1000} {
		for _, fraction := range []float64{0, 0.5, 1e200} {
			e.same("select alike.si_low($1, $2), alike.si_high($1, $2)", si, fraction)
		}
	}
	for _, statement := range []string{
		"half_point(12, 7, 2)", "half_point(34, 4, 1)", "half_point(255, 255, 9)", "half_point(6, 14, 2)", "steepest_group(0.931)", "steepest_group(0.5)", "steepest_group(1e-9)",
		"steepest_resemblance(14)", "steepest_resemblance(1)", "steepest_resemblance(255)", "within(84, 0.8, 0.05)", "within(1000, 0.5, 0.01)", "within(1, 0, 0)", "within(5, 1, 0.5)",
		"within(100000, 0.3, 0.001)", "within(10, 0.55, 0.001)", "collision_bound(400, 8000, 64)", "collision_bound(400, 8000, 8)", "collision_bound(0, 1, 40)",
		"expected_collisions(30000000, 40)", "expected_collisions(0, 1)", "expected_collisions(1e9, 64)", "fingerprint_error(600000000, 40)", "fingerprint_error(1000, 64)",
		"fingerprint_bits(1000, 0.001)", "fingerprint_bits(1e9, 1e-6)", "fingerprint_bits(0, 1)",
	} {
		e.same("select alike." + statement)
	}
	for _, statement := range []string{
		"half_point(6, 14, 7)", "steepest_group(0)", "steepest_group(1)", "steepest_resemblance(0)", "within(0, 0.5, 0.1)", "within(1000001, 0.5, 0.1)", "within(10, 1.5, 0.1)",
		"within(10, 0.5, -1)", "collision_bound(-1, 1, 40)", "collision_bound(1, 1, 65)", "expected_collisions(-1, 40)", "expected_collisions(1, 0)", "fingerprint_error(1e200, 40)",
		"fingerprint_bits(1e50, 1e-6)", "fingerprint_bits(10, 0)",
	} {
		e.failsAlike("select alike." + statement)
	}
	e.same("select cell from alike.cells(20.3, 1, 0.1)")
	e.same("select cell from alike.cells(2.2, 0.3, 0.1, -1.1, 0.7)")
}

// A question with NULL for an argument answers NULL or no rows.
func TestSameNulls(t *testing.T) {
	e := open(t)
	e.exec("create table documents (id integer primary key, body text)")
	for _, query := range []string{
		"select * from alike.rows(null, '1')", "select * from alike.rows('documents', null)", "select * from alike.rows('documents', '1', null)", "select * from alike.pairs(null)",
		"select * from alike.pairs('documents', null)", "select * from alike.clusters('documents', null)", "select * from alike.keep('documents', null)", "select * from alike.keep(null)", "select * from alike.si_rows('documents', null, '1')",
		"select * from alike.si_rows('documents', 'length', '1', null)", "select * from alike.hot(null)", "select * from alike.errors(null)", "select * from alike.filter_curve(12, null, 1)",
		"select * from alike.filter_plan(0.9, 0.1, null, 0.1)", "select * from alike.contains_plan(null)", "select * from alike.contains_plan(1, null)", "select * from alike.contains_plan(1, '', null)", "select * from alike.cells(1, 1, null)", "select alike.attach(null, 'body')", "select alike.attach('documents', 'body', null)",
		"select alike.detach(null)", "select alike.refresh(null)", "select alike.bounds(null, null)", "select alike.containment(null, null)",
	} {
		e.same(query)
	}
	e.exec("select alike.attach('documents', 'body')")
	for _, verdict := range []string{"null, '2', 'distinct'", "'1', null, 'distinct'", "'1', '2', null"} {
		e.same("select alike.mark('documents', " + verdict + ")")
	}
	e.same("select alike.resemblance(null, null), alike.profile(null), alike.si_low(null), alike.filter(12, 7, null, 0.5)")
}

// What attach is not told stays as the rows have it that a detach has kept, and none is sketched again.
func TestSameKeptRows(t *testing.T) {
	for _, options := range []string{`{}`, `{"profile": "code", "si": ["length", "forest/1", "43B/40", "45B/40/100"]}`, `{"profile": "names", "contains": true}`,
		`{"profile": "words w=3 k=4 s=2 t=8", "superfeatures": true}`, `{"at_least": 0.8}`, `{"profile": "bing", "layout": "parts"}`, `{"profile": "chars mod=4"}`} {
		e := open(t)
		e.exec("create table documents (id integer primary key, body text)")
		e.exec("insert into documents values (1, 'the harbour master counted the boats that came in'), (2, 'the harbour master counted the boats that went out')")
		e.attach(options)
		e.follow()
		sketches := e.same("select id, sketch from documents_alike")
		columns := e.columns("documents_alike")
		e.same("select alike.detach('documents')")
		e.exec("select alike.attach('documents', 'body')")
		e.follow()
		if got := e.same("select id, sketch from documents_alike"); !slices.Equal(got, sketches) || len(got) != 2 {
			t.Errorf("%s: the sketches are %q after a detach and an attach, were %q", options, got, sketches)
		}
		if got := e.columns("documents_alike"); got != columns {
			t.Errorf("%s: the columns are %s after a detach and an attach, were %s", options, got, columns)
		}
		e.same("select profile, at_least, recall, rows, sketched from alike.status()")
	}
}

// askSketches has SQLite sketch the documents, which PostgreSQL cannot.
func askSketches(e *engines, profile string) ([][]byte, error) {
	rows, err := e.sqlite.Query("select alike_sketch(body, ?) from documents where length(body) > 30 and length(body) < 10000", profile)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sketches [][]byte
	for rows.Next() {
		var s []byte
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		if s != nil {
			sketches = append(sketches, s)
		}
	}
	return sketches, rows.Err()
}

// sameJSON compares two objects of numbers bit by bit.
func (e *engines) sameJSON(query string, args ...any) {
	e.t.Helper()
	sqlite, postgres, sqliteErr, postgresErr := e.both(query, args...)
	if sqliteErr != nil || postgresErr != nil {
		e.t.Fatalf("%s: error %v in SQLite, %v in PostgreSQL", query, sqliteErr, postgresErr)
	}
	var a, b map[string]float64
	if err := json.Unmarshal([]byte(sqlite[0]), &a); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(postgres[0]), &b); err != nil {
		e.t.Fatal(err)
	}
	if len(a) != 3 || fmt.Sprint(a) != fmt.Sprint(b) {
		e.t.Errorf("%s: %v in SQLite, %v in PostgreSQL", query, a, b)
	}
}

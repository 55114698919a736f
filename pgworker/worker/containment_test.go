package worker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// manyWords is a text of words, a few of them frequent.
func manyWords(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", int(4000*r.Float64()*r.Float64()*r.Float64()))
	}
	return words
}

// checkValues compares the values that are kept of each row with those of its document as
// package sketch samples it, in the side table and beside it.
func checkValues(t *testing.T, c *pgx.Conn, when, name, table, key, column string) {
	t.Helper()
	profile, _ := profileOf(t, c, name)
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewPassages(p)
	if err != nil {
		t.Fatal(err)
	}
	list := func(sql string) (lines []string) {
		rows, err := c.Query(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		if lines, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		return lines
	}
	rows, err := c.Query(ctx, fmt.Sprintf("select %s::text, convert_to(coalesce(%s::text, ''), 'UTF8') from %s", key, column, table))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	var id string
	var body []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &body}, func() error {
		values, _, err := s.Values(body)
		for _, v := range values {
			want = append(want, fmt.Sprint(id, " ", v))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	side := one[string](t, c, "select alike._name(a, '') from alike.attachment a where a.name = $1 and a.replaces is null", name)
	beside := one[string](t, c, "select alike._name(a, '_value') from alike.attachment a where a.name = $1 and a.replaces is null", name)
	if got := list(fmt.Sprintf("select %s::text || ' ' || value from %s", key, beside)); !slices.Equal(got, want) {
		t.Errorf("%s: the table of values has %d values, want %d", when, len(got), len(want))
	}
	if got := list(fmt.Sprintf("select %s::text || ' ' || u from %s cross join unnest(passages) as u", key, side)); !slices.Equal(got, want) {
		t.Errorf("%s: the side table has %d values, want %d", when, len(got), len(want))
	}
}

// Passages of books, from anywhere in them, are found in the books that have them, and no
// others, in both directions, whatever the key, by every way to ask.
func TestPassagesInBooks(t *testing.T) {
	for _, v := range []struct {
		version            int
		columns, value, is string
	}{
		{pgtest.Version(), "id bigint primary key, body text", "$1", "%d"},
		{13, `"The a" int, b text, body text, primary key ("The a", b)`, `$1 %% 7, 'k %%s {key}' || $1`, `[%[2]d, "k %%s {key}%[1]d"]`},
		{18, "id text primary key, body text", "'key ' || $1", "key %d"},
	} {
		t.Run(fmt.Sprint(v.version), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			database, c := askable(t, v.version)
			exec(t, c, `create table "My docs" (`+v.columns+")")
			insert := func(n int, text string) {
				exec(t, c, fmt.Sprintf(`insert into "My docs" values (`+strings.ReplaceAll(v.value, "$1", "%[1]d")+", '%[2]s')", n, text))
			}
			of := func(n int) string { return strings.Split(fmt.Sprintf(v.is+"\x00%[1]d%[2]d", n, n%7), "\x00")[0] }
			texts := map[int]string{}
			books, passages := make([][]string, 8), 80
			if v.version != pgtest.Version() { // the same with another key
				passages = 50
			}
			for i := range books {
				books[i] = manyWords(r, 2000+r.IntN(4000))
				insert(i, strings.Join(books[i], " "))
				texts[i] = " " + strings.Join(books[i], " ") + " "
			}
			exec(t, c, `select alike.attach('"My docs"', 'body', '{"contains": true, "profile": "prose", "name": "docs"}')`)
			w := newWorker(t, database, nil)
			once(t, w)
			asked := map[int]string{}
			for i := range passages {
				length := []int{20, 50, 100, 300}[i%4]
				book := r.IntN(len(books))
				at := r.IntN(len(books[book]) - length)
				words := books[book][at : at+length]
				texts[100+i] = " " + strings.Join(words, " ") + " "
				asked[100+i] = strings.ToUpper(strings.Join(words, ", "))
				insert(100+i, asked[100+i])
			}
			once(t, w)
			l := library{c, texts, asked, of}
			l.rowsAreOfTexts(t)
			l.pairsAreOfRows(t)
			startWorker(t, database)
			l.textsAreOfRows(t)
		})
	}
}

// library is a table of books and of passages of them, by their numbers.
type library struct {
	c     *pgx.Conn
	texts map[int]string // as they are in the books
	asked map[int]string // the passages, as they are written in the table
	of    func(n int) string
}

// in are the keys of the other texts that meet a test, in order.
func (l *library) in(itself int, test func(text string) bool) (list []string) {
	for n, text := range l.texts {
		if n != itself && test(text) {
			list = append(list, l.of(n))
		}
	}
	slices.Sort(list)
	return list
}

func (l *library) answer(t *testing.T, query string, args ...any) []string {
	t.Helper()
	rows, err := l.c.Query(ctx, query, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// The rows that contain a text, and those that it contains, are what the texts say: as
// estimates, and exactly.
func (l *library) rowsAreOfTexts(t *testing.T) {
	exact, err := NewContainment(ctx, l.c, "docs", 1)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for n, text := range l.texts {
		for _, q := range []struct {
			name    string
			reverse bool
			want    []string
		}{
			{"containers", false, l.in(n, func(other string) bool { return strings.Contains(other, text) })},
			{"contained", true, l.in(n, func(other string) bool { return strings.Contains(text, other) })},
		} {
			// The values of one or two runs do not tell all; then the bounds say so.
			got := l.answer(t, "select key from alike."+q.name+"('docs', $1, 1) where low > 0.3", l.of(n))
			got = append(got, l.answer(t, "select key from alike."+q.name+"('docs', $1, 1) where low <= 0.3 and key = any ($2)", l.of(n), q.want)...)
			if slices.Sort(got); !slices.Equal(got, q.want) {
				t.Errorf("%s of %s: %q, want %q", q.name, l.of(n), got, q.want)
			}
			list, err := exact.Rows(ctx, l.of(n), q.reverse)
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, x := range list {
				if other := x.Other; q.reverse {
					got = append(got, x.Key)
				} else {
					got = append(got, other)
					said[x.Key+" in "+other] = true
				}
				if x.Containment != 1 {
					t.Errorf("%v, want a containment of 1", x)
				}
			}
			if slices.Sort(got); !slices.Equal(got, q.want) {
				t.Errorf("%s of %s with the texts: %q, want %q", q.name, l.of(n), got, q.want)
			}
		}
	}
	if err := exact.Pairs(ctx, func(x Contained) error {
		if !said[x.Key+" in "+x.Other] {
			t.Errorf("%v is no answer to a question on the row", x)
		}
		delete(said, x.Key+" in "+x.Other)
		return nil
	}); err != nil || len(said) > 0 {
		t.Errorf("pairs lack %v, error %v", said, err)
	}
	exact.Close(ctx)
}

// All pairs are those of each row, from either side.
func (l *library) pairsAreOfRows(t *testing.T) {
	all := l.answer(t, "select key || ' ' || other || ' ' || containment || ' ' || low || ' ' || high from alike.containments('docs', 0.3)")
	each := l.answer(t, "select d.key || ' ' || c.key || ' ' || containment || ' ' || low || ' ' || high from alike.keep('docs') d cross join lateral alike.containers('docs', d.key, 0.3) c")
	reverse := l.answer(t, "select c.key || ' ' || d.key || ' ' || containment || ' ' || low || ' ' || high from alike.keep('docs') d cross join lateral alike.contained('docs', d.key, 0.3) c")
	if !slices.Equal(all, each) || !slices.Equal(all, reverse) || len(all) < len(l.asked) {
		t.Errorf("%d pairs, %d one by one, %d the other way: %q", len(all), len(each), len(reverse), slices.DeleteFunc(each, func(x string) bool { return slices.Contains(all, x) }))
	}
}

// A text that is asked has the answers of the row with the same text.
func (l *library) textsAreOfRows(t *testing.T) {
	for n := range 8 {
		text := l.asked[100+n*7]
		if got, want := l.answer(t, "select key from alike.containers_like('docs', $1, 1)", text), l.answer(t, "select key from alike.containers('docs', $1, 1)", l.of(100+n*7)); !slices.Equal(slices.DeleteFunc(got, func(key string) bool { return key == l.of(100+n*7) }), want) {
			t.Errorf("containers of the text of %d: %q, want %q", 100+n*7, got, want)
		}
		if got, want := l.answer(t, "select key from alike.contained_like('docs', $1)", l.texts[n]), l.answer(t, "select key from alike.contained('docs', $1)", l.of(n)); len(got) != len(want)+1 {
			t.Errorf("the text of %d contains %q, want %q and itself", n, got, want)
		}
	}
	if got, want := one[string](t, l.c, "select string_agg(a.containment || ' ' || (a.low <= a.containment and a.high >= a.containment), ' ') from (select * from alike.containers_like('docs', $1, 0.01, 1)) a", l.asked[103]), "1 true"; got != want {
		t.Errorf("the first answer: %s, want %s", got, want)
	}
}

// No kept row is contained in another kept row, and each row that goes is contained in the row
// that stands for it: by its values where these tell it, and else by its text, if a worker can
// be asked.
func TestKeepContaining(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	database, c := askable(t, pgtest.Version())
	exec(t, c, "create table d (id int primary key, body text)")
	texts := map[string]string{}
	add := func(id int, words []string) {
		texts[fmt.Sprint(id)] = " " + strings.Join(words, " ") + " "
		exec(t, c, "insert into d values ($1, $2)", id, texts[fmt.Sprint(id)])
	}
	var books [][]string
	for i := range 6 {
		books = append(books, manyWords(r, 500+r.IntN(1000)))
		add(10*i, books[i])
	}
	for i := range 30 {
		book := books[i%6]
		n := []int{20, 60, 300}[i%3]
		at := r.IntN(len(book) - n)
		add(100+i, book[at:at+n])
	}
	add(200, books[0]) // word for word
	add(201, manyWords(r, 80))
	own := manyWords(r, 400)
	add(202, append(slices.Clone(books[1][:360]), own[:40]...))     // for the greater part
	add(203, append(slices.Clone(books[2][:300]), own[100:200]...)) // not quite enough of it
	add(204, append(slices.Clone(books[3][:400]), own[200:260]...)) // goes, and so does not stand for the next, which is all of it
	add(205, append(slices.Clone(books[3][130:400]), own[200:260]...))
	partly := []string{"202", "204", "205"}
	exec(t, c, `select alike.attach('d', 'body', '{"contains": true, "profile": "prose"}')`)
	once(t, newWorker(t, database, nil))
	exec(t, c, "insert into d values (300, 'not sketched yet')")
	exec(t, c, "select alike.mark('d', '10', '101', 'distinct')")
	check := func(when string, all bool) {
		t.Helper()
		kept := keptRows(t, c, "alike.keep('d', 'contains')")
		if len(kept) != len(texts)+1 || kept["200"] != "0" || kept["101"] == "10" || kept["201"] != "201" || kept["300"] != "300" || kept["203"] != "203" || all && (kept["204"] != "30" || kept["205"] != "30") {
			t.Errorf("%s: %d rows, 200 goes for %s, 101 for %s, 201 for %s", when, len(kept), kept["200"], kept["101"], kept["201"])
		}
		for key, other := range kept {
			if kept[other] != other || !slices.Contains(partly, key) && !strings.Contains(texts[other], texts[key]) {
				t.Errorf("%s: %s goes for %s, which goes for %s", when, key, other, kept[other])
			}
			if key == other && key != "101" && key != "300" && all {
				for k, o := range kept {
					if k == o && k != key && strings.Contains(texts[k], texts[key]) {
						t.Errorf("%s: %s is kept, and is in %s", when, key, k)
					}
				}
			}
		}
	}
	startWorker(t, database)
	check("with a worker", true)
	// Each row that goes has its proof: how much of it is in the other, from the texts themselves.
	asked := one[int64](t, c, "select pg_sequence_last_value(pg_get_serial_sequence('alike.question', 'id'))")
	if got := one[string](t, c, `select count(*) || ' ' || count(*) filter (where k.resemblance = alike.containment_exact(x.body, y.body, 'words w=5')) || ' ' || count(*) filter (where k.resemblance < 1)
		from alike.keep('d', 'contains') k join d x on x.id = k.key::int join d y on y.id = k.kept::int where k.key <> k.kept`); got != "33 33 3" {
		t.Errorf("rows that go, of these with the exact containment, and those that are not contained whole: %s, want 33 33 3", got)
	}
	if asked = one[int64](t, c, "select pg_sequence_last_value(pg_get_serial_sequence('alike.question', 'id'))") - asked; asked > 33+2 {
		t.Errorf("%d questions for 33 rows that go, 33 of them by this test", asked)
	}
	exec(t, c, "drop server alike_ask cascade")
	check("without", false)
	if kept := keptRows(t, c, "alike.keep('d', 'contains')"); kept["100"] != "100" || kept["102"] == "102" {
		t.Errorf("without a worker 20 words go for %s, 300 for %s", kept["100"], kept["102"])
	}
}

// What alike.contains_plan says beforehand is within a tenth of what the side table and the table
// of values take with the option and not without, for rows that are there and for rows that come.
func TestContainsPlan(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	w := newWorker(t, database, nil)
	for i, v := range []struct {
		settings, key, id, tokens string
		keyBytes, words, rows     int
	}{
		{"prose", "bigint", "$1", "30", 8, 30, 4000}, {"prose", "int", "$1", "450", 4, 450, 600}, {"words mod=8", "bigint", "$1", "450", 8, 450, 600},
		{"words scaled w=3", "bigint", "$1", "6000", 8, 6000, 60}, {"short", "bigint", "$1", "length(body)", 8, 100, 600}, {"prose", "uuid", "md5('$1')::uuid", "450", 16, 450, 600},
	} {
		r := rand.New(rand.NewPCG(5, 6))
		for _, table := range []string{"with", "without"} {
			exec(t, c, fmt.Sprintf("create table %s_%d (id %s primary key, body text)", table, i, v.key))
		}
		insert := func(first int) {
			var batch pgx.Batch
			for n := range v.rows {
				text := strings.Join(manyWords(r, v.words), " ")
				for _, table := range []string{"with", "without"} {
					batch.Queue(fmt.Sprintf("insert into %s_%d values (%s, $1)", table, i, strings.Replace(v.id, "$1", fmt.Sprint(first+n), 1)), text)
				}
			}
			if err := c.SendBatch(ctx, &batch).Close(); err != nil {
				t.Fatal(err)
			}
		}
		insert(0)
		exec(t, c, fmt.Sprintf(`select alike.attach('with_%d', 'body', '{"profile": "%s", "contains": true}'), alike.attach('without_%[1]d', 'body', '{"profile": "%[2]s"}')`, i, v.settings))
		once(t, w)
		taken := func() float64 {
			for _, table := range []string{"with_%d_alike_value", "with_%d_alike", "without_%d_alike"} { // of the pages at the end that are empty
				exec(t, c, fmt.Sprintf("vacuum "+table, i))
			}
			return one[float64](t, c, fmt.Sprintf("select pg_total_relation_size('with_%d_alike_value') + pg_total_relation_size('with_%[1]d_alike') - pg_total_relation_size('without_%[1]d_alike')::float8", i))
		}
		planned := one[float64](t, c, fmt.Sprintf("select sum(p.postgres_bytes)::float8 from with_%d d cross join lateral alike.contains_plan(%s, '%s', %d) p", i, v.tokens, v.settings, v.keyBytes))
		filled := taken()
		insert(v.rows)
		once(t, w)
		grown := taken() - filled
		t.Logf("%s, %s, %d words: %.3f of the planned bytes, %.3f by checkins", v.settings, v.key, v.words, filled/planned, grown/planned)
		if math.Abs(filled/planned-1) > 0.1 || math.Abs(grown/planned-1) > 0.1 {
			t.Errorf("%s, %s, %d words: %.0f bytes and %.0f by checkins, planned %.0f", v.settings, v.key, v.words, filled, grown, planned)
		}
	}
}

// The values follow every change of a row, of its key, of the table, of the options and of
// the profile.
func TestContainsComesAndGoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, version := range pgtest.Releases() {
		database := pgtest.Shared(t, version).Database(t)
		c := pgtest.Connect(t, database)
		w := newWorker(t, database, nil)
		exec(t, c, "create table d (id numeric primary key, body text)")
		text := func(n int) string { return strings.Join(manyWords(r, n), " ") }
		for i := range 5 {
			exec(t, c, "insert into d values ($1::text::numeric, $2)", fmt.Sprint(i), text(60))
		}
		exec(t, c, "select alike.attach('d', 'body')")
		once(t, w)
		for _, question := range []string{"containers('d', '1')", "contained('d', '1')", "containers_like('d', 'x')", "contained_like('d', 'x')", "containments('d')"} {
			fails(t, c, "d keeps no values for questions on containment", "select * from alike."+question)
		}
		after := func(when string, statements ...string) {
			t.Helper()
			for _, statement := range statements {
				exec(t, c, statement)
			}
			once(t, w)
			checkValues(t, c, when, "d", "d", "id::float8", "body")
		}
		after("added", `select alike.attach('d', 'body', '{"contains": true}')`)
		for i, statement := range []string{
			"insert into d select 10, body || ' and more of it' from d where id = 1",
			"update d set body = body || ' again and again and again the same words of a row that is long enough to have a few values' where id in (2, 3)",
			"update d set id = id + 100", "update d set id = id + 0.00", "delete from d where id = 102", "update d set body = null where id = 103",
			"update d set body = '... ...' where id = 101", "update d set body = 'one two' where id = 104",
			"insert into d select 200 + g, (select body from d where id = 110) || ' number ' || g from generate_series(1, 300) as g",
			"begin; delete from d where id = 110; insert into d values (110, 'other words than those that were there'); commit",
		} {
			after(fmt.Sprint(statement, " ", i), statement)
		}
		after("a change of the profile", `select alike.change('d', '{"profile": "words w=3"}')`)
		after("and an update", "update d set body = body || ' more' where id < 250")
		after("another type", "alter table d alter id type bigint using id::bigint")
		after("renamed", "alter table d rename body to text; alter table d rename id to number; alter table d rename text to body; alter table d rename number to id")
		exec(t, c, "select alike.mark('d', '300', '301', 'distinct')")
		if n := one[int](t, c, "select count(*) from alike.containers('d', '300') where key in ('301', '302')"); n != 1 {
			t.Errorf("%d of two rows, one of which a person called distinct, want 1", n)
		}
		if n := one[int](t, c, "select count(*) from alike.containments('d') where (key, other) in (('300', '301'), ('301', '300'))"); n != 0 {
			t.Errorf("%d pairs of rows that a person called distinct, want 0", n)
		}
		after("detached", `select alike.detach('d')`, "update d set body = 'changed while detached ' || body where id > 400", "delete from d where id = 399",
			`select alike.attach('d', 'body', '{"contains": true, "profile": "words w=3"}')`)
		after("truncated", "truncate d", "insert into d values (1, 'a text that is long enough to have several values, or at least more than one, of its passages here')")
		after("unlogged", "alter table d set unlogged")
		exec(t, c, `select alike.change('d', '{"contains": false}')`)
		once(t, w)
		if n := one[int](t, c, "select count(*) from pg_class where relname ~ 'value' and relnamespace = 'public'::regnamespace"); n != 0 {
			t.Errorf("%d relations remain of the values, want 0", n)
		}
		// With a change of the profile, too, the tables of an option go that is set to false.
		exec(t, c, `select alike.change('d', '{"contains": true, "clusters": true, "layout": "parts"}')`)
		once(t, w)
		exec(t, c, `select alike.change('d', '{"contains": false, "clusters": false, "layout": "columns", "profile": "words w=5"}')`)
		once(t, w)
		if names := list(t, c, "select relname::text from pg_class where relname ~ 'value|cluster|event|part' and relnamespace = 'public'::regnamespace"); names != "" {
			t.Errorf("%s remain of options that are set to false", names)
		}
		after("again", `select alike.attach('d', 'body', '{"contains": true}')`)
		fails(t, c, "at_least is 0, want above 0", "select * from alike.containers('d', '1', 0)")
		fails(t, c, "d has no row 99", "select * from alike.containers('d', '99')")
		fails(t, c, `the key "x" of d is not bigint`, "select * from alike.contained('d', 'x')")
		fails(t, c, `option contains is "yes", want true or false`, `select alike.attach('d', 'body', '{"contains": "yes"}')`)
		exec(t, c, `select alike.detach('d', '{"drop": true}')`)
		if n := one[int](t, c, "select count(*) from pg_class where relname ~ 'alike' and relnamespace = 'public'::regnamespace"); n != 0 {
			t.Errorf("%d relations remain, want 0", n)
		}
		if n := one[int](t, c, "select count(*) from pg_proc where pronamespace = 'public'::regnamespace and proname ~ 'alike'"); n != 0 {
			t.Errorf("%d functions remain, want 0", n)
		}
		exec(t, c, `create table v (value int primary key, body text)`)
		fails(t, c, `the key column "value" has the name of a column of the table of values`, `select alike.attach('v', 'body', '{"contains": true}')`)
		exec(t, c, `create table w (id int primary key, body text)`)
		fails(t, c, "the stream elements has no passages", `select alike.attach('w', 'body', '{"contains": true, "profile": "elements"}')`)
	}
}

package worker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

// askable is a database whose functions can ask a worker.
func askable(t *testing.T, version int) (string, *pgx.Conn) {
	t.Helper()
	database := pgtest.Shared(t, version).Database(t)
	c := pgtest.Connect(t, database)
	fails(t, c, "nothing says how to ask one", "select alike.sketch('a text')")
	exec(t, c, "create extension dblink schema public")
	exec(t, c, `do $$ begin execute format('create server alike_ask foreign data wrapper dblink_fdw options (host %L, dbname %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_database()); end $$`)
	exec(t, c, "create user mapping for postgres server alike_ask options (user 'postgres')")
	return database, c
}

// askedTexts are texts whose answers in SQL are compared with those of package sketch.
var askedTexts = []string{story, "", " \t\n", "one", "it's \\ a \"trap\"; drop table x; -- $1 %s {a,b} NULL", "Ünïcödé Straße 統計學是應用數學 🙂\u202e\ufeff", "\u0001\u0002 \u007f", strings.Repeat("long words ", 100_000)}

// What takes text gives in SQL what package sketch gives, whatever the text.
func TestQuestionsOfText(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			database, c := askable(t, version)
			exec(t, c, "set alike.timeout = 0.2")
			fails(t, c, "no worker answered within 0.2 seconds", "select alike.sketch('a text')")
			if n := count(t, c, "alike.question"); n != 0 {
				t.Errorf("%d questions remain after a timeout, want 0", n)
			}
			exec(t, c, "set alike.timeout = 60")
			startWorker(t, database)
			for _, topic := range []struct {
				name string
				show func(*testing.T, *pgx.Conn)
			}{
				{"sketches", sketchesOfTexts}, {"exact measures", exactMeasuresOfTexts}, {"tokens and shingles", tokensOfTexts}, {"passages", passagesOfTexts},
				{"similarity indexes", indexesOfTexts}, {"null", nullsForTexts}, {"refusals", refusedTexts}, {"rows like a text", rowsLikeTexts},
			} {
				t.Run(topic.name, func(t *testing.T) { topic.show(t, c) })
			}
			if n := count(t, c, "alike.question"); n != 0 {
				t.Errorf("%d questions remain, want 0", n)
			}
		})
	}
}

// askedProfiles calls what with each profile under which texts are compared.
func askedProfiles(t *testing.T, what func(settings string, p sketch.Profile)) {
	t.Helper()
	for _, settings := range []string{"", "words bits=8", "chars bag", "weighted", "mod=1"} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		what(settings, p)
	}
}

func sketchesOfTexts(t *testing.T, c *pgx.Conn) {
	askedProfiles(t, func(profile string, p sketch.Profile) {
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]byte
		for _, text := range askedTexts {
			s.Document([]byte(text))
			want = append(want, s.AppendSketch(nil))
		}
		for i, text := range askedTexts {
			if got := one[[]byte](t, c, "select alike.sketch($1, $2)", text, profile); !bytes.Equal(got, want[i]) {
				t.Errorf("%q of %.40q: %.40x, want %.40x", profile, text, got, want[i])
			}
		}
		if got := one[[][]byte](t, c, "select alike.sketches($1, $2)", askedTexts, profile); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%q: the batch is %.40x, want %.40x", profile, got, want)
		}
	})
}

func exactMeasuresOfTexts(t *testing.T, c *pgx.Conn) {
	askedProfiles(t, func(profile string, p sketch.Profile) {
		for _, b := range askedTexts[:5] {
			r, ok, err := sketch.ExactResemblance(p, []byte(story), []byte(b))
			if got := one[*float64](t, c, "select alike.resemblance_exact($1, $2, $3)", story, b, profile); err != nil || (got != nil) != ok || ok && *got != r {
				t.Errorf("resemblance_exact under %q: %v, want %v %v %v", profile, got, r, ok, err)
			}
			r, ok, err = sketch.ExactContainment(p, []byte(b), []byte(story))
			if got := one[*float64](t, c, "select alike.containment_exact($1, $2, $3)", b, story, profile); err != nil || (got != nil) != ok || ok && *got != r {
				t.Errorf("containment_exact under %q: %v, want %v %v %v", profile, got, r, ok, err)
			}
		}
	})
}

func tokensOfTexts(t *testing.T, c *pgx.Conn) {
	p, err := sketch.ParseProfile("words w=2")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := one[[]string](t, c, "select array_agg(token order by position) from alike.tokens($1, 'words w=2')", askedTexts[4]), slices.Collect(sketch.Tokens(p, []byte(askedTexts[4]))); !slices.Equal(got, want) {
		t.Errorf("tokens %q, want %q", got, want)
	}
	i := 0
	for shingle, fingerprint := range sketch.Shingles(p, []byte(story)) {
		i++
		if i%10 == 1 && !one[bool](t, c, "select (shingle, fingerprint) = ($3, $4::bigint) from alike.shingles($1, 'words w=2') where position = $2", story, i, shingle, int64(fingerprint)) {
			t.Errorf("shingle %d is not %q with the fingerprint %d", i, shingle, int64(fingerprint))
		}
	}
}

func passagesOfTexts(t *testing.T, c *pgx.Conn) {
	p, err := sketch.ParseProfile("words w=2")
	if err != nil {
		t.Fatal(err)
	}
	passages, err := sketch.Explain(p, []byte(story), []byte(story+" and more of it"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, x := range passages {
		all = append(all, fmt.Sprintf("%s:%s:%d:%d:%d", x.Kind, x.Text, x.Tokens, x.Left+1, x.Right+1))
	}
	if got, want := one[string](t, c, "select string_agg(kind || ':' || passage || ':' || tokens || ':' || coalesce(left_position, 0) || ':' || coalesce(right_position, 0), '|') from alike.explain($1, $2, 'words w=2')", story, story+" and more of it"), strings.Join(all, "|"); got != want {
		t.Errorf("explain %q, want %q", got, want)
	}
}

func indexesOfTexts(t *testing.T, c *pgx.Conn) {
	for _, variant := range []string{"43B/4", "length", "forest/0", "3a/16"} {
		v, err := simindex.Parse(variant)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range askedTexts[:4] {
			si, ok := v.Index([]byte(text))
			if got := one[*int64](t, c, "select alike.si($1, $2)", text, variant); (got != nil) != ok || ok && *got != si {
				t.Errorf("si %s of %.20q: %v, want %d %v", variant, text, got, si, ok)
			}
		}
	}
}

func nullsForTexts(t *testing.T, c *pgx.Conn) {
	for _, nothing := range []string{"alike.sketch(null)", "alike.sketch('x', null)", "alike.si(null, 'length')", "alike.resemblance_exact('x', null)", "alike.sketches(null)"} {
		if !one[bool](t, c, "select "+nothing+" is null") {
			t.Errorf("%s is not NULL", nothing)
		}
	}
}

func refusedTexts(t *testing.T, c *pgx.Conn) {
	fails(t, c, `"nonsense" is not a setting or a preset`, "select alike.sketch('x', 'nonsense')")
	fails(t, c, `method 60, want 1 to 14`, "select alike.si('x', '60B/4')")
	fails(t, c, "a document of 2000000 bytes, want at most 1048576", "select * from alike.tokens(repeat('a ', 1000000))")
}

func rowsLikeTexts(t *testing.T, c *pgx.Conn) {
	exec(t, c, "create table documents (id int primary key, body text); select alike.attach('documents', 'body', '{\"at_least\": 0.5}')")
	exec(t, c, "insert into documents values (1, $1), (2, 'quite another text that has nothing in common with the first of them')", story)
	waitFor(t, "the sketches", func() bool { return count(t, c, "documents_alike") == 2 })
	if got, want := one[string](t, c, "select string_agg(key || ' ' || shared || ' ' || resemblance, ',') from alike.rows_like('documents', $1)", story), "1 34 1"; got != want {
		t.Errorf("rows_like gives %q, want %q", got, want)
	}
	if n := count(t, c, "alike.rows_like('documents', '')"); n != 0 {
		t.Errorf("%d rows are like an empty text, want 0", n)
	}
}

// One call takes milliseconds, and a batch is a few questions, however many texts it has.
func TestQuestionsInBatches(t *testing.T) {
	database, c := askable(t, pgtest.Version())
	startWorker(t, database)
	exec(t, c, "set alike.timeout = 60")
	exec(t, c, "create table t as select g as id, string_agg('w' || (g * 7919 + i * 104729) % 100003, ' ' order by i) as body from generate_series(1, 4000) g, generate_series(1, 60) i group by g")
	before := one[int64](t, c, "select coalesce(pg_sequence_last_value(pg_get_serial_sequence('alike.question', 'id')), 0)")
	if n := one[int](t, c, "select count(s) from (select array_agg(id order by id) as ids, alike.sketches(array_agg(body order by id)) as sketches from t) a, unnest(ids, sketches) as u(id, s)"); n != 4000 {
		t.Errorf("%d sketches of 4000 texts, want 4000", n)
	}
	questions := one[int64](t, c, "select pg_sequence_last_value(pg_get_serial_sequence('alike.question', 'id'))") - before
	if questions > 10 {
		t.Errorf("4000 texts took %d questions, want at most 10", questions)
	}
	if n := one[int](t, c, "select count(alike.sketch(body)) from (select body from t limit 200) few"); n != 200 {
		t.Errorf("%d sketches of 200 texts, want 200", n)
	}

	// A statement that waits can be cancelled, and the session asks again.
	exec(t, c, "set statement_timeout = '300ms'")
	fails(t, c, "canceling statement due to statement timeout", "select count(alike.sketch(body || id)) from t")
	exec(t, c, "set statement_timeout = 0")
	if one[[]byte](t, c, "select alike.sketch($1)", story) == nil {
		t.Error("no sketch after a statement was cancelled")
	}
	// A connection that is cut is opened again.
	exec(t, c, "select pg_terminate_backend(pid) from pg_stat_activity where query ~ 'alike._answer' and pid <> pg_backend_pid()")
	if one[[]byte](t, c, "select alike.sketch($1)", story) == nil {
		t.Error("no sketch after the connection was cut")
	}
}

// The announcement of a question wakes the loop that answers questions and no other; any other
// announcement wakes them all.
func TestQuestionsWakeOneLoop(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	w := newWorker(t, database, nil)
	listening, stop := context.WithCancel(ctx)
	defer stop()
	go w.listen(listening)
	waitFor(t, "the worker to listen", func() bool {
		return one[bool](t, c, "select exists (select from pg_stat_activity where query = 'listen alike' and datname = current_database())")
	})
	for _, announced := range []struct {
		statement string
		all       bool
	}{{"select pg_notify('alike', 'question')", false}, {"notify alike", true}} {
		asked, all := w.asked.rung(), w.bell.rung()
		exec(t, c, announced.statement)
		<-asked
		if announced.all {
			<-all
		}
		select {
		case <-all:
			if !announced.all {
				t.Errorf("%s wakes every loop", announced.statement)
			}
		default:
		}
	}
}

// A role asks with the rights of its own user mapping, and sees no question of another.
func TestQuestionsOfOthers(t *testing.T) {
	_, c := askable(t, pgtest.Version())
	exec(t, c, "insert into alike.question (task, settings, documents) values ('sketch', '', '{a secret text}')")
	exec(t, c, "create role asker in role alike_reader; create role stranger")
	exec(t, c, "set role asker")
	fails(t, c, "no worker could be asked: user mapping not found", "select alike.sketch('x')")
	fails(t, c, "permission denied", "select documents from alike.question")
	if n := count(t, c, "(select id from alike.question) as q"); n != 0 {
		t.Errorf("a reader sees %d questions of another, want 0", n)
	}
	fails(t, c, "permission denied", "insert into alike.question (task, settings, documents, asked_by) values ('sketch', '', '{x}', 'postgres')")
	fails(t, c, "permission denied", "update alike.question set answer = '[]'")
	exec(t, c, "insert into alike.question (task, settings, documents) values ('sketch', '', '{x}')")
	if n := count(t, c, "(select id from alike.question) as q"); n != 1 {
		t.Errorf("a reader sees %d questions, want its own", n)
	}
	exec(t, c, "set role stranger")
	fails(t, c, "permission denied", "select alike.sketch('x')")
	fails(t, c, "permission denied", "select id from alike.question")
	exec(t, c, "reset role")
	exec(t, c, "drop owned by asker; drop role asker, stranger")
}

// advise reads what its caller may read, takes an empty table, and says what has no preset.
func TestAdviseOnColumns(t *testing.T) {
	database, c := askable(t, pgtest.Version())
	exec(t, c, `set alike.timeout = 60;
		create schema apart;
		create table apart."a table" (id int primary key, "a text" text, tags text[], raw bytea);
		insert into apart."a table" select g, 'the ' || g || 'th note about the harbour and the ships that lie in it', array['a'], convert_to('a name ' || g, 'UTF8') from generate_series(1, 40) as g;
		insert into apart."a table" values (41, null, null, '\xff');
		create table nothing (body text)`)
	worker := startWorker(t, database)
	defer kill(worker)
	for call, want := range map[string]string{
		`alike.advise('apart."a table"', 'a text')`: "short columns",
		`alike.advise('apart."a table"', 'raw')`:    "names columns",
		`alike.advise('nothing', 'body')`:           "prose columns",
	} {
		if got := one[string](t, c, "select string_agg(preset || ' ' || layout, ' ') from "+call+" where chosen"); got != want {
			t.Errorf("%s chooses %q, want %s", call, got, want)
		}
	}
	for call, want := range map[string]string{
		`alike.advise('apart."a table"', 'tags')`: "the elements of apart.\"a table\".tags are its shingles",
		`alike.advise('apart."a table"', 'id')`:   "is integer, want text",
		`alike.advise('apart."a table"', 'none')`: "has no column none",
		`alike.advise('missing', 'body')`:         "there is no table missing",
	} {
		if _, err := c.Exec(ctx, "select * from "+call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
	if n := one[int](t, c, "select count(*) from alike.advise(null, 'body')"); n != 0 {
		t.Errorf("%d rows of no table, want 0", n)
	}
}

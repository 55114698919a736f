package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// Every verb works with tables, columns and schemas of any name.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"100% of %s, %I and %1$L", `quo"ted 'and' "un"quoted`, `back\slash \n E'\'`, "a\tb c\n; select 1 --", strings.Repeat("y", 63), "naïve 🦊 日本", "{side} {keys} $1 %", "Select", "alike"} {
		t.Run(name, func(t *testing.T) {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			schema, attached := name, name
			if name == "alike" {
				schema = "of alike"
			}
			short := name
			if len(name) > 40 { // two of them and a suffix name an index
				attached, short = "short", name[:57]
			}
			table := pgx.Identifier{schema, name}.Sanitize()
			key, second, body := pgx.Identifier{short[:min(len(short), 20)] + "1"}.Sanitize(), pgx.Identifier{short[:min(len(short), 20)] + "2"}.Sanitize(), pgx.Identifier{name}.Sanitize()
			if strings.ContainsRune(name, '🦊') {
				key, second = `"🦊 1"`, `"🦊 2"`
			}
			exec(t, c, fmt.Sprintf("create schema %s", pgx.Identifier{schema}.Sanitize()))
			exec(t, c, fmt.Sprintf("create table %s (%s int, %s text, %s text, kind text default 'a', primary key (%[2]s, %[3]s))", table, key, second, body))
			insert := fmt.Sprintf("insert into %s (%s, %s, %s) select g, $1, 'the quick brown fox jumps over the lazy dog' from generate_series($2::int, $3) as g", table, key, second, body)
			exec(t, c, insert, name, 1, 6)
			exec(t, c, "select alike.attach($1, $2, jsonb_build_object('profile', 'words w=2 k=5 s=4 t=84', 'name', $3::text, 'policy', 'link', 'where', 'kind = ''a''', 'si', array['length']))", table, name, attached)
			w := newWorker(t, database, nil)
			once(t, w)
			exec(t, c, insert, name, 7, 12)
			exec(t, c, fmt.Sprintf("update %s set %s = %[2]s || ' and cat' where %s = 1", table, body, key))
			exec(t, c, fmt.Sprintf("delete from %s where %s = 2", table, key))
			once(t, w)
			third := one[string](t, c, "select jsonb_build_array(3, $1::text)::text", name)
			fourth := one[string](t, c, "select jsonb_build_array(4, $1::text)::text", name)
			for _, ask := range []struct {
				sql  string
				want int
			}{
				{"select count(*) from alike.rows($1, $2)", 10},
				{"select count(*) from alike.si_rows($1, 'length', $2, 0.01)", 9},
				{"select count(*) from alike.pairs($1) where $2 <> ''", 55},
				{"select count(*) from alike.clusters($1) where $2 <> ''", 11},
				{"select alike.write_clusters($1) where $2 <> ''", 11},
				{"select (count(*) > 0)::int from alike.hot($1) where $2 <> ''", 1},
				{"select count(*) from alike.errors($1) where $2 <> ''", 0},
				{"select count(*) from alike.status() where name = $1 and rows = 11 and sketched = 11 and pending = 0 and note is null and $2 <> ''", 1},
			} {
				if n := one[int](t, c, ask.sql, attached, third); n != ask.want {
					t.Errorf("%s: %d, want %d", ask.sql, n, ask.want)
				}
			}
			exec(t, c, "select alike.mark($1, $2, $3, 'distinct')", attached, third, fourth)
			q, err := Ask(ctx, c, attached, []byte("the quick brown fox jumps over the lazy dog"))
			if err != nil {
				t.Fatal(err)
			}
			if got := one[string](t, c, "select alike.gate($1, $2, $3)", attached, q.Sketch, third); got == third || got == fourth {
				t.Errorf("gate finds %s", got)
			}
			exec(t, c, "select alike.change($1, '{\"profile\": \"words w=3 k=5 s=4 t=84\"}')", attached)
			once(t, w)
			exec(t, c, fmt.Sprintf("alter table %s rename column %s to kept", table, body))
			exec(t, c, fmt.Sprintf("update %s set kept = kept || ' again'", table))
			once(t, w)
			checkSide(t, c, attached, table, "kept", fmt.Sprintf("jsonb_build_array(%s, %s)::text", key, second), "true")
			exec(t, c, "select alike.refresh($1), alike.own($1)", attached)
			once(t, w)
			exec(t, c, fmt.Sprintf("truncate %s", table))
			once(t, w)
			if n := one[int](t, c, "select count(*) from alike.status() where name = $1 and rows = 0 and sketched = 0 and note is null", attached); n != 1 {
				t.Errorf("after truncate: %s", list(t, c, "select s::text from alike.status() s"))
			}
			exec(t, c, "select alike.detach($1, '{\"drop\": true}')", attached)
			if left := list(t, c, "select relname from pg_class where relnamespace = $1::text::regnamespace and relname <> $2 and relkind in ('r', 'v')", pgx.Identifier{schema}.Sanitize(), name); left != "" {
				t.Errorf("detach left %s", left)
			}
		})
	}
}

// status tells which changes no trigger saw, and refresh mends them.
func TestChangesThatNoTriggerSaw(t *testing.T) {
	t.Parallel()
	for _, version := range pgtest.Releases() {
		database := pgtest.Shared(t, version).Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, "create table documents (id int primary key, body text); insert into documents select g, 'text of ' || g from generate_series(1, 10) as g; select alike.attach('documents', 'body')")
		w := newWorker(t, database, nil)
		once(t, w)
		note := func() string { return one[string](t, c, "select coalesce(note, '') from alike.status()") }
		for _, step := range []struct{ sql, want string }{
			{"set session_replication_role = replica; insert into documents values (11, 'eleven'); delete from documents where id < 4; reset session_replication_role", "8 rows and 10 sketches, and nothing waits: some change was not seen; select alike.refresh('documents')"},
			{"alter table documents disable trigger user; insert into documents values (12, 'twelve')", "triggers of public.documents are disabled, so that changes are not seen"},
			{"alter table documents enable trigger user; drop trigger alike_1_update on documents", "1 of the four triggers of public.documents are gone: detach and attach again"},
			{"select alike.detach('documents'), alike.attach('documents', 'body'); create table heirs () inherits (documents)", "public.heirs inherit from public.documents; their rows are not attached"},
			{"drop table heirs; create table every (id int, body text) partition by range (id); alter table every attach partition documents default", "public.documents has become part of another table, through which changes are not seen"},
		} {
			exec(t, c, step.sql)
			if got := note(); !strings.Contains(got, step.want) {
				t.Errorf("PostgreSQL %d: after %s status says %q, want %q", version, step.sql, got, step.want)
			}
			exec(t, c, "select alike.refresh('documents')")
			once(t, w)
			checkSide(t, c, "documents", "documents", "body", "id::text", "true")
		}
	}
}

// After a crash an unlogged table is empty, and so is what we keep of it.
func TestUnloggedTable(t *testing.T) {
	server := pgtest.New(t, pgtest.Version())
	database := server.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, `create unlogged table notes (id int primary key, body text);
		select alike.attach('notes', 'body', '{"policy": "link"}');
		insert into notes select g, 'one two three four five' from generate_series(1, 5) as g;
		create table logged (id int primary key, body text); select alike.attach('logged', 'body', '{"policy": "link"}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "select alike.write_clusters('notes')")
	exec(t, c, "insert into logged select * from notes; alter table logged set unlogged") // its sketches stay logged
	once(t, w)
	w.Close()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	c = pgtest.Connect(t, database)
	w = newWorker(t, database, nil)
	once(t, w)
	for _, table := range []string{"notes", "notes_alike", "notes_alike_match", "notes_alike_mark", "notes_alike_cluster", "logged"} {
		if n := count(t, c, table); n != 0 {
			t.Errorf("%s has %d rows after the crash", table, n)
		}
	}
	if note := list(t, c, "select note from alike.status() where name = 'logged'"); !strings.Contains(note, "unlogged") {
		t.Errorf("status says %q of a table whose sketches outlive a crash", note)
	}
	exec(t, c, "select alike.refresh('logged')")
	once(t, w)
	if n := count(t, c, "logged_alike") + count(t, c, "logged_alike_match"); n != 0 {
		t.Errorf("refresh leaves %d rows, want 0", n)
	}
}

// attach with the policy reject says what it refuses, and what is missing for that.
func TestAttachSaysWhatIsRefused(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said = append(said, n.Message+" / "+n.Hint) }
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	exec(t, c, "create table documents (id int primary key, body text)")
	for _, step := range []struct {
		sql  string
		want []string
	}{
		{`select alike.attach('documents', 'body', '{"policy": "warn"}')`, nil},
		{`select alike.change('documents', '{"policy": "reject"}')`, []string{"documents refuses nothing by itself: a document is judged when its program calls alike.gate(table, sketch) in the transaction that inserts it / With the option ask"}},
		{`select alike.detach('documents', '{"drop": true}')`, nil},
		{`select alike.attach('documents', 'body', '{"policy": "reject", "ask": {"connection": "here", "timeout": 3, "otherwise": "refuse"}}')`, []string{
			"documents refuses inserts and updates whose document resembles another row at", "when no worker answers within 3 seconds they are refused", "the extension dblink is not installed: until it is, no worker is asked / create extension dblink"}},
	} {
		said = nil
		exec(t, c, step.sql)
		all := strings.Join(said, "\n")
		for _, want := range step.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s says %q, want %q", step.sql, all, want)
			}
		}
		if step.want == nil && strings.Contains(all, "refuses") {
			t.Errorf("%s says %q", step.sql, all)
		}
	}
}

package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A stage has roles of its own on a shared server: alice and bob own tables, each of
// them in a schema of that name, and may attach; mallory is as they are, and hostile.
// Each has a worker, a reader may ask, and a stranger is nobody's.
type stage struct {
	t        testing.TB
	server   *pgtest.Server
	database string
	dba      *pgx.Conn
	open     map[string]*pgx.Conn

	partitions string // of the table of letters, after its columns
}

func newStage(t testing.TB, version int) *stage {
	t.Helper()
	s := &stage{t: t, server: pgtest.Shared(t, version), open: map[string]*pgx.Conn{}}
	url := s.server.Database(t)
	s.dba = pgtest.Connect(t, url)
	s.database = one[string](t, s.dba, "select current_database()::text")
	var roles []string
	role := func(name, more string) {
		roles = append(roles, s.role(name))
		exec(t, s.dba, fmt.Sprintf("create role %s login %s", s.role(name), more))
	}
	for _, name := range []string{"alice", "bob", "mallory"} {
		role(name, "")
		role(name+"_worker", "")
		exec(t, s.dba, s.names("grant alike_admin to {"+name+"}; grant {"+name+"}, alike_worker to {"+name+"_worker}; create schema "+name+" authorization {"+name+"}; grant usage on schema "+name+" to public"))
	}
	role("reader", "")
	role("stranger", "")
	exec(t, s.dba, s.names("grant alike_reader to {reader}"))
	t.Cleanup(func() {
		for _, c := range s.open {
			c.Close(context.Background())
		}
		for _, name := range roles { // the database goes with its server
			s.dba.Exec(context.Background(), fmt.Sprintf("drop owned by %s cascade; drop role %[1]s", name))
		}
	})
	return s
}

func (s *stage) role(name string) string { return s.database + "_" + name }

// names puts roles in the place of {name}.
func (s *stage) names(sql string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(sql, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		switch {
		case name == "" || strings.ContainsAny(name, `":`): // JSON
			b.WriteString("{" + name + "}")
		default:
			b.WriteString(s.role(name))
		}
		sql = after
	}
}

func (s *stage) url(name string) string { return s.server.URL(s.role(name), s.database) }

// as is a role's connection.
func (s *stage) as(name string) *pgx.Conn {
	s.t.Helper()
	if name == "dba" {
		return s.dba
	}
	if s.open[name] == nil {
		s.open[name] = pgtest.Connect(s.t, s.url(name))
	}
	return s.open[name]
}

// does runs statements, all of which have to work.
func (s *stage) does(name, sql string) {
	s.t.Helper()
	if _, err := s.as(name).Exec(ctx, s.names(sql)); err != nil {
		s.t.Fatalf("%s: %s: %v", name, sql, err)
	}
}

// cannot runs a statement that has to fail, and for a reason that has to do with rights.
func (s *stage) cannot(name, sql string, reasons ...string) {
	s.t.Helper()
	_, err := s.as(name).Exec(ctx, s.names(sql))
	if err == nil {
		s.t.Errorf("%s can: %s", name, sql)
		return
	}
	for _, reason := range reasons {
		if strings.Contains(err.Error(), reason) {
			return
		}
	}
	if len(reasons) > 0 {
		s.t.Errorf("%s: %s: error %v, want %q", name, sql, err, reasons)
	}
}

func (s *stage) worker(name string) *Worker {
	s.t.Helper()
	return newWorker(s.t, s.url(name), nil)
}

const secret = "the letter that alice wrote to nobody but herself in the spring of that year and hid in a drawer"

// private gives alice a table that nobody else may read, and mallory one of his own
// with something to catch what he sees.
func (s *stage) private() {
	s.does("alice", `create table alice.letters (id int primary key, body text)`+s.partitions+`; insert into alice.letters values (1, '`+secret+`'), (2, '`+secret+` again');
		select alike.attach('alice.letters', 'body', '{"policy": "link"}')`)
	s.does("mallory", `create table mallory.notes (id int primary key, body text, state text default 'x'); create table mallory.loot (who text, session text, what text);
		grant insert on mallory.loot to public;
		create function mallory.peep() returns void language plpgsql as $$
			begin
				insert into mallory.loot select current_user, session_user, string_agg(body, ' ') from alice.letters;
			exception when others then
				insert into mallory.loot values (current_user, session_user, sqlerrm);
			end $$;
		create function mallory.spy(text) returns boolean language plpgsql immutable as $$ begin perform mallory.peep(); return true; end $$;
		create function mallory.spies() returns trigger language plpgsql as $$ begin perform mallory.spy('x'); return new; end $$`)
}

// safe fails the test when mallory has caught a text, or his code has run as
// somebody else.
func (s *stage) safe(what string) {
	s.t.Helper()
	if loot := one[*string](s.t, s.dba, s.names("select string_agg(who || ': ' || coalesce(what, ''), '; ') from mallory.loot where what ~ 'drawer' or who not in ('{mallory}', '{mallory_worker}')")); loot != nil {
		s.t.Errorf("%s: mallory has %s", what, *loot)
	}
}

// What an owner can put into his own tables runs with no rights but his own, whatever a
// worker does with them: its worker is a member of him and of nobody else.
func TestHostileOwner(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			s.does("mallory", "insert into mallory.notes select g, 'words of mallory ' || g from generate_series(1, 30) as g; select alike.attach('mallory.notes', 'body', '{\"policy\": \"warn\"}')")
			s.does("mallory", `
				create trigger spies before insert or update on mallory.notes_alike for each row execute function mallory.spies();
				create constraint trigger later after insert or update on mallory.notes_alike deferrable initially deferred for each row execute function mallory.spies();
				alter table mallory.notes_alike add check (mallory.spy('check'));
				create index on mallory.notes_alike (mallory.spy(shingles::text));
				alter table mallory.notes enable row level security;
				alter table mallory.notes force row level security;
				create policy spy on mallory.notes using (mallory.spy(body))`)
			mine, hers := s.worker("mallory_worker"), s.worker("alice_worker")
			for range 2 {
				hers.Once(ctx) // an error of mallory's attachment is his
				mine.Once(ctx)
				s.does("mallory", "alter table mallory.notes no force row level security; update mallory.notes set body = body || ' and more' where id < 4; delete from mallory.notes where id = 30")
			}
			once(t, hers)
			s.safe("code in his own tables")
			if n := one[int](t, s.dba, "select count(*) from alice.letters_alike"); n != 2 {
				t.Errorf("alice has %d sketches, want 2", n)
			}
			if n := one[int](t, s.dba, "select count(*) from mallory.loot"); n == 0 {
				t.Error("mallory's code has not run at all, and proves nothing")
			}
			if n := one[int](t, s.dba, s.names("select count(*) from mallory.loot where session = '{alice_worker}'")); n != 0 {
				t.Errorf("alice's worker has run mallory's code %d times, want 0", n)
			}
		})
	}
}

// A condition can do nothing but look at its row: in every session, and whatever
// rights he has.
func TestHostileCondition(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			s.does("mallory", `
				create domain mallory.checked as text check (mallory.spy(value));
				create type mallory.pair as (a text, b text);
				create function mallory.as_text(mallory.pair) returns text language sql immutable as $$ select mallory.spy('cast')::text $$;
				create cast (mallory.pair as text) with function mallory.as_text(mallory.pair) as implicit;
				create function mallory.same(text, int) returns boolean language sql immutable as $$ select mallory.spy('operator') $$;
				create operator mallory.=== (leftarg = text, rightarg = int, function = mallory.same);
				create view mallory.look as select mallory.spy('view') as x`)
			for _, where := range []string{
				"mallory.spy(body)", "body::mallory.checked is not null", "(row(body, state)::mallory.pair)::text = 'x'", "body operator(mallory.===) 1",
				"exists (select from mallory.look)", "query_to_xml('select 1', true, true, '') is not null", "set_config('role', 'postgres', false) = 'x'",
				"nextval('mallory.s') > 0", "pg_sleep(1) is null", "now() > '2020-01-01'", "current_user = 'x'", "random() > 0.5", "lo_import('/etc/passwd') > 0",
				"current_setting('a.b', true) is null", "pg_read_file('PG_VERSION') is not null", "to_regclass('alice.letters') is not null", "body::regclass is null",
				"true) or (mallory.spy(body)", "true; drop table mallory.loot", "id = any (array(select 1))", "count(*) > 0", "generate_series(1, 2) > 0",
				"row_number() over () > 0", "pg_advisory_lock(1) is null", "dblink('', '') is null", "$1 > 0", "loread(1, 1) is null",
			} {
				s.cannot("mallory", fmt.Sprintf(`select alike.attach('mallory.notes', 'body', jsonb_build_object('where', $x$%s$x$))`, where), "alike: where", "does not exist", "cannot")
			}
			for _, where := range []string{"state = 'x' and length(body) > 2", "body ~* 'x' or upper(state) <> 'Y'", "id % 3 = 0", "state in ('a', 'b')", "coalesce(state, '') <> ''", "id between 1 and 4", "body like '%a%'"} {
				s.does("mallory", fmt.Sprintf(`select alike.attach('mallory.notes', 'body', jsonb_build_object('where', $x$%s$x$)); select alike.detach('mallory.notes', '{"drop": true}')`, where))
			}
			// Nor can it be put there behind the back of attach.
			s.does("mallory", `select alike.attach('mallory.notes', 'body', '{"where": "id > 0"}')`)
			for _, sql := range []string{
				"update alike.attachment set row_filter = 'mallory.spy(body)'",
				"update alike.attachment set row_filter = 'query_to_xml(''select 1'', true, true, '''') is not null'",
				"update alike.attachment set source = 'alice.letters'",
				"update alike.attachment set side_schema = 'alice', side_name = 'letters_alike'",
				"insert into alike.attachment (name, source, column_name, key_columns, side_schema, side_name, profile_id, variants, features, policy, mode, distributed, at_least, row_filter, filter_columns, options, indexed) select 'other', source, column_name, key_columns, side_schema, 'other_alike', profile_id, variants, features, policy, mode, distributed, at_least, 'mallory.spy(body)', filter_columns, options, indexed from alike.attachment where source = 'mallory.notes'::regclass",
				"insert into alike.attachment (name, source, column_name, key_columns, side_schema, side_name, profile_id, variants, features, policy, mode, distributed, at_least, filter_columns, options, indexed) select 'letters2', 'alice.letters', column_name, key_columns, 'alice', 'letters2_alike', profile_id, variants, features, policy, mode, distributed, at_least, filter_columns, options, indexed from alike.attachment where source = 'mallory.notes'::regclass",
			} {
				s.cannot("mallory", sql)
			}
			// What a column is now is not what it was when its condition was read.
			s.does("mallory", `insert into mallory.notes values (1, 'the words that are to be read', 'x');
				select alike.detach('mallory.notes', '{"drop": true}'); select alike.attach('mallory.notes', 'body', '{"where": "state = ''x''"}')`)
			s.as("mallory").Exec(ctx, "drop trigger if exists alike_x on mallory.notes; alter table mallory.notes alter state drop default; alter table mallory.notes alter state type mallory.pair using row(state, 'x')::mallory.pair")
			s.as("mallory").Exec(ctx, "insert into mallory.notes (id, body) values (2, 'whatever happens')")
			s.worker("alice_worker").Once(ctx)
			s.worker("mallory_worker").Once(ctx)
			s.safe("conditions")
		})
	}
}

// A condition means the same in every session: its backslashes are no escapes where
// standard_conforming_strings is off, and what stands between two of its quotes stays a string.
func TestConditionsHaveOneMeaning(t *testing.T) {
	for _, version := range pgtest.Extremes() {
		s := newStage(t, version)
		s.private()
		s.does("mallory", `
			select alike.attach('mallory.notes', 'body', jsonb_build_object('where', $x$ state ~ '^\d+$' $x$));
			select alike.attach('mallory.notes', 'body', jsonb_build_object('name', 'second', 'where', $x$ state <> '\'' or mallory.spy(body) or state <> ''' $x$))`)
		exec(t, s.dba, s.names("alter role {mallory_worker} set standard_conforming_strings = off; alter role {mallory_worker} set backslash_quote = on"))
		for _, setting := range []string{"on", "off"} {
			old := "set standard_conforming_strings = " + setting + "; set backslash_quote = on; set quote_all_identifiers = on; "
			s.does("mallory", old+"truncate mallory.notes; insert into mallory.notes select g, 'the words of note ' || g, case when g % 2 = 0 then 'd' else g::text end from generate_series(1, 9) as g; reset all")
			once(t, s.worker("mallory_worker"))
			checkSide(t, s.dba, "notes", "mallory.notes", "body", "id::text", "state ~ '^[0-9]+$'")
			checkSide(t, s.dba, "second", "mallory.notes", "body", "id::text", "true")
			s.does("mallory", old+"update mallory.notes set body = body || ' again'; delete from mallory.notes where id = 5; reset all")
			once(t, s.worker("mallory_worker"))
			checkSide(t, s.dba, "notes", "mallory.notes", "body", "id::text", "state ~ '^[0-9]+$'")
			exec(t, s.dba, old+"select * from alike.status(); reset all")
		}
		if n := one[int](t, s.dba, "select count(*) from mallory.loot"); n > 0 {
			t.Errorf("PostgreSQL %d: what is in the string of a condition has run %d times, want 0", version, n)
		}
	}
}

// Nobody changes, reads or stops what belongs to another owner, although both may attach.
func TestAnothersAttachment(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			once(t, s.worker("alice_worker"))
			s.does("alice", "select alike.mark('alice.letters', '1', '2', 'duplicate'); insert into alice.letters values (3, 'pending')")
			before := one[string](t, s.dba, "select md5(string_agg(a::text, ' ')) || (select string_agg(m::text, ' ') from alice.letters_alike_mark m) || (select count(*) from alike.queue) || (select count(*) from alice.letters_alike_match) from alike.attachment a")
			for _, name := range []string{"mallory", "mallory_worker", "reader", "stranger"} {
				for _, sql := range []string{
					"select alike.attach('alice.letters', 'body', '{\"policy\": \"reject\"}')", "select alike.attach('alice.letters', 'body', '{\"name\": \"mine\"}')",
					"select alike.change('alice.letters', '{\"policy\": \"ignore\"}')", "select alike.detach('alice.letters')", "select alike.refresh('alice.letters')",
					"select alike.mark('alice.letters', '1', '2', 'distinct')", "select * from alike.rows('alice.letters', '1')", "select * from alike.pairs('alice.letters')",
					"select * from alike.clusters('alice.letters')", "select * from alike.hot('alice.letters')", "select * from alike.errors('alice.letters')", "select alike.write_clusters('alice.letters')",
					"select * from alice.letters_alike", "select * from alice.letters_alike_mark", "select * from alice.letters_alike_pair", "select * from alice.letters_alike_feature",
					"delete from alice.letters_alike", "delete from alice.letters_alike_match", "insert into alice.letters_alike_mark (id, other, verdict) values (1, 3, 'distinct')", "delete from alice.letters_alike_mark",
					"select alice.alike_build_1()", "select alice.alike_forget_1(null)", "select * from alice.alike_similar_1(null, null, '1', 0, null)",
					"insert into alike.queue (attachment, key) values (1, '1')", "insert into alike.error (attachment, key, message, attempts) values (1, '1', 'x', 1)",
					"insert into alike.chunk (attachment, rows) values (1, 1)", "insert into alike.request (attachment, document) values (1, 'x')", "insert into alike.backfill (attachment, rows) values (1, 1)",
				} {
					s.cannot(name, sql)
				}
				if name == "mallory" {
					s.cannot(name, "select alike.attach('alice.letters', 'body')", "letters belongs to "+s.role("alice")+"; "+s.role(name)+" is not a member of that role")
				}
				// These change nothing, and say so or fail.
				for _, sql := range []string{
					"update alike.attachment set policy = 'ignore'", "update alike.attachment set problem = 'mine now'", "delete from alike.attachment", "delete from alike.queue", "update alike.queue set key = 'x'",
					"delete from alike.backfill", "update alike.backfill set finished_at = now()", "delete from alike.error", "delete from alike.request", "update alike.request set sketch = 'x'", "delete from alike.admitted",
				} {
					if tag, err := s.as(name).Exec(ctx, sql); err == nil && tag.RowsAffected() > 0 {
						t.Errorf("%s: %s: %s", name, sql, tag)
					}
				}
				for _, table := range []string{"attachment", "queue", "chunk", "backfill", "error", "admitted", "request"} {
					var n int
					if err := s.as(name).QueryRow(ctx, "select count(*) from alike."+table).Scan(&n); err == nil && n > 0 {
						t.Errorf("%s sees %d rows of alike.%s", name, n, table)
					}
				}
			}
			if after := one[string](t, s.dba, "select md5(string_agg(a::text, ' ')) || (select string_agg(m::text, ' ') from alice.letters_alike_mark m) || (select count(*) from alike.queue) || (select count(*) from alice.letters_alike_match) from alike.attachment a"); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
			once(t, s.worker("alice_worker"))
			if n := one[int](t, s.as("alice"), "select count(*) from alike.rows('alice.letters', '1')"); n != 1 {
				t.Errorf("alice finds %d rows, want 1", n)
			}
		})
	}
}

// A condition over a column of somebody's own type is refused, and one whose column
// became one later is not evaluated any more.
func TestHostileType(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			s.does("mallory", `create type mallory.state as enum ('x', 'y'); create table mallory.typed (id int primary key, body text, state mallory.state, states mallory.state[]);
				insert into mallory.notes values (1, 'some words of his')`)
			for _, where := range []string{"state is not null", "states is not null"} {
				s.cannot("mallory", `select alike.attach('mallory.typed', 'body', '{"where": "`+where+`"}')`, "belongs to")
			}
			s.does("mallory", `select alike.attach('mallory.notes', 'body', '{"where": "state is not null"}')`)
			once(t, s.worker("mallory_worker"))
			s.does("mallory", `alter table mallory.notes drop state cascade; alter table mallory.notes add state mallory.state; insert into mallory.notes values (2, 'more', 'y'); insert into alike.queue (attachment, key) select id, '2' from alike.attachment`)
			s.worker("mallory_worker").Once(ctx)
			if got, want := list(t, s.as("mallory"), "select note from alike.status()"), "where reads the column state, whose type mallory.state belongs to"; !strings.Contains(got, want) {
				t.Errorf("status says %q, want %q in it", got, want)
			}
			s.safe("types")
		})
	}
}

// To look at the state of everything is to trust no owner: status runs no code of theirs.
func TestHostileStatus(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			s.does("mallory", `select alike.attach('mallory.notes', 'body'); select alike.attach('mallory.notes', 'state', '{"name": "second"}');
				insert into mallory.notes values (1, 'words'); grant select on mallory.notes to {reader};
				alter table mallory.notes enable row level security; create policy spy on mallory.notes using (mallory.spy(body));
				drop table mallory.notes_alike cascade; create view mallory.notes_alike as select mallory.spy('view'); grant select on mallory.notes_alike to public;
				create policy spy on mallory.second_alike using (mallory.spy('side')); grant select on mallory.second_alike to public;
				create table mallory.bait (id int primary key, body text); select alike.attach('mallory.bait', 'body'); grant select on mallory.bait to {reader};
				insert into mallory.bait_alike (id, profile, content_hash, shingles) select 1, profile_id, 0, 0 from alike.attachment where name = 'mallory.bait';
				drop policy if exists reader on mallory.bait_alike; create policy spy on mallory.bait_alike using (mallory.spy('bait')); grant select on mallory.bait_alike to public;
				alter table mallory.bait_alike enable row level security`)
			s.does("alice", "grant select on alice.letters to {reader}")
			for _, who := range []string{"dba", "reader", "alice"} {
				s.does(who, "select * from alike.status()")
			}
			s.safe("status")
			if n := one[int](t, s.dba, "select count(*) from mallory.loot"); n > 0 {
				t.Errorf("his code has run %d times, want 0", n)
			}
		})
	}
}

// What is found out before rows are removed holds until the transaction ends.
func TestHoldKeepsPoliciesAway(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.private()
	s.does("alice_worker", "begin; select alike._hold(1, (select profile_id from alike.attachment where id = 1))")
	s.does("alice", "set lock_timeout = '50ms'")
	s.cannot("alice", "alter table alice.letters enable row level security", "lock timeout")
	s.cannot("alice", "alter table alice.letters force row level security", "lock timeout")
	s.does("alice_worker", "commit")
	s.does("alice", "alter table alice.letters force row level security; alter table alice.letters enable row level security")
	if got, want := list(t, s.as("alice_worker"), "select alike._hold(1, (select profile_id from alike.attachment where id = 1))"), "row-level security hides rows of alice.letters"; !strings.Contains(got, want) {
		t.Errorf("hold says %q, want %q in it", got, want)
	}
}

// What attach makes belongs to the owner of the table, whichever role calls it, and detach
// leaves nothing that lets others read.
func TestOwnerOfWhatIsMade(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.does("alice", "create table alice.letters (id int primary key, body text); insert into alice.letters values (1, 'a letter'); grant select on alice.letters to {reader}")
	const owners = `select string_agg(distinct o::regrole::text, ' ') from (
		select relowner from pg_class where relnamespace = 'alice'::regnamespace and relkind in ('r', 'v')
		union all select proowner from pg_proc where pronamespace = 'alice'::regnamespace) x(o)`
	s.does("dba", `select alike.attach('alice.letters', 'body')`)
	if got, want := one[string](t, s.dba, owners), s.role("alice"); got != want {
		t.Errorf("after attach by an administrator: %s, want %s", got, want)
	}
	once(t, s.worker("alice_worker"))
	s.does("dba", "select alike.write_clusters('alice.letters'); alter table alice.letters owner to {bob}; grant create on schema alice to {bob}; select alike.own('alice.letters')")
	if got, want := one[string](t, s.dba, owners), s.role("bob"); got != want {
		t.Errorf("after alike.own: %s, want %s", got, want)
	}
	s.does("bob", "select alike.detach('alice.letters')")
	if got := one[*string](t, s.dba, "select string_agg(polname::text, ' ') from pg_policy where polrelid::regclass::text ~ 'letters_alike'"); got != nil {
		t.Errorf("detach leaves the policies %s", *got)
	}
	if got := one[*string](t, s.dba, "select string_agg(proname::text, ' ') from pg_proc where pronamespace = 'alice'::regnamespace"); got != nil {
		t.Errorf("detach leaves the functions %s", *got)
	}
	for _, suffix := range []string{"", "_match", "_mark", "_cluster"} {
		if got := list(t, s.as("reader"), "select count(*)::text from alice.letters_alike"+suffix); got != "0" {
			t.Errorf("after detach the reader sees %s rows of letters_alike%s", got, suffix)
		}
	}
}

// What others put into the schema of a table, under names that attach would choose, is not
// taken for what attach has made.
func TestForgedObjects(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			s.does("dba", "create schema common; grant all on schema common to public")
			s.does("alice", `create table common.papers (id int primary key, body text); insert into common.papers select g, 'the words of paper ' || g % 3 from generate_series(1, 9) as g;
				select alike.attach('common.papers', 'body', '{"policy": "link", "contains": true, "layout": "parts"}')`)
			id := one[int](t, s.dba, "select id from alike.attachment where name = 'papers'")
			hers := s.worker("alice_worker")
			once(t, hers)
			entries := one[string](t, s.dba, "select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum) from pg_attribute where attrelid = 'common.papers_alike_part'::regclass and attnum > 0")
			s.does("mallory", strings.NewReplacer("_N_", fmt.Sprintf("_%d_", id), "(like)", "("+entries+")").Replace(`
				create sequence mallory.ran; -- which no rollback takes back
				grant all on sequence mallory.ran to public;
				create function mallory.runs() returns void language plpgsql as $$ begin if current_user::text !~ 'mallory' then perform nextval('mallory.ran'); end if; end $$;
				create function mallory.forged() returns trigger language plpgsql as $$ begin perform mallory.runs(); return new; end $$;
				create table common.papers_alike_cluster (id int primary key, component bigint, cluster bigint, judged boolean not null default false, clustered_at timestamptz default now());
				create table common.papers_alike_event (event_id bigint generated always as identity, event text, cluster bigint, other bigint, id int, happened_at timestamptz default now());
				create table common.alike_part_N_7 (like);
				comment on table common.alike_part_N_7 is 'Alike: a part, state=filling rows=1 upto=0 sources=0';
				create table common.alike_part_N_2 (like);
				comment on table common.alike_part_N_2 is 'Alike: a part, state=used rows=1 upto=0';
				create trigger spies before insert or update on common.papers_alike_cluster for each row execute function mallory.forged();
				create trigger spies before insert or update on common.papers_alike_event for each row execute function mallory.forged();
				create trigger spies before insert or update on common.alike_part_N_7 for each row execute function mallory.forged();
				create trigger spies before insert or update on common.alike_part_N_2 for each row execute function mallory.forged();
				grant all on common.papers_alike_cluster, common.papers_alike_event, common.alike_part_N_7, common.alike_part_N_2 to public`))
			// Functions of the same name to which a call with a bare NULL or number would go.
			for _, f := range strings.Split(list(t, s.dba, fmt.Sprintf(`select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' from pg_proc p where p.pronamespace = 'common'::regnamespace and p.proname ~ '_%d$' and p.pronargs > 0 order by 1`, id)), ") ") {
				name, arguments, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
				types := strings.Split(arguments, ", ")
				for i := range types {
					for _, other := range []string{"text", "integer", "numeric"} {
						forged := slices.Clone(types)
						forged[i] = other
						// PostgreSQL refuses a function with the same arguments as ours.
						s.as("mallory").Exec(ctx, fmt.Sprintf("create function common.%s(%s) returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision, total bigint) language plpgsql as $$ begin perform mallory.runs(); end $$", name, strings.Join(forged, ", ")))
					}
				}
			}
			his := "select (select count(*) from pg_class where relkind = 'r' and relowner = r.oid) + (select count(*) from pg_proc where proowner = r.oid) from pg_roles r where rolname = $1"
			before := one[int](t, s.dba, his, s.role("mallory"))
			s.does("alice", "insert into common.papers select g, 'the words of paper ' || g % 3 from generate_series(10, 19) as g; delete from common.papers where id = 3")
			once(t, hers)
			for _, who := range []string{"alice", "dba"} {
				for _, sql := range []string{
					"select alike.write_clusters('common.papers')", "select * from alike.rows('common.papers', '1')", "select * from alike.pairs('common.papers')", "select * from alike.hot('common.papers')",
					"select * from alike.clusters('common.papers')", "select * from alike.containers('common.papers', '1')", "select * from alike.contained('common.papers', '1')", "select * from alike.containments('common.papers')",
					"select alike.mark('common.papers', '1', '4', 'distinct')", "select * from alike.status()", "select alike.own('common.papers')", "select alike.refresh('common.papers')",
				} {
					s.as(who).Exec(ctx, sql) // it may be refused
				}
				hers.Once(ctx)
			}
			if n := one[int](t, s.dba, "select count(*) from common.papers_alike"); n != 18 {
				t.Errorf("%d rows are sketched, want 18", n)
			}
			s.does("dba", "select alike.own('common.papers')")
			s.does("alice", "select alike.detach('common.papers', '{\"drop\": true}'); create table common.later (id int primary key, body text)")
			s.does("mallory", `create table common.later_alike (id int primary key, profile smallint, content_hash bigint, shingles bigint, sketch bytea, f1 bigint, sketched_at timestamptz default now());
				create trigger spies before insert on common.later_alike for each row execute function mallory.forged(); grant all on common.later_alike to public`)
			for _, who := range []string{"alice", "dba"} {
				s.cannot(who, `select alike.attach('common.later', 'body', '{"profile": "words k=1 s=7 t=7 r=1 bits=8"}')`, "belongs to another role")
			}
			if after := one[int](t, s.dba, his, s.role("mallory")); after != before+1 {
				t.Errorf("mallory has %d tables and functions, want %d", after, before+1)
			}
			if one[bool](t, s.dba, "select is_called from mallory.ran") {
				t.Errorf("mallory's code has run %d times as somebody else", one[int](t, s.dba, "select last_value from mallory.ran"))
			}
		})
	}
}

// Where something that attach has made was dropped, who may create in the schema takes its name. His
// code does not run as the writer, the worker or who asks; the writes go on, and status says what it is.
func TestTakenNames(t *testing.T) {
	t.Parallel()
	s := newStage(t, pgtest.Version())
	s.private()
	s.does("dba", "create schema common; grant all on schema common to public")
	s.does("mallory", `create sequence mallory.ran; -- which no rollback takes back
		grant all on sequence mallory.ran to public;
		create function mallory.runs() returns int language plpgsql as $$ begin if current_user::text !~ 'mallory' then perform nextval('mallory.ran'); end if; return 1; end $$;
		create function mallory.forged() returns trigger language plpgsql as $$ begin perform mallory.runs(); return null; end $$`)
	hers := s.worker("alice_worker")
	const made = `select 'relation ' || c.relname as object from pg_class c where c.relkind in ('r', 'v') and c.relnamespace = 'common'::regnamespace and c.relname ~ '^papers_alike'
		union all select 'function ' || p.oid::regprocedure from pg_proc p where p.pronamespace = 'common'::regnamespace and p.prorettype <> 'trigger'::regtype and p.proname !~ '_sees_'`
	const attach = `create table common.papers (id int primary key, body text); insert into common.papers select g, 'the words of paper ' || g % 3 from generate_series(1, 9) as g;
		select alike.attach('common.papers', 'body', '{"policy": "link", "contains": true, "layout": "parts"}')`
	s.does("alice", attach)
	kinds := one[int](t, s.dba, "select count(*) from ("+made+") m")
	for i := range kinds {
		once(t, hers)
		id := fmt.Sprint("_", one[int](t, s.dba, "select id from alike.attachment"))
		object := one[string](t, s.dba, fmt.Sprintf("select object from (%s) m order by replace(object, '%s', '') offset %d limit 1", made, id, i))
		kind, name, _ := strings.Cut(object, " ")
		s.does("alice", "select alike.mark('common.papers', '1', '2', 'distinct')")
		if kind == "function" {
			result := one[string](t, s.dba, "select pg_get_function_result($1::regprocedure)", name)
			s.does("alice", "drop function "+name)
			s.does("mallory", fmt.Sprintf("create function %s returns %s language plpgsql as $$ begin perform mallory.runs(); return%s; end $$", name, result, map[bool]string{true: " null", false: ""}[!strings.Contains(result, "TABLE") && result != "void"]))
		} else {
			columns := one[string](t, s.dba, "select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum) from pg_attribute where attrelid = ('common.' || $1)::regclass and attnum > 0", name)
			s.does("alice", fmt.Sprintf("drop %s common.%s cascade", map[string]string{"v": "view", "r": "table"}[one[string](t, s.dba, "select relkind::text from pg_class where relname = $1", name)], name))
			s.does("mallory", fmt.Sprintf(`create table mallory.%[1]s (%[2]s); create view common.%[1]s as select * from mallory.%[1]s where mallory.runs() = 1; grant all on common.%[1]s, mallory.%[1]s to public;
				insert into mallory.%[1]s default values;
				create trigger spies instead of insert or update or delete on common.%[1]s for each row execute function mallory.forged()`, name, columns))
		}
		s.does("alice", "insert into common.papers select g, 'the words of paper ' || g % 3 from generate_series(10, 19) as g; update common.papers set id = 100 where id = 1; delete from common.papers where id = 2")
		hers.Once(ctx)
		if note := one[string](t, s.dba, "select coalesce(note, '') from alike.status() where name = 'papers'"); !strings.Contains(note, s.role("mallory")+", who took its name") && !strings.Contains(note, "is missing") {
			t.Errorf("%s: status says %q, want that mallory took its name", object, note)
		}
		for _, who := range []string{"alice", "dba"} {
			for _, sql := range []string{
				"select * from alike.rows('common.papers', '4')", "select * from alike.pairs('common.papers')", "select * from alike.hot('common.papers')", "select * from alike.clusters('common.papers')",
				"select * from alike.containers('common.papers', '4')", "select * from alike.containments('common.papers')", "select alike.gate('common.papers', alike.sketch_set('x'))", "select alike.own('common.papers')",
				"select alike.mark('common.papers', '5', '4', 'distinct')", "select * from alike.status()", "select alike.refresh('common.papers')", "select alike.change('common.papers', '{\"layout\": \"columns\"}')",
			} {
				s.as(who).Exec(ctx, sql) // it may be refused
			}
			hers.Once(ctx)
		}
		s.does("alice", "truncate common.papers; select alike.detach('common.papers', '{\"drop\": true}')")
		s.does("dba", "drop schema common cascade; create schema common; grant all on schema common to public")
		if kind == "relation" {
			s.does("mallory", "drop table mallory."+name)
		}
		if one[bool](t, s.dba, "select is_called from mallory.ran") {
			t.Fatalf("%s: mallory's code has run as somebody else", object)
		}
		s.does("alice", attach)
	}
}

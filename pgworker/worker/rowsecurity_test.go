package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// offices gives alice a table of which each clerk sees the rows of his office alone.
// Rows 1, 3, 5 are the same text in office a, 2 and 4 in office b; 6 to 16 are one text in b.
func (s *stage) offices(options string) {
	s.t.Helper()
	s.does("alice", `create table alice.files (id int primary key, office text not null, body text);
		alter table alice.files enable row level security;
		create policy office on alice.files using (office = current_setting('my.office', true));
		insert into alice.files select g, case g % 2 when 1 then 'a' else 'b' end, '`+secret+`' from generate_series(1, 5) as g;
		insert into alice.files select g, 'b', 'something that only the office b has in its drawers and nobody else' from generate_series(6, 16) as g`)
	s.does("alice", `select alike.attach('alice.files', 'body', '`+options+`'); grant select, insert on alice.files to {reader}`)
	once(s.t, s.worker("alice_worker"))
}

func list(t testing.TB, c *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	rows, err := c.Query(ctx, sql, args...)
	if err == nil {
		var values []string
		if values, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
			return strings.Join(values, " ")
		}
	}
	return "error " + err.Error()
}

// Every question shows an asker the rows that the table shows him, the owner all, and
// an attachment that says so openly shows them to everybody who may read the table.
func TestQuestionsHeedRowSecurity(t *testing.T) {
	for _, version := range pgtest.Releases() {
		for _, reveal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/reveal=%t", version, reveal), func(t *testing.T) {
				s := newStage(t, version)
				s.offices(fmt.Sprintf(`{"policy": "link", "si": ["length"], "reveal": %t}`, reveal))
				s.does("alice", `update alice.files set body = body || ' x' where id in (1, 2, 3); select alike.mark('alice.files', '1', '2', 'duplicate'), alike.mark('alice.files', '1', '3', 'duplicate')`)
				once(t, s.worker("alice_worker"))
				s.does("alice", "select alike.write_clusters('alice.files')")
				s.does("dba", "insert into alike.error (attachment, key, message, attempts) values (1, '2', 'this is of office b', 8)")
				questions := []struct{ name, sql, all, a, none string }{
					{"rows", "select key from alike.rows('alice.files', '1') order by 1", "2 3 4 5", "3 5", "error"},
					{"rows of a hidden row", "select key from alike.rows('alice.files', '2') order by 1", "1 3 4 5", "error", "error"},
					{"pairs", "select key || '-' || other from alike.pairs('alice.files') where key::int < 6 order by 1", "1-2 1-3 1-4 1-5 2-3 2-4 2-5 3-4 3-5 4-5", "1-3 1-5 3-5", ""},
					{"all pairs", "select count(*)::text from alike.pairs('alice.files')", "65", "3", "0"},
					{"clusters", "select distinct cluster || ' of ' || size from alike.clusters('alice.files') order by 1", "1 of 5 6 of 11", "1 of 3", ""},
					{"si_rows", "select key from alike.si_rows('alice.files', 'length', '1') where key::int < 6 order by 1", "2 3 4 5", "3 5", "error"},
					{"hot", "select count(*)::text from alike.hot('alice.files')", "23", "0", "0"},
					{"sketches", "select count(*)::text from alice.files_alike", "16", "3", "0"},
					{"matches", "select id || '-' || other from alice.files_alike_match where id < 4 order by 1", "1-2 1-3 1-4 1-5 2-1 2-3 2-4 2-5 3-1 3-2 3-4 3-5", "1-3 1-5 3-1 3-5", ""},
					{"verdicts", "select id || '-' || other from alice.files_alike_mark order by 1", "1-2 1-3", "1-3", ""},
					{"kept clusters", "select count(*)::text from alice.files_alike_cluster", "16", "0", "0"},
					{"errors", "select key from alike.errors('alice.files')", "2", "", ""},
					{"the queue", "select count(*)::text from alike.queue", "0", "0", "0"},
				}
				if version >= 15 {
					questions = append(questions, struct{ name, sql, all, a, none string }{"the view of pairs", "select distinct id || '-' || other from alice.files_alike_pair where id < 6 and other < 6 and id < other order by 1", "1-2 1-3 1-4 1-5 2-3 2-4 2-5 3-4 3-5 4-5", "1-3 1-5 3-5", ""},
						struct{ name, sql, all, a, none string }{"the view of features", "select count(distinct id)::text from alice.files_alike_feature", "16", "3", "0"})
				} else {
					s.cannot("reader", "select * from alice.files_alike_pair", "permission denied")
					s.cannot("reader", "select * from alice.files_alike_feature", "permission denied")
				}
				check := func(who, name, got, want string) {
					t.Helper()
					if want == "error" && strings.Contains(got, "has no row ") {
						return
					}
					if got != want {
						t.Errorf("%s, %s: %q, want %q", who, name, got, want)
					}
				}
				for _, q := range questions {
					check("the owner", q.name, list(t, s.as("alice"), q.sql), q.all)
					for office, want := range map[string]string{"a": q.a, "c": q.none} {
						exec(t, s.as("reader"), "select set_config('my.office', $1, false)", office)
						if reveal {
							want = q.all
						}
						check("office "+office, q.name, list(t, s.as("reader"), q.sql), want)
					}
				}
			})
		}
	}
}

// What a question says when it fails, and what status says, gives nothing away either.
func TestErrorsHeedRowSecurity(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.offices(`{}`)
	exec(t, s.as("reader"), "select set_config('my.office', 'a', false)")
	there, notThere := list(t, s.as("reader"), "select key from alike.rows('alice.files', '2')"), list(t, s.as("reader"), "select key from alike.rows('alice.files', '99')")
	if strings.ReplaceAll(there, "row 2,", "row 99,") != notThere || there == "" {
		t.Errorf("of a hidden row %q, of none %q", there, notThere)
	}
	s.does("alice", "insert into alice.files values (17, 'b', 'and some more of it')")
	s.does("dba", "update alike.attachment set problem = 'invalid input: the words of office b'")
	if got, want := list(t, s.as("reader"), "select concat_ws(',', name, rows, sketched, coalesce(pending, -1), coalesce(failed, -1), note) from alike.status()"), "files,-1,-1,policies of the table hide rows from you"; got != want {
		t.Errorf("status says %q, want %q", got, want)
	}
	if got, want := list(t, s.as("alice"), "select concat_ws(',', name, rows, sketched, pending, failed, note) from alike.status()"), "files,17,16,1,0,invalid input"; !strings.HasPrefix(got, want) {
		t.Errorf("the owner's status says %q, want %q first", got, want)
	}
	for _, right := range []string{"select (id)", "select (body)", "insert"} {
		s.does("alice", "revoke all on alice.files from {reader}; grant "+right+" on alice.files to {reader}")
		if got := list(t, s.as("reader"), "select name from alike.status()"); got != "" {
			t.Errorf("with %s status shows %s", right, got)
		}
		s.cannot("reader", "select * from alike.rows('alice.files', '1')", "nothing is attached")
		s.cannot("reader", "select * from alice.files_alike", "permission denied")
	}
	s.does("alice", "revoke all on alice.files from {reader}; grant select on alice.files to {reader}; revoke usage on schema alice from public")
	if got := list(t, s.as("reader"), "select name from alike.status()"); got != "" {
		t.Errorf("without the right to the schema status shows %s, want nothing", got)
	}
	s.does("alice", "grant usage on schema alice to public")
	s.does("alice", "revoke all on alice.files from {reader}; grant select (id, office, body) on alice.files to {reader}")
	if got, want := list(t, s.as("reader"), "select key from alike.rows('alice.files', '1') order by 1"), "3 5"; got != want {
		t.Errorf("by the columns: %s, want %s", got, want)
	}
}

// A gate refuses nothing because of a row that its caller cannot read, whether that row
// has been sketched or was let pass a moment ago.
func TestGateHeedsRowSecurity(t *testing.T) {
	for _, reveal := range []bool{false, true} {
		t.Run(fmt.Sprint(reveal), func(t *testing.T) {
			s := newStage(t, pgtest.Version())
			s.offices(fmt.Sprintf(`{"policy": "reject", "reveal": %t}`, reveal))
			s.does("dba", "grant insert on alike.admitted to {reader}; create role {other} login; grant {reader} to {other}")
			t.Cleanup(func() { s.dba.Exec(ctx, s.names("drop owned by {other}; drop role {other}")) })
			gate := func(who, office, text string) string {
				t.Helper()
				q, err := Ask(ctx, s.as("alice"), "alice.files", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				exec(t, s.as(who), "select set_config('my.office', $1, false)", office)
				_, err = s.as(who).Exec(ctx, "select alike.gate('alice.files', $1)", q.Sketch)
				if err == nil {
					return "passed"
				} else if !rejected(err) {
					t.Fatal(err)
				}
				return err.Error()
			}
			const ofB = "something that only the office b has in its drawers and nobody else"
			const fresh = "what nobody has written down in any of the offices before this very moment"
			for _, v := range []struct{ who, office, text, want string }{
				{"reader", "b", ofB, "row 6"},
				{"reader", "a", ofB, map[bool]string{false: "passed", true: "row 6"}[reveal]},
				{"reader", "a", secret, "row 1"},
				{"reader", "a", fresh, "passed"},
				{"reader", "b", fresh, "a moment ago"},
				{"other", "b", fresh, map[bool]string{false: "passed", true: "a moment ago"}[reveal]},
				{"alice", "", fresh, "a moment ago"},
			} {
				if got := gate(v.who, v.office, v.text); !strings.Contains(got, v.want) {
					t.Errorf("%s of office %s: %s, want %q", v.who, v.office, got, v.want)
				}
			}
		})
	}
}

// A worker from which a policy hides rows takes none of them for deleted: it says what is
// wrong, leaves everything as it is, and goes on when nothing is hidden any more.
func TestWorkerBoundByRowSecurity(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.offices(`{"policy": "link"}`)
			s.does("alice", "alter table alice.files force row level security; create policy mine on alice.files for insert with check (true)")
			state := func() string {
				return one[string](t, s.dba, "select md5(string_agg(f::text, ' ' order by id)) || (select count(*) from alice.files_alike_match) from alice.files_alike f")
			}
			before := state()
			w := s.worker("alice_worker")
			s.does("alice", "select alike.refresh('alice.files')")
			s.does("dba", "update alice.files set body = body || ' and more' where id = 2; delete from alice.files where id = 3; insert into alike.queue (attachment, key) select 1, g::text from generate_series(1, 16) as g; insert into alike.queue (attachment) values (1)")
			for range 3 {
				w.Once(ctx) // what is wrong is in status
			}
			if after := state(); after != before {
				t.Errorf("the side table was %s and is %s", before, after)
			}
			if got, want := list(t, s.dba, "select note from alike.status()"), "row-level security hides rows of alice.files"; !strings.Contains(got, want) {
				t.Errorf("status says %q, want %q in it", got, want)
			}
			s.does("alice", "alter table alice.files no force row level security; select alike.refresh('alice.files')")
			waitFor(t, "the rows", func() bool {
				if err := w.retryDue(ctx); err != nil {
					t.Fatal(err)
				}
				w.Once(ctx)
				return one[int](t, s.dba, "select count(*) from alike.error") == 0
			})
			checkSide(t, s.dba, "files", "alice.files", "body", "id::text", "true")
			if got := one[*string](t, s.dba, "select note from alike.status()"); got != nil {
				t.Errorf("status still says %q", *got)
			}
		})
	}
}

// A trigger that asks the worker refuses nobody because of a row that is hidden from him.
func TestAskHeedsRowSecurity(t *testing.T) {
	for _, reveal := range []bool{false, true} {
		t.Run(fmt.Sprint(reveal), func(t *testing.T) {
			s := newStage(t, pgtest.Version())
			s.does("dba", `create extension dblink schema public; create table files (id int primary key, office text, body text);
				alter table files enable row level security; create policy office on files using (office = current_setting('my.office', true));
				grant select, insert, update on files to {reader}; insert into files values (1, 'b', '`+secret+`')`)
			exec(t, s.dba, `select alike.attach('files', 'body', jsonb_build_object('policy', 'reject', 'reveal', $1::boolean, 'ask', jsonb_build_object('timeout', 20, 'otherwise', 'refuse',
				'connection', format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1)))))`, reveal)
			w := newWorker(t, s.server.URL("postgres", s.database), nil)
			once(t, w)
			running, stop := context.WithCancel(ctx)
			done := make(chan error)
			go func() { done <- w.Run(running) }()
			exec(t, s.as("reader"), "select set_config('my.office', 'a', false)")
			for _, sql := range []string{"insert into files values (2, 'a', '" + secret + "')", "insert into files values (3, 'a', 'x'); update files set body = '" + secret + "' where id = 3"} {
				if _, err := s.as("reader").Exec(ctx, sql); rejected(err) != reveal || err != nil && !reveal {
					t.Errorf("%s: %v", sql, err)
				}
			}
			if _, err := s.dba.Exec(ctx, "insert into files values (4, 'a', '"+secret+"')"); !rejected(err) {
				t.Errorf("who sees everything got %v", err)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// The connection of who attached a table is not the application's: without his rights a
// checkin is not judged, and goes in.
func TestAskAfterRevoke(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.does("alice", `create table alice.letters (id int primary key, body text); select alike.attach('alice.letters', 'body', '{"policy": "reject", "ask": {"connection": "nowhere", "timeout": 0.1, "otherwise": "refuse"}}')`)
	s.cannot("alice", "insert into alice.letters values (1, 'a letter')", "could not be judged")
	s.does("dba", "revoke alike_admin from {alice}")
	s.does("alice", "insert into alice.letters values (1, 'a letter')")
	s.does("dba", "grant alike_reader to {alice}")
	s.does("alice", "insert into alice.letters values (2, 'a letter')")
	s.does("dba", "drop schema alike cascade")
	s.does("alice", "insert into alice.letters values (3, 'a letter')")
}

// A dump says row_security = off, and the session that loads it goes on so: every checkin and every
// question works, and what a role may not see it does not see.
func TestRowSecurityOff(t *testing.T) {
	for _, version := range pgtest.Extremes() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := newStage(t, version)
			s.private()
			once(t, s.worker("alice_worker"))
			s.does("bob", "create table bob.files (id int primary key, body text)")
			exec(t, s.dba, s.names("alter role {bob_worker} set row_security = off"))
			for _, sql := range []string{
				"set row_security = off",
				`select alike.attach('bob.files', 'body', '{"policy": "link", "contains": true}')`,
				"insert into bob.files select g, 'a letter about the weather in the mountains of the north' from generate_series(1, 3) as g",
				"update bob.files set body = body || ' today' where id = 1", "delete from bob.files where id = 2", "truncate bob.files",
				"insert into bob.files select g, 'a letter about the weather in the mountains of the north' from generate_series(1, 4) as g",
				"select alike.refresh('bob.files')",
			} {
				s.does("bob", sql)
			}
			once(t, s.worker("bob_worker"))
			checkSide(t, s.dba, "files", "bob.files", "body", "id::text", "true")
			if got, want := list(t, s.as("bob"), "select name from alike.status() where rows is not null"), "files"; got != want {
				t.Errorf("he sees the rows of %s, want %s", got, want)
			}
			for _, sql := range []string{
				"select alike.mark('bob.files', '1', '2', 'distinct')", "select * from alike.rows('bob.files', '1')", "select * from alike.pairs('bob.files')",
				"select * from alike.clusters('bob.files')", "select alike.write_clusters('bob.files')", "select * from alike.keep('bob.files')", "select * from alike.hot('bob.files')",
				"select * from alike.errors('bob.files')", "select * from alike.containers('bob.files', '1')",
				`select alike.change('bob.files', '{"policy": "warn"}')`, "update bob.files set id = id + 10", "select alike.detach('bob.files')",
			} {
				s.does("bob", sql)
			}
		})
	}
}

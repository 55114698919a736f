package worker

import (
	"fmt"
	process "os/exec"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A checkin never fails because of us: whatever becomes of the rights of who attached the
// table, of his role, of the schema alike or of the side tables, the application writes,
// and what is not noted any more is said.
func TestCheckinsGoOn(t *testing.T) {
	for _, v := range []struct {
		name, who, change string
		pending           int    // entries for three checkins; -1: there is no queue
		note              string // in status, or in a warning where there is none
		mend              string // by an administrator, after which the worker works
	}{
		{"she may not attach any more", "dba", "revoke alike_admin from {alice}", 4, "", ""},
		{"she leaves all roles", "dba", "revoke alike_admin from {alice}; revoke {alice} from {alice_worker}", 4, "who owns the table: grant", "grant {alice} to {alice_worker}"},
		{"another owner", "dba", "alter table alice.letters owner to {bob}; grant {bob} to {alice_worker}; revoke {alice} from {alice_worker}; grant usage, create on schema alice to {bob}", 4, "", "select alike.own('alice.letters')"},
		{"all of hers goes to another", "dba", "grant {bob} to {alice_worker}; reassign owned by {alice} to {bob}; drop owned by {alice}; grant usage on schema alice to {writer}", 4, "", "grant usage, create on schema alice to {bob}"},
		{"the schema is dropped", "dba", "drop schema alike cascade", -1, "was not noted", ""},
		{"the registry is emptied", "alice", "delete from alike.attachment", 0, "was not noted", ""},
		{"the queue takes nothing", "dba", "revoke alike_admin from {alice}; revoke insert (attachment, key) on alike.queue from public", 0, "was not noted", ""},
		{"the verdicts are dropped", "alice", "drop table alice.letters_alike_mark", 4, "", ""},
		{"the side tables are dropped", "alice", "drop table alice.letters_alike, alice.letters_alike_mark, alice.letters_alike_match cascade", 4, "", ""},
		{"the document is dropped", "alice", "alter table alice.letters add text2 text; alter table alice.letters drop body cascade", 4, "", ""},
	} {
		for _, partitions := range []string{"", " partition by range (id); create table alice.letters_all partition of alice.letters default"} {
			for _, version := range pgtest.Releases() {
				t.Run(fmt.Sprintf("%s/%t/%d", v.name, partitions != "", version), func(t *testing.T) {
					t.Parallel()
					s := newStage(t, version)
					s.partitions = partitions
					s.private()
					s.does("dba", "create role {writer} login")
					t.Cleanup(func() { s.dba.Exec(ctx, s.names("drop owned by {writer}; drop role {writer}")) })
					s.does("alice", "grant select, insert, update, delete, truncate on alice.letters to {writer}; grant usage on schema alice to {writer}")
					once(t, s.worker("alice_worker"))
					s.does(v.who, v.change)
					for _, sql := range []string{
						"insert into alice.letters (id) values (10), (11)", "update alice.letters set id = 12 where id = 11", "delete from alice.letters where id = 12",
					} {
						s.does("writer", sql)
					}
					if v.pending < 0 {
						s.does("writer", "truncate alice.letters")
						return
					}
					if n := one[int](t, s.dba, "select count(*) from (select unnest(array[key]) from alike.queue) q"); v.pending == 0 && n != 0 || v.pending > 0 && n == 0 {
						t.Errorf("%d entries, want %d", n, v.pending)
					}
					if v.note != "" && v.pending > 0 {
						if got := list(t, s.dba, "select note from alike.status()"); !strings.Contains(got, v.note) {
							t.Errorf("status says %q, want %q", got, v.note)
						}
					}
					if v.mend != "" {
						s.does("dba", v.mend)
						once(t, s.worker("alice_worker"))
						checkSide(t, s.dba, "letters", "alice.letters", "body", "id::text", "true")
					}
					s.does("writer", "truncate alice.letters")
				})
			}
		}
	}
}

// Tables whose triggers fire in turns, within one statement of the client, all have their entries.
func TestCheckinsInTurns(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.partitions = " partition by range (id); create table alice.letters_all partition of alice.letters default"
	s.private()
	s.does("alice", "create table alice.plain (id int primary key, body text); create table alice.parted (id int primary key, body text) partition by range (id); create table alice.parted_all partition of alice.parted default")
	s.does("alice", "select alike.attach(t, 'body') from unnest(array['alice.plain', 'alice.parted']) as t")
	// Only who owns a table may queue its rows without saying for which attachment.
	s.does("dba", "alter table alice.letters owner to {bob}; alter table alice.plain owner to {bob}; alter table alice.parted owner to {bob}; grant usage on schema alice to {bob}")
	s.does("bob", "do $$ begin for i in 10..12 loop insert into alice.letters values (i, 'a'); insert into alice.plain values (i, 'a'); insert into alice.letters values (-i, 'a'); insert into alice.parted values (i, 'a'); end loop; end $$")
	if got, want := list(t, s.dba, "select a.name || ' ' || count(*) from alike.queue q join alike.attachment a on a.id = q.attachment group by a.name order by 1"), "letters 6 parted 3 plain 3"; got != want {
		t.Errorf("the queue has %s, want %s", got, want)
	}
}

// A schema that is restored without ours, or into a database where ours knows nothing of
// it, is written as if nothing had ever been attached.
func TestRestoredSchema(t *testing.T) {
	s := newStage(t, pgtest.Version())
	s.private()
	once(t, s.worker("alice_worker"))
	for name, database := range map[string]string{"without alike": s.server.Empty(t), "with another alike": s.server.Database(t)} {
		dump, err := process.Command("sh", "-c", `set -e; pg_dump "$0" -n alice >"$2"; psql -qX "$1" -f "$2"`, s.server.URL("postgres", s.database), database, t.TempDir()+"/dump.sql").CombinedOutput()
		if err != nil || strings.Contains(string(dump), "ERROR") {
			t.Fatalf("%s: %v\n%s", name, err, dump)
		}
		c := pgtest.Connect(t, database)
		for _, sql := range []string{"insert into alice.letters values (10, 'after')", "update alice.letters set id = 11 where id = 10", "delete from alice.letters where id = 11", "truncate alice.letters"} {
			exec(t, c, sql)
		}
		c.Close(ctx)
	}
}

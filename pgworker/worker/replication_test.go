package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// Logical replication takes what is written to an attached table away, with all tables of ours
// if it is told to, and the rows that it brings to an attached table are sketched.
func TestLogicalReplication(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint("PostgreSQL ", version), func(t *testing.T) {
			publisher, subscriber := pgtest.New(t, version, "wal_level=logical"), pgtest.New(t, version)
			from, to := publisher.Database(t), subscriber.Database(t)
			source, target := pgtest.Connect(t, from), pgtest.Connect(t, to)
			for _, c := range []*pgx.Conn{source, target} {
				exec(t, c, "create table documents (id int primary key, body text); create table letters (id int primary key, body text)")
			}
			// Every verb of the worker works where all tables are published.
			exec(t, source, `
				select alike.attach('documents', 'body', '{"policy": "warn", "profile": "words w=4 t=84 k=12 s=7"}');
				create publication everything for all tables`)
			at := newWorker(t, from, nil)
			for _, sql := range []string{
				"insert into documents select g, 'the same words in every one of the first rows of it' from generate_series(1, 9) as g",
				"update documents set body = body || ' changed' where id = 3; select alike.mark('documents', '1', '2', 'distinct'), alike.write_clusters('documents')",
				"update documents set id = id + 100 where id > 7; delete from documents where id = 2; insert into letters select * from documents",
				"update documents set body = repeat('x', 2000000) where id = 4",
				"select alike.refresh('documents')",
				"select alike.change('documents', '{\"profile\": \"words w=2\"}')",
			} {
				exec(t, source, sql)
				once(t, at)
				checkSide(t, source, "documents", "documents", "body", "id::text", "true")
			}

			// The one is attached when replication begins, the other afterwards.
			exec(t, target, `select alike.attach('documents', 'body', '{"profile": "short"}')`)
			exec(t, source, "drop publication everything; create publication letters_out for table documents, letters")
			host := strings.TrimPrefix(one[string](t, source, "select split_part(current_setting('unix_socket_directories'), ',', 1)"), " ")
			exec(t, target, fmt.Sprintf("create subscription letters_in connection 'host=%s dbname=%s user=postgres' publication letters_out", host, one[string](t, source, "select current_database()")))
			exec(t, target, "select alike.attach('letters', 'body')")
			there := func(sql, want string) {
				t.Helper()
				waitFor(t, sql, func() bool { return list(t, target, sql) == want })
			}
			there("select count(*)::text from letters", "8")
			w := newWorker(t, to, nil)
			once(t, w)
			for _, step := range []struct{ sql, arrived, want string }{
				{"insert into letters values (50, 'a letter by replication'), (51, 'another')", "select count(*)::text from letters", "10"},
				{"update letters set body = body || ' and is changed' where id = 50", "select body from letters where id = 50", "a letter by replication and is changed"},
				{"update letters set id = 52 where id = 51; delete from letters where id < 5", "select string_agg(id::text, ',' order by id) from letters", "5,6,7,50,52,108,109"},
				{"truncate letters; insert into letters values (60, 'alone after all the others went')", "select string_agg(id::text, ',') from letters", "60"},
			} {
				exec(t, source, step.sql)
				there(step.arrived, step.want)
				once(t, w)
				checkSide(t, target, "letters", "letters", "body", "id::text", "true")
			}
			if note := one[*string](t, target, "select note from alike.status() where name = 'letters'"); note != nil {
				t.Errorf("status of what is seen: %s", *note)
			}
			const unseen = "logical replication writes into public.documents since it was attached, and is not seen: detach it and attach again"
			if note := one[string](t, target, "select note from alike.status() where name = 'documents'"); !strings.Contains(note, unseen) {
				t.Errorf("status: %s, want %q in it", note, unseen)
			}
			exec(t, target, "select alike.detach('documents'); select alike.attach('documents', 'body', '{\"profile\": \"short\"}')")
			once(t, w)
			exec(t, source, "delete from documents where id = 1")
			there("select count(*)::text from documents where id = 1", "0")
			once(t, w)
			checkSide(t, target, "documents", "documents", "body", "id::text", "true")
			if note := one[*string](t, target, "select note from alike.status() where name = 'documents'"); note != nil {
				t.Errorf("status after another attach: %s", *note)
			}
			exec(t, target, "alter subscription letters_in disable; alter subscription letters_in set (slot_name = none)")
			exec(t, target, "drop subscription letters_in")
		})
	}
}

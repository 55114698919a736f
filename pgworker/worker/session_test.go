package worker

import (
	"fmt"
	"net"
	"net/url"
	"os"
	process "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// bouncer starts PgBouncer before a database and returns its address.
func bouncer(t *testing.T, database, mode string) string {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "alike-bouncer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text := fmt.Sprintf(`[databases]
* = host=%s port=5432
[pgbouncer]
unix_socket_dir=%s
listen_port=5432
auth_type=any
auth_file=%s/users
pool_mode=%s
logfile=%s/log
`, config.Host, dir, dir, mode, dir)
	text = strings.Replace(text, "* = ", config.Database+" = user=postgres ", 1)
	for name, content := range map[string]string{"ini": text, "users": `"postgres" ""` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := process.Command("pgbouncer", filepath.Join(dir, "ini"))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 { // it refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			if u, err = user.Lookup("nobody"); err != nil {
				t.Fatal(err)
			}
		}
		uid, _ := strconv.Atoi(u.Uid) // both are numbers on every Unix
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(c) })
	waitFor(t, "PgBouncer", func() bool {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.5432"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return strings.Replace(database, url.QueryEscape(config.Host), url.QueryEscape(dir), 1)
}

// Where PgBouncer lets clients share sessions the worker says so and does not start;
// in its session mode, and without it, the worker works.
func TestPgBouncer(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text); select alike.attach('documents', 'body')")
	for _, mode := range []string{"transaction", "statement"} {
		_, err := New(ctx, Config{DatabaseURL: bouncer(t, database, mode), AllowSuperuser: true})
		if err == nil || !strings.Contains(err.Error(), "PgBouncer in transaction mode; want PostgreSQL's own address") {
			t.Errorf("%s mode: error %v, want the name of the pooler and what to do", mode, err)
		}
	}
	w := newWorker(t, bouncer(t, database, "session"), nil)
	exec(t, c, "insert into documents values (1, 'through a pooler in session mode')")
	run(t, w)
	waitFor(t, "the row", func() bool { return count(t, c, "documents_alike") == 1 })
	if got := one[string](t, c, "select string_agg(distinct application_name, ',') from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"); !strings.Contains(got, "alike worker") {
		t.Errorf("the sessions are called %q, want alike worker", got)
	}
}

// A superuser is refused, and told what to do.
func TestSuperuser(t *testing.T) {
	s := pgtest.Shared(t, pgtest.Version())
	database := s.Database(t)
	_, err := New(ctx, Config{DatabaseURL: database})
	if err == nil || !strings.Contains(err.Error(), "postgres is a superuser") || !strings.Contains(err.Error(), "--allow-superuser") {
		t.Errorf("error %v, want the role and the flag", err)
	}
}

// Once says when it could do nothing, and is content again when that is mended.
func TestOnceSaysProblems(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text); create table notes (id int primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body'), alike.attach('notes', 'body')")
	w := newWorker(t, database, nil)
	once(t, w)
	exec(t, c, "alter table documents_alike rename to elsewhere; insert into documents values (1, 'a b c d'); insert into notes values (1, 'a b c d')")
	for _, when := range []string{"with work to do", "with nothing to do"} {
		if err := w.Once(ctx); err == nil || !strings.Contains(err.Error(), "documents cannot be worked on: the side table") {
			t.Errorf("%s: Once returns %v, want the problem", when, err)
		}
	}
	if n := count(t, c, "notes_alike"); n != 1 {
		t.Errorf("%d notes are sketched, want 1: the other table has no problem", n)
	}
	// A problem of a table without pending rows does not fail the run.
	exec(t, c, "create table orphans (id int primary key, body text); select alike.attach('orphans', 'body')")
	exec(t, c, "update alike.backfill set finished_at = now() where attachment = (select id from alike.attachment where name = 'orphans'); update alike.attachment set problem = 'it was once so' where name = 'orphans'")
	if err := w.Once(ctx); err == nil || strings.Contains(err.Error(), "orphans") {
		t.Errorf("Once returns %v, want the problem of documents alone", err)
	}
	if n := one[int](t, c, "select count(*) from alike.attachment where problem is not null"); n != 1 {
		t.Errorf("%d attachments have a problem, want 1: the other's was mended", n)
	}
	exec(t, c, "drop table orphans; update alike.attachment set problem = 'its table is gone' where name = 'orphans'")
	exec(t, c, "alter table elsewhere rename to documents_alike")
	exec(t, c, "update alike.error set retry_at = clock_timestamp()")
	once(t, w)
	if n := count(t, c, "documents_alike"); n != 1 {
		t.Errorf("%d documents are sketched after the problem was mended, want 1", n)
	}
}

// A worker that may work for no table says what to grant, and a role that may not use the schema is told so.
func TestWorkerOfNoOwner(t *testing.T) {
	t.Parallel()
	s := newStage(t, pgtest.Version())
	lonely := s.worker("bob_worker")
	once(t, lonely) // nothing is attached yet
	s.private()
	if err := lonely.Once(ctx); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("%[1]s_bob_worker is a member of none of the owners of the attached tables: grant %[1]s_alice to %[1]s_bob_worker", s.database)) {
		t.Errorf("a worker of another role than the owner: %v, want who the owner is", err)
	}
	once(t, s.worker("alice_worker"))
	s.does("dba", "grant {alice} to {bob_worker}")
	once(t, lonely)
	s.does("dba", "revoke usage on schema alike from public, alike_worker, alike_reader, alike_admin")
	if _, err := New(ctx, Config{DatabaseURL: s.url("alice_worker")}); err == nil || !strings.Contains(err.Error(), "alice_worker may not use the schema alike: it needs the role alike_worker") {
		t.Errorf("a worker without the schema: %v", err)
	}
}

// The line of progress counts rows: all of them, and those that remain.
func TestProgress(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id int primary key, body text); insert into documents select g, 'words of '||g from generate_series(1, 250) as g; select alike.attach('documents', 'body')")
	var said []Progress
	w := newWorker(t, database, func(c *Config) { c.ChunkRows = 100; c.Progress = func(p Progress) { said = append(said, p) } })
	for range 2 { // attach, and then refresh of a table that lacks nothing
		if did, err := w.splitBackfill(ctx); err != nil || !did {
			t.Fatalf("split: %v, %v", did, err)
		}
		for want := int64(250); want > 0; want -= 100 {
			w.progress(ctx)
			if p := said[len(said)-1]; p != (Progress{"documents", 250, want}) {
				t.Errorf("progress %+v, want %d of 250 rows to remain", p, want)
			}
			if _, err := w.copyChunk(ctx); err != nil {
				t.Fatal(err)
			}
		}
		once(t, w)
		exec(t, c, "select alike.refresh('documents')")
	}
}

package worker

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	process "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

var freeze = flag.Bool("freeze", false, "write the dump of this release into testdata/releases, for the tests of later releases")

// releaseTables has an attached table for each kind of side table and key.
var releaseTables = []struct{ name, create, row, options string }{
	{"notes", "id int primary key, body text", "n, text", `{"profile": "prose t=84 k=12 s=7", "layout": "columns", "policy": "link", "si": ["length", "43B/40", "forest/0"], "contains": true, "clusters": true, "superfeatures": true}`},
	{"pages", "name text, page int, body text, primary key (name, page)", "'n' || n, n, text", `{"profile": "paragraphs", "policy": "warn", "layout": "parts", "where": "page < 90"}`},
	{"tickets", "id uuid primary key, body text", "md5(n::text)::uuid, text", `{"profile": "short", "verify": "text"}`},
	{"baskets", "id bigint primary key, body jsonb", "n, elements", `{"profile": "elements", "policy": "ignore"}`},
}

// releaseQuestions are asked in the release that writes a dump and in every later one.
var releaseQuestions = func() (questions []string) {
	for _, table := range releaseTables {
		for _, question := range []string{
			"select key, other, shared, resemblance, low, high from alike.pairs('%s') order by 1, 2",
			"select key, cluster, size from alike.clusters('%s') order by 1",
			"select key, kept, resemblance from alike.keep('%s') order by 1",
			"select profile, rows, sketched, stale, failed from alike.status() where name = '%s'",
			"select encode(sketch, 'hex') from %s_alike order by 1",
		} {
			questions = append(questions, fmt.Sprintf(question, table.name))
		}
	}
	return append(questions,
		`select key, shared, resemblance from alike.rows('pages', '["n1", 1]')`,
		"select key, other, containment from alike.containments('notes') order by 1, 2",
		"select key, si from alike.si_rows('notes', '43B/40', 1) order by 1",
		"select id, other, shared, resemblance, low, high, policy from notes_alike_match order by 1, 2",
		"select id, other, verdict, note from notes_alike_mark",
		"select id, component, cluster from notes_alike_cluster order by id")
}()

func releaseAnswer(t *testing.T, c *pgx.Conn, question string) string {
	t.Helper()
	return one[string](t, c, "select coalesce(string_agg(answer::text, e'\\n'), '') from ("+question+") as answer")
}

// offers are what people call: functions with their arguments and columns.
const offers = `select p.oid::regprocedure::text || ' ' || coalesce(array_to_string(proargnames, ' '), '') || ' ' || pg_get_function_result(p.oid)
	from pg_proc p where pronamespace = 'alike'::regnamespace and proname !~ '^_'`

func releaseRow(t *testing.T, c *pgx.Conn, table int, n int) {
	t.Helper()
	r := releaseTables[table]
	body := strings.Repeat(fmt.Sprintf("the harbour committee met on day %d and agreed to postpone the vote on the new breakwater ", n/3), 4) + fmt.Sprintf("until engineer %d has reported", n)
	exec(t, c, "insert into "+r.name+" select "+r.row+" from (select $1::int as n, $2::text as text, $3::jsonb as elements) as made", n, body, fmt.Sprintf(`["a%d", "b", "c", "d", "e", "f%d"]`, n/3, n))
}

// writeRelease returns the dump of a database that holds the answers of this build, and what it offers.
func writeRelease(t *testing.T) []byte {
	t.Helper()
	database := pgtest.Shared(t, pgtest.Version()).Database(t)
	c := pgtest.Connect(t, database)
	w := newWorker(t, database, nil)
	exec(t, c, "create table released (question text primary key, answer text)")
	for i, table := range releaseTables {
		exec(t, c, "create table "+table.name+" ("+table.create+")")
		for n := range 6 {
			releaseRow(t, c, i, n)
		}
		exec(t, c, "select alike.attach($1, 'body', $2)", table.name, table.options)
	}
	once(t, w)
	for i := range releaseTables {
		for n := 6; n < 10; n++ {
			releaseRow(t, c, i, n)
		}
	}
	once(t, w)
	for i := range releaseTables {
		releaseRow(t, c, i, 10) // waits in the queue
	}
	exec(t, c, "select alike.mark('notes', 0, 1, 'distinct', 'a note')")
	for _, question := range releaseQuestions {
		exec(t, c, "insert into released values ($1, $2)", question, releaseAnswer(t, c, question))
	}
	exec(t, c, "create table offered as "+strings.Replace(offers, "from pg_proc", "as what from pg_proc", 1))
	w.Close()
	dump := process.Command("pg_dump", "--no-sync", database)
	text, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	return text
}

// checkRelease restores a dump, brings its schema to this release, and fails unless it answers what the dump
// recorded, offers what was offered, and goes on.
func checkRelease(t *testing.T, version int, text []byte) {
	t.Helper()
	server := pgtest.Shared(t, version)
	fresh := pgtest.Connect(t, server.Database(t)) // makes the roles, too
	database := server.Empty(t)
	restore := process.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database)
	restore.Stdin = bytes.NewReader(text)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	if err := migrations.Up(ctx, database); err != nil {
		t.Fatal(err)
	}
	c := pgtest.Connect(t, database)
	if version == pgtest.Version() { // a newer server has newer forms of some functions, which a dump does not bring
		const schema = "select p.oid::regprocedure || ' ' || coalesce(case when prokind <> 'a' then pg_get_functiondef(p.oid) end, '') || coalesce(array(select unnest(proacl)::text order by 1)::text, '') as line from pg_proc p where pronamespace = 'alike'::regnamespace"
		upgraded, made := collect(t, c, schema), collect(t, fresh, schema)
		for _, line := range upgraded {
			if !slices.Contains(made, line) {
				t.Errorf("the upgrade leaves a function that a new database does not have:\n%.500s", line)
			}
		}
		if len(upgraded) != len(made) {
			t.Errorf("the upgrade leaves %d functions, want %d", len(upgraded), len(made))
		}
	}
	questions := collect(t, c, "select question from released")
	if len(questions) < 20 {
		t.Fatalf("the dump records %d questions", len(questions))
	}
	for _, question := range questions {
		if got, want := releaseAnswer(t, c, question), one[string](t, c, "select answer from released where question = $1", question); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", question, got, want)
		}
	}
	offered, now := collect(t, c, "select what from offered"), collect(t, c, offers)
	if len(offered) < 60 {
		t.Errorf("the dump records %d functions", len(offered))
	}
	for _, what := range offered {
		if !slices.Contains(now, what) {
			t.Errorf("the release had %s, which is gone", what)
		}
	}
	w := newWorker(t, database, nil)
	once(t, w)
	for i, table := range releaseTables {
		for n := 11; n < 13; n++ {
			releaseRow(t, c, i, n)
		}
		exec(t, c, "update "+table.name+" set body = (select body from "+table.name+" order by 1 desc limit 1) where ctid = (select min(ctid) from "+table.name+")")
		exec(t, c, "delete from "+table.name+" where ctid = (select max(ctid) from "+table.name+")")
	}
	once(t, w)
	checkSide(t, c, "notes", "notes", "body", "id::text", "true")
	checkSide(t, c, "tickets", "tickets", "body", "id::text", "true")
	for i, table := range releaseTables {
		if got := one[string](t, c, "select concat_ws(' ', rows, sketched, stale, pending, failed) from alike.status() where name = $1", table.name); got != "12 12 0 0 0" {
			t.Errorf("%s: rows, sketched, stale, pending and failed are %s, want 12 12 0 0 0", releaseTables[i].name, got)
		}
		exec(t, c, "select alike.change($1, '{\"policy\": \"ignore\"}')", table.name)
		exec(t, c, "select alike.detach($1, '{\"drop\": true}')", table.name)
	}
	w.Close()
	if err := migrations.Down(ctx, database); err != nil {
		t.Error(err)
	}
}

// A database that a release wrote moves to every later one, answers the same there and goes on.
func TestReleases(t *testing.T) {
	dumps := map[string][]byte{"this build": writeRelease(t)}
	if *freeze {
		f, err := os.Create(filepath.Join("testdata/releases", sketch.Version+".sql.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // the level is one of gzip's
		if _, err := z.Write(dumps["this build"]); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/releases/*.sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if dumps[filepath.Base(file)], err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	for name, text := range dumps {
		for _, version := range pgtest.Releases() {
			if version < pgtest.Version() {
				continue // pg_dump writes what older servers cannot read
			}
			t.Run(fmt.Sprintf("%s %d", name, version), func(t *testing.T) { checkRelease(t, version, text) })
		}
	}
}

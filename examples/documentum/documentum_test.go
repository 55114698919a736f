package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/alike-sql/alike/examples/internal/steps"
	"github.com/alike-sql/alike/migrations/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The whole example in both engines: they tell the same story, but for the words
// of the errors.
func TestRun(t *testing.T) {
	said := map[string]string{}
	for engine, args := range map[string][]string{
		"sqlite":   {"-database", filepath.Join(t.TempDir(), "new", "documentum.db")},
		"postgres": {"-postgres", pgtest.Database(t)},
	} {
		var out bytes.Buffer
		if err := run(args, &out); err != nil {
			t.Fatalf("%s: %v\n%s", engine, err, out.String())
		}
		text := regexp.MustCompile(`(?m)^    .*\n|refused: .*?  +\d+$|All of it.*`).ReplaceAllString(out.String(), "")
		said[engine] = regexp.MustCompile(`(?m) +$`).ReplaceAllString(regexp.MustCompile(` {2,}`).ReplaceAllString(text, "  "), "")
		for _, want := range []string{
			"Lease of berth 7           1.0      contract            type         267       -220288425",
			"0900c35080000106  1.0.1.0  FERRY    0900c35080000100  1       0        0",
			"In quarantine\n\nr_object_id       object_name                   version  was_in             kept\n0900c35080000101",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: the report lacks %q", engine, want)
			}
		}
	}
	if said["sqlite"] != said["postgres"] {
		t.Errorf("SQLite says\n%s\nPostgreSQL says\n%s", said["sqlite"], said["postgres"])
	}
}

// both runs a test against a repository in each engine.
func both(t *testing.T, test func(*testing.T, *repository)) {
	for engine, open := range map[string]func() (*repository, error){
		"sqlite":   func() (*repository, error) { return newSQLite(filepath.Join(t.TempDir(), "r.db")) },
		"postgres": func() (*repository, error) { return newPostgres(context.Background(), pgtest.Database(t)) },
	} {
		t.Run(engine, func(t *testing.T) {
			r, err := open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := r.close(); err != nil {
					t.Error(err)
				}
			})
			for _, kind := range [][2]string{{"contract", "dm_document"}, {"framework_contract", "contract"}, {"note", "dm_document"}} {
				must(t, r.call("create_type", kind[0], kind[1]))
			}
			test(t, r)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails wants an error that the pattern finds, and nothing changed by what failed.
func fails(t *testing.T, r *repository, words string, step func() error) {
	t.Helper()
	before := state(t, r)
	err := step()
	if err == nil {
		t.Errorf("no error, want one about %q", words)
	} else if !regexp.MustCompile(words).MatchString(err.Error()) {
		t.Errorf("error %v, want one about %q", err, words)
	}
	if after := state(t, r); after != before {
		t.Errorf("what failed has changed\n%s\ninto\n%s", before, after)
	}
}

func state(t *testing.T, r *repository) string {
	t.Helper()
	var all strings.Builder
	for _, query := range []string{
		"select * from dm_sysobject_s order by 1", "select * from dm_sysobject_r order by 1, 2", "select * from dmr_content_r order by 1, 2",
		"select r_object_id from si_aspect_text order by 1", "select * from dmi_type_info_r order by 1, 2", "select * from last_number order by 1",
		"select r_object_id, other, verdict from si_aspect_alike_mark order by 1, 2",
	} {
		rows, err := steps.Read(r.db, query)
		must(t, err)
		all.WriteString(steps.Table(rows))
	}
	return all.String()
}

// column gives the first column of a query.
func column(t *testing.T, r *repository, query string, args ...any) string {
	t.Helper()
	rows, err := steps.Read(r.db, query, args...)
	must(t, err)
	var values []string
	for _, row := range rows[1:] {
		values = append(values, row[0])
	}
	return strings.Join(values, " ")
}

func add(t *testing.T, r *repository, kind, name, content string) (id string) {
	t.Helper()
	must(t, r.importDocument(kind, name, "/Quarantine", "anna", []byte(content), nil))
	must(t, r.settle())
	return column(t, r, "select max(r_object_id) from dm_document_s")
}

func carriers(t *testing.T, r *repository) string {
	t.Helper()
	must(t, r.settle())
	return column(t, r, "select o.object_name from si_aspect_alike a join dm_sysobject_s o on o.r_object_id = a.r_object_id order by o.r_object_id")
}

// Detaching takes away exactly the rows of objects that no longer carry it.
func TestAttachAndDetach(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		contract := add(t, r, "contract", "contract", text("lease"))
		add(t, r, "framework_contract", "framework", text("insurance"))
		note := add(t, r, "note", "note", text("letter"))
		add(t, r, "dm_document", "document", "another text")
		step := func(want string, err error) {
			t.Helper()
			must(t, err)
			if got := carriers(t, r); got != want {
				t.Errorf("%q carry the aspect, want %q", got, want)
			}
		}
		step("", nil)
		step("note", r.call("attach_aspect", note, "si_aspect"))
		step("note", r.call("attach_default_aspect", "contract", "si_aspect"))
		step("contract framework note", r.backfill())
		step("contract framework note", r.call("attach_default_aspect", "framework_contract", "si_aspect"))
		step("contract framework note", r.call("attach_aspect", contract, "si_aspect"))
		step("contract framework note", r.call("detach_default_aspect", "contract", "si_aspect"))
		step("contract note", r.call("detach_default_aspect", "framework_contract", "si_aspect"))
		step("note", r.call("detach_aspect", contract, "si_aspect"))
		step("note", r.call("attach_default_aspect", "note", "si_aspect"))
		step("note", r.call("detach_aspect", note, "si_aspect"))
		step("", r.call("detach_default_aspect", "note", "si_aspect"))
		step("", r.call("attach_default_aspect", "dm_document", "si_aspect"))
		step("contract framework note document", r.backfill())

		fails(t, r, "already", func() error { return r.call("attach_default_aspect", "dm_document", "si_aspect") })
		fails(t, r, "not attached", func() error { return r.call("detach_default_aspect", "contract", "si_aspect") })
		fails(t, r, "not attached", func() error { return r.call("detach_aspect", note, "si_aspect") })
		fails(t, r, "no such aspect|no aspect", func() error { return r.call("attach_aspect", note, "si_aspect'; --") })
		fails(t, r, "no such document|no document", func() error { return r.call("attach_aspect", "0900c35080009999", "si_aspect") })
		fails(t, r, "type of documents", func() error { return r.call("attach_default_aspect", "dm_folder", "si_aspect") })
	})
}

func TestVersions(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		must(t, r.call("attach_default_aspect", "contract", "si_aspect"))
		must(t, r.policy("reject"))
		must(t, r.settle())
		first := add(t, r, "contract", "lease", text("lease"))
		tree := func() string {
			t.Helper()
			return column(t, r, `select n.r_version_label || '/' || o.i_latest_flag || o.i_has_folder || o.r_immutable_flag from dm_sysobject_s o
				join dm_sysobject_r n using (r_object_id) where n.i_position = -1 and o.i_chronicle_id = $1 order by o.r_object_id`, first)
		}
		in := func(id, version, want string, label any) string {
			t.Helper()
			must(t, r.call("checkout", id, "anna"))
			content := []byte(strings.Replace(text("lease"), "five years", "years and "+version+column(t, r, "select count(*) from dm_document_s"), 1))
			must(t, r.checkin(checkin{id: id, user: "anna", version: version, content: content, label: label}))
			if got := tree(); got != want {
				t.Errorf("after %s: %s, want %s", version, got, want)
			}
			if got := column(t, r, "select r_lock_owner from dm_sysobject_s where r_lock_owner <> ''"); got != "" {
				t.Errorf("%s has a lock after the checkin", got)
			}
			return column(t, r, "select max(r_object_id) from dm_document_s")
		}
		// One after the other, so that in PostgreSQL none has been sketched when the next comes.
		second := in(first, "minor", "1.0/001 1.1/110", "SENT")
		in(first, "branch", "1.0/001 1.1/110 1.0.1.0/100", nil)
		in(first, "branch", "1.0/001 1.1/110 1.0.1.0/100 1.0.2.0/100", nil)
		third := in(second, "minor", "1.0/001 1.1/001 1.0.1.0/100 1.0.2.0/100 1.2/110", nil)
		in(third, "same", "1.0/001 1.1/001 1.0.1.0/100 1.0.2.0/100 1.2/110", "CHECKED")
		fourth := in(third, "major", "1.0/001 1.1/001 1.0.1.0/100 1.0.2.0/100 1.2/001 2.0/110", nil)
		in(second, "branch", "1.0/001 1.1/001 1.0.1.0/100 1.0.2.0/100 1.2/001 2.0/100 1.1.1.0/110", "CURRENT")
		if got := column(t, r, "select r_object_id from dm_sysobject_r where r_version_label = 'CURRENT' and r_object_id like '09%'"); got != column(t, r, "select r_object_id from dm_document") || strings.Contains(got, " ") {
			t.Errorf("%s is CURRENT", got)
		}

		fails(t, r, "not checked out", func() error { return r.checkin(checkin{id: fourth, user: "anna", version: "minor"}) })
		must(t, r.call("checkout", fourth, "anna"))
		fails(t, r, "checked out", func() error { return r.call("checkout", fourth, "anna") })
		fails(t, r, "checked out", func() error { return r.call("cancel_checkout", fourth, "ben") })
		fails(t, r, "checked out", func() error { return r.checkin(checkin{id: fourth, user: "Anna", version: "minor"}) })
		fails(t, r, "same, minor, major or branch", func() error { return r.checkin(checkin{id: fourth, user: "anna", version: "2.1"}) })
		// PostgreSQL names the version, SQLite the view that does.
		fails(t, r, "version_labels says which|the version 09.* has the label SENT", func() error {
			return r.checkin(checkin{id: fourth, user: "anna", version: "minor", label: "SENT"})
		})
		fails(t, r, "letter first", func() error { return r.checkin(checkin{id: fourth, user: "anna", version: "minor", label: "3.0"}) })
		fails(t, r, "letter first", func() error { return r.checkin(checkin{id: fourth, user: "anna", version: "minor", label: ""}) })
		fails(t, r, "resembles|has", func() error {
			return r.checkin(checkin{id: fourth, user: "anna", version: "minor", compareVersions: true})
		})
		must(t, r.call("cancel_checkout", fourth, "anna"))
		fails(t, r, "not checked out", func() error { return r.call("cancel_checkout", fourth, "anna") })
		fails(t, r, "no such document|no document", func() error { return r.call("checkout", "0b00c35080000100", "anna") })
		must(t, r.call("checkout", second, "anna"))
		fails(t, r, "version_labels says which|09.* is version 1.2 already", func() error {
			return r.checkin(checkin{id: second, user: "anna", version: "minor"})
		})

		// Another document is refused what the versions are allowed, and none are reported.
		fails(t, r, "resembl", func() error {
			return r.importDocument("contract", "copy", "/Quarantine", "ben", []byte(text("lease")), nil)
		})
		must(t, r.settle())
		name := "alike_pairs"
		if r.worker != nil {
			name = "alike.pairs"
		}
		if got := column(t, r, "select count(*) from "+name+"('si_aspect')"); got != "0" {
			t.Errorf("%s pairs of versions are reported", got)
		}
		if got := column(t, r, "select count(*) from si_aspect_alike_match"); got != "0" {
			t.Errorf("%s matches of versions are recorded", got)
		}
		// Content that was checked in unchanged is one object with several parents.
		must(t, r.checkin(checkin{id: second, user: "anna", version: "branch"}))
		if got := column(t, r, "select max(parent_count) from dmr_content_s"); got != "2" {
			t.Errorf("%s parents, want 2", got)
		}
	})
}

// Names and owners are anything; paths and types are known or refused.
func TestHostile(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		must(t, r.call("attach_default_aspect", "dm_document", "si_aspect"))
		for _, name := range []string{"O'Brien's \"lease\"", "two\nlines", "'); drop table dm_sysobject_s; --", "$1 :id %s ?", "žluťoučký кот"} {
			id := add(t, r, "dm_document", name, text("lease")+name)
			if got := column(t, r, "select object_name from dm_document where r_object_id = $1", id); got != name {
				t.Errorf("%q came back as %q", name, got)
			}
			if rows, err := r.read("similar", sql.Named("id", id)); err != nil || len(rows) == 0 {
				t.Errorf("%q: %v, %v", name, rows, err)
			}
			must(t, r.call("checkout", id, name))
			must(t, r.checkin(checkin{id: id, user: name, version: "minor", label: "A'B\"C"}))
		}
		for _, file := range []string{"clusters", "hot", "matches", "checkins", "versions_alike", "carriers"} {
			if _, err := r.read(file); err != nil {
				t.Error(err)
			}
		}
		for words, c := range map[string][4]string{
			"type of documents": {"dm_folder", "x", "/Quarantine", "anna"},
			"folder":            {"dm_document", "x", "/Quarantine' or 1 = 1", "anna"},
			"wants a name":      {"dm_document", "", "/Quarantine", "anna"},
			"an owner":          {"dm_document", "x", "/Quarantine", ""},
		} {
			fails(t, r, words, func() error { return r.importDocument(c[0], c[1], c[2], c[3], []byte("text"), nil) })
		}
		fails(t, r, "wants a name", func() error { return r.importDocument("dm_document", "x", "/Quarantine", "anna", nil, nil) })
		fails(t, r, "small letters", func() error { return r.call("create_type", "Bad name", "dm_document") })
		fails(t, r, "supertype", func() error { return r.call("create_type", "orphan", "dm_nothing") })
		for _, path := range []string{"", "relative", "/", "/a//b", "/Quarantine", "/nowhere/x"} {
			args := []any{path, nil}
			fails(t, r, "create_folder", func() error { return r.call("create_folder", args...) })
		}
		fails(t, r, "policy", func() error { return r.policy("refuse'") })
	})
}

// Of many who check one document out at once, one has it.
func TestCheckoutAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		id := add(t, r, "contract", "lease", text("lease"))
		var wait sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wait.Go(func() { errs[i] = r.call("checkout", id, string(rune('a'+i))) })
		}
		wait.Wait()
		got := 0
		for _, err := range errs {
			if err == nil {
				got++
			} else if !strings.Contains(err.Error(), "checked out already") {
				t.Error(err)
			}
		}
		if got != 1 {
			t.Errorf("%d have it checked out, want 1", got)
		}
	})
}

// The backfill is not judged, and goes on where it was.
func TestBackfill(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		for range 3 {
			add(t, r, "note", "the same", text("letter"))
		}
		must(t, r.policy("reject"))
		must(t, r.settle())
		must(t, r.call("attach_default_aspect", "note", "si_aspect"))
		must(t, r.backfill())
		must(t, r.backfill())
		if got := carriers(t, r); got != "the same the same the same" {
			t.Errorf("%q carry the aspect", got)
		}
		fails(t, r, "resembl", func() error {
			return r.importDocument("note", "x", "/Quarantine", "anna", []byte(text("letter")), nil)
		})
	})
}

// Quarantine, release and what comes in between.
func TestQuarantine(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		create := []any{"/Office"}
		if r.worker == nil {
			create = append(create, nil)
		}
		must(t, r.call("create_folder", create...))
		must(t, r.call("attach_default_aspect", "note", "si_aspect"))
		var ids []string
		for _, name := range []string{"a", "b", "c"} {
			must(t, r.importDocument("note", name, "/Office", "anna", []byte(text("letter")), nil))
			must(t, r.settle())
			ids = append(ids, column(t, r, "select max(r_object_id) from dm_document_s"))
		}
		where := func() string {
			t.Helper()
			return column(t, r, `select d.object_name || f.r_folder_path from dm_document d join dm_sysobject_r r using (r_object_id)
				join dm_folder_r f on f.r_object_id = r.i_folder_id where r.i_position = -1 order by d.i_chronicle_id`)
		}
		before := where()
		must(t, r.do("plan"))
		if got := where(); got != before {
			t.Errorf("a plan has moved something: %s", got)
		}
		must(t, r.call("checkout", ids[2], "anna")) // after the plan
		must(t, r.do("quarantine"))
		if got := where(); got != "a/Office b/Quarantine c/Office" {
			t.Error(got)
		}
		// A version made in quarantine goes back with its document.
		must(t, r.call("checkout", ids[1], "ben"))
		must(t, r.checkin(checkin{id: ids[1], user: "ben", version: "minor"}))
		must(t, r.settle())
		must(t, r.do("plan"))
		if got := column(t, r, "select r_object_id from quarantine_plan"); got != "" {
			t.Errorf("%s is planned again", got)
		}
		must(t, r.do("release"))
		if got := where(); got != before {
			t.Errorf("after the release %s, before %s", got, before)
		}
		if got := column(t, r, "select count(*) from dm_document_s"); got != "4" {
			t.Errorf("%s versions, want 4", got)
		}
	})
}

// Versions of one document that are checked in at once wait for each other.
func TestCheckinAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		must(t, r.call("attach_default_aspect", "contract", "si_aspect"))
		ids := []string{add(t, r, "contract", "lease", text("lease"))}
		for range 5 {
			must(t, r.call("checkout", ids[len(ids)-1], "anna"))
			must(t, r.checkin(checkin{id: ids[len(ids)-1], user: "anna", version: "minor"}))
			ids = append(ids, column(t, r, "select max(r_object_id) from dm_document_s"))
		}
		for _, id := range ids {
			must(t, r.call("checkout", id, "anna"))
		}
		var wait sync.WaitGroup
		errs := make([]error, len(ids))
		for i, id := range ids {
			wait.Go(func() {
				errs[i] = r.checkin(checkin{id: id, user: "anna", version: "branch", label: "CURRENT", content: []byte(text("lease") + id)})
			})
		}
		wait.Wait()
		must(t, errors.Join(errs...))
		must(t, r.settle())
		if got := column(t, r, "select count(*) from dm_document"); got != "1" {
			t.Errorf("%s current versions", got)
		}
		if got := column(t, r, "select count(*) from si_aspect_alike_mark"); got != "66" {
			t.Errorf("%s verdicts on 12 versions, want 66", got)
		}
	})
}

// With the option ask no checkin brings a sketch: the trigger asks the worker.
func TestAskTheWorker(t *testing.T) {
	ctx := context.Background()
	r, err := newPostgres(ctx, pgtest.Database(t))
	must(t, err)
	defer func() { must(t, r.close()) }()
	must(t, r.call("attach_default_aspect", "dm_document", "si_aspect"))
	_, err = r.db.Exec(`create extension dblink;
		select alike.attach('si_aspect_text', 'text', jsonb_build_object('name', 'si_aspect', 'policy', 'reject', 'ask', jsonb_build_object('timeout', 20, 'otherwise', 'refuse',
			'connection', format('dbname=%s host=%s user=postgres', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1)))))`)
	must(t, err)
	must(t, r.settle())
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.worker.Run(running) }()
	document := func(content string) error {
		return r.call("import_document", "dm_document", "letter", "/Quarantine", "anna", nil, []byte(content))
	}
	must(t, document(text("letter")))
	if err := document(text("letter") + " again"); err == nil || !strings.Contains(err.Error(), "resembl") {
		t.Errorf("a copy: %v", err)
	}
	id := column(t, r, "select r_object_id from dm_document_s")
	must(t, r.call("checkout", id, "anna"))
	must(t, r.call("checkin", id, "anna", "minor", []byte(text("letter")+" again")))
	stop()
	must(t, <-done)
}

// What is deleted leaves nothing of the aspect behind.
func TestDelete(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		must(t, r.call("attach_default_aspect", "contract", "si_aspect"))
		for range 2 {
			add(t, r, "contract", "lease", text("lease"))
		}
		must(t, r.policy("link"))
		must(t, r.settle())
		id := add(t, r, "contract", "copy", text("lease"))
		if got := column(t, r, "select count(*) from si_aspect_alike_match"); got != "2" {
			t.Errorf("%s matches, want 2", got)
		}
		_, err := r.db.Exec("delete from dm_sysobject_s where r_object_id = $1", id)
		must(t, err)
		if got := carriers(t, r); got != "lease lease" {
			t.Errorf("%s carry the aspect", got)
		}
		for _, table := range []string{"dm_sysobject_r", "dm_document_s", "si_aspect_text", "si_aspect_alike", "si_aspect_alike_match"} {
			if got := column(t, r, "select count(*) from "+table+" where r_object_id = $1", id); got != "0" {
				t.Errorf("%s has %s rows of what was deleted", table, got)
			}
		}
	})
}

// Roth's query as he wrote it, with either form of the view.
func TestRothsQuery(t *testing.T) {
	both(t, func(t *testing.T, r *repository) {
		must(t, r.call("attach_default_aspect", "contract", "si_aspect"))
		id := add(t, r, "contract", "lease", text("lease"))
		add(t, r, "contract", "copy", strings.ToUpper(text("lease")))
		add(t, r, "contract", "insurance", text("insurance"))
		for _, query := range []string{
			`select object_name from dm_document where "si_aspect.value" > -286374952.0 and "si_aspect.value" < -154201897.0 order by 1`,
			`select object_name from dm_document natural join si_aspect where si_aspect.value > -286374952.0 and si_aspect.value < -154201897.0 order by 1`,
		} {
			if got := column(t, r, query); got != "copy lease" {
				t.Errorf("%s: %s", query, got)
			}
		}
		// Whole numbers: decimals would keep PostgreSQL from the index.
		plan := explain(t, r, "select r_object_id from si_aspect where si_aspect.value > -286374952 and si_aspect.value < -154201897")
		if !regexp.MustCompile(`(?i)(using index|index scan using|index scan on) si_aspect_alike_si_43b_40`).MatchString(plan) {
			t.Errorf("the range does not go through the index:\n%s", plan)
		}
		rows, err := r.read("range", sql.Named("id", id))
		if err != nil || len(rows) != 3 {
			t.Errorf("%v %v", rows, err)
		}
	})
}

// The script refuses what it would otherwise have to quote.
func TestAdminRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.db")
	for _, args := range [][]string{
		{file}, {file, "destroy"}, {file, "attach", "x'; drop table dm_sysobject_s; --"}, {file, "attach", "0900c35080000100\n.shell true"}, {file, "detach", ""},
		{file, "policy", "refuse"}, {file, "tree", "0900C35080000100"}, {file, "range", "0900c3508000010"}, {file, "attach", "contract", "more"},
	} {
		out, err := exec.Command("./admin", args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(out) == 0 {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused command has made the database")
	}
}

// explain gives the plan of a query in a table that is large enough for an index.
func explain(t *testing.T, r *repository, query string) (plan string) {
	t.Helper()
	c, err := r.db.Conn(context.Background())
	must(t, err)
	defer c.Close()
	verb := "explain query plan "
	if r.worker != nil {
		verb = "explain "
		_, err := c.ExecContext(context.Background(), "set enable_seqscan = off")
		must(t, err)
	}
	rows, err := c.QueryContext(context.Background(), verb+query)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	line := make([]any, len(columns))
	for i := range line {
		line[i] = new(string)
	}
	for rows.Next() {
		must(t, rows.Scan(line...))
		plan += *line[len(line)-1].(*string) + "\n"
	}
	must(t, rows.Err())
	return plan
}

func TestErrors(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"argument"}, {"-database", t.TempDir() + "/x/\x00"}, {"-postgres", "postgres://nobody@/nothing?host=" + t.TempDir()}} {
		if err := run(args, &bytes.Buffer{}); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// Rows that a build with other tokens has sketched are counted by status, left out of
// every comparison, and sketched again by a worker of this build, and no others are.
func TestRowsOfAnotherBuild(t *testing.T) {
	for _, policy := range []string{"ignore", "link", "reject"} {
		t.Run(policy, func(t *testing.T) {
			v := sketchedBySomeBuild(t, policy)
			t.Run("are left out of every comparison", v.leftOut)
			t.Run("are sketched again by a worker of this build", v.sketchedAgain)
			t.Run("and one stale row alone", v.oneStaleRow)
			t.Run("a worker of an earlier build stands back", v.earlierWorker)
			t.Run("stay stale under another policy and after a detach", v.staleAfterDetach)
		})
	}
}

const (
	buildCounts   = "select concat_ws(' ', rows, sketched, stale, pending) from alike.status()"
	buildSentence = "the rows of docs were sketched by a build of Alike that makes other tokens; its worker, or pgworker refresh, sketches them again"
)

// ofAnotherBuild is a table docs whose rows are, in turn, of this build and of another.
type ofAnotherBuild struct {
	c *pgx.Conn
	w *Worker
}

func anotherBody(n int) string {
	return strings.Repeat("the quick brown fox jumps over the lazy dog and ", 4) + fmt.Sprint("number ", n)
}

func sketchedBySomeBuild(t *testing.T, policy string) *ofAnotherBuild {
	t.Helper()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	w := newWorker(t, database, nil)
	exec(t, c, "create table docs (id int primary key, body text)")
	exec(t, c, "insert into docs values (1, $1), (2, $2), (3, '')", anotherBody(1), anotherBody(2))
	exec(t, c, "select alike.attach('docs', 'body', $1)", fmt.Sprintf(`{"profile": "prose", "policy": %q}`, policy))
	v := &ofAnotherBuild{c, w}
	once(t, w)
	v.want(t, "3 3 0 0", buildCounts)
	p, err := sketch.ParseProfile("prose")
	if err != nil {
		t.Fatal(err)
	}
	v.want(t, fmt.Sprint(p.TokensFingerprint()), "select tokens::text from alike.settings")
	return v
}

func (v *ofAnotherBuild) want(t *testing.T, want, query string) {
	t.Helper()
	if got := list(t, v.c, query); got != want {
		t.Errorf("%s: %q, want %q", query, got, want)
	}
}

// elsewhere makes the rows as though another build had sketched them, and this one had
// never been there.
func (v *ofAnotherBuild) elsewhere(t *testing.T) {
	t.Helper()
	exec(t, v.c, "update alike.settings set tokens = tokens # 1")
	exec(t, v.c, "update docs_alike set sketch = set_byte(sketch, 21, get_byte(sketch, 21) # 1)")
	v.w.catalog.forget()
}

func (v *ofAnotherBuild) leftOut(t *testing.T) {
	v.elsewhere(t)
	v.want(t, "2", "select key from alike.rows('docs', '1')")
	question, err := Ask(ctx, v.c, "docs", []byte(anotherBody(4)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.c.Exec(ctx, "select alike.gate('docs', $1)", question.Sketch); err == nil || !strings.Contains(err.Error(), buildSentence) {
		t.Errorf("gate: error %v, want %q", err, buildSentence)
	}
}

// What no worker has taken over yet is not written under the other's number.
func (v *ofAnotherBuild) sketchedAgain(t *testing.T) {
	exec(t, v.c, "insert into docs values (4, $1)", anotherBody(4))
	if err := v.w.takeOver(ctx); err != nil {
		t.Fatal(err)
	}
	v.want(t, "4 3 3 1", buildCounts)
	v.want(t, "", "select key from alike.pairs('docs')")
	exec(t, v.c, "create table sketched (id int)")
	exec(t, v.c, "create function watch() returns trigger language plpgsql as $$ begin insert into public.sketched values (new.id); return null; end $$")
	exec(t, v.c, "create trigger watch after insert or update on docs_alike for each row execute function watch()")
	once(t, v.w)
	v.want(t, "4 4 0 0", buildCounts)
	v.want(t, "1 2 3 4", "select string_agg(id::text, ' ' order by id) from sketched")
	v.want(t, "1-2 1-4 2-4", "select string_agg(key || '-' || other, ' ' order by key, other) from alike.pairs('docs')")
	v.want(t, "1", "select count(distinct substr(sketch, 1, 22))::text from docs_alike where sketch is not null")
}

func (v *ofAnotherBuild) oneStaleRow(t *testing.T) {
	exec(t, v.c, "update docs_alike set profile = (select min(id) from alike.settings) where id = 3; delete from sketched")
	v.want(t, "4 4 1 0", buildCounts)
	v.want(t, "1", "select alike.refresh('docs')::text")
	once(t, v.w)
	v.want(t, "3", "select string_agg(id::text, ' ') from sketched")
	v.want(t, "4 4 0 0", buildCounts)
}

// pgworker refresh makes it take over.
func (v *ofAnotherBuild) earlierWorker(t *testing.T) {
	exec(t, v.c, "update alike.settings set tokens = tokens # 1") // each is the other
	v.w.catalog.forget()
	if err := v.w.Once(ctx); err != nil {
		t.Fatal(err)
	}
	v.want(t, "1", "select count(*)::text from alike.attachment a where a.profile_id = (select max(id) from alike.settings)")
	exec(t, v.c, "insert into docs values (5, 'words that no other row has')")
	if err := v.w.Once(ctx); err == nil || !strings.Contains(err.Error(), buildSentence) {
		t.Errorf("a worker of an earlier build: error %v, want %q", err, buildSentence)
	}
	if err := TakeOver(ctx, v.c, "docs"); err != nil {
		t.Fatal(err)
	}
	exec(t, v.c, "select alike.refresh('docs')")
	once(t, v.w)
	v.want(t, "5 5 0 0", buildCounts)
	v.want(t, "", "select note from alike.status() where note <> ''")
}

// Another policy is no other profile, and what a detach has kept is still stale.
func (v *ofAnotherBuild) staleAfterDetach(t *testing.T) {
	v.elsewhere(t)
	exec(t, v.c, `select alike.attach('docs', 'body', '{"at_least": 0.9}')`)
	v.want(t, "0", "select count(*)::text from alike.attachment where replaces is not null")
	exec(t, v.c, "select alike.detach('docs')")
	exec(t, v.c, `select alike.attach('docs', 'body', '{"profile": "prose"}')`)
	once(t, v.w)
	v.want(t, "5 5 0 0", buildCounts)
	v.want(t, "1", "select count(distinct substr(sketch, 1, 22))::text from docs_alike where sketch is not null")
}

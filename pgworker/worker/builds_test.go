package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// Rows that a build with other tokens has sketched are counted by status, left out of
// every comparison, and sketched again by a worker of this build, and no others are.
func TestRowsOfAnotherBuild(t *testing.T) {
	for _, policy := range []string{"ignore", "link", "reject"} {
		t.Run(policy, func(t *testing.T) {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			w := newWorker(t, database, nil)
			exec(t, c, "create table docs (id int primary key, body text)")
			body := func(n int) string {
				return strings.Repeat("the quick brown fox jumps over the lazy dog and ", 4) + fmt.Sprint("number ", n)
			}
			exec(t, c, "insert into docs values (1, $1), (2, $2), (3, '')", body(1), body(2))
			exec(t, c, "select alike.attach('docs', 'body', $1)", fmt.Sprintf(`{"profile": "prose", "policy": %q}`, policy))
			once := func() {
				t.Helper()
				if err := w.Once(ctx); err != nil {
					t.Fatal(err)
				}
			}
			want := func(want, query string, args ...any) {
				t.Helper()
				if got := list(t, c, query, args...); got != want {
					t.Errorf("%s: %q, want %q", query, got, want)
				}
			}
			once()
			const counts = "select concat_ws(' ', rows, sketched, stale, pending) from alike.status()"
			const sentence = "the rows of docs were sketched by a build of Alike that makes other tokens; its worker, or pgworker refresh, sketches them again"
			want("3 3 0 0", counts)
			p, err := sketch.ParseProfile("prose")
			if err != nil {
				t.Fatal(err)
			}
			want(fmt.Sprint(p.TokensFingerprint()), "select tokens::text from alike.settings")

			// As though another build had sketched them, and this one had never been there.
			elsewhere := func() {
				exec(t, c, "update alike.settings set tokens = tokens # 1")
				exec(t, c, "update docs_alike set sketch = set_byte(sketch, 21, get_byte(sketch, 21) # 1)")
				w.catalog.forget()
			}
			elsewhere()
			want("2", "select key from alike.rows('docs', '1')")
			question, err := Ask(ctx, c, "docs", []byte(body(4)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Exec(ctx, "select alike.gate('docs', $1)", question.Sketch); err == nil || !strings.Contains(err.Error(), sentence) {
				t.Errorf("gate: error %v, want %q", err, sentence)
			}

			// What no worker has taken over yet is not written under the other's number.
			exec(t, c, "insert into docs values (4, $1)", body(4))
			if err := w.takeOver(ctx); err != nil {
				t.Fatal(err)
			}
			want("4 3 3 1", counts)
			want("", "select key from alike.pairs('docs')")
			exec(t, c, "create table sketched (id int)")
			exec(t, c, "create function watch() returns trigger language plpgsql as $$ begin insert into public.sketched values (new.id); return null; end $$")
			exec(t, c, "create trigger watch after insert or update on docs_alike for each row execute function watch()")
			once()
			want("4 4 0 0", counts)
			want("1 2 3 4", "select string_agg(id::text, ' ' order by id) from sketched")
			want("1-2 1-4 2-4", "select string_agg(key || '-' || other, ' ' order by key, other) from alike.pairs('docs')")
			want("1", "select count(distinct substr(sketch, 1, 22))::text from docs_alike where sketch is not null")

			// One stale row: it alone is sketched again.
			exec(t, c, "update docs_alike set profile = (select min(id) from alike.settings) where id = 3; delete from sketched")
			want("4 4 1 0", counts)
			want("1", "select alike.refresh('docs')::text")
			once()
			want("3", "select string_agg(id::text, ' ') from sketched")
			want("4 4 0 0", counts)

			// A worker of the earlier build stands back; pgworker refresh makes it take over.
			exec(t, c, "update alike.settings set tokens = tokens # 1") // each is the other
			w.catalog.forget()
			if err := w.Once(ctx); err != nil {
				t.Fatal(err)
			}
			want("1", "select count(*)::text from alike.attachment a where a.profile_id = (select max(id) from alike.settings)")
			exec(t, c, "insert into docs values (5, 'words that no other row has')")
			if err := w.Once(ctx); err == nil || !strings.Contains(err.Error(), sentence) {
				t.Errorf("a worker of an earlier build: error %v, want %q", err, sentence)
			}
			if err := TakeOver(context.Background(), c, "docs"); err != nil {
				t.Fatal(err)
			}
			exec(t, c, "select alike.refresh('docs')")
			once()
			want("5 5 0 0", counts)
			want("", "select note from alike.status() where note <> ''")

			// Another policy is no other profile, and what a detach has kept is still stale.
			elsewhere()
			exec(t, c, `select alike.attach('docs', 'body', '{"at_least": 0.9}')`)
			want("0", "select count(*)::text from alike.attachment where replaces is not null")
			exec(t, c, "select alike.detach('docs')")
			exec(t, c, `select alike.attach('docs', 'body', '{"profile": "prose"}')`)
			once()
			want("5 5 0 0", counts)
			want("1", "select count(distinct substr(sketch, 1, 22))::text from docs_alike where sketch is not null")
		})
	}
}

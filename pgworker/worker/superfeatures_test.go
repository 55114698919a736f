package worker

import (
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// The columns of superfeatures come and go with the option, follow the profile and every
// write, and nothing is left of them.
func TestSuperfeaturesComeAndGo(t *testing.T) {
	t.Parallel()
	for _, version := range pgtest.Releases() {
		database := pgtest.Shared(t, version).Database(t)
		c := pgtest.Connect(t, database)
		w := newWorker(t, database, nil)
		exec(t, c, `create table d (id int primary key, body text);
			insert into d select g, 'a text of some words with the number ' || g / 2 || ' and no other' from generate_series(1, 80) g`)
		exact := func(when string, columns int) {
			t.Helper()
			once(t, w)
			if n := one[int](t, c, `select count(*) from pg_attribute a join pg_index i on i.indrelid = a.attrelid and i.indkey[0] = a.attnum and i.indisvalid
				where a.attrelid = 'd_alike'::regclass and a.attname ~ '^g[0-9]+$'`); n != columns {
				t.Errorf("%s: %d indexed columns of superfeatures, want %d", when, n, columns)
			}
			if columns == 0 {
				return
			}
			if n := one[int](t, c, `select count(*) from d full join d_alike s using (id)
				cross join lateral (select array_agg(j.value::text::bigint order by substr(j.key, 2)::int) as g from jsonb_each(to_jsonb(s)) j where j.key ~ '^g[0-9]+$') k
				where k.g is distinct from (select array_agg(alike.superfeature(s.sketch, i) order by i) from generate_series(1, cardinality(k.g)) i) or s.content_hash is distinct from
					('x' || encode(substr(sha256(convert_to(d.body, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint`); n != 0 {
				t.Errorf("%s: %d rows have other superfeatures than their sketches", when, n)
			}
			if n := one[int](t, c, "select count(*) from d_alike a join d_alike b on b.g1 = a.g1 and b.id > a.id"); n < 20 {
				t.Errorf("%s: %d pairs share the first superfeature", when, n)
			}
		}
		exec(t, c, `select alike.attach('d', 'body', '{"profile": "bing bits=64", "superfeatures": true}')`)
		exact("attached", 15)
		exec(t, c, "insert into d select 1000 + id, body || ' more' from d where id < 30; update d set body = body || ' again' where id % 5 = 0; update d set id = -id where id % 7 = 0; delete from d where id % 11 = 0")
		exact("written", 15)
		exec(t, c, `select alike.change('d', '{"profile": "bing r=3 bits=64"}')`)
		exact("another r", 20)
		exec(t, c, `select alike.change('d', '{"superfeatures": false}')`)
		exact("false", 0)
		exec(t, c, `select alike.change('d', '{"superfeatures": true}')`)
		exact("true", 20)
		exec(t, c, `alter table d alter id type bigint`)
		exec(t, c, "insert into d values (5000, 'a text of some words with the number 5000 and no other')")
		exact("another type", 20)
		fails(t, c, "which the layout parts does without", `select alike.change('d', '{"layout": "parts"}')`)
		fails(t, c, "under r=1 are the features", `select alike.change('d', '{"profile": "bing r=1"}')`)
		exec(t, c, `select alike.detach('d')`)
		exec(t, c, "update d set body = 'other words than before, which are new to it' where id < 20")
		exec(t, c, `select alike.attach('d', 'body', '{"profile": "bing r=3 bits=64", "superfeatures": true}')`)
		exact("attached to what a detach kept", 20)
		exec(t, c, "update alike.attachment set superfeatures = 7 where name = 'd'; insert into d values (6000, 'a text')")
		if err := w.Once(ctx); err == nil || !strings.Contains(err.Error(), "the registry has 7 superfeatures, the profile 20") {
			t.Errorf("a registry with another number of superfeatures: the worker says %v", err)
		}
		exec(t, c, `select alike.detach('d', '{"drop": true}')`)
		if n := one[int](t, c, "select count(*) from pg_class where relname ~ 'alike' and relnamespace = 'public'::regnamespace"); n != 0 {
			t.Errorf("%d relations remain, want 0", n)
		}
	}
}

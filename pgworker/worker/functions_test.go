package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// calls has a call and its answer for each function that people may call.
var calls = [][3]string{
	{"version", "select alike.version()", sketch.Version},
	{"migration", "select alike.migration()::text = (select version::text from schema_migrations)", "true"},
	{"profiles", "select count(*) > 5 and bool_and(settings <> '') from alike.profiles()", "true"},
	{"status", "select name || ' ' || rows || ' ' || pending from alike.status() where name = 'notes'", "notes 4 0"},
	{"rows", "select string_agg(key || ' ' || shared, ',') from alike.rows('notes', '1')", "2 12"},
	{"pairs", "select string_agg(key || '-' || other, ',') from alike.pairs('notes')", "1-2"},
	{"clusters", "select string_agg(key || ' ' || cluster, ',' order by key) from alike.clusters('notes')", "1 1,2 1"},
	{"keep", "select string_agg(key || ' ' || kept, ',' order by key) from alike.keep('notes')", "1 1,2 1,3 3,4 4"},
	{"hot", "select count(*) from alike.hot('notes')", "0"},
	{"errors", "select count(*) from alike.errors('notes')", "0"},
	{"si_rows", "select string_agg(key, ',' order by key) from alike.si_rows('notes', 'length', '1', 0.1)", "2"},
	{"forest_rows", "select string_agg(key, ',' order by key) from alike.forest_rows('notes', '1')", "2"},
	{"rows_like", "select string_agg(key, ',' order by key) from alike.rows_like('notes', (select body from notes where id = 1))", "1,2"},
	{"advise", "select string_agg(preset || ' ' || (curve -> 0 ->> 'resemblance') || ' ' || (reason is null) || ' ' || (recall is null), ',') from alike.advise('notes', 'body') where chosen", "short 0.5 false false"},
	{"common", "select string_agg(passage || ' ' || rows || ' ' || key, ',') from alike.common('notes', 0.1)", "<nil>"},
	{"sketch", "select alike.profile(alike.sketch('one two three four five'))", "words w=2 set fast t=168 k=23 s=4 r=2"},
	{"profile", "select alike.profile(sketch) from documents_sketched limit 1", "words w=4 set fast t=84 k=12 s=7 r=2"},
	{"sketches", "select cardinality(alike.sketches(array['one', null, 'two']))", "3"},
	{"resemblance", "select alike.resemblance(a.sketch, b.sketch) from documents_sketched a, documents_sketched b where a.id = 1 and b.id = 2", "1"},
	{"bounds", "select (alike.bounds(a.sketch, a.sketch)->>'estimate')::float from documents_sketched a where id = 1", "1"},
	{"containment", "select alike.containment(alike.sketch('a b c d', 'mod=1'), alike.sketch('a b c d e f', 'mod=1'))", "1"},
	{"resemblance_exact", "select alike.resemblance_exact('a b c', 'a b d', 'words w=1')", "0.5"},
	{"containment_exact", "select alike.containment_exact('a b', 'a b c d', 'words w=1')", "1"},
	{"tokens", "select string_agg(token, ',' order by position) from alike.tokens('One two, THREE', 'words w=2')", "one,two,three"},
	{"shingles", "select string_agg(shingle, ',' order by position) from alike.shingles('one two three', 'words w=2')", "one two,two three"},
	{"explain", "select kind || ' ' || passage from alike.explain('one two three four', 'one two three five', 'words w=2') limit 1", "both one two three"},
	{"features", "select count(*) from documents_sketched s, alike.features(s.sketch) where s.id = 1", "12"},
	{"feature", "select bool_and(alike.feature(s.sketch, f.slot) = f.feature) from documents_sketched s, alike.features(s.sketch) f where s.id = 1", "true"},
	{"superfeatures", "select count(*) from documents_sketched s, alike.superfeatures(s.sketch) where s.id = 1", "66"},
	{"superfeature", "select bool_and(alike.superfeature(s.sketch, f.slot) = f.feature) from documents_sketched s, alike.superfeatures(s.sketch) f where s.id = 1", "true"},
	{"shared", "select alike.shared(a.sketch, b.sketch) from documents_sketched a, documents_sketched b where a.id = 1 and b.id = 2", "12"},
	{"alike", "select alike.alike(a.sketch, b.sketch) from documents_sketched a, documents_sketched b where a.id = 1 and b.id = 3", "false"},
	{"merge", "select alike.merge(sketch) = (select sketch from documents_sketched where id = 1) from documents_sketched where id < 3", "true"},
	{"sketch_set", "select alike.size(alike.sketch_set(word)) between 2 and 4 from unnest(array['a', 'b', 'c']) word", "true"},
	{"size", "select alike.size(alike.sketch('a b c', 'mod=1 w=1'))", "3"},
	{"si", "select alike.si('one two three four', 'length')", "3"},
	{"si_low", "select alike.si_low(100)", "70"},
	{"si_high", "select alike.si_high(100)", "130"},
	{"filter", "select alike.filter(1, 2, 1, 0.5)", "0.25"},
	{"filter_curve", "select probability from alike.filter_curve(1, 2, 1) where resemblance = 0.5", "0.25"},
	{"filter_plan", "select count(*) > 0 from alike.filter_plan(0.8, 0.05, 0.2, 0.01)", "true"},
	{"contains_plan", "select passage || ' ' || sampled || ' ' || sqlite_bytes || ' ' || postgres_bytes from alike.contains_plan(207)", "20 23 894 2090"},
	{"half_point", "select round(alike.half_point(1, 1, 1)::numeric, 9)::float8", "0.5"},
	{"steepest_group", "select alike.steepest_group(0.5) > 1", "true"},
	{"steepest_resemblance", "select alike.steepest_resemblance(4) between 0 and 1", "true"},
	{"within", "select alike.within(100, 0.5, 0.1) between 0.9 and 1", "true"},
	{"cells", "select count(*) > 0 from alike.cells(1, 0.5, 0.25)", "true"},
	{"expected_collisions", "select alike.expected_collisions(2, 1)", "0.5"},
	{"collision_bound", "select alike.collision_bound(8, 8, 64) < 1e-10", "true"},
	{"fingerprint_bits", "select alike.fingerprint_bits(1000, 0.01) between 20 and 40", "true"},
	{"fingerprint_error", "select alike.fingerprint_error(1000, 64) < 1e-10", "true"},
	{"containers", "select string_agg(key, ',') from alike.containers('parts', '2')", "1"},
	{"contained", "select string_agg(key, ',') from alike.contained('parts', '1')", "2"},
	{"containers_like", "select string_agg(key, ',') from alike.containers_like('parts', (select body from parts where id = 2)) where key <> '2'", "1"},
	{"contained_like", "select string_agg(key, ',') from alike.contained_like('parts', (select body from parts where id = 1)) where key <> '1'", "2"},
	{"containments", "select string_agg(key || ' in ' || other, ',') from alike.containments('parts')", "2 in 1"},
	{"mark", "select alike.mark('notes', '1', '2', 'distinct')", "distinct"},
	{"write_clusters", "select alike.write_clusters('notes')", "0"},
	{"gate", "select alike.gate('notes', alike.sketch('nothing of the kind was ever written here', 'words w=4 t=84 k=12 s=7')) is null", "true"},
	{"own", "select alike.own('notes')", "0"},
	{"refresh", "select alike.refresh('notes')", "0"},
	{"change", `select alike.change('notes', '{"at_least": 0.7}') >= 0`, "true"},
	{"detach", `select alike.detach('notes', '{"drop": true}') >= 0`, "true"},
	{"attach", "select alike.attach('notes', 'body')", "4"},
}

// Each function that people may call is called here, in this order, and answers. The catalogue
// says which there are: this test fails for a function that no line names.
func TestEachFunctionIsCalled(t *testing.T) {
	database, c := askable(t, pgtest.Version())
	exec(t, c, `set alike.timeout = 60;
		create table notes (id int primary key, body text);
		insert into notes values (1, 'the harbour office is closed on Thursdays and opens again on Friday'), (2, 'the harbour office is closed on Thursdays and opens again on Friday'),
			(3, 'nobody knows where the old lighthouse keeper went after the storm'), (4, null);
		select alike.attach('notes', 'body', '{"profile": "words w=4 t=84 k=12 s=7", "si": ["length", "forest/0"], "policy": "reject"}');
		create table parts as select 1 as id, string_agg('w' || g, ' ') as body from generate_series(1, 600) as g union all select 2, string_agg('w' || g, ' ') from generate_series(101, 400) as g;
		alter table parts add primary key (id);
		select alike.attach('parts', 'body', '{"contains": true}')`)
	once(t, newWorker(t, database, nil))
	worker := startWorker(t, database)
	exec(t, c, `create view documents_sketched as select n.id, alike.sketch(n.body, 'words w=4 t=84 k=12 s=7') as sketch from notes n where n.body is not null`)
	var named []string
	for _, call := range calls {
		named = append(named, call[0])
		if call[0] == "own" { // no later call asks the worker
			kill(worker)
		}
		if !strings.Contains(call[1], "alike."+call[0]+"(") {
			t.Errorf("%s does not call alike.%s", call[1], call[0])
		}
		if got := fmt.Sprint(one[any](t, c, call[1])); got != call[2] {
			t.Errorf("%s: %s, want %s", call[1], got, call[2])
		}
	}
	for _, name := range strings.Fields(list(t, c, `select distinct proname from pg_proc where pronamespace = 'alike'::regnamespace and proname !~ '^_' order by 1`)) {
		if !slices.Contains(named, name) {
			t.Errorf("no line of this test calls alike.%s", name)
		}
	}
}

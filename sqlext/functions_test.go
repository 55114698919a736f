package sqlext_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// The names are a contract: programs call them. Each has the numbers of arguments that it takes.
func TestNames(t *testing.T) {
	memory(t).expect(strings.TrimSpace(`
alike__cannot_judge 1
alike__cell 2
alike__content_hash 1
alike__damaged 3
alike__exact 5
alike__extension_must_be_loaded 0
alike__high 2
alike__hold 3
alike__join 3
alike__leave 4
alike__low 2
alike__open 3
alike__passages 2
alike__reject 4
alike__resemblance 2
alike__row 2
alike__step 3
alike__warn 5
alike_alike 2
alike_attach 2 3
alike_bounds 2 3
alike_collision_bound 3
alike_containment 2
alike_containment_exact 2 3
alike_detach 1 2
alike_expected_collisions 2
alike_feature 2
alike_filter 4
alike_fingerprint_bits 2
alike_fingerprint_error 2
alike_half_point 3
alike_mark 4 5
alike_merge 1
alike_profile 1
alike_refresh 1
alike_resemblance 2
alike_resemblance_exact 2 3
alike_shared 2
alike_si 2
alike_si_high 1 2
alike_si_low 1 2
alike_size 1
alike_sketch 1 2
alike_sketch_set 1 2 3
alike_steepest_group 1
alike_steepest_resemblance 1
alike_superfeature 2
alike_version 0
alike_within 3
alike_write_clusters 1`), `SELECT name || ' ' || group_concat(narg, ' ') FROM (SELECT name, narg FROM pragma_function_list WHERE name LIKE 'alike%' AND narg >= 0 ORDER BY 1, 2) GROUP BY name ORDER BY name`)
}

func TestNamesOfTables(t *testing.T) {
	memory(t).expect(strings.TrimSpace(`
alike__containments
alike__list
alike__pairs
alike_advise
alike_cells
alike_clusters
alike_common
alike_contained
alike_contained_like
alike_containers
alike_containers_like
alike_containments
alike_contains_plan
alike_errors
alike_explain
alike_features
alike_filter_curve
alike_filter_plan
alike_forest_rows
alike_hot
alike_keep
alike_pairs
alike_profiles
alike_rows
alike_rows_like
alike_shingles
alike_si_rows
alike_status
alike_superfeatures
alike_tokens`), `SELECT name FROM pragma_module_list WHERE name LIKE 'alike%' ORDER BY 1`)
}

// cases are statements with their results, run through both doors.
func cases(t *testing.T) []struct{ query, want string } {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	var list []struct{ query, want string }
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n\n") {
			query, want, found := strings.Cut(block, ";\n")
			if !found {
				t.Fatalf("%s: no semicolon and result in %q", file, block)
			}
			var lines []string
			for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
				lines = append(lines, strings.TrimPrefix(line, "-- "))
			}
			list = append(list, struct{ query, want string }{query, strings.Join(lines, "\n")})
		}
	}
	return list
}

func TestCasesByImport(t *testing.T) {
	db := memory(t)
	for _, c := range cases(t) {
		if want, ok := strings.CutPrefix(c.want, "Error: "); ok {
			db.fails(want, c.query)
			continue
		}
		db.expect(c.want, c.query)
	}
}

func TestCasesByLoading(t *testing.T) {
	for _, c := range cases(t) {
		got, err := shell(t, ":memory:", c.query+";")
		if want, ok := strings.CutPrefix(c.want, "Error: "); ok {
			if err == nil || !strings.Contains(got, want) {
				t.Errorf("%s\n%s, want %q in it", c.query, got, want)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.query, got, c.want)
		}
	}
}

// The extension computes what the package does.
func TestSketchIsTheLibrarys(t *testing.T) {
	db := memory(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("a near duplicate is a document that differs from another by a word or two and means the same")
	for _, settings := range []string{"", "prose", "web", "code w=3", "chars", "lines", "words mod=4", "words bottom=20", "words scaled", "words fast bits=8", "words bins"} {
		p, err := sketch.ParseProfile(settings)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 3, 4, 40, 4000, 300000} {
			var doc bytes.Buffer
			for range n {
				doc.WriteString(words[random.IntN(len(words))] + " ")
			}
			s.Document(doc.Bytes())
			var want []byte
			if !s.Empty() {
				want = s.AppendSketch(nil)
			}
			var got, fromBlob []byte
			if err := db.QueryRow(`SELECT alike_sketch(?1, ?2), alike_sketch(CAST(?1 AS BLOB), ?2)`, doc.String(), settings).Scan(&got, &fromBlob); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) || !bytes.Equal(fromBlob, want) {
				t.Errorf("%q, %d words: the sketches differ", settings, n)
			}
		}
	}
}

// A pure function serves indexes, generated columns, views and triggers, even
// in a database that does not trust its schema.
func TestUsesOfPureFunctions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "uses.db")
	db := open(t, name)
	db.exec(`PRAGMA trusted_schema = OFF`)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT, sketch BLOB AS (alike_sketch(body)) STORED,
		f1 INTEGER AS (alike_feature(sketch, 1)) VIRTUAL)`)
	db.exec(`CREATE INDEX d_f1 ON d(f1)`)
	db.exec(`CREATE INDEX d_si ON d(alike_si(body, '41B/4'))`)
	db.exec(`CREATE VIEW v AS SELECT id, alike_profile(sketch) AS profile FROM d`)
	db.exec(`CREATE TABLE log(id, slot, feature)`)
	db.exec(`CREATE TRIGGER d_insert AFTER INSERT ON d BEGIN
		INSERT INTO log SELECT new.id, slot, feature FROM alike_features(new.sketch) WHERE slot <= 2; END`)
	db.exec(`INSERT INTO d(body) VALUES ('four score and seven years ago our fathers'), ('four score and seven years ago our fathers'), ('brought forth upon this continent')`)
	db.expect("1|2", `SELECT a.id, b.id FROM d a JOIN d b ON b.f1 = a.f1 AND b.id > a.id`)
	db.expect("1\n2", `SELECT id FROM d WHERE alike_si(body, '41B/4') = (SELECT alike_si(body, '41B/4') FROM d WHERE id = 1) ORDER BY id`)
	if plan := db.rows(`EXPLAIN QUERY PLAN SELECT id FROM d WHERE alike_si(body, '41B/4') = 5`); !strings.Contains(plan, "d_si") {
		t.Errorf("the expression index is not used: %s", plan)
	}
	if plan := db.rows(`EXPLAIN QUERY PLAN SELECT id FROM d WHERE f1 = 5`); !strings.Contains(plan, "d_f1") {
		t.Errorf("the index of the generated column is not used: %s", plan)
	}
	db.expect("words w=2 set fast t=168 k=23 s=4 r=2", `SELECT DISTINCT profile FROM v`)
	db.expect("6", `SELECT count(*) FROM log`)
	db.expect("ok", `PRAGMA integrity_check`)
}

func TestTableFunctions(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, sketch BLOB)`)
	db.exec(`INSERT INTO d SELECT value, alike_sketch('document number ' || value) FROM json_each('[1,2,3,4,5]')`)
	db.expect("115", `SELECT count(*) FROM d, alike_features(d.sketch)`)
	db.expect("5", `SELECT count(*) FROM d JOIN alike_features(d.sketch) f ON f.slot = 7`)
	db.expect("3\n4", `SELECT slot FROM alike_features(alike_sketch('x')) LIMIT 2 OFFSET 2`)
	db.expect("23\n22", `SELECT slot FROM alike_features(alike_sketch('x')) ORDER BY slot DESC LIMIT 2`)
	db.expect("11\n12", `SELECT slot FROM alike_features(alike_sketch('x')) WHERE slot > 10 LIMIT 2`)
	db.expect("", `SELECT * FROM alike_features(NULL)`)
	db.expect("", `SELECT * FROM alike_features(alike_sketch('x')) LIMIT 0`)
	db.expect("1|1", `SELECT a.slot, b.slot FROM alike_features(alike_sketch('x')) a JOIN alike_features(alike_sketch('x')) b USING (feature) LIMIT 1`)
	db.expect("101", `SELECT count(*) FROM alike_filter_curve(12, 7, 2)`)
	db.expect("253", `SELECT count(*) FROM alike_superfeatures(alike_sketch('x'))`)
	db.fails("too few arguments: 0, want at least 1", `SELECT * FROM alike_features`)
	db.fails("want a sketch", `SELECT * FROM alike_features('42')`)
}

func TestAggregates(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE e(s INTEGER, x TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 3999) INSERT INTO e SELECT i % 3, 'element ' || (i / 3 + (i % 3) * 100) FROM n`)
	db.exec(`INSERT INTO e VALUES (4, NULL), (5, printf('%.*c', 100000, 'x'))`)
	db.expect("0|0\n1|0\n2|0\n4|1\n5|0", `SELECT s, alike_sketch_set(x) IS NULL FROM e GROUP BY s ORDER BY s`)
	db.expect("1", `SELECT (SELECT alike_sketch_set(x) FROM e) = (SELECT alike_merge(k) FROM (SELECT alike_sketch_set(x) k FROM e GROUP BY s))`)
	db.expect("1", `SELECT alike_merge(x) IS NULL FROM e WHERE x IS NULL`)
	// 1,233 of the 1,433 elements of the first two sets are common.
	var r float64
	if err := db.QueryRow(`SELECT alike_resemblance((SELECT alike_sketch_set(x) FROM e WHERE s = 0), (SELECT alike_sketch_set(x) FROM e WHERE s = 1))`).Scan(&r); err != nil {
		t.Fatal(err)
	}
	if r < 0.71 || r > 0.99 {
		t.Errorf("resemblance %v, want about 0.86", r)
	}
	db.fails("want a sketch", `SELECT alike_merge(x) FROM e`)
}

// Where nothing was sampled an estimate is not known: not 0, and not 1 of a sketch with itself.
func TestNothingSampledTellsNothing(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE s AS SELECT 'mod=1000000007' AS profile, alike_sketch('a text of a few words', 'words mod=1000000007') AS s`)
	db.expect("NULL|NULL|{\"low\":0,\"estimate\":null,\"high\":1}",
		`SELECT coalesce(alike_resemblance(s, s), 'NULL'), coalesce(alike_containment(s, s), 'NULL'), alike_bounds(s, s) FROM s`)
	db.expect("1.0|1.0", `SELECT alike_resemblance(s, s), alike_containment(s, s) FROM (SELECT alike_sketch('a text of a few words', 'words mod=1') AS s)`)
}

package worker

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// damages are what a disk or a program can make of the sketch of a row. Those of slots cannot be told from
// a sketch when they are done to a list, and the other way round.
var damages = []struct{ of, sketch string }{
	{"", `null`}, {"", `''`}, {"", `'\x01'`}, {"", `substr(sketch, 1, length(sketch) - 1)`}, {"", `substr(sketch, 1, 15)`}, {"", `sketch || '\x00'`},
	{"slots", `substr(sketch, 1, length(sketch) - 8)`}, {"slots", `substr(sketch, 1, 22)`}, {"slots", `sketch || substr(sketch, 23)`},
	{"lists", `substr(sketch, 1, 22) || substr(sketch, 31, 8) || substr(sketch, 23, 8) || substr(sketch, 39)`}, {"lists", `sketch || substr(sketch, 23)`},
	{"", `set_byte(sketch, 0, 7)`}, {"", `set_byte(sketch, 1, 2)`}, {"", `set_byte(sketch, 2, get_byte(sketch, 2) # 1)`}, {"", `set_byte(sketch, 4, get_byte(sketch, 4) # 4)`},
	{"", `set_byte(sketch, 5, 16)`}, {"", `set_byte(sketch, 9, 1)`}, {"", `set_byte(sketch, 13, 64)`}, {"", `set_byte(sketch, 16, 9)`}, {"", `set_byte(sketch, 20, get_byte(sketch, 20) # 1)`},
}

// A damaged sketch fails no checkin and no question about other rows: the answers are those
// without the row. The status says what to do, and a refresh mends it.
func TestDamagedSketches(t *testing.T) {
	t.Parallel()
	docs := collection(40)
	questions := []string{
		"select * from alike.pairs('d', 0.3) order by key, other", "select * from alike.clusters('d', 0.3) order by key", "select * from alike.clusters('d', 0.3, 'greedy') order by key",
		"select r.* from (select id::text as id from d where id <> 1 and id < 9) k cross join lateral alike.rows('d', k.id, 0.3) r order by k.id, r.key",
		"select r.* from (select id::text as id from d where id <> 1 and id < 9) k cross join lateral alike.forest_rows('d', k.id, 1) r order by k.id, r.key",
	}
	for n, options := range []string{
		`"layout": "columns"`, `"layout": "parts", "profile": "prose bits=8", "verify": "text"`, `"layout": "columns", "profile": "words w=2 bins t=84 k=12 s=7 bits=64"`,
		`"layout": "parts", "profile": "words w=2 mod=4", "contains": true`, `"layout": "columns", "profile": "words w=2 scaled", "short": {"below": 30, "at_least": 0.9}`, `"layout": "parts", "profile": "words w=2 bottom=40"`,
	} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			of := "slots"
			if strings.Contains(options, "mod") || strings.Contains(options, "scaled") || strings.Contains(options, "bottom") {
				of = "lists"
			}
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create or replace function alike._part_rows() returns integer language sql immutable as 'select 10'")
			exec(t, c, "create table d (id int primary key, body text)")
			exec(t, c, "insert into d select n, body from unnest($1::text[]) with ordinality as u(body, n)", slices.Concat([]string{docs[0], docs[0] + " and more", docs[0]}, docs[1:]))
			exec(t, c, "select alike.attach('d', 'body', $1)", `{"policy": "link", "at_least": 0.4, "clusters": true, "si": ["forest/0", "length"], `+options+`}`)
			w := newWorker(t, database, nil)
			once(t, w)
			exec(t, c, "select alike.mark('d', '1', '3', 'duplicate'), alike.mark('d', '1', '5', 'duplicate'), alike.mark('d', '6', '7', 'duplicate')")
			once(t, w)
			answers := func(change string) (found []string) {
				t.Helper()
				tx, err := c.Begin(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback(ctx)
				if _, err := tx.Exec(ctx, change); err != nil {
					t.Fatal(err)
				}
				for _, question := range questions {
					var answer string
					if err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
						return tx.QueryRow(ctx, "select coalesce(string_agg(q::text, E'\n'), '') from ("+question+") q").Scan(&answer)
					}); err != nil {
						t.Errorf("after %s, %s: %v", change, question, err)
					}
					found = append(found, answer)
				}
				return found
			}
			sound, want := answers("select 1"), answers("delete from d_alike where id = 1")
			for i, damage := range damages {
				// Each damage is done to slots once and to lists once.
				if damage.of != "" && damage.of != of || i%3 != n%3 {
					continue
				}
				change := "update d_alike set sketch = " + damage.sketch + " where id = 1"
				for j, got := range answers(change) {
					if got != want[j] {
						t.Errorf("after %s, %s gives\n%s\nwant\n%s", change, questions[j], got, want[j])
					}
				}
				if i/3%2 == 0 { // the rest takes long
					continue
				}
				exec(t, c, change)
				if _, err := c.Exec(ctx, "select * from alike.rows('d', '1')"); !strings.Contains(damage.sketch, "20, ") && (err == nil || !strings.Contains(err.Error(), "alike: the sketch of row 1 of d is damaged")) {
					t.Errorf("after %s, the question about the row gives %v", change, err)
				}
				if note := one[*string](t, c, "select note from alike.status()"); note == nil || !strings.Contains(*note, "the sketch of 1 row is damaged, and nothing compares with it: select alike.refresh('d')") {
					t.Errorf("after %s, the status says %v", change, note)
				}
				exec(t, c, "insert into d values ($1, $2)", 1000+i, docs[0])
				exec(t, c, "update d set body = body || ' again' where id = 2")
				once(t, w)
				if n := one[int](t, c, "select count(*) from alike.error"); n > 0 {
					t.Errorf("after %s, %d rows fail: %s", change, n, one[string](t, c, "select message from alike.error limit 1"))
				}
				if got := " " + one[string](t, c, "select coalesce(string_agg(other::text, ' ' order by other), '') from d_alike_match where id = $1", 1000+i) + " "; !strings.Contains(got, " 3 ") || strings.Contains(got, " 1 ") {
					t.Errorf("after %s, a checkin resembles the rows%s", change, got)
				}
				if n := one[int](t, c, "select alike.refresh('d')"); n != 1 {
					t.Errorf("after %s, refresh finds %d rows, want 1", change, n)
				}
				exec(t, c, "delete from d where id = $1", 1000+i)
				exec(t, c, "update d set body = $1 where id = 2", docs[0]+" and more")
				once(t, w)
				if note := one[*string](t, c, "select note from alike.status()"); note != nil && strings.Contains(*note, "damaged") {
					t.Errorf("after %s and a refresh, the status says %s", change, *note)
				}
				for j, got := range answers("select 1") {
					if got != sound[j] {
						t.Errorf("after %s and a refresh, %s gives\n%s\nwant\n%s", change, questions[j], got, sound[j])
					}
				}
			}
		})
	}
}

// A row that linked two others leaves its cluster also when its sketch is damaged.
func TestDamagedLinkLeaves(t *testing.T) {
	t.Parallel()
	c := pgtest.Connect(t, pgtest.Database(t))
	text := strings.Fields(collection(1)[0])
	half := strings.Join(text[:60], " ") + " "
	for table, layout := range map[string]string{"d": "columns", "e": "parts"} {
		exec(t, c, "create table "+table+" (id int primary key, body text)")
		exec(t, c, "insert into "+table+" values (1, $1), (2, $2), (3, $3)", half+strings.Repeat("a ", 1)+"one", half+strings.Join(text[60:], " ")+strings.Repeat(" b", 1), strings.Join(text[60:], " "))
		exec(t, c, "select alike.attach($1, 'body', $2)", table, `{"profile": "words w=1 t=84 k=42 s=2", "at_least": 0.25, "clusters": true, "layout": "`+layout+`"}`)
	}
	w := newWorker(t, c.Config().ConnString(), nil)
	once(t, w)
	for _, table := range []string{"d", "e"} {
		const clusters = "select coalesce(string_agg(id || ' ' || dense, ', ' order by id), '') from (select id, dense_rank() over (order by cluster) as dense from %s_alike_cluster where cluster is not null) c"
		if got := one[string](t, c, strings.ReplaceAll(clusters, "%s", table)); got != "1 1, 2 1, 3 1" {
			t.Fatalf("the clusters are %q", got)
		}
		exec(t, c, "update "+table+"_alike set sketch = '' where id = 2")
		exec(t, c, "delete from "+table+" where id = 2")
		once(t, w)
		if got := one[string](t, c, strings.ReplaceAll(clusters, "%s", table)); got != "" {
			t.Errorf("after the row between them is gone, the clusters of %s are %q", table, got)
		}
	}
}

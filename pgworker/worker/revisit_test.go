package worker

import (
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// What is checked in while the table is being filled is recorded as if it had been checked in
// when the table was full.
func TestCheckinsDuringFill(t *testing.T) {
	t.Parallel()
	matches := "select string_agg(format('%s-%s %s %s', id, other, resemblance, omitted), ', ' order by id, other) from documents_alike_match"
	for _, options := range []string{`"matches": 3`, `"verify": "text"`, `"policy": "warn", "matches": 1`} {
		var recorded []string
		for _, during := range []bool{true, false} {
			database := pgtest.Database(t)
			c := pgtest.Connect(t, database)
			exec(t, c, "create table documents (id int primary key, body text); insert into documents select g, 'one letter of the same words that number ' || g / 5 || ' has as all of them have' from generate_series(1, 400) as g")
			exec(t, c, `select alike.attach('documents', 'body', '{"profile": "words w=4 t=84 k=12 s=7", "policy": "link", `+options+`}'::jsonb)`)
			w := newWorker(t, database, func(c *Config) { c.ChunkRows = 100 })
			if during { // two chunks of four are filled
				for _, step := range []func() (bool, error){
					func() (bool, error) { return w.splitBackfill(ctx) },
					func() (bool, error) { return w.copyChunk(ctx) },
					func() (bool, error) { return w.copyChunk(ctx) },
				} {
					if did, err := step(); !did || err != nil {
						t.Fatal(did, err)
					}
				}
			} else {
				once(t, w)
			}
			for _, sql := range []string{
				"insert into documents select g, 'one letter of the same words that number ' || g % 80 || ' has as all of them have' from generate_series(1001, 1040) as g",
				"update documents set body = body || ' but me' where id in (7, 399)", // the one is filled, the other not
				"delete from documents where id in (1003, 12, 150)",
				"insert into documents values (2000, 'nothing like any of the others and alone with what it says')",
			} {
				exec(t, c, sql)
				if did, err := w.queueBatch(ctx); !did || err != nil {
					t.Fatal(did, err)
				}
			}
			once(t, w)
			checkSide(t, c, "documents", "documents", "body", "id::text", "true")
			recorded = append(recorded, one[string](t, c, matches))
			if n := one[int](t, c, "select count(*) from alike.chunk"); n != 0 {
				t.Errorf("%d chunks are left, want 0", n)
			}
		}
		if recorded[0] != recorded[1] || len(recorded[0]) < 300 {
			t.Errorf("%s: recorded during the fill:\n%s\nafter it:\n%s", options, recorded[0], recorded[1])
		}
	}
}

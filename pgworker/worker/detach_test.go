package worker

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A detach while two workers fill and sketch, and a program writes, waits for them, and neither
// side ends in a deadlock: which of two transactions the server ends is not ours to choose.
func TestDetachBesideWorkers(t *testing.T) {
	database := pgtest.Database(t)
	c, program := pgtest.Connect(t, database), pgtest.Connect(t, database)
	exec(t, c, "create table notes (id integer primary key, body text)")
	exec(t, c, "insert into notes select i, 'the words of note ' || i || ' of the year and month' from generate_series(1, 3000) i")
	deadlocks := func() int {
		exec(t, c, "select pg_stat_clear_snapshot()")
		return one[int](t, c, "select deadlocks::int from pg_stat_database where datname = current_database()")
	}
	before := deadlocks()
	startWorker(t, database)
	startWorker(t, database)
	options := []string{`"policy": "link"`, `"policy": "link", "verify": "text"`, `"layout": "parts"`, `"clusters": true`}
	for round := range 12 {
		exec(t, c, fmt.Sprintf(`select alike.attach('notes', 'body', '{"profile": "words w=4 t=84 k=12 s=7", %s}')`, options[round%len(options)]))
		waitFor(t, "chunks of the fill", func() bool {
			return one[bool](t, c, "select count(*) >= $1 from notes_alike", 100*(round%5))
		})
		exec(t, c, fmt.Sprintf("update notes set body = body || ' %d' where id <= 200", round))
		stop, stopped := make(chan bool), make(chan error)
		go func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					stopped <- nil
					return
				case <-time.After(3 * time.Millisecond):
				}
				if _, err := program.Exec(ctx, "update notes set body = body || ' ' where id in (select 201 + ($1 * 7 + j) % 2000 from generate_series(1, 5) j)", i); err != nil {
					stopped <- err
					return
				}
			}
		}()
		time.Sleep(time.Duration(round) * 5 * time.Millisecond)
		if round%8 == 2 { // another side table takes the place of the first
			exec(t, c, `select alike.change('notes', '{"layout": "columns"}')`)
			waitFor(t, "the other layout", func() bool {
				return one[bool](t, c, "select not exists (select from alike.attachment where replaces is not null)")
			})
		}
		if round%5 == 4 { // every batch fails from here on
			exec(t, c, "drop table notes_alike_mark cascade")
		}
		_, err := c.Exec(context.Background(), "select alike.detach('notes', $1)", fmt.Sprintf(`{"drop": %t}`, round%4 > 0))
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
			t.Fatalf("round %d: %s: %s", round, refused.Message, refused.Detail)
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Errorf("round %d: a statement of the program: %v", round, err)
		}
		if round%4 == 0 {
			exec(t, c, "drop table notes_alike cascade; drop table if exists notes_alike_match, notes_alike_mark")
		}
	}
	if n := deadlocks() - before; n != 0 {
		t.Errorf("the server ended %d deadlocks, want 0", n)
	}
}

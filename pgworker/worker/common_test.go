package worker

import (
	"fmt"
	"math"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// The same rows as in SQLite's TestCommon, and the same answer.
func TestCommon(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table d (a text, b bigint, body text, primary key (a, b))")
	for i := range 40 {
		body := fmt.Sprintf("<p>row%d has words%d of%d its%d own%d</p>", i, i, i, i, i)
		if i%4 == 0 {
			body += "<p>All rights reserved by the<br>owner of this site</p>"
		}
		if i%2 == 1 {
			body += "<p>this row is not attached at all</p>"
		}
		exec(t, c, "insert into d values ('k', $1, $2)", i, body)
	}
	exec(t, c, "insert into d values ('k', 100, null), ('k', 102, ''), ('k', 104, '12')")
	exec(t, c, `select alike.attach('d', 'body', '{"profile": "words w=4", "extract": "html", "where": "b % 2 = 0"}')`)
	list, err := Common(ctx, c, "d", 0.1)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v, want one passage", list, err)
	}
	if p := list[0]; p.Text != "all rights reserved by the owner of this site" || p.Rows != 10 || math.Abs(p.Share-10.0/21) > 1e-9 || p.Shingles != 6 || p.Example != `["k", 0]` {
		t.Errorf("%+v", p)
	}
	for share, want := range map[float64]int{0.47: 1, 0.48: 0, 1: 0} {
		if list, err := Common(ctx, c, "d", share); err != nil || len(list) != want {
			t.Errorf("from %v: %+v, %v, want %d", share, list, err, want)
		}
	}
	if _, err := Common(ctx, c, "nothing", 0.1); err == nil {
		t.Error("no error where nothing is attached")
	}
	if _, err := Common(ctx, c, "d", 0); err == nil {
		t.Error("no error for a share of 0")
	}
	exec(t, c, "select 1") // no transaction is left open
}

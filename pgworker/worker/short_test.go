package worker

import (
	"math"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch/cluster"
)

// Where documents decide, and at the gate, a pair with a short text needs more, too.
func TestShortTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"meet Ann in room 3 at noon", "meet Ann in room 5 at noon",
		"the boiler in the cellar was serviced on Monday, and the fitter left a bill for two valves",
		"the boiler in the cellar was serviced on Friday, and the fitter left no bill for the valves"}
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, `select alike.attach('documents', 'body', '{"profile": "short", "at_least": 0.55, "short": {"below": 30, "at_least": 0.9}, "verify": "text", "policy": "link"}')`)
	if got := one[string](t, c, "select short from alike.status()"); got != `{"below": 30, "at_least": 0.9}` {
		t.Errorf("status says %s of short", got)
	}
	w := newWorker(t, database, nil)
	for i, text := range texts {
		exec(t, c, "insert into documents values ($1, $2)", i+1, text)
		once(t, w)
	}
	if got := one[string](t, c, "select string_agg(id || '-' || other, ' ') from documents_alike_match"); got != "4-3" {
		t.Errorf("the matches are %s, want 4-3", got)
	}
	for _, v := range []struct {
		atLeast float64
		pairs   string
	}{{math.NaN(), "3-4"}, {0.55, "1-2 3-4"}} {
		e := exactly(t, c, v.atLeast)
		var pairs, clusters []string
		for _, x := range e.all(t) {
			pairs = append([]string{x.Key + "-" + x.Other}, pairs...)
		}
		if err := e.Clusters(ctx, cluster.Complete, func(key, _ string, _ int) error { clusters = append(clusters, key); return nil }); err != nil {
			t.Fatal(err)
		}
		rows, err := e.Rows(ctx, "1")
		if err != nil {
			t.Fatal(err)
		}
		e.Close(ctx)
		if len(pairs) > 1 && pairs[0] == "3-4" {
			pairs[0], pairs[1] = pairs[1], pairs[0]
		}
		if got := strings.Join(pairs, " "); got != v.pairs || len(clusters) != 2*len(pairs) || len(rows) != len(pairs)-1 {
			t.Errorf("at_least %v: pairs %q, clusters %v, %d rows, want %q", v.atLeast, got, clusters, len(rows), v.pairs)
		}
	}
	exec(t, c, `select alike.change('documents', '{"policy": "reject", "verify": "sketch"}')`)
	gate := func(text string) error {
		q, err := Ask(ctx, c, "documents", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Exec(ctx, "select alike.gate('documents', $1, null, $2)", q.Sketch, q.Shingles)
		return err
	}
	refused := func(text, want string) {
		t.Helper()
		if err := gate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	refused(texts[0], "row 1 of documents (resemblance 1.000, rejected from 0.900)")
	refused(texts[2]+" and more", "row 3 of documents")
	refused(texts[2]+" and more", "rejected from 0.550")
	if err := gate("meet Ann in room 4 at noon"); err != nil {
		t.Error(err)
	}
	if err := gate("meet Ann in room 7 at noon"); err != nil { // like what the gate has just let pass, but short
		t.Error(err)
	}
	refused("meet Ann in room 7 at noon", "checked in a moment ago (resemblance 1.000, rejected from 0.900)")
	q, err := Ask(ctx, c, "documents", []byte(texts[2]))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, c, "want the number of shingles", "select alike.gate('documents', $1)", q.Sketch)
}

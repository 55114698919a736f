//go:build unix

package engines

import (
	"context"
	"fmt"
	"testing"
)

// Verdicts that a person wrote into the table by hand count as those of alike.mark do: the greater
// key may come first, a row beside itself is no pair, and of two verdicts on a pair distinct counts.
func TestSameVerdictsByHand(t *testing.T) {
	for _, layout := range []string{"columns", "parts"} {
		e := open(t)
		e.exec("create table documents (id integer primary key, body text)")
		for id, body := range map[int]string{1: "the harbour master counted the boats that came in", 2: "the harbour master counted the boats that went out", 3: "the harbour master counted the boats that lay there",
			4: "on Monday we move to another house", 5: "a bill for two valves and a kettle"} {
			e.exec("insert into documents values ($1, $2)", id, body)
		}
		e.attach(fmt.Sprintf(`{"profile": "short", "at_least": 0.4, "policy": "link", "contains": true, "clusters": true, "layout": %q}`, layout))
		e.follow()
		answers := func(pairs int) {
			t.Helper()
			e.number("select alike.write_clusters('documents')")
			if got := e.same("select key, other, shared, resemblance, low, high from alike.pairs('documents')"); len(got) != pairs {
				t.Errorf("%s: %d pairs, want %d: %q", layout, len(got), pairs, got)
			}
			for _, question := range []string{"clusters('documents')", "clusters('documents', 0.4, 'single')", "clusters('documents', 0.4, 'greedy')", "keep('documents')", "keep('documents', 'newest')", "keep('documents', 'verdict')"} {
				e.same("select * from alike." + question)
			}
			for id := 1; id <= 5; id++ {
				e.same("select key, shared, resemblance from alike.rows('documents', $1)", id)
			}
			e.same("select id, cluster > 0, (select min(o.id) from documents_alike_cluster o where o.cluster = c.cluster) from documents_alike_cluster c where cluster > 0")
		}
		write := func(id, other int, verdict string) {
			t.Helper()
			if _, err := e.sqlite.Exec("insert into documents_alike_mark (id, other, verdict, marked_at) values (?, ?, ?, 0)", id, other, verdict); err != nil {
				t.Fatal(err)
			}
			if _, err := e.postgres.Exec(context.Background(), "insert into documents_alike_mark (id, other, verdict) values ($1, $2, $3)", id, other, verdict); err != nil {
				t.Fatal(err)
			}
		}
		answers(3)
		write(2, 1, "distinct")
		answers(2)
		write(5, 4, "duplicate")
		answers(3)
		write(3, 3, "duplicate")
		write(4, 4, "distinct")
		answers(3)
		write(4, 5, "duplicate")
		answers(3)
		e.same("select alike.mark('documents', '4', '5', 'distinct')")
		answers(2)
		write(5, 4, "duplicate")
		answers(2)
		e.same("select alike.mark('documents', '4', '5', 'none')")
		e.same("select alike.mark('documents', '1', '2', 'none')")
		answers(3)
		e.same("select id, other, verdict from documents_alike_mark")
		e.exec("update documents set body = body || ' today' where id in (3, 4)")
		e.follow()
		answers(3)
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"
)

// What a peer does better stands on the page, at the most documents that both
// finished, and says why.
func TestBetter(t *testing.T) {
	run := func(contender string, n int, query float64) result {
		return result{Collection: "short", Documents: n, Contender: contender, outcome: outcome{Measures: map[string]float64{query50: query}}}
	}
	r := &report{Collections: []*collection{{Name: "short"}}, Runs: []result{
		run("alike SQLite", 10, 3e-6), run("alike SQLite", 100, 3e-6), run("alike PostgreSQL", 10, 3e-6),
		run("rensa", 10, 4e-6), run("rensa", 100, 2e-6),
		run("gaoya", 10, 2e-6), run("gaoya", 100, 2.99e-6),
		run("pgvector HNSW on bits", 10, 1e-6),
	}}
	var page bytes.Buffer
	r.better(&page)
	_, rows, _ := strings.Cut(page.String(), "|---|---|---|---|---|---|---|\n")
	want := []string{
		"| short | 100 | a query | rensa | 2.0 µs | 3.0 µs | a hash table in the memory of one process",
		"| short | 10 | a query | pgvector HNSW on bits | 1.0 µs | 3.0 µs | one walk through a graph",
	}
	got := strings.Split(strings.TrimSpace(rows), "\n")
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}

// No peer of the committed results is better without a reason.
func TestReasons(t *testing.T) {
	r, err := readReport("results")
	if err != nil {
		t.Fatal(err)
	}
	wins := r.wins()
	for _, x := range wins {
		if x.why == "" {
			t.Errorf("%s of %d: %s is better by %s, and the page does not say why", x.collection, x.documents, x.peer, x.criterion.name)
		}
	}
	if len(wins) == 0 {
		t.Error("no peer is better in any measure, want at least one")
	}
}

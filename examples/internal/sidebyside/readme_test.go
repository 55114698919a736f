package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadme wants in the project's README what results.json says, in the table and in the
// sentences below it.
func TestReadme(t *testing.T) {
	module, err := moduleFolder()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(module, "results", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(filepath.Join(module, "../../../README.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(b)), " ")
	at := func(collection string, documents int, contender string) map[string]float64 {
		x := r.largest(collection, contender, func(x result) bool { return x.Documents == documents })
		if x == nil {
			t.Fatalf("results.json has no run of %s over %d documents of %s", contender, documents, collection)
		}
		return x.Measures
	}
	const million = 1_000_000
	lite, pg := at(growth, million, "alike SQLite"), at(growth, million, "alike PostgreSQL")
	liteTen, pgTen := at(growth, 10*million, "alike SQLite"), at(growth, 10*million, "alike PostgreSQL")
	milli := func(m map[string]float64, measure string) string { return fmt.Sprintf("%.2f", m[measure]*1e3) }
	mega := func(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }
	tenth := func(v float64) string { return fmt.Sprintf("%.1f s", v) }
	wanted := []string{
		fmt.Sprintf("| attach and fill | %s | %s |", tenth(lite[buildTime]), tenth(pg[buildTime])),
		fmt.Sprintf("| size on disk with indexes | %s | %s |", mega(lite[indexBytes]), mega(pg[indexBytes])),
		fmt.Sprintf("median and 99th percentile | %s and %s ms | %s and %s ms |", milli(lite, query50), milli(lite, query99), milli(pg, query50), milli(pg, query99)),
		fmt.Sprintf("| rows checked in a second under the policy `link` | %s | %s |", thousands(int(lite[checkinsPS])), thousands(int(pg[checkinsPS]))),
		fmt.Sprintf("| the same in a table of ten million | %s | %s |", thousands(int(liteTen[checkinsPS])), thousands(int(pgTen[checkinsPS]))),
		fmt.Sprintf("| all %s alike pairs | %s | %s |", thousands(int(lite[pairsFound])), tenth(lite[pairsTime]), tenth(pg[pairsTime])),
		fmt.Sprintf("| memory of the process | %s | %s |", mega(math.Round(lite[peakBytes]/1e7)*1e7), mega(math.Round(pg[peakBytes]/1e7)*1e7)),
		fmt.Sprintf("of up to ten million documents (where a question takes %s and %s ms)", milli(liteTen, query50), milli(pgTen, query50)),
		fmt.Sprintf("pg_trgm answers such a question in %.0f s", at(growth, million, "pg_trgm GIN")[query50]),
		fmt.Sprintf("DuckDB joins the same columns of the million documents in %s, and in %s when it verifies", tenth(at("short", million, duckDBName)[pairsTime]), tenth(at("short", million, duckDBVerified)[pairsTime])),
	}
	if x := r.largest(growth, "alike SQLite"+inParts, func(x result) bool { return x.Documents == 10*million }); x != nil {
		lite, pg := x.Measures, at(growth, 10*million, "alike PostgreSQL"+inParts)
		wanted = append(wanted, fmt.Sprintf("| the same in the layout `parts` | %s | %s |", thousands(int(lite[checkinsPS])), thousands(int(pg[checkinsPS]))))
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
	// How many times as long the quickest peer of a kind takes from text.
	lowest, highest := math.Inf(1), 0.0
	for _, c := range r.Collections {
		quickest := math.Inf(1)
		for _, name := range r.names() {
			if x, ok := r.compare(c.Name, sketching, name); ok && isMinHashLibrary(name) {
				quickest = min(quickest, x.own/x.theirs)
			}
		}
		if !math.IsInf(quickest, 1) {
			lowest, highest = min(lowest, quickest), max(highest, quickest)
		}
	}
	// ClickHouse's SimHash, over short documents and over longer ones.
	var short, longer []float64
	for _, x := range r.Runs {
		if x.Contender != "ClickHouse wordShingleSimHash" || x.Measures[sketchCPU] == 0 {
			continue
		}
		own := at(x.Collection, x.Documents, "alike text")[sketchCPU]
		if times := x.Measures[sketchCPU] / own; x.Collection == "short" {
			short = append(short, times)
		} else {
			longer = append(longer, times)
		}
	}
	if want := fmt.Sprintf("takes %.1f to %.1f times as long for 500 bytes and %.0f to %.0f times for longer texts",
		slices.Min(short), slices.Max(short), slices.Min(longer), slices.Max(longer)); !strings.Contains(page, want) {
		t.Errorf("README.md lacks %q", want)
	}
	if want := fmt.Sprintf("The quickest other MinHash library takes %.0f to %.0f times as long to sketch", lowest, highest); !strings.Contains(page, want) {
		t.Errorf("README.md lacks %q", want)
	}
}

func isMinHashLibrary(name string) bool {
	return slices.ContainsFunc([]string{"datasketch", "rensa", "gaoya", "ekzhu", "dgryski", "text-dedup", "daft", "datatrove", "dedup-pg"},
		func(library string) bool { return strings.HasPrefix(name, library) })
}

package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// imagined is a report of an engine whose operations grow as told.
func imagined() *report {
	r := newReport()
	r.Collections = []*collection{{Name: growth, Documents: 10_000, Bytes: 5_000_000}}
	for _, n := range []int{1000, 10_000} {
		x := result{Collection: growth, Documents: n, Contender: "alike SQLite"}
		f := float64(n)
		x.Measures = map[string]float64{indexBytes: 400 * f, buildTime: f / 1e5, pairsTime: f * f / 1e10, query50: 50e-6, pairsFound: f / 5, checkinsPS: 1e6 / math.Sqrt(f)}
		x.Measures[clustersPeak] = 1e8 * math.Pow(f, 0.05)
		r.Runs = append(r.Runs, x)
	}
	return r
}

func TestPaper(t *testing.T) {
	r := imagined()
	if l, ok := r.law(growth, "alike SQLite", pairsTime); !ok || math.Abs(l.exponent-2) > 1e-9 || math.Abs(l.at(1e9)-1e8) > 1 {
		t.Errorf("a square law: %+v, %v", l, ok)
	}
	if l, _ := r.law(growth, "alike SQLite", query50); !math.IsInf(l.reaches(1), 1) {
		t.Errorf("a law that does not grow reaches 1 at %v", l.reaches(1))
	}
	var page bytes.Buffer
	r.paper(&page, "billion.svg")
	for _, want := range []string{
		"| alike SQLite | building | 10,000 | 0.1 s | 10 µs | 1.00, 2 |",
		"| 10,000 | *5 MB* | 4 MB | *1* | 0.1 s | 10 ms |  |  | 50 µs |  |",
		// 400 GB in machines of 64 GB; 1e8 seconds for the pairs.
		"| 1,000,000,000 | *500 GB* | *400 GB* | *7* | *2.8 h* | *1,200 days* |",
		"| 10,000,000 | none; the nearest: all pairs take too long though the index is in memory | *35 % of the limit* |",
		"| alike SQLite | the index fits no longer into memory, and a question reads pages of the disk | *160,000,000 documents* |",
		"| alike SQLite | all pairs take too long though the index is in memory | *17,000,000 documents* |",
		"a question takes too long though everything is in memory | never: it does not grow |",
		"| alike SQLite | a checkin | 10,000 | 100 µs |  | 0.50, 2 |",
		"| alike SQLite | a checkin takes too long | *100,000,000 documents* |",
		"| alike SQLite | clustering needs more memory than there is | *beyond 10¹⁵ documents*: it grows with the power 0.05 |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(page.String())
	}
	r.assume.memory = 8e9
	page.Reset()
	if r.paper(&page, "billion.svg"); !strings.Contains(page.String(), "*400 GB* | *50* |") {
		t.Error("machines of 8 GB do not make 50 of them")
	}
}

func TestWriteAgain(t *testing.T) {
	dir := t.TempDir()
	if err := imagined().write(dir); err != nil {
		t.Fatal(err)
	}
	r, err := readReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "billion.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "billion.md"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the page is another when it is written again: %v", err)
	}
}

func TestAssume(t *testing.T) {
	a := assumed()
	if err := a.set("memory=1e9,hour=2"); err != nil || a.memory != 1e9 || a.hour != 2 || a.disk != assumed().disk {
		t.Errorf("%+v, %v", a, err)
	}
	for _, list := range []string{"", "memory", "memory=0", "memory=x", "price=1", "hour=+Inf"} {
		if err := a.set(list); err == nil {
			t.Errorf("-assume %q is taken", list)
		}
	}
}

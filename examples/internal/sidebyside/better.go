package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// A criterion is something by which a peer may be better than Alike.
type criterion struct {
	name  string
	value func(result) (float64, bool)
	less  bool // is better
	share bool // a ratio of counts, not a time
	text  func(float64) string
}

func measured(measure string) func(result) (float64, bool) {
	return func(x result) (float64, bool) { v, ok := x.Measures[measure]; return v, ok && v > 0 }
}

func judged(of func(*quality) (float64, int)) func(result) (float64, bool) {
	return func(x result) (float64, bool) {
		if x.Quality == nil {
			return 0, false
		}
		v, n := of(x.Quality)
		return v, n > 0
	}
}

func fourDigits(v float64) string { return fmt.Sprintf("%.4f", v) }

var sketching = criterion{"sketching", func(x result) (float64, bool) {
	if x.Measures[sketchCPU] == 0 {
		return 0, false
	}
	return x.speed(), true
}, false, false, func(v float64) string { return fmt.Sprintf("%.3g MB/s", v) }}

var criteria = []criterion{
	{"recall of 0.8 and more", judged(func(q *quality) (float64, int) { return q.recall(3) }), false, true, fourDigits},
	{"recall of 0.9 and more", judged(func(q *quality) (float64, int) { return q.recall(4) }), false, true, fourDigits},
	{"answers truly at 0.8 and more", judged(func(q *quality) (float64, int) { return q.precision(3) }), false, true, fourDigits},
	sketching,
	{"building", measured(buildTime), true, false, seconds},
	{"bytes of the index", measured(indexBytes), true, false, bytesText},
	{"a query", measured(query50), true, false, seconds},
	{"checkins a second", measured(checkinsPS), false, false, func(v float64) string { return thousands(int(v)) }},
	{"all pairs", measured(pairsTime), true, false, seconds},
	{"memory of the process", measured(peakBytes), true, false, bytesText},
}

// better reports whether a peer's value is clearly better than ours.
func (c criterion) better(peer, ours float64) bool {
	switch {
	case c.share:
		return peer > ours+0.002
	case c.less:
		return peer < ours/1.05
	}
	return peer > ours*1.05
}

var inPostgres = regexp.MustCompile(`^(pg_|pgvector|PostgreSQL|dedup-pg)`)

// ours is what of Alike a peer is compared with: the library where it is a matter of
// the sketches, else the engine in which one would have it instead.
func (c criterion) ours(peer result) string {
	engine := "alike SQLite"
	if inPostgres.MatchString(peer.Contender) {
		engine = "alike PostgreSQL"
	}
	switch {
	case c.share && peer.Quality != nil && peer.Quality.Queries > 0:
		return engine + ", verified"
	case c.share || c.name == sketching.name:
		return "alike text"
	}
	return engine
}

// A reason says why a peer is better by a criterion. The first that fits is given.
type reason struct {
	criterion, contender *regexp.Regexp
	why                  string
}

func because(criterion, contender, why string) reason {
	return reason{regexp.MustCompile("^(" + criterion + ")"), regexp.MustCompile("^(" + contender + ")"), why}
}

const inMemory = "datasketch|rensa|gaoya|ekzhu|text-dedup|dgryski"

var reasons = []reason{
	because("recall", "DuckDB on our columns$", "it asks for two shared features and verifies nothing: more of its answers are wrong"),
	because("recall", "dedup-pg|daft|datatrove", "every candidate is an answer, and none is verified: more of its answers are wrong"),
	because("recall|answers", "Lance", "128 slots of 32 bits estimate with less spread than 84 of 8, and take six times the bytes"),
	because("recall", "DuckDB", "the same candidates, and as many bits"),
	because("recall", "rensa|gaoya", "32 bands of 4 slots pass more pairs on to verification than 12 groups of 7, and cost more look-ups"),
	because("recall|answers", "datasketch|ekzhu|text-dedup", "128 slots or more estimate with less spread than 84, and take at least five times the bytes"),
	because("answers", "rensa|gaoya", "128 slots estimate with less spread than 84, and take five times the bytes"),
	because("recall|answers", "ClickHouse", "what is alike there is all but equal, and most of the rest is missed"),
	because("recall|answers", "SQLite FTS5|PostgreSQL full text|pg_", "it finds candidates by words or letters and compares the texts themselves; only candidates are missed"),
	because("recall|answers", "Spark", "every candidate is compared on the whole sets"),
	because("recall|answers", "pgvector", "512 bits of a sketch instead of 84 bytes, compared one with another"),
	because("recall|answers|all pairs|building|sketching|memory", "tlsh|ssdeep|glaslos|simhash", "one short hash a document, and nothing like our question: see its recall"),
	because("building", "DuckDB", "it reads finished columns from a file; ours sketches the documents"),
	because("building|all pairs", "ClickHouse", "it joins one or two numbers a document in memory: see its recall"),
	because("all pairs|memory", "DuckDB", "a hash join of columns in memory, many values at a time; ours reads indexes that are live"),
	because("building|a query|checkins|all pairs|bytes|memory", inMemory, "a hash table in the memory of one process: no file, no transaction, no second reader"),
	because("bytes", "SQLite FTS5|PostgreSQL full text", "a word is in the index once, with a list of its documents"),
	because("building|checkins|bytes", "pg_|PostgreSQL full text|SQLite FTS5", "one index and not twelve"),
	because("bytes|building|checkins|memory", "pgvector", "an index of 64 bytes a row, which has to be compared with more rows"),
	because("a query", "pgvector", "one walk through a graph instead of twelve through trees"),
	because("memory", "pg_|dedup-pg|PostgreSQL full text|SQLite FTS5", "its client does nothing; ours is the worker that sketches"),
}

// A win is a peer that is better than Alike.
type win struct {
	criterion   criterion
	collection  string
	documents   int
	peer        string
	theirs, own float64
	why         string
}

// wins finds them, each at the most documents that both finished.
func (r *report) wins() []win {
	var wins []win
	for _, c := range r.Collections {
		for _, criterion := range criteria {
			for _, name := range r.names() {
				if strings.HasPrefix(name, "alike") {
					continue
				}
				if x, ok := r.compare(c.Name, criterion, name); ok && criterion.better(x.theirs, x.own) {
					x.why = why(criterion.name, name)
					wins = append(wins, x)
				}
			}
		}
	}
	return wins
}

// compare sets a peer beside ours at the most documents that both finished.
func (r *report) compare(collection string, c criterion, peer string) (best win, found bool) {
	for _, x := range r.Runs {
		theirs, ok := c.value(x)
		if !ok || x.Failed != "" || x.Collection != collection || x.Contender != peer || found && best.documents > x.Documents {
			continue
		}
		for _, y := range r.Runs {
			own, ok := c.value(y)
			if ok && y.Failed == "" && y.Collection == collection && y.Documents == x.Documents && y.Contender == c.ours(x) {
				best, found = win{criterion: c, collection: collection, documents: x.Documents, peer: peer, theirs: theirs, own: own}, true
			}
		}
	}
	return best, found
}

func why(criterion, peer string) string {
	for _, r := range reasons {
		if r.criterion.MatchString(criterion) && r.contender.MatchString(peer) {
			return r.why
		}
	}
	return ""
}

func (r *report) better(w *bytes.Buffer) {
	wins := r.wins()
	if len(wins) == 0 {
		return
	}
	fmt.Fprint(w, `
## Where a peer is better

At the largest number of documents that both finished, by more than 5 %, or 0.002 of a share. Peers inside PostgreSQL are compared with
Alike there, the others with Alike in SQLite; sketches, and the answers of all pairs, with 84 slots of 8 bits and 12 features in memory.

| collection | documents | what | peer | its | ours | why |
|---|---|---|---|---|---|---|
`)
	for _, x := range wins {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", x.collection, thousands(x.documents), x.criterion.name, x.peer,
			x.criterion.text(x.theirs), x.criterion.text(x.own), x.why)
	}
}

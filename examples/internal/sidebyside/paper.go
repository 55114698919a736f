package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/sketch/plot"
)

// Assumptions are what the page on a billion documents takes for granted. Nobody
// measured them; -assume changes them.
type assumptions struct {
	memory   float64 // bytes of memory of a machine
	disk     float64 // bytes of its disk
	latency  float64 // seconds to read a page of that disk
	patience float64 // seconds that a job in bulk may take
	question float64 // seconds that a question may take
	checkin  float64 // seconds that a checkin may take
	hour     float64 // the price of a machine for an hour
	month    float64 // the price of a gigabyte of disk for a month
}

func assumed() assumptions {
	return assumptions{memory: 64e9, disk: 4e12, latency: 1e-4, patience: 8 * 3600, question: 0.01, checkin: 0.01, hour: 0.5, month: 0.1}
}

// set reads "memory=64e9,hour=0.5".
func (a *assumptions) set(list string) error {
	fields := map[string]*float64{"memory": &a.memory, "disk": &a.disk, "latency": &a.latency, "patience": &a.patience,
		"question": &a.question, "checkin": &a.checkin, "hour": &a.hour, "month": &a.month}
	for item := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(item, "=")
		v, err := strconv.ParseFloat(value, 64)
		if fields[name] == nil || err != nil || v <= 0 || math.IsInf(v, 0) {
			return fmt.Errorf("sidebyside: -assume %q, want for example memory=64e9: memory, disk, latency, patience, question, checkin, hour or month, above 0", item)
		}
		*fields[name] = v
	}
	return nil
}

// readReport reads what an earlier run wrote.
func readReport(dir string) (*report, error) {
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		return nil, err
	}
	r := &report{assume: assumed()}
	return r, json.Unmarshal(b, r)
}

// A law is how a measure of a contender grows: what it was at the largest size,
// and the power of the number of documents by which it goes on.
type law struct {
	contender        string
	sizes            int
	documents, value float64
	exponent         float64
}

// law returns the law of a measure. A measure with a single size is taken to grow
// in proportion to the documents. So is an operation that reads every document
// and has a smaller exponent, which comes from fixed costs at small sizes.
func (r *report) law(collection, contender, measure string) (law, bool) {
	points := r.points(collection, contender, measure)
	if len(points) == 0 {
		return law{}, false
	}
	last := points[len(points)-1]
	l := law{contender, len(points), last[0], last[1], 1}
	if len(points) > 1 {
		l.exponent, _ = r.exponent(collection, contender, measure)
	}
	if slices.Contains([]string{buildTime, indexBytes, pairsTime, pairsFound, clustersTime}, measure) {
		l.exponent = max(l.exponent, 1)
	}
	return l, true
}

func (l law) at(documents float64) float64 {
	return l.value * math.Pow(documents/l.documents, l.exponent)
}

// reaches returns the number of documents at which the law reaches a value.
func (l law) reaches(value float64) float64 {
	if l.exponent <= 0.02 { // it may never
		return math.Inf(1)
	}
	return l.documents * math.Pow(value/l.value, 1/l.exponent)
}

// powers are the numbers of documents of the page.
var powers = []float64{1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// paper writes the page on a billion documents, from what was measured on fewer.
func (r *report) paper(w *bytes.Buffer, picture string) {
	a := r.assume
	fmt.Fprintf(w, `# A billion documents, on paper

Written by `+"`go run -C examples/internal/sidebyside .`"+` out of [results.json](results.json), measured on %s, %s, Alike at %s.
We have not run a billion documents. Upright numbers in the tables were measured. *Slanted* numbers are estimates: the
value at the largest size that was measured, times the fitted power of the number of documents, at least the first power
for what looks at every document.

![%s](%s)

## The measured constants

| engine | operation | measured at | value | for a document | exponent (sizes measured) |
|---|---|---|---|---|---|
`, r.Machine, r.Date, r.Commit, paperTitle, picture)
	for _, engine := range engines {
		for _, o := range operations {
			l, ok := r.law(growth, engine, o.measure)
			if !ok {
				continue
			}
			each := ""
			switch o.measure {
			case buildTime, pairsTime, clustersTime:
				each = seconds(l.value / l.documents)
			case indexBytes:
				each = bytesText(l.value / l.documents)
			case pairsFound:
				each = fmt.Sprintf("%.3g", l.value/l.documents)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.2f, %d |\n", engine, o.name, thousands(int(l.documents)), o.write(l.value), each, l.exponent, l.sizes)
		}
	}
	if l, ok := r.bulk(); ok {
		fmt.Fprintf(w, "| %s | all pairs | %s | %s | %s | %.2f, %d |\n", l.contender, thousands(int(l.documents)), seconds(l.value), seconds(l.value/l.documents), l.exponent, l.sizes)
	}
	fmt.Fprintf(w, `
## The assumptions

These are neither measured nor quoted, but round numbers of %s for a rented machine. Put your own in their place
with `+"`go run -C examples/internal/sidebyside . -write -assume memory=%ge9,hour=%g`"+`.

| assumption | |
|---|---|
| memory of a machine | %s |
| its disk | %s |
| reading a page from it | %s |
| a job in bulk may take | %s |
| a question may take | %s |
| a checkin may take | %s |
| a machine for an hour | %.2f |
| a gigabyte of disk for a month | %.2f |
`, r.Date[:min(4, len(r.Date))], a.memory/1e9, a.hour, bytesText(a.memory), bytesText(a.disk), seconds(a.latency), duration(a.patience), seconds(a.question), seconds(a.checkin), a.hour, a.month)
	for _, engine := range engines {
		r.paperEngine(w, engine)
	}
	r.stops(w)
}

// inParts ends the name of an engine in the layout parts, whose checkins do not grow.
const inParts = ", parts"

var engines = []string{"alike SQLite", "alike SQLite" + inParts, "alike PostgreSQL", "alike PostgreSQL" + inParts}

// bulk is the join that needs no engine of ours, of the largest collection that has it.
func (r *report) bulk() (best law, ok bool) {
	for _, c := range r.Collections {
		if l, there := r.law(c.Name, duckDBVerified, pairsTime); there && l.documents > best.documents {
			best, ok = l, true
		}
	}
	return best, ok
}

// documentBytes returns the mean length of a document of the collection growth.
func (r *report) documentBytes() float64 {
	for _, c := range r.Collections {
		if c.Name == growth && c.Documents > 0 {
			return float64(c.Bytes) / float64(c.Documents)
		}
	}
	return 0
}

// A bottleneck is a limit that one engine meets on its way up.
type bottleneck struct {
	name  string
	law   law
	limit float64
}

// slots is the number of indexes that a question looks into: the features of the default.
const slots = 12

func (r *report) bottlenecks(engine string) []bottleneck {
	a := r.assume
	var list []bottleneck
	add := func(name, measure string, limit float64) {
		if l, ok := r.law(growth, engine, measure); ok {
			list = append(list, bottleneck{name, l, limit})
		}
	}
	add("the index fits no longer into memory, and a question reads pages of the disk", indexBytes, a.memory)
	add("building takes too long", buildTime, a.patience)
	add("all pairs take too long though the index is in memory", pairsTime, a.patience)
	add("all clusters take too long", clustersTime, a.patience)
	add("a question takes too long though everything is in memory", query50, a.question)
	add("a checkin takes too long", checkinTime, a.checkin)
	add("the process needs more memory than there is", peakBytes, a.memory)
	add("clustering needs more memory than there is", clustersPeak, a.memory)
	if l, ok := r.law(growth, engine, indexBytes); ok {
		l.value += r.documentBytes() * l.documents
		list = append(list, bottleneck{"documents and index are more than a disk", l, a.disk})
	}
	return list
}

func (r *report) paperEngine(w *bytes.Buffer, engine string) {
	a := r.assume
	index, ok := r.law(growth, engine, indexBytes)
	if !ok {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n| documents | text | index | machines | building | all pairs | from the disk | clusters | a question | from the disk | a checkin | price | a month of disk |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", strings.TrimPrefix(engine, "alike "))
	for _, n := range powers {
		cell := func(measure string, write func(float64) string) string {
			l, ok := r.law(growth, engine, measure)
			if !ok {
				return ""
			}
			for _, p := range r.points(growth, engine, measure) {
				if p[0] == n {
					return write(p[1])
				}
			}
			return slanted(write(l.at(n)))
		}
		bulk := 0.0
		for _, measure := range []string{buildTime, pairsTime} {
			if l, ok := r.law(growth, engine, measure); ok {
				bulk += l.at(n)
			}
		}
		disk, pairsDisk := "", ""
		if index.at(n) > a.memory {
			if l, ok := r.law(growth, engine, query50); ok {
				disk = slanted(seconds(l.at(n) + slots*a.latency))
			}
			if found, ok := r.law(growth, engine, pairsFound); ok {
				l, _ := r.law(growth, engine, pairsTime)
				pairsDisk = slanted(duration(l.at(n) + 2*slots*found.at(n)*a.latency))
			}
		}
		stored := index.at(n) + n*r.documentBytes()
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", thousands(int(n)), slanted(bytesText(n*r.documentBytes())), cell(indexBytes, bytesText),
			slanted(thousands(int(math.Ceil(index.at(n)/a.memory)))),
			cell(buildTime, duration), cell(pairsTime, duration), pairsDisk, cell(clustersTime, duration), cell(query50, seconds), disk, cell(checkinTime, seconds),
			slanted(price(bulk/3600*a.hour)), slanted(price(stored/1e9*a.month)))
	}
	fmt.Fprintf(w, `
The column of machines says how many hold the index in memory. A single machine reads from its disk instead: for a question a page of each of
the %d indexes, for all pairs at the worst both rows of a pair for each feature that they share. The price is one machine
for as long as building and all pairs take in memory, one after the other.

| documents | the first bottleneck | reached |
|---|---|---|
`, slots)
	limits := r.bottlenecks(engine)
	for _, n := range powers {
		var first bottleneck
		for _, b := range limits {
			if first.limit == 0 || b.law.at(n)/b.limit > first.law.at(n)/first.limit {
				first = b
			}
		}
		near := first.law.at(n) / first.limit
		text := fmt.Sprintf("none; the nearest: %s", first.name)
		if near >= 1 {
			text = first.name
		}
		reached := figures(near*100) + " % of"
		if near >= 1 {
			reached = figures(near) + " times"
		}
		fmt.Fprintf(w, "| %s | %s | *%s the limit* |\n", thousands(int(n)), text, reached)
	}
}

// stops says where each limit is met.
func (r *report) stops(w *bytes.Buffer) {
	fmt.Fprint(w, "\n## Where each engine stops\n\n| engine | limit | met at |\n|---|---|---|\n")
	for _, engine := range engines {
		for _, b := range r.bottlenecks(engine) {
			at := "never: it does not grow"
			if n := b.law.reaches(b.limit); n < 1e15 {
				at = "*" + thousands(rounded(n)) + " documents*"
			} else if !math.IsInf(n, 1) {
				at = fmt.Sprintf("*beyond 10¹⁵ documents*: it grows with the power %.2f", b.law.exponent)
			}
			fmt.Fprintf(w, "| %s | %s | %s |\n", engine, b.name, at)
		}
	}
	if l, ok := r.bulk(); ok {
		fmt.Fprintf(w, "| %s | all pairs take too long | *%s documents* |\n", l.contender, thousands(rounded(l.reaches(r.assume.patience))))
	}
	fmt.Fprintf(w, `
Beyond the memory of one machine the work is divided, not speeded up: documents by their key, since a question asks every
part and takes the best answers; all pairs by their feature, which the [portable queries](../../../../queries#anywhere-else) do on
any engine that joins in parallel, out of the files that `+"`pgworker export --parquet`"+` writes ([make bulk](../README.md#bulk)
compares the rows). SQLite has one writer at a time, so that a second machine there means a second database. PostgreSQL's
`+"`alike.clusters`"+` keeps the sketches of the rows that are in pairs in an array, which PostgreSQL bounds at a gigabyte: *%s* of
the %d bytes that one takes; `+"`pgworker clusters`"+` and the portable query have no such limit.
`, thousands(rounded(1<<30/float64(arrayElement))), arrayElement)
}

// arrayElement is a sketch of the default, 22 bytes of header and 84 slots, in an
// array of PostgreSQL: its length and the alignment are 6 bytes more.
const arrayElement = 112

// rounded keeps two figures.
func rounded(n float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(n))-1)
	return int(math.Round(n/unit) * unit)
}

// figures writes a number with two of them.
func figures(v float64) string {
	if v < 99.5 {
		return fmt.Sprintf("%.2g", v)
	}
	return thousands(rounded(v))
}

func slanted(s string) string { return "*" + s + "*" }

// duration writes seconds, and from two minutes on minutes, hours and days.
func duration(s float64) string {
	switch {
	case s < 120:
		return seconds(s)
	case s < 2*3600:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%.2g h", s/3600)
	}
	return figures(s/86400) + " days"
}

func price(p float64) string {
	if p < 0.01 {
		return "below 0.01"
	}
	if p < 100 {
		return fmt.Sprintf("%.2f", p)
	}
	return thousands(rounded(p))
}

const paperTitle = "A billion documents, on paper"

// paperPicture draws the laws up to a billion: upright until the last mark, which is
// where measuring ended.
func (r *report) paperPicture() (picture, bool) {
	chart := plot.Chart{Title: paperTitle, X: "documents, estimated after the last size measured", Y: "seconds", LogX: true, LogY: true}
	for _, engine := range engines {
		for _, o := range operations {
			if !slices.Contains([]string{buildTime, pairsTime, query50, checkinTime}, o.measure) {
				continue
			}
			l, ok := r.law(growth, engine, o.measure)
			if !ok || l.sizes < 2 {
				continue
			}
			points := r.points(growth, engine, o.measure)
			for _, n := range powers {
				if n > l.documents {
					points = append(points, [2]float64{n, l.at(n)})
				}
			}
			chart.Lines = append(chart.Lines, plot.Line{Name: strings.TrimPrefix(engine, "alike ") + ", " + o.name, Points: points})
		}
	}
	return picture{"billion.svg", chart.Title, func(w io.Writer) error { return plot.Lines(w, chart) }}, len(chart.Lines) > 0
}

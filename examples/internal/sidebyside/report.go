package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alike-sql/alike/sketch/plot"
)

// A report is everything that a run found out.
type report struct {
	Machine     string
	Date        string
	Load        [2]string // before and after
	Limit       string
	Commit      string
	Earlier     []string `json:",omitempty"` // how the runs were made that were kept
	Collections []*collection
	Runs        []result
	Missing     []string

	assume assumptions
}

func newReport() *report {
	return &report{Machine: machine(), Date: time.Now().UTC().Format(time.DateOnly), Load: [2]string{load(), ""}, assume: assumed()}
}

// merge takes over what an earlier run wrote and this one has not measured.
func (r *report) merge(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var old report
	if err := json.Unmarshal(b, &old); err != nil {
		return err
	}
	r.Earlier = append(old.Earlier, fmt.Sprintf("%s, Alike at %s, %s, load average %s to %s, limit %s", old.Date, old.Commit, old.Machine, old.Load[0], old.Load[1], old.Limit))
	for _, c := range old.Collections {
		i := slices.IndexFunc(r.Collections, func(now *collection) bool { return now.Name == c.Name })
		if i < 0 {
			r.Collections = append(r.Collections, c)
		} else if c.Documents > r.Collections[i].Documents {
			r.Collections[i] = c
		}
	}
	runs := old.Runs
	for _, x := range r.Runs {
		again := func(o result) bool {
			return o.Collection == x.Collection && o.Documents == x.Documents && o.Contender == x.Contender
		}
		if i := slices.IndexFunc(runs, again); i >= 0 {
			if x.Failed == "" || runs[i].Failed != "" { // a shorter limit takes nothing away
				runs[i] = x
			}
		} else {
			runs = append(runs, x)
		}
	}
	r.Runs = runs
	return nil
}

// machine says what the numbers were measured on.
func machine() string {
	model := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
			}
		}
	}
	memory := ""
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int
		if _, err := fmt.Sscanf(string(b), "MemTotal: %d kB", &kb); err == nil {
			memory = fmt.Sprintf(", %d GB of memory", (kb+1<<19)>>20)
		}
	}
	system := runtime.GOOS
	if b, err := os.ReadFile("/etc/os-release"); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
				system = strings.Trim(value, `"`)
			}
		}
	}
	return fmt.Sprintf("%s, %d cores%s, %s, %s", model, runtime.NumCPU(), memory, system, runtime.Version())
}

// load is how many processes wanted a core in the last minute, and in the last five and
// fifteen.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}

// write writes results.json, README.md and the plots.
func (r *report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{"results.json": append(b, '\n')}
	pictures := r.pictures()
	var page bytes.Buffer
	r.page(&page, pictures)
	files["README.md"] = page.Bytes()
	if p, ok := r.paperPicture(); ok {
		var page bytes.Buffer
		r.paper(&page, p.file)
		files["billion.md"] = page.Bytes()
		pictures = append(pictures, p)
	}
	for _, p := range pictures {
		var picture bytes.Buffer
		if err := p.draw(&picture); err != nil {
			return err
		}
		files[p.file] = picture.Bytes()
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// largest returns the run of a contender with the most documents of a collection
// that passes a test.
func (r *report) largest(collection, contender string, ok func(result) bool) *result {
	var best *result
	for i, x := range r.Runs {
		if x.Collection == collection && x.Contender == contender && x.Failed == "" && ok(x) && (best == nil || x.Documents > best.Documents) {
			best = &r.Runs[i]
		}
	}
	return best
}

// names returns the contenders in the order in which they ran.
func (r *report) names() []string {
	var names []string
	for _, x := range r.Runs {
		if !slices.Contains(names, x.Contender) {
			names = append(names, x.Contender)
		}
	}
	return names
}

func (r *report) page(w *bytes.Buffer, pictures []picture) {
	earlier, paper := "", ""
	if r.has(growth) {
		paper = "; [what that means for a billion documents](billion.md)"
	}
	if len(r.Earlier) > 0 {
		earlier = "\nSome rows come from earlier runs. Times, and above all exponents, may mix different loads and limits:\n\n- " +
			strings.Join(r.Earlier, "\n- ") + "\n"
	}
	fmt.Fprintf(w, `# Alike and its peers, side by side

Written by `+"`go run -C examples/internal/sidebyside .`"+`; [how it is done](../README.md), [the same for programs](results.json)%s.

%s; Alike at %s. %s. Load average before the run %s, after it %s. Where that exceeds the
cores, every elapsed time is too long: read the ratios. Sketching is in processor time.
A contender had %s for each size of each collection and one core, unless its settings say otherwise; PostgreSQL's parallel
query keeps its defaults, so it may use every core for all pairs and all clusters.
%s
| collection | what | documents | MB | pairs at 0.5 and more |
|---|---|---|---|---|
`, paper, r.Machine, r.Commit, r.Date, r.Load[0], r.Load[1], r.Limit, earlier)
	for _, c := range r.Collections {
		pairs := ""
		if c.Pairs != nil {
			pairs = thousands(sum(c.Pairs))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.0f | %s |\n", c.Name, c.About, thousands(c.Documents), float64(c.Bytes)/1e6, pairs)
	}
	r.goals(w)
	for _, p := range pictures {
		fmt.Fprintf(w, "\n![%s](%s)\n", p.title, p.file)
	}
	r.better(w)
	r.quality(w)
	r.sketching(w)
	r.own(w)
	r.finding(w)
	r.growth(w)
	r.settings(w)
}

func hasQuality(x result) bool { return x.Quality != nil }

func has(measure string) func(result) bool {
	return func(x result) bool { return x.Measures[measure] > 0 }
}

// A goal is what we want to reach, and what came of it.
func (r *report) goals(w *bytes.Buffer) {
	var rows [][]string
	goal := func(what, wanted, got string, met bool) {
		rows = append(rows, []string{what, wanted, got, map[bool]string{true: "yes", false: "**no**"}[met]})
	}
	const million = 1_000_000
	for _, c := range r.Collections {
		x := r.largest(c.Name, "alike text", hasQuality)
		if x == nil {
			continue
		}
		recall, n := x.Quality.recall(4)
		goal(fmt.Sprintf("%s, %s documents, `text` at 0.8: recall of pairs at 0.9 and more", c.Name, thousands(x.Documents)), "0.995", fmt.Sprintf("%.4f of %s", recall, thousands(n)), recall >= 0.995)
		recall = ratio(x.Quality.Above85[0], x.Quality.Above85[1])
		goal(c.Name+": of pairs at 0.85 and more", "0.93", fmt.Sprintf("%.4f of %s", recall, thousands(x.Quality.Above85[1])), recall >= 0.93)
		precision, n := x.Quality.precision(2)
		goal(c.Name+": answers truly at 0.7 and more", "0.99", fmt.Sprintf("%.4f of %s", precision, thousands(n)), precision >= 0.99)
	}
	for _, c := range r.Collections {
		var quickest win // of the peers
		for _, peer := range r.names() {
			if x, ok := r.compare(c.Name, sketching, peer); ok && !strings.HasPrefix(peer, "alike") && x.theirs*quickest.own >= quickest.theirs*x.own {
				quickest = x
			}
		}
		if quickest.peer != "" {
			times := quickest.own / quickest.theirs
			goal(fmt.Sprintf("%s, %s documents: sketching, against %s", c.Name, thousands(quickest.documents), quickest.peer), "10 times", fmt.Sprintf("%.1f times", times), times >= 10)
		}
	}
	for _, engine := range engines {
		for _, c := range r.Collections {
			for _, against := range []struct {
				ours, peer, measure string
				times               float64 // how many times as quick
				from                int     // of documents at least; with fewer the row is shown without a verdict
			}{
				{engine, "pg_trgm GIN", query50, 1000, million},
				{engine + ", verified", map[string]string{"alike SQLite": fts5Name, "alike PostgreSQL": "PostgreSQL full text, 5 rarest words"}[engine], query50, 1, 0},
				{engine, duckDBVerified, pairsTime, 0.25, million},
				{engine, duckDBName, pairsTime, 0.25, million},
			} {
				if peer := r.largest(c.Name, against.peer, has(against.measure)); peer != nil {
					if x := r.largest(c.Name, against.ours, func(x result) bool { return x.Documents == peer.Documents && x.Measures[against.measure] > 0 }); x != nil {
						times := peer.Measures[against.measure] / x.Measures[against.measure]
						what := map[string]string{query50: "a query", pairsTime: "all pairs"}[against.measure]
						got := fmt.Sprintf("%.3g times as quick", times)
						if x.Quality != nil && peer.Quality != nil && against.times == 1 {
							a, _ := x.Quality.recall(3)
							b, _ := peer.Quality.recall(3)
							got += fmt.Sprintf(", recall at 0.8 and more %.4f against %.4f", a, b)
						}
						wanted := fmt.Sprintf("%g times", against.times)
						if against.from > 0 {
							wanted += ", of " + thousands(against.from) + " documents"
						}
						goal(fmt.Sprintf("%s, %s documents: %s of %s, against %s", c.Name, thousands(x.Documents), what, against.ours, against.peer),
							wanted, got, times >= against.times)
						if last := rows[len(rows)-1]; times < against.times && x.Documents < against.from {
							last[3] = "fewer documents"
						}
					}
				}
			}
			for _, o := range operations {
				if (o.measure == checkinTime || o.measure == checkinBytes) && !strings.HasSuffix(engine, inParts) {
					continue // what the layout columns pays for its questions
				}
				if e, n := r.exponent(c.Name, engine, o.measure); n >= 3 && o.limit >= 0 && (c.Name == growth || !r.has(growth)) {
					wanted, limit := fmt.Sprintf("at most %g", o.limit), o.limit
					if o.limit == 0 {
						wanted, limit = "0 to one digit", 0.05
					}
					goal(fmt.Sprintf("%s: growth of %s of %s, exponent", c.Name, o.name, engine), wanted, fmt.Sprintf("%.2f", e), e <= limit)
				}
			}
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(w, "\n## Goals\n\n| what | wanted | measured | met |\n|---|---|---|---|\n")
		for _, row := range rows {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		}
	}
}

// speed is in MB a second of one core.
func (r result) speed() float64 { return float64(r.Bytes) / 1e6 / r.Measures[sketchCPU] }

func (r *report) quality(w *bytes.Buffer) {
	fmt.Fprint(w, `
## Quality

Recall of the true pairs, by band of their resemblance (shingles of four words), and the share of answers whose true
resemblance is as high. A contender marked with a number of questions was asked for that many rows, the others for all pairs.
The contenders that verify exactly, and those that verify an estimate, are asked for 0.8.
`)
	for _, c := range r.Collections {
		if c.Pairs == nil {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n\n| contender | documents | questions | 0.5–0.6 | 0.6–0.7 | 0.7–0.8 | 0.8–0.9 | 0.9–1 | 1 | ≥ 0.85 | answers | ≥ 0.8 | ≥ 0.7 | ≥ 0.5 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", c.Name)
		for _, name := range r.names() {
			x := r.largest(c.Name, name, hasQuality)
			if x == nil {
				continue
			}
			q := x.Quality
			questions := "all pairs"
			if q.Queries > 0 {
				questions = thousands(q.Queries)
			}
			fmt.Fprintf(w, "| %s | %s | %s |", name, thousands(x.Documents), questions)
			for b := range q.True {
				fmt.Fprintf(w, " %s |", share(q.Found[b], q.True[b]))
			}
			fmt.Fprintf(w, " %s | %s |", share(q.Above85[0], q.Above85[1]), thousands(q.answers()))
			for _, from := range []int{3, 2, 0} {
				p, _ := q.precision(from)
				fmt.Fprintf(w, " %.4f |", p)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "| *true pairs* | %s | all pairs |", thousands(c.Documents))
		for _, n := range c.Pairs {
			fmt.Fprintf(w, " %s |", thousands(n))
		}
		fmt.Fprintln(w, " | | | | |")
	}
}

func sum(numbers []int) int {
	n := 0
	for _, x := range numbers {
		n += x
	}
	return n
}

func share(found, there int) string {
	if there == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", float64(found)/float64(there))
}

func (r *report) sketching(w *bytes.Buffer) {
	fmt.Fprint(w, "\n## Sketching\n\nMB of text in memory that one core sketches in a second: the best of the 1 to 20 turns that fit into two seconds.\n\n| contender |")
	for _, c := range r.Collections {
		fmt.Fprintf(w, " %s |", c.Name)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(r.Collections)))
	for _, name := range r.names() {
		var cells strings.Builder
		for _, c := range r.Collections {
			cell := ""
			if x := r.largest(c.Name, name, has(sketchCPU)); x != nil {
				cell = fmt.Sprintf("%.3g", x.speed())
			}
			fmt.Fprintf(&cells, " %s |", cell)
		}
		if strings.Trim(cells.String(), " |") != "" {
			fmt.Fprintf(w, "| %s |%s\n", name, cells.String())
		}
	}
}

// own shows what of the sketching is a contender's own: many a peer leaves the words to its
// user, and Python's are slow.
func (r *report) own(w *bytes.Buffer) {
	var rows bytes.Buffer
	for _, c := range r.Collections {
		for _, name := range r.names() {
			x := r.largest(c.Name, name, func(x result) bool { return x.Measures[sketchCPU] > 0 && x.Measures[slotCount] > 0 })
			if x == nil || slices.Contains(notDrawn, name) {
				continue
			}
			micro := func(seconds float64) string { return fmt.Sprintf("%.3g", seconds/float64(x.Documents)*1e6) }
			own, normal := "", ""
			if v := x.Measures[readyCPU]; v > 0 {
				own, normal = micro(v), micro(v*84/x.Measures[slotCount])
			}
			fmt.Fprintf(&rows, "| %s | %s | %s | %.0f | %s | %s | %s |\n", c.Name, name, thousands(x.Documents), x.Measures[slotCount], micro(x.Measures[sketchCPU]), own, normal)
		}
	}
	if rows.Len() == 0 {
		return
	}
	fmt.Fprintf(w, `
### From text, and from ready shingles

Microseconds of one core for a document: from its text, words and shingles included, and from shingles of four words that are ready,
as strings, which is the part that is the contender's own. The last column carries that on to 84 slots, as if the time of each went
with them. Those without it take texts alone.

| collection | contender | documents | slots | from text | from ready shingles | of 84 slots |
|---|---|---|---|---|---|---|
%s`, rows.String())
}

func (r *report) finding(w *bytes.Buffer) {
	fmt.Fprint(w, "\n## Finding\n\nEach at the largest size that it finished.\n")
	for _, c := range r.Collections {
		fmt.Fprintf(w, "\n### %s\n\n| contender | documents | build | index MB | query p50 | p99 | checkins/s | all pairs | peak MB | next size |\n|---|---|---|---|---|---|---|---|---|---|\n", c.Name)
		for _, name := range r.names() {
			x := r.largest(c.Name, name, has(buildTime))
			failed := ""
			for _, f := range r.Runs {
				if f.Collection == c.Name && f.Contender == name && f.Failed != "" {
					failed = f.Failed
				}
			}
			if x == nil {
				if failed != "" {
					fmt.Fprintf(w, "| %s | | | | | | | | | %s |\n", name, failed)
				}
				continue
			}
			time := func(m string) string {
				if v, ok := x.Measures[m]; ok {
					return seconds(v)
				}
				return ""
			}
			megabytes := func(m string) string {
				if v, ok := x.Measures[m]; ok {
					return fmt.Sprintf("%.3g", v/1e6)
				}
				return ""
			}
			rate := ""
			if v, ok := x.Measures[checkinsPS]; ok {
				rate = thousands(int(v))
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, thousands(x.Documents), time(buildTime), megabytes(indexBytes),
				time(query50), time(query99), rate, time(pairsTime), megabytes(peakBytes), failed)
		}
	}
	fmt.Fprint(w, "\nThe peak is that of the contender's process, its documents included; a PostgreSQL server's own memory is not in it.\n")
}

// has reports whether there are runs of a collection.
func (r *report) has(collection string) bool {
	return slices.ContainsFunc(r.Runs, func(x result) bool { return x.Collection == collection })
}

// An operation is a measure whose growth matters, and the exponent that it may
// have at most; below 0 where we have no opinion.
type operation struct {
	measure, name string
	limit         float64
	write         func(float64) string
}

var operations = []operation{
	{buildTime, "building", 1.1, seconds},
	{indexBytes, "bytes of the index", 1.1, bytesText},
	{query50, "a query", 0.1, seconds},
	{query99, "a query, the slowest of a hundred", -1, seconds},
	{checkinTime, "a checkin", 0.1, seconds},
	{checkinBytes, "bytes written for a checkin", 0.1, bytesText},
	{pairsTime, "all pairs", 1.1, seconds},
	{pairsFound, "pairs found", -1, func(v float64) string { return thousands(int(v)) }},
	{clustersTime, "all clusters", 1.1, seconds},
	{peakBytes, "memory of the process", 0, bytesText},
	{clustersPeak, "the same with clusters", -1, bytesText},
}

// bytesText writes a number of bytes in the unit that suits it.
func bytesText(n float64) string {
	for _, unit := range []string{"bytes", "KB", "MB", "GB", "TB"} {
		if n < 999.5 || unit == "TB" {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	panic("unreachable")
}

func (r *report) growth(w *bytes.Buffer) {
	fmt.Fprint(w, "\n## Growth\n\nThe exponent e of n^e fitted through the sizes: 0 does not grow, 1 grows as the documents do, 2 as their square.\nEdits are a share of the documents, so that the pairs to be found grow as they do. A question looks into one index a\nfeature: the trees get deeper, and more of them lie outside the caches of the processor.\n")
	for _, c := range r.Collections {
		for _, name := range r.names() {
			if at := r.sizesOf(c.Name, name); c.Name == growth && len(at) > 0 {
				r.operations(w, name, at)
			}
		}
	}
	var b bytes.Buffer
	for _, c := range r.Collections {
		for _, name := range r.names() {
			var cells []string
			for _, m := range []string{buildTime, query50, pairsTime, indexBytes} {
				cell := ""
				if e, n := r.exponent(c.Name, name, m); n >= 2 {
					cell = fmt.Sprintf("%.2f", e)
				}
				cells = append(cells, cell)
			}
			if c.Name != growth && strings.Join(cells, "") != "" {
				var at []string
				for _, n := range r.sizesOf(c.Name, name) {
					at = append(at, thousands(n))
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, name, strings.Join(at, ", "), strings.Join(cells, " | "))
			}
		}
	}
	if b.Len() > 0 {
		fmt.Fprintf(w, "\n| collection | contender | documents | build | query | all pairs | index |\n|---|---|---|---|---|---|---|\n%s", b.String())
	}
}

// operations writes what each operation of a contender took at each size of the
// collection growth.
func (r *report) operations(w *bytes.Buffer, name string, sizes []int) {
	fmt.Fprintf(w, "\n### %s\n\n| operation |", name)
	for _, n := range sizes {
		fmt.Fprintf(w, " %s |", thousands(n))
	}
	fmt.Fprintf(w, " exponent |\n|---|%s---|\n", strings.Repeat("---|", len(sizes)))
	for _, o := range operations {
		points := r.points(growth, name, o.measure)
		if len(points) == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s |", o.name)
		for _, n := range sizes {
			cell := ""
			if i := slices.IndexFunc(points, func(p [2]float64) bool { return p[0] == float64(n) }); i >= 0 {
				cell = o.write(points[i][1])
			}
			fmt.Fprintf(w, " %s |", cell)
		}
		exponent := ""
		if e, k := r.exponent(growth, name, o.measure); k >= 2 {
			exponent = fmt.Sprintf("%.2f", e)
		}
		fmt.Fprintf(w, " %s |\n", exponent)
	}
}

func (r *report) sizesOf(collection, contender string) []int {
	var sizes []int
	for _, x := range r.Runs {
		if x.Collection == collection && x.Contender == contender && x.Failed == "" {
			sizes = append(sizes, x.Documents)
		}
	}
	slices.Sort(sizes)
	return sizes
}

// points returns what a contender measured at each size.
func (r *report) points(collection, contender, measure string) [][2]float64 {
	var points [][2]float64
	for _, x := range r.Runs {
		v := x.Measures[measure]
		if rate := x.Measures[checkinsPS]; measure == checkinTime && rate > 0 {
			v = 1 / rate
		}
		if x.Collection == collection && x.Contender == contender && x.Failed == "" && v > 0 {
			points = append(points, [2]float64{float64(x.Documents), v})
		}
	}
	slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return points
}

// exponent fits a power of the number of documents by least squares of the logarithms.
func (r *report) exponent(collection, contender, measure string) (e float64, n int) {
	points := r.points(collection, contender, measure)
	var x, y, xx, xy float64
	for _, p := range points {
		a, b := math.Log(p[0]), math.Log(p[1])
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	k := float64(len(points))
	if len(points) < 2 {
		return 0, len(points)
	}
	return (k*xy - x*y) / (k*xx - x*x), len(points)
}

func (r *report) settings(w *bytes.Buffer) {
	fmt.Fprint(w, "\n## How each was used\n\n| contender | version | how |\n|---|---|---|\n")
	for _, name := range r.names() {
		for _, x := range r.Runs {
			if x.Contender == name && x.Failed == "" {
				fmt.Fprintf(w, "| %s | %s | %s |\n", name, x.Version, x.Settings)
				break
			}
		}
	}
	if len(r.Missing) > 0 {
		fmt.Fprint(w, "\nNot here:\n\n")
		for _, m := range r.Missing {
			fmt.Fprintf(w, "- %s.\n", m)
		}
	}
}

// notDrawn are contenders that sketch as another one does, whose bar says it all.
var notDrawn = []string{
	"alike text 0.5", "alike text, 1 feature", "alike text, 2 features", "alike bing, 4 features", "datasketch, not verified",
	"alike classic, Broder's filter",
}

// A picture is a chart or a ranking, and its file.
type picture struct {
	file, title string
	draw        func(io.Writer) error
}

func (r *report) pictures() []picture {
	var all []picture
	add := func(file string, c plot.Chart) {
		c.Lines = slices.DeleteFunc(c.Lines, func(l plot.Line) bool { return len(l.Points) < 2 })
		if len(c.Lines) > 0 {
			all = append(all, picture{file, c.Title, func(w io.Writer) error { return plot.Lines(w, c) }})
		}
	}
	for _, c := range r.Collections {
		recall := plot.Chart{Title: "Recall, " + c.Name, X: "true resemblance", Y: "share of the pairs found"}
		for _, name := range []string{"alike text", "alike classic", "alike text, 2 features", "datasketch", "ekzhu/minhash-lsh", "ClickHouse wordShingleMinHash", "ssdeep", "tlsh"} {
			if x := r.largest(c.Name, name, hasQuality); x != nil {
				line := plot.Line{Name: name}
				for b, there := range x.Quality.True {
					if there > 0 {
						line.Points = append(line.Points, [2]float64{min(bandFloors[b]+0.05, 1), float64(x.Quality.Found[b]) / float64(there)})
					}
				}
				recall.Lines = append(recall.Lines, line)
			}
		}
		add("recall-"+c.Name+".svg", recall)
		speed := plot.Ranking{Title: "Sketching, " + c.Name, X: "MB of text a second of one core"}
		for _, name := range r.names() {
			if x := r.largest(c.Name, name, has(sketchCPU)); x != nil && !slices.Contains(notDrawn, name) {
				speed.Bars = append(speed.Bars, plot.Bar{Name: name, Value: x.speed(), Mark: strings.HasPrefix(name, "alike")})
			}
		}
		if len(speed.Bars) > 0 {
			all = append(all, picture{"speed-" + c.Name + ".svg", speed.Title, func(w io.Writer) error { return plot.Rank(w, speed) }})
		}
		query := plot.Chart{Title: "A query, " + c.Name, X: "documents", Y: "seconds, median", LogX: true, LogY: true}
		for _, name := range []string{"alike SQLite", "alike PostgreSQL", fts5Name, "PostgreSQL full text, 5 rarest words", "pg_trgm GIN", "pg_trgm GiST", "pg_similarity GIN"} {
			query.Lines = append(query.Lines, plot.Line{Name: name, Points: r.points(c.Name, name, query50)})
		}
		add("query-"+c.Name+".svg", query)
		pairs := plot.Chart{Title: "All pairs, " + c.Name, X: "documents", Y: "seconds", LogX: true, LogY: true}
		for _, name := range []string{"alike SQLite", "alike PostgreSQL", duckDBName, duckDBVerified, "datasketch", "rensa", "ssdeep", "Spark MinHashLSH"} {
			pairs.Lines = append(pairs.Lines, plot.Line{Name: name, Points: r.points(c.Name, name, pairsTime)})
		}
		add("pairs-"+c.Name+".svg", pairs)
	}
	for _, name := range engines {
		times := plot.Chart{Title: "Growth of " + name, X: "documents", Y: "seconds", LogX: true, LogY: true}
		for _, o := range operations {
			if slices.Contains([]string{buildTime, query50, checkinTime, pairsTime, clustersTime}, o.measure) {
				times.Lines = append(times.Lines, plot.Line{Name: o.name, Points: r.points(growth, name, o.measure)})
			}
		}
		add("growth-"+strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "alike "), ", ", "-"))+".svg", times)
	}
	return all
}

// seconds writes a time in the unit that suits it, with two figures.
func seconds(s float64) string {
	switch {
	case s >= 9.95:
		return fmt.Sprintf("%.0f s", s)
	case s >= 0.0995:
		return fmt.Sprintf("%.2g s", s)
	case s >= 0.00995:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case s >= 1e-3:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case s >= 1e-5:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
	return fmt.Sprintf("%.1f µs", s*1e6)
}

// thousands writes a number with a comma after every third digit from the right.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// describe returns what git calls the checkout.
func describe(folder string) string {
	cmd := exec.Command("git", "describe", "--always", "--dirty")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alike-sql/alike/sketch"
)

// A task is what a contender that is written in Go gets.
type task struct {
	path      string
	n         int
	documents []string // once they are read
	questions []int
	answers   *bufio.Writer
	answered  int
}

// read takes the documents into memory, for those contenders that want them there.
func (t *task) read() error {
	var err error
	t.documents, err = t.between(0, t.n)
	if err == nil && len(t.documents) < t.n {
		err = fmt.Errorf("%s: %d documents, want %d", t.path, len(t.documents), t.n)
	}
	return err
}

// more returns the documents to check in.
func (t *task) more() ([]string, error) { return t.between(t.n, t.n+checkins) }

func (t *task) between(from, to int) ([]string, error) {
	r, err := openTexts(t.path, from, to)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var list []string
	for r.Next() {
		list = append(list, r.text)
	}
	return list, r.Err()
}

// answer writes a pair.
func (t *task) answer(a, b int) {
	t.answers.WriteString(strconv.Itoa(a) + "\t" + strconv.Itoa(b) + "\n")
	t.answered++
}

// own are the contenders of this program.
var own = map[string]func(*task) (*outcome, error){}

// ourNames returns the names of own, in the order of the page.
func ourNames() []string {
	var names []string
	for name := range own {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ours := func(s string) int { return map[bool]int{true: 0, false: 1}[strings.HasPrefix(s, "alike")] }
		return cmp.Or(cmp.Compare(ours(a), ours(b)), cmp.Compare(a, b))
	})
	return names
}

// contend runs one of own, in a process of its own.
func contend(args []string) error {
	if len(args) != 5 || own[args[0]] == nil {
		return fmt.Errorf("sidebyside: contender %s: no such one", strings.Join(args, " "))
	}
	t := &task{path: args[1]}
	var err error
	if t.n, err = strconv.Atoi(args[2]); err != nil {
		return err
	}
	questions, err := os.ReadFile(args[3])
	if err != nil {
		return err
	}
	for line := range strings.FieldsSeq(string(questions)) {
		q, err := strconv.Atoi(line)
		if err != nil {
			return err
		}
		t.questions = append(t.questions, q)
	}
	f, err := os.Create(args[4])
	if err != nil {
		return err
	}
	t.answers = bufio.NewWriter(f)
	o, err := own[args[0]](t)
	if err != nil {
		return err
	}
	if err := t.answers.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if o.Version == "" {
		o.Version = ourVersion()
	}
	if o.Measures[peakBytes] == 0 {
		if o.Measures[peakBytes], err = peak(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

func ourVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// A rule says which pairs a profile's sketches answer with.
type rule struct {
	name    string
	profile string
	shared  int     // features in common, at least
	atLeast float64 // of the estimate; 0: not verified
}

var rules = []rule{
	{"alike text", shingling, 1, 0.8},
	{"alike text 0.5", shingling, 1, 0.5},
	{"alike text t=168 bits=4", shingling + " t=168 bits=4", 1, 0.8}, // as many bytes as the default's
	{"alike text, 1 feature", shingling, 1, 0},
	{"alike text, 2 features", shingling, 2, 0},
	{"alike classic", shingling + " classic", 1, 0.8},
	{"alike classic t=168 bits=4", shingling + " classic t=168 bits=4", 1, 0.8},
	{"alike classic, Broder's filter", shingling + " classic k=6 s=14", 2, 0},
	{"alike lean", shingling + " lean", 1, 0.8},
	{"alike bins", shingling + " bins", 1, 0.8},
	{"alike bing, 4 features", "bing", 4, 0},
	{"alike bing verified", "bing", 1, 0.8},
	// Made for other texts, and judged by the same truth.
	{"alike web", "web", 2, 0.8},
	{"alike code", "code", 1, 0.8},
	{"alike chars", "chars", 1, 0.8},
	{"alike lines", "lines", 1, 0.8},
	{"alike soundex", shingling + " soundex w=4", 1, 0.8},
	{"alike text bag", shingling + " bag", 1, 0.8},
}

func init() {
	for _, r := range rules {
		own[r.name] = r.run
	}
}

// run sketches, joins on the features and verifies, all in memory, in the way
// the pair view does it in SQL.
func (r rule) run(t *task) (*outcome, error) {
	stored := r.profile
	if !strings.Contains(stored, "bits=") {
		stored += " bits=8"
	}
	p, err := sketch.ParseProfile(stored)
	if err != nil {
		return nil, err
	}
	if err := t.read(); err != nil {
		return nil, err
	}
	documents, cpu, elapsed, err := sketchAll(p, t.documents)
	if err != nil {
		return nil, err
	}
	ready, err := sketchReady(p, t.documents)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	columns := documents.index(p.K)
	built := elapsed + time.Since(began)
	began = time.Now()
	if err := r.answer(t, &documents, join(columns)); err != nil {
		return nil, err
	}
	how := fmt.Sprintf("package sketch in memory, profile %s; ", r.profile)
	if r.atLeast > 0 {
		how += fmt.Sprintf("a feature in common, then the estimate at least %v", r.atLeast)
	} else {
		how += fmt.Sprintf("features in common: %d or more, not verified", r.shared)
	}
	return &outcome{Settings: how, Answers: true, Measures: map[string]float64{
		sketchCPU:  cpu.Seconds(),
		readyCPU:   ready.Seconds(),
		slotCount:  float64(p.T),
		buildTime:  built.Seconds(),
		indexBytes: float64(len(documents.sketches) + len(t.documents)*p.K*12),
		pairsTime:  time.Since(began).Seconds(),
	}}, nil
}

// sketched are the sketches and the features of documents, one after the other.
type sketched struct {
	sketches    []byte
	features    []sketch.Feature
	ends        []int // of the documents' sketches
	featureEnds []int
}

// sketchReady times the sketching of runs of four words that were made before, as the
// peers are timed that leave the words to their users.
func sketchReady(p sketch.Profile, texts []string) (time.Duration, error) {
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return 0, err
	}
	some := texts[:min(len(texts), readyDocuments)]
	sets := make([][][]byte, len(some))
	for i, text := range some {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for j := range max(1, len(words)-3) {
			sets[i] = append(sets[i], []byte(strings.Join(words[j:min(j+4, len(words))], " ")))
		}
	}
	var stored []byte
	var features []sketch.Feature
	cpu, _ := turns(func() {
		stored, features = stored[:0], features[:0]
		for _, set := range sets {
			s.Reset()
			for _, shingle := range set {
				s.AddElement(shingle)
			}
			stored, features = s.AppendSketch(stored), s.AppendFeatures(features)
		}
	})
	return time.Duration(float64(cpu) * float64(len(texts)) / float64(len(some))), nil
}

func sketchAll(p sketch.Profile, texts []string) (d sketched, cpu, elapsed time.Duration, err error) {
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return d, 0, 0, err
	}
	documents := make([][]byte, len(texts))
	for i, text := range texts {
		documents[i] = []byte(text)
	}
	// Memory that has not to grow meanwhile: a header, the slots, and a bit each for
	// those that may be empty.
	d.sketches = make([]byte, 0, len(documents)*(24+(p.Bits+1)*p.T/8))
	d.features = make([]sketch.Feature, 0, len(documents)*p.K)
	d.ends, d.featureEnds = make([]int, 0, len(documents)), make([]int, 0, len(documents))
	cpu, elapsed = turns(func() {
		d.sketches, d.features, d.ends, d.featureEnds = d.sketches[:0], d.features[:0], d.ends[:0], d.featureEnds[:0]
		for _, document := range documents {
			s.Document(document)
			d.sketches = s.AppendSketch(d.sketches)
			d.features = s.AppendFeatures(d.features)
			d.ends, d.featureEnds = append(d.ends, len(d.sketches)), append(d.featureEnds, len(d.features))
		}
	})
	return d, cpu, elapsed, nil
}

// sketch returns the sketch of document i.
func (d *sketched) sketch(i int) []byte {
	if i == 0 {
		return d.sketches[:d.ends[0]]
	}
	return d.sketches[d.ends[i-1]:d.ends[i]]
}

// An entry of an index is a feature and the document that has it.
type entry struct {
	value int64
	doc   int32
}

// index returns the features by slot, each slot's in order.
func (d *sketched) index(k int) [][]entry {
	columns := make([][]entry, k)
	for i := range columns {
		columns[i] = make([]entry, 0, len(d.ends))
	}
	start := 0
	for doc, end := range d.featureEnds {
		for _, f := range d.features[start:end] {
			columns[f.Slot] = append(columns[f.Slot], entry{f.Value, int32(doc)})
		}
		start = end
	}
	for _, column := range columns {
		slices.SortFunc(column, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.doc, b.doc))
		})
	}
	return columns
}

// join returns the pairs that share a feature, in order, once a feature.
func join(columns [][]entry) (found []uint64) {
	for _, column := range columns {
		for len(column) > 0 {
			n := 1
			for n < len(column) && column[n].value == column[0].value {
				for _, e := range column[:n] {
					found = append(found, key(int(e.doc), int(column[n].doc)))
				}
				n++
			}
			column = column[n:]
		}
	}
	slices.Sort(found)
	return found
}

// answer gives the task those of the pairs that meet the rule.
func (r rule) answer(t *task, d *sketched, found []uint64) (err error) {
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n] == found[0] {
			n++
		}
		a, b := int(found[0]>>32), int(found[0]&(1<<32-1))
		if n >= r.shared {
			resemblance := 1.0
			if r.atLeast > 0 {
				if resemblance, err = sketch.Resemblance(d.sketch(a), d.sketch(b)); err != nil {
					return err
				}
			}
			if resemblance >= r.atLeast {
				t.answer(a, b)
			}
		}
		found = found[n:]
	}
	return nil
}

// peak returns the most memory that this process has had.
func peak() (float64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	var kb float64
	_, err = fmt.Sscan(after, &kb)
	return kb * 1024, err
}

// turns repeats the sketching of all documents until that has taken two seconds
// of processor time, 1 to 20 times, and returns the times of the best turn: what
// a busy machine adds differs from turn to turn. What is garbage when a turn
// begins is collected before. The peers are measured in the same way.
func turns(sketch func()) (cpu, elapsed time.Duration) {
	sum := time.Duration(0)
	for turn := 0; turn < 20 && sum < 2*time.Second; turn++ {
		runtime.GC()
		began, before := time.Now(), processorTime()
		sketch()
		took := processorTime() - before
		if turn == 0 || took < cpu {
			cpu, elapsed = took, time.Since(began)
		}
		sum += took
	}
	return cpu, elapsed
}

// processorTime is what this process has used of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the kernel knows RUSAGE_SELF
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A contender is a command that gets five more arguments (its name, the file of documents,
// how many of them, a file of questions, a file to write answers to) and
// prints what it measured as JSON, the last line of its output: an outcome.
//
// A question is the number of a document, a line each; an answer is the
// numbers of two documents and a tab between them.
type contender struct {
	name    string
	command []string
	env     []string
}

// An outcome is what a contender says about itself. A measure that makes no
// sense for it is left out.
type outcome struct {
	Version  string
	Settings string             // how it was set up
	Measures map[string]float64 // see measures
	Queried  *int               // the number of questions that the answers are for; absent: for all pairs
	Answers  bool               // whether there are any
	Sketches string             // the unit that it sketches by
}

// The measures, in the order of the page.
const (
	sketchCPU    = "sketch_cpu"  // seconds of processor time from texts in memory to all sketches
	readyCPU     = "ready_cpu"   // the same from shingles that are ready, of readyDocuments at most, carried on to all
	slotCount    = "slots"       // numbers in a sketch
	buildTime    = "build"       // seconds from texts to a ready index
	indexBytes   = "index_bytes" // of the index alone
	query50      = "query_p50"   // seconds to the rows like a given row
	query99      = "query_p99"
	checkinsPS   = "checkins"      // rows a second with the index live
	checkinBytes = "checkin_bytes" // written for a row: in PostgreSQL to the log, in SQLite, without a journal, to the database
	checkinTime  = "checkin"       // seconds, the inverse of checkins; not measured by itself
	pairsTime    = "pairs"         // seconds for every pair
	pairsFound   = "pairs_found"
	clustersTime = "clusters"   // seconds for every cluster
	peakBytes    = "peak_bytes" // of the process; without clusters, where there are any
	clustersPeak = "clusters_peak_bytes"
)

// readyDocuments bounds the memory that ready shingles take, ten times that of the text.
const readyDocuments = 10_000

// A result is a contender at a size of a collection.
type result struct {
	Collection string
	Documents  int
	Bytes      int64
	Contender  string
	Failed     string `json:",omitempty"`
	outcome
	Quality *quality `json:",omitempty"`
}

func (r result) String() string {
	s := fmt.Sprintf("%s %d, %s:", r.Collection, r.Documents, r.Contender)
	if r.Failed != "" {
		return s + " " + r.Failed
	}
	if r.Measures[sketchCPU] > 0 {
		s += fmt.Sprintf(" %.1f MB/s", float64(r.Bytes)/1e6/r.Measures[sketchCPU])
	}
	for _, m := range []string{buildTime, query50, pairsTime} {
		if v, ok := r.Measures[m]; ok {
			s += fmt.Sprintf(" %s %s", m, seconds(v))
		}
	}
	if q := r.Quality; q != nil {
		r80, _ := q.recall(3)
		r90, _ := q.recall(4)
		p70, n := q.precision(2)
		s += fmt.Sprintf(" recall of 0.8 and more %.4f, of 0.85 %.4f, of 0.9 %.4f; %d answers, %.4f at 0.7 and more", r80, ratio(q.Above85[0], q.Above85[1]), r90, n, p70)
	}
	return s
}

// run sends the contender through the first n documents.
func (p contender) run(ctx context.Context, c *collection, n int, limit time.Duration) result {
	r := result{Collection: c.Name, Documents: n, Bytes: c.bytes(n), Contender: p.name}
	if err := p.try(ctx, c, n, limit, &r); err != nil {
		r.Failed = err.Error()
	}
	return r
}

func (p contender) try(ctx context.Context, c *collection, n int, limit time.Duration, r *result) error {
	dir, err := os.MkdirTemp(filepath.Dir(c.path), "run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // a PostgreSQL server runs as somebody else
		return err
	}
	asked := c.questions(n)
	var questions bytes.Buffer
	for _, q := range asked {
		fmt.Fprintln(&questions, q)
	}
	questionsFile, answers := filepath.Join(dir, "questions"), filepath.Join(dir, "answers")
	for name, b := range map[string][]byte{questionsFile: questions.Bytes(), answers: nil} {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append(p.command[1:len(p.command):len(p.command)], p.name, c.path, strconv.Itoa(n), questionsFile, answers)
	cmd := exec.CommandContext(timed, p.command[0], args...)
	// One core each: the processor's time is what is compared.
	cmd.Env = append(append(os.Environ(), "GOMAXPROCS=1", "RAYON_NUM_THREADS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "HF_HUB_OFFLINE=1", "TMPDIR="+dir), p.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if timed.Err() != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the grace of WaitDelay left
		return fmt.Errorf("more than %s", limit)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return errors.New(lines[len(lines)-1])
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &r.outcome); err != nil {
		return fmt.Errorf("outcome %.200q: %v", lines[len(lines)-1], err)
	}
	if !r.Answers || c.Name == growth {
		return nil
	}
	if r.Queried == nil {
		asked = nil
	} else {
		asked = asked[:*r.Queried]
	}
	r.Quality, err = judge(c, n, answers, asked)
	return err
}

type contenders struct {
	list    []contender
	missing []string // peers that cannot be had, with the reason
}

// prepare finds and builds the contenders whose names match.
func prepare(ctx context.Context, folder, dir string, only *regexp.Regexp) (*contenders, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &contenders{missing: missing}
	add := func(names []string, command ...string) {
		for _, name := range names {
			if only.MatchString(name) {
				c.list = append(c.list, contender{name: name, command: command})
			}
		}
	}
	for _, name := range ourNames() {
		if name == fts5Name && only.MatchString(name) {
			// mattn/go-sqlite3 leaves FTS5 out unless it is asked for it.
			with := filepath.Join(dir, "with-fts5")
			build := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-o", with, ".")
			build.Dir = folder
			if out, err := build.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", build, err, out)
			}
			add([]string{name}, with, "contender")
		} else {
			add([]string{name}, self, "contender")
		}
	}
	program := filepath.Join(dir, "peers")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(folder, "peers")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	script := filepath.Join(build.Dir, "peers.py")
	for _, command := range [][]string{{program}, {python(), script}} {
		names, err := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "list")...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s list: %w", strings.Join(command, " "), err)
		}
		add(strings.Split(strings.TrimSpace(string(names)), "\n"), command...)
	}
	return c, nil
}

// python returns the Python with the most packages that .ci/setup has installed.
func python() string {
	for _, folder := range []string{"sidebyside", "venv"} {
		if path, err := cached(folder, "bin", "python"); err == nil {
			return path
		}
	}
	return "python3"
}

// peer has a program of the folder peers do a task on files that we have written
// for it. It gets one argument more, the file to write its answers to.
func (t *task) peer(program, script string, args ...string) (*outcome, error) {
	folder, err := moduleFolder()
	if err != nil {
		return nil, err
	}
	answers := filepath.Join(os.TempDir(), script+".answers")
	cmd := exec.Command(program, append(append([]string{filepath.Join(folder, "peers", script)}, args...), answers)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", script, err, lines[len(lines)-1])
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		return nil, err
	}
	found, err := os.ReadFile(answers)
	if err != nil {
		return nil, err
	}
	_, err = t.answers.Write(found)
	return &o, err
}

// cached returns the path of something that .ci/setup has installed.
func cached(path ...string) (string, error) {
	caches := []string{os.Getenv("ALIKE_CACHE"), "/var/cache/alike"}
	if cache, err := os.UserCacheDir(); err == nil {
		caches = append(caches, filepath.Join(cache, "alike"))
	}
	for _, cache := range caches {
		full := filepath.Join(append([]string{cache}, path...)...)
		if _, err := os.Stat(full); cache != "" && err == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("sidebyside: no %s: .ci/setup sidebyside installs it", filepath.Join(path...))
}

// missing are peers that no registry at hand has.
var missing = []string{
	"glaslos/tlsh and mfonda/simhash: no version of these Go modules could be had; Debian's tlsh-tools and simhash stand in",
	"pgvector in a native build: not among Debian 12's packages, nor in the servers that npm has; PGlite, PostgreSQL compiled to WebAssembly, stands in, so that its recall counts and its times do not",
}

// Sidebyside runs Alike and what a user would pick instead on the same
// documents, in one run, and writes what it measured as a page, a table for
// programs, and plots.
//
//	go run -C examples/internal/sidebyside .                              100,000 documents, what is quick
//	go run -C examples/internal/sidebyside . -documents 1000000 -limit 10m
//	go run -C examples/internal/sidebyside . -collections growth -sizes 10000,100000,1000000 -only "^alike (SQLite|PostgreSQL)$"
//	go run -C examples/internal/sidebyside . -only 'alike|FTS5' -keep     those again, beside the results there are
//	go run -C examples/internal/sidebyside . -write                       the pages again, out of results.json
//	go run -C examples/internal/sidebyside . -kinds titles,zh             texts of other kinds, beside other peers
//	go run -C examples/internal/sidebyside -tags sqlite_fts5 . -passages 100000   passages in pages
//	go run -C examples/internal/sidebyside . -folder ~/mail -collections folder
//
// It installs the peers first (.ci/setup sidebyside). Every contender is a
// process of its own, given the same files; what one cannot finish within the
// limit it is not asked at the next size.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type config struct {
	documents   int
	sizes       []int // of the collection growth
	collections string
	folder      string
	only        string
	limit       time.Duration
	out         string
	module      string // the folder of this module
}

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 && os.Args[1] == "contender" {
		if err := contend(os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	var c config
	flag.IntVar(&c.documents, "documents", 100_000, "the largest collection, short or folder; the others are a tenth of it")
	flag.StringVar(&c.collections, "collections", "short,long,real,modules", "short, long, real, modules, folder, growth")
	sizesFlag := flag.String("sizes", "10000,100000,1000000", "the sizes of the collection growth")
	flag.StringVar(&c.folder, "folder", "", "a folder whose files are the collection folder")
	flag.StringVar(&c.only, "only", ".", "the contenders to run, a regular expression")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "for one contender at one size")
	flag.StringVar(&c.out, "out", "", "a folder for the results, by default this module's results")
	keep := flag.Bool("keep", false, "keep the results that are there of what is not run now")
	write := flag.Bool("write", false, "run nothing and write the pages again out of results.json")
	assume := assumed()
	flag.Func("assume", "other assumptions for the page on a billion documents, such as memory=64e9,hour=0.5", assume.set)
	setup := flag.Bool("setup", true, "install the peers first")
	kinds := flag.String("kinds", "", "run the collections of texts of every kind, all or some by name, and nothing else")
	pages := flag.Int("passages", 0, "look for passages in that many pages, and run nothing else")
	kindRows := flag.Int("rows", 3000, "the most rows of each of them")
	flag.Parse()
	var err error
	if c.sizes, err = parseSizes(*sizesFlag); err != nil {
		log.Fatal(err)
	}
	if c.module, err = moduleFolder(); err != nil {
		log.Fatal(err)
	}
	if c.out == "" {
		c.out = filepath.Join(c.module, "results")
	}
	if *write {
		r, err := readReport(c.out)
		if err != nil {
			log.Fatal(err)
		}
		r.assume = assume
		if err := r.write(c.out); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *setup {
		cmd := exec.Command(filepath.Join(checkout(c.module), ".ci", "setup"), "core", "sidebyside")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			log.Fatal(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *pages > 0 {
		only, err := regexp.Compile(c.only)
		if err == nil {
			err = runPassages(ctx, *pages, c.out, c.module, only.MatchString)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if *kinds != "" {
		if err := runKinds(ctx, *kinds, *kindRows, c.out, c.module); err != nil {
			log.Fatal(err)
		}
		return
	}
	r, err := run(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	if *keep {
		if err := r.merge(c.out); err != nil {
			log.Fatal(err)
		}
	}
	r.assume = assume
	if err := r.write(c.out); err != nil {
		log.Fatal(err)
	}
}

// moduleFolder returns the folder of this module's go.mod.
func moduleFolder() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(mod) != "go.mod" {
		return "", fmt.Errorf("sidebyside: run it in a checkout of Alike")
	}
	return filepath.Dir(mod), nil
}

// checkout returns the checkout that this module is in.
func checkout(folder string) string { return filepath.Join(folder, "..", "..", "..") }

// run makes the collections and sends every contender through them, from the
// smallest size up.
func run(ctx context.Context, c config) (*report, error) {
	only, err := regexp.Compile(c.only)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sidebyside")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	peers, err := prepare(ctx, c.module, dir, only)
	if err != nil {
		return nil, err
	}
	r := newReport()
	r.Missing, r.Limit, r.Commit = peers.missing, c.limit.String(), describe(c.module)
	for name := range strings.SplitSeq(c.collections, ",") {
		log.Printf("%s: making the documents and the truth", name)
		col, err := makeCollection(dir, name, c)
		if err != nil {
			return nil, err
		}
		r.Collections = append(r.Collections, col)
		pace := map[string]*pace{}
		for _, p := range peers.list {
			pace[p.name] = newPace(c.limit)
		}
		at := sizes(col.Documents)
		if name == growth {
			at = c.sizes
		}
		once := func(p contender, n int) {
			x := result{Collection: col.Name, Documents: n, Contender: p.name, Failed: pace[p.name].tooSlow(n)}
			if x.Failed == "" {
				began := time.Now()
				x = p.run(ctx, col, n, c.limit)
				pace[p.name].took(n, time.Since(began))
			}
			if ctx.Err() != nil {
				return // what was done before the interrupt is worth a page
			}
			log.Printf("%s", x)
			pace[p.name].beaten = x.Failed != ""
			r.Runs = append(r.Runs, x)
		}
		for _, n := range at {
			for _, p := range peers.list {
				if pace[p.name].beaten || ctx.Err() != nil {
					continue
				}
				once(p, n)
				if pace[p.name].beaten && n == at[0] && n >= 1000 { // too large for it: a tenth
					once(p, n/10)
					pace[p.name].beaten = true
				}
			}
		}
		os.Remove(col.path)
	}
	r.Load[1] = load()
	return r, nil
}

// A pace foretells how long a contender takes at the next size, so that nobody
// waits for what cannot finish.
type pace struct {
	limit  time.Duration
	beaten bool
	sizes  []float64
	times  []float64
}

func newPace(limit time.Duration) *pace { return &pace{limit: limit} }

func (p *pace) took(n int, d time.Duration) {
	p.sizes, p.times = append(p.sizes, float64(n)), append(p.times, d.Seconds())
}

// tooSlow returns why a size is not tried: growing as it did between the last
// two sizes it would take twice the limit.
func (p *pace) tooSlow(n int) string {
	last := len(p.sizes) - 1
	if last < 1 {
		return ""
	}
	growth := math.Log(p.times[last]/p.times[last-1]) / math.Log(p.sizes[last]/p.sizes[last-1])
	if p.times[last]*math.Pow(float64(n)/p.sizes[last], growth) < 2*p.limit.Seconds() {
		return ""
	}
	return fmt.Sprintf("not tried: it took %s at %s", seconds(p.times[last]), thousands(int(p.sizes[last])))
}

// parseSizes reads numbers of documents, ascending.
func parseSizes(list string) ([]int, error) {
	var s []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || len(s) > 0 && n <= s[len(s)-1] {
			return nil, fmt.Errorf("sidebyside: sizes %q, want ascending numbers with commas between", list)
		}
		s = append(s, n)
	}
	return s, nil
}

// sizes returns n and its tenths, from ten thousand up.
func sizes(n int) []int {
	var s []int
	for ; n >= 10_000 || len(s) == 0; n /= 10 {
		s = append([]int{n}, s...)
	}
	return s
}

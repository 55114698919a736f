// Sidebyside runs Alike and what a user would pick instead on the same
// documents, in one run, and writes what it measured as a page, a table for
// programs, and plots.
//
//	go run ./examples/sidebyside                              100,000 documents, what is quick
//	go run ./examples/sidebyside -documents 1000000 -limit 10m
//	go run ./examples/sidebyside -only 'alike|FTS5' -keep     those again, beside the results there are
//	go run ./examples/sidebyside -folder ~/mail -collections folder
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
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

type config struct {
	documents   int
	collections string
	folder      string
	only        string
	limit       time.Duration
	out         string
	root        string // the checkout
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
	flag.IntVar(&c.documents, "documents", 100_000, "the largest collection; the smaller ones are a tenth of it, and so on")
	flag.StringVar(&c.collections, "collections", "short,long,real", "short, long, real, folder")
	flag.StringVar(&c.folder, "folder", "", "a folder whose files are the collection folder")
	flag.StringVar(&c.only, "only", ".", "the contenders to run, a regular expression")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "for one contender at one size")
	flag.StringVar(&c.out, "out", "", "a folder for the results, by default examples/sidebyside/results")
	keep := flag.Bool("keep", false, "keep the results that are there of what is not run now")
	setup := flag.Bool("setup", true, "install the peers first")
	flag.Parse()
	var err error
	if c.root, err = checkout(); err != nil {
		log.Fatal(err)
	}
	if c.out == "" {
		c.out = filepath.Join(c.root, "examples", "sidebyside", "results")
	}
	if *setup {
		cmd := exec.Command(filepath.Join(c.root, ".ci", "setup"), "core", "sidebyside")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			log.Fatal(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := run(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	if *keep {
		if err := r.merge(c.out); err != nil {
			log.Fatal(err)
		}
	}
	if err := r.write(c.out); err != nil {
		log.Fatal(err)
	}
}

// checkout returns the folder of go.mod.
func checkout() (string, error) {
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
	peers, err := prepare(ctx, c.root, dir, only)
	if err != nil {
		return nil, err
	}
	r := newReport()
	r.Missing, r.Limit, r.Commit = peers.missing, c.limit.String(), describe(c.root)
	for name := range strings.SplitSeq(c.collections, ",") {
		log.Printf("%s: making the documents and the truth", name)
		col, err := makeCollection(dir, name, c)
		if err != nil {
			return nil, err
		}
		r.Collections = append(r.Collections, col)
		beaten := map[string]bool{}
		for _, n := range sizes(col.Documents) {
			for _, p := range peers.list {
				if beaten[p.name] || ctx.Err() != nil {
					continue
				}
				x := p.run(ctx, col, n, c.limit)
				if ctx.Err() != nil {
					break // what was done before the interrupt is worth a page
				}
				log.Printf("%s", x)
				beaten[p.name] = x.Failed != ""
				r.Runs = append(r.Runs, x)
			}
		}
		os.Remove(col.path)
	}
	r.Load[1] = load()
	return r, nil
}

// sizes returns n and its tenths, from a thousand up.
func sizes(n int) []int {
	var s []int
	for ; n >= 1000 || len(s) == 0; n /= 10 {
		s = append([]int{n}, s...)
	}
	return s
}

// Fuzz runs every fuzz target, each for a time or all together for a number of
// executions, and counts the executions.
//
//	go run .ci/fuzz/fuzz.go -time 30s
//	go run .ci/fuzz/fuzz.go -executions 100000000 -corpus build/corpus
//
// With -executions the targets take turns of -time until their executions add up to
// that number. What a turn finds new goes to the corpus, where the next turn begins. An
// empty corpus begins with the inputs in corpus.tar.gz, beside this file; -save puts
// those of the corpus there.
// An input that fails stands in testdata/fuzz afterwards, as go test writes it.
package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

type target struct {
	dir, name  string
	executions int
	spent      time.Duration // in turns, without what it takes to build them
	inputs     int           // in the corpus
}

var (
	perTarget  = flag.String("time", "30s", "of a target, or of one turn of it; or its executions, such as 500x")
	processes  = flag.Int("processes", runtime.GOMAXPROCS(0), "that execute a target side by side")
	executions = flag.Int("executions", 0, "of all targets together; 0 is one turn each")
	corpus     = flag.String("corpus", "", "the folder that keeps what is found; Go's cache unless given")
	save       = flag.Bool("save", false, "keep the inputs of the corpus in the repository")
	only       = flag.String("only", "", "only targets whose folder and name have this text")
)

func main() {
	flag.Parse()
	targets, err := find()
	if err == nil && *corpus != "" {
		err = unpack()
	}
	if err == nil {
		err = run(targets)
	}
	if err == nil && *save {
		err = pack()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

const kept = ".ci/fuzz/corpus.tar.gz"

// unpack fills an empty corpus with the inputs that are kept.
func unpack() error {
	if found, err := filepath.Glob(filepath.Join(*corpus, "*")); err != nil || len(found) > 0 {
		return err
	}
	file, err := os.Open(kept)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for inputs := tar.NewReader(z); ; {
		h, err := inputs.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		input, err := io.ReadAll(inputs)
		if err != nil {
			return err
		}
		path := filepath.Join(*corpus, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, input, 0o666); err != nil {
			return err
		}
	}
}

// pack keeps the inputs of the corpus.
func pack() error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	inputs := tar.NewWriter(z)
	err = filepath.WalkDir(*corpus, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		input, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(*corpus, path)
		if err != nil {
			return err
		}
		if err := inputs.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(input))}); err != nil {
			return err
		}
		_, err = inputs.Write(input)
		return err
	})
	if err == nil {
		err = inputs.Close()
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(kept, b.Bytes(), 0o666)
}

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

func find() ([]*target, error) {
	out, err := exec.Command("git", "ls-files", "*_test.go").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var list []*target
	for _, path := range strings.Fields(string(out)) {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, match := range declared.FindAllSubmatch(source, -1) {
			t := &target{dir: "./" + filepath.ToSlash(filepath.Dir(path)), name: string(match[1])}
			if strings.Contains(t.dir+" "+t.name, *only) {
				list = append(list, t)
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no fuzz target")
	}
	return list, nil
}

func run(targets []*target) error {
	for turn, sum := 1, 0; turn == 1 || sum < *executions; turn++ {
		before := sum
		for _, t := range targets {
			n, err := t.turn()
			if err != nil {
				return err
			}
			sum += n
			fmt.Printf("%s %s: %d executions, %d in all\n", t.dir, t.name, n, sum)
		}
		if sum == before {
			return errors.New("a turn of every target executed nothing")
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "target\texecutions\ta second\tinputs kept")
	sum := 0
	for _, t := range targets {
		fmt.Fprintf(out, "%s %s\t%d\t%.0f\t%d\n", t.dir, t.name, t.executions, float64(t.executions)/max(t.spent.Seconds(), 1), t.inputs)
		sum += t.executions
	}
	fmt.Fprintf(out, "%d targets\t%d\t\t\n", len(targets), sum)
	return out.Flush()
}

// turn runs a target once. At the end of its time a run can fail with only "context
// deadline exceeded", a race in Go before 1.27 (golang/go#75804). So a failed run is
// repeated once: go test has written an input that really fails, and the second run
// fails on it.
func (t *target) turn() (n int, err error) {
	for range 2 {
		var output []byte
		if n, output, err = t.once(); err == nil {
			break
		}
		fmt.Printf("%s\n%s %s failed: %v\n", output, t.dir, t.name, err)
	}
	return n, err
}

// The lines in which a run tells what it has done.
var progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) .*\(total: (\d+)\)`)

func (t *target) once() (executions int, output []byte, err error) {
	// The search for a shorter form of an input that is merely new is bounded, since it counts as no execution.
	args := []string{"test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", *perTarget, "-fuzzminimizetime", "100x", "-parallel", strconv.Itoa(*processes), t.dir}
	if *corpus != "" {
		folder, err := filepath.Abs(filepath.Join(*corpus, t.dir))
		if err != nil {
			return 0, nil, err
		}
		args = append(args, "-args", "-test.fuzzcachedir="+folder)
	}
	output, err = exec.Command("go", args...).CombinedOutput()
	var spent time.Duration
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		if match := progress.FindStringSubmatch(lines.Text()); match != nil {
			spent, _ = time.ParseDuration(match[1])
			executions, _ = strconv.Atoi(match[2])
			t.inputs, _ = strconv.Atoi(match[3])
		}
	}
	t.executions += executions
	t.spent += spent
	return executions, output, err
}

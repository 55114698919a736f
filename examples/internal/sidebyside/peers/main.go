// Peers runs the Go libraries that Alike is compared with, as contenders. It
// is a module of its own, so that nobody who uses Alike gets them.
//
//	peers NAME DOCUMENTS N QUESTIONS ANSWERS
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-minhash"
	"github.com/ekzhu/minhash-lsh"
	"github.com/glaslos/ssdeep"
)

type outcome struct {
	Version  string
	Settings string
	Measures map[string]float64
	Answers  bool
}

type peer struct {
	name string
	run  func(documents []string, answer func(a, b int)) outcome
}

var peers = []peer{
	{"dgryski/go-minhash MinWise", minwise},
	{"dgryski/go-minhash BottomK", bottomK},
	{"ekzhu/minhash-lsh", lsh},
	{"glaslos/ssdeep", fuzzy},
}

// shingles calls f with each run of four folded words, in a buffer that it
// uses again: no peer asks for more.
func shingles(text string, words [][2]int, buffer []byte, f func([]byte)) ([][2]int, []byte) {
	words, buffer = words[:0], buffer[:0]
	word := false
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if !word {
				words = append(words, [2]int{len(buffer), 0})
				word = true
			}
			if r < 0x80 {
				if 'A' <= r && r <= 'Z' {
					r += 'a' - 'A'
				}
				buffer = append(buffer, byte(r))
			} else {
				buffer = append(buffer, string(unicode.ToLower(r))...)
			}
		} else if word {
			words[len(words)-1][1] = len(buffer)
			buffer = append(buffer, ' ')
			word = false
		}
	}
	if word {
		words[len(words)-1][1] = len(buffer)
	}
	for i := 0; i+4 <= len(words); i++ {
		f(buffer[words[i][0]:words[i+3][1]])
	}
	if len(words) > 0 && len(words) < 4 {
		f(buffer[:words[len(words)-1][1]])
	}
	return words, buffer
}

// sketch begins each document, numbered from 0, and pushes its shingles.
func sketch(documents []string, begin func(i int), push func([]byte)) (cpu, elapsed time.Duration) {
	var words [][2]int
	var buffer []byte
	return turns(func() {
		for i, d := range documents {
			begin(i)
			words, buffer = shingles(d, words, buffer, push)
		}
	})
}

// ready is the processor time of all documents from shingles that are made before, carried
// on from those of the first ten thousand.
func ready(documents []string, begin func(i int), push func([]byte)) float64 {
	some := documents[:min(len(documents), 10_000)]
	sets := make([][][]byte, len(some))
	for i, d := range some {
		shingles(d, nil, nil, func(b []byte) { sets[i] = append(sets[i], bytes.Clone(b)) })
	}
	cpu, _ := turns(func() {
		for i, set := range sets {
			begin(i)
			for _, b := range set {
				push(b)
			}
		}
	})
	return cpu.Seconds() * float64(len(documents)) / float64(len(some))
}

// turns repeats the sketching of all documents until that has taken two seconds
// of processor time, 1 to 20 times, and returns the times of the best turn, as
// Alike's contenders do. What is garbage when a turn begins is collected before.
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

func seeded(b []byte) uint64 { return xxhash.Sum64(b)*0x9e3779b97f4a7c15>>7 + 1 }

func minwise(documents []string, _ func(a, b int)) outcome {
	var m *minhash.MinWise
	begin, push := func(int) { m = minhash.NewMinWise(xxhash.Sum64, seeded, 84) }, func(b []byte) { m.Push(b) }
	cpu, _ := sketch(documents, begin, push)
	return outcome{Settings: "NewMinWise, 84 minima, xxhash", Measures: map[string]float64{"sketch_cpu": cpu.Seconds(), "ready_cpu": ready(documents, begin, push), "slots": 84}}
}

func bottomK(documents []string, _ func(a, b int)) outcome {
	var m *minhash.BottomK
	begin, push := func(int) { m = minhash.NewBottomK(xxhash.Sum64, 84) }, func(b []byte) { m.Push(b) }
	cpu, _ := sketch(documents, begin, push)
	return outcome{Settings: "NewBottomK, 84 minima, xxhash", Measures: map[string]float64{"sketch_cpu": cpu.Seconds(), "ready_cpu": ready(documents, begin, push), "slots": 84}}
}

func lsh(documents []string, answer func(a, b int)) outcome {
	const permutations, threshold = 128, 0.8
	signatures := make([][]uint64, len(documents))
	var m *minhashlsh.Minhash
	begin, push := func(i int) {
		if i > 0 {
			signatures[i-1] = m.Signature()
		}
		m = minhashlsh.NewMinhash(1, permutations)
	}, func(b []byte) { m.Push(b) }
	readyCPU := ready(documents, begin, push)
	cpu, elapsed := sketch(documents, begin, push)
	signatures[len(documents)-1] = m.Signature()
	began := time.Now()
	index := minhashlsh.NewMinhashLSH32(permutations, threshold)
	for i, s := range signatures {
		index.Add(i, s)
	}
	index.Index()
	measures := map[string]float64{"sketch_cpu": cpu.Seconds(), "ready_cpu": readyCPU, "slots": permutations, "build": (elapsed + time.Since(began)).Seconds()}
	began = time.Now()
	for a, s := range signatures {
		for _, key := range index.Query(s) {
			if b := key.(int); a < b {
				answer(a, b)
			}
		}
	}
	measures["pairs"] = time.Since(began).Seconds()
	return outcome{Settings: "128 permutations, threshold 0.8, 32 bits; its answers as they are", Measures: measures, Answers: true}
}

func fuzzy(documents []string, answer func(a, b int)) outcome {
	ssdeep.Force = true
	hashes := make([]string, len(documents))
	cpu, _ := turns(func() {
		for i, d := range documents {
			h, err := ssdeep.FuzzyBytes([]byte(d))
			if err != nil {
				log.Fatal(err)
			}
			hashes[i] = h
		}
	})
	measures := map[string]float64{"sketch_cpu": cpu.Seconds()}
	start := time.Now()
	for a, h := range hashes {
		for b := a + 1; b < len(hashes); b++ {
			if score, err := ssdeep.Distance(h, hashes[b]); err == nil && score > 0 {
				answer(a, b)
			}
		}
	}
	measures["pairs"] = time.Since(start).Seconds()
	return outcome{Settings: "every pair compared, any score above 0", Measures: measures, Answers: true}
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

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 && os.Args[1] == "list" {
		for _, p := range peers {
			fmt.Println(p.name)
		}
		return
	}
	if len(os.Args) != 6 {
		log.Fatal("peers: want NAME DOCUMENTS N QUESTIONS ANSWERS")
	}
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	documents, err := read(os.Args[2], n)
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, p := range peers {
		if p.name != os.Args[1] {
			continue
		}
		o := p.run(documents, func(a, b int) { fmt.Fprintf(w, "%d\t%d\n", a, b) })
		if err := w.Flush(); err != nil {
			log.Fatal(err)
		}
		o.Version = version(p.name)
		if o.Measures["peak_bytes"], err = peak(); err != nil {
			log.Fatal(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
			log.Fatal(err)
		}
		return
	}
	log.Fatalf("peers: no peer %q", os.Args[1])
}

func read(path string, n int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	var documents []string
	for len(documents) < n && lines.Scan() {
		var d string
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	return documents, lines.Err()
}

// version returns that of the module whose name the peer begins with.
func version(name string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if path, ok := strings.CutPrefix(d.Path, "github.com/"); ok && strings.HasPrefix(name, path) {
			return d.Version
		}
	}
	return ""
}

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// prose gives n documents of 200 to 600 words, each followed by copies in which
// about 1 %, 2 % and 6 % of the words are others.
func prose(n int) [][]byte {
	random := rand.New(rand.NewPCG(2011, 4000))
	zipf := rand.NewZipf(random, 1.2, 20, 20000)
	word := func() string { return fmt.Sprintf("w%x", (zipf.Uint64()+1)*0x9e3779b9&0xfffff) }
	var texts [][]byte
	for range n {
		words := make([]string, 200+random.IntN(401))
		for i := range words {
			words[i] = word()
		}
		texts = append(texts, []byte(strings.Join(words, " ")))
		for _, part := range []float64{0.01, 0.02, 0.06} {
			copied := append([]string(nil), words...)
			for i := range copied {
				if random.Float64() < part {
					copied[i] = word()
				}
			}
			texts = append(texts, []byte(strings.Join(copied, " ")))
		}
	}
	return texts
}

// What the table shows of the machine's documents holds for generated ones.
func TestWays(t *testing.T) {
	families := 500
	if testing.Short() {
		families = 200
	}
	texts := prose(families)
	e, err := newExperiment(texts)
	if err != nil {
		t.Fatal(err)
	}
	ways, err := e.ways()
	if err != nil {
		t.Fatal(err)
	}
	near := 0
	for _, resemblance := range e.pairs {
		if resemblance >= 0.9 {
			near++
		}
	}
	if near < families/2 {
		t.Fatalf("%d pairs at 0.9 and more, want %d to judge by", near, families/2)
	}
	for _, w := range ways {
		r := e.try(w)
		found := float64(r.found[0]) / float64(2*near)
		rows := float64(r.returned) / float64(len(e.texts))
		t.Logf("%-22s finds %.3f at 0.9, returns %.1f rows", w.name, found, rows)
		switch {
		case strings.Contains(w.name, "30 %"):
			if found > 0.9 || rows < 0.03*float64(len(texts)) {
				t.Errorf("%s finds %.3f and returns %.1f rows: better than a random walk", w.name, found, rows)
			}
		case w.name == "length, ratio 0.9":
			if r.found[0] != 2*near {
				t.Errorf("%s finds %d of %d, want all", w.name, r.found[0], 2*near)
			}
		case w.name == "forest/0, first byte":
			if found < 0.88 || rows > 0.02*float64(len(texts)) {
				t.Errorf("%s finds %.3f, want 0.9, and returns %.1f rows", w.name, found, rows)
			}
		case w.name == "forest/0 to 3, any":
			if found < 0.995 {
				t.Errorf("%s finds %.3f, want nearly all", w.name, found)
			}
		case w.name == "features, one shared":
			if found < 0.995 || rows > 4 {
				t.Errorf("%s finds %.3f and returns %.1f rows, want nearly all and those alone", w.name, found, rows)
			}
		}
	}
}

func TestBetween(t *testing.T) {
	c := &column{values: []int64{30, 10, 20, 10, 99}, order: []int{1, 3, 2, 0}} // 4 has no number
	for _, test := range []struct{ low, high, want int64 }{
		{10, 30, 4}, {11, 30, 2}, {11, 29, 1}, {31, 99, 0}, {0, 9, 0}, {0, 10, 2}, {20, 10, 0},
	} {
		got := c.between(func(n int64) bool { return n >= test.low }, func(n int64) bool { return n <= test.high })
		if int64(len(got)) != test.want {
			t.Errorf("%d to %d: %v, want %d documents", test.low, test.high, got, test.want)
		}
	}
}

func TestRun(t *testing.T) {
	folder := t.TempDir()
	for i, text := range prose(10) {
		name := filepath.Join(folder, fmt.Sprintf("%02d", i))
		if i%2 == 1 {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(text)
			z.Close()
			text, name = packed.Bytes(), name+".gz"
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	other := map[string]string{
		"copy": string(prose(1)[0]), "short": "a b c", "binary": strings.Repeat("x\x00y ", 300), "broken.gz": strings.Repeat("no gzip ", 200),
	}
	for name, text := range other {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{folder}, "39 documents, "}, // one copy came out unchanged
		{[]string{"-limit", "16", folder}, "16 documents, "},
	} {
		var out bytes.Buffer
		if err := run(test.args, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), test.want) || !strings.Contains(out.String(), "features, two shared") {
			t.Errorf("%q printed, want it to begin with %q:\n%s", test.args, test.want, out.String())
		}
	}
	for _, args := range [][]string{{t.TempDir()}, {filepath.Join(folder, "none")}, {"-limit", "1", folder}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

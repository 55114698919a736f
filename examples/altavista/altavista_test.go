package main

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// The pages that the filter is measured on have the resemblance that they are
// said to have.
func TestPairs(t *testing.T) {
	settings, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var a, b []byte
	for _, resemblance := range append(wanted, 0.1, 0.999) {
		p := pairOf(resemblance)
		a, b = p.pages(random, a, b)
		exact, ok, err := sketch.ExactResemblance(settings, a, b)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if math.Abs(exact-p.resemblance()) > 1e-12 || math.Abs(exact-resemblance) > 0.005 {
			t.Errorf("wanted %v, said %v, exact %v", resemblance, p.resemblance(), exact)
		}
	}
}

// Each measured share is within four standard errors of the formula; the preset
// may be sharper, by 0.03 at most.
func TestMeasure(t *testing.T) {
	const pairs = 2000
	for _, settings := range []string{profile, preset} {
		points, err := measure(settings, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			want := sketch.FilterProbability(k, s, r, p.Resemblance)
			off := float64(p.Accepted)/pairs - want
			if settings == preset && (off > 0) == (p.Resemblance > sketch.HalfPoint(k, s, r)) {
				off = max(0, math.Abs(off)-0.03)
			}
			if math.Abs(off) > 4*math.Sqrt(want*(1-want)/pairs)+1./pairs {
				t.Errorf("%s at %.3f is %+.4f off the formula, %.4f", settings, p.Resemblance, off, want)
			}
		}
	}
}

// Four copies of one page, one of them with another word; a page that stands in
// two files of two kinds; three pages alone, one of them empty.
func TestFolder(t *testing.T) {
	folder, target := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
	words := func(seed uint64, n int) string {
		random := rand.New(rand.NewPCG(seed, 0))
		var text []byte
		for range n {
			text = appendWord(text, random)
		}
		return string(text)
	}
	long := words(1, 200)
	put := func(name, text string) {
		t.Helper()
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(text))
			z.Close()
			text = b.String()
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.txt", long)
	put("b.txt.gz", long)
	put("c", long+"word")
	put("d.html", "<p>"+long+"</p>")
	put("e.html", "<b>"+words(2, 50)+"</b>")
	put("f.HTM", "<b>"+words(2, 50)+"</b>")
	put("g.txt", "if a<b && c>d: "+words(3, 50))
	put("h.txt", words(4, 50))
	put("empty.html", "<html></html>")
	put("binary", long+"\x00")

	var out bytes.Buffer
	if err := run([]string{"-pairs", "10", "-out", target, folder}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"documents                              30.0 M                 8                 8",
		"clusters                                3.6 M                 2                 2",
		"  documents in them                    12.3 M  41 %           6  75 %           6  75 %",
		"of identical documents only             2.1 M                 1                 1",
		"  documents in them                     5.3 M  18 %           2  25 %           2  25 %",
		"     4  " + filepath.Join(folder, "a.txt"),
		"holds 4 of the 8 documents, 50 % fewer",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// The figures of the README are what the command draws.
func TestFigures(t *testing.T) {
	target := t.TempDir()
	var out bytes.Buffer
	if err := run([]string{"-out", target, "-generated", "50"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"figure-1.svg", "figure-2.svg"} {
		drawn, err := os.ReadFile(filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(filepath.Join("pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(drawn, shown) {
			t.Errorf("pictures/%s is not what the command draws", name)
		}
	}
}

func TestOneDocument(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"-pairs", "1", "-out", t.TempDir(), folder}, &out); err != nil || !strings.Contains(out.String(), "holds 1 of the 1 documents, 0 % fewer") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestErrors(t *testing.T) {
	empty, target := t.TempDir(), t.TempDir()
	for want, args := range map[string][]string{
		"no document with a word": {"-pairs", "1", "-out", target, empty},
		"no such file":            {"-pairs", "1", "-out", target, filepath.Join(empty, "nowhere")},
		"want a positive number":  {"-pairs", "0"},
	} {
		if err := run(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

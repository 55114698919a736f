package main

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The whole example: what a user sees.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "containment.db")
	for range 2 { // a second run begins anew
		var out bytes.Buffer
		if err := example.Run([]string{"-database", file}, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"chapter  1189       3480        5034          333     595",
			"BSD          quicksort.c  0.90   0.85    0.88    0.47",
			"mail.txt     reply.txt    0.96   1.00    0.97    0.45",
			"mod=16  1189      1189   0",
			"scaled  1189      993    196",
			"Isa 37   2Ki    0.80   0.80    0.80",
			"50     100       0.48   0.29           27 %       0.50           98 %",
		} {
			if !strings.Contains(out.String(), want+"\n") {
				t.Errorf("the report lacks %q", want)
			}
		}
		if t.Failed() {
			t.Fatal(out.String())
		}
	}
}

func TestBible(t *testing.T) {
	books, chapters, err := bible()
	if err != nil {
		t.Fatal(err)
	}
	if len(books) != 66 || len(chapters) != 1189 {
		t.Fatalf("%d books, %d chapters, want 66 and 1189", len(books), len(chapters))
	}
	jude := slices.IndexFunc(chapters, func(p part) bool { return p.name == "Jude 1" })
	if jude < 0 || !strings.HasPrefix(chapters[jude].text, "Jude, the servant of Jesus Christ,") || strings.Count(chapters[jude].text, "\n") != 25 {
		t.Errorf("the letter of Jude is %v", chapters[max(jude, 0)])
	}
}

func TestCut(t *testing.T) {
	words := strings.Fields("a b c d e")
	for range 20 {
		got := cut(rand.New(rand.NewPCG(1, 2)), words, 3)
		if len(got) != 3 || cap(got) != 3 || !strings.Contains("a b c d e", strings.Join(got, " ")) {
			t.Fatal(got)
		}
	}
	if got := cut(rand.New(rand.NewPCG(1, 2)), words, 5); !slices.Equal(got, words) {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	if err := example.Run([]string{"-database", t.TempDir() + "/x/\x00"}, &bytes.Buffer{}); err == nil {
		t.Error("a database that cannot be written gives no error")
	}
}

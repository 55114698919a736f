package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// hosts in the order in which the script runs them. All but rqlite, which
// keeps a database of its own, share one.
var hosts = []string{"shell", "python", "apsw", "node", "better_sqlite3", "java", "go", "php", "rust", "rqlite"}

// TestHosts lets every host check its note in, and compares what each found
// and the sketch that it printed with the library's own.
func TestHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.db")
	cmd := exec.Command("./run")
	cmd.Env = append(os.Environ(), "DB="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	parts := strings.Split(string(out), "== ")
	if len(parts) != len(hosts)+1 {
		t.Fatalf("%d hosts, want %d:\n%s", len(parts)-1, len(hosts), out)
	}
	if parts[0] != "2 notes sketched\n" {
		t.Errorf("attach prints %q", parts[0])
	}
	want := librarySketch(t)
	for i, part := range parts[1:] {
		lines := strings.Split(strings.TrimSuffix(part, "\n"), "\n")
		if lines[0] != hosts[i] {
			t.Fatalf("host %d is %q, want %q", i, lines[0], hosts[i])
		}
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("%s: sketch %s, want %s", hosts[i], got, want)
		}
		// In JavaScript a feature, which has 64 bits.
		if hosts[i] == "node" || hosts[i] == "better_sqlite3" {
			if got, want := lines[len(lines)-2], libraryFeature(t); got != want {
				t.Errorf("%s: feature %s, want %s", hosts[i], got, want)
			}
			lines = slices.Delete(lines, len(lines)-2, len(lines)-1)
		}
		// The host's own note and those of the hosts before it, then the seed.
		var answer []string
		for key := 3; key <= 3+i; key++ {
			answer = append(answer, fmt.Sprintf("%d 1.00", key))
		}
		if hosts[i] == "rqlite" {
			answer = []string{"3 1.00"}
		}
		answer = append(answer, seed)
		if got := lines[1 : len(lines)-1]; !slices.Equal(got, answer) {
			t.Errorf("%s: found %q, want %q", hosts[i], got, answer)
		}
	}
	checkSideTable(t, file)
}

// seed is the answer's last row: the first note, which differs in a word.
const seed = "1 0.85"

func librarySketch(t *testing.T) string {
	profile, err := sketch.ParseProfile("words bits=8")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Document([]byte(text))
	return fmt.Sprintf("%X", s.AppendSketch(nil))
}

// libraryFeature is the first feature of the text, which a number of JavaScript would round.
func libraryFeature(t *testing.T) string {
	profile, err := sketch.ParseProfile("words")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Document([]byte(text))
	feature := s.AppendFeatures(nil)[0].Value
	if int64(float64(feature)) == feature {
		t.Fatalf("the feature %d is a number of JavaScript, too", feature)
	}
	return fmt.Sprint(feature)
}

// checkSideTable holds the database that all hosts have written against a
// fresh computation.
func checkSideTable(t *testing.T, file string) {
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ query, want string }{
		{"pragma integrity_check", "ok"},
		{"select count(*) from notes", "11"},
		{"select count(*) from notes_alike", "11"},
		{"select count(distinct sketch) from notes_alike", "3"},
		{"select count(distinct author) from notes where body = (select body from notes where author = 'go')", "9"},
	} {
		var got string
		if err := db.QueryRow(c.query).Scan(&got); err != nil {
			t.Errorf("%s: %v", c.query, err)
		} else if got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

package migrations_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alike-sql/alike/migrations"
)

// thawed returns the released files that changed or are gone, and the new files
// whose number is below that of a released file.
func thawed(list string, files fs.FS) (wrong []string) {
	released := map[string]string{}
	last := ""
	for line := range strings.Lines(list) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && !strings.HasPrefix(line, "#") {
			released[name] = sum
			last = max(last, name)
		}
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return []string{err.Error()}
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
		text, err := fs.ReadFile(files, name)
		switch {
		case err != nil:
			wrong = append(wrong, err.Error())
		case released[name] == "" && name < last:
			wrong = append(wrong, name+" comes before a migration that was released")
		case released[name] != "" && released[name] != fmt.Sprintf("%x", sha256.Sum256(text)):
			wrong = append(wrong, name+" was released and has changed")
		}
	}
	for name := range released {
		if !there[name] {
			wrong = append(wrong, name+" was released and is gone")
		}
	}
	return wrong
}

func TestReleasedFilesAreFrozen(t *testing.T) {
	list, err := os.ReadFile("frozen.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range thawed(string(list), migrations.FS) {
		t.Error(what)
	}
	// And the check does find what it is for.
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	released := fmt.Sprintf("# two files\n%x  000001_a.up.sql\n%x  000003_c.up.sql\n", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("c")))
	for _, v := range []struct {
		files fstest.MapFS
		want  string
	}{
		{fstest.MapFS{"000001_a.up.sql": file("a"), "000003_c.up.sql": file("c"), "000004_d.up.sql": file("d")}, ""},
		{fstest.MapFS{"000001_a.up.sql": file("A"), "000003_c.up.sql": file("c")}, "000001_a.up.sql was released and has changed"},
		{fstest.MapFS{"000001_a.up.sql": file("a")}, "000003_c.up.sql was released and is gone"},
		{fstest.MapFS{"000001_a.up.sql": file("a"), "000002_b.up.sql": file("b"), "000003_c.up.sql": file("c")}, "000002_b.up.sql comes before a migration that was released"},
	} {
		if got := strings.Join(thawed(released, v.files), "; "); got != v.want {
			t.Errorf("%d files: %q, want %q", len(v.files), got, v.want)
		}
	}
}

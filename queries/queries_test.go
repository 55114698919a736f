package queries_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every statement says what it returns before it begins, and is used: by the
// code, or by people, to whom the README shows it.
func TestEveryFileIsDescribedAndUsed(t *testing.T) {
	source, err := os.ReadFile("postgres.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("postgres/*.sql")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "-- ") {
			t.Errorf("%s does not say what it returns", file)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		if !strings.Contains(string(source), "//go:embed "+filepath.ToSlash(file)) && !strings.Contains(string(readme), "`"+name+"`") && name != "attach" {
			t.Errorf("nobody uses %s", file)
		}
	}
}

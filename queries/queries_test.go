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
	for _, file := range files(t, "postgres", "sqlite", "both", "portable") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "-- ") {
			t.Errorf("%s does not say what it returns", file)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		if !strings.Contains(string(source), "//go:embed "+filepath.ToSlash(file)) && !strings.Contains(string(readme), "`"+name+"`") && name != "attach" && !strings.HasPrefix(file, "portable/") {
			t.Errorf("%s is unused", file)
		}
	}
}

// files lists the statements of the folders.
func files(t *testing.T, folders ...string) (list []string) {
	t.Helper()
	for _, folder := range folders {
		found, err := filepath.Glob(folder + "/*.sql")
		if err != nil || len(found) < 2 {
			t.Fatalf("%s: %d files, error %v, want 2 and more", folder, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}

// A question whose SQL is the same in both engines stands once.
func TestNoFileStandsTwice(t *testing.T) {
	seen := map[string]string{}
	for _, file := range files(t, "postgres", "sqlite", "both", "portable") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if other := seen[string(text)]; other != "" {
			t.Errorf("%s and %s are the same", other, file)
		}
		seen[string(text)] = file
	}
}

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// The newest section of the changelog is Unreleased, or that of this version; a version that is
// released has its migrations and its databases frozen. Manifests name the version.
func TestRelease(t *testing.T) {
	t.Chdir("../..")
	if image := "ghcr.io/alike-sql/pgworker:" + sketch.Version + "\n"; !strings.Contains(string(read(t, "pgworker/deploy/kubernetes.yaml")), image) {
		t.Errorf("kubernetes.yaml does not have the image %s", image)
	}
	heading := regexp.MustCompile(`(?m)^## (Unreleased|(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\))$`).FindStringSubmatch(string(read(t, "CHANGELOG.md")))
	if heading == nil {
		t.Fatal("CHANGELOG.md has neither a section Unreleased nor one like 1.2.3 (2026-01-31)")
	}
	if heading[2] == "" {
		return
	}
	if heading[2] != sketch.Version {
		t.Errorf("the newest release in CHANGELOG.md is %s, and sketch/version.go says %s", heading[2], sketch.Version)
	}
	frozen := string(read(t, "migrations/frozen.txt"))
	found, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(found) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	for _, file := range found {
		if !strings.Contains(frozen, "  "+filepath.Base(file)+"\n") {
			t.Errorf("%s is released and frozen.txt lacks it: make freeze", file)
		}
	}
	for _, file := range []string{"sqlext/testdata/releases/" + sketch.Version + ".db.gz", "pgworker/worker/testdata/releases/" + sketch.Version + ".sql.gz"} {
		if len(read(t, file)) < 10_000 {
			t.Errorf("%s is empty", file)
		}
	}
}

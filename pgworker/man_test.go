package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"
)

// make dist names the folder. The generator is in a test, so that the command does not carry its libraries.
var manFolder = flag.String("man", "", "the folder for the man pages")

func TestManPages(t *testing.T) {
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Alike", Manual: "Alike"}, folder); err != nil {
		t.Fatal(err)
	}
	for _, verb := range root.Commands() {
		page := filepath.Join(folder, "pgworker-"+verb.Name()+".1")
		if _, err := os.Stat(page); err != nil && verb.IsAvailableCommand() {
			t.Errorf("%s has no page: %v", verb.Name(), err)
		}
	}
}

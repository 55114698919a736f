package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func readPassages(out string) (*passageRun, error) {
	b, err := os.ReadFile(filepath.Join(out, "passages.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	run := &passageRun{}
	return run, json.Unmarshal(b, run)
}

// write writes the results as JSON and as a page.
func (run *passageRun) write(out string) error {
	b, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "passages.json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "passages.md"), []byte(run.page()), 0o644)
}

func (run *passageRun) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Passages in pages

Which pages contain a passage? %d pages of 400 words, 2.6 KB, of which each tenth is the one before it with a word changed, and %d passages of
each length, cut from anywhere in a page. A page contains a passage when it has eight tenths of its runs of five words, so
that an edited page does, too. *Recall* is the share of these pages that were found, *true* the share of the answers
that contain the passage, the time of a question the median and that of the slowest but one in a hundred. The page is written by

    go run -C examples/internal/sidebyside -tags sqlite_fts5 . -passages %d

%s, commit %s.

| contender | s a million rows | bytes a row |`, run.Rows, passageQuestions, run.Rows, run.Machine, run.Commit)
	for _, words := range passageWords {
		fmt.Fprintf(&b, " %d words: recall | true | ms |", words)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|---|---|", len(passageWords)) + "\n")
	for _, a := range run.Answers {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f |", a.Name, a.Fill*1e6, a.Bytes)
		for i := range passageWords {
			fmt.Fprintf(&b, " %.3f | %.3f | %.2f; %.1f |", a.Recall[i], a.True[i], a.Median[i]*1e3, a.Slow[i]*1e3)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| contender | version | how it is asked |\n|---|---|---|\n")
	for _, a := range run.Answers {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Name, a.Version, a.How)
	}
	b.WriteString(`
The phrase searches keep the words and their places, find a passage as it is written, and nothing of a page in which a word of it was changed.
The answers of MinHashLSHEnsemble are candidates, which it does not compare.
`)
	return b.String()
}

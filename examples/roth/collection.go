package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// The Gettysburg Address, and stand-ins for the three files of which Roth says
// only what they were.
//
//go:embed collection
var embedded embed.FS

// readFolder reads the documents of Table 1 from a folder.
func readFolder(folder string) ([][]byte, error) {
	texts := make([][]byte, len(table1))
	for i, d := range table1 {
		var err error
		if texts[i], err = os.ReadFile(filepath.Join(folder, d.name)); err != nil {
			return nil, fmt.Errorf("the collection needs %s: %w", d.name, err)
		}
	}
	return texts, nil
}

const constitution, declaration = "/usr/share/state/us-constitution.gz", "/usr/share/state/us-declaration.gz"

// buildCollection makes the documents of Table 1 from the packages bible-kjv
// and miscfiles, cut as Roth cut his.
func buildCollection() ([][]byte, error) {
	made := map[string][]byte{}
	for _, d := range table1 {
		if text, err := embedded.ReadFile("collection/" + d.name); err == nil {
			made[d.name] = text
		}
	}
	for name, chapters := range map[string][2]int{
		"Proverbs.txt":      {1, 31},
		"Proverbs1-16.txt":  {1, 16},
		"Proverbs1-24.txt":  {1, 24},
		"Proverbs25-31.txt": {25, 31},
	} {
		text, err := proverbs(chapters[0], chapters[1])
		if err != nil {
			return nil, err
		}
		made[name] = text
	}

	text, err := unzip(constitution)
	if err != nil {
		return nil, err
	}
	made["usConstitution.txt"], made["usConstitution(copy).txt"] = text, text
	if made["usConstitution-noPreamble.txt"], err = cut(text, "We the People", "Article I\n"); err != nil {
		return nil, err
	}
	if made["usConstitution-BillofRights.txt"], err = cut(text, "\nAmendment XI\n", ""); err != nil {
		return nil, err
	}

	if text, err = unzip(declaration); err != nil {
		return nil, err
	}
	if text, err = cut(text, "\n\nThe signers of the Declaration", ""); err != nil {
		return nil, err
	}
	made["usDOI.txt"] = text
	if made["usDOI-1.txt"], err = cut(text, "For imposing Taxes on us", "For depriving us"); err != nil {
		return nil, err
	}
	if made["usDOI-Grievances.txt"], err = cut(text, "He has refused his Assent to Laws,", "In every stage of these Oppressions"); err != nil {
		return nil, err
	}

	texts := make([][]byte, len(table1))
	for i, d := range table1 {
		texts[i] = made[d.name]
	}
	return texts, nil
}

var reference = regexp.MustCompile(`(?m)^Prv\d+:\d+ `)

// proverbs gives chapters of the Book of Proverbs, one verse a line.
func proverbs(first, last int) ([]byte, error) {
	var out, complaint bytes.Buffer
	// A verse beyond the end of a chapter means its last.
	bible := exec.Command("bible", "-f", fmt.Sprintf("Proverbs%d:1-Proverbs%d:99", first, last))
	bible.Stdout, bible.Stderr = &out, &complaint
	if err := bible.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = errors.New("no such command; Debian has it in the package bible-kjv")
		}
		return nil, fmt.Errorf("bible: %w%s", err, complaint.Bytes())
	}
	return reference.ReplaceAll(out.Bytes(), nil), nil
}

func unzip(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w; Debian has it in the package miscfiles", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// cut leaves out what lies from the first string up to the second, or to the
// end when there is no second.
func cut(text []byte, from, to string) ([]byte, error) {
	i := bytes.Index(text, []byte(from))
	if i < 0 {
		return nil, fmt.Errorf("the text has no %q", from)
	}
	if to == "" {
		return bytes.Clone(text[:i]), nil
	}
	j := bytes.Index(text[i:], []byte(to))
	if j < 0 {
		return nil, fmt.Errorf("the text has no %q behind %q", to, from)
	}
	return append(bytes.Clone(text[:i]), text[i+j:]...), nil
}

// writeCollection writes the texts of the collection to files for the reader.
func writeCollection(folder string, texts [][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i, d := range table1 {
		if err := os.WriteFile(filepath.Join(folder, d.name), texts[i], 0o644); err != nil {
			return err
		}
	}
	return nil
}

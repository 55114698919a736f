package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// A document is long enough to have something to find, and not the whole of a
// reference manual.
const shortest, longest = 500, 200_000

// collect reads the text files under the folders, .gz ones unpacked, in the
// order of their names. Of files with the same content it takes one, since
// exact duplicates need no similarity index.
func collect(folders []string, limit int) ([][]byte, error) {
	var texts [][]byte
	seen := map[int64]bool{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := readText(name)
			if err != nil {
				return err
			}
			if len(text) < shortest || len(text) > longest || bytes.IndexByte(text, 0) >= 0 {
				return nil
			}
			if hash := sketch.ContentHash(text); !seen[hash] {
				seen[hash] = true
				texts = append(texts, text)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(texts) <= limit {
		return texts, nil
	}
	spread := make([][]byte, limit)
	for i := range spread {
		spread[i] = texts[i*len(texts)/limit]
	}
	return spread, nil
}

// readText gives a little more than the longest document at most.
func readText(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var text io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, nil // not what its name says: no text
		}
		text = z
	}
	data, err := io.ReadAll(io.LimitReader(text, longest+1))
	if err != nil {
		return nil, nil
	}
	return data, nil
}

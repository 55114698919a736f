package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alike-sql/alike/examples/internal/corpus"
)

// A document is a page as HTML; plain text is escaped.
type document struct {
	name string
	page []byte
}

// generate makes documents of some 400 words, of which a third are edits of
// others.
func generate(n int) []document {
	g := corpus.New(1997, 2500, 1./3)
	documents := make([]document, n)
	for i := range documents {
		d := g.Next()
		documents[i] = document{fmt.Sprintf("%05d (%s)", i, d.Edit), []byte(html.EscapeString(d.Text))}
	}
	return documents
}

// present keeps the folders that there are.
func present(folders ...string) []string {
	return slices.DeleteFunc(folders, func(folder string) bool {
		info, err := os.Stat(folder)
		return err != nil || !info.IsDir()
	})
}

// longest is the size up to which a file is taken for a document.
const longest = 2 << 20

// collect reads the HTML and text files under the folders, .gz ones unpacked,
// in the order of their names.
func collect(folders []string, limit int) ([]document, error) {
	var names []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var documents []document
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		if text == nil {
			continue
		}
		if !isHTML(name) {
			text = []byte(html.EscapeString(string(text)))
		}
		documents = append(documents, document{name, text})
	}
	if len(documents) <= limit {
		return documents, nil
	}
	spread := make([]document, limit)
	for i := range spread {
		spread[i] = documents[i*len(documents)/limit]
	}
	return spread, nil
}

func isHTML(name string) bool {
	switch filepath.Ext(strings.ToLower(strings.TrimSuffix(name, ".gz"))) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

// read gives the text of a file, and nil for what is none or too long.
func read(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var from io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, nil
		}
		from = z
	}
	text, err := io.ReadAll(io.LimitReader(from, longest+1))
	if err != nil || len(text) > longest || bytes.IndexByte(text, 0) >= 0 {
		return nil, nil
	}
	return text, nil
}

package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// largestFile is the largest file in a folder that dedup reads.
const largestFile = 1 << 30

// folderFormat reads the files of a folder that are not hidden. Its output is the paths of the files to keep.
func folderFormat(in string) (*format, error) {
	var paths []string
	err := filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != in && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular():
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &format{
		open: func() (source, error) { return &folderSource{paths: paths}, nil },
		size: int64(len(paths)),
		name: func(i int) any { return paths[i] },
	}, nil
}

type folderSource struct {
	paths []string
	next  int
}

func (f *folderSource) Next() (record, error) {
	if f.next == len(f.paths) {
		return record{}, io.EOF
	}
	path := f.paths[f.next]
	f.next++
	file, err := os.Open(path)
	if err != nil {
		return record{}, err
	}
	defer file.Close()
	document, err := io.ReadAll(io.LimitReader(file, largestFile))
	if document == nil {
		document = []byte{}
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm", ".xhtml":
		document = sketch.AppendHTMLText([]byte{}, document)
	}
	return record{[]byte(path + "\n"), document}, err
}

func (f *folderSource) Offset() int64 { return int64(f.next) }

func (f *folderSource) Close() error { return nil }

// readFile reads a document; - is the standard input.
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

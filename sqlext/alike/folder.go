package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/extract"
)

// largestFile is the largest file that dedup, check and diff read into memory.
const largestFile = 256 << 20

// folder holds the files of a folder that are not hidden. Its output is the paths of the files to keep. Symbolic links are left out,
// and a file that has no text, or whose text cannot be had, is kept.
type folder struct {
	ctx   context.Context
	paths []string
	times []time.Time
	end   string // after a path

	mu     sync.Mutex
	unread map[string]string // why a file's text is missing
}

func folderFormat(ctx context.Context, in string, null bool) (*format, error) {
	f := &folder{ctx: ctx, end: "\n", unread: map[string]string{}}
	if null {
		f.end = "\x00"
	}
	// With a separator at its end the name of a link stands for the folder behind it.
	err := filepath.WalkDir(in+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && len(f.paths) == 0 && e == nil:
			return err
		case err != nil:
			f.unread[path] = err.Error()
			return nil
		case len(path) > len(in)+1 && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				return nil // it is gone
			}
			f.paths, f.times = append(f.paths, path), append(f.times, info.ModTime())
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return &format{
		open:     func() (source, error) { return &folderSource{folder: f}, nil },
		document: f.document,
		size:     int64(len(f.paths)),
		sample:   200,
		name:     func(i int) any { return f.paths[i] },
		time:     func(i int) int64 { return f.times[i].UnixNano() },
		kind:     "a folder",
		unread:   f.unread,
	}, nil
}

// document reads a file, and extracts its text.
func (f *folder) document(raw []byte) ([]byte, error) {
	path := strings.TrimSuffix(string(raw), f.end)
	text, err := readText(f.ctx, path, true)
	if f.ctx.Err() != nil {
		return nil, f.ctx.Err()
	}
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.unread[path] = err.Error()
	}
	return text, nil
}

type folderSource struct {
	*folder
	next int
}

func (f *folderSource) Next() (record, error) {
	if f.next == len(f.paths) {
		return record{}, io.EOF
	}
	f.next++
	return record{raw: []byte(f.paths[f.next-1] + f.end)}, nil
}

func (f *folderSource) Offset() int64 { return int64(f.next) }

func (f *folderSource) Close() error { return nil }

var extractor = sync.OnceValues(func() (*extract.Extractor, error) { return extract.New(extract.Config{}) })

// readText reads the text of a file; - is the standard input. The text of PDF, word processor documents and the like is what a
// command such as pdftotext extracts. With all, a page is reduced to its text, and what is no text is an error.
func readText(ctx context.Context, name string, all bool) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		var err error
		if in, err = os.Open(name); err != nil {
			return nil, err
		}
		defer in.Close()
	}
	document, err := io.ReadAll(io.LimitReader(in, largestFile+1))
	if err != nil {
		return nil, err
	}
	if len(document) > largestFile {
		return nil, fmt.Errorf("%s has more than %d MB", name, largestFile>>20)
	}
	e, err := extractor()
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".txt", ".md", ".csv", ".tsv", ".json", ".log":
		return document, nil
	case ".html", ".htm", ".xhtml":
		if all {
			return sketch.AppendHTMLText(nil, document), nil
		}
	}
	if !all && !e.RunsCommand(document, "") {
		return document, nil
	}
	text, err := e.Text(ctx, document, "")
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return text, err
}

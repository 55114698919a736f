package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// archive is a finished package.
type archive struct {
	name  string
	bytes []byte
}

// member is a file in an archive.
type member struct {
	name string
	data []byte
}

// mode makes the command alike executable.
func (m member) mode() int64 {
	if m.name == "alike" {
		return 0o755
	}
	return 0o644
}

// written is the time of every member: equal contents give equal archives. A zip file knows no earlier year.
var written = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// A bytes.Buffer takes every write, so the writers below cannot fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func tarred(members []member) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		must(w.WriteHeader(&tar.Header{Name: m.name, Mode: m.mode(), Size: int64(len(m.data)), ModTime: written, Format: tar.FormatUSTAR}))
		_, err := w.Write(m.data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}

func zipped(members []member) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: written}
		h.SetMode(fs.FileMode(m.mode()))
		f, err := w.CreateHeader(h)
		must(err)
		_, err = f.Write(m.data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return b.Bytes()
}

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/alike-sql/alike/sketch"
)

const (
	duckDBName     = "DuckDB on our columns"
	duckDBVerified = "DuckDB on our columns, verified"
)

func init() {
	for _, name := range []string{duckDBName, duckDBVerified} {
		own[name] = func(t *task) (*outcome, error) { return duckDB(t, name) }
	}
}

// duckDB writes the features of the documents, and the bytes of their sketches, and
// has DuckDB join them: how quick the engines' own joins could be.
func duckDB(t *task, name string) (*outcome, error) {
	p, err := sketch.ParseProfile(shingling + " bits=8")
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	if err := t.read(); err != nil {
		return nil, err
	}
	path := filepath.Join(os.TempDir(), "columns.csv")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	w.WriteString("id")
	for i := range p.K {
		fmt.Fprintf(w, ",f%d", i+1)
	}
	for i := range p.T {
		fmt.Fprintf(w, ",s%d", i+1)
	}
	w.WriteByte('\n')
	var features []sketch.Feature
	var stored []byte
	for i, d := range t.documents {
		s.Document([]byte(d))
		if features = s.AppendFeatures(features[:0]); len(features) != p.K {
			continue // a document without a token
		}
		w.WriteString(strconv.Itoa(i))
		for _, x := range features {
			w.WriteByte(',')
			w.WriteString(strconv.FormatInt(x.Value, 10))
		}
		// After the header there is a byte a slot.
		stored = s.AppendSketch(stored[:0])
		for _, slot := range stored[len(stored)-p.T:] {
			w.WriteByte(',')
			w.WriteString(strconv.Itoa(int(slot)))
		}
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return t.peer(python(), "peers.py", name, path, strconv.Itoa(len(t.documents)), os.DevNull)
}

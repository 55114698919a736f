package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/alike-sql/alike/sketch"
)

const duckDBName = "DuckDB on our columns"

func init() { own[duckDBName] = duckDB }

// duckDB exports the features of the documents and has DuckDB join them: how
// quick the engines' own joins could be.
func duckDB(t *task) (*outcome, error) {
	p, err := sketch.ParseProfile(shingling)
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
	path := filepath.Join(os.TempDir(), "features.csv")
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
	w.WriteByte('\n')
	var features []sketch.Feature
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
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	answers := filepath.Join(os.TempDir(), "duckdb.answers")
	cmd := exec.Command(python(), filepath.Join(root, "examples", "sidebyside", "peers", "peers.py"), duckDBName, path, strconv.Itoa(len(t.documents)), os.DevNull, answers)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		return nil, err
	}
	pairs, err := os.ReadFile(answers)
	if err != nil {
		return nil, err
	}
	_, err = t.answers.Write(pairs)
	return &o, err
}

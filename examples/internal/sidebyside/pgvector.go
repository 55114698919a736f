package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/alike-sql/alike/sketch"
)

const pgvectorName = "pgvector HNSW on bits"

func init() { own[pgvectorName] = pgvector }

// pgvector has no sketches: it gets a bit of each slot of ours, which is what its
// users do who want a resemblance out of it.
func pgvector(t *task) (*outcome, error) {
	cache, err := cached("pglite", "node_modules")
	if err != nil {
		return nil, err
	}
	p, err := sketch.ParseProfile(shingling + " t=512 bits=1")
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	texts, err := openTexts(t.path, 0, t.n+checkins)
	if err != nil {
		return nil, err
	}
	defer texts.close()
	path := filepath.Join(os.TempDir(), "signatures")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	var stored []byte
	for texts.Next() {
		s.Document([]byte(texts.text))
		stored = s.AppendSketch(stored[:0])
		for _, b := range stored[max(0, len(stored)-p.T/8):] {
			fmt.Fprintf(w, "%08b", b)
		}
		if len(stored) == 0 { // a document without a token
			fmt.Fprintf(w, "%0*d", p.T, 0)
		}
		w.WriteByte('\n')
	}
	if err := texts.Err(); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	questions := filepath.Join(os.TempDir(), "asked")
	var list []byte
	for _, q := range t.questions {
		list = append(strconv.AppendInt(list, int64(q), 10), '\n')
	}
	if err := os.WriteFile(questions, list, 0o644); err != nil {
		return nil, err
	}
	return t.peer("node", "pgvector.mjs", cache, path, strconv.Itoa(t.n), questions)
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type written struct {
	Key    string `parquet:"key"`
	Slot   int32  `parquet:"slot"`
	Number int64  `parquet:"number"`
	Sketch []byte `parquet:"sketch,optional"`
	Index  *int64 `parquet:"index,optional"`
}

// What is written is what another implementation of the format reads, over the ends of
// pages and row groups, with and without values that are missing.
func TestParquet(t *testing.T) {
	columns := []column{{"key", "", false}, {"slot", int32(0), false}, {"number", int64(0), false}, {"sketch", []byte(nil), true}, {"index", int64(0), true}}
	for _, n := range []int{0, 1, 7, 8, 9, pageRows - 1, pageRows, pageRows + 1, groupRows, groupRows + 3} {
		values := func(i int) []any {
			row := []any{fmt.Sprintf("key %d ü", i), int32(-i), int64(i) << 33, any(nil), any(nil)}
			if i%3 != 0 {
				row[3] = []byte{byte(i), 0, 255}[:i%4]
			}
			if i%5 == 0 {
				row[4] = int64(-i)
			}
			return row
		}
		name := filepath.Join(t.TempDir(), "f.parquet")
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		buffered := bufio.NewWriter(file)
		w := newParquet(buffered, columns)
		for i := range n {
			if err := w.row(values(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		if err := buffered.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.ReadFile[written](name)
		if err != nil || len(rows) != n {
			t.Fatalf("%d rows: %d are read, error %v", n, len(rows), err)
		}
		for i, r := range rows {
			want := values(i)
			sketch, hasSketch := want[3].([]byte)
			index, hasIndex := want[4].(int64)
			if r.Key != want[0] || r.Slot != want[1] || r.Number != want[2] || hasSketch != (r.Sketch != nil) || !bytes.Equal(r.Sketch, sketch) ||
				hasIndex != (r.Index != nil) || hasIndex && *r.Index != index {
				t.Fatalf("%d rows: row %d is %+v, want %v", n, i, r, want)
			}
		}
	}
	w := newParquet(&bytes.Buffer{}, columns)
	for what, row := range map[string][]any{
		"a NULL that is not allowed": {nil, int32(1), int64(1), nil, nil},
		"a value of another type":    {"x", "y", int64(1), nil, nil},
	} {
		if err := w.row(row); err == nil {
			t.Errorf("%s is written", what)
		}
	}
}

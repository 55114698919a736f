package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a file holds, it is refused with a sentence, or it has the same records each time
// that it is read, and the documents of all records are found or refused likewise.
func FuzzInput(f *testing.F) {
	kinds := []string{"lines", "jsonl", "csv", "tsv", "parquet", "sqlite"}
	for kind, data := range []string{"a\r\nb\x00\n\xff", "{\"text\": \"a\"}\n\n[1]\n{\"text\": null}", "text,n\n\"a \"\"b\"\"\n c\",1\r\nx,2,3\n", "text\tn\na\t\"b", "PAR1", "SQLite format 3\x00"} {
		f.Add(uint8(kind), []byte(data))
	}
	f.Add(uint8(1), []byte("[{\"text\": \"a\"},\n {\"text\": \"\\ud800\"}]"))
	f.Add(uint8(2), []byte("\xff\xfet\x00e\x00x\x00t\x00\n\x00a\x00\n\x00"))
	f.Add(uint8(0), []byte("\x1f\x8b\x08\x00"))
	name := filepath.Join(f.TempDir(), "input")
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		format, done, err := openFormat(t.Context(), name, options{kind: kinds[int(kind)%len(kinds)], column: "text"})
		defer done()
		if err != nil {
			return
		}
		read := func() (all [][]byte, failed error) {
			s, err := format.open()
			if err != nil {
				return nil, err
			}
			defer s.Close()
			for {
				r, err := s.Next()
				if errors.Is(err, io.EOF) {
					return all, nil
				}
				if err != nil {
					return all, err
				}
				document := r.document
				if document == nil {
					if document, err = format.document(r.raw); err != nil {
						document = []byte(err.Error())
					}
				}
				if all = append(all, r.raw, document); len(all) > 4*len(data)+4 {
					t.Fatalf("%d records from %d bytes", len(all)/2, len(data))
				}
			}
		}
		first, err := read()
		again, other := read()
		if (err == nil) != (other == nil) || len(first) != len(again) {
			t.Fatalf("%d records and %v, then %d and %v", len(first)/2, err, len(again)/2, other)
		}
		for i := range first {
			if !bytes.Equal(first[i], again[i]) {
				t.Fatalf("record %d is %q, then %q", i/2, first[i], again[i])
			}
		}
	})
}

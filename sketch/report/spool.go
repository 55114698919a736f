package report

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A spool keeps a side table in a temporary file, by row number, so the report reads the
// database once. It holds eight bytes a row in memory.
type spool struct {
	file    *os.File
	writer  *bufio.Writer
	ends    []int64
	buffer  []byte
	k       int
	indexes int
}

func newSpool(k, indexes int) (*spool, error) {
	file, err := os.CreateTemp("", "alike-report-*")
	if err != nil {
		return nil, err
	}
	return &spool{file: file, writer: bufio.NewWriterSize(file, 1<<20), k: k, indexes: indexes}, nil
}

func (s *spool) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// A record is hash, shingles, features, indexes, key with its length, and the
// sketch with its length and one more, so that none is 0.
func (s *spool) add(r *Row) error {
	b := s.buffer[:0]
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Hash))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Shingles))
	for _, list := range [][]Nullable{r.Features, r.Indexes} {
		for _, v := range list {
			there := byte(0)
			if v.OK {
				there = 1
			}
			b = binary.LittleEndian.AppendUint64(append(b, there), uint64(v.Value))
		}
	}
	b = append(binary.AppendUvarint(b, uint64(len(r.Key))), r.Key...)
	if r.Sketch == nil {
		b = append(b, 0)
	} else {
		b = append(binary.AppendUvarint(b, uint64(len(r.Sketch))+1), r.Sketch...)
	}
	s.buffer = b
	_, err := s.writer.Write(b)
	end := int64(0)
	if len(s.ends) > 0 {
		end = s.ends[len(s.ends)-1]
	}
	s.ends = append(s.ends, end+int64(len(b)))
	return err
}

func (s *spool) finish() error { return s.writer.Flush() }
func (s *spool) len() int      { return len(s.ends) }

// get reads row i and overwrites r.
func (s *spool) get(i int, r *Row) error {
	start := int64(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	n := int(s.ends[i] - start)
	if cap(s.buffer) < n {
		s.buffer = make([]byte, n)
	}
	b := s.buffer[:n]
	if _, err := s.file.ReadAt(b, start); err != nil {
		return err
	}
	return s.decode(b, r)
}

func (s *spool) decode(b []byte, r *Row) error {
	r.Hash, r.Shingles = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	b = b[16:]
	if r.Features == nil {
		r.Features, r.Indexes = make([]Nullable, s.k), make([]Nullable, s.indexes)
	}
	for _, list := range [][]Nullable{r.Features, r.Indexes} {
		for i := range list {
			list[i] = Nullable{int64(binary.LittleEndian.Uint64(b[1:])), b[0] == 1}
			b = b[9:]
		}
	}
	length, n := binary.Uvarint(b)
	if n <= 0 || int(length) > len(b)-n {
		return fmt.Errorf("the temporary file %s is damaged", s.file.Name())
	}
	r.Key, b = string(b[n:n+int(length)]), b[n+int(length):]
	r.Sketch = r.Sketch[:0]
	if length, n = binary.Uvarint(b); length == 0 {
		r.Sketch = nil
	} else {
		r.Sketch = append(r.Sketch, b[n:]...)
	}
	return nil
}

// key returns the key of row i.
func (s *spool) key(i int) (string, error) {
	var r Row
	err := s.get(i, &r)
	return r.Key, err
}

// each reads all rows in order.
func (s *spool) each(do func(i int, r *Row) error) error {
	reader := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, 1<<62), 1<<20)
	var r Row
	start := int64(0)
	var b []byte
	for i, end := range s.ends {
		if n := int(end - start); cap(b) < n {
			b = make([]byte, n)
		}
		b = b[:end-start]
		if _, err := io.ReadFull(reader, b); err != nil {
			return err
		}
		if err := s.decode(b, &r); err != nil {
			return err
		}
		if err := do(i, &r); err != nil {
			return err
		}
		start = end
	}
	return nil
}

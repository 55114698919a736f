package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"
)

// record is one document of a source, with the bytes to write when it is kept.
type record struct {
	raw      []byte
	document []byte // nil: document(raw) finds it
}

// source reads the records of an input in their order. Next returns io.EOF after the last. The slices of a record belong to
// the caller.
type source interface {
	Next() (record, error)
	Offset() int64 // bytes read so far
	Close() error
}

// format reads and writes records of one kind.
type format struct {
	// open starts at the first record.
	open func() (source, error)
	// document finds the document in a raw record if the source has not. Several goroutines call it at once.
	document func(raw []byte) ([]byte, error)
	// header returns the bytes before the first record of the output.
	header []byte
	size   int64 // bytes in all
	// copy writes the kept records to a file, for formats whose raw records do not suffice.
	copy func(ctx context.Context, out string, kept func(i int) bool) error
	// name is what --why calls a record.
	name func(i int) any
	// place is what an error calls a record that has been read.
	place func(i int) string
	// time is that of a record, in formats that have one; elsewhere a later record is newer.
	time func(i int) int64
	// kind and column say what was found, of which several inputs must have the same.
	kind, column string
	// sample is the number of records to look at for a profile.
	sample int
	// unread says why the texts of some records are missing. They are kept.
	unread map[string]string
	// unchanged returns an error if the input is no longer what it was when the format was opened.
	unchanged func() error
}

var columnNames = []string{"text", "body", "content", "document", "description", "title", "name"}

// chooseColumn returns the column of the documents: the column that is named, the only one, or the first with a usual name.
func chooseColumn(names []string, wanted string) (int, error) {
	if wanted != "" {
		if i := slices.Index(names, wanted); i >= 0 {
			if slices.Contains(names[i+1:], wanted) {
				return 0, usagef("two columns are called %q", wanted)
			}
			return i, nil
		}
		return 0, usagef("no column is called %q; there are %s", wanted, strings.Join(names, ", "))
	}
	if len(names) == 1 {
		return 0, nil
	}
	for _, usual := range columnNames {
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, usual) }); i >= 0 {
			return i, nil
		}
	}
	return 0, usagef("--column is missing: the columns are %s", strings.Join(names, ", "))
}

// kinds are the formats, by the ends of names.
var kinds = map[string]string{
	".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "lines", ".parquet": "parquet",
	".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite",
}

// kindOf returns the format of a file by its name, which may end in .gz.
func kindOf(file string) string {
	return kinds[strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz")))]
}

// options say where the documents are.
type options struct {
	kind, column, table string
	null                bool // paths end with a zero byte
}

// openFormat determines the format of an input. It copies the standard input to a temporary file, because dedup reads its input twice.
func openFormat(ctx context.Context, in string, o options) (_ *format, done func(), err error) {
	done = func() {}
	if in == "-" {
		if o.kind == "" {
			return nil, done, usagef("--format is missing: csv, tsv, jsonl or lines on the standard input")
		}
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, done, usagef("the standard input is a terminal; name a file")
		}
		file, err := os.CreateTemp("", "alike-*")
		if err != nil {
			return nil, done, err
		}
		done = func() { file.Close(); os.Remove(file.Name()) }
		// Reading may wait for ever, and an interrupt ends it.
		copied := make(chan error, 1)
		go func() {
			_, err := io.Copy(file, os.Stdin)
			copied <- err
		}()
		select {
		case err := <-copied:
			if err != nil {
				return nil, done, err
			}
		case <-ctx.Done():
			return nil, done, ctx.Err()
		}
		in = file.Name()
	}
	info, err := os.Stat(in)
	if err != nil {
		return nil, done, err
	}
	if info.IsDir() {
		f, err := folderFormat(ctx, strings.TrimRight(in, string(filepath.Separator)), o.null)
		return f, done, err
	}
	kind := o.kind
	if kind == "" {
		kind = kindOf(in)
	}
	var f *format
	switch kind {
	case "lines":
		f = linesFormat(in)
	case "jsonl":
		f, err = jsonFormat(in, o.column)
	case "csv", "tsv":
		f, err = tableFormat(in, kind, o.column)
	case "parquet":
		f, err = parquetFormat(in, o.column)
	case "sqlite":
		f, err = databaseFormat(in, o.table, o.column)
	case "":
		hint := ""
		if strings.EqualFold(filepath.Ext(in), ".json") {
			hint = `; jq -c '.[]' writes an array as jsonl`
		}
		return nil, done, usagef("--format is missing: the name %s does not tell it%s", filepath.Base(in), hint)
	default:
		return nil, done, usagef("--format is %q, want csv, tsv, jsonl, lines, parquet or sqlite", kind)
	}
	if err != nil {
		return nil, done, fmt.Errorf("%s: %w", in, err)
	}
	f.size, f.kind = info.Size(), kind
	if f.unchanged == nil {
		f.unchanged = func() error {
			now, err := os.Stat(in)
			if err == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())) {
				err = fmt.Errorf("%s changed while it was read; run the command again", in)
			}
			return err
		}
	}
	return f, done, nil
}

// counted counts the bytes that are read from a file.
type counted struct {
	*os.File
	n    int64
	mark []byte // the byte order mark, which is no part of the first record
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *counted) Offset() int64 { return c.n }

// openText opens a text file, which may be compressed, and reads a byte order mark.
func openText(name string) (*counted, *bufio.Reader, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	c := &counted{File: file}
	r := bufio.NewReaderSize(c, 1<<20)
	if magic, err := r.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			file.Close()
			return nil, nil, err
		}
		r = bufio.NewReaderSize(z, 1<<20)
	}
	if start, err := r.Peek(4); err == nil && (bytes.HasPrefix(start, []byte("\xff\xfe")) && start[3] == 0 || bytes.HasPrefix(start, []byte("\xfe\xff\x00"))) {
		file.Close()
		return nil, nil, errors.New("the file is UTF-16; iconv -f UTF-16 -t UTF-8 converts it")
	}
	if mark, err := r.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		c.mark = bytes.Clone(mark)
		r.Discard(3)
	}
	return c, r, nil
}

// lines reads the lines of a file, with their line ends.
type lines struct {
	*counted
	r *bufio.Reader
}

func openLines(name string) (*lines, error) {
	c, r, err := openText(name)
	if err != nil {
		return nil, err
	}
	return &lines{c, r}, nil
}

func (l *lines) Next() (record, error) {
	var line []byte
	var err error
	for {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			break
		}
		if len(line) > largestFile {
			return record{}, fmt.Errorf("is longer than %d MB", largestFile>>20)
		}
	}
	if err == io.EOF && len(line) > 0 {
		line, err = append(line, '\n'), nil
	}
	return record{raw: line}, err
}

func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func numbered(i int) any { return i + 1 }

func linesFormat(in string) *format {
	return &format{
		open:     func() (source, error) { return openLines(in) },
		document: func(raw []byte) ([]byte, error) { return withoutEnd(raw), nil },
		name:     numbered,
	}
}

// jsonFormat reads an object a line.
func jsonFormat(in, column string) (*format, error) {
	if column == "" {
		names, err := membersOf(in)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			i, err := chooseColumn(names, "")
			if err != nil {
				return nil, err
			}
			column = names[i]
		}
	}
	return &format{
		column: column,
		open:   func() (source, error) { return openLines(in) },
		document: func(raw []byte) ([]byte, error) {
			if len(bytes.TrimSpace(raw)) == 0 {
				return nil, nil
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(raw, &members); err != nil {
				if raw[0] == '[' {
					return nil, errors.New("is an array; jq -c '.[]' writes its members a line each")
				}
				return nil, fmt.Errorf("is not a JSON object: %w", err)
			}
			value, ok := members[column]
			if !ok || bytes.Equal(value, []byte("null")) {
				return nil, nil
			}
			if value[0] != '"' {
				return value, nil
			}
			var text string
			err := json.Unmarshal(value, &text)
			return []byte(text), err
		},
		name: numbered,
	}, nil
}

// membersOf returns the names of the members of the first objects.
func membersOf(in string) ([]string, error) {
	l, err := openLines(in)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	names := map[string]bool{}
	for range sampled {
		r, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(r.raw, &members) == nil { // what is no object is an error of its record
			for name := range members {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// tableFormat reads comma-separated values as RFC 4180 has them, or lines of values with tabs between them, which have no
// quotes. The first record names the columns.
func tableFormat(in, kind, column string) (*format, error) {
	comma := ','
	first, err := openTable(in, kind, comma)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	names, raw, err := first.values()
	if err == nil && len(names) == 1 && kind == "csv" {
		if i := strings.IndexAny(names[0], ";\t|"); i >= 0 { // what spreadsheets write where the comma is in numbers
			comma = rune(names[0][i])
			again, err := openTable(in, kind, comma)
			if err != nil {
				return nil, err
			}
			defer again.Close()
			if names, raw, err = again.values(); err != nil {
				return nil, err
			}
		}
	}
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, errors.New("its first line has zero bytes; of UTF-16 without a mark iconv -f UTF-16LE -t UTF-8 makes UTF-8")
	}
	i, err := chooseColumn(names, column)
	if err != nil {
		return nil, err
	}
	return &format{
		open: func() (source, error) {
			t, err := openTable(in, kind, comma)
			if err != nil {
				return nil, err
			}
			t.column, t.columns = i, len(names)
			if _, _, err := t.values(); err != nil {
				t.Close()
				return nil, err
			}
			return t, nil
		},
		header: append(first.mark, raw...),
		column: names[i],
		name:   numbered,
	}, nil
}

type tableSource struct {
	*counted
	r       *bufio.Reader
	csv     *csv.Reader // nil for tabs
	copied  *tape
	column  int
	columns int
}

// tape keeps the bytes that the CSV reader has read and the caller has not taken.
type tape struct {
	r       io.Reader
	kept    []byte
	dropped int64
}

func (t *tape) Read(b []byte) (int, error) {
	if len(t.kept) > largestFile {
		return 0, fmt.Errorf("is longer than %d MB; is a quote left open?", largestFile>>20)
	}
	n, err := t.r.Read(b)
	t.kept = append(t.kept, b[:n]...)
	return n, err
}

// take returns the bytes up to an offset.
func (t *tape) take(end int64) []byte {
	n := int(end - t.dropped)
	b := bytes.Clone(t.kept[:n])
	t.kept = t.kept[:copy(t.kept, t.kept[n:])]
	t.dropped = end
	return b
}

func openTable(in, kind string, comma rune) (*tableSource, error) {
	c, r, err := openText(in)
	if err != nil {
		return nil, err
	}
	t := &tableSource{counted: c, r: r}
	if kind == "csv" {
		t.copied = &tape{r: r}
		t.csv = csv.NewReader(t.copied)
		t.csv.Comma = comma
		t.csv.FieldsPerRecord = -1
		t.csv.ReuseRecord = true
		t.csv.LazyQuotes = true
	}
	return t, nil
}

func (t *tableSource) values() (values []string, raw []byte, err error) {
	if t.csv == nil {
		l := lines{t.counted, t.r}
		rec, err := l.Next()
		if err != nil {
			return nil, nil, err
		}
		return strings.Split(string(withoutEnd(rec.raw)), "\t"), rec.raw, nil
	}
	values, err = t.csv.Read()
	if err != nil {
		return nil, nil, err
	}
	line, _ := t.csv.FieldPos(0)
	raw = t.copied.take(t.csv.InputOffset())
	if len(t.copied.kept) == 0 && t.open(raw) {
		return nil, nil, fmt.Errorf("a quote of the record in line %d is not closed", line)
	}
	if !bytes.HasSuffix(raw, []byte("\n")) {
		raw = append(raw, '\n')
	}
	return values, raw, nil
}

// open reports whether a record ends within quotes, as only the end of the file lets it: then a further line
// belongs to it.
func (t *tableSource) open(raw []byte) bool {
	r := csv.NewReader(io.MultiReader(bytes.NewReader(raw), strings.NewReader("\nx\n")))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = t.csv.Comma, -1, true
	_, err := r.Read()
	return err == nil && r.InputOffset() > int64(len(raw))+1
}

func (t *tableSource) Next() (record, error) {
	values, raw, err := t.values()
	if err != nil {
		return record{}, err
	}
	document := []byte{} // of a record with too many values, whose document may go on in the next: it is kept
	if t.column < len(values) && len(values) <= t.columns {
		document = []byte(values[t.column])
	}
	return record{raw, document}, nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
)

// openAll opens the inputs as one. Several have to be of one kind, and of tables the columns must be the same.
func openAll(ctx context.Context, inputs []string, o options) (_ *format, done func(), err error) {
	var all []*format
	var ends []func()
	done = func() {
		for _, end := range ends {
			end()
		}
	}
	for i, in := range inputs {
		f, end, err := openFormat(ctx, in, o)
		ends = append(ends, end)
		if err != nil {
			return nil, done, err
		}
		if all = append(all, f); i == 0 && len(inputs) == 1 {
			break
		}
		switch first := all[0]; {
		case f.copy != nil:
			return nil, done, usagef("%s has to be the only input: databases and Parquet files are not joined", in)
		case f.kind != first.kind:
			return nil, done, usagef("%s is %s, and %s is %s: inputs have to be of one kind", in, f.kind, inputs[0], first.kind)
		case !bytes.Equal(bare(f.header), bare(first.header)):
			return nil, done, usagef("%s has other columns than %s", in, inputs[0])
		}
		o.column = all[0].column
	}
	return join(inputs, all), done, nil
}

func join(inputs []string, all []*format) *format {
	f := *all[0]
	counts := make([]int, len(all))
	f.open = func() (source, error) { return &joined{inputs: inputs, all: all, counts: counts}, nil }
	which := func(i int) (k, at int) {
		for k < len(all)-1 && i >= counts[k] {
			i -= counts[k]
			k++
		}
		return k, i
	}
	f.place = func(i int) string {
		k, i := which(i)
		return fmt.Sprintf("%s: record %d", inputs[k], i+1)
	}
	if len(all) == 1 {
		return &f
	}
	f.name = func(i int) any {
		k, i := which(i)
		if n, ok := all[k].name(i).(int); ok {
			return fmt.Sprintf("%s:%d", inputs[k], n)
		}
		return all[k].name(i)
	}
	if f.time != nil {
		f.time = func(i int) int64 {
			k, i := which(i)
			return all[k].time(i)
		}
	}
	f.unchanged = func() (err error) {
		for _, each := range all {
			if each.unchanged != nil {
				err = errors.Join(err, each.unchanged())
			}
		}
		return err
	}
	for _, each := range all[1:] {
		f.size += each.size
		maps.Copy(f.unread, each.unread)
	}
	return &f
}

// joined reads one input after the other, counts their records, and names the input that cannot be read.
type joined struct {
	inputs  []string
	all     []*format
	counts  []int
	k, n    int
	current source
	before  int64 // the sizes of the inputs that are read
}

func (j *joined) Next() (record, error) {
	for j.k < len(j.all) {
		if j.current == nil {
			s, err := j.all[j.k].open()
			if err != nil {
				return record{}, fmt.Errorf("%s: %w", j.inputs[j.k], err)
			}
			j.current = s
		}
		r, err := j.current.Next()
		if err == nil {
			j.n++
			j.counts[j.k] = j.n
			return r, nil
		}
		if err != io.EOF {
			return r, fmt.Errorf("%s: %w", j.inputs[j.k], err)
		}
		j.counts[j.k], j.n = j.n, 0
		j.before += j.all[j.k].size
		j.k++
		err = j.current.Close()
		if j.current = nil; err != nil {
			return record{}, err
		}
	}
	return record{}, io.EOF
}

func (j *joined) Offset() int64 {
	if j.current == nil {
		return j.before
	}
	return j.before + j.current.Offset()
}

func (j *joined) Close() error {
	if j.current == nil {
		return nil
	}
	return j.current.Close()
}

// bare is a header without the mark before it and the end of its line.
func bare(header []byte) []byte {
	return bytes.TrimRight(bytes.TrimPrefix(header, []byte("\xef\xbb\xbf")), "\r\n")
}

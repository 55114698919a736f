package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-sql/alike/sketch/report"
)

// parquetFormat reads a column of texts of a Parquet file, and writes the rows that are kept under the same schema.
func parquetFormat(in, column string) (*format, error) {
	file, err := os.Open(in)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	schema, leaf, err := parquetColumn(file, column)
	if err != nil {
		return nil, err
	}
	return &format{
		open: func() (source, error) {
			file, err := os.Open(in)
			if err != nil {
				return nil, err
			}
			return &parquetSource{file: file, rows: parquet.NewGenericReader[any](file), leaf: leaf}, nil
		},
		copy: func(ctx context.Context, out string, kept func(i int) bool) error {
			return copyParquet(ctx, in, out, schema, kept)
		},
		name: numbered,
	}, nil
}

func parquetColumn(file *os.File, column string) (*parquet.Schema, int, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return nil, 0, err
	}
	var names []string
	for _, path := range f.Schema().Columns() {
		if len(path) == 1 { // a member of a group or list is not a document
			names = append(names, path[0])
		}
	}
	i, err := chooseColumn(names, column)
	if err != nil {
		return nil, 0, err
	}
	leaf, _ := f.Schema().Lookup(names[i])
	if k := leaf.Node.Type().Kind(); k != parquet.ByteArray && k != parquet.FixedLenByteArray {
		return nil, 0, usagef("the column %s has no texts", names[i])
	}
	return f.Schema(), leaf.ColumnIndex, nil
}

type parquetSource struct {
	file *os.File
	rows *parquet.GenericReader[any]
	leaf int
	read []parquet.Row
	left []parquet.Row
}

func (p *parquetSource) Next() (record, error) {
	if len(p.left) == 0 {
		if p.read == nil {
			p.read = make([]parquet.Row, 256)
		}
		n, err := p.rows.ReadRows(p.read)
		if n == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return record{}, err
		}
		p.left = p.read[:n]
	}
	row := p.left[0]
	p.left = p.left[1:]
	rec := record{document: []byte{}}
	for _, v := range row {
		if v.Column() == p.leaf && !v.IsNull() {
			rec.document = append(rec.document, v.ByteArray()...)
		}
	}
	return rec, nil
}

// Offset is not known: pages are read ahead.
func (p *parquetSource) Offset() int64 { return 0 }

func (p *parquetSource) Close() error { return errors.Join(p.rows.Close(), p.file.Close()) }

// rowGroup is the number of bytes after which a row group is written, which the writer holds in memory.
const rowGroup = 64 << 20

func copyParquet(ctx context.Context, in, out string, schema *parquet.Schema, kept func(i int) bool) error {
	return report.WriteFile(out, func(to io.Writer) error {
		from, err := os.Open(in)
		if err != nil {
			return err
		}
		defer from.Close()
		r, w := parquet.NewGenericReader[any](from), parquet.NewGenericWriter[any](to, schema, parquet.Compression(&parquet.Snappy))
		defer r.Close()
		rows := make([]parquet.Row, 256)
		size := 0
		for i := 0; ; {
			n, err := r.ReadRows(rows)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for _, row := range rows[:n] {
				if kept(i) {
					if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
						return err
					}
					for _, v := range row {
						if size += 8; v.Kind() == parquet.ByteArray {
							size += len(v.ByteArray())
						}
					}
					if size > rowGroup {
						size = 0
						if err := w.Flush(); err != nil {
							return err
						}
					}
				}
				i++
			}
			if err == io.EOF {
				return w.Close()
			}
			if err != nil {
				return err
			}
		}
	})
}

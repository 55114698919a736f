package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/spf13/cobra"
)

func (c *command) exportCommand() *cobra.Command {
	var folder string
	export := &cobra.Command{
		Use:   "export TABLE --parquet FOLDER",
		Short: "Write features and sketches for DuckDB, Spark and the like",
		Long: `export writes two Parquet files of one moment: features.parquet with a row a
feature (key, slot, feature), which the queries in queries/portable read, and
sketches.parquet with a row a document (key, profile, content_hash, shingles,
sketch). A key is a number when it is one column of whole numbers, and text
otherwise. Each file appears when it is complete.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if folder == "" {
				return usagef("where to? Give --parquet FOLDER")
			}
			conn, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return err
			}
			features, sketches, err := export(cmd.Context(), conn, args[0], folder)
			if err != nil {
				return err
			}
			out := c.sheet(cmd.OutOrStdout(), []string{"features", "sketches", "folder"})
			if err := out.row([]any{features, sketches, folder}); err != nil {
				return err
			}
			return out.end()
		},
	}
	export.Flags().StringVar(&folder, "parquet", "", "the folder for the files")
	return export
}

type featureRow[K int64 | string] struct {
	Key     K     `parquet:"key"`
	Slot    int32 `parquet:"slot"`
	Feature int64 `parquet:"feature"`
}

type sketchRow[K int64 | string] struct {
	Key         K      `parquet:"key"`
	Profile     string `parquet:"profile,dict"`
	ContentHash int64  `parquet:"content_hash"`
	Shingles    int64  `parquet:"shingles"`
	Sketch      []byte `parquet:"sketch,optional"`
}

// export writes both files out of one snapshot.
func export(ctx context.Context, conn *pgx.Conn, table, folder string) (features, sketches int64, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	var schema, side string
	var keys []string
	var types []uint32
	err = tx.QueryRow(ctx, `select a.side_schema, a.side_name, a.key_columns::text[],
  array(select t.atttypid from unnest(a.key_columns) with ordinality k(name, n)
        join pg_attribute t on t.attrelid = format('%I.%I', a.side_schema, a.side_name)::regclass and t.attname = k.name order by n)
from alike._attachment($1) a`, table).Scan(&schema, &side, &keys, &types)
	if err != nil {
		return 0, 0, err
	}
	quoted := pgx.Identifier{schema, side}.Sanitize()
	view := pgx.Identifier{schema, side + "_feature"}.Sanitize()
	if len(keys) == 1 && slices.Contains([]uint32{20, 21, 23}, types[0]) { // int8, int2, int4
		return exportKeys[int64](ctx, tx, folder, quoted, view, "d."+pgx.Identifier{keys[0]}.Sanitize()+"::bigint")
	}
	key := "d." + pgx.Identifier{keys[0]}.Sanitize() + "::text"
	if len(keys) > 1 {
		key = "jsonb_build_array("
		for i, k := range keys {
			if i > 0 {
				key += ", "
			}
			key += "d." + pgx.Identifier{k}.Sanitize()
		}
		key += ")::text"
	}
	return exportKeys[string](ctx, tx, folder, quoted, view, key)
}

func exportKeys[K int64 | string](ctx context.Context, tx pgx.Tx, folder, side, view, key string) (features, sketches int64, err error) {
	features, err = writeParquet(ctx, tx, filepath.Join(folder, "features.parquet"),
		fmt.Sprintf("select %s, d.slot, d.feature from %s d", key, view),
		func(r *featureRow[K]) []any { return []any{&r.Key, &r.Slot, &r.Feature} })
	if err != nil {
		return 0, 0, err
	}
	sketches, err = writeParquet(ctx, tx, filepath.Join(folder, "sketches.parquet"),
		fmt.Sprintf("select %s, s.profile, d.content_hash, d.shingles, d.sketch from %s d join alike.settings s on s.id = d.profile", key, side),
		func(r *sketchRow[K]) []any { return []any{&r.Key, &r.Profile, &r.ContentHash, &r.Shingles, &r.Sketch} })
	return features, sketches, err
}

// writeParquet writes the rows of a query, a few thousand at a time.
func writeParquet[R any](ctx context.Context, tx pgx.Tx, path, sql string, fields func(*R) []any) (n int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".export-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	writer := parquet.NewGenericWriter[R](file, parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(1<<20))
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	batch := make([]R, 0, 4096)
	flush := func() error {
		_, err := writer.Write(batch)
		batch = batch[:0]
		return err
	}
	for rows.Next() {
		var row R
		if err := rows.Scan(fields(&row)...); err != nil {
			return n, err
		}
		n++
		if batch = append(batch, row); len(batch) == cap(batch) {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	if err := errors.Join(rows.Err(), flush(), writer.Close()); err != nil {
		return n, err
	}
	if err := errors.Join(file.Sync(), file.Chmod(0o644), file.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(file.Name(), path)
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

func (c *command) exportCommand() *cobra.Command {
	var folder string
	export := &cobra.Command{
		Use:   "export TABLE --parquet FOLDER",
		Short: "Write features and sketches for DuckDB, Spark and the like",
		Long: `export writes two Parquet files from one snapshot: features.parquet with a row for each
feature (key, slot, feature), which the queries in queries/portable read, and
sketches.parquet with a row a document (key, profile, content_hash, shingles,
sketch, and the similarity indexes that the table has, such as si_43b_40). A key
is a number when it is one column of whole numbers, and text otherwise. Each
file appears when it is complete.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if folder == "" {
				return usagef("--parquet FOLDER is required")
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

// A column of a Parquet file, in the order of the query's.
type column struct {
	name     string
	example  any // its type: int64, int32, string or []byte
	optional bool
}

// export writes both files out of one snapshot.
func export(ctx context.Context, conn *pgx.Conn, table, folder string) (features, sketches int64, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	var schema, side, all string
	var keys, indexes []string
	var types []uint32
	err = tx.QueryRow(ctx, `select a.side_schema, a.side_name, a.key_columns::text[],
  array(select t.atttypid from unnest(a.key_columns) with ordinality k(name, n)
        join pg_attribute t on t.attrelid = format('%I.%I', a.side_schema, a.side_name)::regclass and t.attname = k.name order by n),
  array(select alike._si_column(v) from unnest(a.variants) with ordinality u(v, n) order by n), alike._features_in_one_pass(a)
from alike._attachment($1) a`, table).Scan(&schema, &side, &keys, &types, &indexes, &all)
	if err != nil {
		return 0, 0, err
	}
	key, example := keyExpression(keys, types)
	features, err = writeParquet(ctx, tx, filepath.Join(folder, "features.parquet"),
		fmt.Sprintf("select %s, d.slot, d.feature from (%s) d", key, all),
		[]column{{"key", example, false}, {"slot", int32(0), false}, {"feature", int64(0), false}})
	if err != nil {
		return 0, 0, err
	}
	columns := []column{{"key", example, false}, {"profile", "", false}, {"content_hash", int64(0), false}, {"shingles", int64(0), false}, {"sketch", []byte(nil), true}}
	more := ""
	for _, index := range indexes {
		columns = append(columns, column{index, int64(0), true})
		more += ", d." + pgx.Identifier{index}.Sanitize()
	}
	sketches, err = writeParquet(ctx, tx, filepath.Join(folder, "sketches.parquet"),
		fmt.Sprintf("select %s, s.profile, d.content_hash, d.shingles, d.sketch%s from %s d join alike.settings s on s.id = d.profile",
			key, more, pgx.Identifier{schema, side}.Sanitize()),
		columns)
	return features, sketches, err
}

// keyExpression is the key of the alias d, and its type.
func keyExpression(keys []string, types []uint32) (expression string, example any) {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = "d." + pgx.Identifier{k}.Sanitize()
	}
	switch {
	case len(keys) > 1:
		return "jsonb_build_array(" + strings.Join(quoted, ", ") + ")::text", ""
	case slices.Contains([]uint32{20, 21, 23}, types[0]): // int8, int2, int4
		return quoted[0] + "::bigint", int64(0)
	}
	return quoted[0] + "::text", ""
}

// writeParquet writes the rows of a query.
func writeParquet(ctx context.Context, tx pgx.Tx, path, sql string, columns []column) (n int64, err error) {
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
	buffered := bufio.NewWriterSize(file, 1<<20)
	writer := newParquet(buffered, columns)
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return n, err
		}
		if err := writer.row(values); err != nil {
			return n, err
		}
		n++
	}
	if err := errors.Join(rows.Err(), writer.close(), buffered.Flush()); err != nil {
		return n, err
	}
	if err := errors.Join(file.Sync(), file.Chmod(0o644), file.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(file.Name(), path)
}

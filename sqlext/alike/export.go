package main

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch/report"
)

func (c *command) exportCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "export DATABASE TABLE --parquet FOLDER",
		Short: "Write features and sketches for DuckDB, Spark and the like",
		Long: `export writes two Parquet files from one snapshot: features.parquet with a row for each feature (key, slot, feature), which
the queries in queries/portable read, and sketches.parquet with a row a document (key, profile, content_hash, shingles, sketch,
and the similarity indexes that the table has, such as si_43b_40). A key is a number when it is one column of whole numbers, and
text otherwise. Each file appears when it is complete.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if folder == "" {
				return usagef("--parquet FOLDER is required")
			}
			db, err := openDatabase(args[0])
			if err != nil {
				return err
			}
			defer db.Close()
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return err
			}
			tx, err := db.BeginTx(cmd.Context(), nil) // one moment
			if err != nil {
				return err
			}
			defer tx.Rollback()
			features, sketches, err := export(tx, args[1], folder)
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
	cmd.ValidArgsFunction = complete("export DATABASE TABLE")
	cmd.Flags().StringVar(&folder, "parquet", "", "the `folder` for the files")
	return cmd
}

// export writes both files.
func export(tx *sql.Tx, table, folder string) (features, sketches int64, err error) {
	var name string
	if err := tx.QueryRow("select name from alike_status() where name = ?1 or \"table\" = ?1 order by name <> ?1 limit 1", table).Scan(&name); err != nil {
		if err == sql.ErrNoRows {
			err = fmt.Errorf("nothing called %q is attached", table)
		}
		return 0, 0, err
	}
	side := quote(name + "_alike")
	columns, err := textsOf(tx, "select name from pragma_table_info(?) order by cid", name+"_alike")
	if err != nil {
		return 0, 0, err
	}
	n := slices.Index(columns, "profile")
	if n < 1 {
		return 0, 0, fmt.Errorf("%s_alike is not a table of sketches", name)
	}
	key, numbers := "cast(d."+quote(columns[0])+" as text)", false
	if n > 1 {
		parts := make([]string, n)
		for i, column := range columns[:n] {
			parts[i] = fmt.Sprintf(`case typeof(d.%[1]s) when 'blob' then '\x' || lower(hex(d.%[1]s)) else d.%[1]s end`, quote(column))
		}
		key = "json_array(" + strings.Join(parts, ", ") + ")"
	} else if err := tx.QueryRow("select count(*) = 0 from " + side + " d where typeof(d." + quote(columns[0]) + ") <> 'integer'").Scan(&numbers); err != nil {
		return 0, 0, err
	}
	keyNode := parquet.Node(parquet.String())
	if numbers {
		key, keyNode = "d."+quote(columns[0]), parquet.Int(64)
	}
	features, err = exportParquet(tx, filepath.Join(folder, "features.parquet"), "select "+key+", d.slot, d.feature from "+quote(name+"_alike_feature")+" d",
		[]string{"key", "slot", "feature"}, []parquet.Node{keyNode, parquet.Int(32), parquet.Int(64)})
	if err != nil {
		return 0, 0, err
	}
	names := []string{"key", "profile", "content_hash", "shingles", "sketch"}
	nodes := []parquet.Node{keyNode, parquet.String(), parquet.Int(64), parquet.Int(64), parquet.Optional(parquet.Leaf(parquet.ByteArrayType))}
	more := ""
	for _, column := range columns {
		if strings.HasPrefix(column, "si_") && slices.Index(columns, column) > n {
			names, nodes, more = append(names, column), append(nodes, parquet.Optional(parquet.Int(64))), more+", d."+quote(column)
		}
	}
	sketches, err = exportParquet(tx, filepath.Join(folder, "sketches.parquet"),
		"select "+key+", p.profile, d.content_hash, d.shingles, d.sketch"+more+" from "+side+" d join alike_settings p on p.id = d.profile", names, nodes)
	return features, sketches, err
}

// textsOf returns the only column of a query.
func textsOf(tx *sql.Tx, query string, args ...any) (list []string, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// exportParquet writes the rows of a query. A file's columns are in the order of their names, which is not the query's.
func exportParquet(tx *sql.Tx, path, query string, names []string, nodes []parquet.Node) (n int64, err error) {
	group := parquet.Group{}
	for i, name := range names {
		group[name] = nodes[i]
	}
	schema := parquet.NewSchema("alike", group)
	place := make([]int, len(names))
	for i, name := range names {
		leaf, _ := schema.Lookup(name)
		place[i] = leaf.ColumnIndex
	}
	rows, err := tx.Query(query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	err = report.WriteFile(path, func(to io.Writer) error {
		w := parquet.NewGenericWriter[any](to, schema, parquet.Compression(&parquet.Zstd))
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range into {
			into[i] = &values[i]
		}
		row := make(parquet.Row, len(names))
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			for i, v := range values {
				level := 0
				if nodes[i].Optional() && v != nil {
					level = 1
				}
				if x, ok := v.(int64); ok && nodes[i].Type().Kind() == parquet.Int32 {
					v = int32(x)
				}
				row[place[i]] = parquet.ValueOf(v).Level(0, level, place[i])
			}
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				return err
			}
			n++
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return w.Close()
	})
	return n, err
}

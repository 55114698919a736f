package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch/report"
)

// databaseFormat reads the rows of a table, and writes those that are kept into the same table of another database.
func databaseFormat(in, table, column string) (*format, error) {
	db, err := openDatabase(in)
	if err != nil {
		return nil, err
	}
	keep := false // it tells whether the database changes
	defer func() {
		if !keep {
			db.Close()
		}
	}()
	if table == "" {
		return nil, usagef("--table is missing: the table of the documents")
	}
	var create string
	err = db.QueryRow("select sql from sqlite_master where type = 'table' and name = ? collate nocase", table).Scan(&create)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("no table is called %q", table)
	}
	if err != nil {
		return nil, err
	}
	rows, err := db.Query("select name from pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string // without generated columns
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	i, err := chooseColumn(names, column)
	if err != nil {
		return nil, err
	}
	rows.Close()
	id := ""
	for _, name := range []string{"rowid", "_rowid_", "oid"} { // a column of such a name hides the number of the row
		if !slices.ContainsFunc(names, func(column string) bool { return strings.EqualFold(column, name) }) {
			id = name
		}
	}
	if _, err := db.Exec("select " + id + " from " + quote(table) + " limit 0"); id == "" || err != nil {
		return nil, fmt.Errorf("the table %s has no rowid; give it an integer primary key", table)
	}
	var version int64
	if err := db.QueryRow("pragma data_version").Scan(&version); err != nil {
		return nil, err
	}
	keep = true
	query := fmt.Sprintf("select cast(%s as blob) from %s order by %s", quote(names[i]), quote(table), id)
	unchanged := func() error {
		var now int64
		if err := db.QueryRow("pragma data_version").Scan(&now); err != nil {
			return err
		}
		if now != version {
			return fmt.Errorf("%s changed while it was read; run the command again", in)
		}
		return nil
	}
	return &format{
		open: func() (source, error) { return openRows(in, query) },
		copy: func(ctx context.Context, out string, kept func(i int) bool) error {
			if _, err := os.Stat(out); err == nil {
				return fmt.Errorf("%s exists; give the name of a new database", out)
			}
			return report.ReplaceFile(out, func(hidden string) error {
				if err := copyTable(ctx, in, hidden, table, id, create, names, kept); err != nil {
					return err
				}
				return unchanged()
			})
		},
		name:      numbered,
		unchanged: unchanged,
	}, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

type rowSource struct {
	db   *sql.DB
	rows *sql.Rows
}

func openRows(in, query string) (source, error) {
	db, err := openDatabase(in)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(query)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &rowSource{db, rows}, nil
}

func (r *rowSource) Next() (record, error) {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return record{}, err
		}
		return record{}, io.EOF
	}
	rec := record{document: []byte{}}
	var b sql.RawBytes
	err := r.rows.Scan(&b)
	rec.document = append(rec.document, b...)
	return rec, err
}

func (r *rowSource) Offset() int64 { return 0 }

func (r *rowSource) Close() error { return errors.Join(r.rows.Close(), r.db.Close()) }

func copyTable(ctx context.Context, in, out, table, id, create string, names []string, kept func(i int) bool) error {
	target, err := sql.Open("sqlite3", "file:"+escapeURI(out)+"?mode=rwc")
	if err != nil {
		return err
	}
	defer target.Close()
	target.SetMaxOpenConns(1)
	if _, err := target.Exec(create); err != nil {
		return err
	}
	if _, err := target.Exec("attach ? as source", "file:"+escapeURI(in)+"?mode=ro"); err != nil {
		return err
	}
	if _, err := target.Exec("create temp table alike_kept (id integer primary key)"); err != nil {
		return err
	}
	tx, err := target.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	rows, err := tx.Query("select " + id + " from source." + quote(table) + " order by " + id)
	if err != nil {
		return err
	}
	defer rows.Close()
	insert, err := tx.Prepare("insert into temp.alike_kept values (?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := 0; rows.Next(); i++ {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if kept(i) {
			if _, err := insert.Exec(id); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	columns := strings.Join(quoted, ", ")
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("insert into main.%[1]s (%[2]s) select %[2]s from source.%[1]s s where s.%[3]s in (select id from temp.alike_kept) order by s.%[3]s", quote(table), columns, id)); err != nil {
		return err
	}
	return tx.Commit()
}

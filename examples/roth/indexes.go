package main

import (
	"database/sql"
	"errors"

	_ "github.com/mattn/go-sqlite3" // the driver

	"github.com/alike-sql/alike/sqlext"
)

// allIndexes computes the similarity index of every text under every variant:
// a row for each variant. The texts become a table, and the numbers come from
// the SQL function.
func allIndexes(texts [][]byte, variants []string) (rows [][]index, err error) {
	if err := sqlext.Auto(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // another connection would have a memory of its own
	if _, err := db.Exec("create table document (id integer primary key, name text, body blob)"); err != nil {
		return nil, err
	}
	for i, d := range table1 {
		if _, err := db.Exec("insert into document values (?, ?, ?)", i, d.name, texts[i]); err != nil {
			return nil, err
		}
	}
	query, err := db.Prepare("select alike_si(body, ?) from document order by id")
	if err != nil {
		return nil, err
	}
	defer query.Close()
	for _, variant := range variants {
		row, err := readIndexes(query, variant)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func readIndexes(query *sql.Stmt, variant string) ([]index, error) {
	found, err := query.Query(variant)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var row []index
	for found.Next() {
		var si sql.NullInt64
		if err := found.Scan(&si); err != nil {
			return nil, err
		}
		row = append(row, index{si.Int64, si.Valid})
	}
	return row, found.Err()
}

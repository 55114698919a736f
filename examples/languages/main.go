// Languages is the Go member of this folder's family of programs: the
// extension comes by import, and nothing is loaded.
//
//	go run ./examples/languages FILE
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"

	"github.com/alike-sql/alike/sqlext"
	_ "github.com/mattn/go-sqlite3"
)

const text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays"

func main() {
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	if err := sqlext.Auto(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()

	if _, err := db.Exec("insert into notes (author, body) values ('go', ?)", text); err != nil {
		return err
	}
	rows, err := db.Query("select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)", text)
	if err != nil {
		return err
	}
	defer rows.Close()
	var line string
	for rows.Next() {
		if err := rows.Scan(&line); err != nil {
			return err
		}
		fmt.Println(line)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := db.QueryRow("select hex(alike_sketch(?, 'words bits=8'))", text).Scan(&line); err != nil {
		return err
	}
	fmt.Println(line)
	return nil
}

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alike-sql/alike/examples/documentum/sqlite"
	"github.com/alike-sql/alike/examples/internal/steps"
	"github.com/alike-sql/alike/sketch/simindex"
)

// his is the query of section 6.2, but for the join that DQL makes by itself.
const his = `select object_name from dm_document natural join si_aspect
where si_aspect.value > ? and si_aspect.value < ? order by r_object_id`

// postscript is section 6.2: the collection imported into a repository, the
// aspect applied to each document, and his query. expected is the experiment's
// result for the index that the aspect has.
func postscript(out io.Writer, file string, texts [][]byte, expected result) (err error) {
	db, err := steps.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := importCollection(db, texts); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nHis postscript (6.2): the collection in a repository, the aspect with %s applied to each document\n\n%s\n\n",
		expected.variant, strings.ReplaceAll(his, "?", "[bound].0"))
	agree := 0
	for i, d := range table1 {
		found, err := askHis(db, d.name)
		if err != nil {
			return err
		}
		for j, other := range table1 {
			if slices.Contains(found, other.name) == similar(expected.indexes[i], expected.indexes[j]) {
				agree++
			}
		}
		if !slices.Contains([]string{"Proverbs.txt", "usConstitution.txt", "usDOI.txt"}, d.name) {
			continue
		}
		alike, err := list(db, `select o.object_name from dm_document d join alike_rows('si_aspect', d.r_object_id, 0.5) r
			join dm_document o on o.r_object_id = r.key where d.object_name = ? order by o.r_object_id`, d.name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n    his query: %s\n    sketches:  %s\n", d.name, others(found, d.name), others(alike, d.name))
	}
	_, err = fmt.Fprintf(out, "Of the 225 answers that his query gives in the repository, %d are those of the experiment.\n", agree)
	return err
}

// askHis asks his query of a document: its bounds first, as he did.
func askHis(db *sql.DB, name string) ([]string, error) {
	var value sql.NullInt64
	err := db.QueryRow("select si_aspect.value from dm_document natural join si_aspect where object_name = ?", name).Scan(&value)
	if err != nil || !value.Valid {
		return nil, err
	}
	return list(db, his, simindex.Low(value.Int64, simindex.Fraction), simindex.High(value.Int64, simindex.Fraction))
}

// list gives the names that a query returns.
func list(db *sql.DB, query string, args ...any) (names []string, err error) {
	rows, err := steps.Read(db, query, args...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows[1:] {
		names = append(names, row[0])
	}
	return names, nil
}

// others leaves out the document that was asked about.
func others(names []string, name string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func importCollection(db *sql.DB, texts [][]byte) error {
	for _, name := range []string{"repository.sql", "versions.sql", "aspect.sql"} {
		if err := steps.Do(db, sqlite.Files, name); err != nil {
			return err
		}
	}
	if _, err := db.Exec("insert into create_folder (r_folder_path) values ('/Experiment')"); err != nil {
		return err
	}
	for i, d := range table1 {
		if _, err := db.Exec(`insert into import_document (r_object_type, object_name, folder_path, owner_name, content)
			values ('dm_document', ?, '/Experiment', 'msroth', ?)`, d.name, texts[i]); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	_, err := db.Exec("insert into attach_aspect select r_object_id, 'si_aspect' from dm_document")
	return err
}

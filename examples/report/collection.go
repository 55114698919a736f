package main

import (
	"database/sql"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/examples/quickstart/memos"
	"github.com/alike-sql/alike/sqlext"
	_ "github.com/mattn/go-sqlite3"
)

// A document and the number of the document it was made from, -1 for none.
type document struct {
	text string
	of   int
}

// collection is what an office has filed: memos, drafts of memos that are
// nearer to each other or further apart, copies, and a form letter.
func collection(originals int) []document {
	r := rand.New(rand.NewPCG(1997, 2011))
	var list []document
	for range originals {
		list = append(list, document{strings.Join(memos.New(r), " "), -1})
	}
	for range originals / 8 {
		of := r.IntN(originals)
		for copies := 1 + r.IntN(3)*r.IntN(3); copies > 0; copies-- {
			text := list[of].text
			switch r.IntN(8) {
			case 0: // a copy
			case 1:
				text = strings.ToUpper(strings.NewReplacer(".", "", ",", "").Replace(text))
			case 2:
				text += " " + memos.Sentence(r)
			default:
				text = redrafted(r, text, 1+r.IntN(12)*r.IntN(4))
			}
			list = append(list, document{text, of})
		}
	}
	form := len(list)
	for i := range 24 {
		of := form
		if i == 0 {
			of = -1
		}
		list = append(list, document{"Dear " + names[i%len(names)] + ", the mooring permit of your vessel, number " + strconv.Itoa(1000+r.IntN(9000)) +
			", ends with the month. Please renew it at the harbour office between nine and twelve, and bring the certificate of the last inspection. " +
			"Vessels without a permit are moved to the outer basin at the cost of their owners. The office is closed on Thursdays.", of})
	}
	return list
}

var names = []string{"Ms. Haugen", "Mr. Okafor", "Captain Ruiz", "Mr. Lindqvist", "Ms. Amari", "Ms. de Boer", "Mr. Sato", "Captain Byrne"}

// redrafted replaces a number of words by other words of the office.
func redrafted(r *rand.Rand, text string, n int) string {
	words, others := strings.Fields(text), strings.Fields(strings.Join(memos.New(r), " "))
	for range n {
		words[r.IntN(len(words))] = others[r.IntN(len(others))]
	}
	return strings.Join(words, " ")
}

// fill makes the table memos in a new SQLite file, as the office would have it:
// most memos were there when the aspect came, the others were checked in since,
// and somebody has judged the first pairs.
func fill(file string, list []document) error {
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := sqlext.Auto(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`create table memos (id integer primary key, body text)`); err != nil {
		return err
	}
	insert := func(part []document) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, d := range part {
			if _, err := tx.Exec(`insert into memos (body) values (?)`, d.text); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	before := len(list) * 7 / 8
	if err := insert(list[:before]); err != nil {
		return err
	}
	var sketched int
	if err := db.QueryRow(`select alike_attach('memos', 'body', '{"profile": "prose", "policy": "link", "si": ["length", "forest/0", "43B/40"]}')`).Scan(&sketched); err != nil {
		return err
	}
	if err := insert(list[before:]); err != nil {
		return err
	}
	return judge(db, list)
}

// judge gives the verdicts that the memos' history knows: the first twenty
// pairs are what they are, and one is a slip.
func judge(db *sql.DB, list []document) error {
	rows, err := db.Query(`select key, other from alike_pairs('memos', 0.5) order by key, other limit 20`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var pairs [][2]int
	for rows.Next() {
		var p [2]int
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			return err
		}
		pairs = append(pairs, p)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i, p := range pairs {
		verdict := "distinct"
		if a, b := list[p[0]-1], list[p[1]-1]; a.of == p[1]-1 || b.of == p[0]-1 || a.of == b.of && a.of >= 0 {
			verdict = "duplicate"
		}
		if i == 7 {
			verdict = "distinct"
		}
		var said string
		if err := db.QueryRow(`select alike_mark('memos', ?, ?, ?)`, p[0], p[1], verdict).Scan(&said); err != nil {
			return err
		}
	}
	return nil
}

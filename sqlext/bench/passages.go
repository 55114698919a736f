package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// bookSize is what a row has in which passages are looked for, a page of 400 words.
const bookSize = 2600

// family is an original and its edits, by their rows.
type family []int

// passages fills a table of which each tenth row is an edit of an earlier one, and asks which
// rows contain passages of them. The truth is the exact containment of a passage in the
// rows of the family that it is from; an answer is true when its exact containment reaches
// what the question asks for.
func passages(rows, cache int) error {
	db, done, err := newDatabase(cache)
	if err != nil {
		return err
	}
	defer done()
	if err := db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
		return err
	}
	t := newText()
	families, err := db.loadFamilies(t, rows)
	if err != nil {
		return err
	}
	pages, err := db.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	filled, err := timed(func() error {
		_, err := db.number(`SELECT alike_attach('d', 'body', '{"profile": "prose", "contains": true}')`)
		return err
	})
	if err != nil {
		return err
	}
	after, err := db.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	size, err := db.number("PRAGMA page_size")
	if err != nil {
		return err
	}
	fmt.Printf("%d rows of %d bytes, attached in %.0f s, %.0f bytes a row; a page cache of %d MB\n", rows, bookSize, filled.Seconds(), (after-pages)*size/float64(rows), cache)
	fmt.Printf("%-8s %10s %10s %10s %10s %10s\n", "words", "recall", "goal", "true", "median", "99 %")
	for i, words := range []int{20, 50, 100, 300} {
		if err := db.askPassages(t, families, words, []string{"0.95", "0.99", "0.99", "1"}[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadFamilies fills the table.
func (db database) loadFamilies(t *text, rows int) ([]family, error) {
	var families []family
	var originals []string // of the latest families
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	s, err := tx.Prepare("INSERT INTO d VALUES (?, ?)")
	if err != nil {
		return nil, err
	}
	for id := 1; id <= rows; id++ {
		var body string
		if n := len(originals); n > 0 && t.random.IntN(10) == 0 {
			i := t.random.IntN(n)
			body = t.edited(originals[i])
			f := &families[len(families)-n+i]
			*f = append(*f, id)
		} else {
			body = t.document(bookSize)
			families = append(families, family{id})
			if originals = append(originals, body); len(originals) > 10000 {
				originals = originals[5000:]
			}
		}
		if _, err := s.Exec(id, body); err != nil {
			return nil, err
		}
	}
	return families, tx.Commit()
}

// askPassages asks for the rows that contain passages of a length, and prints how many of the
// true ones are found, how many answers are true, and how long a question takes.
func (db database) askPassages(t *text, families []family, words int, goal string) error {
	const questions, threshold = 300, 0.8
	exact := func(passage string, row int) (bool, error) {
		n, err := db.number("SELECT alike_containment_exact(?1, body, 'prose') FROM d WHERE id = ?2", passage, row)
		return n >= threshold, err
	}
	var list []time.Duration
	var truth, found, answers, right int
	for range questions {
		f := families[t.random.IntN(len(families))]
		var body string
		if err := db.QueryRow("SELECT body FROM d WHERE id = ?", f[t.random.IntN(len(f))]).Scan(&body); err != nil {
			return err
		}
		all := strings.Fields(body)
		at := t.random.IntN(len(all) - words)
		passage := strings.Join(all[at:at+words], " ")
		var got []int
		d, err := timed(func() error {
			rows, err := db.Query("SELECT key FROM alike_containers_like('d', ?, ?)", passage, threshold)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var row int
				if err := rows.Scan(&row); err != nil {
					return err
				}
				got = append(got, row)
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
		list = append(list, d)
		for _, row := range f {
			if there, err := exact(passage, row); err != nil {
				return err
			} else if there {
				truth++
				if slices.Contains(got, row) {
					found++
				}
			}
		}
		for _, row := range got {
			answers++
			if there, err := exact(passage, row); err != nil {
				return err
			} else if there {
				right++
			}
		}
	}
	slices.Sort(list)
	fmt.Printf("%-8d %10.3f %10s %10.3f %7.2f ms %7.2f ms\n", words, float64(found)/float64(truth), goal, float64(right)/float64(max(answers, 1)), micro(list[questions/2])/1000, micro(list[questions*99/100])/1000)
	return nil
}

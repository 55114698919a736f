package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// growth checks rows into a table that begins empty, and prints at each size what the
// last tenth of its rows cost, in both layouts; at last what as many updates cost.
func growth(sizes, layouts []string, transaction, cache, updates int, temporary string) error {
	fmt.Printf("checkins in transactions of %d, rows of %d bytes, words k=12 s=7, WAL, a page cache of %d MB, temporary files: %s\n", transaction, rowSize, cache, temporary)
	fmt.Printf("%-8s %10s %11s %12s %9s %12s %12s %12s\n", "layout", "rows", "checkins/s", "KB written", "bytes", "99.9 %", "longest", "question")
	for _, layout := range layouts {
		db, done, err := newDatabase(cache)
		if err != nil {
			return err
		}
		if err = db.exec("PRAGMA temp_store = " + temporary); err == nil {
			err = grow(db, layout, sizes, transaction, updates)
		}
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

func grow(db database, layout string, sizes []string, transaction, updates int) error {
	if err := db.exec("CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
		return err
	}
	if _, err := db.number(`SELECT alike_attach('d', 'body', ?)`, `{"profile": "words w=4 t=84 k=12 s=7", "layout": "`+layout+`"}`); err != nil {
		return err
	}
	t := newText()
	rows := 0
	for _, size := range sizes {
		target, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("-growth %q: %w", size, err)
		}
		var begun time.Duration
		var from, wrote int
		var waits []time.Duration
		for rows < target {
			if waits == nil && rows >= target-max(target/10, transaction) {
				if wrote, err = written(); err != nil {
					return err
				}
				begun, from, waits = now(), rows, []time.Duration{}
			}
			list := make([]string, min(transaction, target-rows))
			for i := range list {
				list[i] = t.document(rowSize)
			}
			wait, err := timed(func() error { return db.checkIn(list) })
			if err != nil {
				return err
			}
			if waits != nil {
				waits = append(waits, wait)
			}
			rows += len(list)
		}
		took := now() - begun
		after, err := written()
		if err != nil {
			return err
		}
		slices.Sort(waits)
		asked, err := questions(db, t, rows)
		if err != nil {
			return err
		}
		bytes, err := db.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
		if err != nil {
			return err
		}
		n := float64(rows - from)
		fmt.Printf("%-8s %10d %11.0f %12.1f %9.0f %9.1f ms %9.1f ms %9.3f ms\n", layout, rows, n/took.Seconds(), float64(after-wrote)/n/1000, bytes/float64(rows),
			micro(waits[len(waits)*999/1000])/1000, micro(waits[len(waits)-1])/1000, micro(asked)/1000)
	}
	if updates == 0 {
		return nil
	}
	wrote, err := written()
	if err != nil {
		return err
	}
	begun := now()
	for from := 0; from < updates; from += transaction {
		if err := db.change(t, from, min(transaction, updates-from), rows); err != nil {
			return err
		}
	}
	took := now() - begun
	after, err := written()
	if err != nil {
		return err
	}
	bytes, err := db.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	if err != nil {
		return err
	}
	fmt.Printf("%-8s %10s %11.0f %12.1f %9.0f  after %d updates, a row\n", layout, "", float64(updates)/took.Seconds(), float64(after-wrote)/float64(updates)/1000, bytes/float64(rows), updates)
	return nil
}

// change gives new documents to rows from one on, in a transaction; after the last row comes the first.
func (db database) change(t *text, from, n, rows int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s, err := tx.Prepare("UPDATE d SET body = ? WHERE id = ?")
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := s.Exec(t.document(rowSize), 1+(from+i)*7919%rows); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// checkIn adds rows in one transaction. A single row is its own transaction, without a BEGIN.
func (db database) checkIn(list []string) error {
	if len(list) == 1 {
		return db.exec("INSERT INTO d(body) VALUES (?)", list[0])
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s, err := tx.Prepare("INSERT INTO d(body) VALUES (?)")
	if err != nil {
		return err
	}
	for _, body := range list {
		if _, err := s.Exec(body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// questions is the median time of a question about a row.
func questions(db database, t *text, rows int) (time.Duration, error) {
	s, err := db.Prepare("SELECT count(low) FROM alike_rows('d', ?)")
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return median(501, func() error {
		var n int
		return s.QueryRow(1 + t.random.IntN(rows)).Scan(&n)
	})
}

// written is how many bytes this program has given the system to write: log, database
// and temporary files.
func written() (n int, err error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "wchar: "); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("/proc/self/io has no wchar")
}

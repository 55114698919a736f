package sqlext_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Beside a program that writes all the time, a change waits for its turn as long
// as busy_timeout allows.
func TestChangesWaitForTheirTurn(t *testing.T) {
	for _, journal := range []string{"WAL", "DELETE"} {
		t.Run(journal, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "busy.db")
			db := open(t, "file:"+name+"?_busy_timeout=20000&_journal_mode="+journal)
			db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
			db.exec(`CREATE TABLE other(x)`)
			db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
			stop, done := make(chan bool), sync.WaitGroup{}
			for range 2 {
				writer := open(t, "file:"+name+"?_busy_timeout=20000")
				done.Add(1)
				go func() {
					defer done.Done()
					for {
						select {
						case <-stop:
							return
						default:
							writer.Exec(`INSERT INTO other VALUES (1)`)
							// SQLite has no queue of writers: without a pause they starve everybody.
							time.Sleep(2 * time.Millisecond)
						}
					}
				}()
			}
			for i := range 24 {
				policy := []string{"link", "warn", "ignore", "reject"}[i%4]
				if _, err := db.try(fmt.Sprintf(`SELECT alike_attach('d', 'body', '{"policy": "%s"}')`, policy)); err != nil {
					t.Errorf("attach %d: %v", i, err)
				}
			}
			for _, query := range []string{`SELECT alike_mark('d', 1, 2, 'distinct')`, `SELECT alike_refresh('d')`, `SELECT alike_detach('d', '{"drop": true}')`} {
				if _, err := db.try(query); err != nil {
					t.Errorf("%s: %v", query, err)
				}
			}
			close(stop)
			done.Wait()
		})
	}
}

// Two that attach at the same time leave one whole attachment.
func TestAttachTwiceAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "twice.db")
	db := open(t, "file:"+name+"?_busy_timeout=20000&_journal_mode=WAL")
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`INSERT INTO d(body) VALUES (?), (?)`, fox, fox)
	for range 10 {
		var done sync.WaitGroup
		for _, policy := range []string{"link", "warn", "reject"} {
			done.Add(1)
			other := open(t, "file:"+name+"?_busy_timeout=20000")
			go func() {
				defer done.Done()
				var n sql.NullInt64
				if err := other.QueryRow(fmt.Sprintf(`SELECT alike_attach('d', 'body', '{"policy": "%s"}')`, policy)).Scan(&n); err != nil {
					t.Error(err)
				}
				other.Close()
			}()
		}
		done.Wait()
		db.expect("1|2|0|", `SELECT count(*), sum(sketched), sum(pending), max(note) FROM alike_status()`)
		db.check("d", "attached three times at once")
		db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
		db.expect("d", `SELECT group_concat(name) FROM sqlite_master`)
	}
}

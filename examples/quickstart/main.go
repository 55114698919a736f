// Quickstart shows the main job on an embedded SQLite database: give a table
// the similarity aspect, check a document in, and see which rows it resembles.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alike-sql/alike/examples/quickstart/memos"
	"github.com/alike-sql/alike/sqlext"
	_ "github.com/mattn/go-sqlite3"
)

const (
	written  = 2000
	original = 1234 // the memo that the edits are made of
)

func main() {
	log.SetFlags(0)
	file := flag.String("db", ":memory:", "where the database goes; an existing file is refused")
	flag.Parse()
	if err := run(*file); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

func run(file string) error {
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("%s exists already; name another file", file)
	}
	if err := sqlext.Auto(); err != nil { // every connection from here on has the alike_ functions
		return err
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a database in memory belongs to its connection

	// A table as anybody has it: the memos, and among them edits of one.
	if _, err := db.Exec(`create table memos (id integer primary key, body text)`); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1997, 2000))
	done := map[int64]string{original: "the original"}
	var source []string
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert := func(q interface {
		Exec(string, ...any) (sql.Result, error)
	}, body string) (int64, error) {
		result, err := q.Exec(`insert into memos (body) values (?)`, body)
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	for i := 1; i <= written; i++ {
		m := memos.New(r)
		if i == original {
			source = m
		}
		if _, err := insert(tx, strings.Join(m, " ")); err != nil {
			return err
		}
	}
	for _, e := range memos.Edits {
		id, err := insert(tx, e.Do(r, source))
		if err != nil {
			return err
		}
		done[id] = e.Name
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Printf("A table of %d memos; %d of them are edits of memo %d:\n\n    %s\n\n",
		written+len(memos.Edits), len(memos.Edits), original, wrap(strings.Join(source[:3], " ")+" …"))

	// One statement gives it the aspect. The table itself is not altered.
	start := time.Now()
	const attach = `select alike_attach('memos', 'body', '{"policy": "link"}')`
	var rows int
	if err := db.QueryRow(attach).Scan(&rows); err != nil {
		return err
	}
	fmt.Printf("%s;\n-- %d rows sketched in %d ms\n\n", attach, rows, time.Since(start).Milliseconds())

	// A checkin is an ordinary INSERT; what it resembles is recorded with it.
	words := strings.Fields(strings.Join(source, " "))
	words[3], words[len(words)-4] = "perhaps", "never"
	start = time.Now()
	id, err := insert(db, strings.Join(words, " "))
	if err != nil {
		return err
	}
	took := time.Since(start)
	done[id] = "this checkin: two words replaced"
	var matches int
	if err := db.QueryRow(`select count(*) from memos_alike_match where id = ?`, id).Scan(&matches); err != nil {
		return err
	}
	fmt.Printf("insert into memos (body) values ('… two words replaced …');\n-- memo %d checked in and %d matches recorded in %d µs\n\n", id, matches, took.Microseconds())

	// The question: which rows is it alike to, how much, and how sure is that?
	const question = `select key, shared, resemblance, low, high from alike_rows('memos', ?)`
	fmt.Printf("%s;\n\n", strings.Replace(question, "?", fmt.Sprint(id), 1))
	if err := ask(db, question, id, done); err != nil {
		return err
	}

	// What the answer leaves out, rightly: edits that made another text of it.
	left, err := db.Query(`select b.id, alike_resemblance_exact(a.body, b.body) from memos a, memos b
		where a.id = ?1 and b.id between ?2 + 1 and ?1 - 1 and b.id not in (select key from alike_rows('memos', ?1))`, id, written)
	if err != nil {
		return err
	}
	defer left.Close()
	fmt.Println()
	for left.Next() {
		var key int64
		var exact float64
		if err := left.Scan(&key, &exact); err != nil {
			return err
		}
		fmt.Printf("-- not alike: memo %d, %s, exact %.2f\n", key, done[key], exact)
	}
	if err := left.Err(); err != nil {
		return err
	}

	// The whole table at once.
	const clusters = `select cluster, size, group_concat(key, ' ') from alike_clusters('memos') group by cluster`
	fmt.Printf("\n%s;\n\n", clusters)
	found, err := db.Query(clusters)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var cluster, size int64
		var members string
		if err := found.Scan(&cluster, &size, &members); err != nil {
			return err
		}
		fmt.Printf("cluster %d of %d memos: %s\n", cluster, size, members)
	}
	if err := found.Err(); err != nil {
		return err
	}
	fmt.Print(`
resemblance is the share of four-word sequences in common, estimated from sketches
of 106 bytes; low and high are its bounds at 95 % confidence, exact is the true one.
`)
	return nil
}

// ask prints the answer with, for comparison, the exact resemblance and what
// was done to the text.
func ask(db *sql.DB, question string, id int64, done map[int64]string) error {
	found, err := db.Query(`select found.*, alike_resemblance_exact(a.body, b.body)
		from (`+question+`) as found join memos a on a.id = found.key join memos b on b.id = ?`, id, id)
	if err != nil {
		return err
	}
	defer found.Close()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "key\tshared\tresemblance\tlow\thigh\texact\t")
	for found.Next() {
		var key int64
		var shared int
		var resemblance, low, high, exact float64
		if err := found.Scan(&key, &shared, &resemblance, &low, &high, &exact); err != nil {
			return err
		}
		what := done[key]
		if what == "" {
			what = "another memo"
		}
		fmt.Fprintf(w, "%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t  %s\n", key, shared, resemblance, low, high, exact, what)
	}
	if err := found.Err(); err != nil {
		return err
	}
	return w.Flush()
}

// wrap breaks a text into lines of at most 90 bytes, indented as the first is.
func wrap(text string) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(text) {
		if n > 0 && n+len(word) >= 90 {
			b.WriteString("\n    ")
			n = 0
		} else if n > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word)
		n += len(word) + 1
	}
	return b.String()
}

// Quickstart gives a table of a SQLite database the similarity aspect, checks a
// document in, and asks which rows it resembles.
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
	original = 1234 // the key of the memo that the edits are made from
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
	if err := sqlext.Auto(); err != nil { // connections opened from here on have the alike_ functions
		return err
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a database in memory belongs to its connection
	o := &office{db: db, random: rand.New(rand.NewPCG(1997, 2000)), done: map[int64]string{original: "the original"}}
	if err := o.fill(); err != nil {
		return err
	}
	if err := o.attach(); err != nil {
		return err
	}
	id, err := o.checkin()
	if err != nil {
		return err
	}
	for _, ask := range []func() error{
		func() error { return o.alike(id) },
		func() error { return o.leftOut(id) },
		o.clusters,
	} {
		if err := ask(); err != nil {
			return err
		}
	}
	fmt.Print(`
resemblance is the share of runs of five characters in common, as the preset paragraphs
has it, estimated from sketches of 106 bytes; low and high are its bounds at 95 %
confidence, exact is the true one.
`)
	return nil
}

// An office is a database of memos.
type office struct {
	db     *sql.DB
	random *rand.Rand
	source []string         // the sentences of the original
	done   map[int64]string // what was done to the original, by the key of the result
}

func insert(q interface {
	Exec(string, ...any) (sql.Result, error)
}, body string) (int64, error) {
	result, err := q.Exec(`insert into memos (body) values (?)`, body)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// fill makes an ordinary table of memos. Some of them are edits of the original.
func (o *office) fill() error {
	if _, err := o.db.Exec(`create table memos (id integer primary key, body text)`); err != nil {
		return err
	}
	tx, err := o.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := 1; i <= written; i++ {
		m := memos.New(o.random)
		if i == original {
			o.source = m
		}
		if _, err := insert(tx, strings.Join(m, " ")); err != nil {
			return err
		}
	}
	for _, e := range memos.Edits {
		id, err := insert(tx, e.Do(o.random, o.source))
		if err != nil {
			return err
		}
		o.done[id] = e.Name
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = fmt.Printf("A table of %d memos; %d of them are edits of memo %d:\n\n    %s\n\n",
		written+len(memos.Edits), len(memos.Edits), original, wrap(strings.Join(o.source[:3], " ")+" …"))
	return err
}

// attach gives the table the aspect. The table itself does not change.
func (o *office) attach() error {
	start := time.Now()
	const attach = `select alike_attach('memos', 'body', '{"policy": "link", "at_least": 0.7}')`
	var rows int
	if err := o.db.QueryRow(attach).Scan(&rows); err != nil {
		return err
	}
	_, err := fmt.Printf("%s;\n-- %d rows sketched in %d ms\n\n", attach, rows, time.Since(start).Milliseconds())
	return err
}

// checkin is an ordinary INSERT, which also records the rows that the new memo
// resembles.
func (o *office) checkin() (id int64, err error) {
	words := strings.Fields(strings.Join(o.source, " "))
	words[3], words[len(words)-4] = "perhaps", "never"
	start := time.Now()
	if id, err = insert(o.db, strings.Join(words, " ")); err != nil {
		return 0, err
	}
	took := time.Since(start)
	o.done[id] = "this checkin: two words replaced"
	var matches int
	if err := o.db.QueryRow(`select count(*) from memos_alike_match where id = ?`, id).Scan(&matches); err != nil {
		return 0, err
	}
	_, err = fmt.Printf("insert into memos (body) values ('… two words replaced …');\n-- memo %d checked in and %d matches recorded in %d µs\n\n", id, matches, took.Microseconds())
	return id, err
}

// alike asks which rows resemble a row, with the estimate and its bounds.
func (o *office) alike(id int64) error {
	const question = `select key, shared, resemblance, low, high from alike_rows('memos', ?)`
	fmt.Printf("%s;\n\n", strings.Replace(question, "?", fmt.Sprint(id), 1))
	return ask(o.db, question, id, o.done)
}

// leftOut shows the edits that are not among the answers, because they made
// another text.
func (o *office) leftOut(id int64) error {
	left, err := o.db.Query(`select b.id, alike_resemblance_exact(a.body, b.body, 'paragraphs') from memos a, memos b
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
		fmt.Printf("-- not alike: memo %d, %s, exact %.2f\n", key, o.done[key], exact)
	}
	return left.Err()
}

// clusters asks for the clusters of the whole table.
func (o *office) clusters() error {
	const clusters = `select cluster, size, group_concat(key, ' ') from alike_clusters('memos') group by cluster`
	fmt.Printf("\n%s;\n\n", clusters)
	found, err := o.db.Query(clusters)
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
	return found.Err()
}

// ask prints the answer with, for comparison, the exact resemblance and what
// was done to the text.
func ask(db *sql.DB, question string, id int64, done map[int64]string) error {
	found, err := db.Query(`select found.*, alike_resemblance_exact(a.body, b.body, 'paragraphs')
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

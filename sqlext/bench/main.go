// Command bench measures the SQLite extension and prints a table: what the
// functions cost beside the library and a built-in, and what an attached table
// of many rows costs.
//
//	go run ./sqlext/bench -rows 1000000
//	go run ./sqlext/bench -growth 10000,100000,1000000
//	go run ./sqlext/bench -passages 1000000
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext"
	_ "github.com/mattn/go-sqlite3"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "rows of the attached table")
	cache := flag.Int("cache", 100, "page cache in MB")
	mapped := flag.Int("mmap", 0, "how much of the file is mapped into memory, in MB")
	sizes := flag.String("growth", "", "measure checkins into a table that grows to each of these sizes instead, in both layouts: 10000,100000")
	updates := flag.Int("updates", 0, "change this number of rows after -growth")
	layouts := flag.String("layouts", "columns,parts", "the layouts of -growth")
	temporary := flag.String("temp", "default", "where SQLite keeps temporary files, such as the copies for undoing a statement: default, file or memory (PRAGMA temp_store)")
	transaction := flag.Int("transaction", 1000, "the rows of a transaction of -growth")
	contained := flag.Int("passages", 0, "find passages in this number of rows instead: recall, true answers and time")
	flag.Parse()
	if *sizes != "" || *contained > 0 {
		err := sqlext.Auto()
		if err == nil && *contained > 0 {
			err = passages(*contained, *cache)
		} else if err == nil {
			err = growth(strings.Split(*sizes, ","), strings.Split(*layouts, ","), *transaction, *cache, *updates, *temporary)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := run(*rows, *cache, *mapped); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// database has one connection, so that a pragma holds.
type database struct{ *sql.DB }

func (db database) exec(query string, args ...any) error {
	_, err := db.Exec(query, args...)
	return err
}

func (db database) number(query string, args ...any) (n float64, err error) {
	err = db.QueryRow(query, args...).Scan(&n)
	return n, err
}

// onCPU makes timed count the processor's time of the whole program instead of
// the clock's, which on a busy machine counts others' work too.
var onCPU = flag.Bool("cpu", false, "measure processor time instead of elapsed time")

func timed(work func() error) (time.Duration, error) {
	start := now()
	err := work()
	return now() - start, err
}

var started = time.Now()

func now() time.Duration {
	if !*onCPU {
		return time.Since(started)
	}
	const processTime = 2 // CLOCK_PROCESS_CPUTIME_ID
	var use syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processTime, uintptr(unsafe.Pointer(&use)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(use.Nano())
}

// median runs work several times.
func median(n int, work func() error) (time.Duration, error) {
	var list []time.Duration
	for range n {
		d, err := timed(work)
		if err != nil {
			return 0, err
		}
		list = append(list, d)
	}
	slices.Sort(list)
	return list[n/2], nil
}

// inTurn runs works of about a millisecond one after the other, many times, and returns
// the shortest time of each: what they take of a processor that others leave alone
// meanwhile.
func inTurn(works ...func() error) ([]time.Duration, error) {
	best := make([]time.Duration, len(works))
	for round := range 300 {
		for i, work := range works {
			d, err := timed(work)
			if err != nil {
				return nil, err
			}
			if round == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	return best, nil
}

func line(what, measured, goal string) { fmt.Printf("%-58s %16s   %s\n", what, measured, goal) }

// newDatabase opens a database in a folder of its own, with a page cache of cache MB;
// done deletes it.
func newDatabase(cache int) (db database, done func(), err error) {
	dir, err := os.MkdirTemp("", "alike-bench")
	if err != nil {
		return db, nil, err
	}
	pool, err := sql.Open("sqlite3", filepath.Join(dir, "bench.db"))
	if err != nil {
		os.RemoveAll(dir)
		return db, nil, err
	}
	pool.SetMaxOpenConns(1)
	done = func() {
		pool.Close()
		os.RemoveAll(dir)
	}
	db = database{pool}
	if err := db.exec(fmt.Sprintf("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -%d", cache*1000)); err != nil {
		done()
		return db, nil, err
	}
	return db, done, nil
}

func run(rows, cache, mapped int) error {
	if err := sqlext.Auto(); err != nil {
		return err
	}
	db, done, err := newDatabase(cache)
	if err != nil {
		return err
	}
	defer done()
	if err := db.exec(fmt.Sprintf("PRAGMA mmap_size = %d", mapped*1_000_000)); err != nil {
		return err
	}
	fmt.Printf("journal_mode wal, synchronous normal, a page cache of %d MB, %d MB mapped; the profile text\n", cache, mapped)
	line("measure", "value", "goal")
	for _, part := range []func(database, int) error{functions, attached} {
		if err := part(db, rows); err != nil {
			return err
		}
	}
	return nil
}

// text makes documents of words drawn as in a language: few are frequent.
type text struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
}

func newText() *text {
	t := &text{random: rand.New(rand.NewPCG(1997, 2000))}
	t.zipf = rand.NewZipf(t.random, 1.1, 8, 49999)
	for range 50000 {
		word := make([]byte, 2+t.random.IntN(9))
		for i := range word {
			word[i] = byte('a' + t.random.IntN(26))
		}
		t.words = append(t.words, string(word))
	}
	return t
}

func (t *text) document(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(t.words[t.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()[:size]
}

// edited is a document with one word changed.
func (t *text) edited(document string) string {
	words := strings.Fields(document)
	words[t.random.IntN(len(words))] = t.words[t.random.IntN(len(t.words))]
	return strings.Join(words, " ")
}

func functions(db database, _ int) error {
	const documents, size = 400, 2600
	t := newText()
	if err := db.exec("CREATE TABLE page(body TEXT); BEGIN"); err != nil {
		return err
	}
	var list [][]byte
	for range documents {
		d := t.document(size)
		list = append(list, []byte(d))
		if err := db.exec("INSERT INTO page VALUES (?)", d); err != nil {
			return err
		}
	}
	if err := db.exec("COMMIT"); err != nil {
		return err
	}
	p, err := sketch.ParseProfile("")
	if err != nil {
		return err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return err
	}
	var buffer []byte
	times, err := inTurn(func() error {
		for _, d := range list {
			s.Document(d)
			buffer = s.AppendSketch(buffer[:0])
		}
		return nil
	}, func() error {
		_, err := db.number("SELECT sum(length(alike_sketch(body))) FROM page")
		return err
	})
	if err != nil {
		return err
	}
	library, extension := times[0], times[1]
	line("sketch of 2.6 KB, the library alone", fmt.Sprintf("%.2f us", micro(library)/documents), "")
	line("the same by alike_sketch over a table", fmt.Sprintf("%.2f us", micro(extension)/documents), "")
	line("ratio", fmt.Sprintf("%.2f", float64(extension)/float64(library)), "at most 1.25")

	const calls = 20_000
	if err := db.exec(fmt.Sprintf("CREATE TABLE number AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n", calls)); err != nil {
		return err
	}
	expressions := []string{"i", "abs(i)", "substr(i, 1)", "alike_si_low(i)", "alike_si_low(NULL, i)"}
	var works []func() error
	for _, expression := range expressions {
		works = append(works, func() error {
			_, err := db.number("SELECT count(" + expression + ") FROM number")
			return err
		})
	}
	if times, err = inTurn(works...); err != nil {
		return err
	}
	extra := func(expression string) float64 {
		return (micro(times[slices.Index(expressions, expression)]) - micro(times[0])) * 1000 / calls
	}
	line("a call of abs()", fmt.Sprintf("%.0f ns", extra("abs(i)")), "")
	line("a call of substr()", fmt.Sprintf("%.0f ns", extra("substr(i, 1)")), "")
	line("a call of alike_si_low(NULL, i), which does nothing", fmt.Sprintf("%.0f ns", extra("alike_si_low(NULL, i)")), "")
	line("a call of alike_si_low(i), which crosses into Go", fmt.Sprintf("%.0f ns", extra("alike_si_low(i)")), "")
	line("ratio of the call that does nothing to abs()", fmt.Sprintf("%.2f", extra("alike_si_low(NULL, i)")/extra("abs(i)")), "at most 2")
	return db.exec("DROP TABLE page; DROP TABLE number")
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

const rowSize = 500

// attached measures a table of many rows, of which each tenth is an earlier one
// with a word changed.
func attached(db database, rows int) error {
	t := newText()
	for _, table := range []string{"plain", "documents"} {
		if err := db.exec("CREATE TABLE " + table + "(id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
			return err
		}
	}
	var earlier []string
	next := func() string {
		if len(earlier) > 0 && t.random.IntN(10) == 0 {
			return t.edited(earlier[t.random.IntN(len(earlier))])
		}
		d := t.document(rowSize)
		if len(earlier) < 10000 {
			earlier = append(earlier, d)
		} else if t.random.IntN(100) == 0 {
			earlier[t.random.IntN(len(earlier))] = d
		}
		return d
	}
	load := func(table string, n int) (statement, whole time.Duration, err error) { return db.load(table, n, next) }
	for done := 0; done < rows; done += 50000 {
		if _, _, err := load("documents", min(50000, rows-done)); err != nil {
			return err
		}
	}
	if err := db.exec("INSERT INTO plain SELECT * FROM documents"); err != nil {
		return err
	}
	if err := db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	pages, err := db.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	filled, err := timed(func() error {
		_, err := db.number(`SELECT alike_attach('documents', 'body', '{"policy": "link"}')`)
		return err
	})
	if err != nil {
		return err
	}
	line(fmt.Sprintf("attach with backfill, %d rows of %d bytes", rows, rowSize), fmt.Sprintf("%.0f rows/s", float64(rows)/filled.Seconds()), "at least 60000")
	after, err := db.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	size, err := db.number("PRAGMA page_size")
	if err != nil {
		return err
	}
	line("size of the profile text, a row, with its indexes", fmt.Sprintf("%.0f bytes", (after-pages)*size/float64(rows)), "at most 550")
	line("the same for a million rows", fmt.Sprintf("%.0f MB", (after-pages)*size/float64(rows)), "")

	if err := checkins(db, load); err != nil {
		return err
	}
	if err := ask(db, t, rows); err != nil {
		return err
	}
	line("most memory used", memory(), "below 200 MB")
	return nil
}

// load inserts rows in one transaction, and returns the median of its
// statements and the time of a row with its share of the commit.
func (db database) load(table string, n int, next func() string) (statement, whole time.Duration, err error) {
	list := make([]string, n)
	for i := range list {
		list[i] = next()
	}
	each := make([]time.Duration, n)
	whole, err = timed(func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		s, err := tx.Prepare("INSERT INTO " + table + "(body) VALUES (?)")
		if err != nil {
			return err
		}
		for i, d := range list {
			if each[i], err = timed(func() error {
				_, err := s.Exec(d)
				return err
			}); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
	slices.Sort(each)
	return each[n/2], whole / time.Duration(n), err
}

// checkins measures the insert of a row into the attached table and into one
// that is not, turn by turn, and prints the median of the rounds.
func checkins(db database, load func(string, int) (time.Duration, time.Duration, error)) error {
	const rounds = 15
	middle := func(list []time.Duration) time.Duration {
		slices.Sort(list)
		return list[len(list)/2]
	}
	for _, setting := range []struct {
		store, note, goal string
		batch             int
	}{
		{"memory", "temp_store memory, 1000 in a transaction", "at most 60", 1000},
		{"default", "temp_store default, 1000 in a transaction", "", 1000},
		{"memory", "temp_store memory, one in a transaction", "", 1},
	} {
		if err := db.exec("PRAGMA temp_store = " + setting.store); err != nil {
			return err
		}
		var plain, plainRow, checked, checkedRow []time.Duration
		for range rounds * max(1, 200/setting.batch/rounds) {
			statement, row, err := load("plain", setting.batch)
			if err != nil {
				return err
			}
			plain, plainRow = append(plain, statement), append(plainRow, row)
			if statement, row, err = load("documents", setting.batch); err != nil {
				return err
			}
			checked, checkedRow = append(checked, statement), append(checkedRow, row)
		}
		if setting.batch == 1 {
			line("insert with its commit, "+setting.note, fmt.Sprintf("%.1f us", micro(middle(plainRow))), "")
		} else {
			line("insert, "+setting.note, fmt.Sprintf("%.1f us", micro(middle(plain))), "")
			line("the same where a row is checked in, policy link", fmt.Sprintf("%.1f us", micro(middle(checked))), "")
			line("difference", fmt.Sprintf("%.1f us", micro(middle(checked)-middle(plain))), setting.goal)
		}
		line("difference with the share of the commit", fmt.Sprintf("%.1f us", micro(middle(checkedRow)-middle(plainRow))), "")
	}
	return db.exec("PRAGMA temp_store = default")
}

// ask measures the questions, each with and without a look at the documents.
func ask(db database, t *text, rows int) error {
	for _, verify := range []string{"sketch", "text"} {
		if _, err := db.number(`SELECT alike_attach('documents', 'body', ?)`, `{"verify": "`+verify+`"}`); err != nil {
			return err
		}
		if err := askVerified(db, t, rows, ", verify "+verify); err != nil {
			return err
		}
	}
	return nil
}

func askVerified(db database, t *text, rows int, verify string) error {
	s, err := db.Prepare("SELECT count(low) FROM alike_rows('documents', ?)")
	if err != nil {
		return err
	}
	defer s.Close()
	const questions = 3000
	var list []time.Duration
	found := 0
	for i := range 2 * questions {
		var n int
		d, err := timed(func() error { return s.QueryRow(1 + t.random.IntN(rows)).Scan(&n) })
		if err != nil {
			return err
		}
		if i >= questions {
			list = append(list, d)
			found += n
		}
	}
	slices.Sort(list)
	line(fmt.Sprintf("alike_rows%s, median of %d (%.2f rows found)", verify, questions, float64(found)/questions), fmt.Sprintf("%.0f us", micro(list[questions/2])), "below 250")
	line("alike_rows"+verify+", 99th percentile", fmt.Sprintf("%.0f us", micro(list[questions*99/100])), "below 1000")
	for _, question := range []struct{ what, query, goal string }{
		{"alike_pairs of all rows, counted", "SELECT count(*) FROM alike_pairs('documents')", ""},
		{"alike_pairs of all rows, best first", "SELECT count(low) FROM (SELECT low FROM alike_pairs('documents') LIMIT -1)", "below 10 s"},
		{"alike_pairs, the best 100", "SELECT count(low) FROM (SELECT low FROM alike_pairs('documents') ORDER BY resemblance DESC LIMIT 100)", "below 10 s"},
	} {
		var n float64
		d, err := timed(func() error {
			n, err = db.number(question.query)
			return err
		})
		if err != nil {
			return err
		}
		line(fmt.Sprintf("%s%s (%.0f)", question.what, verify, n), fmt.Sprintf("%.1f s", d.Seconds()), question.goal)
	}
	return nil
}

// memory is the most that the process has held at a time, SQLite's page cache
// included.
func memory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for _, l := range strings.Split(string(status), "\n") {
		if value, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			var kb float64
			if _, err := fmt.Sscan(value, &kb); err != nil {
				return "unknown"
			}
			return fmt.Sprintf("%.0f MB", kb/1024)
		}
	}
	return "unknown"
}

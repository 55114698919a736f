package worker

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/passagetest"
)

// page is the text of the row n, from 1 on.
func page(n int) string { return strings.Join(passagetest.Page(n-1), " ") }

// BenchmarkPassages prints how many of the pages that contain passages are found by the
// question containers, how many answers are true, and how long it takes. ALIKE_ROWS is the size
// of the table, a million unless given.
func BenchmarkPassages(b *testing.B) {
	rows := 1000000
	fmt.Sscan(os.Getenv("ALIKE_ROWS"), &rows)
	s := pgtest.New(b, pgtest.Version(), "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1h", "work_mem=64MB", "maintenance_work_mem=256MB", "full_page_writes=off")
	database := s.Database(b)
	c := pgtest.Connect(b, database)
	exec(b, c, "create table pages (id bigint primary key, body text)")
	n := 0
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"pages"}, []string{"id", "body"}, pgx.CopyFromFunc(func() ([]any, error) {
		if n++; n > rows {
			return nil, nil
		}
		return []any{int64(n), page(n)}, nil
	})); err != nil {
		b.Fatal(err)
	}
	w := newWorker(b, database, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	exec(b, c, `select alike.attach('pages', 'body', '{"profile": "prose", "contains": true}')`)
	start := time.Now()
	once(b, w)
	filled := time.Since(start)
	exec(b, c, "vacuum analyze pages_alike")
	exec(b, c, "vacuum analyze pages_alike_value")
	size := one[int64](b, c, "select pg_total_relation_size('pages_alike') + pg_total_relation_size('pages_alike_value')")
	fmt.Printf("\nPostgreSQL %d, %d rows of 2.6 KB, filled in %.0f s, %d bytes a row\n%-8s %10s %10s %10s %10s %10s\n", s.Version, rows, filled.Seconds(), size/int64(rows), "words", "recall", "goal", "true", "median", "99 %")
	r := rand.New(rand.NewPCG(3, 4))
	for i, words := range []int{20, 50, 100, 300} {
		askPassages(b, c, w, r, rows, words, []string{"0.95", "0.99", "0.99", "1"}[i])
	}
}

// askPassages checks passages of a length in, as rows of their own, and asks for what contains them.
func askPassages(b *testing.B, c *pgx.Conn, w *Worker, r *rand.Rand, rows, words int, goal string) {
	const questions, threshold = 200, 0.8
	p, err := sketch.ParseProfile("prose")
	if err != nil {
		b.Fatal(err)
	}
	exact := func(passage string, n int) bool {
		contained, _, err := sketch.ExactContainment(p, []byte(passage), []byte(page(n)))
		if err != nil {
			b.Fatal(err)
		}
		return contained >= threshold
	}
	type question struct {
		page    int
		passage string
	}
	asked := make([]question, questions)
	for i := range asked {
		n := 1 + r.IntN(rows)
		text := strings.Fields(page(n))
		at := r.IntN(len(text) - words)
		asked[i] = question{n, strings.Join(text[at:at+words], " ")}
		exec(b, c, "insert into pages values ($1, $2)", rows+1+i, asked[i].passage)
	}
	once(b, w)
	var truth, found, answers, right int
	var list []time.Duration
	for i, q := range asked {
		start := time.Now()
		rowsOf, err := c.Query(ctx, "select key::bigint from alike.containers('pages', $1, $2)", fmt.Sprint(rows+1+i), threshold)
		if err != nil {
			b.Fatal(err)
		}
		got, err := pgx.CollectRows(rowsOf, pgx.RowTo[int])
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, time.Since(start))
		got = slices.DeleteFunc(got, func(n int) bool { return n > rows })
		for n := q.page - 1; n <= q.page+1; n++ {
			if n > 0 && n <= rows && exact(q.passage, n) {
				truth++
				if slices.Contains(got, n) {
					found++
				}
			}
		}
		for _, n := range got {
			if answers++; exact(q.passage, n) {
				right++
			}
		}
	}
	exec(b, c, "delete from pages where id > $1", rows)
	once(b, w)
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Printf("%-8d %10.3f %10s %10.3f %7.2f ms %7.2f ms\n", words, float64(found)/float64(truth), goal, float64(right)/float64(max(answers, 1)), ms(list[questions/2]), ms(list[questions*99/100]))
}

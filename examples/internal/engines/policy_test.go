//go:build unix

package engines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A policy by containment links the same rows in both engines: an excerpt to the book that was
// there before it, a book to its excerpts, and no pair that people call distinct.
func TestSamePolicyByContainment(t *testing.T) {
	for _, options := range []string{``, `, "verify": "text"`, `, "at_least": 0.3, "matches": 2`, `, "layout": "parts"`} {
		t.Run("containment"+options, func(t *testing.T) {
			r := rand.New(rand.NewPCG(12, 13))
			text := func(n int) string {
				words := make([]string, n)
				for i := range words {
					words[i] = fmt.Sprint("w", int(4000*r.Float64()*r.Float64()))
				}
				return strings.Join(words, " ")
			}
			part := func(of string, at, n int) string { return strings.Join(strings.Fields(of)[at:at+n], " ") }
			e := open(t)
			e.exec("create table documents (id integer primary key, body text)")
			linked := func(want int) {
				t.Helper()
				e.follow()
				if rows := e.same("select id, other, shared, resemblance, low, high, omitted, relation, policy from documents_alike_match"); len(rows) == 0 && want != 0 || len(rows) != want && want >= 0 && !strings.Contains(options, "matches") {
					t.Errorf("%d pairs are linked, want %d: %q", len(rows), want, rows)
				}
			}
			n := 0
			insert := func(body string) int {
				t.Helper()
				n++
				e.exec("insert into documents values ($1, $2)", n, body)
				e.follow()
				return n
			}
			books := []string{text(4000), text(2500), text(3000)}
			first := insert(books[0])
			e.attach(`{"policy": "link", "by": "containment", "contains": true, "profile": "prose"` + options + `}`)
			linked(0)
			whole := insert(strings.ToUpper(part(books[0], 400, 100))) // 2
			insert(part(books[1], 0, 60))                              // 3
			insert(text(200))
			linked(1)
			insert(books[1]) // 5, after its excerpt
			linked(2)
			insert(part(books[0], 1000, 70) + " " + text(30)) // 6, in part
			insert(part(books[0], 2000, 30) + " " + text(70)) // 7, in small part
			insert(books[2])
			insert(part(books[0], 0, 3900)) // 9, resembles the first and contains passages of it
			linked(4)
			for i := range 20 {
				length := []int{20, 50, 100}[i%3]
				insert(part(books[i%3], 100*i, length) + " " + text(i%2*length/5))
			}
			linked(-1)
			for i := 0; i < 20 && !strings.Contains(options, "matches"); i += 2 { // those without words of their own
				if found := e.number(fmt.Sprintf("select count(*) from documents_alike_match where id = %d and other = %d and relation = 'contained' and resemblance = 1", 10+i, []int{1, 5, 8}[i%3])); found != 1 {
					t.Errorf("row %d is not linked to its book", 10+i)
				}
			}
			// A verdict, a change of the text, a deletion, another key.
			e.same("select alike.mark('documents', $1::text, $2::text, 'distinct')", first, whole)
			e.exec("update documents set body = body || ' and more' where id = $1", whole)
			linked(-1)
			e.exec("update documents set body = body || ' and a last word' where id = 5")
			linked(-1)
			e.exec("delete from documents where id in (1, 9)")
			linked(-1)
			// By resemblance, and by containment again.
			e.same(`select alike.attach('documents', 'body', '{"by": "resemblance"}')`)
			e.follow()
			insert(part(books[1], 700, 90))
			insert(books[1] + " resembles")
			linked(-1)
			e.same(`select alike.attach('documents', 'body', '{"by": "containment"}')`)
			e.follow()
			insert(part(books[2], 2000, 90))
			linked(-1)
			e.same("select relation, count(*) from documents_alike_match group by relation order by relation")
		})
	}
}

//go:build unix

package engines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// notes are texts of 4 to 30 words and variants of them, in which words are replaced.
func notes() []string {
	words := strings.Fields("meet Ann in room three at noon the boiler cellar was serviced on Monday and fitter left bill for two valves call back about order ship it red lamp garden gate key under mat")
	random := rand.New(rand.NewPCG(7, 14))
	var list []string
	for n := range 27 {
		text := make([]string, n+4)
		for i := range text {
			text[i] = words[random.IntN(len(words))]
		}
		for range 6 {
			list = append(list, strings.Join(text, " "))
			text = append([]string(nil), text...)
			text[random.IntN(len(text))] = words[random.IntN(len(words))] + []string{"", "s", "x"}[random.IntN(3)]
		}
	}
	return list
}

// Both engines ask more of short texts, in every question and at a checkin. What they
// answer is what a query over the pairs and the lengths says.
func TestSameShortTexts(t *testing.T) {
	for _, layout := range []string{"columns", "parts"} {
		t.Run(layout, func(t *testing.T) {
			e := open(t)
			e.exec("create table documents (id integer primary key, body text)")
			texts := notes()
			half := len(texts) / 2
			put := func(from, to int) {
				for i := from; i < to; i++ {
					e.exec("insert into documents values ($1, $2)", i, texts[(i*37)%len(texts)])
					if from > 0 {
						e.follow()
					}
				}
			}
			put(0, half)
			e.attach(`{"profile": "short", "at_least": 0.5, "short": {"below": 80, "at_least": 0.8}, "clusters": true, "layout": "` + layout + `"}`)
			e.same("select alike.attach('documents', 'body', $1)", `{"policy": "link", "matches": 1000}`)
			e.follow()
			put(half, half+12)
			e.same("select id, other, shared, resemblance, low, high, omitted from documents_alike_match")
			if n := e.number("select count(*) from documents_alike_match"); n < 10 {
				t.Errorf("%d matches are no test", n)
			}
			if n := e.number("select count(*) from documents_alike_match m join documents_alike a on a.id = m.id join documents_alike b on b.id = m.other where (a.shingles < 80 or b.shingles < 80) and m.resemblance < 0.8"); n > 0 {
				t.Errorf("%d matches of short texts are below their threshold", n)
			}
			e.same("select alike.mark('documents', $1, $2, 'duplicate')", 1, 2) // short ones, too
			e.follow()
			e.short()
			for i := range half + 12 {
				e.inOrder("select key, shared, resemblance, low, high from alike.rows('documents', $1)", i)
			}
			e.same("select key, cluster, size from alike.clusters('documents')")
			for _, rule := range []string{"oldest", "newest", "longest", "popular", "verdict"} {
				e.same("select key, kept, resemblance from alike.keep('documents', $1)", rule)
			}
			e.same("select min(id), count(*) from documents_alike_cluster where cluster is not null group by cluster")
			// A change of the option alone.
			e.same("select alike.attach('documents', 'body', $1)", `{"short": {"below": 140, "at_least": 0.9}}`)
			e.follow()
			e.inOrder("select key, other, resemblance from alike.pairs('documents')")
			e.same("select min(id), count(*) from documents_alike_cluster where cluster is not null group by cluster")
			e.same("select alike.attach('documents', 'body', $1)", `{"short": null}`)
			e.follow()
			all := e.same("select key, other, resemblance from alike.pairs('documents', 0.5)")
			if got := e.same("select key, other, resemblance from alike.pairs('documents')"); strings.Join(got, "\n") != strings.Join(all, "\n") {
				t.Errorf("without the option there are %d pairs, want %d", len(got), len(all))
			}
		})
	}
}

// short compares the pairs with what a query says of all pairs.
func (e *engines) short() {
	e.t.Helper()
	got := e.same("select p.key, p.other, p.resemblance from alike.pairs('documents') p order by p.resemblance desc, 1, 2")
	all := e.same("select p.key, p.other, p.resemblance from alike.pairs('documents', 0.5) p order by p.resemblance desc, 1, 2")
	long, marked := 0, false
	var want []string
	for _, line := range all {
		var x, y int
		key, rest, _ := strings.Cut(line, " | ")
		other, _, _ := strings.Cut(rest, " | ")
		fmt.Sscan(key, &x)
		fmt.Sscan(other, &y)
		of := e.number("select min(shingles) from documents_alike where id in ($1, $2)", x, y)
		atLeast := 0.5
		if of < 80 {
			atLeast = 0.8
		}
		judged := x == 1 && y == 2
		marked = marked || judged
		var resemblance float64
		fmt.Sscan(line[strings.LastIndex(line, " ")+1:], &resemblance)
		if judged || resemblance >= atLeast {
			want = append(want, line)
			if of >= 80 && resemblance < 0.8 {
				long++
			}
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		e.t.Errorf("%d pairs, want %d of %d%s", len(got), len(want), len(all), firstDifference(got, want))
	}
	if long < 10 || len(all)-len(want) < 10 || !marked {
		e.t.Errorf("%d pairs of long texts between the thresholds and %d of short ones, a verdict %v: no test", long, len(all)-len(want), marked)
	}
}

package sqlext_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// A pair whose resemblance is exactly at_least is an answer everywhere, and a pair that lies
// below it by the smallest that a number can is nowhere.
func TestThresholds(t *testing.T) {
	texts := []string{fox + " and then one more time", fox + " and then one last time"}
	var resemblance float64
	fmt.Sscan(memory(t).rows(`SELECT printf('%!.20g', alike_resemblance(alike_sketch(?1, 'words w=4 t=84 k=12 s=7 bits=8'), alike_sketch(?2, 'words w=4 t=84 k=12 s=7 bits=8')))`, texts[0], texts[1]), &resemblance)
	if !(resemblance > 0.1 && resemblance < 0.95) {
		t.Fatalf("the two texts resemble by %v", resemblance)
	}
	number := func(d float64) string { return strconv.FormatFloat(d, 'g', -1, 64) }
	for name, c := range map[string]struct {
		atLeast float64
		found   bool
	}{"at it": {resemblance, true}, "above it": {math.Nextafter(resemblance, 2), false}} {
		t.Run(name, func(t *testing.T) {
			want := map[bool]string{true: "1", false: "0"}[c.found]
			for _, verify := range []string{"sketch", "text"} {
				for _, policy := range []string{"ignore", "link", "warn", "reject"} {
					db := memory(t)
					db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
					atLeast := c.atLeast
					if verify == "text" {
						// What decides is the resemblance of the texts.
						var exact float64
						fmt.Sscan(db.rows(`SELECT printf('%!.20g', alike_resemblance_exact(?1, ?2, 'words w=4 t=84 k=12 s=7'))`, texts[0], texts[1]), &exact)
						if atLeast = exact; !c.found {
							atLeast = math.Nextafter(exact, 2)
						}
					}
					db.rows(`SELECT alike_attach('d', 'body', ?)`, fmt.Sprintf(`{"profile": "words w=4 t=84 k=12 s=7", "policy": %q, "verify": %q, "at_least": %s}`, policy, verify, number(atLeast)))
					db.exec(`INSERT INTO d VALUES (1, ?)`, texts[0])
					_, err := db.Exec(`INSERT INTO d VALUES (2, ?)`, texts[1])
					if policy == "reject" {
						if (err != nil) != c.found {
							t.Errorf("verify %s: reject at %v: %v", verify, atLeast, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if policy != "ignore" {
						db.expect(want, `SELECT count(*) FROM d_alike_match`)
						continue
					}
					for _, question := range []string{`alike_rows('d', 1%s)`, `alike_rows('d', 2%s)`, `alike_pairs('d'%s)`} {
						for _, argument := range []string{"", ", " + number(atLeast)} {
							db.expect(want, `SELECT count(*) FROM `+fmt.Sprintf(question, argument))
						}
					}
					if verify == "sketch" {
						db.expect(fmt.Sprint(1+map[bool]int{true: 1}[c.found]), `SELECT count(*) FROM alike_rows_like('d', ?, ?)`, texts[0], atLeast)
					}
					db.expect(strings.Replace(want, "1", "2", 1), `SELECT count(*) FROM alike_clusters('d')`)
					db.expect(want, `SELECT count(*) FROM alike_keep('d') WHERE key <> kept`)
				}
			}
		})
	}
}

// The same where more rows share a feature that only answers become candidates.
func TestThresholdsOfACrowd(t *testing.T) {
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	db.exec(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 130) INSERT INTO d SELECT i, ? || i % 7 FROM n`, fox+" and then one more time ")
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words w=4 t=84 k=12 s=7"}')`)
	db.exec(`CREATE TABLE truth AS SELECT a.id, b.id AS other, alike_resemblance(a.sketch, b.sketch) AS r FROM d_alike a JOIN d_alike b ON b.id > a.id`)
	for _, atLeast := range strings.Split(db.rows(`SELECT DISTINCT printf('%!.20g', r) FROM truth ORDER BY r`), "\n") {
		d, err := strconv.ParseFloat(atLeast, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []float64{d, math.Nextafter(d, 2)} {
			if at > 1 || at <= 0 {
				continue
			}
			db.expect(db.rows(`SELECT count(*) FROM truth WHERE r >= ?`, at), `SELECT count(*) FROM alike_pairs('d', ?)`, at)
		}
	}
}

package sqlext_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// prose is a text of words of which few are frequent.
func prose(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", int(4000*r.Float64()*r.Float64()*r.Float64()))
	}
	return words
}

// Passages of books, of every length and from anywhere in them, are found in the books that
// have them, and no others, in both directions, whatever the key.
func TestPassagesInBooks(t *testing.T) {
	for _, key := range []struct{ columns, value string }{
		{"id INTEGER PRIMARY KEY, body TEXT", "%s"},
		{"id TEXT PRIMARY KEY, body TEXT", "'key ' || %s"},
		{"a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b)", "%[1]s %% 7, 'k' || %[1]s"},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		db := memory(t)
		db.exec("CREATE TABLE d(" + key.columns + ")")
		insert := func(n int, text string) {
			db.exec("INSERT INTO d VALUES ("+fmt.Sprintf(key.value, fmt.Sprint(n))+", ?)", text)
		}
		of := func(n int) string {
			if strings.Contains(key.columns, "a INTEGER") {
				return fmt.Sprintf(`[%d,"k%d"]`, n%7, n)
			}
			return db.rows("SELECT " + fmt.Sprintf(key.value, fmt.Sprint(n)))
		}
		books := make([][]string, 12)
		for i := range books {
			books[i] = prose(r, 3000+r.IntN(9000))
			insert(i, strings.Join(books[i], " "))
		}
		db.rows(`SELECT alike_attach('d', 'body', '{"contains": true, "profile": "prose"}')`)
		texts := map[int]string{}
		for i, book := range books {
			texts[i] = " " + strings.Join(book, " ") + " "
		}
		// in lists the keys of the rows whose text has another, or stands in it.
		in := func(itself int, test func(text string) bool) []string {
			var list []string
			for n, text := range texts {
				if n != itself && test(text) {
					list = append(list, of(n))
				}
			}
			return sorted(list)
		}
		answer := func(query string, args ...any) []string {
			var list []string
			for _, row := range db.lines(query, args...) {
				list = append(list, row[0])
			}
			return sorted(list)
		}
		for i := range 200 {
			length := []int{20, 50, 100, 300}[i%4]
			book := r.IntN(len(books))
			at := r.IntN(len(books[book]) - length)
			text := strings.ToUpper(strings.Join(books[book][at:at+length], ", "))
			plain := " " + strings.Join(books[book][at:at+length], " ") + " "
			want := in(-1, func(other string) bool { return strings.Contains(other, plain) })
			if got := answer(`SELECT key FROM alike_containers_like('d', ?, 1)`, text); !slices.Equal(got, want) {
				t.Errorf("%s: the containers of a passage of %d words of %s are %q, want %q", key.columns, length, of(book), got, want)
			}
			texts[100+i] = plain
			insert(100+i, text)
		}
		for n, text := range texts {
			within := func(other string) bool { return strings.Contains(other, text) }
			if got, want := answer(`SELECT key FROM alike_containers('d', ?, 1)`, of(n)), in(n, within); !slices.Equal(got, want) {
				t.Errorf("%s: %s is contained in %v, want %v", key.columns, of(n), got, want)
			}
			around := func(other string) bool { return strings.Contains(text, other) }
			if got, want := answer(`SELECT key FROM alike_contained('d', ?, 1)`, of(n)), in(n, around); !slices.Equal(got, want) {
				t.Errorf("%s: %s contains %v, want %v", key.columns, of(n), got, want)
			}
			if got, want := answer(`SELECT key FROM alike_contained_like('d', ?, 1)`, text), in(-1, around); n < 100 && !slices.Equal(got, want) {
				t.Errorf("%s: the text of %s contains %v, want %v", key.columns, of(n), got, want)
			}
		}
		// Every pair, by asking for each row; and those best first.
		all := db.rows(`SELECT key, other, containment, low, high FROM alike_containments('d') ORDER BY 1, 2`)
		each := db.rows(`SELECT k.key, c.key, c.containment, c.low, c.high FROM alike_keep('d') k, alike_containers('d', k.key) c ORDER BY 1, 2`)
		if all != each || strings.Count(all, "\n") < 200 {
			t.Errorf("%s: all pairs are\n%.400s\none by one\n%.400s", key.columns, all, each)
		}
		if plan := db.rows(`EXPLAIN QUERY PLAN SELECT * FROM alike_containments('d') ORDER BY containment DESC LIMIT 3`); strings.Contains(plan, "ORDER BY") {
			t.Errorf("sorted twice: %s", plan)
		}
		db.expect("1", `SELECT min(low <= containment AND containment <= high AND containment >= 0.8) FROM alike_containments('d')`)
	}
}

// What alike_contains_plan says beforehand is within a tenth of what an attach adds to the
// file, and of what checkins add.
func TestContainsPlan(t *testing.T) {
	for _, c := range []struct {
		settings, key, tokens string
		keyBytes, words, rows int
	}{
		{"prose", "?1", "30", 4, 30, 4000}, {"prose", "?1", "450", 4, 450, 600}, {"words mod=8", "?1", "450", 4, 450, 600}, {"words scaled w=3", "?1", "6000", 4, 6000, 60},
		{"words w=9", "?1", "450", 4, 450, 600}, {"short", "?1", "length(body)", 4, 100, 600}, {"prose", "printf('%036d', ?1)", "450", 36, 450, 600}, {"prose", "?1", "700000", 4, 700_000, 2},
	} {
		var values, sampled, planned float64
		// bytes are those that the table takes when it is attached and after as many checkins.
		bytes := func(options string) (filled, grown float64) {
			db, r := memory(t), rand.New(rand.NewPCG(5, 6))
			scan := func(query string, numbers ...any) {
				t.Helper()
				if _, err := fmt.Sscan(strings.ReplaceAll(db.rows(query), "|", " "), numbers...); err != nil {
					t.Fatal(err)
				}
			}
			insert := func(first, rows int) {
				for i := range rows {
					db.exec("INSERT INTO d VALUES ("+c.key+", ?2)", 1_000_000_000+first+i, strings.Join(prose(r, c.words), " "))
				}
			}
			const used = `SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`
			db.exec(`CREATE TABLE d(id PRIMARY KEY, body TEXT)`)
			insert(0, c.rows)
			scan(fmt.Sprintf(`SELECT sum(p.sampled), sum(p.sqlite_bytes) FROM d, alike_contains_plan(%s, '%s', %d) p`, c.tokens, c.settings, c.keyBytes), &sampled, &planned)
			db.rows(fmt.Sprintf(`SELECT alike_attach('d', 'body', '{"profile": "%s"%s}')`, c.settings, options))
			scan(used, &filled)
			if options != "" {
				scan(`SELECT count(*) FROM d_alike_value`, &values)
			}
			insert(c.rows, c.rows/2)
			scan(used, &grown)
			return filled, grown - filled
		}
		filled, grown := bytes(`, "contains": true`)
		without, growth := bytes("")
		filled, grown = filled-without, 2*(grown-growth)
		t.Logf("%s, %d words: %.3f of the planned values, %.3f of the planned bytes, %.3f by checkins", c.settings, c.words, values/sampled, filled/planned, grown/planned)
		if math.Abs(values/sampled-1) > 0.04 || math.Abs(filled/planned-1) > 0.1 || math.Abs(grown/planned-1) > 0.1 {
			t.Errorf("%s, %d words: %.0f values, planned %.0f; %.0f bytes and %.0f by checkins, planned %.0f", c.settings, c.words, values, sampled, filled, grown, planned)
		}
	}
	db := memory(t)
	db.fails(`the number of tokens is "many", want a number`, `SELECT * FROM alike_contains_plan('many')`)
	db.fails(`the key's size is "x", want a whole number`, `SELECT * FROM alike_contains_plan(1, '', 'x')`)
	db.fails("the profile is the integer 1, want text", `SELECT * FROM alike_contains_plan(1, 1)`)
}

func sorted(list []string) []string { slices.Sort(list); return list }

// What contains a row is found, too, where more rows share its passages than are looked at for
// each of them.
func TestContainmentAmongMany(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	notice, terms := prose(r, 60), prose(r, 40)
	var texts []string
	add := func(parts ...[]string) {
		texts = append(texts, strings.Join(slices.Concat(parts...), " "))
		db.exec(`INSERT INTO d VALUES (?, ?)`, len(texts)-1, texts[len(texts)-1])
	}
	for i := range 250 {
		own := prose(r, 20+i%100)
		add(own, notice, terms, prose(r, i%7))
		if i%25 == 0 { // what is all, mostly and hardly its own
			add(own)
			add(own, notice[:30])
			add(own[:20], notice)
			add(own[:20], notice, terms)
		}
	}
	add(notice)
	add(terms)
	add(notice[:40])
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words", "contains": true}')`)
	truth := map[string]bool{}
	for i, part := range texts {
		for j, whole := range texts {
			if i != j && strings.Contains(whole, part) {
				truth[fmt.Sprint(i, " ", j)] = true
			}
		}
	}
	found := map[string]bool{}
	for _, line := range db.lines(`SELECT key, other FROM alike_containments('d', 1)`) {
		found[strings.Join(line, " ")] = true
	}
	if !maps.Equal(found, truth) || len(truth) < 700 {
		t.Errorf("%d pairs, want %d", len(found), len(truth))
	}
	all := db.rows(`SELECT key, other, containment, low, high FROM alike_containments('d', 0.6) WHERE key % 7 = 0 ORDER BY 1, 2`)
	each := db.rows(`SELECT d.id, c.key, c.containment, c.low, c.high FROM d, alike_containers('d', d.id, 0.6) c WHERE d.id % 7 = 0 ORDER BY 1, 2`)
	if all != each || len(all) < 1000 {
		t.Error("all pairs from 0.6 are others than those of each row")
	}
	// A row that is contained in another says the same from the other's side.
	db.expect("0|0", `WITH a AS`+materialized+` (SELECT key, other FROM alike_containments('d', 0.6) WHERE other % 7 = 0), b AS`+materialized+` (SELECT c.key, d.id AS other FROM d, alike_contained('d', d.id, 0.6) c WHERE d.id % 7 = 0)
		SELECT (SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b)), (SELECT count(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM a))`)

	// A checkin finds what shares a passage of its own, and of what is common the first.
	db.rows(`SELECT alike_attach('d', 'body', '{"policy": "link", "by": "containment", "matches": 1000, "at_least": 1}')`)
	db.exec(`INSERT INTO d SELECT 1000, body FROM d WHERE id = 0`)
	db.expect("0", `SELECT count(*) FROM alike_contained('d', 1000, 1) c LEFT JOIN d_alike_match m ON m.id = 1000 AND m.other = c.key WHERE m.other IS NULL AND c.key < ?`, len(texts)-3)
	db.exec(`INSERT INTO d VALUES (1001, ?)`, strings.Join(notice, " "))
	db.expect("200|1", `SELECT count(*), max(other) < 300 FROM d_alike_match WHERE id = 1001 AND relation = 'contained'`)
}

// A passage that is there in part is as much contained as its shingles say, and the
// threshold counts.
func TestContainmentInPart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	book := prose(r, 5000)
	db.exec(`INSERT INTO d VALUES (1, ?), (2, ?)`, strings.Join(book, " "), strings.Join(prose(r, 5000), " "))
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true}')`)
	for _, part := range []float64{0.3, 0.5, 0.7, 0.95} {
		n := int(part * 400)
		text := strings.Join(append(slices.Clone(book[700:700+n]), prose(r, 400-n)...), " ")
		for _, atLeast := range []float64{0.1, 0.4, 0.6, 0.8, 0.99} {
			got := db.rows(`SELECT key, abs(containment - ?) < 0.12, low <= ? AND ? <= high FROM alike_containers_like('d', ?, ?)`, part, part+0.05, part-0.05, text, atLeast)
			if want := map[bool]string{true: "1|1|1"}[part-0.02 >= atLeast]; got != want {
				t.Errorf("%v of a text, from %v: %q, want %q", part, atLeast, got, want)
			}
		}
	}
}

// Of rows of which one has all of the other the longer one is kept, and no kept row is in
// another one. What a person called distinct stays, and so does what is contained no further than it was asked.
func TestKeepContaining(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	texts := map[int]string{}
	add := func(id int, words []string) {
		texts[id] = " " + strings.Join(words, " ") + " "
		db.exec(`INSERT INTO d VALUES (?, ?)`, id, texts[id])
	}
	var books [][]string
	for i := range 6 {
		books = append(books, prose(r, 500+r.IntN(1000)))
		add(10*i, books[i])
	}
	for i := range 60 {
		book := books[i%6]
		n := []int{20, 60, 300}[i%3]
		at := r.IntN(len(book) - n)
		add(100+i, book[at:at+n])
	}
	add(200, books[0]) // word for word
	add(201, prose(r, 80))
	add(202, append(prose(r, 50), books[1][100:150]...)) // half of it
	own := prose(r, 200)
	add(203, append(slices.Clone(books[2][:300]), own[:100]...))    // not quite enough of it
	add(204, append(slices.Clone(books[3][:400]), own[100:160]...)) // goes, and so does not stand for the next, which is all of it
	add(205, append(slices.Clone(books[3][130:400]), own[100:160]...))
	db.rows(`SELECT alike_attach('d', 'body')`)
	db.fails("d keeps no values for questions on containment", `SELECT * FROM alike_keep('d', 'contains')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true}')`)
	db.rows(`SELECT alike_mark('d', 10, 101, 'distinct')`)
	for _, atLeast := range []string{"", ", 1", ", 0.4"} {
		kept := map[int]int{}
		for _, row := range db.lines(`SELECT key, kept, resemblance FROM alike_keep('d', 'contains'` + atLeast + `)`) {
			var key, other int
			fmt.Sscan(row[0], &key)
			fmt.Sscan(row[1], &other)
			kept[key] = other
		}
		if len(kept) != len(texts) {
			t.Fatalf("%d rows of %d", len(kept), len(texts))
		}
		for key, other := range kept {
			part := key == 202 && atLeast == ", 0.4" && other == 10 || key > 202
			switch {
			case kept[other] != other:
				t.Errorf("at_least%s: %d goes for %d, which goes for %d", atLeast, key, other, kept[other])
			case key != other && !part && !strings.Contains(texts[other], texts[key]):
				t.Errorf("at_least%s: %d goes for %d, which does not contain it", atLeast, key, other)
			case key == other && key != 101 && slices.ContainsFunc(slices.Collect(maps.Keys(kept)), func(k int) bool { return k != key && kept[k] == k && strings.Contains(texts[k], texts[key]) }):
				t.Errorf("at_least%s: %d is kept, and is contained in another that is", atLeast, key)
			}
		}
		want := map[string][3]int{"": {203, 30, 30}, ", 1": {203, 204, 204}, ", 0.4": {20, 30, 30}}[atLeast]
		if got := [3]int{kept[203], kept[204], kept[205]}; got != want {
			t.Errorf("at_least%s: 203, 204 and 205 go for %v, want %v", atLeast, got, want)
		}
		if kept[101] == 10 || kept[201] != 201 || kept[202] != map[bool]int{true: 10, false: 202}[atLeast == ", 0.4"] || kept[200] != 0 || kept[0] != 0 {
			t.Errorf("at_least%s: 101 goes for %d, 200 for %d, 201 for %d, 202 for %d", atLeast, kept[101], kept[200], kept[201], kept[202])
		}
	}
}

// The values follow the option, the profile, detach, and a table that was attached before.
func TestContainsComesAndGoes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	db := memory(t)
	db.exec(`CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)`)
	for i := range 5 {
		db.exec(`INSERT INTO d VALUES (?, ?)`, i, strings.Join(prose(r, 60), " "))
	}
	db.rows(`SELECT alike_attach('d', 'body')`)
	for _, question := range []string{`alike_containers('d', 1)`, `alike_contained('d', 1)`, `alike_containers_like('d', 'x')`, `alike_contained_like('d', 'x')`, `alike_containments('d')`} {
		db.fails(`d keeps no values for questions on containment; alike_attach('d', 'body', '{"contains": true}') adds them`, `SELECT * FROM `+question)
	}
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true}')`)
	db.check("d", "added")
	db.exec(`INSERT INTO d SELECT 10, body || ' and more of it' FROM d WHERE id = 1`)
	db.expect("1|10", `SELECT key, other FROM alike_containments('d', 0.99)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "short"}')`)
	db.expect("1|10", `SELECT key, other FROM alike_containments('d', 0.99)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words"}')`)
	db.check("d", "changed")
	db.rows(`SELECT alike_mark('d', 1, 10, 'distinct')`)
	db.expect("", `SELECT key, other FROM alike_containments('d')`)
	db.expect("", `SELECT key FROM alike_containers('d', 1)`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": false}')`)
	db.expect("0", `SELECT count(*) FROM sqlite_master WHERE name LIKE '%value%'`)
	// With a change of the profile, too, the tables of an option go that is set to false.
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true, "clusters": true, "layout": "parts"}')`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": false, "clusters": false, "layout": "columns", "profile": "words w=3"}')`)
	db.expect("0", `SELECT count(*) FROM sqlite_master WHERE name LIKE '%value%' OR name LIKE '%cluster%' OR name LIKE '%event%' OR name LIKE '%part_%'`)
	db.rows(`SELECT alike_attach('d', 'body', '{"profile": "words"}')`)
	db.exec(`UPDATE d SET body = body || ' again'`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true}')`)
	db.check("d", "again")
	db.rows(`SELECT alike_detach('d')`)
	db.expect("0", `SELECT count(*) FROM sqlite_master WHERE name LIKE '%value%'`)
	db.exec(`UPDATE d SET body = body || ' detached'`)
	db.rows(`SELECT alike_attach('d', 'body', '{"contains": true}')`)
	db.check("d", "attached again")
	db.fails("the option contains is \"yes\", want true or false", `SELECT alike_attach('d', 'body', '{"contains": "yes"}')`)
	db.fails("d has no row 99", `SELECT * FROM alike_containers('d', 99)`)
	db.fails("at_least is 0", `SELECT * FROM alike_containers('d', 1, 0)`)
	db.expect("", `SELECT * FROM alike_containers('d', NULL)`)
	db.expect("", `SELECT * FROM alike_containers_like('d', '...')`)
	db.expect("", `SELECT * FROM alike_contained_like('d', '')`)
	db.rows(`SELECT alike_detach('d', '{"drop": true}')`)
	db.expect("d", `SELECT group_concat(name) FROM sqlite_master WHERE name <> 'sqlite_sequence'`)
}

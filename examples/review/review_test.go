// Package review tries the review page of the command alike as people use it: in a
// browser, with the keyboard, on a phone, and with documents that mean harm.
package review

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/alike-sql/alike/examples/internal/chromium"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sqlext"
)

// program is the command, built once.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "alike-review")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(folder, "alike")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "../../sqlext/alike")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

func database(t *testing.T, statements ...string) (string, *sql.DB) {
	t.Helper()
	if err := sqlext.Auto(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "notes.db")
	db, err := sql.Open("sqlite3", file+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
	return file, db
}

// crowd is notes of which all pairs resemble one another, more or less.
const crowd = `insert into notes with recursive n(i) as (select 1 union all select i + 1 from n where i < 150)
	select i, 'the harbour committee met on tuesday and agreed to postpone the vote on the new breakwater until the engineers have reported in full, '
	|| 'and it asked the treasurer to find out what a delay of a year costs the town, '
	|| case i % 7 when 0 then 'which he will do' else 'which the mayor of the town will do by the end of month ' || i % 7 end || ' in room ' || i from n`

// serve starts the command and returns the address that it prints.
func serve(t *testing.T, file string, args ...string) *url.URL {
	t.Helper()
	cmd := exec.Command(program, append([]string{"review", file, "--by", "ann"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("review ends with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if address.Hostname() != "127.0.0.1" {
		t.Errorf("it listens on %s, want this machine alone", address.Host)
	}
	return address
}

func browser(t *testing.T) *chromium.Browser {
	t.Helper()
	b, err := chromium.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, b *chromium.Browser, script string) (value T) {
	t.Helper()
	must(t, b.Eval(script, &value))
	return value
}

func one[T any](t *testing.T, db *sql.DB, query string, args ...any) (value T) {
	t.Helper()
	if err := db.QueryRow(query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// encoded is an integer key as the page sends it, and number reads one.
func encoded(n int64) string { return fmt.Sprintf("69%016x", n) }

func number(t *testing.T, key string) string {
	t.Helper()
	var n int64
	if _, err := fmt.Sscanf(key, "69%016x", &n); err != nil {
		t.Fatalf("the key %q: %v", key, err)
	}
	return fmt.Sprint(n)
}

// Ten thousand pairs, and a person who has a keyboard alone, with scripts and without.
func TestKeyboard(t *testing.T) {
	file, db := database(t, `create table notes (id integer primary key, body text)`, crowd,
		`select alike_attach('notes', 'body', '{"profile": "words w=4 t=84 k=12 s=7", "at_least": 0.6}')`)
	if n := one[int](t, db, `select count(*) from alike_pairs('notes')`); n < 10_000 {
		t.Fatalf("%d pairs, want ten thousand", n)
	}
	uncertain := one[float64](t, db, `select min(abs(resemblance - 0.6)) from alike_pairs('notes', 0.5)`)
	address := serve(t, file)
	b := browser(t)
	must(t, b.Look(chromium.Screen{Width: 1240, Height: 900}))
	must(t, b.Leads(func() error { return b.Visit(address.String(), false) }))
	press := func(key string, code int) {
		t.Helper()
		must(t, b.Leads(func() error { return b.Press(key, code) }))
	}
	shown := func() (key, other string) {
		pair := eval[[2]string](t, b, `[...document.querySelectorAll(".decide input[name=key], .decide input[name=other]")].map(x => x.value)`)
		return number(t, pair[0]), number(t, pair[1])
	}
	verdict := func(key, other string) string {
		return one[string](t, db, `select coalesce((select verdict || ' by ' || marked_by from notes_alike_mark where id = ? and other = ?), 'none')`, key, other)
	}
	key, other := shown()
	if r := one[float64](t, db, `select resemblance from alike_pairs('notes', 0.5) where key = cast(? as integer) and other = cast(? as integer)`, key, other); r < 0.6-uncertain-0.02 || r > 0.6+uncertain+0.02 {
		t.Errorf("the first pair has resemblance %v, want one near 0.6", r)
	}
	press("d", 68)
	if got := verdict(key, other); got != "duplicate by ann" {
		t.Errorf("after d the verdict is %s", got)
	}
	if k, o := shown(); k == key && o == other {
		t.Error("after d the same pair is shown")
	}
	press("u", 85)
	if got := verdict(key, other); got != "none" {
		t.Errorf("after u the verdict is %s", got)
	}
	if k, o := shown(); k != key || o != other {
		t.Errorf("after u %s and %s are shown, want %s and %s", k, o, key, other)
	}
	press("l", 76)
	if k, o := shown(); k == key && o == other {
		t.Error("after l the same pair is shown")
	}
	key, other = shown()
	press("n", 78)
	if got := verdict(key, other); got != "distinct by ann" {
		t.Errorf("after n the verdict is %s", got)
	}
	// What is typed into a field presses nothing.
	must(t, b.Eval(`document.getElementById("note").focus()`, nil))
	must(t, b.Press("d", 68))
	if n := one[int](t, db, `select count(*) from notes_alike_mark`); n != 1 {
		t.Errorf("%d verdicts after a d in a field, want 1", n)
	}
	must(t, b.Scripts(false))
	must(t, b.Visit(address.Scheme+"://"+address.Host+"/review/", false))
	if !eval[bool](t, b, `document.getElementById("keys").hidden`) {
		t.Error("without scripts the page promises keys")
	}
	key, other = shown()
	must(t, b.Press("Tab", 9))
	if name := eval[string](t, b, `document.activeElement.value`); name != "duplicate" && !strings.Contains(eval[string](t, b, `document.activeElement.outerHTML`), "this cluster") {
		t.Errorf("the first Tab leads to %.200s", eval[string](t, b, `document.activeElement.outerHTML`))
	}
	for eval[string](t, b, `document.activeElement.value || ""`) != "distinct" {
		must(t, b.Press("Tab", 9))
	}
	press("Enter", 13)
	if got := verdict(key, other); got != "distinct by ann" {
		t.Errorf("after Enter on Distinct the verdict is %s", got)
	}
	for _, e := range b.Errors {
		t.Errorf("the console says %.500s", e)
	}
}

// client is a program with the cookie of an open session.
func client(t *testing.T, address *url.URL) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	c := &http.Client{Jar: jar}
	must(t, get(c, address.String()).want(200, "Resemblance"))
	return c
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func do(c *http.Client, r *http.Request) answer {
	resp, err := c.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body), err}
}

func get(c *http.Client, address string) answer {
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		return answer{err: err}
	}
	return do(c, r)
}

func (a answer) want(status int, text string) error {
	if a.err != nil || a.status != status || !strings.Contains(a.body, text) {
		return fmt.Errorf("status %d, want %d with %q; error %v: %.3000s", a.status, status, text, a.err, a.body)
	}
	return nil
}

// Other sites, other names, guessed tokens and forms of another session get nothing and change nothing.
func TestStrangers(t *testing.T) {
	file, db := database(t, `create table notes (id integer primary key, body text)`,
		`insert into notes values (1, 'one two three four five six seven eight'), (2, 'one two three four five six seven eight')`,
		`select alike_attach('notes', 'body')`)
	address := serve(t, file, "--host", "notes.example")
	root := address.Scheme + "://" + address.Host + "/review/"
	stranger := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, status := range map[string]int{"": 401, "list": 401, "threshold": 401, "open?token=guess": 401, "open": 401} {
		a := get(stranger, root+path)
		if err := a.want(status, ""); err != nil || strings.Contains(a.body, "three four") || strings.Contains(a.body, "1 and") {
			t.Errorf("/review/%s: %v", path, err)
		}
	}
	c := client(t, address)
	page := get(c, root)
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "form-action 'self'"} {
		if !strings.Contains(page.header.Get("Content-Security-Policy"), want) {
			t.Errorf("the policy lacks %s: %s", want, page.header.Get("Content-Security-Policy"))
		}
	}
	_, secret, _ := strings.Cut(page.body, `name="secret" value="`)
	secret, _, _ = strings.Cut(secret, `"`)
	form := func(edit func(url.Values, *http.Request)) answer {
		values := url.Values{"secret": {secret}, "table": {"notes"}, "key": {encoded(1)}, "other": {encoded(2)}, "verdict": {"duplicate"}}
		r, err := http.NewRequest("POST", root+"decide", nil)
		must(t, err)
		edit(values, r)
		r.Body = io.NopCloser(strings.NewReader(values.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return do(c, r)
	}
	for name, x := range map[string]struct {
		status int
		edit   func(url.Values, *http.Request)
	}{
		"another site":           {403, func(_ url.Values, r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"another origin":         {403, func(_ url.Values, r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"another name":           {421, func(_ url.Values, r *http.Request) { r.Host = "evil.example:80" }},
		"no secret":              {403, func(v url.Values, _ *http.Request) { v.Del("secret") }},
		"another secret":         {403, func(v url.Values, _ *http.Request) { v.Set("secret", "x"+secret[1:]) }},
		"another verdict":        {400, func(v url.Values, _ *http.Request) { v.Set("verdict", "perhaps") }},
		"no such pair":           {404, func(v url.Values, _ *http.Request) { v.Set("other", encoded(3)) }},
		"no such table":          {404, func(v url.Values, _ *http.Request) { v.Set("table", `notes"; drop table notes; --`) }},
		"more than a form needs": {403, func(v url.Values, _ *http.Request) { v.Set("note", strings.Repeat("x", 1<<20)) }},
	} {
		if err := form(x.edit).want(x.status, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := one[int](t, db, `select count(*) from notes_alike_mark`); n != 0 {
		t.Fatalf("%d verdicts of strangers", n)
	}
	must(t, form(func(v url.Values, r *http.Request) {
		r.Host = "notes.example"
		v.Set("note", "read \x1b[31m both")
	}).want(401, "")) // a name that is known, but the cookie is another name's
	must(t, form(func(v url.Values, _ *http.Request) { v.Set("note", "read \x1b[31m both\n") }).want(200, "are called duplicate"))
	if note := one[string](t, db, `select note from notes_alike_mark`); note != "read [31m both" {
		t.Errorf("the note is %q", note)
	}
	// Another person decides otherwise meanwhile: the form that was shown before says nothing against it.
	if _, err := db.Exec(`select alike_mark('notes', 1, 2, 'distinct')`); err != nil {
		t.Fatal(err)
	}
	must(t, form(func(v url.Values, _ *http.Request) { v.Set("seen", "") }).want(409, "was called distinct meanwhile"))
	must(t, form(func(v url.Values, _ *http.Request) { v.Set("seen", "distinct") }).want(200, ""))
	if got := one[string](t, db, `select verdict from notes_alike_mark`); got != "duplicate" {
		t.Errorf("the verdict is %s", got)
	}
}

// Filters, the list, and what the decisions say about the threshold.
func TestThreshold(t *testing.T) {
	file, db := database(t, `create table notes (id integer primary key, body text)`, crowd,
		`select alike_attach('notes', 'body', '{"profile": "words w=4 t=84 k=12 s=7", "at_least": 0.6}')`,
		`insert into notes values (1000, 'a cluster of its own has other words than the rest of the notes have'), (1001, 'a cluster of its own has other words than the rest of the notes have')`)
	const those = `from alike_pairs('notes', 0.5) where (key + other) % 50 = 0 and resemblance `
	below, above := one[float64](t, db, `select max(resemblance) `+those+`< 0.8`), one[float64](t, db, `select min(resemblance) `+those+`>= 0.8`)
	// A person who calls duplicates what resembles from 0.8 on.
	if _, err := db.Exec(`select count(alike_mark('notes', key, other, case when resemblance >= 0.8 then 'duplicate' else 'distinct' end)) from (select * ` + those + `>= 0)`); err != nil {
		t.Fatal(err)
	}
	decided := one[int](t, db, `select count(*) from notes_alike_mark`)
	address := serve(t, file)
	c := client(t, address)
	root := address.Scheme + "://" + address.Host + "/review/"
	must(t, get(c, root+"threshold").want(200, fmt.Sprintf("%d decisions", decided)))
	proposed := get(c, root+"threshold").body
	_, proposed, _ = strings.Cut(proposed, "Proposed: ")
	var p float64
	if _, err := fmt.Sscan(strings.TrimRight(strings.Fields(proposed + " x")[0], ","), &p); err != nil || p <= below || p > above {
		t.Errorf("this person means more than %v and at most %v; proposed is %.100q", below, above, proposed)
	}
	must(t, get(c, root+"list?cluster=1000").want(200, "Pairs 1 to 1 of 1, waiting"))
	must(t, get(c, root+"list?cluster=7777").want(200, "No pairs"))
	must(t, get(c, root+"list?show=decided").want(200, fmt.Sprintf("Pairs 1 to 50 of %d, decided", decided)))
	// Links lead where they say.
	follow := func(page, text string) string {
		body := get(c, root+page).body
		before, _, ok := strings.Cut(body, text)
		if !ok {
			t.Fatalf("%s has no link %q", page, text)
		}
		href := before[strings.LastIndex(before, `href="`)+6:]
		href, _, _ = strings.Cut(href, `"`)
		return strings.TrimPrefix(html.UnescapeString(href), "/review/")
	}
	must(t, get(c, root+follow("list?cluster=1000", "<bdi>1000</bdi>")).want(200, "<bdi>1000</bdi> and <bdi>1001</bdi></h1>"))
	must(t, get(c, root+follow("list?cluster=1000", "Without a filter")).want(200, "Pairs 1 to 50 of"))
	must(t, get(c, root+follow("list?from=0.9&to=0.95", ">After<")).want(200, "Pairs 51 to 100 of"))
	must(t, get(c, root+follow("?from=0.9&to=0.95", ">List<")).want(200, `value="0.95"`))
	list := get(c, root+"list?from=0.9&to=0.95").body
	for _, cell := range strings.Split(list, "<td>")[1:] {
		var r float64
		if _, err := fmt.Sscan(cell, &r); err != nil || r < 0.895 || r > 0.955 {
			t.Fatalf("from 0.9 to 0.95 the list has %.40q", cell)
		}
	}
}

// axe is the script that checks a page.
func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(pgtest.Installed(t, "browser", "axe/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// Hostile documents, keys and names are text; the pages hold on a phone and a desk, light and dark, and for people who do not see well.
func TestPages(t *testing.T) {
	attack := `<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"'` + "`" + `</style></title></textarea><a href="javascript:alert(4)">x</a> {{.}} ]]> -->` +
		"\u202e\u2066 rtl \x00\x1b[31m " + strings.Repeat("W", 20000) + " שלום עולם \xff and these are the words that both of them have in common, to the end"
	name := `<b>"x' onclick=alert(5)`
	quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	key := "</option></select><script>alert(6)</script>\u202e'" + strings.Repeat("K", 300)
	file, db := database(t, `create table `+quoted+` (k text, n integer, body text, primary key (k, n))`)
	for i := range 12 {
		_, err := db.Exec(`insert into `+quoted+` values (?, ?, ?)`, key, i, strings.ReplaceAll(attack, "\xff", []string{"", "\xff"}[i%2])+strings.Repeat(" of the row", i%4))
		must(t, err)
	}
	_, err := db.Exec(`select alike_attach(?, 'body', '{"profile": "words w=4 t=84 k=12 s=7", "at_least": 0.7}')`, quoted)
	must(t, err)
	_, err = db.Exec(`select count(alike_mark(?, key, other, case when rowid % 2 then 'duplicate' else 'distinct' end, '<script>alert(7)</script>')) from (select key, other, row_number() over () as rowid from alike_pairs(?, 0.5) limit 40)`, quoted, quoted)
	must(t, err)
	address := serve(t, file, "--by", "<script>alert(8)</script>")
	root := address.Scheme + "://" + address.Host + "/review/"
	script := axe(t)
	b := browser(t)
	pictures := os.Getenv("ALIKE_PICTURES")
	for _, dark := range []bool{false, true} {
		for _, width := range []int{1240, 375} {
			must(t, b.Look(chromium.Screen{Width: width, Height: 900, Dark: dark}))
			must(t, b.Visit(address.Scheme+"://"+address.Host+"/review/open", true))
			for i, path := range []string{"open", "", "list", "list?show=decided", "threshold", "?show=decided", "?from=0.999&to=0.9991"} {
				if i == 1 {
					must(t, b.Visit(address.String(), true))
				}
				must(t, b.Visit(root+path, true))
				where := fmt.Sprintf("%s, %d wide, dark %v", path, width, dark)
				if w := eval[[2]int](t, b, `(document.querySelectorAll("details").forEach(d => d.open = true), [document.documentElement.scrollWidth, innerWidth])`); w[0] > w[1] || w[1] != width {
					wide := eval[[]string](t, b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5).map(e => e.outerHTML.slice(0, 200))`)
					t.Errorf("%s: %d pixels wide on a screen of %d: %q", where, w[0], w[1], wide)
				}
				if n := eval[int](t, b, `document.querySelectorAll("img, iframe, svg, [onclick], [onload], [onerror], a[href^=javascript]").length + [...document.scripts].filter(s => !s.src.endsWith("/review/keys.js")).length`); n != 0 {
					t.Errorf("%s: %d elements that a row brought", where, n)
				}
				if path == "" && !strings.Contains(eval[string](t, b, `document.querySelector(".beside").innerText`), "[U+202E]") {
					t.Errorf("%s: the documents are not shown: %.300s", where, eval[string](t, b, `document.querySelector(".beside").innerText`))
				}
				if pictures != "" {
					png, err := b.Picture()
					must(t, err)
					must(t, os.WriteFile(filepath.Join(pictures, fmt.Sprintf("%d-%d-%v.png", i, width, dark)), png, 0o644))
				}
				for _, e := range b.Errors {
					var entry struct{ Entry struct{ Text string } }
					if json.Unmarshal([]byte(e), &entry) != nil || path != "open" || !strings.Contains(entry.Entry.Text, "401") {
						t.Errorf("%s: the console says %.500s", where, e)
					}
				}
				if dark != (width < 600) {
					continue
				}
				must(t, b.Eval(script+";0", nil))
				type finding struct {
					ID, Help string
					Nodes    []struct{ HTML string }
				}
				found := eval[struct{ Violations, Passes []finding }](t, b, `axe.run().then(r => ({violations: r.violations, passes: r.passes.map(p => ({id: p.id}))}))`)
				for _, v := range found.Violations {
					t.Errorf("%s: %s: %s: %.300s", where, v.ID, v.Help, v.Nodes[0].HTML)
				}
				if len(found.Passes) < 10 {
					t.Errorf("%s: axe checked %d rules", where, len(found.Passes))
				}
			}
		}
	}
}

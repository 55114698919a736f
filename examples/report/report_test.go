package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/examples/internal/chromium"
	"github.com/alike-sql/alike/migrations"
	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/pgworker/source"
	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch/report"
	"github.com/alike-sql/alike/sqlext"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// browser starts a browser for the length of a test; without Chromium the test
// fails.
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

// database opens a new SQLite file with the functions of the extension.
func database(t *testing.T) (string, *sql.DB) {
	t.Helper()
	if err := sqlext.Auto(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test #1?.db")
	db, err := sql.Open("sqlite3", "file:"+strings.NewReplacer("#", "%23", "?", "%3f").Replace(file))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return file, db
}

func exec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%.200s: %v", statement, err)
	}
}

func count(t *testing.T, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// page writes the page of a file and returns its name.
func page(t *testing.T, file string) (string, *report.Report) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	r, err := write(t.Context(), file, name)
	if err != nil {
		t.Fatal(err)
	}
	return name, r
}

func eval[T any](t *testing.T, b *chromium.Browser, script string) (value T) {
	t.Helper()
	if err := b.Eval(script, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func show(t *testing.T, b *chromium.Browser, page string, s chromium.Screen, bypass bool) {
	t.Helper()
	if err := b.Look(s); err != nil {
		t.Fatal(err)
	}
	if err := b.Open(page, bypass); err != nil {
		t.Fatal(err)
	}
}

var (
	desk  = chromium.Screen{Width: 1240, Height: 900}
	phone = chromium.Screen{Width: 360, Height: 780}
)

// narrow fails when a page is wider than its screen.
func narrow(t *testing.T, b *chromium.Browser) {
	t.Helper()
	eval[any](t, b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	if w := eval[[2]int](t, b, `[document.documentElement.scrollWidth, innerWidth]`); w[0] > w[1] || w[1] != 360 {
		wide := eval[[]string](t, b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5).map(e => e.outerHTML.slice(0, 200))`)
		t.Errorf("the page is %d pixels wide on a screen of %d: %q", w[0], w[1], wide)
	}
}

// The same memos in both engines: the same numbers, and those that the
// engines' own functions give.
func TestEnginesAgree(t *testing.T) {
	list := collection(400)
	file := filepath.Join(t.TempDir(), "office.db")
	if err := fill(file, list); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, lite := page(t, file)
	s := lite.Attachments[0]
	asQueriesSay(t, db, s)
	conn := inPostgreSQL(t, list, db)
	attached, err := source.Report(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	big, err := report.Make(t.Context(), attached, report.Config{})
	if err != nil {
		t.Fatal(err)
	}
	// What an engine says in its own words, and which pairs it recorded when.
	plain := func(r *report.Report) string {
		s := *r.Attachments[0]
		s.Table, s.Mode, s.Note, s.Waiting = "", "", "", report.Waiting{Judged: s.Waiting.Judged, Disputed: s.Waiting.Disputed}
		b, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := strings.Split(plain(lite), "\n"), strings.Split(plain(big), "\n"); len(a) != len(b) {
		t.Errorf("%d lines from SQLite, %d from PostgreSQL", len(a), len(b))
	} else {
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("SQLite %s, PostgreSQL %s", a[i], b[i])
			}
		}
	}
	shownToReader(t, conn)
}

// asQueriesSay compares the numbers of an attachment with what queries give, and with what the collection must give.
func asQueriesSay(t *testing.T, db *sql.DB, s *report.Section) {
	t.Helper()
	for name, c := range map[string]struct {
		got   int64
		query string
	}{
		"clusters":         {int64(s.Clusters.Count), `select count(distinct cluster) from alike_clusters('memos')`},
		"rows in clusters": {int64(s.Clusters.Rows), `select count(*) from alike_clusters('memos')`},
		"pairs":            {s.Candidates.Alike, `select count(*) from alike_pairs('memos')`},
		"candidates":       {s.Candidates.Pairs, `select count(*) from (select distinct id, other from memos_alike_pair where id < other)`},
		"hot rows":         {int64(s.Hot[0].Rows), `select max(rows) from alike_hot('memos')`},
	} {
		if want := count(t, db, c.query); c.got != want || want == 0 {
			t.Errorf("%s: %d, want %d, not 0", name, c.got, want)
		}
	}
	if len(s.Measured.Points) < 3 || s.Waiting.Judged != 20 || s.Waiting.Disputed == 0 || len(s.Indexes) != 3 {
		t.Errorf("measured %v, waiting %+v, %d indexes", s.Measured, s.Waiting, len(s.Indexes))
	}
	for _, p := range s.Measured.Points {
		// Drafts of one memo are no independent pairs: wider than the intervals.
		if p.Found < p.Curve-0.25 || p.Found > p.Curve+0.25 || p.Low > p.Found || p.High < p.Found {
			t.Errorf("at %.2f %.2f is found, in %.2f to %.2f, %.2f by the formula", p.Resemblance, p.Found, p.Low, p.High, p.Curve)
		}
	}
	if length := s.Indexes[0]; length.Variant != "length" || float64(length.Inside) < 0.98*float64(length.Pairs) || length.Pairs == 0 {
		t.Errorf("the lengths hold %d of %d pairs", length.Inside, length.Pairs)
	}
}

// inPostgreSQL checks the documents into PostgreSQL, with the verdicts that SQLite has.
func inPostgreSQL(t *testing.T, list []document, db *sql.DB) *pgx.Conn {
	t.Helper()
	url := pgtest.Database(t)
	conn := pgtest.Connect(t, url)
	if err := migrations.Up(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`create table memos (id bigint primary key, body text)`,
		`select alike.attach('memos', 'body', '{"profile": "prose", "policy": "link", "si": ["length", "forest/0", "43B/40"]}')`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.text
	}
	if _, err := conn.Exec(t.Context(), `insert into memos select n, body from unnest($1::text[]) with ordinality as d(body, n)`, texts); err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(t.Context(), worker.Config{DatabaseURL: url, AllowSuperuser: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`select id, other, verdict from memos_alike_mark`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, other, verdict string
		if err := rows.Scan(&id, &other, &verdict); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `select alike.mark('memos', $1, $2, $3)`, id, other, verdict); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// shownToReader fails unless a role that may not read the documents sees none of what was derived from them.
func shownToReader(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), `set role alike_reader`); err != nil {
		t.Fatal(err)
	}
	attached, err := source.Report(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := report.Make(t.Context(), attached, report.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(reader.Attachments) != 0 {
		t.Errorf("a role that may not read memos is shown %+v, want no attachment", reader.Attachments[0])
	}
}

// Whatever a row holds is text: it runs nothing, asks for nothing, and leaves
// the page as wide as it is.
func TestHostile(t *testing.T) {
	file, db := database(t)
	attack := `<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"'` + "`" + `</style></title></details><a href="javascript:alert(4)">x</a> {{.}} &lt; ]]> -->` +
		"\u202e\u2066 rtl \x00\x1b[31m\u0007 " + strings.Repeat("W", 1<<20-4000) + " שלום עולם \xff\xfe end"
	name := `<b>"x' onclick=alert(5)`
	quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	exec(t, db, `create table `+quoted+` (k text, n integer, body text, primary key (k, n))`)
	key := "</summary><script>alert(6)</script>\u202e' \x00" + strings.Repeat("K", 5000)
	for i := range 14 {
		exec(t, db, `insert into `+quoted+` values (?, ?, ?)`, key, i, strings.Replace(attack, " end", strings.Repeat(" the end of row", 1+i%3), 1))
	}
	exec(t, db, `insert into `+quoted+` values ('null', 0, null), ('huge', 0, ?), ('empty', 0, '')`, strings.Repeat("word ", 1<<18))
	exec(t, db, `select alike_attach(?, 'body', '{"policy": "link", "si": ["length"]}')`, quoted)
	exec(t, db, `insert into `+quoted+` values (?, 77, ?)`, key, attack)
	html, r := page(t, file)
	s := r.Attachments[0]
	if s.Clusters.Count == 0 || s.Waiting.Recorded == 0 || len(s.Hot) == 0 {
		t.Fatalf("%d clusters, %d recorded pairs, %d hot features, want some of each", s.Clusters.Count, s.Waiting.Recorded, len(s.Hot))
	}
	written, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "onerror=alert(2)>", "\x00", "\u202e", "javascript:alert(4)\""} {
		if bytes.Contains(written, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if len(written) > 1<<20 {
		t.Errorf("the page has %d bytes", len(written))
	}
	// The statement is what the key is.
	exec(t, db, strings.TrimSuffix(s.Waiting.Pairs[0].Duplicate, ";"))
	if n := count(t, db, `select count(*) from "`+strings.ReplaceAll(name, `"`, `""`)+`_alike_mark"`); n != 1 {
		t.Errorf("%d verdicts, want 1", n)
	}

	b := browser(t)
	show(t, b, html, phone, false)
	narrow(t, b)
	if n := eval[int](t, b, `document.scripts.length + document.querySelectorAll("img, iframe, [onclick], [onload], [onerror], a[href^=javascript]").length`); n != 0 {
		t.Errorf("%d elements that a row brought, want 0", n)
	}
	if title := eval[string](t, b, `document.title`); !strings.Contains(title, "what is alike") {
		t.Errorf("the title is %q", title)
	}
	quiet(t, b)
}

// A program writes to a file while the report reads it: its statements are
// committed between those of the report.
func TestWhileWritten(t *testing.T) {
	for _, journal := range []string{"delete", "wal"} {
		t.Run(journal, func(t *testing.T) {
			file, db := database(t)
			exec(t, db, `pragma journal_mode = `+journal)
			exec(t, db, `pragma busy_timeout = 600000`)
			exec(t, db, `create table documents (id integer primary key, body text)`)
			exec(t, db, `insert into documents (body) with recursive n(i) as (select 0 union all select i + 1 from n where i < 6000)
				select printf('the number %d of the papers of case %d in room %d and shelf %d', i * 7919 % 1000003, i, i * 31 % 997, i * 17 % 89) from n, (select 1 union all select 2)`)
			exec(t, db, `select alike_attach('documents', 'body', '{"profile": "words w=4 t=84 k=12 s=7"}')`) // under short all resemble all
			stop, stopped := make(chan struct{}), make(chan error)
			var written atomic.Int64
			go func() {
				for {
					select {
					case <-stop:
						stopped <- nil
						return
					default:
					}
					if _, err := db.Exec(`insert into documents (body) values (?)`, fmt.Sprintf("what was written meanwhile is number %d of some", written.Load())); err != nil {
						stopped <- err
						return
					}
					written.Add(1)
				}
			}()
			_, r := page(t, file)
			// One is committed before the report, one may wait for all of it.
			if n := written.Load(); n < 3 {
				t.Errorf("%d rows were written while the report was made, want 3 and more", n)
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Errorf("the writer: %v", err)
			}
			if n := r.Attachments[0].Clusters.Count; n < 6001 {
				t.Errorf("%d clusters, want 6001 and more", n)
			}
		})
	}
}

// quiet fails when a page asked for anything or complained.
func quiet(t *testing.T, b *chromium.Browser) {
	t.Helper()
	for _, url := range b.Requests {
		if !strings.HasPrefix(url, "file://") && url != "data:," {
			t.Errorf("the page asks for %.200s", url)
		}
	}
	if len(b.Requests) == 0 {
		t.Error("the browser asked for nothing, not even the page")
	}
	for _, e := range b.Errors {
		t.Errorf("the console says %.500s", e)
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

// The labels of the charts stand apart on every phone.
func TestLabelsStandApart(t *testing.T) {
	file, db := database(t)
	exec(t, db, `create table memos (id integer primary key, body text)`)
	for i, size := range []int{2, 3, 4, 5, 8, 15, 30, 60, 120, 200} { // a bar of each size
		for row := range size {
			text := strings.Repeat(fmt.Sprintf("%[1]d%[1]d and x%[1]d then y%[1]d ", i+10), 20)
			exec(t, db, `insert into memos (body) values (?)`, text+[]string{"", "the end", "at the end of it"}[row%3])
		}
	}
	exec(t, db, `select alike_attach('memos', 'body', '{"profile": "words w=4 t=84 k=12 s=7"}')`)
	html, _ := page(t, file)
	b := browser(t)
	for _, width := range []int{320, 375, 430, 700, 1240} {
		show(t, b, html, chromium.Screen{Width: width, Height: 800}, true)
		type label struct {
			Text                     string
			Left, Right, Top, Bottom float64
		}
		charts := eval[[][]label](t, b, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().width > 0).map(s => [...s.querySelectorAll("text")].map(e => {
			const r = e.getBoundingClientRect(), x = Math.min(r.width, 1), y = Math.min(r.height, 1) // a hair is no overlap
			return {text: e.textContent, left: r.left + x / 2, right: r.right - x / 2, top: r.top + y / 2, bottom: r.bottom - y / 2}
		}))`)
		if len(charts) < 3 {
			t.Errorf("%d pixels: %d charts, want 3 and more", width, len(charts))
		}
		for _, labels := range charts {
			if len(labels) < 5 {
				t.Errorf("%d pixels: a chart has the labels %v alone", width, labels)
			}
			for i, x := range labels {
				if x.Left < 0 || x.Right > float64(width) {
					t.Errorf("%d pixels: %q goes from %.0f to %.0f", width, x.Text, x.Left, x.Right)
				}
				for _, y := range labels[:i] {
					// Lines of text may share what is above capitals and below the line.
					if x.Left < y.Right && y.Left < x.Right && min(x.Bottom, y.Bottom)-max(x.Top, y.Top) > 0.25*(x.Bottom-x.Top) {
						t.Errorf("%d pixels: %q and %q overlap", width, y.Text, x.Text)
					}
				}
			}
		}
	}
}

// People who cannot see, or not well, or do not point, use the page too.
func TestAccessible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "office.db")
	if err := fill(file, collection(300)); err != nil {
		t.Fatal(err)
	}
	html, _ := page(t, file)
	script := axe(t)
	b := browser(t)
	for _, s := range []chromium.Screen{desk, {Width: 1240, Height: 900, Dark: true}, phone, {Width: 360, Height: 780, Dark: true}} {
		t.Run(fmt.Sprintf("%d wide, dark %v", s.Width, s.Dark), func(t *testing.T) {
			show(t, b, html, s, true)
			quiet(t, b)
			if s.Width == 360 {
				narrow(t, b)
			}
			// All of the first parts open; more of the same is more of the same.
			eval[any](t, b, `document.querySelectorAll("details").forEach((d, i) => d.open = i % 9 < 3)`)
			background := eval[string](t, b, `getComputedStyle(document.documentElement).backgroundColor`)
			if dark := background == "rgb(13, 17, 23)"; dark != s.Dark {
				t.Errorf("the background is %s", background)
			}
			// What is not laid out, axe takes to be over what follows it, where nothing is seen of it.
			eval[any](t, b, `document.querySelectorAll(".row").forEach(r => r.style.contentVisibility = "visible")`)
			eval[any](t, b, script+";0")
			type violation struct {
				ID    string
				Help  string
				Nodes []struct{ HTML string }
			}
			found := eval[struct {
				Violations []violation
				Passes     []violation
			}](t, b, `axe.run().then(r => ({violations: r.violations, passes: r.passes}))`)
			for _, v := range found.Violations {
				t.Errorf("%s: %s: %.300s", v.ID, v.Help, v.Nodes[0].HTML)
			}
			checked := map[string]bool{}
			for _, p := range found.Passes {
				checked[p.ID] = true
			}
			for _, rule := range []string{"color-contrast", "heading-order", "landmark-one-main", "svg-img-alt", "bypass"} {
				if !checked[rule] {
					t.Errorf("%s was not checked", rule)
				}
			}
		})
	}

	t.Run("keyboard", func(t *testing.T) {
		show(t, b, html, desk, true)
		press := func(key string, code int) {
			if err := b.Press(key, code); err != nil {
				t.Fatal(err)
			}
		}
		press("Tab", 9)
		if at := eval[string](t, b, `document.activeElement.className + " " + Math.round(document.activeElement.getBoundingClientRect().left)`); at != "skip 0" {
			t.Errorf("the first stop is %q, want the link that skips, to be seen", at)
		}
		press("Enter", 13)
		if at := eval[string](t, b, `document.activeElement.id`); at != "main" {
			t.Errorf("the link skips to %q", at)
		}
		press("Tab", 9)
		was := eval[bool](t, b, `document.activeElement.matches("summary") && document.activeElement.parentElement.open`)
		if outline := eval[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
			t.Errorf("the focus is not seen: %s", outline)
		}
		press("Enter", 13)
		if now := eval[bool](t, b, `document.activeElement.parentElement.open`); now == was {
			t.Error("Enter does not open a part")
		}
	})

	t.Run("print", func(t *testing.T) {
		show(t, b, html, chromium.Screen{Width: 760, Height: 1000, Print: true}, true)
		if shown := eval[string](t, b, `getComputedStyle(document.querySelector("nav")).display + " " + document.querySelector("details.printed:not([open]) .place").getBoundingClientRect().height`); !strings.HasPrefix(shown, "none ") || strings.HasSuffix(shown, " 0") {
			t.Errorf("on paper the navigation and the closed clusters are %q", shown)
		}
		pdf, err := b.PDF()
		if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
			t.Errorf("the PDF has %d bytes: %v", len(pdf), err)
		}
	})
}

// A hundred thousand clusters make a page that people can open.
func TestLarge(t *testing.T) {
	const clusters = 100_000
	file, db := database(t)
	exec(t, db, `pragma journal_mode = off`)
	exec(t, db, `pragma synchronous = off`)
	exec(t, db, `create table documents (id integer primary key, body text)`)
	exec(t, db, `insert into documents (body) with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
		select printf('the number %d of the %d papers of case %d in room %d and shelf %d', i * 7919 % 1000003, i * 104729 % 1000033, i, i * 31 % 997, i * 17 % 89) from n, (select 1 union all select 2)`, clusters)
	exec(t, db, `select alike_attach('documents', 'body', '{"profile": "words w=4 t=84 k=12 s=7"}')`) // under short all resemble all
	html, r := page(t, file)
	if n := r.Attachments[0].Clusters; n.Count != clusters || n.Rows != 2*clusters || n.LeftOut != clusters-600 {
		t.Errorf("%d clusters of %d rows, %d left out", n.Count, n.Rows, n.LeftOut)
	}
	info, err := os.Stat(html)
	if err != nil {
		t.Fatal(err)
	}
	b := browser(t)
	show(t, b, html, phone, true)
	narrow(t, b)
	elements := eval[int](t, b, `document.querySelectorAll("*").length`)
	if info.Size() > 1<<20 || elements > 10_000 {
		t.Errorf("the page has %d bytes and %d elements, want at most %d and 10000", info.Size(), elements, 1<<20)
	}
}

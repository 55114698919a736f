package worker

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// The same rows as in SQLite's TestCommon, and the same answer.
func TestCommon(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table d (a text, b bigint, body text, primary key (a, b))")
	for i := range 40 {
		body := fmt.Sprintf("<p>row%d has words%d of%d its%d own%d</p>", i, i, i, i, i)
		if i%4 == 0 {
			body += "<p>All rights reserved by the<br>owner of this site</p>"
		}
		if i%2 == 1 {
			body += "<p>this row is not attached at all</p>"
		}
		exec(t, c, "insert into d values ('k', $1, $2)", i, body)
	}
	exec(t, c, "insert into d values ('k', 100, null), ('k', 102, ''), ('k', 104, '12')")
	exec(t, c, `select alike.attach('d', 'body', '{"profile": "words w=4", "extract": "html", "where": "b % 2 = 0"}')`)
	list, err := Common(ctx, c, "d", 0.1)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v, want one passage", list, err)
	}
	if p := list[0]; p.Text != "all rights reserved by the owner of this site" || p.Rows != 10 || math.Abs(p.Share-10.0/21) > 1e-9 || p.Shingles != 6 || p.Example != `["k", 0]` {
		t.Errorf("%+v", p)
	}
	for share, want := range map[float64]int{0.47: 1, 0.48: 0, 1: 0} {
		if list, err := Common(ctx, c, "d", share); err != nil || len(list) != want {
			t.Errorf("from %v: %+v, %v, want %d", share, list, err, want)
		}
	}
	if _, err := Common(ctx, c, "nothing", 0.1); err == nil {
		t.Error("no error where nothing is attached")
	}
	if _, err := Common(ctx, c, "d", 0); err == nil {
		t.Error("no error for a share of 0")
	}
	exec(t, c, "select 1") // no transaction is left open
}

// The worker learns what many rows share once a table is full, and sketches it without, beside
// the sketches that there are; then checkins, questions for a text and gates leave it out,
// too. The rows, and the answers, are those of SQLite's TestCommonIsLeftOut.
func TestCommonIsLeftOut(t *testing.T) {
	licence := "permission is hereby granted free of charge to any person obtaining a copy of this software to deal in it without restriction and without warranty of any kind"
	body := func(i int) string {
		return fmt.Sprintf("tool%d parses%d files%d quickly%d and%d writes%d reports%d %s", i, i, i, i, i, i, i, licence)
	}
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table d (id bigint primary key, body text)")
	for i := range 60 {
		exec(t, c, "insert into d values ($1, $2)", i, body(i))
	}
	exec(t, c, "insert into d values (100, $1), (101, $2)", body(7)+" fast", licence)
	exec(t, c, `select alike.attach('d', 'body', '{"profile": "prose", "policy": "link", "common": true}')`)
	w := newWorker(t, database, nil)
	once(t, w)
	profile := func() (p string) {
		t.Helper()
		p, _ = profileOf(t, c, "d")
		return p
	}
	pairs := func(want string) {
		t.Helper()
		if got := one[string](t, c, "select coalesce(string_agg(key || '|' || other, ' ' order by key), '') from alike.pairs('d')"); got != want {
			t.Errorf("pairs %q, want %q", got, want)
		}
	}
	first := profile()
	if !strings.Contains(first, " without=") {
		t.Fatalf("the profile is %q", first)
	}
	pairs("7|100")
	if n := one[string](t, c, "select string_agg(shingles || '|' || (sketch is null), ' ' order by id) from d_alike where id in (3, 101)"); n != "7|false 0|true" {
		t.Errorf("shingles %s", n)
	}
	exec(t, c, "insert into d values (102, $1)", body(9)+" now")
	once(t, w)
	pairs("7|100 9|102")
	if q, err := Ask(ctx, c, "d", []byte(body(9))); err != nil || q.Shingles != 7 {
		t.Errorf("%+v, %v, want 7 shingles", q, err)
	} else if like := one[string](t, c, "select alike.gate('d', $1)", q.Sketch); like != "9" {
		t.Errorf("the gate finds %q, want 9", like)
	}
	exec(t, c, `select alike.change('d', '{"verify": "text", "at_least": 0.88}')`)
	e, err := NewExact(ctx, c, "d", 0.85)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range e.all(t) {
		if x.Resemblance != 0.875 || x.Low != x.High {
			t.Errorf("%+v, want 0.875", x)
		}
	}
	e.Close(ctx)
	// Another list: the first serves until the second is there.
	exec(t, c, "update d set body = replace(body, 'free of charge', 'at no cost')")
	once(t, w)
	exec(t, c, `select alike.change('d', '{"common": 0.5, "at_least": null}')`)
	if profile() != first {
		t.Errorf("the profile is %q before another list was learned, want %q", profile(), first)
	}
	once(t, w)
	second := profile()
	if second == first || !strings.Contains(second, " without=") {
		t.Errorf("the profile is %q, before it was %q", second, first)
	}
	pairs("7|100 9|102")
	name := second[strings.Index(second, "without=")+8:]
	for statement, want := range map[string]string{
		`select alike.change('d', '{"common": "0badbad0"}')`:                        "is not in this database",
		`select alike.change('d', '{"common": 2}')`:                                 "the option common is 2",
		`select alike.change('d', '{"common": "x"}')`:                               "the option common is",
		`select alike.change('d', '{"common": []}')`:                                "option common",
		`select alike.change('d', '{"profile": "words mod=4", "common": 0.1}')`:     "leaves no shingles out",
		`select alike.sketch_set('x', 1, 'words without=` + name + `')`:             "is needed",
		`select alike.attach('d', 'body', '{"profile": "prose without=0badbad0"}')`: "is not in this database",
	} {
		if _, err := c.Exec(ctx, statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
	// A new profile has no list unless it is named; an old list can be.
	exec(t, c, `select alike.change('d', '{"profile": "prose w=3"}')`)
	once(t, w)
	if strings.Contains(profile(), "without") {
		t.Errorf("the profile is %q", profile())
	}
	exec(t, c, `select alike.change('d', jsonb_build_object('profile', 'prose', 'common', $1::text))`, name)
	once(t, w)
	if profile() != second {
		t.Errorf("the profile is %q, want %q", profile(), second)
	}
	exec(t, c, `select alike.change('d', '{"common": false}')`)
	once(t, w)
	if strings.Contains(profile(), "without") {
		t.Errorf("the profile is %q", profile())
	}
	// The worker finds nothing common: it leaves nothing out and does not look again.
	exec(t, c, `select alike.change('d', '{"common": 1}')`)
	once(t, w)
	if strings.Contains(profile(), "without") || one[bool](t, c, "select alike._learns(options) from alike.attachment") {
		t.Errorf("the profile is %q", profile())
	}
	exec(t, c, `select alike.detach('d', '{"drop": true}')`)
	if left := one[int](t, c, "select count(*) from pg_proc where proname ~ '^alike_.*_[0-9]+$'"); left != 0 {
		t.Errorf("%d functions are left", left)
	}
}

package worker

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// The same rows as in SQLite's TestCommon, and the same answer.
func TestCommon(t *testing.T) {
	t.Parallel()
	database, c := askable(t, pgtest.Version())
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

	startWorker(t, database)
	exec(t, c, "set alike.timeout = 60")
	answer := func(arguments string) string {
		return one[string](t, c, "select coalesce(string_agg(passage || '|' || rows || '|' || round(share::numeric, 4) || '|' || shingles || '|' || key, ';'), '') from alike.common("+arguments+")")
	}
	for arguments, want := range map[string]string{
		"'d'": `all rights reserved by the owner of this site|10|0.4762|6|["k", 0]`, "'d', 0.47": `all rights reserved by the owner of this site|10|0.4762|6|["k", 0]`,
		"'d', 0.48": "", "'d', 1": "", "'d', null": "", "null": "",
	} {
		if got := answer(arguments); got != want {
			t.Errorf("alike.common(%s): %s, want %s", arguments, got, want)
		}
	}
	fails(t, c, "want above 0 and at most 1", "select * from alike.common('d', 0)")
	fails(t, c, "want above 0 and at most 1", "select * from alike.common('d', 'NaN')")
	fails(t, c, "nothing is attached to nothing", "select * from alike.common('nothing')")
	exec(t, c, `create table files (id int primary key, kind text, data bytea); select alike.attach('files', 'data', '{"extract": {"column": "kind"}}')`)
	fails(t, c, "the texts of files are extracted from other files; pgworker common files reads them", "select * from alike.common('files')")
	exec(t, c, `create table large as select 1 as id, repeat('x', 70000000) as body; alter table large add primary key (id); select alike.attach('large', 'body', '{"profile": "words"}')`)
	fails(t, c, "have 70000000 bytes, want at most 67108864; pgworker common large reads them", "select * from alike.common('large')")
}

const licence = "permission is hereby granted free of charge to any person obtaining a copy of this software to deal in it without restriction and without warranty of any kind"

// licensed returns a text of eight words in front of the licence.
func licensed(i int) string {
	return fmt.Sprintf("tool%d parses%d files%d quickly%d and%d writes%d reports%d %s", i, i, i, i, i, i, i, licence)
}

// A licensedTable has texts under one licence, which the worker has learned to leave out.
type licensedTable struct {
	t *testing.T
	c *pgx.Conn
	w *Worker
}

func newLicensedTable(t *testing.T) licensedTable {
	t.Helper()
	database := pgtest.Database(t)
	d := licensedTable{t, pgtest.Connect(t, database), nil}
	exec(t, d.c, "create table d (id bigint primary key, body text)")
	for i := range 60 {
		exec(t, d.c, "insert into d values ($1, $2)", i, licensed(i))
	}
	exec(t, d.c, "insert into d values (100, $1), (101, $2)", licensed(7)+" fast", licence)
	exec(t, d.c, `select alike.attach('d', 'body', '{"profile": "prose", "policy": "link", "common": true}')`)
	d.w = newWorker(t, database, nil)
	once(t, d.w)
	return d
}

// profile returns the profile of the table, and the name of its list.
func (d licensedTable) profile() (profile, list string) {
	d.t.Helper()
	profile, _ = profileOf(d.t, d.c, "d")
	_, list, _ = strings.Cut(profile, " without=")
	return profile, list
}

func (d licensedTable) change(options string) {
	d.t.Helper()
	exec(d.t, d.c, "select alike.change('d', $1)", options)
}

func (d licensedTable) pairs(want string) {
	d.t.Helper()
	if got := one[string](d.t, d.c, "select coalesce(string_agg(key || '|' || other, ' ' order by key), '') from alike.pairs('d')"); got != want {
		d.t.Errorf("pairs %q, want %q", got, want)
	}
}

// The worker learns what many rows share once a table is full, and sketches it without, beside
// the sketches that there are; then checkins, questions for a text and gates leave it out,
// too. The rows, and the answers, are those of SQLite's TestCommonIsLeftOut.
func TestCommonIsLeftOut(t *testing.T) {
	t.Parallel()
	d := newLicensedTable(t)
	if profile, list := d.profile(); list == "" {
		t.Fatalf("the profile is %q, want one with a list", profile)
	}
	d.pairs("7|100")
	if n := one[string](t, d.c, "select string_agg(shingles || '|' || (sketch is null), ' ' order by id) from d_alike where id in (3, 101)"); n != "7|false 0|true" {
		t.Errorf("shingles|no sketch of the rows 3 and 101: %s, want 7|false 0|true", n)
	}
	exec(t, d.c, "insert into d values (102, $1)", licensed(9)+" now")
	once(t, d.w)
	d.pairs("7|100 9|102")
	if q, err := Ask(ctx, d.c, "d", []byte(licensed(9))); err != nil || q.Shingles != 7 {
		t.Errorf("%+v, %v, want 7 shingles", q, err)
	} else if like := one[string](t, d.c, "select alike.gate('d', $1)", q.Sketch); like != "9" {
		t.Errorf("the gate finds %q, want 9", like)
	}
	d.change(`{"verify": "text", "at_least": 0.88}`)
	e, err := NewExact(ctx, d.c, "d", 0.85)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(ctx)
	for _, x := range e.all(t) {
		if x.Resemblance != 0.875 || x.Low != x.High {
			t.Errorf("%+v, want 0.875", x)
		}
	}
}

// When another list is asked for, the first serves until the second is there.
func TestCommonIsLearnedAgain(t *testing.T) {
	t.Parallel()
	d := newLicensedTable(t)
	first, _ := d.profile()
	exec(t, d.c, "update d set body = replace(body, 'free of charge', 'at no cost')")
	once(t, d.w)
	d.change(`{"common": 0.5}`)
	if profile, _ := d.profile(); profile != first {
		t.Errorf("the profile is %q before another list was learned, want %q", profile, first)
	}
	once(t, d.w)
	second, list := d.profile()
	if second == first || list == "" {
		t.Errorf("the profile is %q, want another list than in %q", second, first)
	}
	d.pairs("7|100")
	// A new profile has no list unless the list is named; an old list can be named.
	d.change(`{"profile": "prose w=3"}`)
	once(t, d.w)
	if profile, list := d.profile(); list != "" {
		t.Errorf("the profile is %q, want one without a list", profile)
	}
	d.change(`{"profile": "prose", "common": "` + list + `"}`)
	once(t, d.w)
	if profile, _ := d.profile(); profile != second {
		t.Errorf("the profile is %q, want %q", profile, second)
	}
	// The first list, which nothing uses, goes when another is kept.
	other := one[string](t, d.c, `select alike._keep_boilerplate('\x0000000000000001')`)
	if got, want := one[string](t, d.c, "select string_agg(lpad(to_hex(list), 8, '0'), ' ' order by list) from alike.boilerplate"), min(list, other)+" "+max(list, other); got != want {
		t.Errorf("the lists %s are kept, want %s", got, want)
	}
}

func TestCommonIsRefused(t *testing.T) {
	t.Parallel()
	d := newLicensedTable(t)
	_, list := d.profile()
	for statement, want := range map[string]string{
		`select alike.change('d', '{"common": "0badbad0"}')`:                        "is not in this database",
		`select alike.change('d', '{"common": 2}')`:                                 "the option common is 2",
		`select alike.change('d', '{"common": "x"}')`:                               "the option common is",
		`select alike.change('d', '{"common": []}')`:                                "option common",
		`select alike.change('d', '{"profile": "words mod=4", "common": 0.1}')`:     "leaves no shingles out",
		`select alike.sketch_set('x', 1, 'words without=` + list + `')`:             "is needed",
		`select alike.attach('d', 'body', '{"profile": "prose without=0badbad0"}')`: "is not in this database",
	} {
		if _, err := d.c.Exec(ctx, statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
}

// A table goes back to whole texts on demand, and when the worker finds nothing common; the
// worker does not look again.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	d := newLicensedTable(t)
	for _, options := range []string{`{"common": false}`, `{"common": 1}`} {
		d.change(options)
		once(t, d.w)
		if profile, list := d.profile(); list != "" {
			t.Errorf("after %s the profile is %q, want one without a list", options, profile)
		}
	}
	if one[bool](t, d.c, "select alike._learns(options) from alike.attachment") {
		t.Error("the worker would look again for what is common")
	}
	exec(t, d.c, `select alike.detach('d', '{"drop": true}')`)
	if left := one[int](t, d.c, "select count(*) from pg_proc where proname ~ '^alike_.*_[0-9]+$'"); left != 0 {
		t.Errorf("%d functions are left after the drop, want 0", left)
	}
}

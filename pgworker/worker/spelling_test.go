package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/queries"
)

// spelledKeys are keys of every kind, as people spell them and as answers do.
var spelledKeys = []struct {
	columns  string // the key's type, or those of its columns
	values   string // the keys of the rows, by g from 1 to 12
	spelled  string // the first one, as a person may spell it
	spelling string // the first one, as it is spelled
	missing  string
}{
	{"bigint", "g", "0001", "1", "99"},
	{"smallint", "g", " 1", "1", "99"},
	{"uuid", "lpad(to_hex(g + 160), 32, '0')::uuid", "{000000000000000000000000000000A1}", "00000000-0000-0000-0000-0000000000a1", "0a000000-0000-0000-0000-00000000000d"},
	{"timestamptz", "timestamptz '2024-01-01 00:00:00+00' + (g - 1) * interval '1 day'", "2024-01-01 09:00:00+09", "2024-01-01 00:00:00+00", "2023-01-03 00:00:00+00"},
	{"timestamp", "timestamp '2024-01-02 00:00:00' + (g - 1) * interval '1 day'", "2024-01-02T00:00", "2024-01-02 00:00:00", "2023-01-03"},
	{"date", "date '2024-02-03' + g - 1", "20240203", "2024-02-03", "2023-01-03"},
	{"timetz", "timetz '01:00:00+02' + (g - 1) * interval '1 hour'", "01:00+02", "01:00:00+02", "23:59:00+00"},
	{"interval", "make_interval(months => -1, days => g, hours => -2)", "-1 month 1 day -2 hours", "-1 mons +1 day -02:00:00", "7 years"},
	{"numeric", "g * 1.50", "01.50", "1.50", "99"},
	{"float8", "g * 0.1::float8 + 0.2::float8", "3.0000000000000004e-1", "0.30000000000000004", "99"},
	{"real", "g / 3::real", "0.33333334", "0.33333334", "99"},
	{"bytea", `decode('5c0' || to_hex(g), 'hex')`, `\x5C01`, `\x5c01`, `\xff`},
	{"text", `'a\"%''' || g`, `a\"%'1`, `a\"%'1`, "99"},
	{"char(6)", "'a' || chr(96 + g)", "aa  ", "aa", "99"},
	{"inet", "'10.0.0.0'::inet + g", "10.0.0.1", "10.0.0.1/32", "10.0.1.1"},
	{"tstzrange", "tstzrange('2024-01-01 00:00:00+00', timestamptz '2024-01-01 00:00:00+00' + g * interval '1 day')", `[2024-01-01 00:00+00,2024-01-02 00:00+00)`, `["2024-01-01 00:00:00+00","2024-01-02 00:00:00+00")`, "empty"},
	{"colour", "('{red,orange,amber,yellow,lime,green,teal,cyan,blue,indigo,violet,pink}'::colour[])[g]", "red", "red", "grey"},
	{"moment", "timestamptz '2024-01-01 00:00:00+00' + (g - 1) * interval '1 day'", "2024-01-01 09:00:00+09", "2024-01-01 00:00:00+00", "2023-01-03 00:00:00+00"},
	{"int, timestamptz", "g, timestamptz '2024-01-01 00:00:00+00' + (g - 1) * interval '1 day'", `[1,"2024-01-01 09:00+09"]`, `[1, "2024-01-01T00:00:00+00:00"]`, `[1, "2023-01-03 00:00:00+00"]`},
	{"uuid, float8, bytea", "lpad(to_hex(g + 160), 32, '0')::uuid, 0.1::float8 + 0.2::float8, decode('5c0' || to_hex(g), 'hex')", `["000000000000000000000000000000A1", 0.30000000000000004, "\\x5C01"]`, `["00000000-0000-0000-0000-0000000000a1", 0.30000000000000004, "\\x5c01"]`, `["0a000000-0000-0000-0000-00000000000d", 1, ""]`},
}

// A key means its row however a person spells it, whatever the settings of the session that
// writes and of the session that asks; every answer has its one spelling, and a row does not
// resemble itself.
func TestKeysAsPeopleSpellThem(t *testing.T) {
	t.Parallel()
	const text = "the quick brown fox jumps over the lazy dog"
	database := pgtest.Database(t)
	plain, c, w := pgtest.Connect(t, database), pgtest.Connect(t, database), newWorker(t, database, nil)
	exec(t, plain, queries.Settings)
	exec(t, c, "create type colour as enum ('red', 'orange', 'amber', 'yellow', 'lime', 'green', 'teal', 'cyan', 'blue', 'indigo', 'violet', 'pink', 'grey'); create domain moment as timestamptz")
	for i, kind := range spelledKeys {
		t.Run(kind.columns, func(t *testing.T) {
			exec(t, c, []string{"set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set extra_float_digits = -10", "set timezone = 'America/New_York'; set datestyle = 'SQL, DMY'; set extra_float_digits = 3"}[i%2]+
				"; set intervalstyle = 'sql_standard'; set bytea_output = 'escape'")
			var defined, names []string
			for n, column := range strings.Split(kind.columns, ", ") {
				names = append(names, fmt.Sprintf("k%d", n))
				defined = append(defined, fmt.Sprintf("k%d %s", n, column))
			}
			exec(t, c, fmt.Sprintf(`create table documents (%s, body text, primary key (%s)); select alike.attach('documents', 'body', '{"policy": "link", "si": ["length"], "matches": 100, "profile": "words k=4 s=7 t=84"}')`, strings.Join(defined, ", "), strings.Join(names, ", ")))
			t.Cleanup(func() { exec(t, c, `select alike.detach('documents', '{"drop": true}'); drop table documents cascade`) })
			exec(t, c, "insert into documents select "+kind.values+", '"+text+"' from generate_series(1, 12) as g")
			exec(t, c, "update documents set body = body || ' ' where ("+strings.Join(names, ", ")+") = (select "+kind.values+" from generate_series(1, 1) as g)")
			once(t, w)

			spell := names[0] + "::text"
			if len(names) > 1 {
				spell = "jsonb_build_array(" + strings.Join(names, ", ") + ")::text"
			}
			first := one[string](t, plain, "select "+spell+" from documents d order by d."+strings.Join(names, ", d.")+" limit 1")
			if kind.columns != "interval" && kind.columns != "timetz" && first != kind.spelling { // which order otherwise
				t.Fatalf("the first key is %s, want %s", first, kind.spelling)
			}
			exec(t, plain, "create view spelled as select "+spell+" as key from documents")
			// In the settings of the view's reader the keys have other spellings.
			spelled := func(conn *pgx.Conn) string { return list(t, conn, "select key from spelled order by 1") }
			keys := spelled(plain)
			others := list(t, plain, "select key from spelled where key <> $1 order by 1", kind.spelling)
			for _, ask := range []struct{ sql, want string }{
				{"select key from alike.rows('documents', $1) order by 1", others},
				{"select key from alike.si_rows('documents', 'length', $1) order by 1", others},
				{"select key from alike.clusters('documents') where $1 <> '' order by 1", keys},
				{"select key from (select key from alike.pairs('documents') union select other from alike.pairs('documents')) p where $1 <> '' order by 1", keys},
				{"select distinct cluster from alike.clusters('documents') where $1 <> ''", first},
				{"select distinct key from alike.hot('documents') where $1 <> ''", first},
				{"select 'twelve' from alike.write_clusters('documents') as n where n = 12 and $1 <> ''", "twelve"},
			} {
				if got := list(t, c, ask.sql, kind.spelled); got != ask.want {
					t.Errorf("%s of %s:\n%s, want\n%s", ask.sql, kind.spelled, got, ask.want)
				}
			}
			if len(names) == 1 {
				typedKeys(t, plain, c, text)
			}
			if got := list(t, plain, "select "+spell+" as key from documents_alike_cluster order by 1"); got != keys {
				t.Errorf("the rows in kept clusters are\n%s, want\n%s", got, keys)
			}
			gateFindsOther(t, c, text, keys, kind.spelled, kind.spelling)
			fails(t, c, "has no row "+kind.missing, "select * from alike.rows('documents', $1)", kind.missing)
			fails(t, c, "both keys name the same row", "select alike.mark('documents', $1, $2, 'distinct')", kind.spelled, kind.spelling)
			last := one[string](t, plain, "select key from spelled where key <> $1 limit 1", kind.spelling)
			exec(t, c, "select alike.mark('documents', $1, $2, 'distinct')", kind.spelled, last)
			if got, want := list(t, c, "select key from alike.rows('documents', $1) order by 1", kind.spelled), list(t, plain, "select key from spelled where key not in ($1, $2) order by 1", kind.spelling, last); got != want {
				t.Errorf("after a verdict the rows are\n%s, want\n%s", got, want)
			}
			if n := one[int](t, c, "select count(*) from documents_alike_match"); n < 12*11/2 {
				t.Errorf("%d matches of twelve rows, want at least 66", n)
			}
			exec(t, c, "delete from documents")
			once(t, w)
			for _, table := range []string{"documents_alike", "documents_alike_match", "documents_alike_mark", "documents_alike_cluster", "alike.error"} {
				if n := count(t, c, table); n != 0 {
					t.Errorf("%s keeps %d rows of deleted documents, want 0", table, n)
				}
			}
		})
	}
}

// typedKeys fails unless the questions take the keys as values of their type: each of the
// twelve rows is like the eleven others and not like itself.
func typedKeys(t *testing.T, plain, c *pgx.Conn, text string) {
	t.Helper()
	for _, question := range []string{"alike.rows('documents', d.k0)", "alike.rows('documents', given => d.k0, at_least => 0.9)", "alike.si_rows('documents', 'length', d.k0, 0.9)"} {
		if got := one[string](t, c, "select count(*) || ' of ' || min(n) || ' to ' || max(n) from (select r.key, count(*) as n from documents d, "+question+" r group by 1) r"); got != "12 of 11 to 11" {
			t.Errorf("%s finds %s, want 12 of 11 to 11", question, got)
		}
	}
	const pair = "select alike.mark('documents', x, y, $1) from (select min(k0::text), max(k0::text) from documents) p(a, b), (select k0 as x from documents) v, (select k0 as y from documents) w where x::text = a and y::text = b"
	for _, verdict := range []string{"distinct", "none"} {
		if got := one[string](t, c, pair, verdict); got != verdict {
			t.Errorf("the verdict %s on typed keys is %s", verdict, got)
		}
	}
	q, err := Ask(ctx, c, "documents", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !one[bool](t, plain, "select coalesce(alike.gate('documents', $1, d.k0) <> d.k0::text, false) from documents d limit 1", q.Sketch) {
		t.Error("the gate of a typed key finds no other row")
	}
}

// gateFindsOther fails unless the gate of a document leaves out the row that the key, as it is
// spelled, names, and finds another of the keys.
func gateFindsOther(t *testing.T, c *pgx.Conn, text, keys, spelled, spelling string) {
	t.Helper()
	q, err := Ask(ctx, c, "documents", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := one[string](t, c, "select coalesce(alike.gate('documents', $1, $2), '')", q.Sketch, spelled); got == "" || got == spelling || !strings.Contains(" "+keys+" ", " "+got+" ") {
		t.Errorf("gate of %s finds %q, want another of the keys %s", spelled, got, keys)
	}
}

// A key of which sessions write equal values in several ways is one row.
func TestEqualKeysOfOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, create := range []string{
		"create table documents (id numeric primary key, body text)",
		"create table documents (id numeric primary key, body text) partition by range (id); create table a_part partition of documents for values from (0) to (1000)",
	} {
		database := pgtest.Database(t)
		c := pgtest.Connect(t, database)
		exec(t, c, create)
		exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
		w := newWorker(t, database, nil)
		once(t, w)
		exec(t, c, "insert into documents values (1.5, $1), (2, $1)", story)
		exec(t, c, "update documents set id = 1.50, body = body || ' more' where id = 1.5; update documents set id = 2.0 where id = 2")
		once(t, w)
		exec(t, c, "update documents set id = 1.500, body = body || ' and more' where id = 1.5; update documents set body = null where id = 2; delete from documents where id = 2.00")
		once(t, w)
		if n := count(t, c, "alike.error"); n != 0 {
			t.Errorf("%d rows failed: %s", n, one[string](t, c, "select min(message) from alike.error"))
		}
		// What a person said follows the row, however its key is spelled now.
		exec(t, c, "insert into documents values (7.0, 'the one'), (8.00, 'the other')")
		once(t, w)
		exec(t, c, "select alike.mark('documents', '7', '8', 'distinct')")
		for _, step := range []struct{ sql, want string }{
			{"update documents set id = 7.00 where id = 7; update documents set id = 9 where id = 7", "8-9"},
			{"update documents set id = 9.0 where id = 9; update documents set id = id + 100 where id in (8, 9)", "108.00-109.0"},
			{"delete from documents where id in (108, 109)", ""},
		} {
			exec(t, c, step.sql)
			once(t, w)
			if got := list(t, c, "select id || '-' || other from documents_alike_mark"); got != step.want {
				t.Errorf("%s: the verdict is on %q, want %q", step.sql, got, step.want)
			}
		}
		if n := one[int](t, c, "select count(*) from documents d join documents_alike s using (id)"); n != 1 || count(t, c, "documents_alike") != 1 || count(t, c, "documents_alike_match") != 0 {
			t.Errorf("%d rows have a sketch, want 1 without a match", n)
		}
	}
}

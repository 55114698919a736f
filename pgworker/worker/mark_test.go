package worker

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// verdicts are what people have said of the pairs of a table with the key id.
func verdicts(t *testing.T, c *pgx.Conn, table string) string {
	t.Helper()
	return one[string](t, c, "select coalesce(string_agg(id || '-' || other || ' ' || verdict || ' ' || coalesce(note, ''), ', ' order by id, other), 'none') from "+table+"_alike_mark")
}

// sketched runs the statements in a new database, and has a worker sketch what they attach.
func sketched(t *testing.T, statements ...string) (*pgx.Conn, *Worker) {
	t.Helper()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	for _, sql := range statements {
		exec(t, c, sql)
	}
	w := newWorker(t, database, nil)
	once(t, w)
	return c, w
}

// short attaches n short documents with a key of the type, and has a worker sketch them.
func short(t *testing.T, key string, n int) (*pgx.Conn, *Worker) {
	t.Helper()
	return sketched(t, "create table documents (id "+key+", body text)",
		fmt.Sprintf("insert into documents select g, 'one two three four ' || g from generate_series(1, %d) as g", n),
		"select alike.attach('documents', 'body')")
}

// A verdict goes with its row, in every session that deletes it, and follows it to a new key:
// in the statement that does so, before any worker has seen it.
func TestVerdictsFollowRows(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	for _, v := range []struct{ name, columns, partitions string }{
		{"plain", "id bigint primary key, body text", ""},
		{"partitioned", "id bigint primary key, body text) partition by range (id", "create table low partition of partitioned for values from (0) to (100)"},
	} {
		t.Run(v.name, func(t *testing.T) {
			exec(t, c, fmt.Sprintf("create table %s (%s); %s", v.name, v.columns, v.partitions))
			exec(t, c, fmt.Sprintf("insert into %s select g, 'one two three four ' || g from generate_series(1, 9) as g", v.name))
			exec(t, c, "select alike.attach($1, 'body')", v.name)
			w := newWorker(t, database, nil)
			once(t, w)
			mark := func(x, y int, verdict string) {
				t.Helper()
				exec(t, c, "select alike.mark($1, $2, $3, $4, 'so')", v.name, fmt.Sprint(x), fmt.Sprint(y), verdict)
			}
			role := "clerk_" + v.name
			exec(t, c, fmt.Sprintf("create role %[1]s; grant select, update, delete, truncate on %[2]s to %[1]s", role, v.name))
			for _, pair := range [][2]int{{1, 2}, {2, 3}, {4, 5}, {6, 7}} {
				mark(pair[0], pair[1], []string{"distinct", "duplicate"}[pair[0]%2])
			}
			for _, step := range []struct{ sql, want string }{
				{"update %s set body = body || ' five' where id = 2", "1-2 duplicate so, 2-3 distinct so, 4-5 distinct so, 6-7 distinct so"},
				{"update %s set id = 20 where id = 2", "1-20 duplicate so, 3-20 distinct so, 4-5 distinct so, 6-7 distinct so"},
				{"begin; delete from %s; rollback", "1-20 duplicate so, 3-20 distinct so, 4-5 distinct so, 6-7 distinct so"},
				{"delete from %s where id in (5, 20)", "6-7 distinct so"},
				{"update %s set id = id - 1 where id between 6 and 9", "5-6 distinct so"}, // one after the other
			} {
				exec(t, c, "set role "+role)
				exec(t, c, fmt.Sprintf(step.sql, v.name))
				exec(t, c, "reset role")
				if got := verdicts(t, c, v.name); got != step.want {
					t.Errorf("%s: %s, want %s", step.sql, got, step.want)
				}
			}
			once(t, w)
			if got, want := verdicts(t, c, v.name), "5-6 distinct so"; got != want {
				t.Errorf("after the worker: %s, want %s", got, want)
			}
			exec(t, c, fmt.Sprintf("set role %s; truncate %s; reset role", role, v.name))
			if got := verdicts(t, c, v.name); got != "none" {
				t.Errorf("after truncate: %s, want none", got)
			}
			exec(t, c, fmt.Sprintf("drop owned by %[1]s; drop role %[1]s", role))
		})
	}
}

func TestVerdictsOfCompositeKeys(t *testing.T) {
	c, _ := sketched(t, "create table documents (a text, b int, body text, primary key (b, a))",
		"insert into documents select x, g, 'one two three four ' || g || x from generate_series(1, 3) as g, unnest(array['x', 'y']) as x",
		"select alike.attach('documents', 'body')")
	exec(t, c, `select alike.mark('documents', '[1, "x"]', '[1, "y"]', 'distinct')`)
	exec(t, c, `select alike.mark('documents', '[2, "y"]', '[2, "x"]', 'duplicate')`)
	exec(t, c, "update documents set a = 'z' where a = 'x'")
	exec(t, c, "delete from documents where a = 'y' and b = 2")
	if got := one[string](t, c, "select string_agg(m::text, ' ') from (select b, a, other_b, other_a, verdict from documents_alike_mark) m"); got != "(1,y,1,z,distinct)" {
		t.Errorf("verdicts %s, want (1,y,1,z,distinct)", got)
	}
}

// A verdict goes with a row that has stopped to meet the condition, and the next row with
// its key has none.
func TestVerdictsOfRowsLeftOut(t *testing.T) {
	c, w := sketched(t, "create table documents (id int primary key, kept boolean default true, body text)",
		"insert into documents select g, true, 'one two three four ' || g from generate_series(1, 4) as g",
		`select alike.attach('documents', 'body', '{"where": "kept"}')`)
	exec(t, c, "select alike.mark('documents', '1', '2', 'distinct'), alike.mark('documents', '3', '4', 'distinct')")
	exec(t, c, "update documents set kept = false where id in (1, 3)")
	once(t, w)
	exec(t, c, "delete from documents where id = 1; update documents set id = 5 where id = 3")
	exec(t, c, "insert into documents values (1, true, 'one two three four'), (3, true, 'one two three four')")
	if got, want := verdicts(t, c, "documents"), "4-5 distinct "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two rows that change places in one statement take their verdicts with them.
func TestVerdictsOfRowsThatChangePlaces(t *testing.T) {
	c, _ := short(t, "int primary key deferrable", 6)
	exec(t, c, "select alike.mark('documents', '1', '3', 'distinct'), alike.mark('documents', '2', '4', 'duplicate'), alike.mark('documents', '5', '6', 'duplicate')")
	exec(t, c, "update documents set id = 3 - id where id in (1, 2)")
	if got, want := verdicts(t, c, "documents"), "1-4 duplicate , 2-3 distinct , 5-6 duplicate "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Rows that went while no trigger looked, in a table that takes none or in one
// whose triggers were disabled: a worker that may do no more than its role forgets
// what was said of them, and nothing else.
func TestVerdictsThatNoTriggerSaw(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create role owning; grant usage, create on schema public to owning; create role forgetful login in role alike_worker, owning")
	asWorker := func(c *Config) { c.DatabaseURL += "&user=forgetful" }
	for _, mode := range []string{"queue", "scan"} {
		exec(t, c, fmt.Sprintf("create table %s (id int primary key, kept boolean default true, body text); alter table %[1]s owner to owning", mode))
		exec(t, c, fmt.Sprintf("insert into %s select g, true, 'one two three four ' || g from generate_series(1, 8) as g", mode))
		exec(t, c, "select alike.attach($1, 'body', jsonb_build_object('mode', $1::text, 'where', 'kept'))", mode)
		w := newWorker(t, database, asWorker)
		once(t, w)
		for i := 1; i < 8; i += 2 {
			exec(t, c, "select alike.mark($1, $2, $3, 'distinct')", mode, fmt.Sprint(i), fmt.Sprint(i+1))
		}
		exec(t, c, "set session_replication_role = replica")
		exec(t, c, fmt.Sprintf("delete from %s where id in (1, 4)", mode))
		exec(t, c, fmt.Sprintf("update %s set kept = false where id = 5", mode)) // it is still there
		exec(t, c, "reset session_replication_role")
		if mode == "queue" {
			exec(t, c, "select alike.refresh($1)", mode)
		}
		once(t, w)
		if got, want := verdicts(t, c, mode), "5-6 distinct , 7-8 distinct "; got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
		exec(t, c, "set role forgetful")
		exec(t, c, fmt.Sprintf("select public.alike_forget_%d(array['5', '6', '7', '8'])", one[int](t, c, "select id from alike.attachment where name = $1", mode)))
		exec(t, c, "reset role")
		if got, want := verdicts(t, c, mode), "5-6 distinct , 7-8 distinct "; got != want {
			t.Errorf("%s, forgetting rows that are there: %s, want %s", mode, got, want)
		}
	}
	exec(t, c, "drop owned by forgetful, owning; drop role forgetful, owning")
}

// A verdict outlives a change of profile, and follows its row after it.
func TestVerdictsAfterChange(t *testing.T) {
	c, w := short(t, "int primary key", 6)
	exec(t, c, "select alike.mark('documents', '1', '2', 'distinct'), alike.mark('documents', '3', '4', 'distinct'), alike.mark('documents', '5', '6', 'distinct')")
	exec(t, c, `select alike.change('documents', '{"profile": "words w=3"}')`)
	exec(t, c, "delete from documents where id = 1")
	once(t, w)
	exec(t, c, "update documents set id = 9 where id = 3")
	exec(t, c, "delete from documents where id = 6")
	if got, want := verdicts(t, c, "documents"), "4-9 distinct "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	once(t, w)
	if got, want := verdicts(t, c, "documents"), "4-9 distinct "; got != want {
		t.Errorf("after the worker: %s, want %s", got, want)
	}
}

// In the JSON array of a composite key a bytea is a hexadecimal string, as in SQLite.
func TestKeysWithBlobs(t *testing.T) {
	c, _ := sketched(t, "create table documents (a bytea, b text, body text, primary key (a, b))",
		`insert into documents select k, 'x', '`+story+`' from unnest(array['\x00ff', '\x', '\x5c78']::bytea[]) as k`,
		"select alike.attach('documents', 'body')")
	exec(t, c, `select alike.mark('documents', '["\\x00ff", "x"]', '["\\x", "x"]', 'distinct')`)
	if got := one[string](t, c, "select encode(a, 'hex') || b || encode(other_a, 'hex') || other_b from documents_alike_mark"); got != "x00ffx" {
		t.Errorf("the mark is on %q, want x00ffx", got)
	}
	if got, want := one[string](t, c, `select string_agg(key, ' ') from alike.rows('documents', '["\\x00ff", "x"]')`), `["\\x5c78", "x"]`; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	exec(t, c, `delete from documents where a = '\x'`)
	if n := one[int](t, c, "select count(*) from documents_alike_mark"); n != 0 {
		t.Errorf("%d verdicts on a row that is gone, want 0", n)
	}
}

// Of a pair the row comes first that its column's own collation puts first.
func TestMarkCollation(t *testing.T) {
	c, _ := sketched(t, `create table names (id text collate "en-x-icu" primary key, body text)`,
		"insert into names select id, '"+story+"' from unnest(array['a', 'B', 'c']) as id",
		"select alike.attach('names', 'body')")
	exec(t, c, "select alike.mark('names', 'B', 'a', 'distinct'), alike.mark('names', 'c', 'B', 'distinct')")
	if got, want := verdicts(t, c, "names"), "a-B distinct , B-c distinct "; got != want {
		t.Errorf("verdicts %s, want %s", got, want)
	}
	if got := one[string](t, c, "select string_agg(key || other, ' ') from alike.pairs('names')"); got != "ac" {
		t.Errorf("pairs %s, want ac", got)
	}
}

// What was deleted or changed while a table was not attached is known when it is
// attached again.
func TestAttachAgain(t *testing.T) {
	c, w := short(t, "bigint primary key", 5)
	exec(t, c, "select alike.mark('documents', '1', '2', 'distinct'), alike.mark('documents', '3', '4', 'distinct')")
	exec(t, c, "select alike.detach('documents')")
	exec(t, c, "delete from documents where id = 1")
	exec(t, c, "update documents set body = 'five six seven' where id = 3")
	exec(t, c, "select alike.attach('documents', 'body')")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	if got, want := verdicts(t, c, "documents"), "3-4 distinct "; got != want {
		t.Errorf("verdicts %s, want %s", got, want)
	}
}

// Between a rename and the worker that takes the new names over, verdicts follow their rows
// and every change is queued, whichever trigger sees it.
func TestBetweenRenameAndMend(t *testing.T) {
	for _, partitions := range []string{"", " partition by range (id); create table low partition of documents default"} {
		c, w := sketched(t, "create table documents (id int primary key, body text)"+partitions,
			"insert into documents select g, 'one two three four ' || g from generate_series(1, 6) as g",
			"select alike.attach('documents', 'body')")
		exec(t, c, "select alike.mark('documents', '1', '2', 'distinct'), alike.mark('documents', '3', '4', 'duplicate'), alike.mark('documents', '5', '6', 'distinct')")
		exec(t, c, "alter table documents rename column id to number; alter table documents rename column body to content; alter table documents rename to papers")
		exec(t, c, "update papers set number = 20 where number = 2; delete from papers where number = 3; insert into papers values (30, 'a new one'); update papers set content = content || ' changed' where number = 5")
		if got, want := verdicts(t, c, "documents"), "1-20 distinct , 5-6 distinct "; got != want {
			t.Errorf("partitions %q: %s, want %s", partitions, got, want)
		}
		if got, want := list(t, c, "select distinct unnest(array_prepend(key, more))::int::text as k from alike.queue order by 1"), "2 20 3 30 5"; got != want {
			t.Errorf("partitions %q: the keys %s wait, want %s", partitions, got, want)
		}
		once(t, w)
		checkSide(t, c, "documents", "(select number as id, content from papers) p", "content", "id::text", "true")
		if got, want := verdicts(t, c, "documents"), "1-20 distinct , 5-6 distinct "; got != want {
			t.Errorf("partitions %q: after the worker %s, want %s", partitions, got, want)
		}
	}
}

// After a rename the worker compares every row, since a trigger may not have found out a key.
func TestRenameComparesRows(t *testing.T) {
	t.Parallel()
	c, w := short(t, "int primary key", 3)
	exec(t, c, "alter table documents disable trigger user; insert into documents values (4, 'one two three four 4'); delete from documents where id = 1; alter table documents enable trigger user")
	exec(t, c, "alter table documents rename column body to content")
	once(t, w)
	checkSide(t, c, "documents", "documents", "content", "id::text", "true")
	// The triggers are as quick as before.
	exec(t, c, "insert into documents select g, 'x' from generate_series(100, 3000) as g")
	if n := one[int](t, c, "select count(*) from alike.queue where file is not null and key is null"); n != 1 {
		t.Errorf("a large statement after a rename noted %d files, want 1", n)
	}
}

// What a domain demands of new values is not demanded of those that are there. A checkin goes on,
// and the side tables take such keys, too.
func TestKeysOfDomains(t *testing.T) {
	t.Parallel()
	for _, partitions := range []string{"", " partition by hash (id); create table part partition of documents for values with (modulus 1, remainder 0)"} {
		c, w := sketched(t, "create domain number as int check (value > 0); create domain place as number not null; create domain label as text check (length(value) < 9)",
			"create table documents (id place, tag label, body text, primary key (id, tag))"+partitions,
			"insert into documents select g, 'x', 'one two three four ' || g from generate_series(1, 6) as g",
			`select alike.attach('documents', 'body', '{"policy": "link"}')`)
		exec(t, c, `select alike.mark('documents', '[1, "x"]', '[2, "x"]', 'distinct'), alike.mark('documents', '[3, "x"]', '[4, "x"]', 'duplicate')`)
		exec(t, c, "alter domain number add constraint small check (value in (1, 10)) not valid; alter domain label add constraint other check (value <> 'x') not valid")
		exec(t, c, "delete from documents where id = 4; update documents set id = 10, tag = 'y' where id = 1; update documents set body = body || ' five' where id = 5")
		once(t, w)
		checkSide(t, c, "documents", "documents", "body", "jsonb_build_array(id, tag)::text", "true")
		exec(t, c, "alter table documents rename column tag to name; delete from documents where id = 6")
		once(t, w)
		if got, want := list(t, c, "select string_agg(id || tag, ' ' order by id) from documents_alike"), "2x 3x 5x 10y"; got != want {
			t.Errorf("sketches of %s, want %s", got, want)
		}
		if got, want := list(t, c, "select m::text from (select id, tag, other_id, other_tag, verdict from documents_alike_mark) m"), "(2,x,10,y,distinct)"; got != want {
			t.Errorf("verdicts %s, want %s", got, want)
		}
		exec(t, c, `select * from alike.rows('documents', '[2, "x"]')`)
		fails(t, c, `alike: documents has no row [0, "a long label"]`, `select * from alike.rows('documents', '[0, "a long label"]')`)
		fails(t, c, `alike: the key is "["one", "x"]", want a JSON array of 2 values`, `select * from alike.rows('documents', '["one", "x"]')`)
	}
}

// What its owner does to the table of verdicts costs verdicts, and no checkin.
func TestVerdictsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{
		"alter table documents_alike_mark rename column verdict to said",
		"alter table documents_alike_mark add column more int not null default 1, add constraint none check (id < 0) not valid",
		"create function refuse() returns trigger language plpgsql as $$ begin raise 'frozen'; end $$; create trigger refuse before insert or delete on documents_alike_mark for each row execute function refuse()",
		"drop table documents_alike_mark",
		"drop table documents_alike_mark; create view documents_alike_mark as select 1 / 0 as id",
	} {
		for _, partitions := range []string{"", " partition by hash (id); create table part partition of documents for values with (modulus 1, remainder 0)"} {
			c, w := sketched(t, "create table documents (id int primary key, body text)"+partitions,
				"insert into documents select g, 'one two three four ' || g from generate_series(1, 6) as g", "select alike.attach('documents', 'body')")
			exec(t, c, "select alike.mark('documents', '1', '2', 'distinct'), alike.mark('documents', '3', '4', 'duplicate')")
			exec(t, c, broken)
			exec(t, c, "insert into documents values (7, 'x'); update documents set id = 10 where id = 1; delete from documents where id in (3, 7); update documents set body = 'other' where id = 2")
			w.Once(ctx)
			exec(t, c, "truncate documents; insert into documents values (1, 'x')")
		}
	}
}

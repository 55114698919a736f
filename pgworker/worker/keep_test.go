package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// keptRows is the answer of alike.keep as key → kept.
func keptRows(t *testing.T, c *pgx.Conn, sql string, args ...any) map[string]string {
	t.Helper()
	rows, err := c.Query(ctx, "select key, kept from "+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	var key, other string
	if _, err := pgx.ForEachRow(rows, []any{&key, &other}, func() error { kept[key] = other; return nil }); err != nil {
		t.Fatal(err)
	}
	return kept
}

// With a key of two columns no two rows that are kept are alike, and each row that is left
// out is alike to the row that is named, whatever the rule.
func TestKeep(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, `create schema "My schema"; create table "My schema"."Docs; x" ("The a" integer, b text, body text, "the score" numeric, changed_on date, primary key ("The a", b))`)
	for i := range 60 {
		words := make([]string, 30)
		for j := range words {
			words[j] = fmt.Sprint("word", i/6*1000+j)
		}
		words[i%6*4] = "edited"
		exec(t, c, `insert into "My schema"."Docs; x" values ($1, $2, $3, $4, $5)`, i%7, fmt.Sprint("k", i), strings.Join(words, " ")+strings.Repeat(" more", i%4), map[bool]any{true: nil, false: i % 5}[i%5 == 0], fmt.Sprintf("2026-01-%02d", i%28+1))
	}
	// A chain, of which each is like its neighbours alone.
	for i := range 12 {
		words := make([]string, 60)
		for j := range words {
			words[j] = fmt.Sprint("link", i*14+j)
		}
		exec(t, c, `insert into "My schema"."Docs; x" values ($1, 'chain', $2, 7, '2025-12-31')`, 200+i, strings.Join(words, " "))
	}
	exec(t, c, `select alike.attach('"My schema"."Docs; x"', 'body', '{"name": "docs", "at_least": 0.5}')`)
	once(t, newWorker(t, database, nil))
	exec(t, c, `insert into "My schema"."Docs; x" values (100, 'pending', 'word1 word2 word3'), (101, 'empty', '...')`)
	pairs := map[[2]string]bool{}
	for _, p := range collectPairs(t, c, "select * from alike.pairs('docs')") {
		pairs[[2]string{p.Key, p.Other}], pairs[[2]string{p.Other, p.Key}] = true, true
	}
	for _, rule := range []string{"oldest", "newest", "longest", "popular", "the score", `"The a" * 2 -- twice`, "-length(body)", "changed_on", "b"} {
		kept := keptRows(t, c, "alike.keep('docs', $1)", rule)
		if len(kept) != 74 || kept[`[100, "pending"]`] != `[100, "pending"]` || kept[`[101, "empty"]`] != `[101, "empty"]` {
			t.Errorf("%s: %d rows, want 74: %v", rule, len(kept), kept)
		}
		left := 0
		for key, other := range kept {
			if key != other {
				left++
				if !pairs[[2]string{key, other}] || kept[other] != other {
					t.Errorf("%s: %s is left out for %s, which is kept for %s", rule, key, other, kept[other])
				}
			}
		}
		for p := range pairs {
			if kept[p[0]] == p[0] && kept[p[1]] == p[1] {
				t.Errorf("%s: %v are both kept", rule, p)
			}
		}
		if left < 15 {
			t.Errorf("%s: %d rows are left out, want at least 15", rule, left)
		}
	}
	// The greatest value is kept, one with NULL comes last.
	if n := one[int](t, c, `select count(*) from alike.keep('docs', 'the score') k join "My schema"."Docs; x" d on jsonb_build_array("The a", b)::text = k.key
		join "My schema"."Docs; x" e on jsonb_build_array(e."The a", e.b)::text = k.kept where k.key <> k.kept and coalesce(d."the score", -1) > coalesce(e."the score", -1)`); n != 0 {
		t.Errorf("%d rows are left out for one with a lesser score, want 0", n)
	}
	// A column needs no temporary table.
	exec(t, c, "begin read only")
	keptRows(t, c, "alike.keep('docs', 'changed_on')")
	exec(t, c, "rollback")
}

// A rule is one immutable expression on the columns of the table, with the rights of who asks.
func TestKeepRefusesOtherRules(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text, secret text); create table other (x text)")
	exec(t, c, "insert into documents select g, 'one two three four five six seven eight', 'secret ' || g from generate_series(1, 3) as g")
	exec(t, c, "select alike.attach('documents', 'body')")
	once(t, newWorker(t, database, nil))
	for _, rule := range []string{
		"id) from documents; drop table documents", "id; drop table documents", "id), (body", "id, body", "id) desc, (body", "id)) where ((id > 1", "id) where (true", "1 /*", "1) --",
		"(select x from other)", "exists (select from other)", "random()", "now()", "pg_sleep(10)", "nothing", `"nothing"`, "$1", "count(*)", "max(id) over ()", "s.sketch", "other.x", "alike.refresh('documents')",
		"nextval('s')", "lo_unlink(1)", "'x", "", " ", "generate_series(1, 2)",
	} {
		if _, err := c.Exec(ctx, "select count(*) from alike.keep('documents', $1)", rule); err == nil || !strings.Contains(err.Error(), "alike: rule: ") {
			t.Errorf("rule %q: %v", rule, err)
		}
		if n := one[int](t, c, "select count(*) from pg_class where relname = 'alike_rule'"); n != 0 {
			t.Errorf("%s left its table", rule)
		}
	}
	fails(t, c, "want a number from 0 to 1", "select * from alike.keep('documents', 'oldest', 2)")
	fails(t, c, `the linkage is "average", want complete, single, greedy or popular`, "select * from alike.clusters('documents', 0.5, 'average')")
	if kept := keptRows(t, c, "alike.keep('documents', 'secret')"); kept["1"] != "3" || kept["3"] != "3" {
		t.Errorf("by the owner's rule %v stand for the rows, want 3 for 1 and 3", kept)
	}
	exec(t, c, "create role curious; grant alike_reader to curious; grant select (id, body) on documents to curious; set role curious")
	if kept := keptRows(t, c, "alike.keep('documents', 'length(body)')"); kept["3"] != "1" {
		t.Errorf("by the length of the body %v stand for the rows, want 1 for 3", kept)
	}
	fails(t, c, "permission denied", "select * from alike.keep('documents', 'secret')")
	fails(t, c, `column "secret" does not exist`, "select * from alike.keep('documents', 'length(secret)')")
	exec(t, c, "reset role; drop owned by curious; drop role curious")
}

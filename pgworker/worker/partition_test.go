package worker

import (
	"strings"
	"testing"
)

// A partition that brings rows, or takes them away, is said by status, and refresh
// follows; what is written into it is seen.
func TestPartitionsComeAndGo(t *testing.T) {
	c, w := sketched(t, "create table documents (id int, p int, body text, primary key (id, p)) partition by list (p); create table first partition of documents for values in (1)",
		"select alike.attach('documents', 'body')",
		"insert into documents values (1, 1, 'the first'), (2, 1, 'and the second')")
	check := func(what string) {
		t.Helper()
		if note := one[string](t, c, "select coalesce(note, '') from alike.status()"); !strings.Contains(note, "some change was not seen; select alike.refresh") {
			t.Errorf("%s: status says %q, want that a change was not seen", what, note)
		}
		exec(t, c, "select alike.refresh('documents')")
		once(t, w)
		checkSide(t, c, "documents", "documents", "body", "jsonb_build_array(id, p)::text", "true")
		if note := one[string](t, c, "select coalesce(note, '') from alike.status()"); note != "" {
			t.Errorf("%s: after refresh status says %q, want nothing", what, note)
		}
	}
	exec(t, c, "create table second (id int not null, p int not null, body text, primary key (id, p)); insert into second values (3, 2, 'came with its table')")
	exec(t, c, "alter table documents attach partition second for values in (2)")
	check("attach")
	exec(t, c, "insert into second values (4, 2, 'written into the partition'); update documents set p = 2 where id = 1")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "jsonb_build_array(id, p)::text", "true")
	// No statement's trigger is shown the rows that this moves; it is why each row has its own.
	exec(t, c, "merge into documents d using (values (2, 1)) as v (id, p) on d.id = v.id and d.p = v.p when matched then update set p = 2, body = 'moved by merge'")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "jsonb_build_array(id, p)::text", "true")
	exec(t, c, "insert into documents values (5, 1, 'in the first')")
	once(t, w)
	exec(t, c, "alter table documents detach partition first")
	check("detach")
	exec(t, c, "insert into first values (9, 1, 'written into what was one')")
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "jsonb_build_array(id, p)::text", "true")
}

// Rows of a table that inherits from an attached one later are none of its own, and
// status says so.
func TestLaterChild(t *testing.T) {
	c, w := sketched(t, "create table documents (id int primary key, body text)",
		"select alike.attach('documents', 'body')",
		"create table letters () inherits (documents); insert into documents values (1, 'a document'); insert into letters values (2, 'a letter')")
	exec(t, c, "select alike.refresh('documents')")
	once(t, w)
	checkSide(t, c, "documents", "only documents", "body", "id::text", "true")
	if note := one[string](t, c, "select note from alike.status()"); !strings.Contains(note, "letters inherit from public.documents; their rows are not attached") {
		t.Errorf("status says %q, want that the rows of letters are not attached", note)
	}
}

//go:build unix

package engines

import "testing"

// A table whose name has capitals or blanks is found by the name as it is and by the name in quotes.
func TestSameNames(t *testing.T) {
	e := open(t)
	for _, name := range []string{"My Table", "Capitals", "ünï cödé", "it's", "select", "-- c"} {
		quoted := `"` + name + `"`
		e.exec(`create table ` + quoted + ` ("The Key" integer primary key, "The Body" text)`)
		e.exec(`insert into ` + quoted + ` values (1, 'the harbour master counted the boats'), (2, 'the harbour master counted the boats too')`)
		e.same("select alike.attach($1, 'The Body')", name)
		e.follow()
		if got := e.same("select * from alike.pairs($1)", name); len(got) != 1 {
			t.Errorf("%s: the pairs are %q", name, got)
		}
		e.same("select * from alike.rows($1, '1')", quoted)
		e.same("select alike.detach($1, '{\"drop\": true}')", quoted)
		e.same("select alike.attach($1, 'The Body')", quoted)
		e.follow()
		e.same("select alike.detach($1)", name)
	}
	e.exec(`create table mine (id integer primary key, body text)`)
	e.same("select alike.attach('MINE', 'BODY')")
}

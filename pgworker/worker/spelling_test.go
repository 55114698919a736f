package worker

import (
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A key means its row however a person spells it, and a row does not resemble itself.
func TestKeysAsPeopleSpellThem(t *testing.T) {
	for _, c := range []struct{ kind, a, b, spelled, missing string }{
		{"bigint", "1", "2", "01", "3"},
		{"uuid", "0a000000-0000-0000-0000-00000000000b", "0a000000-0000-0000-0000-00000000000c", "0A000000-0000-0000-0000-00000000000B", "0a000000-0000-0000-0000-00000000000d"},
		{"timestamptz", "2024-01-01 00:00:00+00", "2024-01-02 00:00:00+00", "2024-01-01 09:00:00+09", "2024-01-03 00:00:00+00"},
		{"numeric", "1.50", "2", "01.50", "3"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			database := pgtest.Database(t)
			conn := pgtest.Connect(t, database)
			exec(t, conn, "create table documents (id "+c.kind+" primary key, body text); select alike.attach('documents', 'body')")
			for _, key := range []string{c.a, c.b} {
				exec(t, conn, "insert into documents values ('"+key+"', 'the quick brown fox jumps over the lazy dog')")
			}
			once(t, newWorker(t, database, nil))
			exec(t, conn, "set timezone = 'Asia/Tokyo'")
			if got := one[string](t, conn, "select string_agg(key, ' ') from alike.rows('documents', '"+c.spelled+"')"); got != c.b {
				t.Errorf("rows like %s: %q, want %q", c.spelled, got, c.b)
			}
			fails(t, conn, "has no row with the key "+c.missing, "select * from alike.rows('documents', '"+c.missing+"')")
		})
	}
}

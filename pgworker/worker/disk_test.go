//go:build linux

package worker

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A full disk fails batches, and loses and repeats nothing: they are done when
// there is room again.
func TestFullDisk(t *testing.T) {
	s, flag := preloaded(t, "fulldisk.c", "ALIKE_FULL_DISK")
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	for _, rows := range []string{"1, 1000", "1001, 2000"} { // larger statements note no keys
		exec(t, c, "insert into documents select g, "+words+" from generate_series("+rows+") as g")
	}
	exec(t, c, "create table archive as select * from documents; alter table archive add primary key (id)")
	exec(t, c, "select alike.attach('archive', 'body')")
	if err := os.WriteFile(flag, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, c, "No space left on device", "create table more as select * from documents")

	w := newWorker(t, database, nil)
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- w.Run(running) }()
	waitFor(t, "failures", func() bool { return strings.Count(s.Log(), "No space left on device") > 3 })
	const state = "select (select count(distinct k) from alike.queue, unnest(array_prepend(key, more)) as k) || ' ' || (select count(*) from alike.error) || ' ' || (select count(*) from documents_alike) || ' ' || (select count(*) from archive_alike)"
	if got := one[string](t, c, state); got != "2000 0 0 0" {
		t.Errorf("queue, errors, rows, rows of the archive: %s on a full disk, want 2000 0 0 0", got)
	}
	if err := os.Remove(flag); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the work to be done", func() bool { return one[string](t, c, state) == "0 0 2000 2000" })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	once(t, w)
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	checkSide(t, c, "archive", "archive", "body", "id::text", "true")
}

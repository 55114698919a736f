package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestWhoseFault(t *testing.T) {
	server := func(code string) error { return fmt.Errorf("worker: %w", &pgconn.PgError{Code: code}) }
	for _, v := range []struct {
		name                string
		err                 error
		again, everyRowOnce bool
	}{
		{"a full disk", server("53100"), true, false},
		{"no memory", server("53200"), true, false},
		{"too many connections", server("53300"), true, false},
		{"a lost connection", server("08006"), true, false},
		{"a server that stops", server("57P01"), true, false},
		{"a broken disk", server("58030"), true, false},
		{"a deadlock", server("40P01"), true, false},
		{"a missing table", server("42P01"), false, true},
		{"a missing right", server("42501"), false, true},
		{"a missing schema", server("3F000"), false, true},
		{"what a server cannot", server("0A000"), false, true},
		{"a value that is none", server("22P02"), false, false},
		{"a key twice", server("23505"), false, false},
		{"an end of the stream", io.ErrUnexpectedEOF, true, false},
		{"a pipe", errors.New("write tcp: broken pipe"), true, false},
		{"a closed connection", errors.New("conn closed"), true, false},
		{"a reset", errors.New("read: connection reset by peer"), true, false},
		{"a document", errors.New("pdf: no trailer"), false, false},
		{"a worker that stops", context.Canceled, true, false},
	} {
		if retryable(v.err) != v.again || failsEveryRow(v.err) != v.everyRowOnce {
			t.Errorf("%s: tried again %t, fails every row %t, want %t and %t", v.name, retryable(v.err), failsEveryRow(v.err), v.again, v.everyRowOnce)
		}
	}
}

func TestTextForPostgres(t *testing.T) {
	if got, want := validText("a\x00b\xffc"), "a\uFFFDb\uFFFDc"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := literal(`it's a \ and '\''`), ` E'it''s a \\ and ''\\'''''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLimits(t *testing.T) {
	w := &Worker{config: Config{StatementTimeout: time.Minute}}
	ctx, cancel := w.bound(t.Context())
	defer cancel()
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 2*time.Minute {
		t.Errorf("what is done in one go ends by %s, want within two minutes", deadline)
	}
	c := &computer{w: w, a: &attachment{}}
	if c.slow(make([]byte, inlineBytes), "") || !c.slow(make([]byte, inlineBytes+1), "") {
		t.Errorf("a document is slow from another length than %d bytes on", inlineBytes+1)
	}
}

type answers struct{ args []any }

func (a *answers) Exec(_ context.Context, _ string, args ...any) (pgconn.CommandTag, error) {
	a.args = args
	return pgconn.CommandTag{}, nil
}

// A document that cannot be read is answered by its error, not as one without a token.
func TestAnswerOfAnError(t *testing.T) {
	var db answers
	if err := (&Worker{}).answer(t.Context(), &db, nil, &request{ID: 7}, errors.New("pdf: no trailer")); err != nil {
		t.Fatal(err)
	}
	if said, ok := db.args[2].(*string); !ok || said == nil || *said != "pdf: no trailer" {
		t.Errorf("the answer is %v, want the error", db.args)
	}
}

// A long task has no limit, and what a failed one has done is undone, with its claim.
func TestTasks(t *testing.T) {
	c, w := sketched(t, "create table docs (id int primary key, body text); select alike.attach('docs', 'body')")
	exec(t, c, "insert into alike.queue (attachment, key) values (1, '5')")
	for _, long := range []bool{true, false} {
		var limit string
		_, err := w.perform(ctx, task{claim: "delete from alike.queue returning attachment", long: long, run: func(ctx context.Context, tx pgx.Tx, a *attachment) (bool, error) {
			if err := tx.QueryRow(ctx, "show statement_timeout").Scan(&limit); err != nil {
				return false, err
			}
			return false, errors.New("the task failed")
		}})
		if err != nil {
			t.Fatal(err)
		}
		if (limit == "0") != long {
			t.Errorf("a task that is long %t: the limit of a statement is %s", long, limit)
		}
		if problem := one[string](t, c, "select problem from alike.attachment"); !strings.Contains(problem, "the task failed") {
			t.Errorf("the problem is %q, want that the task failed", problem)
		}
		if n := count(t, c, "alike.queue"); n != 1 {
			t.Errorf("%d entries wait after a task that failed, want 1", n)
		}
	}
}

// What is wrong with the table is said of the table, by a slow document too.
func TestExtractionOfABrokenTable(t *testing.T) {
	c, w := sketched(t, "create table docs (id int primary key, body text)", `select alike.attach('docs', 'body', '{"policy": "link"}')`)
	exec(t, c, "drop table docs_alike_match; insert into docs values (1, repeat('a long text ', 100000))")
	w.Once(ctx)
	if problem := one[string](t, c, "select coalesce(problem, '') from alike.attachment"); !strings.Contains(problem, "docs_alike_match") {
		t.Errorf("the problem is %q, want that docs_alike_match is missing", problem)
	}
}

// The column that names the media type may change alone.
func TestMediaTypeChanges(t *testing.T) {
	c, w := sketched(t, "create table docs (id int primary key, media text, body bytea)", `select alike.attach('docs', 'body', '{"extract": {"column": "media"}}')`,
		"insert into docs values (1, 'text/plain', 'one <b>two</b> three <i>four</i> five')")
	once(t, w)
	before := one[string](t, c, "select encode(sketch, 'hex') from docs_alike")
	exec(t, c, "update docs set media = 'text/html'")
	once(t, w)
	if one[string](t, c, "select encode(sketch, 'hex') from docs_alike") == before {
		t.Error("the sketch is that of the other media type")
	}
}

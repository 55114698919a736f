package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

type pgError = pgconn.PgError

var errDetached = errors.New("the table is not attached any more")

// retryable reports whether an error is one of the connection, the server or the
// transaction rather than of a row: everything is rolled back and tried again.
func retryable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var pg *pgError
	if !errors.As(err, &pg) {
		var connect *pgconn.ConnectError
		return errors.As(err, &connect) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || connectionLost(err)
	}
	switch pg.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"55P03",          // a lock was not to be had in time
		"57014",          // a statement took too long or was cancelled
		"25006", "25P03": // read-only, as after a failover; idle too long
		return true
	}
	switch pg.Code[:2] {
	case "08", "53", "57", "58": // connection, resources such as a full disk, operator, system
		return true
	}
	return false
}

// connectionLost reports whether an error is the end of a connection, which
// pgx gives in words or as an input-output error of the system.
func connectionLost(err error) bool {
	text := err.Error()
	for _, words := range []string{"conn closed", "unexpected EOF", "broken pipe", "connection reset", "use of closed", "i/o timeout"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// failsEveryRow reports whether an error is the same for every row: a table,
// column or function that is missing, or a right.
func failsEveryRow(err error) bool {
	var pg *pgError
	if !errors.As(err, &pg) {
		var withheld withheldError
		return errors.As(err, &withheld)
	}
	return pg.Code[:2] == "42" || pg.Code[:2] == "3F" || pg.Code == "0A000"
}

// duplicateKey reports an error of a row whose place another one has.
func duplicateKey(err error) bool {
	var pg *pgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// validText makes a string that PostgreSQL takes as text.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func abbreviate(s string) string { return abbreviateTo(s, 100) }

func abbreviateTo(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}

// IsTransient reports whether an error of Once may go away by itself: a server
// that restarts, a lock, a full disk; but not a name or password that is wrong.
func IsTransient(err error) bool {
	var pg *pgError
	if errors.As(err, &pg) && (pg.Code[:2] == "28" || pg.Code == "3D000") {
		return false
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || retryable(err)
}

// message is what is kept of an error: PostgreSQL's own words where they are.
func message(err error) string {
	text := err.Error()
	var pg *pgError
	if errors.As(err, &pg) {
		text = fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code)
		if pg.Code == "2BP01" { // what depends on a table; other details may quote documents
			text += ": " + pg.Detail
		}
	}
	return abbreviateTo(validText(text), 2000)
}

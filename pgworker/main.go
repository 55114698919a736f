// Command pgworker gives a PostgreSQL database the similarity aspect and keeps
// it up to date. See pgworker help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/pgworker/worker"
)

// Exit codes, for scripts to test.
const (
	exitFailure = 1 // something went wrong
	exitUsage   = 2 // the command line is wrong
	exitFound   = 3 // check found a similar row, errors has rows, status has failed ones
	exitAgain   = 4 // the database cannot be reached or is busy: the same call may work later
)

// errFound ends a command that did its work and found what scripts ask for.
var errFound = errors.New("found")

// usageError is a command line that cannot be carried out.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err))
}

// badValue are the codes with which PostgreSQL refuses what somebody has typed: a
// value out of its limits, a key that is none, an expression that is none, a name
// that is too long.
var badValue = []string{"22023", "22P02", "42601", "42622"}

// exitCode says what is wrong, once, and returns the code for it.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errFound) {
		return exitFound
	}
	fmt.Fprintln(os.Stderr, "pgworker:", strings.TrimPrefix(err.Error(), "ERROR: "))
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Hint != "" {
		fmt.Fprintln(os.Stderr, "hint:", pg.Hint)
	}
	var usage usageError
	switch {
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "if any flags in the group"), pg != nil && slices.Contains(badValue, pg.Code):
		return exitUsage
	case worker.IsTransient(err):
		return exitAgain
	}
	return exitFailure
}

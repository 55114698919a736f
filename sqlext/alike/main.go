// Command alike finds near-duplicates in files and in SQLite databases. See alike help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes for scripts. They are the codes of pgworker that apply to files and embedded databases.
const (
	exitFailure = 1 // something went wrong
	exitUsage   = 2 // the command line is wrong
	exitFound   = 3 // check found a similar row, errors has rows
)

// errFound ends a command that succeeded and found rows, which scripts test by the exit code.
var errFound = errors.New("found")

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return exitFound
	case errors.Is(err, syscall.EPIPE): // a reader such as head has enough
		return 0
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "alike:", err)
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	return exitFailure
}

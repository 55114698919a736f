// Package program holds the main function of the examples.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Main runs an example with its arguments. It prints an error under the name of
// the example and exits with status 1.
func Main(name string, run func(args []string, out io.Writer) error) {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		}
		os.Exit(1)
	}
}

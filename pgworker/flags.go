package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A limited is the value of a flag that has limits; a value beyond them is a
// wrong command line, and the error says what they are.
type limited[T cmp.Ordered] struct {
	value    *T
	min, max T // no upper limit where max is below min
	parse    func(string) (T, error)
	kind     string // as help shows it
}

func (l limited[T]) String() string {
	if l.value == nil { // pflag asks a zero value what it looks like
		return ""
	}
	return fmt.Sprint(*l.value)
}

func (l limited[T]) Type() string { return l.kind }

func (l limited[T]) Set(s string) error {
	v, err := l.parse(s)
	switch {
	case l.max < l.min && (err != nil || !(v >= l.min)): // NaN is not
		return fmt.Errorf("want %v or more", l.min)
	case l.max >= l.min && (err != nil || !(v >= l.min && v <= l.max)):
		return fmt.Errorf("want %v to %v", l.min, l.max)
	}
	*l.value = v
	return nil
}

func intFlag(flags *pflag.FlagSet, value *int, name string, otherwise, min, max int, usage string) {
	*value = otherwise
	flags.Var(limited[int]{value, min, max, strconv.Atoi, "int"}, name, usage)
}

func int64Flag(flags *pflag.FlagSet, value *int64, name string, otherwise, min, max int64, usage string) {
	*value = otherwise
	parse := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	flags.Var(limited[int64]{value, min, max, parse, "int"}, name, usage)
}

func durationFlag(flags *pflag.FlagSet, value *time.Duration, name string, otherwise, min time.Duration, usage string) {
	*value = otherwise
	flags.Var(limited[time.Duration]{value, min, 0, time.ParseDuration, "duration"}, name, usage)
}

// floatFlag adds a flag of which help shows no default: the usage says what it is.
func floatFlag(flags *pflag.FlagSet, value *float64, name string, otherwise, min, max float64, usage string) {
	*value = otherwise
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	flags.Var(limited[float64]{value, min, max, parse, "float"}, name, usage)
	flags.Lookup(name).DefValue = "0" // which help does not show
}

// atLeastFlag adds --at-least and returns its value; NaN stands for the
// attachment's own.
func atLeastFlag(cmd *cobra.Command) *float64 {
	value := new(float64)
	floatFlag(cmd.Flags(), value, "at-least", math.NaN(), 0, 1, "the resemblance from which rows count as alike; the attachment's unless given")
	return value
}

// numbers reads the arguments of a filter.
func numbers[T any](args []string, parse func(string) (T, error)) ([]T, error) {
	values := make([]T, len(args))
	for i, arg := range args {
		var err error
		if values[i], err = parse(arg); err != nil {
			return nil, usagef("%q is not a number", arg)
		}
	}
	return values, nil
}

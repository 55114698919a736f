package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// sheet prints rows: aligned columns for a person, an object a line for a program.
type sheet struct {
	names   []string
	rows    int
	columns *tabwriter.Writer
	json    io.Writer
}

func (c *command) sheet(w io.Writer, names []string) *sheet {
	s := &sheet{names: names}
	if c.json {
		s.json = w
	} else {
		s.columns = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	}
	return s
}

func (s *sheet) row(values []any) error {
	s.rows++
	if s.json != nil {
		b, err := object(s.names, values)
		if err == nil {
			_, err = s.json.Write(append(b, '\n'))
		}
		return err
	}
	if s.rows == 1 {
		fmt.Fprintln(s.columns, strings.Join(s.names, "\t"))
	}
	for i, v := range values {
		if i > 0 {
			fmt.Fprint(s.columns, "\t")
		}
		switch v := v.(type) {
		case nil:
			fmt.Fprint(s.columns, "-")
		case float64:
			fmt.Fprintf(s.columns, "%.4g", v)
		case []byte:
			fmt.Fprintf(s.columns, "%x", v)
		default:
			fmt.Fprint(s.columns, cell(fmt.Sprint(v)))
		}
	}
	_, err := fmt.Fprintln(s.columns)
	if s.rows%1000 == 0 { // aligning a thousand rows at a time bounds the memory
		return s.columns.Flush()
	}
	return err
}

// cell writes a text on one line of a terminal: characters that act on it are shown as pictures of them.
func cell(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r == '\t':
			return ' '
		case r < ' ':
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case r != ' ' && !unicode.IsGraphic(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

func (s *sheet) end() error {
	if s.columns != nil {
		return s.columns.Flush()
	}
	return nil
}

// object is a JSON object with its members in the order of the columns.
func object(names []string, values []any) ([]byte, error) {
	var b []byte
	for i, name := range names {
		v := values[i]
		if blob, ok := v.([]byte); ok {
			v = fmt.Sprintf("%x", blob)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b = append(b, "{,"[min(i, 1)])
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

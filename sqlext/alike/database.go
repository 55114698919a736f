package main

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	_ "github.com/mattn/go-sqlite3"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect/option"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext"
)

// verb is a command that calls a function on an attached table of a database.
type verb struct {
	use, short string
	keys       []int // which arguments are keys
	flags      []parameter
	function   string
	scalar     string // the name of its one value, of a function that gives one
	found      bool   // rows are what scripts ask for: exit with 3
}

// parameter is a flag that is an optional argument of the function. add gives what reads its
// value, or nil.
type parameter struct {
	argument string
	add      func(*cobra.Command) func() (any, error)
}

func text(argument, usage string, read func(string) (any, error)) parameter {
	return parameter{argument, func(cmd *cobra.Command) func() (any, error) {
		name := strings.ReplaceAll(argument, "_", "-")
		value := cmd.Flags().String(name, "", usage)
		return func() (any, error) {
			if !cmd.Flags().Changed(name) {
				return nil, nil
			}
			return read(*value)
		}
	}}
}

// number is a flag for a number from low to 1.
func number(argument, usage string, low float64) parameter {
	return text(argument, usage, func(s string) (any, error) { return parseNumber(strings.ReplaceAll(argument, "_", "-"), s, low) })
}

var (
	atLeast     = number("at_least", "the minimum resemblance, from 0 to 1; the attachment's unless given", 0)
	atLeastHeld = number("at_least", "how much of the one has to be in the other, from 0 to 1; 0.8 unless given", 0)
	share       = number("share", "the share of the rows, from 0.0001 to 1; a tenth unless given", 0.0001)
	rule        = text("rule", "which of alike rows stays: oldest, newest, longest, popular, verdict, contains (only what a kept row contains goes), a column or an expression",
		func(s string) (any, error) { return s, nil })
	linkage = text("linkage", "complete (members are alike), single (whatever is linked by pairs), greedy or popular (each row with the first, or the most popular, that it resembles); complete unless given",
		func(s string) (any, error) {
			if _, err := cluster.ParseLinkage(s); err != nil {
				return nil, usagef("--linkage: %w", err)
			}
			return s, nil
		})
)

var drop = parameter{"options", func(cmd *cobra.Command) func() (any, error) {
	value := cmd.Flags().Bool("drop", false, "remove the side table and the views")
	return func() (any, error) { return fmt.Sprintf(`{"drop": %t}`, *value), nil }
}}

var verbs = []verb{
	{use: "advise DATABASE TABLE COLUMN", short: "Presets side by side, measured on a sample of the rows", function: "alike_advise"},
	{use: "rows DATABASE TABLE KEY", short: "The rows that resemble a row, best first", keys: []int{2}, flags: []parameter{atLeast}, function: "alike_rows"},
	{use: "pairs DATABASE TABLE", short: "Every alike pair once, best first", flags: []parameter{atLeast}, function: "alike_pairs"},
	{use: "containers DATABASE TABLE KEY", short: "The rows that contain a row, best first", keys: []int{2}, flags: []parameter{atLeastHeld}, function: "alike_containers"},
	{use: "contained DATABASE TABLE KEY", short: "The rows that a row contains, best first", keys: []int{2}, flags: []parameter{atLeastHeld}, function: "alike_contained"},
	{use: "containments DATABASE TABLE", short: "Every pair in which a row is contained in another, best first", flags: []parameter{atLeastHeld}, function: "alike_containments"},
	{use: "clusters DATABASE TABLE", short: "The cluster of each row that is in one", flags: []parameter{atLeast, linkage}, function: "alike_clusters"},
	{use: "keep DATABASE TABLE", short: "Each row with the row that stands for it", flags: []parameter{rule, atLeast}, function: "alike_keep"},
	{use: "mark DATABASE TABLE KEY KEY duplicate|distinct|none [NOTE]", short: "Give a verdict on a pair of rows, which every answer obeys; none withdraws it", keys: []int{2, 3}, function: "alike_mark", scalar: "verdict"},
	{use: "refresh DATABASE TABLE", short: "Sketch the rows that are missing or stale", function: "alike_refresh", scalar: "rows"},
	{use: "detach DATABASE TABLE", short: "Take the similarity aspect away, and keep its data unless told to drop it", flags: []parameter{drop}, function: "alike_detach", scalar: "detached"},
	{use: "common DATABASE TABLE", short: "What very many rows share, with examples", flags: []parameter{share}, function: "alike_common"},
	{use: "hot DATABASE TABLE", short: "Features that suspiciously many rows share", function: "alike_hot"},
	{use: "errors DATABASE TABLE", short: "The rows that failed, and why; exits with 3 when there are any", function: "alike_errors", found: true},
	{use: "status DATABASE", short: "What is attached, and how far it is", function: "alike_status"},
}

func (c *command) verbCommand(v verb) *cobra.Command {
	arguments := strings.Count(v.use, " ")
	optional := strings.Count(v.use, "[")
	var flags []func() (any, error)
	cmd := &cobra.Command{
		Use:   v.use,
		Short: v.short,
		Args:  cobra.RangeArgs(arguments-optional, arguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			var options []any
			conditions := " where true"
			for i, read := range flags {
				value, err := read()
				if err != nil {
					return err
				} else if value != nil {
					options = append(options, value)
					conditions += ` and "(` + v.flags[i].argument + `)" = ?`
				}
			}
			db, err := openDatabase(args[0])
			if err != nil {
				return err
			}
			defer db.Close()
			var values []any
			for i, arg := range args[1:] {
				if slices.Contains(v.keys, i+1) {
					values = append(values, keyOf(arg))
				} else {
					values = append(values, arg)
				}
			}
			if v.scalar != "" {
				values, options = append(values, options...), nil
			}
			call := v.function + "(" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")"
			query := "select * from " + call + conditions
			if v.scalar != "" {
				query = "select " + call + " as " + v.scalar
			}
			values = append(values, options...)
			n, err := c.print(cmd, db, query, values...)
			if err == nil && v.found && n > 0 {
				err = errFound
			}
			return err
		},
	}
	cmd.ValidArgsFunction = complete(v.use)
	for _, p := range v.flags {
		flags = append(flags, p.add(cmd))
	}
	return cmd
}

func parseNumber(flag, s string, low float64) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= low && f <= 1) {
		return 0, usagef("--%s is %q, want a number from %v to 1", flag, s, low)
	}
	return f, nil
}

func (c *command) attachCommand() *cobra.Command {
	var flags *option.Flags
	cmd := &cobra.Command{
		Use:   "attach DATABASE TABLE COLUMN",
		Short: "Give a table the similarity aspect",
		Long: `attach adds a sketch of each document of a column beside the table, and triggers that keep them up to date. A flag that is not
given stays as it is when the table is attached already.`,
		Example: `  alike attach notes.db notes body
  alike attach notes.db notes body --policy link --at-least 0.8 --contains`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := flags.Object()
			if err != nil {
				return usagef("%v", err)
			}
			db, err := openDatabase(args[0])
			if err != nil {
				return err
			}
			defer db.Close()
			if _, err = db.ExecContext(cmd.Context(), "select alike_attach(?, ?, ?)", args[1], args[2], object); err != nil {
				return err
			}
			_, err = c.print(cmd, db, "select * from alike_status()")
			return err
		},
	}
	flags = option.Add(cmd.Flags(), option.Engine{Modes: []string{"compute", "queue"}, ModeUsage: "compute (the trigger computes) or queue (alike refresh computes)", Extract: "plain or html"})
	return cmd
}

func (c *command) checkCommand() *cobra.Command {
	var against, table, atLeast string
	cmd := &cobra.Command{
		Use:   "check FILE --against DATABASE",
		Short: "Does a file resemble a row? Exits with 3 if so",
		Long:  "check compares the text of FILE, or of the standard input for -, with the rows of an attached table. It prints the rows that resemble it, best first.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if against == "" {
				return usagef("--against is missing: the database to compare with")
			}
			text, err := readText(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			db, err := openDatabase(against)
			if err != nil {
				return err
			}
			defer db.Close()
			if table == "" {
				if table, err = onlyTable(db); err != nil {
					return err
				}
			}
			values := []any{table, string(text)}
			if atLeast != "" {
				f, err := parseNumber("at-least", atLeast, 0)
				if err != nil {
					return err
				}
				values = append(values, f)
			}
			n, err := c.print(cmd, db, "select * from alike_rows_like(?, ?"+strings.Repeat(", ?", len(values)-2)+")", values...)
			if err == nil && n > 0 {
				err = errFound
			}
			return err
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "the `database`")
	cmd.Flags().StringVar(&table, "table", "", "the attached table; the only one unless given")
	cmd.Flags().StringVar(&atLeast, "at-least", "", "the minimum resemblance, from 0 to 1; the attachment's unless given")
	return cmd
}

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "What this build is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := c.sheet(cmd.OutOrStdout(), []string{"version", "commit"})
			if err := s.row([]any{sketch.Version, sketch.Commit()}); err != nil {
				return err
			}
			return s.end()
		},
	}
}

// attachments returns the names of the attachments.
func attachments(db *sql.DB) (names []string, err error) {
	rows, err := db.Query("select name from alike_status()")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// onlyTable returns the attached table if there is exactly one.
func onlyTable(db *sql.DB) (string, error) {
	names, err := attachments(db)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", fmt.Errorf("the database has no attached table; alike attach attaches one")
	case len(names) > 1:
		return "", usagef("--table is missing: the database has the attached tables %s", strings.Join(names, ", "))
	}
	return names[0], nil
}

// complete offers completions: files, the attached tables of a database, verdicts.
func complete(use string) cobra.CompletionFunc {
	words := strings.Fields(use)[1:]
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch word := words[len(args)]; {
		case word == "DATABASE":
			return nil, cobra.ShellCompDirectiveDefault
		case word == "TABLE":
			if db, err := openDatabase(args[0]); err == nil {
				defer db.Close()
				if names, err := attachments(db); err == nil {
					return names, cobra.ShellCompDirectiveNoFileComp
				}
			}
		case strings.Contains(word, "|"):
			return strings.Split(word, "|"), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// keyOf parses a key as people write it; digits become a number.
func keyOf(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
		return n
	}
	return s
}

var extended = sync.OnceValue(sqlext.Auto)

// openDatabase opens a database that exists, with the functions, on one connection.
func openDatabase(file string) (*sql.DB, error) {
	if err := extended(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", "file:"+escapeURI(file)+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("select 1 from sqlite_master"); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return db, nil
}

// escapeURI escapes what ends a path in a URI.
func escapeURI(file string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)
}

// print prints the rows of a query and returns how many there are.
func (c *command) print(cmd *cobra.Command, db *sql.DB, query string, args ...any) (int, error) {
	rows, err := db.QueryContext(cmd.Context(), query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	s := c.sheet(cmd.OutOrStdout(), names)
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range into {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return s.rows, err
		}
		if err := s.row(values); err != nil {
			return s.rows, err
		}
	}
	if err := rows.Err(); err != nil {
		return s.rows, err
	}
	return s.rows, s.end()
}

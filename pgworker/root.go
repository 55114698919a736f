package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
)

// A command is what the verbs share.
type command struct {
	databaseURL string
	json        bool
}

func newRoot() *cobra.Command {
	c := &command{}
	root := &cobra.Command{
		Use:   "pgworker",
		Short: "Near-duplicate rows in PostgreSQL: attach the similarity aspect to a table and keep it up to date",
		Long: `pgworker gives tables of a PostgreSQL database the similarity aspect: every row
of an attached table gets a sketch, a handful of features and similarity
indexes in a table beside it, and plain SQL finds the rows that are roughly
the same.

  export DATABASE_URL=postgres://me@localhost/mine
  pgworker migrate up                  # once: the schema alike
  pgworker attach documents body       # once a table
  pgworker run                         # all the time, or: run --once from cron
  pgworker rows documents 42           # the rows that resemble row 42
  pgworker keep documents              # which rows to keep, and which go
  pgworker check upload.pdf            # does a file resemble a row?
  pgworker report                      # one HTML page about all of it

Exit codes: 0 done; 1 failed; 2 wrong command line; 3 found (check found a
similar row, errors and status have failed rows); 4 try again later, the
database cannot be reached or is busy.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       sketch.Version + ", commit " + sketch.Commit(),
	}
	root.PersistentFlags().StringVar(&c.databaseURL, "database-url", "", "where the database is, a URL or key=value `string`; $DATABASE_URL unless given")
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef("%w; see pgworker help %s", err, cmd.Name()) })
	root.AddCommand(
		c.migrateCommand(), c.adviseCommand(), c.attachCommand(), c.detachCommand(), c.refreshCommand(), c.runCommand(),
		c.statusCommand(), c.errorsCommand(), c.retryCommand(), c.hotCommand(), c.commonCommand(),
		c.rowsCommand(), c.checkCommand(), c.siRowsCommand(), c.pairsCommand(), c.containersCommand(), c.containedCommand(), c.containmentsCommand(), c.clustersCommand(), c.keepCommand(), c.markCommand(),
		c.exportCommand(), c.reportCommand(), c.curveCommand(), c.planCommand(), c.benchCommand(), c.versionCommand(),
	)
	for _, verb := range root.Commands() {
		if verb.Args != nil {
			args := verb.Args
			verb.Args = func(cmd *cobra.Command, given []string) error {
				if err := args(cmd, given); err != nil {
					return usagef("%w: %s", err, cmd.UseLine())
				}
				return nil
			}
		}
	}
	return root
}

// url returns the database's URL.
func (c *command) url() (string, error) {
	url := c.databaseURL
	if url == "" {
		url = os.Getenv("DATABASE_URL")
	}
	if url == "" {
		return "", usagef("--database-url or DATABASE_URL is required")
	}
	if _, err := pgx.ParseConfig(url); err != nil {
		return "", usagef("database URL: %w", err)
	}
	return url, nil
}

// connect opens a connection that must be closed.
func (c *command) connect(ctx context.Context) (*pgx.Conn, error) {
	url, err := c.url()
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = "pgworker"
	config.RuntimeParams["standard_conforming_strings"] = "on" // pgx insists, and the role may have another
	config.DefaultQueryExecMode = pgx.QueryExecModeExec        // prepares nothing, which a connection pooler might lose
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		fmt.Fprintf(os.Stderr, "pgworker: %s: %s\n", strings.ToLower(notice.Severity), notice.Message)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	var there bool
	if err := conn.QueryRow(ctx, "select to_regnamespace('alike') is not null").Scan(&there); err != nil {
		conn.Close(ctx)
		return nil, err
	}
	if !there {
		conn.Close(ctx)
		return nil, errors.New("the database has no schema alike; pgworker migrate up makes it")
	}
	return conn, nil
}

// print runs a query, writes its rows as a table, or as JSON objects, and
// returns how many there were.
func (c *command) print(cmd *cobra.Command, sql string, args ...any) (int, error) {
	conn, err := c.connect(cmd.Context())
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(cmd.Context()))
	return c.printOn(cmd, conn, sql, args...)
}

// printOn is print on an open connection.
func (c *command) printOn(cmd *cobra.Command, conn *pgx.Conn, sql string, args ...any) (int, error) {
	rows, err := conn.Query(cmd.Context(), sql, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	names := make([]string, len(rows.FieldDescriptions()))
	for i, field := range rows.FieldDescriptions() {
		names[i] = field.Name
	}
	out := c.sheet(cmd.OutOrStdout(), names)
	n := 0
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return n, err
		}
		n++
		if err := out.row(values); err != nil {
			return n, err
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	return n, out.end()
}

// ofTable is a verb that prints what a query says of one table.
func (c *command) ofTable(verb, short, long, sql string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " TABLE",
		Short: short,
		Long:  long,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.print(cmd, sql, args[0])
			return err
		},
	}
}

// A sheet prints rows: in columns for people, one JSON object a line for
// programs.
type sheet struct {
	names   []string
	json    *json.Encoder
	columns *tabwriter.Writer
	rows    int
}

func (c *command) sheet(w io.Writer, names []string) *sheet {
	s := &sheet{names: names}
	if c.json {
		s.json = json.NewEncoder(w)
		s.json.SetEscapeHTML(false)
	} else {
		s.columns = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	}
	return s
}

func (s *sheet) row(values []any) error {
	s.rows++
	if s.json != nil {
		// An object with its members in the order of the columns.
		var b strings.Builder
		for i, name := range s.names {
			key, _ := json.Marshal(name)
			value, err := json.Marshal(values[i])
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%c%s:%s", "{,"[min(i, 1)], key, value)
		}
		return s.json.Encode(json.RawMessage(b.String() + "}"))
	}
	if s.rows == 1 {
		fmt.Fprintln(s.columns, strings.Join(s.names, "\t"))
	}
	for i, value := range values {
		if i > 0 {
			fmt.Fprint(s.columns, "\t")
		}
		fmt.Fprint(s.columns, cell(value))
	}
	_, err := fmt.Fprintln(s.columns)
	if s.rows%1000 == 0 { // columns are aligned by the thousand, and memory stays
		return s.columns.Flush()
	}
	return err
}

func (s *sheet) end() error {
	if s.columns != nil {
		return s.columns.Flush()
	}
	return nil
}

// cell is a value as a person reads it, on one line.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.4g", v)
	case time.Time:
		return v.Local().Format("2006-01-02 15:04:05")
	case []byte:
		return fmt.Sprintf("%x", v)
	case []any, map[string]any:
		b, _ := json.Marshal(v)
		return string(b)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, fmt.Sprint(value))
}

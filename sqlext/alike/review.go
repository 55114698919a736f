package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os/user"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/review"
	sqlite "github.com/alike-sql/alike/sqlext/source"
)

func (c *command) reviewCommand() *cobra.Command {
	var listen, person string
	var hosts []string
	cmd := &cobra.Command{
		Use:   "review DATABASE",
		Short: "Decide about pairs in the browser",
		Long: `review serves a page on this machine, and prints its address with the token that opens it. The page shows the pairs that
wait for a verdict, uncertain ones first, both documents side by side; what you decide is kept as alike_mark keeps it.`,
		Example: `  alike review notes.db
  alike review notes.db --listen :8411 --by ann`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := openDatabase(args[0])
			if err != nil {
				return err
			}
			defer db.Close()
			if person == "" {
				if u, err := user.Current(); err == nil {
					person = u.Username
				}
			}
			token := review.NewToken()
			handler, err := review.Handler(review.Config{Source: reviewSource{db}, Title: filepath.Base(args[0]), Token: token, Hosts: hosts, Person: person})
			if err != nil {
				return err
			}
			return c.serve(cmd, listen, review.Open(token), handler)
		},
	}
	cmd.ValidArgsFunction = complete(cmd.Use)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "the `address`: host:port, or :port for this machine alone")
	cmd.Flags().StringVar(&person, "by", "", "who decides; the name of your account unless given")
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "a `name` of this machine under which browsers reach the page; may be repeated")
	return cmd
}

// serve answers until the command is interrupted.
func (c *command) serve(cmd *cobra.Command, listen, path string, handler http.Handler) error {
	if strings.HasPrefix(listen, ":") {
		listen = "127.0.0.1" + listen
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return usagef("--listen: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute}
	address := "http://" + listener.Addr().String() + path
	if c.json {
		if err := c.sheet(cmd.OutOrStdout(), []string{"address"}).row([]any{address}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), address)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return err
	case <-cmd.Context().Done():
	}
	closing, done := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
	defer done()
	if server.Shutdown(closing) != nil {
		server.Close()
	}
	return nil
}

// A reviewSource is an SQLite database whose pairs people judge.
type reviewSource struct{ db *sql.DB }

func (s reviewSource) Tables(ctx context.Context) ([]review.Table, error) {
	rows, err := s.db.QueryContext(ctx, "select name, profile, at_least from alike_status() order by name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []review.Table
	for rows.Next() {
		var t review.Table
		var profile string
		if err := rows.Scan(&t.Name, &profile, &t.AtLeast); err != nil {
			return nil, err
		}
		if t.Profile, err = sketch.ParseProfile(profile); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, rows.Err()
}

func (s reviewSource) Pairs(ctx context.Context, table string, atLeast float64, each func(review.Pair) error) error {
	names, err := s.keys(ctx, table)
	if err != nil {
		return err
	}
	// A plus takes the declared type away, after which the driver gives values as they are stored.
	rows, err := s.db.QueryContext(ctx, "select +key, +other, resemblance, low, high from alike_pairs(?, ?)", quote(table), atLeast)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p review.Pair
		var keys [2]any
		if err := rows.Scan(&keys[0], &keys[1], &p.Resemblance, &p.Low, &p.High); err != nil {
			return err
		}
		for i, key := range keys {
			values := []any{key}
			if len(names) > 1 {
				if values, err = partsOf(key); err != nil {
					return err
				}
			}
			p.Keys[i], p.Shown[i] = encodeKey(values), showKey(values)
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return rows.Err()
}

// keys returns the columns of a table's key.
func (s reviewSource) keys(ctx context.Context, table string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, "select name from pragma_table_info(?) order by cid", table+"_alike")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if name == "profile" {
			return names, nil
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s_alike is not a table of sketches", table)
}

func (s reviewSource) Decisions(ctx context.Context, table string, of *[2]string) ([]review.Decision, error) {
	names, err := s.keys(ctx, table)
	if err != nil {
		return nil, err
	}
	others := make([]string, len(names))
	for i, name := range names {
		others[i] = "other_" + name
	}
	if len(names) == 1 {
		others[0] = "other"
	}
	list := func(prefix string, names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = prefix + quote(name)
		}
		return strings.Join(quoted, ", ")
	}
	is := func(x string, names []string, y string, columns []string) string {
		equal := make([]string, len(names))
		for i := range names {
			equal[i] = x + quote(names[i]) + " = " + y + quote(columns[i])
		}
		return strings.Join(equal, " and ")
	}
	query := fmt.Sprintf(`select %s, %s, m.verdict, coalesce(m.note, ''), coalesce(m.marked_by, ''), m.marked_at, case when a.profile = b.profile then alike_bounds(a.sketch, b.sketch) end
		from %s m left join %s a on %s left join %s b on %s`,
		list("+m.", names), list("+m.", others), quote(table+"_alike_mark"), quote(table+"_alike"), is("a.", names, "m.", names), quote(table+"_alike"), is("b.", names, "m.", others))
	var args []any
	if of != nil {
		pair := func(columns []string) string {
			return strings.Join(strings.Split(list("m.", columns), ", "), " = ? and ") + " = ?"
		}
		x, y := decodeKey(of[0]), decodeKey(of[1])
		if len(x) != len(names) || len(y) != len(names) {
			return nil, errors.New("the key has another number of columns")
		}
		query += fmt.Sprintf(" where %s and %s or %[1]s and %[2]s", pair(names), pair(others))
		args = append(append(append(append(args, x...), y...), y...), x...)
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var decisions []review.Decision
	values := make([]any, 2*len(names))
	var d review.Decision
	var at int64
	var bounds *string
	var into []any
	for i := range values {
		into = append(into, &values[i])
	}
	into = append(into, &d.Verdict, &d.Note, &d.By, &at, &bounds)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		d.At = time.Unix(at, 0)
		for i := range d.Keys {
			key := values[i*len(names) : (i+1)*len(names)]
			d.Keys[i], d.Shown[i] = encodeKey(key), showKey(key)
		}
		d.Low, d.Resemblance, d.High = 0, math.NaN(), 1
		if bounds != nil {
			var i struct{ Low, Estimate, High float64 }
			if err := json.Unmarshal([]byte(*bounds), &i); err != nil {
				return nil, err
			}
			d.Low, d.Resemblance, d.High = i.Low, i.Estimate, i.High
		}
		decisions = append(decisions, d)
	}
	return decisions, rows.Err()
}

// largestText is the largest document that the page reads.
const largestText = 1 << 20

func (s reviewSource) Texts(ctx context.Context, table string, keys [2]string) (texts [2]review.Text, err error) {
	names, err := s.keys(ctx, table)
	if err != nil {
		return texts, err
	}
	where := make([]string, len(names))
	for i, name := range names {
		where[i] = quote(name) + " = ?"
	}
	query := fmt.Sprintf("select length(cast(document as blob)), case when length(cast(document as blob)) <= %d then cast(document as blob) end from %s where %s",
		largestText, quote(table+"_alike_source"), strings.Join(where, " and "))
	for i, key := range keys {
		var size *int64
		var document []byte
		err := s.db.QueryRowContext(ctx, query, decodeKey(key)...).Scan(&size, &document)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			texts[i].Why = "the row is gone"
		case err != nil:
			return texts, err
		case size == nil:
			texts[i].Why = "NULL"
		case *size > largestText:
			texts[i].Why = fmt.Sprintf("%d bytes, more than the %d that the page reads", *size, largestText)
		case !utf8.Valid(document) && strings.ContainsRune(string(document), 0):
			texts[i].Why = fmt.Sprintf("%d bytes that are no text", *size)
		default:
			texts[i].Text = strings.ToValidUTF8(string(document), "\uFFFD")
		}
	}
	return texts, nil
}

func (s reviewSource) Decide(ctx context.Context, table string, d review.Decision) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var note, by any
	if d.Note != "" {
		note = d.Note
	}
	if d.By != "" {
		by = d.By
	}
	if _, err := tx.ExecContext(ctx, "select alike_mark(?, ?, ?, ?, ?)", quote(table), argumentOf(d.Keys[0]), argumentOf(d.Keys[1]), d.Verdict, note); err != nil {
		return err
	}
	if d.Verdict != review.None && by != nil {
		if _, err := tx.ExecContext(ctx, "update "+quote(table+"_alike_mark")+" set marked_by = ? where rowid = last_insert_rowid()", by); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// encodeKey writes a key for a page, which sends it back.
func encodeKey(values []any) string { return hex.EncodeToString([]byte(sqlite.EncodeKey(values))) }

// decodeKey reads the output of encodeKey. Anything else is NULL, which is never a key.
func decodeKey(key string) []any {
	b, err := hex.DecodeString(key)
	if values := sqlite.DecodeKey(string(b)); err == nil && values != nil {
		return values
	}
	return []any{nil}
}

// partsOf reads a key of several columns, in which a text that begins with \x is a blob.
func partsOf(key any) ([]any, error) {
	var text string
	switch key := key.(type) {
	case string:
		text = key
	case []byte:
		text = string(key)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var values []any
	if err := decoder.Decode(&values); err != nil {
		return nil, fmt.Errorf("the key %.100q: %w", text, err)
	}
	for i, v := range values {
		switch v := v.(type) {
		case json.Number:
			if n, err := v.Int64(); err == nil {
				values[i] = n
			} else if values[i], err = v.Float64(); err != nil {
				return nil, err
			}
		case string:
			if digits, ok := strings.CutPrefix(v, `\x`); ok {
				if b, err := hex.DecodeString(digits); err == nil {
					values[i] = b
				}
			}
		}
	}
	return values, nil
}

// argumentOf returns a key in the form that the SQL functions take.
func argumentOf(key string) any {
	values := decodeKey(key)
	if len(values) == 1 {
		return values[0]
	}
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			values[i] = `\x` + hex.EncodeToString(b)
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return string(b)
}

// showKey writes a key for people.
func showKey(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			v = "x'" + hex.EncodeToString(b) + "'"
		}
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}

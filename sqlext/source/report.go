// Package source reads SQLite databases for the report.
package source

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3"

	"github.com/alike-sql/alike/sketch/report"
	"github.com/alike-sql/alike/sketch/verify"
)

// Report reads the attachments of a database file. The file is opened for
// reading alone, and nothing in it is trusted to run: its triggers, views and
// columns may call no function that has effects. A file in WAL mode is read at
// one moment; any other is read in steps of a few milliseconds, so that programs
// that write are not kept waiting.
func Report(ctx context.Context, path string) (report.Source, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: "mode=ro&_query_only=1&_busy_timeout=10000&_txlock=deferred"}
	db, err := sql.Open("sqlite3", address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqlite{db: db, path: path}
	if err := s.begin(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

type sqlite struct {
	db   *sql.DB
	conn *sql.Conn
	path string
	wal  bool
}

// rowsAtOnce is how many rows are read before a writer gets its turn.
const rowsAtOnce = 5000

type sqliteSQL struct {
	profileID int64
	source    string // the view of documents
	queue     string // "" for none
	filling   bool
}

func (s *sqlite) begin(ctx context.Context) error {
	var err error
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(ctx, "pragma trusted_schema = off"); err != nil {
		return err
	}
	var journal string
	var registry int
	if err := s.conn.QueryRowContext(ctx, "pragma journal_mode").Scan(&journal); err != nil {
		return err
	}
	if s.wal = journal == "wal"; s.wal {
		if _, err := s.conn.ExecContext(ctx, "begin"); err != nil {
			return err
		}
	}
	if err := s.conn.QueryRowContext(ctx, "select count(*) from sqlite_schema where type = 'table' and name = 'alike_attachment'").Scan(&registry); err != nil {
		return err
	}
	if registry == 0 {
		return errors.New("nothing is attached in this file; alike_attach of the extension does it")
	}
	return nil
}

func (s *sqlite) Engine() string { return "SQLite" }
func (s *sqlite) Name() string   { return filepath.Base(s.path) }

func (s *sqlite) Close() {
	s.conn.Close()
	s.db.Close()
}

// each runs a query and scans its rows into the pointers.
func (s *sqlite) each(ctx context.Context, query string, args, into []any, do func() error) error {
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *sqlite) Attachments(ctx context.Context) ([]*report.Attachment, error) {
	var list []*report.Attachment
	var name, state, table, column, profile, variants, policy, mode, extract string
	var id int64
	var atLeast, shortAtLeast *float64
	var below *int64
	err := s.each(ctx, `select a.name, a.state, a."table", a."column", a.Profile, p.profile, a.si, a.policy, a.at_least, a.mode, a.extract, a.short_below, a.short_at_least
		from alike_attachment a join alike_settings p on p.id = a.Profile where a.state <> 'next' order by a.name`,
		nil, []any{&name, &state, &table, &column, &id, &profile, &variants, &policy, &atLeast, &mode, &extract, &below, &shortAtLeast}, func() error {
			a := &report.Attachment{Section: &report.Section{Name: name, Table: table, Column: column, Profile: profile, Policy: policy, Mode: mode}}
			own := &sqliteSQL{profileID: id, source: report.Quote(name + "_alike_source"), filling: state == "filling"}
			if mode == "queue" && state == "ready" {
				own.queue = report.Quote(name + "_alike_queue")
			}
			a.Own, a.Side, a.Match, a.Marks = own, report.Quote(name+"_alike"), report.Quote(name+"_alike_match"), report.Quote(name+"_alike_mark")
			if extract == "html" {
				a.Media = extract
			}
			var names []string
			if err := json.Unmarshal([]byte(variants), &names); err != nil {
				return fmt.Errorf("alike_attachment: the indexes of %s: %w", name, err)
			}
			a.Parse(names)
			a.Section.AtLeast = a.Profile.AtLeast()
			if atLeast != nil {
				a.Section.AtLeast = *atLeast
			}
			if below != nil && shortAtLeast != nil {
				a.Section.Short = &verify.Short{Below: *below, AtLeast: *shortAtLeast}
			}
			list = append(list, a)
			return nil
		})
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if err := s.describe(ctx, a); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// describe reads the columns of the key and how far along an attachment is.
func (s *sqlite) describe(ctx context.Context, a *report.Attachment) error {
	own, out := a.Own.(*sqliteSQL), a.Section
	var column string
	key := true
	err := s.each(ctx, "select name from pragma_table_info(?) order by cid", []any{out.Name + "_alike"}, []any{&column}, func() error {
		if key = key && column != "profile"; key {
			a.Keys = append(a.Keys, column)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(a.Keys) == 0 {
		a.Broken = "its table " + out.Name + "_alike is gone; alike_detach clears it away"
		return nil
	}
	if err := s.conn.QueryRowContext(ctx, "select count(*) from "+own.source).Scan(&out.Rows); err != nil {
		out.Rows, out.Note = -1, err.Error()
	}
	for query, into := range map[string]*int64{
		"select count(*) from " + a.Side:                                           &out.Sketched,
		"select count(*) from alike_error where name = '" + quoted(out.Name) + "'": &out.Failed,
	} {
		if err := s.conn.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	out.Pending = max(0, out.Rows-out.Sketched)
	if own.queue != "" {
		var oldest *int64
		if err := s.conn.QueryRowContext(ctx, "select count(*), min(queued_at) from "+own.queue).Scan(&out.Pending, &oldest); err != nil {
			return err
		}
		if oldest != nil {
			at := time.Unix(*oldest, 0)
			out.Oldest = &at
		}
	}
	if own.filling {
		out.Note = "not filled yet: alike_refresh goes on"
	}
	return nil
}

func quoted(s string) string { return strings.ReplaceAll(s, "'", "''") }

// keysOf names the parts of a key as expressions, which the driver gives back as
// they are stored and not as the column was declared.
func keysOf(a *report.Attachment, prefix string, other bool) string {
	parts := make([]string, len(a.Keys))
	for i := range a.Keys {
		name := a.Keys[i]
		if other {
			name = a.Other(i)
		}
		parts[i] = "+" + prefix + report.Quote(name)
	}
	return strings.Join(parts, ", ")
}

func (s *sqlite) Rows(ctx context.Context, a *report.Attachment, each func(*report.Row) error) error {
	own := a.Own.(*sqliteSQL)
	r := report.Row{Features: make([]report.Nullable, a.Profile.K), Indexes: make([]report.Nullable, len(a.Variants))}
	key := make([]any, len(a.Keys))
	var into []any
	for i := range key {
		into = append(into, &key[i])
	}
	var hash, shingles *int64
	into = append(into, &hash, &shingles, &r.Sketch)
	for i := range r.Features {
		into = append(into, &r.Features[i])
	}
	for i := range r.Indexes {
		into = append(into, &r.Indexes[i])
	}
	names, marks := make([]string, len(a.Keys)), make([]string, len(a.Keys))
	for i, k := range a.Keys {
		names[i], marks[i] = report.Quote(k), "?"
	}
	order := strings.Join(names, ", ")
	var after []any
	for {
		where, args := "profile = ?", []any{own.profileID}
		if after != nil {
			where += " and (" + order + ") > (" + strings.Join(marks, ", ") + ")"
			args = append(args, after...)
		}
		n := 0
		query := fmt.Sprintf("select %s, %s from %s where %s order by %s limit %d", keysOf(a, "", false), a.Columns("+"), a.Side, where, order, rowsAtOnce)
		err := s.each(ctx, query, args, into, func() error {
			n++
			r.Hash, r.Shingles = 0, 0
			if hash != nil {
				r.Hash = *hash
			}
			if shingles != nil {
				r.Shingles = *shingles
			}
			r.Key = EncodeKey(key)
			return each(&r)
		})
		if err != nil || n < rowsAtOnce {
			return err
		}
		after = append([]any{}, key...)
	}
}

func (s *sqlite) Failures(ctx context.Context, a *report.Attachment) (list []report.Failure, err error) {
	var f report.Failure
	err = s.each(ctx, "select cast(key as text), substr(message, 1, 1000) from alike_error where name = ? order by failed_at desc, key limit 10",
		[]any{a.Section.Name}, []any{&f.Key, &f.Message}, func() error {
			list = append(list, f)
			return nil
		})
	return list, err
}

// pairOf scans the two keys of a row about a pair.
func pairOf(a *report.Attachment) (into []any, keys func() (string, string)) {
	x, y := make([]any, len(a.Keys)), make([]any, len(a.Keys))
	for i := range x {
		into = append(into, &x[i])
	}
	for i := range y {
		into = append(into, &y[i])
	}
	return into, func() (string, string) { return EncodeKey(x), EncodeKey(y) }
}

func (s *sqlite) Verdicts(ctx context.Context, a *report.Attachment, each func(key, other string, duplicate bool)) error {
	into, keys := pairOf(a)
	var duplicate bool
	return s.each(ctx, "select "+keysOf(a, "", false)+", "+keysOf(a, "", true)+", verdict = 'duplicate' from "+a.Marks, nil, append(into, &duplicate), func() error {
		x, y := keys()
		each(x, y, duplicate)
		return nil
	})
}

func (s *sqlite) Recorded(ctx context.Context, a *report.Attachment, limit int) (n int64, pairs [][2]string, err error) {
	if err := s.conn.QueryRowContext(ctx, "select count(*)"+a.Unjudged()).Scan(&n); err != nil {
		return 0, nil, err
	}
	into, keys := pairOf(a)
	err = s.each(ctx, "select "+keysOf(a, "m.", false)+", "+keysOf(a, "m.", true)+a.Unjudged()+" order by abs(m.resemblance - ?), 1, 2 limit ?",
		[]any{a.Section.AtLeast, limit}, into, func() error {
			x, y := keys()
			pairs = append(pairs, [2]string{x, y})
			return nil
		})
	return n, pairs, err
}

func (s *sqlite) Documents(ctx context.Context, a *report.Attachment, keys []string) ([]report.Document, error) {
	own := a.Own.(*sqliteSQL)
	list := make([]report.Document, len(keys))
	where := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		where[i] = report.Quote(k) + " = ?"
	}
	statement, err := s.conn.PrepareContext(ctx, fmt.Sprintf(
		"select coalesce(length(cast(document as blob)), -1), case when length(cast(document as blob)) <= %d then cast(document as blob) end from %s where %s",
		report.MaxDocument, own.source, strings.Join(where, " and ")))
	if err == nil {
		defer statement.Close()
	}
	for i, key := range keys {
		list[i] = report.Document{Media: a.Media}
		scan := err
		if scan == nil {
			scan = statement.QueryRowContext(ctx, DecodeKey(key)...).Scan(&list[i].Size, &list[i].Bytes)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(scan, sql.ErrNoRows):
			list[i].Why = "the row is gone"
		case scan != nil:
			list[i].Why = scan.Error()
		default:
			list[i] = list[i].Checked()
		}
	}
	return list, nil
}

func (s *sqlite) KeyText(_ *report.Attachment, key string) string {
	values := DecodeKey(key)
	if len(values) == 1 {
		if b, ok := values[0].([]byte); ok {
			return fmt.Sprintf("x'%x'", b)
		}
		return fmt.Sprint(values[0])
	}
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			values[i] = fmt.Sprintf("x'%x'", b)
		}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(values) != nil {
		return fmt.Sprint(values)
	}
	return strings.TrimSpace(b.String())
}

func (s *sqlite) Mark(a *report.Attachment, key, other, verdict string) string {
	return fmt.Sprintf("select alike_mark(%s, %s, %s, %s);", sqliteReference(a.Section.Name), sqliteKey(key), sqliteKey(other), sqliteLiteral(verdict))
}

func (s *sqlite) Clusters(a *report.Attachment) string {
	return "select * from alike_clusters(" + sqliteReference(a.Section.Name) + ");"
}

// sqliteReference names an attachment as alike_ functions read names.
func sqliteReference(name string) string {
	if !plainName.MatchString(name) {
		name = report.Quote(name)
	}
	return sqliteLiteral(name)
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func sqliteKey(key string) string {
	values := DecodeKey(key)
	parts := make([]string, len(values))
	for i, v := range values {
		if b, ok := v.([]byte); ok && len(values) > 1 {
			v = fmt.Sprintf(`\x%x`, b) // JSON has no blobs
		}
		parts[i] = sqliteLiteral(v)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "json_array(" + strings.Join(parts, ", ") + ")"
}

// sqliteLiteral writes a constant as postgresText does.
func sqliteLiteral(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64)
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	}
	if text := v.(string); !utf8.ValidString(text) {
		return fmt.Sprintf("cast(x'%x' as text)", text)
	}
	var parts []string
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			parts = append(parts, "'"+quoted(run.String())+"'")
			run.Reset()
		}
	}
	for _, r := range v.(string) {
		if !report.Unseen(r) {
			run.WriteRune(r)
			continue
		}
		flush()
		parts = append(parts, fmt.Sprintf("char(%d)", r))
	}
	flush()
	if parts == nil {
		return "''"
	}
	return strings.Join(parts, " || ")
}

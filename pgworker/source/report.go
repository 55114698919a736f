// Package source reads PostgreSQL databases for the report and for reviews.
package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/report"
	"github.com/alike-sql/alike/sketch/verify"
)

// Report reads the attachments of a database, all at one moment.
func Report(ctx context.Context, conn *pgx.Conn) (report.Source, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	return &postgres{tx: tx, database: conn.Config().Database}, nil
}

type postgres struct {
	tx       pgx.Tx
	database string
}

// postgresSQL is how an attachment is read; see queries/postgres/report.sql.
type postgresSQL struct {
	reference, key, pairKey, pairOther, order, isDocument, sound string
	profileID                                                    int16
	relation, column, document, mediaFrom                        string
}

func (p *postgres) Engine() string { return "PostgreSQL" }
func (p *postgres) Name() string   { return p.database }
func (p *postgres) Close()         { p.tx.Rollback(context.Background()) }

func (p *postgres) Attachments(ctx context.Context) ([]*report.Attachment, error) {
	list, err := p.found(ctx)
	if err != nil {
		return nil, err
	}
	return p.status(ctx, list)
}

// found holds every attachment of the registry in the order of alike.status(), with nil for
// an attachment that is about to replace another.
func (p *postgres) found(ctx context.Context) ([]*report.Attachment, error) {
	rows, err := p.tx.Query(ctx, queries.Report)
	if err != nil {
		return nil, err
	}
	var list []*report.Attachment
	for rows.Next() {
		a := &report.Attachment{Section: &report.Section{}}
		own := &postgresSQL{}
		a.Own = own
		var replaces *int32
		var relation, document, isDocument *string
		var variants []string
		var extract []byte
		var shortAtLeast *float64
		var below *int64
		if err := rows.Scan(&replaces, &a.Section.Name, &a.Section.Column, &own.profileID, &a.Section.Profile, &a.Section.Policy, &a.Section.Mode,
			&a.Section.AtLeast, &variants, &extract, &a.Keys, &a.Side, &a.Match, &a.Marks, &own.reference, &relation, &document,
			&own.key, &own.pairKey, &own.pairOther, &own.order, &isDocument, &shortAtLeast, &below, &own.sound); err != nil {
			return nil, err
		}
		if below != nil && shortAtLeast != nil {
			a.Section.Short = &verify.Short{Below: *below, AtLeast: *shortAtLeast}
		}
		a.Parse(variants)
		var from struct{ Column string }
		if extract != nil && json.Unmarshal(extract, &a.Media) != nil && json.Unmarshal(extract, &from) == nil {
			a.Media, own.mediaFrom = "auto", from.Column
		}
		own.column = a.Section.Column
		if relation != nil && document != nil {
			own.relation, own.document = *relation, *document
		}
		if isDocument == nil {
			a.Broken = fmt.Sprintf("the side table %s is missing or lacks a key column", a.Side)
		} else {
			own.isDocument = *isDocument
		}
		if replaces != nil {
			a = nil
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// status adds what alike.status says, in the same order.
func (p *postgres) status(ctx context.Context, all []*report.Attachment) ([]*report.Attachment, error) {
	rows, err := p.tx.Query(ctx, `select "table", rows, sketched, pending, failed, oldest, note from alike.status()`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*report.Attachment
	for i := 0; rows.Next() && i < len(all); i++ {
		var table string
		var counts [4]*int64
		var oldest *time.Time
		var note *string
		if err := rows.Scan(&table, &counts[0], &counts[1], &counts[2], &counts[3], &oldest, &note); err != nil {
			return nil, err
		}
		a := all[i]
		if a == nil {
			continue
		}
		a.Section.Table, a.Section.Oldest = table, oldest
		if note != nil {
			a.Section.Note = *note
		}
		for j, into := range []*int64{&a.Section.Rows, &a.Section.Sketched, &a.Section.Pending, &a.Section.Failed} {
			*into = -1
			if counts[j] != nil {
				*into = *counts[j]
			}
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

func (p *postgres) Rows(ctx context.Context, a *report.Attachment, each func(*report.Row) error) error {
	sql := a.Own.(*postgresSQL)
	rows, err := p.tx.Query(ctx, "select "+sql.key+", "+a.Columns("s.")+" from "+a.Side+" s where s.profile = $1 order by "+sql.order, sql.profileID)
	if err != nil {
		return err
	}
	defer rows.Close()
	r := report.Row{Features: make([]report.Nullable, a.Profile.K), Indexes: make([]report.Nullable, len(a.Variants))}
	into := []any{&r.Key, &r.Hash, &r.Shingles, &r.Sketch}
	for i := range r.Features {
		into = append(into, &r.Features[i])
	}
	for i := range r.Indexes {
		into = append(into, &r.Indexes[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (p *postgres) Failures(ctx context.Context, a *report.Attachment) ([]report.Failure, error) {
	rows, err := p.tx.Query(ctx, "select key, left(message, 1000) from alike.errors($1) limit 10", a.Own.(*postgresSQL).reference)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f report.Failure, err error) {
		return f, row.Scan(&f.Key, &f.Message)
	})
}

func (p *postgres) Verdicts(ctx context.Context, a *report.Attachment, each func(key, other string, duplicate bool)) error {
	sql := a.Own.(*postgresSQL)
	rows, err := p.tx.Query(ctx, "select "+sql.pairKey+", "+sql.pairOther+", m.verdict = 'duplicate' from "+a.Marks+" m")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key, other string
		var duplicate bool
		if err := rows.Scan(&key, &other, &duplicate); err != nil {
			return err
		}
		each(key, other, duplicate)
	}
	return rows.Err()
}

func (p *postgres) Recorded(ctx context.Context, a *report.Attachment, limit int) (n int64, pairs [][2]string, err error) {
	sql := a.Own.(*postgresSQL)
	if err := p.tx.QueryRow(ctx, "select count(*)"+a.Unjudged()).Scan(&n); err != nil {
		return 0, nil, err
	}
	rows, err := p.tx.Query(ctx, "select "+sql.pairKey+", "+sql.pairOther+a.Unjudged()+" order by abs(m.resemblance - $1), 1, 2 limit $2", a.Section.AtLeast, limit)
	if err != nil {
		return 0, nil, err
	}
	pairs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (pair [2]string, err error) {
		return pair, row.Scan(&pair[0], &pair[1])
	})
	return n, pairs, err
}

// documents reads texts. The report names texts that cannot be read and continues.
func (p *postgres) Documents(ctx context.Context, a *report.Attachment, keys []string) ([]report.Document, error) {
	sql := a.Own.(*postgresSQL)
	list := make([]report.Document, len(keys))
	for i := range list {
		list[i] = report.Document{Media: a.Media, Why: "the row is gone"}
	}
	if sql.relation == "" {
		for i := range list {
			list[i].Why = "the table or its column was dropped"
		}
		return list, nil
	}
	column := "d." + report.Quote(sql.column)
	if sql.document != "bytea" {
		column = "convert_to(" + column + "::text, 'UTF8')"
	}
	media := "null::text"
	if sql.mediaFrom != "" {
		media = "d." + report.Quote(sql.mediaFrom) + "::text"
	}
	nested, err := p.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer nested.Rollback(context.WithoutCancel(ctx))
	rows, err := nested.Query(ctx, fmt.Sprintf(
		"select k.n, coalesce(octet_length(%[1]s), -1), case when octet_length(%[1]s) <= $2 then %[1]s end, %[2]s from unnest($1::text[]) with ordinality as k(key, n) join %[3]s d on %[4]s",
		column, media, sql.relation, sql.isDocument), keys, report.MaxDocument)
	if err == nil {
		for rows.Next() {
			var n, size int64
			var d report.Document
			var media *string
			if err = rows.Scan(&n, &size, &d.Bytes, &media); err != nil {
				break
			}
			d.Size, d.Media = size, a.Media
			if media != nil {
				d.Media = *media
			}
			list[n-1] = d.Checked()
		}
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		for i := range list {
			list[i] = report.Document{Why: refused.Message}
		}
		err = nil
	}
	return list, err
}

func (p *postgres) KeyText(_ *report.Attachment, key string) string { return key }

func (p *postgres) Mark(a *report.Attachment, key, other, verdict string) string {
	return fmt.Sprintf("select alike.mark(%s, %s, %s, %s);", postgresText(a.Own.(*postgresSQL).reference), postgresText(key), postgresText(other), postgresText(verdict))
}

// Clusters names the table, which people know.
func (p *postgres) Clusters(a *report.Attachment) string {
	return "select * from alike.clusters(" + postgresText(a.Section.Table) + ");"
}

// postgresText writes a string constant, in which invisible characters and those that
// change the direction of writing are escaped.
func postgresText(s string) string {
	if strings.IndexFunc(s, report.Unseen) < 0 {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteString("U&'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteRune(r)
			b.WriteRune(r)
		case report.Unseen(r):
			fmt.Fprintf(&b, `\+%06X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/queries"
)

// Postgres reads the attachments of a database, all at one moment.
func Postgres(ctx context.Context, conn *pgx.Conn) (Source, error) {
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
	reference, key, pairKey, pairOther, order, isDocument string
	profileID                                             int16
	relation, column, document, mediaFrom                 string
}

func (p *postgres) engine() string { return "PostgreSQL" }
func (p *postgres) name() string   { return p.database }
func (p *postgres) close()         { p.tx.Rollback(context.Background()) }

func (p *postgres) attachments(ctx context.Context) ([]*attachment, error) {
	list, err := p.found(ctx)
	if err != nil {
		return nil, err
	}
	return p.status(ctx, list)
}

// found holds every attachment of the registry in the order of alike.status(), with nil for
// an attachment that is about to replace another.
func (p *postgres) found(ctx context.Context) ([]*attachment, error) {
	rows, err := p.tx.Query(ctx, queries.Report)
	if err != nil {
		return nil, err
	}
	var list []*attachment
	for rows.Next() {
		a := &attachment{section: &Section{}}
		own := &postgresSQL{}
		a.sql = own
		var replaces *int32
		var relation, document, isDocument *string
		var variants []string
		var extract []byte
		if err := rows.Scan(&replaces, &a.section.Name, &a.section.Column, &own.profileID, &a.section.Profile, &a.section.Policy, &a.section.Mode,
			&a.section.AtLeast, &variants, &extract, &a.keys, &a.side, &a.match, &a.marks, &own.reference, &relation, &document,
			&own.key, &own.pairKey, &own.pairOther, &own.order, &isDocument); err != nil {
			return nil, err
		}
		a.parse(variants)
		var from struct{ Column string }
		if extract != nil && json.Unmarshal(extract, &a.media) != nil && json.Unmarshal(extract, &from) == nil {
			a.media, own.mediaFrom = "auto", from.Column
		}
		own.column = a.section.Column
		if relation != nil && document != nil {
			own.relation, own.document = *relation, *document
		}
		if isDocument == nil {
			a.broken = fmt.Sprintf("the side table %s is missing or lacks a key column", a.side)
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
func (p *postgres) status(ctx context.Context, all []*attachment) ([]*attachment, error) {
	rows, err := p.tx.Query(ctx, `select "table", rows, sketched, pending, failed, oldest, note from alike.status()`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*attachment
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
		a.section.Table, a.section.Oldest = table, oldest
		if note != nil {
			a.section.Note = *note
		}
		for j, into := range []*int64{&a.section.Rows, &a.section.Sketched, &a.section.Pending, &a.section.Failed} {
			*into = -1
			if counts[j] != nil {
				*into = *counts[j]
			}
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

func (p *postgres) rows(ctx context.Context, a *attachment, each func(*row) error) error {
	sql := a.sql.(*postgresSQL)
	rows, err := p.tx.Query(ctx, "select "+sql.key+", "+a.columns("s.")+" from "+a.side+" s where s.profile = $1 order by "+sql.order, sql.profileID)
	if err != nil {
		return err
	}
	defer rows.Close()
	r := row{features: make([]nullable, a.profile.K), indexes: make([]nullable, len(a.variants))}
	values := make([]*int64, len(r.features)+len(r.indexes))
	into := []any{&r.key, &r.hash, &r.shingles, &r.sketch}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			to := &r.features
			if i >= len(r.features) {
				to, i = &r.indexes, i-len(r.features)
			}
			(*to)[i] = nullable{}
			if v != nil {
				(*to)[i] = nullable{*v, true}
			}
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (p *postgres) failures(ctx context.Context, a *attachment) ([]Failure, error) {
	rows, err := p.tx.Query(ctx, "select key, left(message, 1000) from alike.errors($1) limit 10", a.sql.(*postgresSQL).reference)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f Failure, err error) {
		return f, row.Scan(&f.Key, &f.Message)
	})
}

func (p *postgres) verdicts(ctx context.Context, a *attachment, each func(key, other string, duplicate bool)) error {
	sql := a.sql.(*postgresSQL)
	rows, err := p.tx.Query(ctx, "select "+sql.pairKey+", "+sql.pairOther+", m.verdict = 'duplicate' from "+a.marks+" m")
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

func (p *postgres) recorded(ctx context.Context, a *attachment, most int) (n int64, pairs [][2]string, err error) {
	sql := a.sql.(*postgresSQL)
	if err := p.tx.QueryRow(ctx, "select count(*)"+a.unjudged()).Scan(&n); err != nil {
		return 0, nil, err
	}
	rows, err := p.tx.Query(ctx, "select "+sql.pairKey+", "+sql.pairOther+a.unjudged()+" order by abs(m.resemblance - $1), 1, 2 limit $2", a.section.AtLeast, most)
	if err != nil {
		return 0, nil, err
	}
	pairs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (pair [2]string, err error) {
		return pair, row.Scan(&pair[0], &pair[1])
	})
	return n, pairs, err
}

// documents reads texts. The report names texts that cannot be read and continues.
func (p *postgres) documents(ctx context.Context, a *attachment, keys []string) ([]document, error) {
	sql := a.sql.(*postgresSQL)
	list := make([]document, len(keys))
	for i := range list {
		list[i] = document{media: a.media, why: "the row is gone"}
	}
	if sql.relation == "" {
		for i := range list {
			list[i].why = "the table or its column was dropped"
		}
		return list, nil
	}
	column := "d." + quote(sql.column)
	if sql.document != "bytea" {
		column = "convert_to(" + column + "::text, 'UTF8')"
	}
	media := "null::text"
	if sql.mediaFrom != "" {
		media = "d." + quote(sql.mediaFrom) + "::text"
	}
	nested, err := p.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer nested.Rollback(context.WithoutCancel(ctx))
	rows, err := nested.Query(ctx, fmt.Sprintf(
		"select k.n, coalesce(octet_length(%[1]s), -1), case when octet_length(%[1]s) <= $2 then %[1]s end, %[2]s from unnest($1::text[]) with ordinality as k(key, n) join %[3]s d on %[4]s",
		column, media, sql.relation, sql.isDocument), keys, maxDocument)
	if err == nil {
		for rows.Next() {
			var n, size int64
			var d document
			var media *string
			if err = rows.Scan(&n, &size, &d.bytes, &media); err != nil {
				break
			}
			d.size, d.media = size, a.media
			if media != nil {
				d.media = *media
			}
			list[n-1] = d.checked()
		}
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		for i := range list {
			list[i] = document{why: refused.Message}
		}
		err = nil
	}
	return list, err
}

func (p *postgres) keyText(_ *attachment, key string) string { return key }

func (p *postgres) mark(a *attachment, key, other, verdict string) string {
	return fmt.Sprintf("select alike.mark(%s, %s, %s, %s);", postgresText(a.sql.(*postgresSQL).reference), postgresText(key), postgresText(other), postgresText(verdict))
}

// postgresText writes a string constant, in which invisible characters and those that
// change the direction of writing are escaped.
func postgresText(s string) string {
	if strings.IndexFunc(s, unseen) < 0 {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteString("U&'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteRune(r)
			b.WriteRune(r)
		case unseen(r):
			fmt.Fprintf(&b, `\+%06X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

func unseen(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }

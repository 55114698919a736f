package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alike-sql/alike/sketch/extract"
	"github.com/alike-sql/alike/sketch/report"
	"github.com/alike-sql/alike/sketch/review"
)

// Review lets people judge the pairs of a PostgreSQL database, with the rights of
// the role that the pool's connections log in as: what it may not read is not shown,
// and it keeps verdicts as alike.mark does.
func Review(pool *pgxpool.Pool) (review.Source, error) {
	extractor, err := extract.New(extract.Config{Timeout: 10 * time.Second, Output: report.MaxDocument})
	return &reviewer{pool, extractor}, err
}

type reviewer struct {
	pool      *pgxpool.Pool
	extractor *extract.Extractor
}

// read runs f in a transaction that changes nothing.
func (r *reviewer) read(ctx context.Context, f func(*postgres) error) error {
	return pgx.BeginTxFunc(ctx, r.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return f(&postgres{tx: tx})
	})
}

func (r *reviewer) Tables(ctx context.Context) (tables []review.Table, err error) {
	return tables, r.read(ctx, func(p *postgres) error {
		list, err := p.found(ctx)
		for _, a := range list {
			if a != nil && a.Broken == "" {
				tables = append(tables, review.Table{Name: a.Own.(*postgresSQL).reference, Profile: a.Profile, AtLeast: a.Section.AtLeast})
			}
		}
		return err
	})
}

// attachment finds what Tables calls by a name.
func (p *postgres) attachment(ctx context.Context, name string) (*report.Attachment, error) {
	list, err := p.found(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a != nil && a.Broken == "" && a.Own.(*postgresSQL).reference == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("nothing called %q is attached", name)
}

func (r *reviewer) Pairs(ctx context.Context, table string, atLeast float64, each func(review.Pair) error) error {
	ctx, stop := context.WithCancel(ctx) // without which the rest is read
	defer stop()
	rows, err := r.pool.Query(ctx, "select key, other, resemblance, low, high from alike.pairs($1, $2)", table, atLeast)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p review.Pair
		if err := rows.Scan(&p.Keys[0], &p.Keys[1], &p.Resemblance, &p.Low, &p.High); err != nil {
			return err
		}
		p.Shown = p.Keys
		if err := each(p); err != nil {
			stop()
			return err
		}
	}
	return rows.Err()
}

func (r *reviewer) Decisions(ctx context.Context, table string, of *[2]string) (decisions []review.Decision, err error) {
	return decisions, r.read(ctx, func(p *postgres) error {
		a, err := p.attachment(ctx, table)
		if err != nil {
			return err
		}
		own := a.Own.(*postgresSQL)
		var first, second []string
		for i, key := range a.Keys {
			first = append(first, "x."+report.Quote(key)+" = m."+report.Quote(key))
			second = append(second, "y."+report.Quote(key)+" = m."+report.Quote(a.Other(i)))
		}
		query := fmt.Sprintf(`select %s, %s, m.verdict, coalesce(m.note, ''), m.marked_by::text, m.marked_at,
				case when x.profile = y.profile and (x.profile <> %[7]d or %[8]s and %[9]s) then alike.bounds(x.sketch, y.sketch)::text end
			from %[3]s m left join %[4]s x on %[5]s left join %[4]s y on %[6]s`,
			own.pairKey, own.pairOther, a.Marks, a.Side, strings.Join(first, " and "), strings.Join(second, " and "),
			own.profileID, strings.ReplaceAll(own.sound, "s.sketch", "x.sketch"), strings.ReplaceAll(own.sound, "s.sketch", "y.sketch"))
		var args []any
		if of != nil {
			query += fmt.Sprintf(" where (%s, %s) in (($1, $2), ($2, $1))", own.pairKey, own.pairOther)
			args = []any{of[0], of[1]}
		}
		rows, err := p.tx.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		decisions, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (d review.Decision, err error) {
			var bounds *string
			err = row.Scan(&d.Keys[0], &d.Keys[1], &d.Verdict, &d.Note, &d.By, &d.At, &bounds)
			d.Shown, d.Low, d.Resemblance, d.High = d.Keys, 0, math.NaN(), 1
			if err == nil && bounds != nil {
				var i struct{ Low, Estimate, High float64 }
				err = json.Unmarshal([]byte(*bounds), &i)
				d.Low, d.Resemblance, d.High = i.Low, i.Estimate, i.High
			}
			return d, err
		})
		return err
	})
}

func (r *reviewer) Texts(ctx context.Context, table string, keys [2]string) (texts [2]review.Text, err error) {
	var list []report.Document
	err = r.read(ctx, func(p *postgres) error {
		a, err := p.attachment(ctx, table)
		if err == nil {
			list, err = p.Documents(ctx, a, keys[:])
		}
		return err
	})
	if err != nil {
		return texts, err
	}
	for i, d := range list {
		if d.Why == "" && d.Media != "" {
			if d.Bytes, err = r.extractor.Text(ctx, d.Bytes, d.Media); ctx.Err() != nil {
				return texts, ctx.Err()
			} else if err != nil {
				d.Why = err.Error()
			}
		}
		texts[i].Text, texts[i].Why = d.Shown()
	}
	return texts, nil
}

// Decide keeps the name of the person in front of the note: marked_by is the role.
func (r *reviewer) Decide(ctx context.Context, table string, d review.Decision) error {
	var verdict string
	err := r.pool.QueryRow(ctx, `select alike.mark($1, $2, $3, $4, nullif(concat_ws(': ', nullif(nullif($5, ''), session_user), nullif($6, '')), ''))`,
		table, d.Keys[0], d.Keys[1], d.Verdict, d.By, d.Note).Scan(&verdict)
	if err == nil && verdict != d.Verdict {
		err = errors.New("the verdict was not kept")
	}
	return err
}

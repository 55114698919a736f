package worker

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/extract"
)

// A Contained is a row of which as much as Containment says is in another. Low and High
// are Containment where both documents were read.
type Contained struct {
	Key, Other             string
	Containment, Low, High float64
}

// Containment answers the questions on containment about an attached table as the functions
// of SQL do, but reads the documents of answers whose bounds contain the limit.
type Containment struct {
	tx       pgx.Tx
	table    string
	atLeast  float64
	verifier *verifier
	profile  sketch.Profile // of the shingles that are compared
	texts    map[string][]byte
}

// NewContainment begins to answer questions, all at one moment; Close ends it. atLeast is 0.8
// when it is NaN.
func NewContainment(ctx context.Context, conn *pgx.Conn, table string, atLeast float64) (_ *Containment, err error) {
	c := &Containment{table: table, texts: map[string][]byte{}}
	var a *attachment
	if c.tx, a, _, err = ask(ctx, conn, table, 1); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Close(ctx)
		}
	}()
	if err := c.tx.QueryRow(ctx, queries.ContainmentLimit, table, atLeast).Scan(&c.atLeast); err != nil {
		return nil, err
	}
	extractor, err := extract.New(extract.Config{})
	if err != nil {
		return nil, err
	}
	return c, c.read(ctx, a, extractor)
}

// read prepares the reading of documents.
func (c *Containment) read(ctx context.Context, a *attachment, extractor *extract.Extractor) (err error) {
	c.profile = a.profile.Passages()
	c.verifier, err = newVerifier(ctx, c.tx, a, extractor, nil)
	return err
}

// Close ends the transaction.
func (c *Containment) Close(ctx context.Context) { undo(ctx, c.tx) }

// Rows gives the rows that contain a row, or in reverse those that it contains, best first.
func (c *Containment) Rows(ctx context.Context, key string, reverse bool) ([]Contained, error) {
	rows, err := c.tx.Query(ctx, queries.Holding, c.table, key, reverse, c.atLeast)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Contained, err error) {
		x.Key = key
		err = row.Scan(&x.Other, &x.Containment, &x.Low, &x.High)
		return x, err
	})
	if err != nil {
		return nil, err
	}
	if reverse {
		for i, x := range list {
			list[i].Key, list[i].Other = x.Other, x.Key
		}
	}
	if list, err = c.decide(ctx, list); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(x, y Contained) int { return cmp.Compare(y.Containment, x.Containment) })
	return list, nil
}

// Pairs gives every pair, in the order of their estimates. It holds a few of them at a time.
func (c *Containment) Pairs(ctx context.Context, each func(Contained) error) error {
	if _, err := c.tx.Exec(ctx, "declare alike_containments no scroll cursor for "+queries.Containments, c.table, c.atLeast); err != nil {
		return err
	}
	defer c.tx.Exec(context.WithoutCancel(ctx), "close alike_containments")
	for {
		rows, err := c.tx.Query(ctx, "fetch 1000 from alike_containments")
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Contained])
		if err != nil || len(list) == 0 {
			return err
		}
		if list, err = c.decide(ctx, list); err != nil {
			return err
		}
		for _, x := range list {
			if err := each(x); err != nil {
				return err
			}
		}
	}
}

// decide replaces the bounds of open answers by what the documents say, and drops the
// answers that do not reach the limit.
func (c *Containment) decide(ctx context.Context, list []Contained) ([]Contained, error) {
	var answers []Contained
	for some := range slices.Chunk(list, verifyAtOnce/2) {
		var keys []string
		for _, x := range some {
			if x.Low < c.atLeast {
				keys = append(keys, x.Key, x.Other)
			}
		}
		slices.Sort(keys)
		keys = slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return c.texts[key] != nil })
		if len(keys)+len(c.texts) > verifyAtOnce {
			clear(c.texts)
			keys = keys[:0]
			for _, x := range some {
				if x.Low < c.atLeast {
					keys = append(keys, x.Key, x.Other)
				}
			}
			slices.Sort(keys)
			keys = slices.Compact(keys)
		}
		if len(keys) > 0 && !c.verifier.a.elsewhere() {
			if err := c.verifier.read(ctx, keys, func(key string, text []byte) error { c.texts[key] = slices.Clone(text); return nil }); err != nil {
				return nil, err
			}
		}
		for _, x := range some {
			if x.Low < c.atLeast && c.texts[x.Key] != nil && c.texts[x.Other] != nil {
				r, ok, err := sketch.ExactContainment(c.profile, c.texts[x.Key], c.texts[x.Other])
				if err != nil {
					return nil, err
				}
				if ok {
					x.Containment, x.Low, x.High = r, r, r
				}
			}
			if x.Containment >= c.atLeast {
				answers = append(answers, x)
			}
		}
	}
	return answers, nil
}

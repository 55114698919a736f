package worker

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sketch/extract"
	"github.com/alike-sql/alike/sketch/verify"
)

// An Answer is two rows that resemble each other. Low and High are Resemblance where the
// documents were read.
type Answer struct {
	Key, Other  string
	Shared      int32 // features
	Resemblance float64
	Low, High   float64
	Containment *float64 // under a profile that has it
	duplicate   bool     // a person said so
	relation    string   // of Key to Other, where Resemblance is the containment; empty unless a policy asks
}

// Exact answers the questions about an attached table as alike.rows, alike.pairs and
// alike.clusters do, all at one moment, but reads the documents of pairs whose bounds
// contain the limit.
type Exact struct {
	tx       pgx.Tx
	table    string
	a        *attachment
	atLeast  float64
	from     float64 // the estimate from which on a pair may be an answer
	verifier *verifier
	verdicts map[[2]string]bool // of people on pairs, in both orders: duplicates or not
}

// Verifies reports whether the option verify of an attached table, named as in SQL or by
// its attachment, is text.
func Verifies(ctx context.Context, db Query, table string) (bool, error) {
	var id int32
	var atLeast float64
	var decides string
	err := db.QueryRow(ctx, queries.Question, table, nil).Scan(&id, &atLeast, &decides)
	return decides == "text", err
}

// NewExact begins to answer questions; Close ends it. atLeast is the attachment's own when it
// is NaN.
func NewExact(ctx context.Context, conn *pgx.Conn, table string, atLeast float64) (_ *Exact, err error) {
	e := &Exact{table: table, verdicts: map[[2]string]bool{}}
	if e.tx, e.a, e.atLeast, err = ask(ctx, conn, table, atLeast); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.Close(ctx)
		}
	}()
	if e.from, err = verify.From(e.a.profile, e.atLeast); err != nil {
		return nil, err
	}
	e.from = max(e.from, math.SmallestNonzeroFloat64) // the questions refuse 0
	extractor, err := extract.New(extract.Config{})
	if err != nil {
		return nil, err
	}
	short := e.a.short
	if !math.IsNaN(atLeast) {
		short = nil
	}
	if e.verifier, err = newVerifier(ctx, e.tx, e.a, extractor, short); err != nil {
		return nil, err
	}
	rows, err := e.tx.Query(ctx, e.a.sql(queries.Verdicts))
	if err != nil {
		return nil, err
	}
	var pair [2]string
	var duplicate bool
	_, err = pgx.ForEachRow(rows, []any{&pair[0], &pair[1], &duplicate}, func() error { e.verdicts[pair] = duplicate; return nil })
	return e, err
}

// ask begins a transaction in which nothing changes, and finds an attachment, named as in
// SQL or by its own name, and the limit of a question.
func ask(ctx context.Context, conn *pgx.Conn, table string, atLeast float64) (tx pgx.Tx, a *attachment, limit float64, err error) {
	if tx, err = conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return nil, nil, 0, err
	}
	defer func(begun pgx.Tx) {
		if err != nil {
			undo(ctx, begun)
		}
	}(tx)
	var id int32
	var decides string
	if err := tx.QueryRow(ctx, queries.Question, table, atLeast).Scan(&id, &limit, &decides); err != nil {
		return nil, nil, 0, err
	}
	all, err := readAttachments(ctx, tx)
	if err != nil {
		return nil, nil, 0, err
	}
	if a = all[id]; a == nil {
		err = errDetached
	} else {
		err = a.broken
	}
	return tx, a, limit, err
}

// Close ends the transaction.
func (e *Exact) Close(ctx context.Context) { undo(ctx, e.tx) }

// Rows gives the rows that resemble a row, best first.
func (e *Exact) Rows(ctx context.Context, key string) ([]Answer, error) {
	rows, err := e.tx.Query(ctx, "select key, shared, resemblance, low, high, containment from alike.rows($1, $2, $3)", e.table, key, e.from)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Answer, error) {
		x := Answer{Key: key}
		err := row.Scan(&x.Other, &x.Shared, &x.Resemblance, &x.Low, &x.High, &x.Containment)
		x.duplicate = e.verdicts[[2]string{key, x.Other}]
		return x, err
	})
	if err == nil {
		list, err = e.verifier.decide(ctx, list, e.atLeast)
	}
	slices.SortStableFunc(list, func(x, y Answer) int {
		switch {
		case x.Resemblance > y.Resemblance:
			return -1
		case x.Resemblance < y.Resemblance:
			return 1
		}
		return 0
	})
	return list, err
}

// Pairs gives every pair once, in the order of their estimates. It holds a few of them at
// a time.
func (e *Exact) Pairs(ctx context.Context, each func(Answer) error) error {
	if _, err := e.tx.Exec(ctx, "declare alike_pairs no scroll cursor for select key, other, shared, resemblance, low, high from alike.pairs($1, $2)", e.table, e.from); err != nil {
		return err
	}
	defer e.tx.Exec(context.WithoutCancel(ctx), "close alike_pairs")
	for {
		rows, err := e.tx.Query(ctx, "fetch 5000 from alike_pairs")
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Answer, err error) {
			err = row.Scan(&x.Key, &x.Other, &x.Shared, &x.Resemblance, &x.Low, &x.High)
			x.duplicate = e.verdicts[[2]string{x.Key, x.Other}]
			return x, err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		if list, err = e.verifier.decide(ctx, list, e.atLeast); err != nil {
			return err
		}
		for _, x := range list {
			if err := each(x); err != nil {
				return err
			}
		}
	}
}

// Clusters gives each row that is in a cluster, in the order of the clusters and of the keys in
// them, with the smallest key of the cluster and its size.
func (e *Exact) Clusters(ctx context.Context, linkage cluster.Linkage, each func(key, cluster string, size int) error) error {
	type pair struct {
		key, other  string
		resemblance float64
	}
	var pairs []pair
	known := map[string]bool{}
	if err := e.Pairs(ctx, func(x Answer) error {
		pairs = append(pairs, pair{x.Key, x.Other, x.Resemblance})
		known[x.Key], known[x.Other] = true, true
		return nil
	}); err != nil {
		return err
	}
	var given []string
	for key := range known {
		given = append(given, key)
	}
	rows, err := e.tx.Query(ctx, e.a.sql(queries.Sketches), given)
	if err != nil {
		return err
	}
	var keys []string // in their order
	var sketches [][]byte
	numbers := map[string]int{}
	var key string
	var stored []byte
	if _, err := pgx.ForEachRow(rows, []any{&key, &stored}, func() error {
		numbers[key] = len(keys)
		keys, sketches = append(keys, key), append(sketches, slices.Clone(stored))
		return nil
	}); err != nil {
		return err
	}
	linker, err := cluster.NewLinker(cluster.LinkerOptions{Documents: len(keys), Linkage: linkage, Resembles: func(i, j int) (bool, error) {
		_, ok, err := e.verifier.judge.Compare(keys[i], keys[j], sketches[i], sketches[j], e.atLeast)
		return ok, err
	}})
	if err != nil {
		return err
	}
	defer linker.Close()
	for pair, duplicate := range e.verdicts {
		i, here := numbers[pair[0]]
		if j, there := numbers[pair[1]]; here && there && i < j {
			linker.Mark(i, j, duplicate)
		}
	}
	for _, p := range pairs {
		if err := linker.Pair(numbers[p.key], numbers[p.other], p.resemblance); err != nil {
			return err
		}
	}
	type member struct{ i, cluster, size int }
	var members []member
	if err := linker.Clusters(ctx, func(i, cluster, size int) error {
		if size > 1 {
			members = append(members, member{i, cluster, size})
		}
		return nil
	}); err != nil {
		return err
	}
	slices.SortStableFunc(members, func(x, y member) int { return x.cluster - y.cluster })
	for _, m := range members {
		if err := each(keys[m.i], keys[m.cluster], m.size); err != nil {
			return err
		}
	}
	return nil
}

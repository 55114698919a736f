package worker

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/extract"
	"github.com/alike-sql/alike/sketch/verify"
)

// A verifier reads documents of an attachment again, to decide pairs that their sketches
// leave open. A document whose text a command extracts, that is longer than verifyBytes
// or that has changed since it was sketched is not read, and the sketches decide.
type verifier struct {
	db        querier
	a         *attachment
	extractor *extract.Extractor
	judge     *verify.Judge[string]
}

const (
	verifyBytes  = 16 << 20
	verifyAtOnce = 200  // documents that are read together
	verifyRows   = 1000 // rows that a checkin is compared with, as in SQLite
)

// newVerifier returns a verifier for a question. short is the threshold of short documents, nil
// where the question says the threshold.
func newVerifier(ctx context.Context, db querier, a *attachment, extractor *extract.Extractor, short *verify.Short) (*verifier, error) {
	v := &verifier{db: db, a: a, extractor: extractor, judge: verify.Sketches[string]()}
	size := func(key string) (n int64, err error) {
		rows, err := db.Query(ctx, a.sql(queries.Size), key)
		if err != nil {
			return 0, err
		}
		return pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	}
	if a.elsewhere() {
		v.judge.Raise(short, size)
		return v, nil
	}
	var err error
	v.judge, err = verify.Texts(a.profile, a.boilerplate, func(key string) (text []byte, ok bool, err error) {
		err = v.read(ctx, []string{key}, func(_ string, document []byte) error {
			text, ok = slices.Clone(document), true
			return nil
		})
		return text, ok, err
	}, func() error { return context.Cause(ctx) })
	if err == nil {
		v.judge.Raise(short, size)
	}
	return v, err
}

// read gives the texts of keys to take.
func (v *verifier) read(ctx context.Context, keys []string, take func(key string, text []byte) error) error {
	rows, err := v.db.Query(ctx, v.a.sql(queries.ReadDocuments), keys, verifyBytes, batchBytes)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var d document
		if err := d.scan(rows); err != nil {
			return err
		}
		if d.bytes == nil || d.storedHash == nil || *d.storedProfile != v.a.profileID || *d.storedHash != sketch.ContentHash(d.bytes) {
			continue
		}
		text := d.bytes
		if media, extract := v.a.mediaOf(d.media); extract {
			if v.extractor.RunsCommand(text, media) {
				continue
			}
			var unreadable error
			if text, unreadable = v.extractor.Text(ctx, text, media); unreadable != nil {
				continue
			}
		}
		if err := take(keys[d.n-1], text); err != nil {
			return err
		}
	}
	return rows.Err()
}

// decide replaces the bounds of open answers by what the documents say, and drops the
// answers that do not reach the limit, unless a person called them duplicates. All the
// documents are read before, many at a time.
func (v *verifier) decide(ctx context.Context, list []Answer, atLeast float64) ([]Answer, error) {
	limits := make([]float64, len(list))
	for i := range list {
		x := &list[i]
		if x.duplicate {
			continue
		}
		var err error
		if limits[i], err = v.judge.Limit(x.Key, x.Other, sketch.Interval{Low: x.Low, Estimate: x.Resemblance, High: x.High}, atLeast); err != nil {
			return nil, err
		}
	}
	open := func(i int) bool { return v.judge.Reads() && list[i].Low < limits[i] && list[i].High >= limits[i] }
	for done := 0; done < len(list); {
		end := min(len(list), done+verifyAtOnce)
		var keys []string
		for i := done; i < end; i++ {
			if open(i) {
				keys = append(keys, list[i].Key, list[i].Other)
			}
		}
		slices.Sort(keys)
		keys = slices.DeleteFunc(slices.Compact(keys), v.judge.Has)
		if len(keys) > 0 {
			if err := v.read(ctx, keys, v.judge.Keep); err != nil {
				return nil, err
			}
		}
		for i := done; i < end; i++ {
			if !open(i) {
				continue
			}
			x := &list[i]
			b, err := v.judge.Decide(x.Key, x.Other, sketch.Interval{Low: x.Low, Estimate: x.Resemblance, High: x.High}, limits[i])
			if err != nil {
				return nil, err
			}
			x.Low, x.Resemblance, x.High = b.Low, b.Estimate, b.High
		}
		done = end
	}
	kept := list[:0]
	for i, x := range list {
		if x.Resemblance >= limits[i] {
			kept = append(kept, x)
		}
	}
	return kept, nil
}

// matchVerified is queries.Match where the documents decide.
func (w *Worker) matchVerified(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) error {
	if a.minContainment != nil {
		return w.matchHeld(ctx, tx, a, keys)
	}
	from, err := verify.From(a.profile, a.atLeast)
	if err != nil {
		return err
	}
	v, err := newVerifier(ctx, tx, a, w.extractor, a.short)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(keys, 50) {
		rows, err := tx.Query(ctx, a.sql(queries.VerifiedMatch), chunk, from, verifyRows)
		if err != nil {
			return err
		}
		totals := map[string]int64{} // of the rows that resemble a row, those that were not looked at
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Answer, err error) {
			var total int64
			err = row.Scan(&x.Key, &x.Other, &x.Shared, &x.Resemblance, &x.Low, &x.High, &x.duplicate, &total)
			totals[x.Key] = max(0, total-verifyRows)
			return x, err
		})
		if err != nil {
			return err
		}
		if list, err = v.decide(ctx, list, a.atLeast); err != nil {
			return err
		}
		// The nearest of each come first; equal ones stay in the order of their keys.
		slices.SortStableFunc(list, func(x, y Answer) int {
			return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(y.Resemblance, x.Resemblance))
		})
		if err := w.recordNearest(ctx, tx, a, list, totals); err != nil {
			return err
		}
	}
	return nil
}

// matchHeld is matchVerified by containment.
func (w *Worker) matchHeld(ctx context.Context, tx pgx.Tx, a *attachment, keys []string) error {
	c := &Containment{tx: tx, atLeast: *a.minContainment, texts: map[string][]byte{}}
	if err := c.read(ctx, a, w.extractor); err != nil {
		return err
	}
	for chunk := range slices.Chunk(keys, 50) {
		rows, err := tx.Query(ctx, queries.Held, a.id, chunk)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Answer, err error) {
			err = row.Scan(&x.Key, &x.Other, &x.Shared, &x.Resemblance, &x.Low, &x.High, &x.relation)
			return x, err
		})
		if err != nil {
			return err
		}
		in := func(x *Answer) (part, whole string) {
			if x.relation == "contains" {
				return x.Other, x.Key
			}
			return x.Key, x.Other
		}
		var open []Contained
		for i := range list {
			x := &list[i]
			part, whole := in(x)
			open = append(open, Contained{part, whole, x.Resemblance, x.Low, x.High})
		}
		if open, err = c.decide(ctx, open); err != nil {
			return err
		}
		decided := map[[2]string]Contained{}
		for _, x := range open {
			decided[[2]string{x.Key, x.Other}] = x
		}
		list = slices.DeleteFunc(list, func(x Answer) bool {
			part, whole := in(&x)
			_, ok := decided[[2]string{part, whole}]
			return !ok
		})
		for i := range list {
			x := &list[i]
			part, whole := in(x)
			b := decided[[2]string{part, whole}]
			x.Low, x.Resemblance, x.High = b.Low, b.Containment, b.High
		}
		slices.SortStableFunc(list, func(x, y Answer) int {
			return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(y.Resemblance, x.Resemblance), cmp.Compare(x.relation, y.relation))
		})
		seen := map[[2]string]bool{} // each pair once, by the greater containment
		list = slices.DeleteFunc(list, func(x Answer) bool {
			again := seen[[2]string{x.Key, x.Other}]
			seen[[2]string{x.Key, x.Other}] = true
			return again
		})
		if err := w.recordNearest(ctx, tx, a, list, nil); err != nil {
			return err
		}
	}
	return nil
}

// recordNearest records of each row the nearest that were found.
func (w *Worker) recordNearest(ctx context.Context, tx pgx.Tx, a *attachment, list []Answer, more map[string]int64) error {
	var keys, others []string
	var shared, omitted []int32
	var resemblance, low, high []float64
	var relations []string
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(x Answer) bool { return x.Key != list[0].Key })
		if n < 0 {
			n = len(list)
		}
		for _, x := range list[:min(n, a.matches)] {
			keys, others, shared = append(keys, x.Key), append(others, x.Other), append(shared, x.Shared)
			resemblance, low, high = append(resemblance, x.Resemblance), append(low, x.Low), append(high, x.High)
			omitted = append(omitted, int32(max(0, n-a.matches)+int(more[x.Key])))
			relations = append(relations, cmp.Or(x.relation, "resembles"))
		}
		list = list[n:]
	}
	if keys == nil {
		return nil
	}
	_, err := tx.Exec(ctx, queries.Record, a.id, keys, others, shared, resemblance, low, high, omitted, relations)
	return err
}

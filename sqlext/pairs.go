package sqlext

import (
	"slices"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// pairs is alike_pairs: best first. SQLite does the sorting, which keeps no more
// than a LIMIT asks for, and what is more than its cache holds on disk. Who does
// not look at the order gets the pairs as they are found.
func pairs(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	limit, err := a.limit(&args[1])
	if err != nil {
		return nil, err
	}
	if !want.Ordered {
		return c.scanPairs(a, limit)
	}
	question, values := "alike__pairs(?1)", []any{&args[0], want.Limit}
	if limit.said {
		question, values = "alike__pairs(?1, ?3)", append(values, limit.atLeast)
	}
	s, err := c.Cached("SELECT * FROM " + question + " ORDER BY resemblance DESC, key, other LIMIT ?2")
	if err != nil {
		return nil, err
	}
	if err := s.Bind(values...); err != nil {
		s.Done()
		return nil, err
	}
	return sqlite.StatementRows{Statement: s}, nil
}

// scanPairs is alike__pairs.
func scanPairs(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	limit, err := a.limit(&args[1])
	if err != nil {
		return nil, err
	}
	return c.scanPairs(a, limit)
}

func (c *conn) scanPairs(a *attachment, limit limit) (sqlite.Source, error) {
	p, err := c.newPairScan(a, limit)
	if err != nil {
		return nil, err
	}
	return p, p.find()
}

// newPairScan makes a scan of the pairs that people called duplicates; find adds all others.
func (c *conn) newPairScan(a *attachment, limit limit) (_ *pairScan, err error) {
	p := &pairScan{c: c, a: a, atLeast: limit.atLeast}
	if p.marks, err = c.verdicts(a); err != nil {
		return nil, err
	}
	for pair, duplicate := range p.marks {
		if duplicate {
			p.duplicates = append(p.duplicates, couple{pair: pair})
		}
	}
	slices.SortFunc(p.duplicates, func(x, y couple) int { return slices.Compare(x.pair[:], y.pair[:]) })
	if p.judge, err = c.judge(a, limit.said); err != nil {
		return nil, err
	}
	// Nothing can be compiled after sqlite3_close_v2, and the pairs may still be read.
	for _, features := range []bool{false, true} {
		if err := c.readDocuments(a, &p.documents, nil, features); err != nil {
			return nil, err
		}
	}
	for _, later := range []struct {
		statement string
		needed    bool
	}{{"text", a.Verify == "text"}, {"size", a.Short != nil}} {
		if later.needed {
			s, err := c.ask(a, later.statement, "")
			if err != nil {
				return nil, err
			}
			s.Done()
		}
	}
	return p, err
}

func (p *pairScan) find() (err error) {
	p.candidates, err = p.c.candidates(p.a, p.judge, p.atLeast)
	return err
}

// couple is two rows that may be an answer, the lesser first.
type couple struct {
	pair   [2]int64
	shared int
}

// pairsAtOnce is how many pairs are compared at a time.
const pairsAtOnce = 8192

// pairScan gives every alike pair once. The candidates come in the order of
// their rows, and many are compared at a time, so that each row is read about
// once.
type pairScan struct {
	c          *conn
	a          *attachment
	judge      *judge
	atLeast    float64
	marks      map[[2]int64]bool
	duplicates []couple    // among them, which come last
	candidates *candidates // nil for none
	ahead      couple      // the next candidate, once one is read

	couples   []couple // compared together: those that are left
	buffer    []couple
	rows      []int64
	documents documents
}

func (p *pairScan) Close() {
	if p.candidates != nil {
		p.candidates.Close()
	}
}

func (p *pairScan) Next(b *sqlite.Batch) (bool, error) {
	for !b.Full() {
		if len(p.couples) == 0 {
			if err := p.read(); err != nil || len(p.couples) == 0 {
				return false, err
			}
		}
		if err := p.compare(b, &p.couples[0]); err != nil {
			return false, err
		}
		p.couples = p.couples[1:]
	}
	return true, nil
}

// read takes the next candidates, or after them what people called duplicates,
// and reads their documents.
func (p *pairScan) read() error {
	p.couples = p.buffer[:0]
	for p.candidates != nil && len(p.couples) < pairsAtOnce {
		x, err := p.candidate()
		if err != nil {
			return err
		}
		if x.shared == 0 {
			break
		}
		if _, judged := p.marks[x.pair]; !judged {
			p.couples = append(p.couples, x)
		}
	}
	p.buffer = p.couples
	features := p.candidates != nil && p.candidates.crowded
	if len(p.couples) == 0 {
		n := min(pairsAtOnce, len(p.duplicates))
		p.couples, p.duplicates = p.duplicates[:n], p.duplicates[n:]
		p.atLeast, features = 0, true
	}
	p.rows = p.rows[:0]
	for i := range p.couples {
		p.rows = append(p.rows, p.couples[i].pair[:]...)
	}
	slices.Sort(p.rows)
	p.rows = slices.Compact(p.rows)
	return p.c.readDocuments(p.a, &p.documents, p.rows, features)
}

// candidate returns the next candidate, which shares nothing after the last.
func (p *pairScan) candidate() (couple, error) {
	for {
		x, y, ok, err := p.candidates.Next()
		if err != nil {
			return couple{}, err
		}
		pair := [2]int64{rowOf(x), rowOf(y)}
		if ok && p.ahead.shared > 0 && pair == p.ahead.pair {
			p.ahead.shared++
			continue
		}
		full := p.ahead
		if p.ahead = (couple{}); ok {
			p.ahead = couple{pair, 1}
		}
		if full.shared > 0 || !ok {
			return full, nil
		}
	}
}

// shared is how many features two rows have in common, which are at positions of the
// documents.
func (p *pairScan) shared(x *couple, i, j int) int {
	if p.documents.k == 0 {
		return x.shared
	}
	n, _ := p.documents.shared(i, j)
	return n
}

// sketches are those of two rows, which are at positions of the documents; there is none of
// a row that is gone since the index was read, or of candidates that share nothing.
func (p *pairScan) sketches(x *couple) (i, j int, mine, theirs []byte, there bool) {
	i, _ = slices.BinarySearch(p.rows, x.pair[0])
	j, _ = slices.BinarySearch(p.rows, x.pair[1])
	mine, theirs = p.documents.sketch(i), p.documents.sketch(j)
	return i, j, mine, theirs, len(mine) > 0 && len(theirs) > 0 && (x.shared == 0 || p.shared(x, i, j) > 0)
}

// each gives every alike pair by its rows, the lesser first.
func (p *pairScan) each(emit func(pair [2]int64, resemblance float64) error) error {
	for {
		if err := p.read(); err != nil || len(p.couples) == 0 {
			return err
		}
		for i := range p.couples {
			pair := p.couples[i].pair
			_, _, mine, theirs, there := p.sketches(&p.couples[i])
			if !there {
				continue
			}
			r, ok, err := p.judge.Resemblance(pair[0], pair[1], mine, theirs, p.atLeast)
			if ok {
				err = emit(pair, r)
			}
			if err != nil {
				return err
			}
		}
	}
}

// compare writes a pair that reaches the limit, the lesser key first.
func (p *pairScan) compare(b *sqlite.Batch, x *couple) error {
	d := &p.documents
	i, j, mine, theirs, there := p.sketches(x)
	if !there {
		return nil
	}
	bounds, ok, err := p.judge.Compare(p.rows[i], p.rows[j], mine, theirs, p.atLeast)
	if !ok {
		return err
	}
	if d.before(j, i) {
		i, j = j, i
	}
	shared := p.shared(x, i, j)
	key, err := d.key(i)
	if err != nil {
		return err
	}
	other, err := d.key(j)
	if err != nil {
		return err
	}
	cells := b.Row()
	b.SetAny(&cells[0], key)
	b.SetAny(&cells[1], other)
	cells[2].SetInt(int64(shared))
	cells[3].SetFloat(bounds.Estimate)
	cells[4].SetFloat(bounds.Low)
	cells[5].SetFloat(bounds.High)
	return nil
}

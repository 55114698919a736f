package sqlext

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/alike-sql/alike/sketch"
)

// document is a row of the side table in a comparison of many.
type document struct {
	row      int64
	key      any
	parts    []any // of a key that is not the row's number
	sketch   []byte
	features []int64
	has      uint64 // the features that are there
}

func (c *conn) document(a *attachment, s *statement, row int64) (*document, error) {
	d := &document{row: row}
	s.reset()
	err := s.each(func(r []value) (err error) {
		n := len(a.Keys)
		parts := owned(r[:n])
		d.key, err = keyText(parts)
		if !a.KeyIsRowid {
			d.parts = parts
		}
		d.sketch = bytes.Clone(r[n].bytes())
		d.features = make([]int64, len(r)-n-1)
		for i := range d.features {
			if v := &r[n+1+i]; !v.null() {
				d.features[i], d.has = v.i, d.has|1<<i
			}
		}
		return err
	}, row)
	return d, err
}

// before orders documents by their keys.
func (d *document) before(e *document) bool {
	if d.parts == nil {
		return d.row < e.row
	}
	for i := range d.parts {
		if lessKey(d.parts[i], e.parts[i]) {
			return true
		}
		if lessKey(e.parts[i], d.parts[i]) {
			return false
		}
	}
	return false
}

// sharedWith counts the features in common and tells the first of them.
func (d *document) sharedWith(e *document) (n, first int) {
	first = -1
	for i := range d.features {
		if d.features[i] == e.features[i] && d.has&e.has>>i&1 != 0 {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return n, first
}

// verdicts are the pairs that people have judged, by rows, the lesser first.
func (c *conn) verdicts(a *attachment) (map[[2]int64]bool, error) {
	var marks map[[2]int64]bool
	err := c.run(a.query("marks", ""), func(row []value) error {
		if marks == nil {
			marks = map[[2]int64]bool{}
		}
		marks[[2]int64{min(row[0].i, row[1].i), max(row[0].i, row[1].i)}] = row[2].i != 0
		return nil
	})
	return marks, err
}

// pairs is alike_pairs: best first. SQLite does the sorting, which keeps no more
// than a LIMIT asks for, and what is more than its cache holds on disk. Who does
// not look at the order gets the pairs as they are found.
func pairs(c *conn, args []value, want wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[1])
	if err != nil {
		return nil, err
	}
	if !want.ordered {
		return c.scanPairs(a, &args[0], least)
	}
	s, err := c.cached("SELECT * FROM alike__pairs(?1, ?2) ORDER BY resemblance DESC, key, other LIMIT ?3")
	if err != nil {
		return nil, err
	}
	if err := s.bind(&args[0], least, want.limit); err != nil {
		s.done()
		return nil, err
	}
	return rowsOfStatement{s}, nil
}

// scanPairs is alike__pairs.
func scanPairs(c *conn, args []value, _ wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[1])
	if err != nil {
		return nil, err
	}
	return c.scanPairs(a, &args[0], least)
}

func (c *conn) scanPairs(a *attachment, table *value, least float64) (_ source, err error) {
	p := &pairScan{c: c, a: a, least: least}
	if p.marks, err = c.verdicts(a); err != nil {
		return nil, err
	}
	for pair, duplicate := range p.marks {
		if duplicate {
			p.judged = append(p.judged, pair)
		}
	}
	slices.SortFunc(p.judged, func(x, y [2]int64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	if p.whole, err = c.ask(a, "whole", ""); err != nil {
		return nil, err
	}
	s, err := c.cached("SELECT row, other FROM alike__candidates(?1, ?2) GROUP BY 1, 2")
	if err == nil {
		p.candidates.read(s)
		err = s.bind(table, least)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// pairScan gives every alike pair once: SQLite brings the candidates, each once
// and in the order of the rows, so that the rows are read about once each.
type pairScan struct {
	c          *conn
	a          *attachment
	least      float64
	marks      map[[2]int64]bool
	judged     [][2]int64 // the duplicates among them, which come last
	whole      *statement
	candidates couples
	x          *document
}

func (p *pairScan) close() {
	p.candidates.close()
	p.whole.done()
}

func (p *pairScan) next(b *batch) (bool, error) {
	for !b.full() {
		pair, more, err := p.candidates.next()
		switch {
		case err != nil:
		case more:
			if _, judged := p.marks[pair]; !judged {
				err = p.compare(b, pair, p.least)
			}
		case len(p.judged) > 0:
			pair := p.judged[0]
			p.judged = p.judged[1:]
			err = p.compare(b, pair, 0)
		default:
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (p *pairScan) compare(b *batch, pair [2]int64, least float64) (err error) {
	if p.x == nil || p.x.row != pair[0] {
		if p.x, err = p.c.document(p.a, p.whole, pair[0]); err != nil {
			return err
		}
	}
	y, err := p.c.document(p.a, p.whole, pair[1])
	if err != nil || p.x.sketch == nil || y.sketch == nil {
		return err
	}
	n, _ := p.x.sharedWith(y)
	return p.emit(b, p.x, y, n, least)
}

// emit writes a pair that reaches the limit, the lesser key first.
func (p *pairScan) emit(b *batch, x, y *document, shared int, least float64) error {
	if y.before(x) {
		x, y = y, x
	}
	r, err := sketch.Resemblance(x.sketch, y.sketch)
	if err != nil || r < least {
		return err
	}
	bounds, err := sketch.Bounds(x.sketch, y.sketch, confidence)
	if err != nil {
		return err
	}
	cells := b.row()
	b.setAny(&cells[0], x.key)
	b.setAny(&cells[1], y.key)
	cells[2].setInt(int64(shared))
	cells[3].setFloat(r)
	cells[4].setFloat(bounds.Low)
	cells[5].setFloat(bounds.High)
	return nil
}

// A feature that more rows share makes too many pairs to be sorted: of its rows
// only those pairs are candidates that are answers.
const popular = 100

// candidates is alike__candidates: the rows that share a feature, two by two,
// the lesser first, once for each feature that they share.
func candidates(c *conn, args []value, _ wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[1])
	if err != nil {
		return nil, err
	}
	whole, err := c.ask(a, "whole", "")
	if err != nil {
		return nil, err
	}
	return &candidateScan{c: c, a: a, least: least, whole: whole, feature: -1}, nil
}

// candidateScan walks the index of each feature.
type candidateScan struct {
	c       *conn
	a       *attachment
	least   float64
	whole   *statement
	runs    couples     // of a value and a row
	feature int         // of runs
	rows    []int64     // that share a value
	run     []*document // the same, of a popular value
	i, j    int         // the next pair of them
	work    int
}

func (s *candidateScan) close() {
	s.runs.close()
	s.whole.done()
}

func (s *candidateScan) next(b *batch) (bool, error) {
	for {
		for ; s.i+1 < len(s.rows); s.i, s.j = s.i+1, 0 {
			for s.j = max(s.j, s.i+1); s.j < len(s.rows); s.j++ {
				if b.full() {
					return true, nil
				}
				if s.work++; s.work&4095 == 0 {
					if err := s.c.interrupted(); err != nil {
						return false, err
					}
				}
				if len(s.run) > 0 {
					if answer, err := s.judge(s.run[s.i], s.run[s.j]); err != nil {
						return false, err
					} else if !answer {
						continue
					}
				}
				cells := b.row()
				cells[0].setInt(s.rows[s.i])
				cells[1].setInt(s.rows[s.j])
			}
		}
		more, err := s.nextRun()
		if err != nil || !more {
			return false, err
		}
	}
}

// judge tells whether two rows of a popular value are an answer that no feature
// before this one has told of.
func (s *candidateScan) judge(x, y *document) (bool, error) {
	if _, first := x.sharedWith(y); first != s.feature {
		return false, nil
	}
	r, err := sketch.Resemblance(x.sketch, y.sketch)
	return r >= s.least, err
}

// nextRun reads rows up to the next value that several share. It reports false
// after the last feature.
func (s *candidateScan) nextRun() (bool, error) {
	rows := s.rows[:0]
	value := int64(0)
	for {
		next, more, err := s.runs.next()
		if err != nil {
			return false, err
		}
		if more && (len(rows) == 0 || next[0] == value) {
			value, rows = next[0], append(rows, next[1])
			continue
		}
		if more {
			s.runs.unread()
		}
		if len(rows) > 1 {
			return true, s.begin(rows)
		}
		rows = rows[:0]
		if more {
			continue
		}
		if s.feature+1 == s.a.profile.K {
			s.rows = nil
			return false, nil
		}
		s.feature++
		runs, err := s.c.ask(s.a, "runs", s.a.Features()[s.feature])
		if err != nil {
			return false, err
		}
		s.runs.read(runs)
		if err := runs.bind(); err != nil {
			return false, err
		}
	}
}

func (s *candidateScan) begin(rows []int64) error {
	slices.Sort(rows)
	s.rows, s.run, s.i, s.j = rows, s.run[:0], 0, 0
	if len(rows) <= popular {
		return nil
	}
	for _, row := range rows {
		d, err := s.c.document(s.a, s.whole, row)
		if err != nil {
			return err
		}
		s.run = append(s.run, d)
	}
	return nil
}

// couples reads the rows of a statement of two integers, many at a time.
type couples struct {
	from   *statement // until its last row is read
	buffer []int64
	at, n  int
}

func (r *couples) read(s *statement) {
	if r.buffer == nil {
		r.buffer = make([]int64, 2*4096)
	}
	r.from, r.at, r.n = s, 0, 0
}

func (r *couples) close() {
	if r.from != nil {
		r.from.done()
		r.from = nil
	}
}

func (r *couples) next() (c [2]int64, more bool, err error) {
	if r.at == r.n {
		if r.from == nil {
			return c, false, nil
		}
		n, err := r.from.scan(r.buffer)
		if err != nil {
			return c, false, err
		}
		r.at, r.n = 0, 2*n
		if r.n < len(r.buffer) {
			r.close()
		}
		if n == 0 {
			return c, false, nil
		}
	}
	c = [2]int64{r.buffer[r.at], r.buffer[r.at+1]}
	r.at += 2
	return c, true, nil
}

// unread makes the last couple the next one again.
func (r *couples) unread() { r.at -= 2 }

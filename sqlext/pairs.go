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

// pairScan gives every alike pair once: it walks each feature's index, compares
// the rows that share a value, and leaves a pair to the first feature that it
// shares.
type pairScan struct {
	c       *conn
	a       *attachment
	least   float64
	marks   map[[2]int64]bool
	judged  [][2]int64 // the duplicates among them, which come last
	whole   *statement
	runs    *statement
	feature int // of runs
	buffer  []int64
	held    []int64 // what is read of the buffer and not yet used
	run     []*document
	i, j    int // the next pair of the run
	work    int
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
		return c.scanPairs(a, least)
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
	return c.scanPairs(a, least)
}

func (c *conn) scanPairs(a *attachment, least float64) (_ source, err error) {
	p := &pairScan{c: c, a: a, least: least, feature: -1, buffer: make([]int64, 2*4096)}
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
	return p, nil
}

func (p *pairScan) close() {
	if p.runs != nil {
		p.runs.done()
	}
	p.whole.done()
}

// nextRun reads rows up to the next value that several share. It reports false
// after the last feature.
func (p *pairScan) nextRun() (bool, error) {
	var run []int64
	value := int64(0)
	for {
		for len(p.held) >= 2 {
			if len(run) > 0 && p.held[0] != value {
				if len(run) > 1 {
					return true, p.load(run)
				}
				run = run[:0]
			}
			value, run = p.held[0], append(run, p.held[1])
			p.held = p.held[2:]
		}
		if p.runs != nil {
			n, err := p.runs.scan(p.buffer)
			if err != nil {
				return false, err
			}
			p.held = p.buffer[:2*n]
			if 2*n < len(p.buffer) {
				p.runs.done()
				p.runs = nil
			}
			continue
		}
		if len(run) > 0 {
			if len(run) > 1 {
				return true, p.load(run)
			}
			run = run[:0]
		}
		if p.feature++; p.feature == p.a.profile.K {
			return false, nil
		}
		var err error
		if p.runs, err = p.c.ask(p.a, "runs", p.a.Features()[p.feature]); err != nil {
			return false, err
		}
		if err := p.runs.bind(); err != nil {
			return false, err
		}
	}
}

func (p *pairScan) load(rows []int64) error {
	slices.Sort(rows)
	p.run, p.i, p.j = p.run[:0], 0, 0
	for _, row := range rows {
		d, err := p.c.document(p.a, p.whole, row)
		if err != nil {
			return err
		}
		p.run = append(p.run, d)
	}
	return nil
}

func (p *pairScan) next(b *batch) (bool, error) {
	for p.feature < p.a.profile.K {
		for ; p.i+1 < len(p.run); p.i, p.j = p.i+1, 0 {
			for p.j = max(p.j, p.i+1); p.j < len(p.run); p.j++ {
				if b.full() {
					return true, nil
				}
				if p.work++; p.work&4095 == 0 {
					if err := p.c.interrupted(); err != nil {
						return false, err
					}
				}
				if err := p.consider(b, p.run[p.i], p.run[p.j]); err != nil {
					return false, err
				}
			}
		}
		more, err := p.nextRun()
		if err != nil {
			return false, err
		}
		if !more {
			break
		}
	}
	for ; len(p.judged) > 0; p.judged = p.judged[1:] {
		if b.full() {
			return true, nil
		}
		x, err := p.c.document(p.a, p.whole, p.judged[0][0])
		if err != nil {
			return false, err
		}
		y, err := p.c.document(p.a, p.whole, p.judged[0][1])
		if err != nil {
			return false, err
		}
		if x.sketch != nil && y.sketch != nil {
			n, _ := x.sharedWith(y)
			if err := p.emit(b, x, y, n, 0); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func (p *pairScan) consider(b *batch, x, y *document) error {
	n, first := x.sharedWith(y)
	if first != p.feature {
		return nil
	}
	if p.marks != nil {
		if _, judged := p.marks[[2]int64{min(x.row, y.row), max(x.row, y.row)}]; judged {
			return nil
		}
	}
	return p.emit(b, x, y, n, p.least)
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

package sqlext

import (
	"slices"

	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// candidateMemory bounds what the sorting of candidates holds; the rest goes to
// a file.
const candidateMemory = 1 << 20

// A feature that more rows share makes too many pairs to be sorted: of its rows
// only those pairs are candidates that may be answers, each for the first feature
// that it shares.
const crowd = 100

// candidates are the pairs of rows that share a feature, the lesser row first,
// once for each feature that they share.
type candidates struct {
	*cluster.Sorter
	crowded bool // the pairs do not tell how many features they share: some features had a crowd, say
}

// candidates finds them in the index of each feature, where rows that share a
// value are neighbours.
func (c *conn) candidates(a *attachment, j *judge, atLeast float64) (_ *candidates, err error) {
	x := &candidateScan{c: c, a: a, j: j, atLeast: atLeast}
	x.found.Sorter = cluster.NewSorter(candidateMemory, "")
	couples := make([]int64, 2*1024)
	columns := a.Features()
	if a.InParts() {
		// All slots are in one, and rows can be in it that share nothing.
		columns, x.found.crowded = []string{""}, true
	}
	for i, column := range columns {
		x.slot = i
		if err = c.runs(a, column, couples, x.pairs); err != nil {
			x.found.Close()
			return nil, err
		}
	}
	return &x.found, nil
}

type candidateScan struct {
	c       *conn
	a       *attachment
	j       *judge
	atLeast float64
	found   candidates
	slot    int       // the feature
	run     documents // the rows of a crowd
	work    int
}

// runs gives the rows that share a value of a column, ascending, for each such value;
// in the layout parts, for those of all features.
func (c *conn) runs(a *attachment, column string, couples []int64, each func(value int64, rows []int64) error) error {
	if a.InParts() { // until this statement ends, the others see one state
		state, err := c.ask(a, "state_of_parts", "")
		if err != nil {
			return err
		}
		defer state.Done()
		if _, err := state.Step(); err != nil {
			return err
		}
	}
	ordered, err := c.orderedBy(a, column)
	defer func() {
		for _, s := range ordered {
			s.Done()
		}
	}()
	if err != nil {
		return err
	}
	merged := sqlite.Merge(ordered...)
	var rows []int64
	value := int64(0)
	flush := func() error {
		slices.Sort(rows)
		run := slices.Compact(rows)
		rows = rows[:0]
		return each(value, run)
	}
	for more := true; more; {
		var n int
		if n, more, err = merged.Next(couples); err != nil {
			return err
		}
		for i := 0; i < 2*n; i += 2 {
			if couples[i] != value {
				if err := flush(); err != nil {
					return err
				}
				value = couples[i]
			}
			rows = append(rows, couples[i+1])
		}
	}
	return flush()
}

// orderedBy returns statements whose rows, merged, are those of runs. In parts no statement
// could merge them: SQLite sorts a compound that is inside another one.
func (c *conn) orderedBy(a *attachment, column string) (list []*sqlite.Statement, err error) {
	if !a.InParts() {
		s, err := c.ask(a, "runs", column)
		if err != nil {
			return nil, err
		}
		return []*sqlite.Statement{s}, s.Bind()
	}
	for _, text := range a.statements("runs_of_parts") {
		s, err := c.Cached(text)
		if err != nil {
			return list, err
		}
		list = append(list, s)
		if err := s.Bind(); err != nil {
			return list, err
		}
	}
	return list, nil
}

// pairs adds the pairs of the rows that share a value.
func (x *candidateScan) pairs(value int64, rows []int64) error {
	many := len(rows) > crowd
	if many {
		x.found.crowded = true
		if err := x.c.readDocuments(x.a, &x.run, rows, true); err != nil {
			return err
		}
	}
	for i := range rows {
		for j := i + 1; j < len(rows); j++ {
			if x.work++; x.work&4095 == 0 {
				if err := x.c.Interrupted(); err != nil {
					return err
				}
			}
			if many {
				if answer, err := x.open(i, j, value); err != nil {
					return err
				} else if !answer {
					continue
				}
			}
			if err := x.found.Add(idOf(rows[i]), idOf(rows[j])); err != nil {
				return err
			}
		}
	}
	return nil
}

// open tells whether two rows of a crowd may be an answer that no feature
// before this one has told of.
func (x *candidateScan) open(i, j int, value int64) (bool, error) {
	_, first := x.run.shared(i, j)
	if x.a.InParts() {
		if first < 0 || x.run.features[i*x.run.k+first] != value {
			return false, nil
		}
	} else if first != x.slot {
		return false, nil
	}
	return x.j.Open(x.run.sketch(i), x.run.sketch(j), x.atLeast)
}

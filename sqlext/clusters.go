package sqlext

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// clusterMemory bounds what the clustering holds of the pairs; the rest goes to files.
const clusterMemory = 64 << 20

// clusters is alike_clusters.
func clusters(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	limit, err := a.limit(&args[1])
	if err != nil {
		return nil, err
	}
	linkage := cluster.Complete
	if !args[2].Null() {
		if linkage, err = readLinkage(&args[2]); err != nil {
			return nil, err
		}
	}
	rows, err := c.numberRows(a, a.sql("ranked_by_key"))
	if err != nil {
		return nil, err
	}
	o := cluster.LinkerOptions{Linkage: linkage}
	if linkage == cluster.Complete {
		resembles, done, err := c.comparer(a, limit, rows)
		if err != nil {
			return nil, err
		}
		defer done()
		o.Resembles = resembles
	}
	linker, err := c.linkPairs(a, limit, o, rows, pairLinks)
	if err != nil {
		return nil, err
	}
	defer linker.Close()
	type member struct{ number, cluster, size int32 }
	var members []member
	if err := linker.Clusters(context.Background(), func(i, cluster, size int) error {
		if size > 1 {
			members = append(members, member{int32(i), int32(cluster), int32(size)})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(members, func(x, y member) int {
		return cmp.Or(cmp.Compare(x.cluster, y.cluster), cmp.Compare(x.number, y.number))
	})
	next := 0
	return sqlite.SourceFunc(func(b *sqlite.Batch) (bool, error) {
		keys, err := c.keyReader(a)
		if err != nil {
			return false, err
		}
		defer keys.Done()
		for ; next < len(members) && !b.Full(); next++ {
			m, cells := members[next], b.Row()
			if err := keys.set(b, &cells[0], rows.list[m.number]); err != nil {
				return false, err
			}
			if err := keys.set(b, &cells[1], rows.list[m.cluster]); err != nil {
				return false, err
			}
			cells[2].SetInt(int64(m.size))
		}
		return next < len(members), nil
	}), nil
}

func readLinkage(v *sqlite.Value) (cluster.Linkage, error) {
	if v.Kind != sqlite.Text {
		return 0, fmt.Errorf("the linkage is %s, want text", v.Describe())
	}
	return cluster.ParseLinkage(v.Text())
}

// A sorter's numbers are unsigned, in the order of the rows.
func idOf(row int64) uint64 { return uint64(row) ^ 1<<63 }

func rowOf(id uint64) int64 { return int64(id ^ 1<<63) }

// numbered are the rows with a sketch, numbered in an order.
type numbered struct {
	list  []int64 // rows by number
	byRow []int32 // numbers, in the order of the rows
}

// numberRows numbers the rows that a statement gives.
func (c *conn) numberRows(a *attachment, ranked string) (*numbered, error) {
	n := &numbered{}
	s, err := c.Prepare(ranked)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Bind(); err != nil {
		return nil, err
	}
	buffer := make([]int64, 1024)
	for got := len(buffer); got == len(buffer); {
		if got, err = s.Scan(buffer); err != nil {
			return nil, err
		}
		n.list = append(n.list, buffer[:got]...)
	}
	n.sort()
	return n, nil
}

func (n *numbered) sort() {
	n.byRow = make([]int32, len(n.list))
	for i := range n.byRow {
		n.byRow[i] = int32(i)
	}
	slices.SortFunc(n.byRow, func(x, y int32) int { return cmp.Compare(n.list[x], n.list[y]) })
}

// number is that of a row.
func (n *numbered) number(row int64) (int, bool) {
	i, found := sort.Find(len(n.byRow), func(i int) int { return cmp.Compare(row, n.list[n.byRow[i]]) })
	if !found {
		return 0, false
	}
	return int(n.byRow[i]), true
}

// links are what a linker knows of a table.
type links int

const (
	pairLinks   links = iota // alike pairs, and what people said
	judgedLinks              // those alone that a person called duplicates
	allLinks                 // pairs, whatever other rows people called distinct
)

func (c *conn) linkPairs(a *attachment, limit limit, o cluster.LinkerOptions, rows *numbered, known links) (_ *cluster.Linker, err error) {
	o.Documents, o.Memory = len(rows.list), clusterMemory
	linker, err := cluster.NewLinker(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			linker.Close()
		}
	}()
	couple := func(pair [2]int64) (i, j int, ok bool) {
		if i, ok = rows.number(pair[0]); ok {
			j, ok = rows.number(pair[1])
		}
		return i, j, ok
	}
	scan, err := c.newPairScan(a, limit)
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	for pair, duplicate := range scan.marks {
		if i, j, ok := couple(pair); ok && (duplicate || known != allLinks) {
			linker.Mark(i, j, duplicate)
		}
	}
	if known != judgedLinks {
		if err := scan.find(); err != nil {
			return nil, err
		}
	}
	return linker, scan.each(func(pair [2]int64, resemblance float64) error {
		if i, j, ok := couple(pair); ok {
			return linker.Pair(i, j, resemblance)
		}
		return nil
	})
}

// comparer tells whether two numbered rows resemble each other; close ends it.
func (c *conn) comparer(a *attachment, limit limit, rows *numbered) (resembles func(i, j int) (bool, error), close func(), err error) {
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, nil, err
	}
	read := func(i int, into []byte) ([]byte, error) {
		fetch.Reset()
		err := fetch.Each(func(r []sqlite.Value) error {
			into = append(into, r[len(a.Keys)].Bytes()...)
			return nil
		}, rows.list[i])
		return into, err
	}
	j, err := c.judge(a, limit.said)
	if err != nil {
		fetch.Done()
		return nil, nil, err
	}
	var mine, theirs []byte
	work := 0
	return func(x, y int) (ok bool, err error) {
		if work++; work&1023 == 0 {
			if err := c.Interrupted(); err != nil {
				return false, err
			}
		}
		if mine, err = read(x, mine[:0]); err != nil {
			return false, err
		}
		if theirs, err = read(y, theirs[:0]); err != nil {
			return false, err
		}
		_, ok, err = j.Resemblance(rows.list[x], rows.list[y], mine, theirs, limit.atLeast)
		return ok, err
	}, fetch.Done, nil
}

// keyReader reads keys of rows; a rowid needs no reading.
type keyReader struct {
	a     *attachment
	fetch *sqlite.Statement
}

func (c *conn) keyReader(a *attachment) (k keyReader, err error) {
	k.a = a
	if !a.Keys.Rowid() {
		k.fetch, err = c.ask(a, "fetch", "")
	}
	return k, err
}

func (k keyReader) Done() {
	if k.fetch != nil {
		k.fetch.Done()
	}
}

// set puts the key of a row into a cell, which stays NULL when the row is gone.
func (k keyReader) set(b *sqlite.Batch, cell *sqlite.Value, row int64) error {
	if k.fetch == nil {
		cell.SetInt(row)
		return nil
	}
	k.fetch.Reset()
	return k.fetch.Each(func(r []sqlite.Value) error {
		key, err := keyValue(sqlite.Copies(r[:len(k.a.Keys)]))
		b.SetAny(cell, key)
		return err
	}, row)
}

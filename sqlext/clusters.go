package sqlext

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// clusterMemory bounds what the clustering holds; the rest goes to files.
const clusterMemory = 64 << 20

// clusters is alike_clusters.
func clusters(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	atLeast, err := a.atLeast(&args[1])
	if err != nil {
		return nil, err
	}
	marks, err := c.verdicts(a)
	if err != nil {
		return nil, err
	}
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.Done()
	sketchOf := func(row int64) (b []byte, err error) {
		fetch.Reset()
		err = fetch.Each(func(r []sqlite.Value) error {
			b = bytes.Clone(r[len(a.Keys)].Bytes())
			return nil
		}, row)
		return b, err
	}
	j, err := c.judge(a)
	if err != nil {
		return nil, err
	}
	work := 0
	finder, err := cluster.New(cluster.Options{
		Resemblance: atLeast,
		Memory:      clusterMemory,
		Verify: func(x, y uint64) (float64, error) {
			if work++; work&1023 == 0 {
				if err := c.Interrupted(); err != nil {
					return 0, err
				}
			}
			s, err := sketchOf(rowOf(x))
			if err != nil {
				return 0, err
			}
			t, err := sketchOf(rowOf(y))
			if err != nil {
				return 0, err
			}
			bounds, _, err := j.Compare(rowOf(x), rowOf(y), s, t, atLeast)
			return bounds.Estimate, err
		},
	})
	if err != nil {
		return nil, err
	}
	defer finder.Close()
	for pair, duplicate := range marks {
		finder.Mark(idOf(pair[0]), idOf(pair[1]), duplicate)
	}
	if err := c.addAll(a, finder); err != nil {
		return nil, err
	}
	var members []cluster.Member
	sizes := map[uint64]int64{}
	if _, err := finder.Clusters(context.Background(), func(m cluster.Member) error {
		members = append(members, m)
		if m.ID != m.Cluster {
			sizes[m.Cluster]++
		}
		return nil
	}); err != nil {
		return nil, err
	}
	members = slices.DeleteFunc(members, func(m cluster.Member) bool { return sizes[m.Cluster] == 0 })
	slices.SortFunc(members, func(x, y cluster.Member) int {
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.ID, y.ID))
	})
	keys, names, err := c.clusterKeys(a, members)
	if err != nil {
		return nil, err
	}
	return sqlite.Rows(len(members), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		m := members[i]
		if keys == nil {
			cells[0].SetInt(rowOf(m.ID))
			cells[1].SetInt(rowOf(m.Cluster))
		} else {
			b.SetAny(&cells[0], keys[i])
			b.SetAny(&cells[1], names[m.Cluster])
		}
		cells[2].SetInt(sizes[m.Cluster] + 1)
	}), nil
}

// A finder's ids are unsigned, in the order of the rows.
func idOf(row int64) uint64 { return uint64(row) ^ 1<<63 }

func rowOf(id uint64) int64 { return int64(id ^ 1<<63) }

// addAll gives the finder the features of every row.
func (c *conn) addAll(a *attachment, finder *cluster.Finder) error {
	s, err := c.ask(a, "all", "")
	if err != nil {
		return err
	}
	defer s.Done()
	if err := s.Bind(); err != nil {
		return err
	}
	n := a.profile.K + 1
	buffer := make([]int64, 1024*n)
	var list []int64
	for {
		got, err := s.Scan(buffer)
		if err != nil {
			return err
		}
		for i := range got {
			row := buffer[i*n:][:n]
			list = list[:0]
			for _, f := range row[1:] {
				if f != 0 { // NULL reads as 0
					list = append(list, f)
				}
			}
			if err := finder.Add(idOf(row[0]), list); err != nil {
				return err
			}
		}
		if got < 1024 {
			return nil
		}
	}
}

// clusterKeys are the keys of clustered rows, and the least key of each cluster. An
// integer key needs none: it is the row.
func (c *conn) clusterKeys(a *attachment, members []cluster.Member) (keys []any, names map[uint64]any, err error) {
	if a.Keys.Rowid() {
		return nil, nil, nil
	}
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, nil, err
	}
	defer fetch.Done()
	keys, names = make([]any, len(members)), map[uint64]any{}
	for i, m := range members {
		fetch.Reset()
		if err := fetch.Each(func(r []sqlite.Value) (err error) {
			keys[i], err = keyValue(sqlite.Copies(r[:len(a.Keys)]))
			return err
		}, rowOf(m.ID)); err != nil {
			return nil, nil, err
		}
		if name, ok := names[m.Cluster]; !ok || lessKey(keys[i], name) {
			names[m.Cluster] = keys[i]
		}
	}
	return keys, names, nil
}

package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sketch/compare"
)

// Clusters describes the rows that belong together, by the rules of alike_clusters.
type Clusters struct {
	Count   int         `json:"count"`
	Rows    int         `json:"rows"` // in them
	Largest int         `json:"largest"`
	Sizes   []SizeCount `json:"sizes,omitempty"`
	Shown   []*Cluster  `json:"shown,omitempty"` // with texts, the largest first
	Listed  []*Cluster  `json:"listed,omitempty"`
	LeftOut int         `json:"left_out"` // neither shown nor listed
	// Read is the number of pairs whose sketches were read for the clusters. Partners, if
	// not 0, bounds the later candidates that were read of a row: those that share the most
	// features.
	Read     int64 `json:"read"`
	Partners int   `json:"partners,omitempty"`
}

// A SizeCount counts the clusters with Low to High members.
type SizeCount struct {
	Low      int   `json:"low"`
	High     int   `json:"high"`
	Clusters int64 `json:"clusters"`
}

// A Cluster is named by its smallest key.
type Cluster struct {
	Key       string    `json:"key"`
	Size      int       `json:"size"`
	Lowest    float64   `json:"lowest"` // resemblance to the first row among those listed; 0 where it was not looked at
	Beginning string    `json:"-"`
	Members   []*Member `json:"members,omitempty"`
	More      int       `json:"more"` // members that are not listed
	first     int
}

// A Member is a row of a cluster, with what differs from the first.
type Member struct {
	Key         string              `json:"key"`
	Resemblance float64             `json:"resemblance"`
	SameBytes   bool                `json:"same_bytes"` // as the first row
	Compared    *compare.Comparison `json:"-"`          // nil for members that are only listed
	number      int
}

func (m *maker) clusters(ctx context.Context, found *findings) error {
	clusterOf, sizes, err := m.join(ctx)
	if err != nil {
		return err
	}
	for i, of := range clusterOf {
		if found.alike[i] || sizes[of] > 1 { // a sample misses some
			m.out.Candidates.Rows++
		}
	}
	out := &m.out.Clusters
	type sized struct{ first, size int32 } // of every cluster, hence small
	var all []sized
	counts := map[int]int64{}
	for i, n := range sizes {
		if n < 2 {
			continue
		}
		out.Count++
		out.Rows += int(n)
		out.Largest = max(out.Largest, int(n))
		counts[sizeBand(int(n))]++
		all = append(all, sized{int32(i), n})
	}
	for band := range 64 {
		if counts[band] > 0 || len(out.Sizes) > 0 && band <= sizeBand(out.Largest) {
			low, high := bandSizes(band)
			out.Sizes = append(out.Sizes, SizeCount{low, high, counts[band]})
		}
	}
	slices.SortFunc(all, func(x, y sized) int { return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.first, y.first)) })
	out.LeftOut = max(0, len(all)-m.config.Clusters-listedRest)
	var list []*Cluster
	for _, s := range all[:min(len(all), m.config.Clusters+listedRest)] {
		key, err := m.spool.key(int(s.first))
		if err != nil {
			return err
		}
		list = append(list, &Cluster{Key: m.src.KeyText(m.a, key), Size: int(s.size), first: int(s.first)})
	}
	out.Shown, out.Listed = list[:min(len(list), m.config.Clusters)], list[min(len(list), m.config.Clusters):]
	if err := m.members(out.Shown, clusterOf); err != nil {
		return err
	}
	for i, c := range out.Shown {
		m.config.Progress("reading the texts of "+m.out.Name, int64(i+1), int64(len(out.Shown)))
		if err := m.compareMembers(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// join gives every row the number of the first row of its cluster, and that
// row the cluster's size.
func (m *maker) join(ctx context.Context) (clusterOf []int32, sizes []int32, err error) {
	var a, b Row
	done := int64(0)
	o := cluster.Options{Resemblance: max(m.out.AtLeast, 1e-9), Verify: func(x, y uint64) (float64, error) {
		if done++; done%10_000 == 0 {
			m.config.Progress("clustering "+m.out.Name, done, 0)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		if err := m.spool.get(int(x), &a); err != nil {
			return 0, err
		}
		if err := m.spool.get(int(y), &b); err != nil {
			return 0, err
		}
		r, err := sketch.Resemblance(a.Sketch, b.Sketch)
		if r < m.out.limit(&a, &b) {
			r = 0
		}
		return r, err
	}}
	if m.atMost > m.readPairs {
		o.Partners = max(readPartners, int(m.readPairs)/m.spool.len())
		m.out.Clusters.Partners = o.Partners
	}
	c, err := m.finder(o)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	for pair, duplicate := range m.verdicts {
		c.Mark(uint64(pair[0]), uint64(pair[1]), duplicate)
	}
	clusterOf, sizes = make([]int32, m.spool.len()), make([]int32, m.spool.len())
	report, err := c.Clusters(ctx, func(member cluster.Member) error {
		clusterOf[member.ID] = int32(member.Cluster)
		sizes[member.Cluster]++
		return nil
	})
	m.out.Clusters.Read = report.Verified
	return clusterOf, sizes, err
}

// members lists the rows of the clusters that are shown.
func (m *maker) members(shown []*Cluster, clusterOf []int32) error {
	byFirst := map[int32]*Cluster{}
	for _, c := range shown {
		byFirst[int32(c.first)] = c
	}
	for i, first := range clusterOf {
		c := byFirst[first]
		if c == nil {
			continue
		}
		if len(c.Members) == listedKeys {
			c.More++
			continue
		}
		c.Members = append(c.Members, &Member{number: i})
	}
	for _, c := range shown {
		if err := m.describeMembers(c); err != nil {
			return err
		}
	}
	return nil
}

// describeMembers compares the rows with the first, and puts those that are the same last.
func (m *maker) describeMembers(c *Cluster) error {
	var first, r Row
	if err := m.spool.get(c.first, &first); err != nil {
		return err
	}
	c.Lowest = 1
	for _, member := range c.Members {
		if err := m.spool.get(member.number, &r); err != nil {
			return err
		}
		member.Key = m.src.KeyText(m.a, r.Key)
		member.Resemblance = 1
		if member.number == c.first {
			continue
		}
		var err error
		if member.Resemblance, err = sketch.Resemblance(first.Sketch, r.Sketch); err != nil {
			return err
		}
		member.SameBytes = r.Hash == first.Hash && r.Shingles == first.Shingles
		c.Lowest = min(c.Lowest, member.Resemblance)
	}
	slices.SortStableFunc(c.Members[1:], func(x, y *Member) int {
		return cmp.Compare(boolean(x.SameBytes), boolean(y.SameBytes))
	})
	return nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareMembers compares the first rows of a cluster with its first row.
func (m *maker) compareMembers(ctx context.Context, c *Cluster) error {
	shown := c.Members[:min(len(c.Members), m.config.Members)]
	numbers := make([]int, len(shown))
	for i, member := range shown {
		numbers[i] = member.number
	}
	texts, err := m.texts(ctx, numbers)
	if err != nil {
		return err
	}
	first := texts[c.first]
	if text, why := first.Shown(); why != "" {
		m.problem("row " + compare.Visible(c.Key) + ": " + why)
	} else {
		c.Beginning = compare.Beginning(text)
	}
	for _, member := range shown[1:] {
		member.Compared = compared(m.a.Profile, first, texts[member.number])
	}
	return nil
}

// Sizes are counted one by one up to five, then by doubling: 2, 3, 4, 5, 6-10,
// 11-20, 21-40 and so on.
func sizeBand(n int) int {
	if n <= 5 {
		return n - 2
	}
	band := 4
	for high := 10; n > high; high *= 2 {
		band++
	}
	return band
}

func bandSizes(band int) (low, high int) {
	if band < 4 {
		return band + 2, band + 2
	}
	high = 10 << (band - 4)
	return high/2 + 1, high
}

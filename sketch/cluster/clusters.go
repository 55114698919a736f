package cluster

import (
	"cmp"
	"context"
	"slices"
)

// The fourth phase: the clusters that pairs make.

func (c *Finder) findClusters(ctx context.Context, emit func(Member) error) error {
	l := c.linker
	l.options.Documents, l.options.Memory = c.ids.n, c.options.Memory
	if err := l.start(ctx); err != nil {
		return err
	}
	var err error
	switch {
	case c.options.Verify == nil && c.options.Shared == 1 && l.forest.apart == nil:
		// "If r = 1 the third phase becomes moot" (Broder 2000, section 3):
		// the documents of a feature are a cluster.
		err = c.expand(ctx, &expansion{limit: 1, hubs: 1, pair: l.union})
	case c.options.Verify == nil:
		// A pair that is already in one cluster need not be counted, and one
		// that reaches r is done with.
		err = c.countPairs(ctx, l.forest.together, l.union, func(a, b, _ int) error { return l.union(a, b) })
	default:
		nearest := partners{limit: c.options.Partners, give: c.tell}
		if err = c.countPairs(ctx, nil, nil, nearest.pair); err == nil {
			err = nearest.flush()
		}
	}
	if err == nil {
		err = l.link(ctx)
	}
	if err != nil {
		return err
	}
	c.report.Pairs = l.joined
	before := func(i, j int) (bool, error) {
		x, err := c.ids.get(i)
		if err != nil {
			return false, err
		}
		y, err := c.ids.get(j)
		return x < y, err
	}
	return l.name(ctx, before, func(i, first, size int) error {
		if i == first && size > 1 {
			c.report.Clusters++
			c.report.Clustered += size
			c.report.Largest = max(c.report.Largest, size)
		}
		var m Member
		var err error
		if m.ID, err = c.ids.get(i); err != nil {
			return err
		}
		if m.Cluster, err = c.ids.get(first); err != nil {
			return err
		}
		return emit(m)
	})
}

// tell passes a verified pair to the linker.
func (c *Finder) tell(a, b int) error {
	if c.linker.options.Linkage == Single && c.linker.forest.apart == nil {
		if known, err := c.linker.forest.together(a, b); known || err != nil {
			return err
		}
	}
	resemblance, ok, err := c.verify(a, b)
	if err != nil || !ok {
		return err
	}
	return c.linker.Pair(a, b, resemblance)
}

// partners passes on the pairs of each first document that share most features.
type partners struct {
	limit int // 0 is all
	give  func(a, b int) error

	first int
	later []partner // of first
}

type partner struct{ document, shared int }

// pair takes the next pair. The pairs of a first document follow each other.
func (p *partners) pair(a, b, shared int) error {
	if p.limit == 0 {
		return p.give(a, b)
	}
	if a != p.first {
		if err := p.flush(); err != nil {
			return err
		}
		p.first = a
	}
	p.later = append(p.later, partner{b, shared})
	return nil
}

func (p *partners) flush() error {
	slices.SortStableFunc(p.later, func(x, y partner) int { return cmp.Compare(y.shared, x.shared) })
	for _, x := range p.later[:min(len(p.later), p.limit)] {
		if err := p.give(p.first, x.document); err != nil {
			return err
		}
	}
	p.later = p.later[:0]
	return nil
}

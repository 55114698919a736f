package cluster

import "context"

// The fourth phase: the clusters that pairs make.

func (c *Finder) findClusters(ctx context.Context, emit func(Member) error) error {
	for i := range c.ids.n {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.forest.add(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case c.options.Verify == nil && c.options.Shared == 1 && c.forest.apart == nil:
		// "If r = 1 the third phase becomes moot" (Broder 2000, section 3):
		// the documents of a feature are a cluster.
		err = c.expand(ctx, &expansion{limit: 1, hubs: 1, pair: c.union})
	case c.options.Verify == nil:
		// A pair that is already in one cluster need not be counted, and one
		// that reaches r is done with.
		err = c.countPairs(ctx, c.together, c.union, func(a, b, _ int) error { return c.union(a, b) })
	case c.options.Chains:
		err = c.countPairs(ctx, nil, nil, func(a, b, _ int) error {
			if known, err := c.together(a, b); known || err != nil {
				return err
			}
			if _, ok, err := c.verify(a, b); !ok || err != nil {
				return err
			}
			return c.union(a, b)
		})
	default:
		err = c.link(ctx)
	}
	if err != nil {
		return err
	}
	for _, pair := range c.verdicts.duplicates() {
		if err := c.union(pairOf(pair)); err != nil {
			return err
		}
	}
	return c.nameClusters(ctx, emit)
}

func (c *Finder) union(a, b int) error {
	joined, err := c.forest.union(a, b)
	if joined {
		c.report.Pairs++
	}
	return err
}

func (c *Finder) together(a, b int) (bool, error) {
	rootA, _, err := c.forest.find(a)
	if err != nil {
		return false, err
	}
	rootB, _, err := c.forest.find(b)
	return rootA == rootB, err
}

// nameClusters finds the least id of every cluster and emits the members.
// The roots' words now hold the number of members and that of the least.
func (c *Finder) nameClusters(ctx context.Context, emit func(Member) error) error {
	nodes := c.forest.nodes
	each := func(visit func(i int) error) error {
		for i := range nodes.n {
			if i%cancelEvery == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := visit(i); err != nil {
				return err
			}
		}
		return nil
	}
	err := each(func(i int) error {
		w, err := nodes.get(i)
		if err == nil && w&rootBit != 0 {
			err = nodes.set(i, rootWord(0, uint64(i)))
		}
		return err
	})
	if err != nil {
		return err
	}
	err = each(func(i int) error {
		root, w, err := c.forest.find(i)
		if err != nil {
			return err
		}
		least := w & freeMask
		if least != uint64(i) {
			id, err := c.ids.get(i)
			if err != nil {
				return err
			}
			leastID, err := c.ids.get(int(least))
			if err != nil {
				return err
			}
			if id < leastID {
				least = uint64(i)
			}
		}
		return nodes.set(root, rootWord(nodeSize(w)+1, least))
	})
	if err != nil {
		return err
	}
	return each(func(i int) error {
		root, w, err := c.forest.find(i)
		if err != nil {
			return err
		}
		if size := nodeSize(w); i == root && size > 1 {
			c.report.Clusters++
			c.report.Clustered += size
			c.report.Largest = max(c.report.Largest, size)
		}
		var m Member
		if m.ID, err = c.ids.get(i); err != nil {
			return err
		}
		if m.Cluster, err = c.ids.get(int(w & freeMask)); err != nil {
			return err
		}
		return emit(m)
	})
}

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// The second to fourth phase of Broder 2000, section 2. The first, sketching,
// is the caller's. Inside, a document is its number, and a pair is the two
// numbers in one word, the earlier one in the high half.

func pairWord(a, b int) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(a)<<32 | uint64(b)
}

func pairOf(w uint64) (a, b int) { return int(w >> 32), int(w & freeMask) }

// In a hot feature a document is paired with the first few of it, which ties
// all of them together and, the numbers being the same in every feature that
// a flood of copies shares, lets the shared features of two copies add up; and
// with its neighbours, since near-duplicates often arrive one after the other.
const (
	hotHubs   = 4
	hotWindow = 4
	hotListed = 100
)

// expansion turns the sorted (feature, document) records into pairs.
type expansion struct {
	limit, hubs, window int
	pair                func(a, b int) error

	feature uint64
	members []int // of the feature: all, until it is hot, then the hubs
	recent  [hotWindow]int
	count   int
	last    int
}

// document takes the next document of the feature.
func (x *expansion) document(d int) error {
	if x.count > 0 && d == x.last {
		return nil // the same feature twice in one document
	}
	x.last = d
	x.count++
	switch {
	case x.count <= x.limit:
		x.members = append(x.members, d)
		return nil
	case x.count == x.limit+1:
		for i, m := range x.members {
			if err := x.hot(i, m); err != nil {
				return err
			}
		}
	}
	return x.hot(x.count-1, d)
}

// hot makes the pairs of the i-th document of a hot feature.
func (x *expansion) hot(i, d int) error {
	for _, hub := range x.members[:min(i, x.hubs, len(x.members))] {
		if err := x.pair(hub, d); err != nil {
			return err
		}
	}
	for j := max(x.hubs, i-x.window); j < i; j++ {
		if err := x.pair(x.recent[j%hotWindow], d); err != nil {
			return err
		}
	}
	x.recent[i%hotWindow] = d
	return nil
}

// finish makes the pairs of a feature that stayed within the limit.
func (x *expansion) finish() error {
	if x.count <= x.limit {
		for i, b := range x.members {
			for _, a := range x.members[:i] {
				if err := x.pair(a, b); err != nil {
					return err
				}
			}
		}
	}
	x.members, x.count = x.members[:0], 0
	return nil
}

// expand runs the second phase's sort and makes the third phase's pairs.
func (c *Finder) expand(ctx context.Context, x *expansion) error {
	finish := func() error {
		if x.count > c.options.FeatureLimit {
			c.noteHot(HotFeature{int64(x.feature), x.count})
		}
		return x.finish()
	}
	err := c.features.drain(ctx, func(r record) error {
		if r.hi != x.feature {
			if err := finish(); err != nil {
				return err
			}
			x.feature = r.hi
		}
		return x.document(int(r.lo))
	})
	if err != nil {
		return err
	}
	return finish()
}

func (c *Finder) noteHot(h HotFeature) {
	c.report.HotCount++
	at, _ := slices.BinarySearchFunc(c.report.Hot, h, func(a, b HotFeature) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Feature, b.Feature))
	})
	if at < hotListed {
		c.report.Hot = slices.Insert(c.report.Hot, at, h)
		c.report.Hot = c.report.Hot[:min(len(c.report.Hot), hotListed)]
	}
}

// counter counts how often it sees a pair. It holds the pairs seen lately and
// hands those that it has no room for to a sorter, which adds up the rest.
type counter struct {
	slots []record // pair, count; 0 is none, since no document is paired with itself
	shift int
	spill *sorter
}

func newCounter(slots int, spill *sorter) *counter {
	bits := 0
	for 2<<bits <= slots {
		bits++
	}
	return &counter{make([]record, 1<<bits), 64 - bits, spill}
}

// count adds one and returns the slot, which holds at most what was counted.
func (c *counter) count(pair uint64) (*record, error) {
	slot := &c.slots[pair*0x9e3779b97f4a7c15>>c.shift]
	if slot.hi == pair {
		slot.lo++
		return slot, nil
	}
	if slot.lo > 0 {
		if err := c.spill.add(*slot); err != nil {
			return nil, err
		}
	}
	*slot = record{pair, 1}
	return slot, nil
}

func (c *counter) flush() error {
	for _, r := range c.slots {
		if r.lo > 0 {
			if err := c.spill.add(r); err != nil {
				return err
			}
		}
	}
	c.slots = nil
	return nil
}

// countPairs gives every pair that shares enough features to emit, in order.
// With skip, pairs that it knows are not counted. With enough, a pair that is
// seen to share enough before all are counted goes there and not to emit, in no
// order, and may go there again ("as soon as we discover that one of these
// pairs shares a second feature", Broder 2000, section 3).
func (c *Finder) countPairs(ctx context.Context, skip func(a, b int) (bool, error), enough func(a, b int) error, emit func(a, b, shared int) error) error {
	c.pairs = newSorter(c.temp, c.options.sorterRecords(), true)
	counts := newCounter(c.options.counterSlots(), c.pairs)
	err := c.expand(ctx, &expansion{
		limit: c.options.FeatureLimit, hubs: hotHubs, window: hotWindow,
		pair: func(a, b int) error {
			if skip != nil {
				if known, err := skip(a, b); known || err != nil {
					return err
				}
			}
			slot, err := counts.count(pairWord(a, b))
			if err == nil && enough != nil && slot.lo >= uint64(c.options.Shared) {
				*slot = record{}
				err = enough(a, b)
			}
			return err
		},
	})
	if err == nil {
		err = counts.flush()
	}
	if err != nil {
		return err
	}
	if c.ranked != nil {
		c.ranked.buf, c.features.buf = c.features.buf, nil // empty, and as large
	}
	return c.pairs.drain(ctx, func(r record) error {
		if r.lo < uint64(c.options.Shared) {
			return nil
		}
		a, b := pairOf(r.hi)
		return emit(a, b, int(r.lo))
	})
}

// verify asks the caller about two documents.
func (c *Finder) verify(a, b int) (resemblance float64, ok bool, err error) {
	idA, err := c.ids.get(a)
	if err != nil {
		return 0, false, err
	}
	idB, err := c.ids.get(b)
	if err != nil {
		return 0, false, err
	}
	c.report.Verified++
	resemblance, err = c.options.Verify(idA, idB)
	if err != nil {
		return 0, false, fmt.Errorf("sketch: cluster: verify %d and %d: %w", idA, idB, err)
	}
	return min(resemblance, 1), resemblance >= c.options.Resemblance, nil
}

func (c *Finder) findPairs(ctx context.Context, emit func(Pair) error) error {
	least := c.options.Shared
	given := map[uint64]bool{} // of those marked as duplicates
	give := func(a, b, shared int) error {
		duplicate, marked := c.verdicts.numbers[pairWord(a, b)]
		if marked && !duplicate || !marked && shared < least {
			return nil
		}
		if marked {
			given[pairWord(a, b)] = true
		}
		p := Pair{Shared: shared}
		if c.options.Verify != nil {
			var ok bool
			var err error
			if p.Resemblance, ok, err = c.verify(a, b); err != nil || !ok && !marked {
				return err
			}
		}
		var err error
		if p.A, err = c.ids.get(a); err != nil {
			return err
		}
		if p.B, err = c.ids.get(b); err != nil {
			return err
		}
		if p.A > p.B {
			p.A, p.B = p.B, p.A
		}
		c.report.Pairs++
		return emit(p)
	}
	duplicates := c.verdicts.duplicates()
	if len(duplicates) > 0 {
		c.options.Shared = 1 // until they are given, with what they share
	}
	if err := c.countPairs(ctx, nil, nil, give); err != nil {
		return err
	}
	for _, pair := range duplicates {
		if a, b := pairOf(pair); !given[pair] {
			if err := give(a, b, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

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

// link joins the verified pairs, the best first, as linkage allows.
func (c *Finder) link(ctx context.Context) error {
	c.ranked = newSorter(c.temp, c.options.sorterRecords(), false)
	err := c.countPairs(ctx, nil, nil, func(a, b, _ int) error {
		resemblance, ok, err := c.verify(a, b)
		if err != nil || !ok {
			return err
		}
		// Positive doubles are in the order of their bits.
		return c.ranked.add(record{^math.Float64bits(resemblance), pairWord(a, b)})
	})
	if err != nil {
		return err
	}
	l := linkage{forest: c.forest, representatives: c.options.Representatives, resembles: func(a, b int) (bool, error) {
		_, ok, err := c.verify(a, b)
		return ok, err
	}}
	return c.ranked.drain(ctx, func(r record) error {
		a, b := pairOf(r.lo)
		joined, err := l.join(a, b, r.hi == ^math.Float64bits(1))
		if joined {
			c.report.Pairs++
		}
		return err
	})
}

// nameClusters finds the least id of every cluster and gives out the members.
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

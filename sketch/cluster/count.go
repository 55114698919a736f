package cluster

import "context"

// The third phase: how many features each two documents share. Inside, a document
// is its number, and a pair is the two numbers in one word, the earlier one in
// the high half.

func pairWord(a, b int) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(a)<<32 | uint64(b)
}

func pairOf(w uint64) (a, b int) { return int(w >> 32), int(w & freeMask) }

// counter counts how often it sees a pair. It holds the pairs seen lately and
// passes the others to a sorter, which adds up their counts.
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

// count adds one to a pair and returns its slot, whose count may be too low.
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
	if ranked := c.linker.pairs; ranked != nil {
		ranked.buf, c.features.buf = c.features.buf, nil // empty, and as large
	}
	return c.pairs.drain(ctx, func(r record) error {
		if r.lo < uint64(c.options.Shared) {
			return nil
		}
		a, b := pairOf(r.hi)
		return emit(a, b, int(r.lo))
	})
}

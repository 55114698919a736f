package cluster

import (
	"cmp"
	"context"
	"slices"
)

// The second phase of Broder 2000, section 2: from sorted features to pairs.
// The first, sketching, is the caller's.

// In a hot feature a document is paired with the first few of it, which ties
// all of them together and, the numbers being the same in every feature that
// a flood of copies shares, lets the shared features of two copies add up; and
// with its neighbours, since near-duplicates often arrive one after the other.
const (
	hotHubs   = 4
	hotWindow = 4
	hotListed = 100
)

// MaxPairs is how many pairs a Finder makes at most of n documents that share a feature,
// under the default FeatureLimit.
func MaxPairs(n int) int64 {
	if n <= defaultFeatureLimit {
		return int64(n) * int64(n-1) / 2
	}
	return int64(n) * (hotHubs + hotWindow)
}

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

package cluster

import (
	"context"
	"fmt"
)

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
	minShared := c.options.Shared
	given := map[uint64]bool{} // of those marked as duplicates
	give := func(a, b, shared int) error {
		duplicate, marked := c.linker.marks[pairWord(a, b)]
		if marked && !duplicate || !marked && shared < minShared {
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
	duplicates := duplicatesOf(c.linker.marks)
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

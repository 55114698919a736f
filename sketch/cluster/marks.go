package cluster

import "slices"

// Mark takes a person's verdict on two documents, and is called before Pairs
// or Clusters. Documents marked as duplicates are always a pair and in one
// cluster; documents marked as distinct are neither. Where the two kinds
// contradict each other, distinct wins. Duplicates are joined last, after the
// clusters have been made without them. A later verdict replaces an earlier one.
// Mark ignores ids that were not added, and a pair of a document with itself.
func (c *Finder) Mark(a, b uint64, duplicate bool) {
	if a == b {
		return
	}
	if c.verdicts == nil {
		c.verdicts = map[[2]uint64]bool{}
	}
	c.verdicts[[2]uint64{min(a, b), max(a, b)}] = duplicate
}

// numberVerdicts finds the marked documents among those that were added.
func (c *Finder) numberVerdicts() error {
	if len(c.verdicts) == 0 {
		return nil
	}
	number := map[uint64]int{}
	for pair := range c.verdicts {
		number[pair[0]], number[pair[1]] = -1, -1
	}
	for i := range c.ids.n {
		id, err := c.ids.get(i)
		if err != nil {
			return err
		}
		if _, marked := number[id]; marked {
			number[id] = i
		}
	}
	for pair, duplicate := range c.verdicts {
		if a, b := number[pair[0]], number[pair[1]]; a >= 0 && b >= 0 {
			c.linker.Mark(a, b, duplicate)
		}
	}
	return nil
}

// duplicatesOf returns the pairs marked as duplicates, in order.
func duplicatesOf(marks map[uint64]bool) []uint64 {
	var pairs []uint64
	for pair, duplicate := range marks {
		if duplicate {
			pairs = append(pairs, pair)
		}
	}
	slices.Sort(pairs)
	return pairs
}

// apart holds the documents that must not be in one cluster.
type apart struct {
	from   map[int][]int // by document: the documents that must not be in its cluster
	marked map[int][]int // by root: the members of the cluster that are in from
}

func (p *apart) add(a, b int) {
	p.from[a] = append(p.from[a], b)
	p.from[b] = append(p.from[b], a)
	p.marked[a], p.marked[b] = []int{a}, []int{b}
}

// between reports whether a member of one cluster must stay apart from a member of the other.
func (f forest) between(rootA, rootB int) (bool, error) {
	if f.apart == nil {
		return false, nil
	}
	if len(f.apart.marked[rootA]) > len(f.apart.marked[rootB]) {
		rootA, rootB = rootB, rootA
	}
	for _, member := range f.apart.marked[rootA] {
		for _, other := range f.apart.from[member] {
			root, _, err := f.find(other)
			if err != nil || root == rootB {
				return true, err
			}
		}
	}
	return false, nil
}

// moved records that a cluster has become part of another.
func (f forest) moved(from, to int) {
	if f.apart != nil && len(f.apart.marked[from]) > 0 {
		f.apart.marked[to] = append(f.apart.marked[to], f.apart.marked[from]...)
		delete(f.apart.marked, from)
	}
}

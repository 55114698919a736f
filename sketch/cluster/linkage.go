package cluster

// linkage joins clusters only when their members resemble each other, so that
// no chain of pairs grows a cluster whose ends are strangers.
//
// A cluster is a ring of its distinct members, kept in the free bits of the
// forest's words, and begins at the root. Its first members, as many as
// representatives says, stand for it. Pairs come with the best first. When a
// pair links two clusters, every distinct member of the smaller must resemble
// every representative of the larger; then the smaller's ring is spliced in
// behind the larger's representatives. It follows that
//
//   - every two members resemble each other, as long as the cluster has no
//     more distinct members than representatives (complete linkage);
//   - every member resembles all representatives, always, and since
//     1 - resemblance is a metric (Broder 1997, section 2), any two members
//     resemble each other at least 2t-1, t being the threshold;
//   - a document is checked at most representatives*log2(n) times on its way
//     into its final cluster.
//
// Members at resemblance 1 are the same to every check: only the first of
// them is in the ring, so a flood of copies costs one check each.
type linkage struct {
	forest
	representatives int
	resembles       func(a, b int) (bool, error)

	// refused remembers that one cluster was not taken by another. It stays
	// so until one of the two changes its role, since a member never leaves.
	refused [1 << 12]uint64
}

func (l *linkage) next(i int) (int, error) {
	w, err := l.nodes.get(i)
	return int(w & freeMask), err
}

func (l *linkage) setNext(i, next int) error {
	w, err := l.nodes.at(i, true)
	if err == nil {
		*w = *w&^freeMask | uint64(next)
	}
	return err
}

// join links the clusters of a and b, whose resemblance is known and enough,
// if the rule allows, and says whether they were two and are one.
func (l *linkage) join(a, b int, same bool) (bool, error) {
	large, wordA, err := l.find(a)
	if err != nil {
		return false, err
	}
	small, wordB, err := l.find(b)
	if err != nil || large == small {
		return false, err
	}
	if sizeA, sizeB := nodeSize(wordA), nodeSize(wordB); sizeA < sizeB || sizeA == sizeB && small < large {
		large, small, wordA, wordB = small, large, wordB, wordA
		a, b = b, a
	}
	if apart, err := l.between(small, large); err != nil || apart {
		return false, err
	}
	if same && nodeSize(wordA) == 1 && nodeSize(wordB) == 1 {
		l.moved(small, large)
		return true, l.nodes.set(small, uint64(large)<<32)
	}
	key := uint64(small)<<32 | uint64(large)
	slot := &l.refused[key*0x9e3779b97f4a7c15>>(64-12)]
	if *slot == key {
		return false, nil
	}
	fits, tail, err := l.fits(small, large, b, a)
	if err != nil {
		return false, err
	}
	if !fits {
		*slot = key
		return false, nil
	}
	// The last representative, or the last member if there are fewer.
	last := large
	for range min(nodeSize(wordA), l.representatives) - 1 {
		if last, err = l.next(last); err != nil {
			return false, err
		}
	}
	behind, err := l.next(last)
	if err != nil {
		return false, err
	}
	if err := l.setNext(tail, behind); err != nil {
		return false, err
	}
	if err := l.setNext(last, small); err != nil {
		return false, err
	}
	if wordB, err = l.nodes.get(small); err != nil {
		return false, err
	}
	if err := l.nodes.set(small, uint64(large)<<32|wordB&freeMask); err != nil {
		return false, err
	}
	if wordA, err = l.nodes.get(large); err != nil {
		return false, err
	}
	l.moved(small, large)
	return true, l.nodes.set(large, rootWord(nodeSize(wordA)+nodeSize(wordB), wordA&freeMask))
}

// fits says whether every member of the small cluster resembles every
// representative of the large one, and what the last of the members is. The
// pair that brought them together needs no second look.
func (l *linkage) fits(small, large, knownSmall, knownLarge int) (fits bool, tail int, err error) {
	for member := small; ; {
		representative := large
		for range l.representatives {
			if member != knownSmall || representative != knownLarge {
				if ok, err := l.resembles(member, representative); err != nil || !ok {
					return false, 0, err
				}
			}
			if representative, err = l.next(representative); err != nil {
				return false, 0, err
			}
			if representative == large {
				break
			}
		}
		after, err := l.next(member)
		if err != nil {
			return false, 0, err
		}
		if after == small {
			return true, member, nil
		}
		member = after
	}
}

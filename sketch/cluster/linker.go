package cluster

import (
	"context"
	"fmt"
	"math"
)

// Linkage says which documents come into one cluster.
type Linkage int

const (
	// Complete joins the best pairs first, and clusters only when their members
	// resemble each other: no chain of pairs makes a cluster whose ends are
	// strangers (see Options.Representatives).
	Complete Linkage = iota
	// Single makes a cluster of whatever is linked by pairs, as in Broder 2000,
	// section 2, however little the ends of a chain have in common.
	Single
	// First is greedy: it takes the documents in their order, as in Broder 1997, section 4.4:
	// each joins the cluster whose first member it resembles most, or begins one.
	First
	// Popular is First with the documents in another order: those that are in
	// most pairs come first and so represent the others.
	Popular
)

var linkages = []string{"complete", "single", "greedy", "popular"}

func (k Linkage) String() string { return linkages[k] }

// ParseLinkage returns the linkage of a name.
func ParseLinkage(name string) (Linkage, error) {
	for i, other := range linkages {
		if name == other {
			return Linkage(i), nil
		}
	}
	return 0, fmt.Errorf("sketch: cluster: the linkage is %.60q, want complete, single, greedy or popular", name)
}

// LinkerOptions say how a Linker works.
type LinkerOptions struct {
	// Documents is how many there are.
	Documents int

	Linkage Linkage

	// Resembles reports whether two documents resemble each other although the
	// caller passed no pair of them. Complete needs it.
	Resembles func(a, b int) (bool, error)

	Representatives int    // as in Options
	Memory          int    // as in Options
	Dir             string // as in Options
}

// Linker makes clusters of documents whose pairs the caller knows, or chooses
// those to keep. The documents are numbered from 0 in the order in which the
// caller prefers them. It is used once: Mark, Pair, then Clusters or Keep,
// Close. It is not for concurrent use.
type Linker struct {
	options LinkerOptions
	temp    tempDir
	forest  forest
	marks   map[uint64]bool // people's verdicts on pairs: true for duplicates
	pairs   *sorter         // in the order in which they are judged
	degrees *pagedWords     // Popular: how many pairs each document is in
	order   *pagedWords     // Popular: the documents, those in most pairs first
	words   []*pagedWords
	joined  int64 // pairs that joined something
}

// NewLinker opens no file; what its memory does not hold goes to temporary files.
func NewLinker(o LinkerOptions) (*Linker, error) {
	shared := Options{Representatives: o.Representatives, Memory: o.Memory, Dir: o.Dir}
	if err := shared.setDefaults(); err != nil {
		return nil, err
	}
	o.Representatives, o.Memory, o.Dir = shared.Representatives, shared.Memory, shared.Dir
	if o.Documents > maxDocuments {
		return nil, fmt.Errorf("sketch: cluster: more than %d documents", maxDocuments)
	}
	l := newLinker(o, tempDir{o.Dir, createTemp})
	return l, l.start(context.Background())
}

func newLinker(o LinkerOptions, temp tempDir) *Linker {
	l := &Linker{options: o, temp: temp}
	l.forest.nodes = l.newWords()
	return l
}

func (l *Linker) newWords() *pagedWords {
	l.words = append(l.words, newPagedWords(l.temp, l.options.Memory/8))
	return l.words[len(l.words)-1]
}

func (l *Linker) newPairs() *sorter {
	return newSorter(l.temp, l.options.Memory/5/recordBytes, false)
}

// start makes a cluster of every document.
func (l *Linker) start(ctx context.Context) error {
	l.pairs = l.newPairs()
	if l.options.Linkage == Popular {
		l.degrees = l.newWords()
	}
	for i := range l.options.Documents {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.forest.add(); err != nil {
			return err
		}
		if l.degrees != nil {
			if err := l.degrees.append(0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Mark takes a person's verdict on two documents. Call it before Pair.
func (l *Linker) Mark(a, b int, duplicate bool) {
	if l.marks == nil {
		l.marks = map[uint64]bool{}
	}
	l.marks[pairWord(a, b)] = duplicate
	if !duplicate {
		if l.forest.apart == nil {
			l.forest.apart = &apart{from: map[int][]int{}, marked: map[int][]int{}}
		}
		l.forest.apart.add(a, b)
	}
}

// duplicateBit is set in the resemblance of a pair that a person called duplicates,
// which comes before all others.
const duplicateBit = 1 << 63

// Pair takes two documents that resemble each other or that a person called duplicates. It
// ignores a pair that a person called distinct. Pass each pair once.
func (l *Linker) Pair(a, b int, resemblance float64) error {
	duplicate, marked := l.marks[pairWord(a, b)]
	if marked && !duplicate || a == b {
		return nil
	}
	bits := math.Float64bits(resemblance) // of positive ones, in their order
	switch l.options.Linkage {
	case First:
		if marked {
			bits |= duplicateBit
		}
		return l.pairs.add(record{uint64(max(a, b))<<32 | uint64(min(a, b)), bits})
	case Popular:
		if marked {
			bits |= duplicateBit
		}
		for _, i := range []int{a, b} {
			n, err := l.degrees.at(i, true)
			if err != nil {
				return err
			}
			*n++
		}
		return l.pairs.add(record{pairWord(a, b), bits})
	case Single:
		if l.forest.apart == nil {
			return l.union(a, b)
		}
	}
	if marked {
		return nil // duplicates are joined last
	}
	return l.pairs.add(record{^bits, pairWord(a, b)})
}

func (l *Linker) union(a, b int) error {
	joined, err := l.forest.union(a, b)
	if joined {
		l.joined++
	}
	return err
}

// link makes the clusters.
func (l *Linker) link(ctx context.Context) error {
	var err error
	switch l.options.Linkage {
	case First, Popular:
		var apart func(a, b int) (bool, error)
		if l.forest.apart != nil {
			apart = l.forest.separate
		}
		err = l.judge(ctx, apart, func(i, representative int, _ float64) error { return l.union(i, representative) })
	case Single:
		err = l.pairs.drain(ctx, func(r record) error { return l.union(pairOf(r.lo)) })
	default:
		complete := linkage{forest: l.forest, representatives: l.options.Representatives, resembles: l.options.Resembles}
		err = l.pairs.drain(ctx, func(r record) error {
			a, b := pairOf(r.lo)
			joined, err := complete.join(a, b, r.hi == ^math.Float64bits(1))
			if joined {
				l.joined++
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	for _, pair := range duplicatesOf(l.marks) {
		if err := l.union(pairOf(pair)); err != nil {
			return err
		}
	}
	return nil
}

// judge takes the documents in their order. A document that resembles an earlier one which
// stays is left out and given to leave, with the one of these that it resembles
// most, the first of equals; apart can forbid that.
func (l *Linker) judge(ctx context.Context, apart func(a, b int) (bool, error), leave func(i, kept int, resemblance float64) error) error {
	if err := l.rank(ctx); err != nil {
		return err
	}
	document := func(rank int) (int, error) {
		if l.order == nil {
			return rank, nil
		}
		i, err := l.order.get(rank)
		return int(i), err
	}
	left := l.newWords() // a bit a rank
	for range (l.options.Documents + 63) / 64 {
		if err := left.append(0); err != nil {
			return err
		}
	}
	current, kept, best := -1, -1, uint64(0)
	settle := func() error {
		if kept < 0 {
			return nil
		}
		w, err := left.at(current/64, true)
		if err != nil {
			return err
		}
		*w |= 1 << (current % 64)
		i, err := document(current)
		if err != nil {
			return err
		}
		representative, err := document(kept)
		if err != nil {
			return err
		}
		kept = -1
		return leave(i, representative, min(1, math.Float64frombits(best&^duplicateBit)))
	}
	err := l.pairs.drain(ctx, func(r record) error {
		later, earlier := int(r.hi>>32), int(r.hi&freeMask)
		if later != current {
			if err := settle(); err != nil {
				return err
			}
			current = later
		}
		if w, err := left.get(earlier / 64); err != nil || w>>(earlier%64)&1 != 0 || kept >= 0 && r.lo <= best {
			return err
		}
		if apart != nil {
			i, err := document(later)
			if err != nil {
				return err
			}
			representative, err := document(earlier)
			if err != nil {
				return err
			}
			if forbidden, err := apart(i, representative); err != nil || forbidden {
				return err
			}
		}
		kept, best = earlier, r.lo
		return nil
	})
	if err != nil {
		return err
	}
	return settle()
}

// rank orders the documents of Popular, and the pairs as First has them.
func (l *Linker) rank(ctx context.Context) error {
	if l.degrees == nil {
		return nil
	}
	byDegree := l.newPairs()
	defer byDegree.close()
	for i := range l.options.Documents {
		n, err := l.degrees.get(i)
		if err == nil {
			err = byDegree.add(record{^n, uint64(i)})
		}
		if err != nil {
			return err
		}
	}
	l.order = l.newWords()
	ranks := l.degrees // the array that this pass reads
	if err := byDegree.drain(ctx, func(r record) error {
		if err := ranks.set(int(r.lo), uint64(l.order.n)); err != nil {
			return err
		}
		return l.order.append(r.lo)
	}); err != nil {
		return err
	}
	told := l.pairs
	l.pairs = l.newPairs()
	err := told.drain(ctx, func(r record) error {
		a, b := pairOf(r.hi)
		x, err := ranks.get(a)
		if err != nil {
			return err
		}
		y, err := ranks.get(b)
		if err != nil {
			return err
		}
		return l.pairs.add(record{max(x, y)<<32 | min(x, y), r.lo})
	})
	if closed := told.close(); err == nil {
		err = closed
	}
	return err
}

// Clusters gives every document to emit, in order, with the cluster that it is in, which
// bears the smallest number among its members, and the cluster's size.
func (l *Linker) Clusters(ctx context.Context, emit func(i, cluster, size int) error) error {
	if err := l.link(ctx); err != nil {
		return err
	}
	return l.name(ctx, func(i, first int) (bool, error) { return i < first, nil }, emit)
}

// Keep gives every document that is left out to emit, with the document that is kept in its
// place and their resemblance. It needs the linkage First or Popular. No two documents
// that are kept are a pair, and every document that is left out is a pair with the one
// named: of several the one called a duplicate by a person, or resembling it most.
func (l *Linker) Keep(ctx context.Context, emit func(i, kept int, resemblance float64) error) error {
	return l.judge(ctx, nil, emit)
}

// name finds the first member of every cluster and emits all members. The roots' words now
// hold the number of members and that of the first.
func (l *Linker) name(ctx context.Context, before func(i, j int) (bool, error), emit func(i, cluster, size int) error) error {
	nodes := l.forest.nodes
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
		root, w, err := l.forest.find(i)
		if err != nil {
			return err
		}
		first := w & freeMask
		if sooner, err := before(i, int(first)); err != nil {
			return err
		} else if sooner {
			first = uint64(i)
		}
		return nodes.set(root, rootWord(nodeSize(w)+1, first))
	})
	if err != nil {
		return err
	}
	return each(func(i int) error {
		_, w, err := l.forest.find(i)
		if err != nil {
			return err
		}
		return emit(i, int(w&freeMask), nodeSize(w))
	})
}

// Close gives up the memory and the temporary files; it may be called at any time, and again.
func (l *Linker) Close() error {
	var first error
	if l.pairs != nil {
		first = l.pairs.close()
	}
	for _, w := range l.words {
		if err := w.close(); first == nil {
			first = err
		}
	}
	return first
}

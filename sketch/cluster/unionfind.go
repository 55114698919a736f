package cluster

// forest is a union-find over documents 0, 1, 2, …, in one word each:
//
//	bit 63       this document is the root of its cluster
//	bits 32-62   of a root: the cluster's size; of others: the parent
//	bits 0-31    free for the linkage (see linkage.go)
//
// The smaller cluster goes under the larger, and paths are halved.
type forest struct {
	nodes *pagedWords
	apart *apart // nil if no documents are apart
}

const (
	rootBit  = 1 << 63
	freeMask = 1<<32 - 1
	// maxDocuments leaves 31 bits for a document's number.
	maxDocuments = 1<<31 - 1
)

func rootWord(size int, free uint64) uint64 { return rootBit | uint64(size)<<32 | free }

func nodeSize(w uint64) int   { return int(w &^ rootBit >> 32) }
func nodeParent(w uint64) int { return int(w >> 32) }

// add makes the next document a cluster of its own.
func (f forest) add() error { return f.nodes.append(rootWord(1, uint64(f.nodes.n))) }

// find is the root of i's cluster, and its word.
func (f forest) find(i int) (root int, word uint64, err error) {
	w, err := f.nodes.get(i)
	for err == nil && w&rootBit == 0 {
		parent := nodeParent(w)
		var above uint64
		if above, err = f.nodes.get(parent); err != nil {
			break
		}
		if above&rootBit != 0 {
			return parent, above, nil
		}
		grand := nodeParent(above)
		if err = f.nodes.set(i, uint64(grand)<<32|w&freeMask); err != nil {
			break
		}
		i = grand
		w, err = f.nodes.get(i)
	}
	return i, w, err
}

// union joins the clusters of a and b, unless they must stay apart, and says
// whether they were two and are one.
func (f forest) union(a, b int) (bool, error) {
	a, wordA, err := f.find(a)
	if err != nil {
		return false, err
	}
	b, wordB, err := f.find(b)
	if err != nil || a == b {
		return false, err
	}
	if sizeA, sizeB := nodeSize(wordA), nodeSize(wordB); sizeA < sizeB || sizeA == sizeB && b < a {
		a, b, wordA, wordB = b, a, wordB, wordA
	}
	if apart, err := f.between(a, b); err != nil || apart {
		return false, err
	}
	if err := f.nodes.set(b, uint64(a)<<32|wordB&freeMask); err != nil {
		return false, err
	}
	f.moved(b, a)
	return true, f.nodes.set(a, rootWord(nodeSize(wordA)+nodeSize(wordB), wordA&freeMask))
}

// together tells whether two documents are in one cluster.
func (f forest) together(a, b int) (bool, error) {
	a, _, err := f.find(a)
	if err != nil {
		return false, err
	}
	b, _, err = f.find(b)
	return a == b, err
}

// separate tells whether the clusters of two documents must stay apart.
func (f forest) separate(a, b int) (bool, error) {
	a, _, err := f.find(a)
	if err != nil {
		return false, err
	}
	b, _, err = f.find(b)
	if err != nil {
		return false, err
	}
	return f.between(a, b)
}

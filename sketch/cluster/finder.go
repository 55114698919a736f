package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Options say how a Finder works.
type Options struct {
	// Shared is how many features two documents must share to be a pair: r.
	// Defaults to 1.
	Shared int

	// Verify, when given, has the last word on a pair: it returns the
	// resemblance of two documents, named by their ids, for instance by
	// Resemblance of their sketches. Without it the shared features decide.
	Verify func(a, b uint64) (float64, error)

	// Resemblance is the smallest that Verify must return, above 0 and at most
	// 1. It has no default, and is used with Verify alone.
	Resemblance float64

	// Linkage says which verified pairs come into one cluster. Without Verify
	// nothing can check the ends of a chain, and Single is the rule. Defaults
	// to Complete.
	Linkage Linkage

	// Representatives is how many members of a Complete cluster a document
	// must resemble to be taken in; the more, the fewer strangers in large
	// clusters, and the more calls of Verify. Clusters with no more distinct
	// members than this have no two that do not resemble each other. Beyond
	// it every member resembles all representatives, so any two resemble
	// each other at least 2*Resemblance-1. Defaults to 32.
	Representatives int

	// FeatureLimit is how many documents may share a feature for all pairs
	// of them to be considered. In a more popular ("hot") feature each is
	// paired only with the first four documents and the four before it, in
	// the order in which they were added. Defaults to 100.
	FeatureLimit int

	// Partners is how many pairs with later documents of a document Clusters may
	// verify: those that share most features, the earliest of equals. 0 is all.
	Partners int

	// Memory is the bytes that a Finder uses, whatever the number of
	// documents; what does not fit goes to temporary files. At least 1 MB.
	// Defaults to 256 MB.
	Memory int

	// Dir is where the temporary files are. Defaults to os.TempDir().
	Dir string
}

const (
	defaultRepresentatives = 32
	defaultFeatureLimit    = 100
	defaultMemory          = 256 << 20
	minMemory              = 1 << 20
)

func (o *Options) setDefaults() error {
	if o.Shared == 0 {
		o.Shared = 1
	}
	if o.Representatives == 0 {
		o.Representatives = defaultRepresentatives
	}
	if o.FeatureLimit == 0 {
		o.FeatureLimit = defaultFeatureLimit
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	switch {
	case o.Shared < 1:
		return fmt.Errorf("sketch: cluster: %d shared features, want at least 1", o.Shared)
	case o.Representatives < 1:
		return fmt.Errorf("sketch: cluster: %d representatives, want at least 1", o.Representatives)
	case o.FeatureLimit < hotHubs:
		return fmt.Errorf("sketch: cluster: at most %d documents a feature, want at least %d", o.FeatureLimit, hotHubs)
	case o.Partners < 0:
		return fmt.Errorf("sketch: cluster: %d partners, want at least 0", o.Partners)
	case o.Memory < minMemory:
		return fmt.Errorf("sketch: cluster: %d bytes of memory, want at least %d", o.Memory, minMemory)
	case o.Verify != nil && !(o.Resemblance > 0 && o.Resemblance <= 1):
		return fmt.Errorf("sketch: cluster: resemblance %v, want above 0 and at most 1", o.Resemblance)
	}
	return nil
}

// Pair is two documents that share enough features.
type Pair struct {
	A, B        uint64  // A is less than B
	Shared      int     // features in common that were counted; a hot feature counts for the pairs it makes
	Resemblance float64 // what Verify said; 0 without it
}

// Member is a document and its cluster, which bears the smallest id among its
// members. A document that resembles no other is the cluster of itself.
type Member struct{ ID, Cluster uint64 }

// HotFeature is a feature that more documents share than FeatureLimit.
type HotFeature struct {
	Feature   int64
	Documents int
}

// Report says what there was to do.
type Report struct {
	Documents int
	Features  int64        // all documents' together
	Hot       []HotFeature // the hundred most popular ones over the limit
	HotCount  int          // all over the limit
	Verified  int64        // calls of Verify
	Pairs     int64        // given to Pairs, or by which Clusters joined something
	Clusters  int          // of two members and more; 0 from Pairs
	Clustered int          // documents in these
	Largest   int          // members of the largest
	TempBytes int64        // written to temporary files for sorting
}

// Finder finds the pairs and the clusters among documents from their
// features, by the four phases of Broder 2000, section 2: expand into
// (feature, document), sort, count the pairs by merging, union-find. It is
// used once: Add every document, call Pairs or Clusters, Close. It is not for
// concurrent use.
type Finder struct {
	options  Options
	temp     tempDir
	features *sorter     // (feature, document's number)
	ids      *pagedWords // of the documents by number, which is their order of arrival
	report   Report
	pairs    *sorter
	linker   *Linker
	verdicts map[[2]uint64]bool // by ids, the lesser first; true is duplicate
	closed   bool
	failed   error
}

// New checks the options. It opens no file; the temporary files, if
// the memory does not suffice, cannot be seen in their folder or are removed by
// Close.
func New(o Options) (*Finder, error) { return newFinder(o, createTemp) }

func newFinder(o Options, create func(dir string) (storage, error)) (*Finder, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	temp := tempDir{o.Dir, create}
	c := &Finder{
		options:  o,
		temp:     temp,
		features: newSorter(temp, o.sorterRecords(), false),
		ids:      newPagedWords(temp, o.Memory/8),
	}
	c.linker = newLinker(LinkerOptions{Linkage: o.Linkage, Representatives: o.Representatives, Memory: o.Memory, Resembles: func(a, b int) (bool, error) {
		_, ok, err := c.verify(a, b)
		return ok, err
	}}, temp)
	return c, nil
}

// Of the memory two sorters at a time have a fifth each, the ids and the
// union-find an eighth each, the counter a sixteenth. The rest is left to
// what growing leaves behind.
func (o *Options) sorterRecords() int { return o.Memory / 5 / recordBytes }
func (o *Options) counterSlots() int  { return o.Memory / 16 / recordBytes }

var errClusterUsed = errors.New("sketch: cluster: a Finder is read once, by Pairs or by Clusters")

// Add takes a document's features. The order and the repetitions of features
// do not matter; without any the document stays alone. Every id is to be added
// once: what is added twice is two documents.
func (c *Finder) Add(id uint64, features []int64) error {
	if c.failed != nil {
		return c.failed
	}
	number := c.ids.n
	if number == maxDocuments {
		return fmt.Errorf("sketch: cluster: more than %d documents", maxDocuments)
	}
	err := c.ids.append(id)
	for _, f := range features {
		if err != nil {
			break
		}
		err = c.features.add(record{uint64(f), uint64(number)})
	}
	c.report.Documents++
	c.report.Features += int64(len(features))
	c.failed = err
	return err
}

// Pairs gives every pair that shares enough features, and is verified if
// there is a Verify, to emit: once each, in the order in which the documents
// were added, by the earlier one first; then those marked as duplicates that
// share nothing. It stops at the first error of emit or Verify, or when the
// context is done.
func (c *Finder) Pairs(ctx context.Context, emit func(Pair) error) (Report, error) {
	return c.read(func() error { return c.findPairs(ctx, emit) })
}

// Clusters gives every document with its cluster to emit, in the order in
// which they were added. It stops at the first error of emit or Verify, or
// when the context is done.
func (c *Finder) Clusters(ctx context.Context, emit func(Member) error) (Report, error) {
	return c.read(func() error { return c.findClusters(ctx, emit) })
}

func (c *Finder) read(work func() error) (Report, error) {
	if c.failed != nil {
		return c.report, c.failed
	}
	c.failed = errClusterUsed
	err := c.numberVerdicts()
	if err == nil {
		err = work()
	}
	for _, s := range []*sorter{c.features, c.pairs, c.linker.pairs} {
		if s != nil {
			c.report.TempBytes += s.spilled
		}
	}
	if closed := c.Close(); err == nil {
		err = closed
	}
	return c.report, err
}

// Close gives up the memory and the temporary files, which Pairs and Clusters
// do themselves; it may be called at any time, and again.
func (c *Finder) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	if c.failed == nil {
		c.failed = errClusterUsed
	}
	var errs []error
	for _, s := range []*sorter{c.features, c.pairs} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(append(errs, c.ids.close(), c.linker.Close())...)
}

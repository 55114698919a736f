package cluster

import (
	"context"
	"fmt"
	"os"
)

// Sorter sorts pairs of numbers, such as those of rows that share a feature, in
// bounded memory: what does not fit goes to a temporary file that nobody else
// can see. Add all, read them with Next, Close. It is not for concurrent use.
type Sorter struct {
	sorter *sorter
	merge  *merge // once it is read
}

// NewSorter returns a Sorter that holds at most memory bytes of pairs in
// memory, and has its file in dir, or in os.TempDir() when dir is empty.
func NewSorter(memory int, dir string) *Sorter {
	if dir == "" {
		dir = os.TempDir()
	}
	return &Sorter{sorter: newSorter(tempDir{dir, createTemp}, memory/recordBytes, false)}
}

// Add takes a pair, whose numbers are not both the greatest that there is.
func (s *Sorter) Add(a, b uint64) error {
	if s.merge != nil || (record{a, b}) == endOfRun {
		return fmt.Errorf("sketch: cluster: sorter: the pair (%d, %d) cannot be added, or not any more", a, b)
	}
	return s.sorter.add(record{a, b})
}

// Next returns the smallest of the pairs that are left, by a and then by b; equal
// ones are all given. It reports false after the last.
func (s *Sorter) Next() (a, b uint64, ok bool, err error) {
	if s.merge == nil {
		if s.merge, err = s.sorter.sorted(context.Background()); err != nil {
			return 0, 0, false, err
		}
	}
	r, err := s.merge.next()
	if err != nil || r == endOfRun {
		return 0, 0, false, err
	}
	return r.hi, r.lo, true, nil
}

// Close gives up the memory and the file; it may be called at any time.
func (s *Sorter) Close() error {
	s.merge = &merge{}
	return s.sorter.close()
}

package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// record is the unit that is sorted: by hi, then by lo.
type record struct{ hi, lo uint64 }

const recordBytes = 16

// endOfRun follows the last record of every run. No record is equal to it:
// lo holds a document's number, a count or two numbers, all below 2^64-1.
var endOfRun = record{math.MaxUint64, math.MaxUint64}

func (r record) before(other record) bool {
	return r.hi < other.hi || r.hi == other.hi && r.lo < other.lo
}

func compareRecords(a, b record) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) }

// sorter is an external merge sort: it holds at most limit records in memory,
// whatever is added. Full buffers are sorted and written as runs to a
// temporary file, and the runs are merged by a tree of losers, in as many
// passes as keep every run's share of the buffer at a useful size.
type sorter struct {
	temp  tempDir
	limit int  // records in memory
	sum   bool // records with the same hi become one, their lo added

	buf     []record
	file    storage // nil until the first run is written
	end     int64   // of what is written
	runs    []run
	scratch []byte // for encoding and decoding
	spilled int64  // bytes written, all passes together
}

// run is the bytes of a file that hold sorted records.
type run struct{ from, upto int64 }

const (
	sorterMinRecords = 1 << 8  // the smallest limit
	mergeMinRecords  = 1 << 10 // of a run in the merge buffer, where limit allows two such
	mergeMaxRuns     = 1 << 10
	scratchBytes     = 1 << 16
)

func newSorter(temp tempDir, limit int, sum bool) *sorter {
	return &sorter{temp: temp, limit: max(limit, sorterMinRecords), sum: sum}
}

// close gives up the file and the memory.
func (s *sorter) close() error {
	s.buf, s.scratch = nil, nil
	return s.discard()
}

// discard gives up what was added, but not the buffer.
func (s *sorter) discard() error {
	s.buf, s.runs = s.buf[:0], nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

func (s *sorter) add(r record) error {
	if len(s.buf) == cap(s.buf) {
		if len(s.buf) == s.limit {
			if err := s.spill(); err != nil {
				return err
			}
		} else {
			// Fourfold, so that little is left behind by growing.
			grown := make([]record, len(s.buf), min(s.limit, max(4*len(s.buf), sorterMinRecords)))
			copy(grown, s.buf)
			s.buf = grown
		}
	}
	s.buf = append(s.buf, r)
	return nil
}

// order sorts the buffer and adds up what is to be added up.
func (s *sorter) order() {
	sortRecords(s.buf)
	if s.sum {
		kept := s.buf[:0]
		for _, r := range s.buf {
			if n := len(kept); n > 0 && kept[n-1].hi == r.hi {
				kept[n-1].lo += r.lo
			} else {
				kept = append(kept, r)
			}
		}
		s.buf = kept
	}
}

// spill writes the buffer as a run.
func (s *sorter) spill() error {
	s.order()
	w, err := s.writer()
	if err != nil {
		return err
	}
	for _, r := range s.buf {
		if err := w.add(r); err != nil {
			return err
		}
	}
	s.buf = s.buf[:0]
	return w.finish()
}

// runWriter appends a run to the sorter's file.
type runWriter struct {
	s    *sorter
	from int64
	n    int // bytes in scratch
}

func (s *sorter) writer() (*runWriter, error) {
	if s.file == nil {
		f, err := s.temp.new()
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	if s.scratch == nil {
		s.scratch = make([]byte, scratchBytes)
	}
	return &runWriter{s: s, from: s.end}, nil
}

func (w *runWriter) add(r record) error {
	b := w.s.scratch[w.n:]
	binary.LittleEndian.PutUint64(b, r.hi)
	binary.LittleEndian.PutUint64(b[8:], r.lo)
	if w.n += recordBytes; w.n == scratchBytes {
		return w.flush()
	}
	return nil
}

func (w *runWriter) flush() error {
	if err := w.s.temp.write(w.s.file, w.s.scratch[:w.n], w.s.end); err != nil {
		return err
	}
	w.s.end += int64(w.n)
	w.s.spilled += int64(w.n)
	w.n = 0
	return nil
}

func (w *runWriter) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	w.s.runs = append(w.s.runs, run{w.from, w.s.end})
	return nil
}

// drain gives every record to emit, in order. What was added is gone
// afterwards, the temporary file too.
func (s *sorter) drain(ctx context.Context, emit func(record) error) error {
	m, err := s.sorted(ctx)
	if err == nil {
		err = m.each(ctx, emit)
	}
	if closed := s.discard(); err == nil {
		err = closed
	}
	return err
}

// sorted ends the adding. What it returns is valid until discard.
func (s *sorter) sorted(ctx context.Context) (*merge, error) {
	if len(s.runs) == 0 {
		s.order()
		return &merge{memory: s.buf}, nil
	}
	if len(s.buf) > 0 {
		if err := s.spill(); err != nil {
			return nil, err
		}
	}
	fan := max(2, min(s.limit/mergeMinRecords, mergeMaxRuns))
	for len(s.runs) > fan {
		if err := s.mergePass(ctx, fan); err != nil {
			return nil, err
		}
	}
	return s.merge(s.runs, s.file, s.scratch)
}

// mergePass merges fan runs at a time into a new file, which takes the place
// of the old one.
func (s *sorter) mergePass(ctx context.Context, fan int) (err error) {
	old, runs := s.file, s.runs
	defer func() {
		if closed := old.Close(); err == nil {
			err = closed
		}
	}()
	s.file, s.runs, s.end = nil, nil, 0
	decode := make([]byte, scratchBytes)
	for some := range slices.Chunk(runs, fan) {
		w, err := s.writer()
		if err != nil {
			return err
		}
		m, err := s.merge(some, old, decode)
		if err != nil {
			return err
		}
		if err := m.each(ctx, w.add); err != nil {
			return err
		}
		if err := w.finish(); err != nil {
			return err
		}
	}
	return nil
}

// runReader reads a run through its share of the buffer.
type runReader struct {
	run
	share []record
	at, n int
}

func (r *runReader) next(m *merge) (record, error) {
	if r.at == r.n {
		if r.from == r.upto {
			return endOfRun, nil
		}
		r.at, r.n = 0, 0
		for r.n < len(r.share) && r.from < r.upto {
			b := m.decode[:min(int64(len(m.decode)), int64(len(r.share)-r.n)*recordBytes, r.upto-r.from)]
			if err := m.temp.read(m.file, b, r.from); err != nil {
				return endOfRun, err
			}
			r.from += int64(len(b))
			for ; len(b) > 0; b = b[recordBytes:] {
				r.share[r.n] = record{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
				r.n++
			}
		}
	}
	r.at++
	return r.share[r.at-1], nil
}

// merge gives sorted records: those of a buffer, or of runs.
type merge struct {
	memory []record

	temp    tempDir
	file    storage
	decode  []byte
	sum     bool
	readers []runReader
	heads   []record // of the runs
	// losers[i] is the run that lost at node i; node i's children are 2i and
	// 2i+1, the leaves are nodes k to 2k-1, and losers[0] is the winner.
	losers []int
}

func (s *sorter) merge(runs []run, f storage, decode []byte) (*merge, error) {
	k := len(runs)
	m := &merge{temp: s.temp, file: f, decode: decode, sum: s.sum, readers: make([]runReader, k), heads: make([]record, k+1), losers: make([]int, k)}
	buf := s.buf[:cap(s.buf)]
	for i := range m.readers {
		share := len(buf) / k
		m.readers[i] = runReader{run: runs[i], share: buf[i*share : (i+1)*share]}
		head, err := m.readers[i].next(m)
		if err != nil {
			return nil, err
		}
		m.heads[i] = head
	}
	// Until the tree is filled, a run before all others, heads[k], stands in.
	for i := range m.losers {
		m.losers[i] = k
	}
	for i := k - 1; i >= 0; i-- {
		m.play(i)
	}
	return m, nil
}

// play sends the head of a run up the tree.
func (m *merge) play(i int) {
	k := len(m.losers)
	for node := (i + k) / 2; node > 0; node /= 2 {
		if l := m.losers[node]; l == k || i != k && m.heads[l].before(m.heads[i]) {
			m.losers[node], i = i, l
		}
	}
	m.losers[0] = i
}

// next returns the next record, endOfRun after the last.
func (m *merge) next() (record, error) {
	if m.readers == nil {
		if len(m.memory) == 0 {
			return endOfRun, nil
		}
		r := m.memory[0]
		m.memory = m.memory[1:]
		return r, nil
	}
	r, err := m.pop()
	for err == nil && m.sum && r != endOfRun && m.heads[m.losers[0]].hi == r.hi && m.heads[m.losers[0]] != endOfRun {
		var same record
		same, err = m.pop()
		r.lo += same.lo
	}
	return r, err
}

// pop takes the smallest of the heads.
func (m *merge) pop() (record, error) {
	i := m.losers[0]
	r := m.heads[i]
	if r == endOfRun {
		return r, nil
	}
	head, err := m.readers[i].next(m)
	if err != nil {
		return endOfRun, err
	}
	m.heads[i] = head
	m.play(i)
	return r, nil
}

func (m *merge) each(ctx context.Context, emit func(record) error) error {
	for n := 0; ; n++ {
		if n%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := m.next()
		if err != nil || r == endOfRun {
			return err
		}
		if err := emit(r); err != nil {
			return err
		}
	}
}

// cancelEvery is how many records pass between two looks at the context.
const cancelEvery = 1 << 10

// sortRecords sorts in place: by the bytes of hi from the highest, each byte
// by cyclic exchanges between its 256 buckets ("American flag"), and small
// buckets by comparison.
func sortRecords(a []record) { sortByByte(a, 56) }

func sortByByte(a []record, shift int) {
	if len(a) < 128 {
		slices.SortFunc(a, compareRecords)
		return
	}
	var count [256]int
	for i := range a {
		count[byte(a[i].hi>>shift)]++
	}
	if count[byte(a[0].hi>>shift)] == len(a) {
		if shift == 0 {
			slices.SortFunc(a, compareRecords)
		} else {
			sortByByte(a, shift-8)
		}
		return
	}
	var next, end [256]int // of each bucket
	sum := 0
	for b := range count {
		next[b] = sum
		sum += count[b]
		end[b] = sum
	}
	for b := range next {
		for next[b] < end[b] {
			r := a[next[b]]
			for to := byte(r.hi >> shift); int(to) != b; to = byte(r.hi >> shift) {
				a[next[to]], r = r, a[next[to]]
				next[to]++
			}
			a[next[b]] = r
			next[b]++
		}
	}
	from := 0
	for b := range end {
		if bucket := a[from:end[b]]; len(bucket) > 1 {
			if shift == 0 {
				slices.SortFunc(bucket, compareRecords)
			} else {
				sortByByte(bucket, shift-8)
			}
		}
		from = end[b]
	}
}

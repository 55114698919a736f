package sketch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/token"
)

// A Sketcher makes sketches under one profile, one document after the other.
// It keeps its buffers, so that a document costs no allocation; it must not be
// used by two goroutines at once.
type Sketcher struct {
	profile     Profile
	tokenizer   token.Tokenizer
	window      *kernel.Window
	labels      kernel.Labeller // of a bag
	replicas    kernel.Labeller // of the weights in a set
	sampler     sampler
	boilerplate *Boilerplate // the shingles that are left out, or nil

	tokens       token.Tokens
	fingerprints []uint64 // of tokens: the last w-1 of the piece before, then this piece's
	shingles     []uint64
	elements     token.Tokens // of AddElement, which settle has not sampled
	waiting      []uint64     // shingles of elements, likewise
	seen         int64        // shingles, with those that are left out
	taken        int64        // shingles, without them
	buffer       []byte       // of ReadFrom

	counter *Sketcher // of Length, made when it is asked for
}

// NewSketcher returns a Sketcher for a profile that leaves no shingles out.
func NewSketcher(p Profile) (*Sketcher, error) { return NewSketcherWithout(p, nil) }

func newSketcher(p Profile) (*Sketcher, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	if p.Tokens != 0 {
		own := p.ownTokens()
		if p.Tokens != own {
			return nil, fmt.Errorf("sketch: profile %q: this build makes the tokens %04x: %w", p, own, ErrTokens)
		}
		p.Tokens = 0
	}
	s := &Sketcher{profile: p, window: kernel.NewWindow(p.W), sampler: newSampler(p)}
	if p.Stream != Elements {
		s.tokenizer = token.New(p.tokenSettings())
		s.tokens.FingerprintsOnly = true
	}
	if p.Bag {
		s.labels = kernel.Labeller{}
	}
	return s, nil
}

// Profile returns the profile of the sketches.
func (s *Sketcher) Profile() Profile { return s.profile }

// Reset forgets the document.
func (s *Sketcher) Reset() {
	s.fingerprints, s.seen, s.taken = s.fingerprints[:0], 0, 0
	s.elements.Reset()
	s.waiting = s.waiting[:0]
	clear(s.labels)
	clear(s.replicas)
	s.sampler.Reset()
	if s.tokenizer != nil {
		s.tokenizer.Reset()
	}
}

// Document forgets the document before and takes this one. A set that DocumentUntil
// would refuse leaves the Sketcher empty.
func (s *Sketcher) Document(doc []byte) { _ = s.DocumentUntil(doc, nil) }

// stopInterval is how many bytes of a document DocumentUntil takes between two
// calls of stop: a few milliseconds of work.
const stopInterval = 1 << 20

// DocumentUntil is Document, but calls stop, unless that is nil, after each
// megabyte of a long document. An error of stop is returned, and leaves the
// Sketcher empty; so does a document of the stream elements that is no set in JSON.
func (s *Sketcher) DocumentUntil(doc []byte, stop func() error) error {
	s.Reset()
	if s.tokenizer == nil {
		err := s.addSet(doc, stop)
		if err != nil {
			s.Reset()
		}
		return err
	}
	if stop == nil || len(doc) <= stopInterval {
		s.text(doc, true)
		return nil
	}
	for used, end := 0, 0; end < len(doc); {
		end = min(end+stopInterval, len(doc))
		used += s.text(doc[used:end], end == len(doc))
		if err := stop(); err != nil {
			s.Reset()
			return err
		}
	}
	return nil
}

// ReadFrom takes a document from r to its end, in memory that does not grow
// with it, and returns how many bytes it read. It forgets the document before.
// An error of r is returned, and leaves the Sketcher empty.
func (s *Sketcher) ReadFrom(r io.Reader) (int64, error) {
	s.Reset()
	if s.tokenizer == nil {
		return 0, fmt.Errorf("sketch: the stream %s has no text to read", s.profile.Stream)
	}
	if s.buffer == nil {
		s.buffer = make([]byte, 64<<10)
	}
	var total int64
	held, idle := 0, 0
	for {
		n, err := r.Read(s.buffer[held:])
		if n < 0 || n > len(s.buffer)-held {
			s.Reset()
			return total, fmt.Errorf("sketch: a reader says it read %d bytes into %d", n, len(s.buffer)-held)
		}
		total += int64(n)
		held += n
		if idle++; n > 0 {
			idle = 0
		}
		switch {
		case err == nil && idle == 100:
			err = io.ErrNoProgress
			fallthrough
		case err != nil && err != io.EOF:
			s.Reset()
			return total, err
		case err == nil && held < len(s.buffer):
			continue
		}
		used := s.text(s.buffer[:held], err == io.EOF)
		if err == io.EOF {
			return total, nil
		}
		held = copy(s.buffer, s.buffer[used:held])
	}
}

// text takes a document, or a piece of one, from its text to its sample, and
// returns how many bytes it used.
func (s *Sketcher) text(src []byte, final bool) int {
	used := 0
	for {
		s.tokens.Reset()
		n := s.tokenizer.Next(&s.tokens, src[used:], final)
		used += n
		s.fingerprints = s.tokens.AppendFingerprints(s.fingerprints)
		s.slide(false)
		if used == len(src) || n == 0 && len(s.tokens.Spans) == 0 {
			break
		}
	}
	if final {
		s.slide(true)
	}
	return used
}

// slide samples the shingles of the tokens so far and keeps those that the
// next shingle begins with.
func (s *Sketcher) slide(final bool) {
	s.shingles = s.window.Append(s.shingles[:0], s.fingerprints, final && s.seen == 0)
	s.take(s.shingles)
	if keep := s.profile.W - 1; len(s.fingerprints) > keep {
		s.fingerprints = s.fingerprints[:copy(s.fingerprints, s.fingerprints[len(s.fingerprints)-keep:])]
	}
}

// take samples shingles.
func (s *Sketcher) take(shingles []uint64) {
	s.seen += int64(len(shingles))
	if s.boilerplate != nil {
		shingles = s.boilerplate.without(shingles)
	}
	s.taken += int64(len(shingles))
	if s.profile.Bag {
		s.labels.Label(shingles)
	}
	s.sampler.add(shingles)
}

// AddElement adds a shingle as it is: the member of a set that is no text.
func (s *Sketcher) AddElement(element []byte) {
	if len(element) == 0 { // which no token is
		s.wait(kernel.ElementShingle(element))
		return
	}
	e := &s.elements
	at := len(e.Text)
	e.Text = append(e.Text, element...)
	e.Spans = append(e.Spans, kernel.Span{Start: uint32(at), End: uint32(len(e.Text))})
	if len(e.Spans) == elementsAtOnce || len(e.Text) >= elementBytes {
		s.settle()
	}
}

// wait keeps shingles until settle samples them.
func (s *Sketcher) wait(shingles ...uint64) {
	if s.waiting = append(s.waiting, shingles...); len(s.waiting) >= elementsAtOnce {
		s.settle()
	}
}

// Elements are sampled together, as the shingles of a text are: one by one they would take
// several times as long.
const (
	elementsAtOnce = 1024
	elementBytes   = 64 << 10
)

// single makes a shingle of each token.
var single = sync.OnceValue(func() *kernel.Window { return kernel.NewWindow(1) })

// sampled returns the sampler when it has everything.
func (s *Sketcher) sampled() sampler {
	s.settle()
	return s.sampler
}

// settle samples what waits. Each method that reads the sample calls it.
func (s *Sketcher) settle() {
	if len(s.elements.Spans) > 0 {
		s.fingerprints = s.elements.AppendFingerprints(s.fingerprints[:0])
		s.elements.Reset()
		s.waiting = single().Append(s.waiting, s.fingerprints, false)
		s.fingerprints = s.fingerprints[:0]
	}
	if len(s.waiting) > 0 {
		s.take(s.waiting)
		s.waiting = s.waiting[:0]
	}
}

// Length returns how many shingles doc has, which the Sketcher has just taken,
// as resemblance under its profile counts them: repeated ones once, unless the
// profile makes bags.
func (s *Sketcher) Length(doc []byte) int64 {
	if s.profile.Bag || s.profile.Family == Weighted {
		return s.Shingles() // repeated shingles count
	}
	if s.counter == nil {
		// The multiples of 1 are all fingerprints, each once.
		p := s.profile
		p = p.Exact()
		var err error
		if s.counter, err = NewSketcherWithout(p, s.boilerplate); err != nil {
			panic(err)
		}
	}
	s.counter.Document(doc)
	all := s.counter.sampled().(*list)
	all.tidy()
	return int64(len(all.values))
}

// Empty reports whether nothing was sampled: such a document has no sketch,
// and resembles no other.
func (s *Sketcher) Empty() bool { return s.Shingles() == 0 }

// Shingles returns how many shingles the document has, repeated ones included and
// those that are left out not.
func (s *Sketcher) Shingles() int64 {
	s.settle()
	return s.taken
}

// AppendSketch appends the stored form of the document's sketch, or nothing
// when it is empty.
func (s *Sketcher) AppendSketch(dst []byte) []byte {
	if s.Empty() {
		return dst
	}
	return s.sampled().appendSample(dst, s.profile)
}

// AppendFeatures appends the document's features.
func (s *Sketcher) AppendFeatures(dst []Feature) []Feature {
	if s.Empty() {
		return dst
	}
	return appendFeatures(dst, s.sampled().slots(), s.profile.K, s.profile.S)
}

// Forest returns the similarity index forest/i: a byte of each of the slots 8i
// to 8i+7 as one sortable number, so that documents that agree in the first d
// of them lie in one range. It reports false when there is no such slot.
func (s *Sketcher) Forest(i int) (int64, bool) {
	if s.Empty() || i < 0 || i >= s.profile.T/8 {
		return 0, false
	}
	var index uint64
	for _, m := range s.sampled().slots()[8*i : 8*i+8] {
		index = index<<8 | kernel.Cut(m, 8)
	}
	return int64(index ^ 1<<63), true
}

// ContentHash returns the first 8 bytes of the SHA-256 of a document as it is:
// equal for exact duplicates.
func ContentHash(doc []byte) int64 {
	sum := sha256.Sum256(doc)
	return int64(binary.BigEndian.Uint64(sum[:]))
}

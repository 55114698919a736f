package sketch

import (
	"strings"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A Shingler tells which shingles documents have. It must not be used by two goroutines at
// once.
type Shingler struct {
	profile  Profile
	sketcher *Sketcher
}

// NewShingler returns a Shingler of the shingles that a profile makes, each counted once
// in a document.
func NewShingler(p Profile) (*Shingler, error) {
	p = p.Exact()
	p.Bag = false
	if p.Stream == Elements {
		p.W = 1
	}
	s, err := NewSketcher(p)
	if err != nil {
		return nil, err
	}
	return &Shingler{p, s}, nil
}

// Shingles returns the numbers of the shingles of a document, ascending; the next call
// overwrites them. stop is as for DocumentUntil.
func (s *Shingler) Shingles(doc []byte, stop func() error) ([]uint64, error) {
	if err := s.sketcher.DocumentUntil(doc, stop); err != nil {
		return nil, err
	}
	l := s.sketcher.sampled().(*list)
	l.tidy()
	return l.values, nil
}

// Passages gives the longest passages of a document of which every shingle is wanted: their
// text, as the tokens are, and the numbers of their shingles, until each returns false.
func (s *Shingler) Passages(doc []byte, wanted func(uint64) bool, each func(text string, shingles []uint64) bool) {
	blank := " "
	if s.profile.Stream == Chars {
		blank = ""
	}
	var tokens []string
	var fingerprints []uint64
	for token := range Tokens(s.profile, doc) {
		tokens, fingerprints = append(tokens, token), append(fingerprints, kernel.TokenFingerprint([]byte(token)))
	}
	shingles := kernel.NewWindow(s.profile.W).Append(nil, fingerprints, true)
	for i := range shingles {
		shingles[i] = kernel.Mix(shingles[i])
	}
	for i := 0; i < len(shingles); i++ {
		k := i
		for k < len(shingles) && wanted(shingles[k]) {
			k++
		}
		if k > i {
			if !each(strings.TrimSpace(strings.Join(tokens[i:min(len(tokens), k-1+s.profile.W)], blank)), shingles[i:k]) {
				return
			}
			i = k
		}
	}
}

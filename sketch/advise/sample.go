package advise

import (
	"math/bits"
	"strings"
	"time"

	"github.com/alike-sql/alike/sketch"
)

// A sample is a list of texts under a profile, with the data that a table would keep and
// with all shingles, from which the true resemblances are computed.
type sample struct {
	stored   [][]byte // sketches; nil for a text without tokens
	features [][]sketch.Feature
	shingles [][]int32 // numbers of the shingles of each text
	texts    [][]int32 // numbers of the texts with a shingle, by the shingle's number
	numbers  map[uint64]int32
	counts   []int32 // used by resemblances: how many shingles each earlier text shares
	bytes    int     // size of a sketch
	took     time.Duration
}

func newSample(p sketch.Profile, texts []string, stop func() error) (*sample, error) {
	maker, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	s := &sample{stored: make([][]byte, len(texts)), features: make([][]sketch.Feature, len(texts)), shingles: make([][]int32, len(texts)),
		numbers: map[uint64]int32{}, counts: make([]int32, len(texts))}
	start := time.Now()
	for i, text := range texts {
		if err := maker.DocumentUntil([]byte(text), stop); err != nil {
			return nil, err
		}
		if maker.Empty() {
			continue
		}
		s.stored[i], s.features[i] = maker.AppendSketch(nil), maker.AppendFeatures(nil)
		s.bytes = len(s.stored[i])
	}
	s.took = time.Since(start)
	for i, text := range texts {
		if err := stop(); err != nil {
			return nil, err
		}
		known := map[uint64]bool{}
		for _, x := range sketch.Shingles(p, []byte(text)) {
			if !known[x] {
				known[x] = true
				number, there := s.numbers[x]
				if !there {
					number = int32(len(s.numbers))
					s.numbers[x] = number
					s.texts = append(s.texts, nil)
				}
				s.shingles[i] = append(s.shingles[i], number)
				s.texts[number] = append(s.texts[number], int32(i))
			}
		}
	}
	return s, nil
}

// resemblances returns the true resemblances of text j with the texts before it.
func (s *sample) resemblances(j int) []float64 {
	clear(s.counts)
	for _, x := range s.shingles[j] {
		for _, i := range s.texts[x] {
			if int(i) >= j {
				break
			}
			s.counts[i]++
		}
	}
	list := make([]float64, j)
	for i := range list {
		if n := int(s.counts[i]); n > 0 {
			list[i] = float64(n) / float64(len(s.shingles[i])+len(s.shingles[j])-n)
		}
	}
	return list
}

// shared reports whether text i and text j of another sample share a feature.
func (s *sample) shared(other *sample, i, j int) bool {
	x, y := s.features[i], other.features[j]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].Slot < y[0].Slot:
			x = x[1:]
		case x[0].Slot > y[0].Slot:
			y = y[1:]
		case x[0].Value == y[0].Value:
			return true
		default:
			x, y = x[1:], y[1:]
		}
	}
	return false
}

// Ratio compares the beginnings of two texts without regard to case and blanks. It returns
// 2·l/(m+n), where m and n are the lengths in characters and l is the length of the longest
// common subsequence, computed many characters at a time (Hyyrö 2004).
func Ratio(a, b string) float64 {
	x, y := folded(a), folded(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	words := (len(x) + 63) / 64
	places := map[rune][]uint64{}
	for i, r := range x {
		if places[r] == nil {
			places[r] = make([]uint64, words)
		}
		places[r][i/64] |= 1 << (i % 64)
	}
	row := make([]uint64, words)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, r := range y {
		at, carry := places[r], uint64(0)
		if at == nil {
			continue
		}
		for i, v := range row {
			u := v & at[i]
			var sum uint64
			sum, carry = bits.Add64(v, u, carry)
			row[i] = sum | v&^u
		}
	}
	common := 0
	for i := range x {
		if row[i/64]>>(i%64)&1 == 0 {
			common++
		}
	}
	return 2 * float64(common) / float64(len(x)+len(y))
}

func folded(text string) []rune {
	r := []rune(strings.Join(strings.Fields(strings.ToLower(text[:min(len(text), 4*ratioLength)])), " "))
	return r[:min(len(r), ratioLength)]
}

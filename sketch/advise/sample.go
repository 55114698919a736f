package advise

import (
	"math/bits"
	"strings"
	"time"

	"github.com/alike-sql/alike/sketch"
)

// A sample is texts under a profile: what a table keeps of them, and the truth.
type sample struct {
	stored   [][]byte // nil without a token
	features [][]sketch.Feature
	shingles [][]int32 // of each, numbered
	texts    [][]int32 // that have a shingle, by its number
	numbers  map[uint64]int32
	counts   []int32 // of shingles that the texts before one have in common with it
	bytes    int     // of a sketch
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

// resemblances are the true ones of text j with those before it.
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

// Ratio is 2·l/(m+n) for the beginnings of two texts of m and n characters, case and blanks
// aside, of which l are equal in their order: the longest common subsequence, many
// characters at a time (Hyyrö 2004).
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

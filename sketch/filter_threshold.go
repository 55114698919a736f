package sketch

import (
	"fmt"
	"math"
	"sort"
)

// FilterRecall is the share of the pairs at a threshold and a little above that a
// filter finds, unless asked otherwise.
const FilterRecall = 0.95

// FilterMargin is how far above a threshold "a little above" reaches.
const FilterMargin = 0.1

// How much two rows that have nothing to do with one another resemble: Unrelated
// in prose, titles and messages, Templated where all rows have a form in common
// (pages of one site, log lines, records). Measured on 33 collections.
const (
	Unrelated = 0.1
	Templated = 0.3
)

// Limits and weights of ThresholdFilter's search.
const (
	thresholdGroups  = 40        // k: each feature is a column and an index
	thresholdSamples = 16        // s
	thresholdSlots   = 168       // k·s: at 4 bits a slot they take 84 bytes a row
	featureCost      = 200       // candidates that a feature costs as much as
	candidateRows    = 1_000_000 // rows of the table that candidates are counted in
)

// ThresholdRecall is the share of the pairs at a threshold and a little above
// that share a feature: the mean of FilterProbability(k, s, 1, rho) at the
// eleven resemblances atLeast + i*FilterMargin/10, none above 1. The answers to
// a question are among these pairs.
func ThresholdRecall(k, s int, atLeast float64) (float64, error) {
	switch {
	case CheckFilter(k, s, 1) != nil:
		return 0, CheckFilter(k, s, 1)
	case !(atLeast > 0 && atLeast <= 1):
		return 0, fmt.Errorf("sketch: filter: threshold %v, want above 0 and at most 1", atLeast)
	}
	var list [11]groups
	newMargin(&list, s, atLeast)
	for range k - 1 {
		marginRecall(&list)
	}
	return marginRecall(&list), nil
}

// FilterThreshold is the threshold that k groups of s minima are made for: the
// smallest hundredth at which ThresholdRecall is FilterRecall or more. It is 0 for
// settings that CheckFilter refuses.
func FilterThreshold(k, s int) float64 {
	if CheckFilter(k, s, 1) != nil {
		return 0
	}
	hundredths := sort.Search(99, func(i int) bool {
		recall, err := ThresholdRecall(k, s, float64(i+1)/100)
		return err == nil && recall >= FilterRecall
	})
	return float64(hundredths+1) / 100
}

// newMargin begins the filters of groups of s at each resemblance of the margin.
func newMargin(list *[11]groups, s int, atLeast float64) {
	for i := range list {
		list[i] = newGroups(s, 1, min(1, atLeast+float64(float64(i)*FilterMargin)/10))
	}
}

// marginRecall adds a group to each and returns the mean of their probabilities.
func marginRecall(list *[11]groups) float64 {
	sum := 0.0
	for i := range list {
		list[i].add()
		sum += list[i].accept(1)
	}
	return sum / 11
}

// ThresholdFilter chooses the filter for a threshold: k groups of s minima, of
// which a pair shares one or more, that find at least the share recall of the
// pairs at the threshold and a little above (ThresholdRecall). background is how
// much two unrelated rows resemble: Unrelated or Templated, or as measured.
//
// For every s to 16 the smallest k to 40 that meets the recall in k·s slots to 168
// is tried, and the one with the smallest cost is chosen: 200·k, for the bytes and
// the index of each feature, plus the unrelated rows among a million that share a
// feature with a row. Of equal costs the lesser s is chosen. Where nothing meets
// the recall the filter has 40 groups of one, and Miss tells what they leave out.
//
// The arithmetic is that of the other functions here, in this order:
//
//	recall(k,s):  (sum over i from 0 to 10 of accept(k, s, 1) at min(1, atLeast + i*0.1/10)) / 11
//	cost(k,s):    200*k + 1000000 * accept(k, s, 1) at background
func ThresholdFilter(atLeast, recall, background float64) (FilterChoice, error) {
	switch {
	case !(atLeast > 0 && atLeast <= 1):
		return FilterChoice{}, fmt.Errorf("sketch: filter: threshold %v, want above 0 and at most 1", atLeast)
	case !(recall > 0 && recall < 1):
		return FilterChoice{}, fmt.Errorf("sketch: filter: recall %v, want between 0 and 1", recall)
	case !(background >= 0 && background < 1):
		return FilterChoice{}, fmt.Errorf("sketch: filter: background %v, want at least 0 and below 1", background)
	}
	var best FilterChoice
	lowest := math.Inf(1)
	for s := 1; s <= thresholdSamples; s++ {
		var wanted [11]groups
		newMargin(&wanted, s, atLeast)
		unwanted := newGroups(s, 1, background)
		for k := 1; k <= thresholdGroups && k*s <= thresholdSlots; k++ {
			found := marginRecall(&wanted)
			unwanted.add()
			met := found >= recall
			if !met && !(s == 1 && k == thresholdGroups) {
				continue
			}
			if cost := featureCost*float64(k) + float64(candidateRows*unwanted.accept(1)); cost < lowest {
				if met {
					lowest = cost
				}
				best = FilterChoice{
					K: k, S: s, R: 1, Permutations: k * s, Bytes: headerSize + 8*k + k*s,
					Miss: 1 - found, Accept: unwanted.accept(1),
				}
			}
			break
		}
	}
	return best, nil
}

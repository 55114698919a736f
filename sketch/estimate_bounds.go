package sketch

import "fmt"

// An Interval is an estimated resemblance and what it may be in truth.
type Interval struct{ Low, Estimate, High float64 }

// Bounds estimates the resemblance from two stored sketches, with an interval
// that holds the true value with at least the confidence given, such as 0.95.
// Sketches that say nothing (nothing was sampled of either) give 0 to 1.
//
// The matches of a comparison are taken as binomial, as in Broder 1997, section
// 4.2. That is exact for the families whose slots are independent (classic,
// lean, weighted). The others, fast among them, draw without replacement and
// vary less, so that their intervals hold more often than they say, the more so
// the smaller the documents are.
//
// The arithmetic, for an implementation elsewhere that must give the same
// bits, with the matches, trials and bits b of Compare:
//
//	low, high = interval(matches, trials, confidence)      see estimate_interval.go
//	share = matches / trials
//	if b < 64, each of low, share and high becomes
//	    (it - (luck * chances) / trials) / (1 - luck),     luck = 1 / 2^b
//	and each is at least 0 and at most 1
//
// chances is trials, but for bins: the bins that are filled in both sketches.
func Bounds(a, b []byte, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	t, err := compare(a, b)
	if err != nil {
		return Interval{}, err
	}
	return t.bounds(confidence), nil
}

// BoundsOf returns what Bounds does of two sketches under a profile with slots when as
// many of the slots as given are equal; the bins of the family bins count as filled.
func BoundsOf(p Profile, matches int, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if !p.Slots() || matches < 0 || matches > p.T {
		return Interval{}, fmt.Errorf("sketch: bounds: %d matches under %q, want slots, and 0 to %d of them", matches, p, p.T)
	}
	return tally{matches, p.T, p.T, p.Bits}.bounds(confidence), nil
}

func (t tally) bounds(confidence float64) Interval {
	if t.trials == 0 {
		return Interval{Low: 0, Estimate: 0, High: 1}
	}
	low, high := binomialInterval(t.matches, t.trials, confidence)
	share := float64(t.matches) / float64(t.trials)
	clamp := func(share float64) float64 { return min(1, max(0, t.resemblance(share))) }
	return Interval{clamp(low), clamp(share), clamp(high)}
}

package sketch

import (
	"fmt"
	"math"
	"sync/atomic"
)

// An estimate from a sketch is matches/trials, and the number of matches is
// binomial (Broder 1997, section 4.2: hypergeometric, but the sample is much
// smaller than the document). This file has that distribution's tails and
// the Clopper-Pearson interval.
//
// The interval uses nothing but + - * / and comparisons of IEEE doubles, in
// an order that is part of its contract, so that an implementation elsewhere
// (PostgreSQL's, in PL/pgSQL) returns the same bits:
//
//	lower(n, m, confidence), the p at which m matches or more of n are as probable as alpha:
//	    0 if m = 0; alpha = (1 - confidence) * 0.5
//	    p = (n-0.5) / n if m = n, else alpha / n if m = 1, else (m-1) / (n-1)
//	    200 times at most:
//	        q = 1 - p; up = p / q; down = q / p
//	        above = 1; w = 1; for k = m .. n-1 (upwards):
//	            w = w * (n-k) / (k+1) * up          (from left to right)
//	            leave the loop if w < above * 1e-17
//	            above = above + w
//	        below = 0; w = 1; for k = m .. 1 (downwards):
//	            w = w * k / (n-k+1) * down
//	            leave the loop if w < below * 1e-17
//	            below = below + w
//	        step = (above - (above + below) * alpha) * p / m
//	        p = p - step; leave the loop if |step| < p * 1e-12
//	    p
//	interval(n, m, confidence): lower(n, m), 1 - lower(n, n-m)
//
// That is Newton's method. The terms are relative to the probability of m matches, so above /
// (above + below) is the tail and m / p / (above + below) its derivative. The first p is where the
// tail turns from convex to concave (or, at the ends, beyond the root on the convex side and
// before it on the concave one), and from there each step comes closer to the root.

// binomialBetween is the probability that from to upto of n independent trials, both counted,
// succeed when each does with probability p. The sums begin at the most probable number, so
// that no term overflows, and go upwards first.
func binomialBetween(n, from, upto int, p float64) float64 {
	if p <= 0 || p >= 1 {
		certain := 0
		if p >= 1 {
			certain = n
		}
		if from <= certain && certain <= upto {
			return 1
		}
		return 0
	}
	q := 1 - p
	up, down := p/q, q/p
	mode := min(int(float64(float64(n+1)*p)), n)
	total, between := 1.0, 0.0
	if from <= mode && mode <= upto {
		between = 1
	}
	w := 1.0
	for k := mode; k < n; k++ {
		w = float64(float64(float64(w*float64(n-k))/float64(k+1)) * up)
		if w < 1e-100 {
			break
		}
		total += w
		if from <= k+1 && k+1 <= upto {
			between += w
		}
	}
	w = 1.0
	for k := mode; k > 0; k-- {
		w = float64(float64(float64(w*float64(k))/float64(n-k+1)) * down)
		if w < 1e-100 {
			break
		}
		total += w
		if from <= k-1 && k-1 <= upto {
			between += w
		}
	}
	return between / total
}

// binomialLower is the lower end of the Clopper-Pearson interval.
func binomialLower(matches, trials int, confidence float64) float64 {
	if matches == 0 {
		return 0
	}
	alpha := (1 - confidence) * 0.5
	n, m := float64(trials), float64(matches)
	p := (m - 1) / (n - 1)
	switch matches {
	case trials:
		p = (n - 0.5) / n
	case 1:
		p = alpha / n
	}
	for range 200 {
		q := 1 - p
		up, down := p/q, q/p
		above, w := 1.0, 1.0
		for k := m; k < n; k++ {
			w = float64(float64(float64(w*(n-k))/(k+1)) * up)
			if w < float64(above*1e-17) {
				break
			}
			above += w
		}
		var below float64
		w = 1
		for k := m; k > 0; k-- {
			w = float64(float64(float64(w*k)/(n-k+1)) * down)
			if w < float64(below*1e-17) {
				break
			}
			below += w
		}
		step := float64(float64(above-float64((above+below)*alpha))*p) / m
		p -= step
		if math.Abs(step) < float64(p*1e-12) {
			break
		}
	}
	return p
}

// checkConfidence refuses what is not strictly between 0 and 1.
func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("sketch: bounds: confidence %v, want above 0 and below 1", confidence)
	}
	return nil
}

// binomialInterval is the Clopper-Pearson interval: whatever the true
// probability of a match is, it lies in the interval with at least the
// confidence given. No trials tell nothing: 0 to 1. The caller has checked
// that matches lies in 0 to trials and confidence between 0 and 1.
func binomialInterval(matches, trials int, confidence float64) (low, high float64) {
	if trials == 0 {
		return 0, 1
	}
	if trials > maxCachedTrials {
		return binomialLower(matches, trials, confidence), 1 - binomialLower(trials-matches, trials, confidence)
	}
	t := intervalTableFor(trials, confidence)
	return t.lower(matches), 1 - t.lower(trials-matches)
}

// The lower ends already computed, a table for each (trials, confidence).
// There are few such pairs in a program's life, but confidence comes from the
// user, so the tables are bounded: a new one takes the place of the one whose
// key falls on the same entry.
const (
	maxCachedTrials   = 1024
	intervalTableBits = 6
)

var intervalTables [1 << intervalTableBits]atomic.Pointer[intervalTable]

type intervalTable struct {
	trials     int
	confidence float64
	lowers     []atomic.Uint64 // complemented bits of the lower end; 0 is not computed yet
}

func intervalTableFor(trials int, confidence float64) *intervalTable {
	key := math.Float64bits(confidence) + uint64(trials)
	entry := &intervalTables[key*0x9e3779b97f4a7c15>>(64-intervalTableBits)]
	if t := entry.Load(); t != nil && t.trials == trials && t.confidence == confidence {
		return t
	}
	t := &intervalTable{trials, confidence, make([]atomic.Uint64, trials+1)}
	entry.Store(t)
	return t
}

func (t *intervalTable) lower(matches int) float64 {
	// Goroutines that race compute the same number.
	if bits := t.lowers[matches].Load(); bits != 0 {
		return math.Float64frombits(^bits)
	}
	low := binomialLower(matches, t.trials, t.confidence)
	t.lowers[matches].Store(^math.Float64bits(low))
	return low
}

// Within is the probability p(s, r, epsilon) that an estimate from s samples
// is within epsilon of the resemblance r: the sum over k from s(r-epsilon) to
// s(r+epsilon) of C(s,k) r^k (1-r)^(s-k) (Broder 1997, section 4.2). The ends
// belong to the sum when they are whole numbers but for rounding.
func Within(s int, r, epsilon float64) float64 {
	const rounding = 1e-9
	from := math.Ceil(float64(float64(s)*(r-epsilon)) - rounding)
	upto := math.Floor(float64(float64(s)*(r+epsilon)) + rounding)
	if !(from <= upto) || s < 1 {
		return 0
	}
	return binomialBetween(s, int(max(from, 0)), int(min(upto, float64(s))), r)
}

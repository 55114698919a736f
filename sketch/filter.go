package sketch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Arithmetic of the filter.
//
// FilterProbability, HalfPoint and FilterPlan use nothing but +, -, * and
// comparisons of IEEE doubles, in an order that is part of their contract, so
// that an implementation elsewhere (PostgreSQL's, in PL/pgSQL) returns the
// same bits:
//
//	power(x, n):    p = 1; n times: p = flush(p * x)
//	flush(x):       0 if x < 1e-150, else x
//	accept(k,s,r):  p = power(rho, s); q = 1 - p
//	                d[0] = 1; d[1..r-1] = 0; a = 0
//	                k times:
//	                    a = a + flush(d[r-1] * p)
//	                    for i = r-1 down to 1: d[i] = flush(d[i] * q) + flush(d[i-1] * p)
//	                    d[0] = flush(d[0] * q)
//	                min(a, 1)
//
// Every product is rounded before it is added: float64() around it forbids a
// fused multiply-add (Go specification, Floating-point operators). flush
// keeps factors above 1e-150, so that no product of two underflows, which
// PostgreSQL makes an error. d[i] is the probability that exactly i of the
// groups seen so far are equal; all terms are positive, so that the small
// values are as accurate as the large.

// Limits of FilterPlan's search.
const (
	planGroups  = 64 // k
	planSamples = 64 // s
	planShared  = 8  // r
)

const flushBelow = 1e-150

func flush(x float64) float64 {
	if x < flushBelow {
		return 0
	}
	return x
}

// power is x to the n by n multiplications.
func power(x float64, n int) float64 {
	p := 1.0
	for range n {
		p = flush(float64(p * x))
	}
	return p
}

// groups is the distribution of the number of equal groups, grown a group at
// a time.
type groups struct {
	p, q    float64   // a group is equal, is not
	exactly []float64 // exactly[i]: i groups are equal
	atLeast []float64 // atLeast[i]: i+1 groups or more are equal
}

func newGroups(s, r int, rho float64) groups {
	p := power(rho, s)
	g := groups{p, 1 - p, make([]float64, r), make([]float64, r)}
	g.exactly[0] = 1
	return g
}

func (g *groups) add() {
	for i := len(g.exactly) - 1; i >= 0; i-- {
		g.atLeast[i] += flush(float64(g.exactly[i] * g.p))
		g.exactly[i] = flush(float64(g.exactly[i] * g.q))
		if i > 0 {
			g.exactly[i] += flush(float64(g.exactly[i-1] * g.p))
		}
	}
}

func (g *groups) accept(r int) float64 { return min(g.atLeast[r-1], 1) }

// CheckFilter says what is wrong with the settings of a filter: k groups of s
// minima, r of which must be equal.
func CheckFilter(k, s, r int) error {
	switch {
	case k < 1 || k > 255:
		return fmt.Errorf("sketch: filter: %d groups, want 1 to 255", k)
	case s < 1 || s > 255:
		return fmt.Errorf("sketch: filter: groups of %d minima, want 1 to 255", s)
	case r < 1 || r > k:
		return fmt.Errorf("sketch: filter: %d shared features, want 1 to %d, the number of groups", r, k)
	}
	return nil
}

// FilterProbability is the probability P(k,s,r) that two documents of
// resemblance rho share at least r of k features, each made of s minima
// (Broder 2000, section 3): the sum over i from r to k of
// C(k,i) rho^(si) (1-rho^s)^(k-i).
//
// A rho outside 0 to 1 is taken as the nearer of the two, and NaN gives NaN.
// Settings that CheckFilter refuses never accept: they give 0.
func FilterProbability(k, s, r int, rho float64) float64 {
	if math.IsNaN(rho) {
		return rho
	}
	if CheckFilter(k, s, r) != nil {
		return 0
	}
	g := newGroups(s, r, max(0, min(rho, 1)))
	for range k {
		g.add()
	}
	return g.accept(r)
}

// HalfPoint is the resemblance at which the filter accepts half of the pairs,
// the threshold with the smallest total error when resemblances are uniform
// (Broder 2000, section 4). It is found by 52 bisections of 0 to 1, each at
// (low+high)*0.5, and is the last of these midpoints.
func HalfPoint(k, s, r int) float64 {
	low, high, mid := 0.0, 1.0, 0.5
	for range 52 {
		mid = (low + high) * 0.5
		if FilterProbability(k, s, r, mid) < 0.5 {
			low = mid
		} else {
			high = mid
		}
	}
	return mid
}

// FilterPoint is one point of a filter's curve.
type FilterPoint struct {
	Resemblance float64
	Probability float64
}

// FilterCurve gives FilterProbability at n evenly spaced resemblances, the
// first 0 and the last 1: point i is at i/(n-1). Fewer than two points make
// no curve, and give none.
func FilterCurve(k, s, r, n int) []FilterPoint {
	if n < 2 {
		return nil
	}
	curve := make([]FilterPoint, n)
	for i := range curve {
		rho := float64(i) / float64(n-1)
		curve[i] = FilterPoint{rho, FilterProbability(k, s, r, rho)}
	}
	return curve
}

// SteepestGroup is the size s of a group for which the probability rho^s that
// a group is equal climbs the fastest at the given resemblance: 1/ln(1/rho),
// equation (3) of Broder 2000.
func SteepestGroup(rho float64) float64 { return -1 / logarithm(rho) }

// SteepestResemblance is the inverse of SteepestGroup, exp(-1/s), for s of at
// least 1: 0.931 for groups of 14. It is the sum of the series
//
//	1 - x/1 (1 - x/2 (1 - x/3 (…)))      x = 1/s
//
// to 25 terms from the inside out, so that an implementation elsewhere gives the same bits.
func SteepestResemblance(s float64) float64 {
	x, e := 1/s, 1.0
	for i := 25; i > 0; i-- {
		e = 1 - float64(float64(x/float64(i))*e)
	}
	return e
}

// FilterChoice is one way to set up a filter.
type FilterChoice struct {
	K, S, R      int
	Permutations int     // K*S
	Bytes        int     // stored a row: K features of 8 bytes, a sketch with 8 bits of each minimum, its header
	Miss         float64 // the share of the pairs at the wanted resemblance that is not found
	Accept       float64 // the share of the pairs at the unwanted resemblance that is
}

// FilterPlan proposes filters that miss at most the share miss of the pairs
// whose resemblance is the one given, and accept at most the share acceptRate
// of those at resemblance acceptBelow, the cheapest first: by bytes a row, then
// by permutations, then by k and r. For every s to 64 and r to 8 it has the
// smallest k to 64 that meets both, if there is one: a larger k would accept more
// and cost more. With r above 2 a filter may keep C(k,r) superfeatures in
// place of its features; their bytes are not in the figure.
func FilterPlan(resemblance, miss, acceptBelow, acceptRate float64) ([]FilterChoice, error) {
	switch {
	case !(resemblance > 0 && resemblance <= 1):
		return nil, fmt.Errorf("sketch: plan: resemblance %v, want above 0 and at most 1", resemblance)
	case !(acceptBelow >= 0 && acceptBelow < resemblance):
		return nil, fmt.Errorf("sketch: plan: accept below %v, want at least 0 and less than the resemblance, %v", acceptBelow, resemblance)
	case !(miss > 0 && miss < 1):
		return nil, fmt.Errorf("sketch: plan: miss rate %v, want between 0 and 1", miss)
	case !(acceptRate > 0 && acceptRate < 1):
		return nil, fmt.Errorf("sketch: plan: acceptance rate %v, want between 0 and 1", acceptRate)
	}
	var plan []FilterChoice
	for s := 1; s <= planSamples; s++ {
		wanted := newGroups(s, planShared, resemblance)
		unwanted := newGroups(s, planShared, acceptBelow)
		var met [planShared + 1]bool // the smallest k for the wanted is found
		for k := 1; k <= planGroups; k++ {
			wanted.add()
			unwanted.add()
			for r := 1; r <= min(k, planShared); r++ {
				if met[r] || 1-wanted.accept(r) > miss {
					continue
				}
				met[r] = true
				if unwanted.accept(r) <= acceptRate {
					plan = append(plan, FilterChoice{
						K: k, S: s, R: r, Permutations: k * s, Bytes: headerSize + 8*k + k*s,
						Miss: 1 - wanted.accept(r), Accept: unwanted.accept(r),
					})
				}
			}
		}
	}
	slices.SortFunc(plan, func(a, b FilterChoice) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Permutations, b.Permutations), cmp.Compare(a.K, b.K), cmp.Compare(a.R, b.R))
	})
	return plan, nil
}

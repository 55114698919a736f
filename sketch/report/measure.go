package report

import (
	"context"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/plot"
)

// Measured is the curve of the filter, measured on the table's own rows.
//
// Nobody sees a pair that no feature finds, so the share of the pairs that a
// filter finds cannot be counted. But given its resemblance, a pair's features
// agree or not independently of each other: how often the other k-1 features
// agree on a pair that one feature found is how often a filter of k-1 features
// finds a pair at all, P(k-1,s,1). A pair that m features find counts m times.
type Measured struct {
	Pairs  int             `json:"pairs"` // size of the sample, which has the same number from every band of the estimates
	Points []MeasuredPoint `json:"points,omitempty"`
	Why    string          `json:"why,omitempty"` // the reason why there are no points
}

// A MeasuredPoint describes the pairs whose exact resemblance lies in a band.
type MeasuredPoint struct {
	Resemblance float64 `json:"resemblance"` // their mean
	Pairs       int     `json:"pairs"`
	Found       float64 `json:"found"` // by another feature
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Curve       float64 `json:"curve"` // P(k-1,s,1) there
}

// minTrials is the smallest number of independent pairs for a point.
const minTrials = 8

func (m *maker) measure(ctx context.Context, found *findings) error {
	out := &m.out.Measured
	var points [bands]struct {
		resemblance, sum float64 // each pair with its weight
		trials           []trial
	}
	kin := kinship{}
	unread := 0
	for band, sample := range found.sampled {
		if len(sample) == 0 {
			continue
		}
		m.config.Progress("measuring the filter of "+m.out.Name, int64(band+1), bands)
		sample = apart(sample)
		for _, p := range sample {
			kin.join(p.a, p.b)
		}
		var numbers []int
		for _, p := range sample {
			numbers = append(numbers, p.a, p.b)
		}
		slices.Sort(numbers)
		texts, err := m.texts(ctx, slices.Compact(numbers))
		if err != nil {
			return err
		}
		each := float64(m.out.Candidates.Bands[band]) / float64(len(sample))
		for _, p := range sample {
			a, b := texts[p.a], texts[p.b]
			if a.Why != "" || b.Why != "" {
				unread++
				continue
			}
			exact, ok, err := sketch.ExactResemblance(m.a.Profile, a.Bytes, b.Bytes)
			if err != nil {
				out.Why = err.Error()
				return nil
			}
			if !ok {
				continue
			}
			out.Pairs++
			to := &points[bandOf(exact)]
			to.resemblance += exact * each
			to.sum += each
			to.trials = append(to.trials, trial{row: p.a, weight: each * float64(p.shared), found: p.shared > 1})
		}
	}
	if m.out.K > 1 {
		for _, at := range points {
			found, worth := weigh(at.trials, kin)
			if worth < minTrials {
				continue
			}
			p := MeasuredPoint{Resemblance: at.resemblance / at.sum, Pairs: len(at.trials), Found: found}
			p.Low, p.High = plot.Wilson(p.Found, worth)
			p.Low, p.High = min(p.Low, p.Found), max(p.High, p.Found) // they enclose it but for rounding
			p.Curve = sketch.FilterProbability(m.out.K-1, m.out.S, 1, p.Resemblance)
			out.Points = append(out.Points, p)
		}
	}
	switch {
	case len(out.Points) > 0:
	case m.out.Candidates.Pairs == 0:
		out.Why = "no two rows share a feature"
	case out.Pairs == 0 && unread > 0:
		out.Why = "the texts could not be read"
	case m.out.K == 1:
		out.Why = "a filter of one feature cannot be measured against itself"
	default:
		out.Why = "there are too few pairs to measure it"
	}
	return nil
}

// A trial is a pair that one feature found.
type trial struct {
	row    int // one of its two
	weight float64
	found  bool // by another feature too
}

// weigh returns the share of the trials that succeed, and how many independent trials
// that share is worth. It is worth fewer where some trials weigh more than others (Kish
// 1965), and fewer again where connected pairs agree with each other. The data tell how
// much they agree: weigh estimates the variance of the share from the sums over groups
// of connected pairs and from the single pairs, and divides by their ratio.
func weigh(trials []trial, kin kinship) (found, worth float64) {
	var sum, squares float64
	for _, t := range trials {
		sum += t.weight
		squares += t.weight * t.weight
		if t.found {
			found += t.weight
		}
	}
	if sum == 0 {
		return 0, 0
	}
	found /= sum
	groups := map[int]int{}
	var apart float64      // the sum of squares of each pair's deviation
	var together []float64 // the sum of the deviations of a group
	for _, t := range trials {
		off := -found * t.weight
		if t.found {
			off += t.weight
		}
		apart += off * off
		root := kin.root(t.row)
		at, ok := groups[root]
		if !ok {
			at = len(together)
			groups[root], together = at, append(together, 0)
		}
		together[at] += off
	}
	var grouped float64
	for _, off := range together {
		grouped += off * off
	}
	worth = sum * sum / squares
	if grouped > apart {
		worth *= apart / grouped
	}
	return found, worth
}

// A kinship tells which rows are connected by pairs.
type kinship map[int]int

func (k kinship) root(row int) int {
	for {
		up, ok := k[row]
		if !ok {
			return row
		}
		row = up
	}
}

func (k kinship) join(a, b int) {
	if a, b = k.root(a), k.root(b); a != b {
		k[max(a, b)] = min(a, b)
	}
}

// apart keeps at most two pairs of each row, since the pairs of a large cluster repeat
// each other.
func apart(sample []pair) []pair {
	times := map[int]int{}
	var kept []pair
	for _, p := range sample {
		if times[p.a] < 2 && times[p.b] < 2 {
			times[p.a]++
			times[p.b]++
			kept = append(kept, p)
		}
	}
	return kept
}

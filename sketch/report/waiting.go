package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/compare"
)

// Waiting holds the pairs that a person should judge.
type Waiting struct {
	// Recorded is how many pairs the policy recorded and no person judged.
	Recorded int64 `json:"recorded"`
	// Pairs are some of them, nearest to the limit first, or, when there are none,
	// candidates whose true resemblance may lie on the other side of the limit.
	Pairs    []WaitingPair `json:"pairs,omitempty"`
	Judged   int           `json:"judged"`   // pairs with a verdict
	Disputed int           `json:"disputed"` // verdicts that the estimate contradicts
	// Disputes lists some of the disputed pairs.
	Disputes []WaitingPair `json:"disputes,omitempty"`
}

// A WaitingPair is a pair with the statements that record a verdict.
type WaitingPair struct {
	Key         string              `json:"key"`
	Other       string              `json:"other"`
	Shared      int                 `json:"shared"`
	Resemblance float64             `json:"resemblance"`
	Low         float64             `json:"low"`
	High        float64             `json:"high"`
	Verdict     string              `json:"verdict,omitempty"` // the disputed verdict
	Duplicate   string              `json:"duplicate"`
	Distinct    string              `json:"distinct"`
	Compared    *compare.Comparison `json:"-"`

	limit float64 // the resemblance that the pair needs
}

func (m *maker) waiting(ctx context.Context, found *findings) error {
	out := &m.out.Waiting
	n, recorded, err := m.src.Recorded(ctx, m.a, 50*listedPairs)
	if err != nil {
		return err
	}
	out.Recorded = n
	number := map[string]int{}
	for _, p := range recorded {
		number[p[0]], number[p[1]] = -1, -1
	}
	if err := m.number(number); err != nil {
		return err
	}
	var pairs [][2]int
	for _, p := range recorded {
		pair := ordered(number[p[0]], number[p[1]])
		if pair[0] >= 0 && pair[0] != pair[1] && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	limit := len(recorded) == 0
	if limit {
		for _, p := range found.near {
			pairs = append(pairs, ordered(p.a, p.b))
		}
	}
	asked := map[int]bool{}
	for _, pair := range pairs {
		if len(out.Pairs) == listedPairs {
			break
		}
		if asked[pair[0]] || asked[pair[1]] {
			continue // each row appears once, however many rows it resembles
		}
		w, err := m.waitingPair(pair)
		if err != nil {
			return err
		}
		if limit && (w.Low >= w.limit || w.High < w.limit) {
			continue
		}
		if w.Compared, err = m.comparePair(ctx, pair); err != nil {
			return err
		}
		asked[pair[0]], asked[pair[1]] = true, true
		out.Pairs = append(out.Pairs, w)
	}
	return m.disputes(ctx)
}

// disputes returns the verdicts that the estimates contradict.
func (m *maker) disputes(ctx context.Context) error {
	out := &m.out.Waiting
	out.Judged = len(m.verdicts)
	type dispute struct {
		pair [2]int
		far  float64
	}
	var list []dispute
	for pair, duplicate := range m.verdicts {
		w, err := m.waitingPair(pair)
		if err != nil {
			return err
		}
		if duplicate != (w.Resemblance >= w.limit) {
			list = append(list, dispute{pair, math.Abs(w.Resemblance - w.limit)})
		}
	}
	out.Disputed = len(list)
	slices.SortFunc(list, func(x, y dispute) int {
		return cmp.Or(cmp.Compare(y.far, x.far), slices.Compare(x.pair[:], y.pair[:]))
	})
	for _, d := range list[:min(len(list), listedPairs/2)] {
		w, err := m.waitingPair(d.pair)
		if err != nil {
			return err
		}
		w.Verdict = "distinct"
		if m.verdicts[d.pair] {
			w.Verdict = "duplicate"
		}
		if w.Compared, err = m.comparePair(ctx, d.pair); err != nil {
			return err
		}
		out.Disputes = append(out.Disputes, w)
	}
	return nil
}

func (m *maker) waitingPair(pair [2]int) (w WaitingPair, err error) {
	var a, b Row
	if err := m.spool.get(pair[0], &a); err != nil {
		return w, err
	}
	if err := m.spool.get(pair[1], &b); err != nil {
		return w, err
	}
	w.Key, w.Other, w.Shared = m.src.KeyText(m.a, a.Key), m.src.KeyText(m.a, b.Key), a.shared(&b)
	w.limit = m.out.limit(&a, &b)
	w.Duplicate, w.Distinct = m.src.Mark(m.a, a.Key, b.Key, "duplicate"), m.src.Mark(m.a, a.Key, b.Key, "distinct")
	if a.Sketch == nil || b.Sketch == nil {
		return w, nil
	}
	bounds, err := sketch.Bounds(a.Sketch, b.Sketch, 0.95)
	w.Low, w.Resemblance, w.High = bounds.Low, bounds.Estimate, bounds.High
	return w, err
}

func (m *maker) comparePair(ctx context.Context, pair [2]int) (*compare.Comparison, error) {
	texts, err := m.texts(ctx, pair[:])
	if err != nil {
		return nil, err
	}
	return compared(m.a.Profile, texts[pair[0]], texts[pair[1]]), nil
}

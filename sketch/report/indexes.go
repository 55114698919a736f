package report

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/alike-sql/alike/sketch/simindex"
)

// An Index describes the results of range scans over a similarity index.
type Index struct {
	Variant string  `json:"variant"`
	Range   string  `json:"range"`  // which one
	Asked   int     `json:"asked"`  // rows whose ranges were scanned, evenly spaced over the keys
	Median  int     `json:"median"` // rows returned
	P90     int     `json:"p90"`
	Share   float64 `json:"share"` // the median as a share of the table
	Pairs   int64   `json:"pairs"` // alike pairs, each counted in both directions
	Inside  int64   `json:"inside"`
}

// fraction is Roth's range.
const fraction = 0.3

// around returns the range that should hold the values near a given one, and its
// description: Roth's range for his indexes, for lengths a range that loses no pair,
// for a forest the values with the same first byte.
func around(v simindex.Variant, atLeast float64, value int64) func(other int64) int {
	low, high := float64(simindex.Low(value, fraction)), float64(simindex.High(value, fraction))
	open := true
	switch kindOf(v) {
	case "length":
		low, high, open = float64(value)*atLeast, 1e300, false
		if atLeast > 0 {
			high = float64(value) / atLeast
		}
	case "forest":
		return func(other int64) int { return int(other>>56) - int(value>>56) }
	}
	// -1 below the range, 1 above it.
	return func(other int64) int {
		x := float64(other)
		switch {
		case x < low || open && x == low:
			return -1
		case x > high || open && x == high:
			return 1
		}
		return 0
	}
}

func kindOf(v simindex.Variant) string {
	name, _, _ := strings.Cut(v.String(), "/")
	return name
}

func rangeName(v simindex.Variant) string {
	switch kindOf(v) {
	case "length":
		return "lengths that the limit allows"
	case "forest":
		return "the same first byte"
	}
	return "±30 %"
}

// rangeHits counts how often a row's range holds a row that it is alike to.
type rangeHits struct{ pairs, inside int64 }

func (h *rangeHits) add(v simindex.Variant, atLeast float64, a, b Nullable) {
	h.pairs += 2
	if !a.OK || !b.OK {
		return
	}
	if around(v, atLeast, a.Value)(b.Value) == 0 {
		h.inside++
	}
	if around(v, atLeast, b.Value)(a.Value) == 0 {
		h.inside++
	}
}

func (m *maker) indexes(_ context.Context, found *findings) error {
	for i, v := range m.a.Variants {
		m.config.Progress("asking the similarity indexes of "+m.out.Name, int64(i+1), int64(len(m.a.Variants)))
		values := make([]int64, 0, m.spool.len())
		if err := m.spool.each(func(_ int, r *Row) error {
			if r.Indexes[i].OK {
				values = append(values, r.Indexes[i].Value)
			}
			return nil
		}); err != nil {
			return err
		}
		x := Index{Variant: v.String(), Range: rangeName(v), Pairs: found.inside[i].pairs, Inside: found.inside[i].inside}
		var asked []int64
		for j := range min(sampledRows, len(values)) {
			asked = append(asked, values[j*len(values)/min(sampledRows, len(values))])
		}
		slices.Sort(values)
		var returned []int
		for _, value := range asked {
			place := around(v, m.out.AtLeast, value)
			first := sort.Search(len(values), func(j int) bool { return place(values[j]) >= 0 })
			end := sort.Search(len(values), func(j int) bool { return place(values[j]) > 0 })
			n := max(0, end-first)
			if place(value) == 0 {
				n-- // the row itself is no answer
			}
			returned = append(returned, max(0, n))
		}
		if x.Asked = len(returned); x.Asked > 0 {
			slices.Sort(returned)
			x.Median, x.P90 = returned[len(returned)/2], returned[len(returned)*9/10]
			x.Share = float64(x.Median) / float64(m.spool.len())
		}
		m.out.Indexes = append(m.out.Indexes, x)
	}
	return nil
}

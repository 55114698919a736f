package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sketch/compare"
)

// Hot is a set of features that the same ten or more rows share.
type Hot struct {
	Slots   []int    `json:"slots"` // of the features, from 1
	Feature int64    `json:"feature"`
	Rows    int      `json:"rows"`
	Keys    []string `json:"keys"` // the first of them
	// Passages are the longest runs of words that two of these rows have in
	// common. The features come from them.
	Passages []string `json:"passages,omitempty"`
	Why      string   `json:"why,omitempty"`  // the reason why there is no passage
	Like     []int    `json:"like,omitempty"` // slots of features of fewer rows that come from the same passages
}

const (
	hotKeys     = 5
	hotPassages = 2
	lookedHot   = 40 // groups of features whose passages are found
)

// hotFeature is one of them, with the numbers of its first rows.
type hotFeature struct {
	slot  int
	value int64
	rows  int
	first []int
}

// count counts the rows that share each feature. It remembers the features of ten rows and
// more, and bounds the number of pairs.
func (m *maker) count() error {
	var list []*hotFeature
	values := make([]int64, 0, m.spool.len())
	for slot := range m.a.Profile.K {
		values = values[:0]
		if err := m.spool.each(func(_ int, r *Row) error {
			if f := r.Features[slot]; f.OK {
				values = append(values, f.Value)
			}
			return nil
		}); err != nil {
			return err
		}
		slices.Sort(values)
		for i := 0; i < len(values); {
			j := i
			for j < len(values) && values[j] == values[i] {
				j++
			}
			m.atMost += cluster.MaxPairs(j - i)
			if j-i >= hotRows {
				list = append(list, &hotFeature{slot: slot, value: values[i], rows: j - i})
			}
			i = j
		}
		// The hottest of all, and some more, since several may come from the same passages.
		slices.SortStableFunc(list, func(x, y *hotFeature) int { return cmp.Compare(y.rows, x.rows) })
		if len(list) > maxHot {
			list = list[:maxHot]
		}
	}
	m.hottest = list
	return nil
}

// hot describes the features that count remembered.
func (m *maker) hot(ctx context.Context, _ *findings) error {
	list := m.hottest
	if len(list) == 0 {
		return nil
	}
	bySlot := make([]map[int64]*hotFeature, m.a.Profile.K)
	for _, h := range list {
		if bySlot[h.slot] == nil {
			bySlot[h.slot] = map[int64]*hotFeature{}
		}
		bySlot[h.slot][h.value] = h
	}
	if err := m.spool.each(func(i int, r *Row) error {
		for slot, hot := range bySlot {
			if h := hot[r.Features[slot].Value]; h != nil && r.Features[slot].OK && len(h.first) < hotKeys {
				h.first = append(h.first, i)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return m.hotGroups(ctx, list)
}

// maxHot bounds the number of features that hot looks at.
const maxHot = 2000

// hotGroups joins the features that the same rows share.
func (m *maker) hotGroups(ctx context.Context, list []*hotFeature) error {
	var groups []*Hot
	var rows [][]int
	for _, h := range list {
		at := 0
		for at < len(groups) && !(groups[at].Rows == h.rows && slices.Equal(rows[at], h.first)) {
			at++
		}
		if at == len(groups) {
			groups, rows = append(groups, &Hot{Feature: h.value, Rows: h.rows}), append(rows, h.first)
		}
		groups[at].Slots = append(groups[at].Slots, h.slot+1)
	}
	m.out.HotCount = len(groups)
	for i, g := range groups[:min(len(groups), lookedHot)] {
		if len(m.out.Hot) == listedHot {
			break
		}
		for _, n := range rows[i] {
			key, err := m.spool.key(n)
			if err != nil {
				return err
			}
			g.Keys = append(g.Keys, m.src.KeyText(m.a, key))
		}
		if err := m.passages(ctx, g, rows[i]); err != nil {
			return err
		}
		slices.Sort(g.Slots)
		same := slices.IndexFunc(m.out.Hot, func(h Hot) bool { return len(g.Passages) > 0 && slices.Equal(h.Passages, g.Passages) })
		if same < 0 {
			m.out.Hot = append(m.out.Hot, *g)
		} else {
			m.out.Hot[same].Like = append(m.out.Hot[same].Like, g.Slots...)
			slices.Sort(m.out.Hot[same].Like)
		}
	}
	return nil
}

// passages finds the text that a feature comes from. It takes the passages that the two least
// similar of the first rows share, which come nearest to the text that all rows share.
func (m *maker) passages(ctx context.Context, g *Hot, rows []int) error {
	texts, err := m.texts(ctx, rows)
	if err != nil {
		return err
	}
	var a, b Row
	if err := m.spool.get(rows[0], &a); err != nil {
		return err
	}
	other, lowest := -1, 2.0
	for _, n := range rows[1:] {
		if err := m.spool.get(n, &b); err != nil {
			return err
		}
		r, err := sketch.Resemblance(a.Sketch, b.Sketch)
		if err != nil {
			return err
		}
		if r < lowest {
			other, lowest = n, r
		}
	}
	x, y := texts[rows[0]], texts[other]
	if _, g.Why = x.Shown(); g.Why == "" {
		_, g.Why = y.Shown()
	}
	if g.Why != "" {
		return nil
	}
	passages, err := sketch.Explain(m.a.Profile, x.Bytes, y.Bytes)
	if err != nil {
		return err
	}
	for _, p := range passages {
		if p.Kind == "both" && len(g.Passages) < hotPassages {
			g.Passages = append(g.Passages, compare.Clip(p.Text, 240))
		}
	}
	return nil
}

package report

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

// Candidates describes the pairs of rows that share a feature. A question estimates their
// resemblance from the sketches.
type Candidates struct {
	Pairs int64 `json:"pairs"`
	// Read is the number of pairs whose sketches were read. If it is less than Pairs, they
	// are a sample, and Alike and Bands are estimates from it.
	Read  int64 `json:"read"`
	Alike int64 `json:"alike"` // at or above the limit, or marked as duplicates, and not as distinct
	Rows  int64 `json:"rows"`  // that are alike to another
	// Bands counts the pairs by their estimated resemblance, in twentieths.
	Bands [bands]int64 `json:"bands"`
	// Crowded counts the features that too many rows share. Not all of their pairs were
	// looked at.
	Crowded int `json:"crowded_features"`
}

// verdicts holds people's verdicts on pairs of rows, the lesser number first.
type verdicts map[[2]int]bool

func ordered(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// readVerdicts finds the rows that verdicts name.
func (m *maker) readVerdicts(ctx context.Context) error {
	type verdict struct {
		key, other string
		duplicate  bool
	}
	var list []verdict
	number := map[string]int{}
	err := m.src.Verdicts(ctx, m.a, func(key, other string, duplicate bool) {
		list = append(list, verdict{key, other, duplicate})
		number[key], number[other] = -1, -1
	})
	if err != nil {
		return err
	}
	m.verdicts = verdicts{}
	if err := m.number(number); err != nil {
		return err
	}
	for _, v := range list {
		if a, b := number[v.key], number[v.other]; a >= 0 && b >= 0 {
			m.verdicts[ordered(a, b)] = v.duplicate
		}
	}
	return nil
}

// number fills in the numbers of the rows with these keys.
func (m *maker) number(keys map[string]int) error {
	if len(keys) == 0 {
		return nil
	}
	return m.spool.each(func(i int, r *Row) error {
		if _, asked := keys[r.Key]; asked {
			keys[r.Key] = i
		}
		return nil
	})
}

// A pair of rows by their numbers.
type pair struct {
	a, b        int
	shared      int
	resemblance float64
	limit       float64 // the resemblance that the pair needs
}

// limit is the resemblance from which two rows are alike.
func (s *Section) limit(a, b *Row) float64 {
	if s.Short != nil && min(a.Shingles, b.Shingles) < s.Short.Below {
		return s.Short.AtLeast
	}
	return s.AtLeast
}

// findings holds the results of one pass over all candidates.
type findings struct {
	sampled [bands][]pair // of each band, as many as a measurement needs
	near    []pair        // unjudged ones, the nearest to the limit first
	alike   []bool        // the rows that are alike to another
	inside  []rangeHits   // by similarity index
}

// finder is filled with the features of every row.
func (m *maker) finder(o cluster.Options) (*cluster.Finder, error) {
	o.Memory = 64 << 20
	c, err := cluster.New(o)
	if err != nil {
		return nil, err
	}
	var features []int64
	err = m.spool.each(func(i int, r *Row) error {
		features = features[:0]
		for _, f := range r.Features {
			if f.OK {
				features = append(features, f.Value)
			}
		}
		return c.Add(uint64(i), features)
	})
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// sampling decides which pairs are read. Each pair has the same chance, and every run reads
// the same pairs.
type sampling struct{ limit, of int64 }

func (s sampling) takes(a, b int) bool {
	if s.of <= s.limit {
		return true
	}
	h := (uint64(a)<<32 | uint64(b)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return float64(h>>11)/(1<<53) < float64(s.limit)/float64(s.of)
}

// pairs counts every candidate once and reads as many as sampling takes.
func (m *maker) pairs(ctx context.Context) (*findings, error) {
	c, err := m.finder(cluster.Options{})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found := &findings{inside: make([]rangeHits, len(m.a.Variants))}
	random := rand.New(rand.NewPCG(1997, 2000))
	found.alike = make([]bool, m.spool.len())
	taken := sampling{m.readPairs, m.atMost}
	out := &m.out.Candidates
	var a, b Row
	last := -1
	report, err := c.Pairs(ctx, func(it cluster.Pair) error {
		p := pair{a: int(it.A), b: int(it.B)}
		if out.Pairs++; !taken.takes(p.a, p.b) {
			return nil
		}
		if p.a != last {
			if err := m.spool.get(p.a, &a); err != nil {
				return err
			}
			last = p.a
		}
		if err := m.spool.get(p.b, &b); err != nil {
			return err
		}
		var err error
		if p.resemblance, err = sketch.Resemblance(a.Sketch, b.Sketch); err != nil {
			return err
		}
		p.shared, p.limit = a.shared(&b), m.out.limit(&a, &b)
		if out.Read++; out.Read%10_000 == 0 {
			m.config.Progress("comparing the pairs of "+m.out.Name, out.Read, min(m.readPairs, m.atMost))
		}
		band := bandOf(p.resemblance)
		out.Bands[band]++
		found.sampled[band] = sampled(found.sampled[band], p, out.Bands[band], random)
		duplicate, judged := m.verdicts[ordered(p.a, p.b)]
		if !judged {
			found.addNear(p)
			duplicate = p.resemblance >= p.limit
			if duplicate {
				out.Alike++
			}
		}
		if duplicate {
			found.alike[p.a], found.alike[p.b] = true, true
			for i, v := range m.a.Variants {
				found.inside[i].add(v, p.limit, a.Indexes[i], b.Indexes[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.scale()
	for pair, duplicate := range m.verdicts {
		if duplicate {
			out.Alike++
			found.alike[pair[0]], found.alike[pair[1]] = true, true
		}
	}
	out.Crowded = report.HotCount
	return found, nil
}

// scale estimates the numbers of all pairs from those that were read.
func (c *Candidates) scale() {
	if c.Read == c.Pairs || c.Read == 0 {
		return
	}
	times := float64(c.Pairs) / float64(c.Read)
	c.Alike = int64(math.Round(float64(c.Alike) * times))
	for i, n := range c.Bands {
		c.Bands[i] = int64(math.Round(float64(n) * times))
	}
}

// sampled keeps a sample of bandPairs in which each of the n pairs so far, p the last
// of them, has the same chance.
func sampled(sample []pair, p pair, n int64, random *rand.Rand) []pair {
	if len(sample) < bandPairs {
		return append(sample, p)
	}
	if at := random.Int64N(n); at < bandPairs {
		sample[at] = p
	}
	return sample
}

func bandOf(resemblance float64) int { return min(int(resemblance*bands), bands-1) }

// addNear keeps the pairs nearest to the limit. It keeps more than the page shows,
// since the page shows one pair of a row.
func (f *findings) addNear(p pair) {
	distance := func(p pair) float64 { return math.Abs(p.resemblance - p.limit) }
	if len(f.near) == 50*listedPairs && distance(p) >= distance(f.near[len(f.near)-1]) {
		return
	}
	at, _ := slices.BinarySearchFunc(f.near, p, func(x, y pair) int {
		return cmp.Or(cmp.Compare(distance(x), distance(y)), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	f.near = slices.Insert(f.near, at, p)
	f.near = f.near[:min(len(f.near), 50*listedPairs)]
}

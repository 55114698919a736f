package sqlext

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

func (c *conn) variant(v *sqlite.Value) (simindex.Variant, error) {
	if v.Kind != sqlite.Text {
		return simindex.Variant{}, fmt.Errorf("the variant is %s, want text", v.Describe())
	}
	if known, ok := c.variants[string(v.Bytes())]; ok {
		return known, nil
	}
	made, err := simindex.Parse(v.Text())
	if err != nil {
		return simindex.Variant{}, err
	}
	if len(c.variants) >= keptProfiles {
		clear(c.variants)
	}
	c.variants[v.Text()] = made
	return made, nil
}

func similarityIndex(c *conn, f *sqlite.Call) error {
	a := f.Args()
	v, err := c.variant(&a[1])
	if err != nil {
		return err
	}
	s, err := c.sketcher(nil)
	if err != nil {
		return err
	}
	if err := v.Check(s.Profile()); err != nil {
		return err
	}
	// What is taken from the sketch has it made once, here.
	if v.Kind() != simindex.Roth {
		if err := c.take(s, a[0].Bytes()); err != nil {
			return err
		}
	}
	if si, ok := v.IndexOf(s.Sketcher, a[0].Bytes()); ok {
		f.SetInt(si)
	}
	return nil
}

// rangeOf reads a similarity index and the fraction around it.
func rangeOf(a []sqlite.Value) (si int64, fraction float64, err error) {
	if a[0].Kind != sqlite.Integer {
		return 0, 0, fmt.Errorf("the similarity index is %s, want an integer", a[0].Describe())
	}
	fraction, err = fractionOf(argument(a, 1))
	return a[0].Int(), fraction, err
}

// fractionOf reads the fraction of an index that its range extends to either side.
func fractionOf(v *sqlite.Value) (float64, error) {
	if v == nil {
		return simindex.Fraction, nil
	}
	fraction, ok := v.Number()
	if !ok || !(fraction >= 0) {
		return 0, fmt.Errorf("the fraction is %s, want a number of at least 0", v.Describe())
	}
	return fraction, nil
}

func siLow(_ *conn, f *sqlite.Call) error {
	si, fraction, err := rangeOf(f.Args())
	f.SetInt(simindex.Low(si, fraction))
	return err
}

func siHigh(_ *conn, f *sqlite.Call) error {
	si, fraction, err := rangeOf(f.Args())
	f.SetInt(simindex.High(si, fraction))
	return err
}

// siRows is alike_si_rows.
func siRows(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	if args[2].Null() {
		return nil, nil
	}
	variant, err := c.variant(&args[1])
	if err != nil {
		return nil, err
	}
	i := slices.Index(a.variants, variant)
	if i < 0 {
		return nil, fmt.Errorf("%s has no similarity index %s; it has %s", a.Name, args[1].Text(), listed(a.SI))
	}
	column := a.Indexes()[i]
	key, err := a.Keys.arguments(&args[2])
	if err != nil {
		return nil, err
	}
	var mine, row int64
	found, indexed := false, false
	if err := c.Run(a.fragments(fragments{Item: column}).sql("index_of_row"), func(r []sqlite.Value) error {
		found, indexed, row, mine = true, !r[1].Null(), r[0].Int(), r[1].Int()
		return nil
	}, key...); err != nil {
		return nil, err
	}
	if !found {
		return nil, c.missing(a, key)
	}
	if !indexed {
		return nil, nil
	}
	var low, high int64
	forest := variant.Kind() == simindex.Forest
	if forest {
		if !args[3].Null() {
			return nil, fmt.Errorf("the index %s takes no fraction", a.SI[i])
		}
		// The rows that agree in the first byte, those that agree in more first.
		low, high = forestRange(mine, 1)
	} else {
		fraction, err := fractionOf(argument(args, 3))
		if err != nil {
			return nil, err
		}
		low, high = simindex.Low(mine, fraction), simindex.High(mine, fraction)
		if low > math.MinInt64 && low < math.MaxInt64 {
			low++
		}
		if high > math.MinInt64 && high < math.MaxInt64 {
			high--
		}
	}
	s, err := c.ask(a, "similar", column)
	if err != nil {
		return nil, err
	}
	defer s.Done()
	type similar struct {
		key any
		si  int64
	}
	var list []similar
	if err := s.Each(func(r []sqlite.Value) error {
		key, err := keyValue(sqlite.Copies(r[:len(a.Keys)]))
		list = append(list, similar{key, r[len(a.Keys)].Int()})
		return err
	}, low, high, row); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(x, y similar) int {
		if forest {
			return cmp.Compare(uint64(x.si^mine), uint64(y.si^mine))
		}
		return cmp.Compare(distance(x.si, mine), distance(y.si, mine))
	})
	if want.Limit >= 0 && int64(len(list)) > want.Limit {
		list = list[:want.Limit]
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		b.SetAny(&cells[0], list[i].key)
		cells[1].SetInt(list[i].si)
	}), nil
}

// forestRange is the range of the indexes whose first bytes are those of si.
func forestRange(si int64, depth int) (low, high int64) {
	rest := int64(uint64(math.MaxUint64) >> (8 * depth))
	return si &^ rest, si | rest
}

// forestRows is alike_forest_rows.
func forestRows(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	depth := forestDepth
	if v := argument(args, 2); v != nil {
		if depth, err = v.Whole("the depth"); err != nil {
			return nil, err
		}
	}
	if depth < 1 || depth > 8 {
		return nil, fmt.Errorf("the depth is %d, want 1 to 8", depth)
	}
	if args[1].Null() {
		return nil, nil
	}
	key, err := a.Keys.arguments(&args[1])
	if err != nil {
		return nil, err
	}
	o, err := c.subject(a, key)
	if o == nil || err != nil {
		return nil, err
	}
	depths, err := c.sharedBytes(a, o, key, depth)
	if err != nil {
		return nil, err
	}
	type near struct {
		row         int64
		key         any
		depth       int
		resemblance float64
	}
	var list []near
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.Done()
	for row, depth := range depths {
		if err := c.Interrupted(); err != nil {
			return nil, err
		}
		fetch.Reset()
		if err := fetch.Each(func(r []sqlite.Value) error {
			resemblance, err := sketch.Resemblance(o.sketch, r[len(a.Keys)].Bytes())
			if errors.Is(err, sketch.ErrTokens) { // a row that waits to be sketched again
				return nil
			} else if err != nil {
				return err
			}
			key, err := keyValue(sqlite.Copies(r[:len(a.Keys)]))
			list = append(list, near{row, key, depth, resemblance})
			return err
		}, row); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(x, y near) int {
		return cmp.Or(cmp.Compare(y.depth, x.depth), cmp.Compare(y.resemblance, x.resemblance), cmp.Compare(x.row, y.row))
	})
	if want.Limit >= 0 && int64(len(list)) > want.Limit {
		list = list[:want.Limit]
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		b.SetAny(&cells[0], list[i].key)
		cells[1].SetInt(int64(list[i].depth))
		cells[2].SetFloat(list[i].resemblance)
	}), nil
}

// sharedBytes returns the rows that share the first depth bytes of an index forest/… with
// a row, each with the greatest number of first bytes that it shares.
func (c *conn) sharedBytes(a *attachment, o *subject, key []any, depth int) (map[int64]int, error) {
	depths, forests := map[int64]int{}, 0
	for i, v := range a.variants {
		if v.Kind() != simindex.Forest {
			continue
		}
		forests++
		var mine int64
		column := a.Indexes()[i]
		if err := c.Run(a.fragments(fragments{Item: column}).sql("index_of_row"), func(r []sqlite.Value) error {
			mine = r[1].Int()
			return nil
		}, key...); err != nil {
			return nil, err
		}
		low, high := forestRange(mine, depth)
		s, err := c.ask(a, "same_bytes", column)
		if err != nil {
			return nil, err
		}
		err = s.Each(func(r []sqlite.Value) error {
			row := r[0].Int()
			depths[row] = max(depths[row], bits.LeadingZeros64(uint64(r[1].Int()^mine))/8)
			return nil
		}, low, high, o.row)
		s.Done()
		if err != nil {
			return nil, err
		}
	}
	if forests == 0 {
		return nil, fmt.Errorf("%s has no similarity index forest/0; it has %s", a.Name, listed(a.SI))
	}
	return depths, nil
}

// forestDepth is how many bytes of an index rows must share unless asked
// otherwise: four indexes then find 99 of 100 pairs of resemblance 0.8 and return a
// hundredth of a table.
const forestDepth = 2

func distance(x, y int64) uint64 {
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

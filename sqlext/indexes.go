package sqlext

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	f.SetFloat(simindex.Low(si, fraction))
	return err
}

func siHigh(_ *conn, f *sqlite.Call) error {
	si, fraction, err := rangeOf(f.Args())
	f.SetFloat(simindex.High(si, fraction))
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
	var low, high any
	forest := variant.Kind() == simindex.Forest
	if forest {
		if !args[3].Null() {
			return nil, fmt.Errorf("the index %s takes no fraction", a.SI[i])
		}
		// The rows that agree in the first byte, those that agree in more first.
		first := mine &^ (1<<56 - 1)
		low, high = forestBounds(first)
	} else {
		fraction, err := fractionOf(argument(args, 3))
		if err != nil {
			return nil, err
		}
		low, high = simindex.Low(mine, fraction), simindex.High(mine, fraction)
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

// forestBounds are the open bounds of the range of a first byte.
func forestBounds(first int64) (low, high any) {
	low, high = first-1, first+1<<56
	if first == math.MinInt64 {
		low = math.Inf(-1)
	}
	if first > math.MaxInt64-1<<56 {
		high = math.Inf(1)
	}
	return low, high
}

func distance(x, y int64) uint64 {
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

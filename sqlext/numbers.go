package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

func (c *conn) variant(v *value) (simindex.Variant, error) {
	if v.kind != typeText {
		return simindex.Variant{}, fmt.Errorf("the variant is %s, want text", v.describe())
	}
	if known, ok := c.variants[string(v.bytes())]; ok {
		return known, nil
	}
	made, err := simindex.Parse(v.text())
	if err != nil {
		return simindex.Variant{}, err
	}
	if len(c.variants) >= keptProfiles {
		clear(c.variants)
	}
	c.variants[v.text()] = made
	return made, nil
}

func similarityIndex(c *conn, f *frame) error {
	a := f.args()
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
		if err := c.take(s, a[0].bytes()); err != nil {
			return err
		}
	}
	if si, ok := v.IndexOf(s.Sketcher, a[0].bytes()); ok {
		f.setInt(si)
	}
	return nil
}

// rangeOf reads a similarity index and the fraction around it.
func rangeOf(a []value) (si int64, fraction float64, err error) {
	if a[0].kind != typeInteger {
		return 0, 0, fmt.Errorf("the similarity index is %s, want an integer", a[0].describe())
	}
	fraction = simindex.Fraction
	if v := argument(a, 1); v != nil {
		var ok bool
		if fraction, ok = v.number(); !ok || !(fraction >= 0) {
			return 0, 0, fmt.Errorf("the fraction is %s, want a number that is not negative", v.describe())
		}
	}
	return a[0].i, fraction, nil
}

func siLow(_ *conn, f *frame) error {
	si, fraction, err := rangeOf(f.args())
	f.setFloat(simindex.Low(si, fraction))
	return err
}

func siHigh(_ *conn, f *frame) error {
	si, fraction, err := rangeOf(f.args())
	f.setFloat(simindex.High(si, fraction))
	return err
}

// groups reads k, s and r.
func groups(a []value) (k, s, r int, err error) {
	for i, n := range []*int{&k, &s, &r} {
		if *n, err = a[i].whole([]string{"k", "s", "r"}[i]); err != nil {
			return
		}
	}
	return k, s, r, sketch.CheckFilter(k, s, r)
}

func filter(_ *conn, f *frame) error {
	a := f.args()
	k, s, r, err := groups(a)
	if err != nil {
		return err
	}
	rho, err := a[3].fraction("the resemblance")
	f.setFloat(sketch.FilterProbability(k, s, r, rho))
	return err
}

func filterCurve(_ *conn, a []value, _ wanted) (source, error) {
	k, s, r, err := groups(a)
	if err != nil {
		return nil, err
	}
	points := sketch.FilterCurve(k, s, r, 101)
	return rowsOf(len(points), func(b *batch, cells []value, i int) {
		cells[0].setFloat(points[i].Resemblance)
		cells[1].setFloat(points[i].Probability)
	}), nil
}

func filterPlan(_ *conn, a []value, _ wanted) (source, error) {
	var wanted [4]float64
	for i, name := range []string{"the resemblance", "the miss", "accept_below", "the accept_rate"} {
		var err error
		if wanted[i], err = a[i].fraction(name); err != nil {
			return nil, err
		}
	}
	choices, err := sketch.FilterPlan(wanted[0], wanted[1], wanted[2], wanted[3])
	return rowsOf(len(choices), func(b *batch, cells []value, i int) {
		choice := &choices[i]
		for j, n := range []int{choice.K, choice.S, choice.R, choice.Bytes} {
			cells[j].setInt(int64(n))
		}
		cells[4].setFloat(choice.Miss)
		cells[5].setFloat(choice.Accept)
	}), err
}

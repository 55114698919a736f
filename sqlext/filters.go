package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/rabin"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// groups reads k, s and r.
func groups(a []sqlite.Value) (k, s, r int, err error) {
	for i, n := range []*int{&k, &s, &r} {
		if *n, err = a[i].Whole([]string{"k", "s", "r"}[i]); err != nil {
			return
		}
	}
	return k, s, r, sketch.CheckFilter(k, s, r)
}

func filter(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	k, s, r, err := groups(a)
	if err != nil {
		return err
	}
	rho, err := a[3].Fraction("the resemblance")
	f.SetFloat(sketch.FilterProbability(k, s, r, rho))
	return err
}

func filterCurve(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	k, s, r, err := groups(a)
	if err != nil {
		return nil, err
	}
	points := sketch.FilterCurve(k, s, r, 101)
	return sqlite.Rows(len(points), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetFloat(points[i].Resemblance)
		cells[1].SetFloat(points[i].Probability)
	}), nil
}

func filterPlan(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	var wanted [4]float64
	for i, name := range []string{"the resemblance", "the miss", "accept_below", "the accept_rate"} {
		var err error
		if wanted[i], err = a[i].Fraction(name); err != nil {
			return nil, err
		}
	}
	choices, err := sketch.FilterPlan(wanted[0], wanted[1], wanted[2], wanted[3])
	return sqlite.Rows(len(choices), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		choice := &choices[i]
		for j, n := range []int{choice.K, choice.S, choice.R, choice.Bytes} {
			cells[j].SetInt(int64(n))
		}
		cells[4].SetFloat(choice.Miss)
		cells[5].SetFloat(choice.Accept)
	}), err
}

func halfPoint(_ *conn, f *sqlite.Call) error {
	k, s, r, err := groups(f.Args())
	if err != nil {
		return err
	}
	f.SetFloat(sketch.HalfPoint(k, s, r))
	return nil
}

func steepestGroup(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	resemblance, ok := a[0].Number()
	if !ok || !(resemblance > 0 && resemblance < 1) {
		return fmt.Errorf("the resemblance is %s, want a number between 0 and 1", a[0].Describe())
	}
	f.SetFloat(sketch.SteepestGroup(resemblance))
	return nil
}

func steepestResemblance(_ *conn, f *sqlite.Call) error {
	s, err := f.Args()[0].Whole("s")
	if err == nil && s < 1 {
		err = fmt.Errorf("s is %d, want at least 1", s)
	}
	f.SetFloat(sketch.SteepestResemblance(float64(s)))
	return err
}

// withinEpsilon is alike_within.
func withinEpsilon(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	samples, err := a[0].Whole("the number of samples")
	if err != nil {
		return err
	}
	if samples < 1 || samples > 1_000_000 {
		return fmt.Errorf("%d samples, want 1 to 1000000", samples)
	}
	resemblance, err := a[1].Fraction("the resemblance")
	if err != nil {
		return err
	}
	epsilon, err := a[2].Fraction("epsilon")
	f.SetFloat(sketch.Within(samples, resemblance, epsilon))
	return err
}

// bitsOf reads the length of fingerprints.
func bitsOf(v *sqlite.Value) (int, error) {
	bits, err := v.Whole("the number of bits")
	if err == nil && (bits < 1 || bits > 64) {
		err = fmt.Errorf("fingerprints of %d bits, want 1 to 64", bits)
	}
	return bits, err
}

func countOf(v *sqlite.Value) (float64, error) {
	count, ok := v.Number()
	if !ok || !(count >= 0 && count <= 1e100) {
		return 0, fmt.Errorf("the number of shingles is %s, want 0 to 1e+100", v.Describe())
	}
	return count, nil
}

func collisionBound(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	bits, err := bitsOf(&a[2])
	if err != nil {
		return err
	}
	var lengths [2]int
	for i := range lengths {
		if lengths[i], err = a[i].Whole("the length"); err != nil {
			return err
		}
	}
	if lowest := min(lengths[0], lengths[1]); lowest < 0 {
		return fmt.Errorf("a string of %d bits, want at least 0", lowest)
	}
	f.SetFloat(rabin.CollisionBound(lengths[0], lengths[1], bits))
	return nil
}

// ofFingerprints is what a number of shingles and the bits of their fingerprints come to.
func ofFingerprints(formula func(shingles float64, bits int) float64) func(*conn, *sqlite.Call) error {
	return func(_ *conn, f *sqlite.Call) error {
		a := f.Args()
		bits, err := bitsOf(&a[1])
		if err != nil {
			return err
		}
		shingles, err := countOf(&a[0])
		f.SetFloat(formula(shingles, bits))
		return err
	}
}

func fingerprintBits(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	limit, ok := a[1].Number()
	if !ok || !(limit > 0 && limit <= 1) {
		return fmt.Errorf("the error is %s, want above 0 and at most 1", a[1].Describe())
	}
	shingles, err := countOf(&a[0])
	if err != nil {
		return err
	}
	bits := rabin.FingerprintBits(shingles, limit)
	if bits > 64 {
		return fmt.Errorf("64 bits are too few for %v shingles and an error of %v", shingles, limit)
	}
	f.SetInt(int64(bits))
	return nil
}

// cells is alike_cells.
func cells(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	var numbers []float64
	for i := range a {
		if a[i].Null() {
			break
		}
		d, ok := a[i].Number()
		if !ok {
			return nil, fmt.Errorf("%s is %s, want a number", []string{"x", "the radius", "the spacing", "y", "z"}[i], a[i].Describe())
		}
		numbers = append(numbers, d)
	}
	list, err := sketch.Cells(numbers[0], numbers[1], numbers[2], numbers[3:]...)
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) { b.SetText(&cells[0], list[i]) }), err
}

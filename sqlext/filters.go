package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
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

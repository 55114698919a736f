package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for _, c := range []struct {
		x, radius, spacing float64
		yz                 []float64
		want               string
	}{
		{0, 1, 1, nil, "-1 0 1"},
		{0.25, 1, 1, nil, "0 1"},
		{10, 2, 0.5, nil, "16 17 18 19 20 21 22 23 24"},
		{-1e15, 1.5, 1, nil, "-1000000000000001 -1000000000000000 -999999999999999"},
		{0, 1, 1, []float64{0}, "-1,0 0,-1 0,0 0,1 1,0"},
		{0.5, 1, 1, []float64{-0.5}, "0,-1 0,0 1,-1 1,0"},
		{0, 1, 1, []float64{5, -5}, "-1,5,-5 0,4,-5 0,5,-6 0,5,-5 0,5,-4 0,6,-5 1,5,-5"},
		{1e-200, 1, 1, []float64{-1e-300}, "-1,0 0,-1 0,0 0,1 1,0"},
		{3e-300, 1e-300, 1e-300, nil, "2 3 4"},
	} {
		got, err := Cells(c.x, c.radius, c.spacing, c.yz...)
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%v %v: %v, %v, want %v", c.x, c.yz, got, err, c.want)
		}
	}
	for _, c := range []struct {
		x, radius, spacing float64
		yz                 []float64
		want               string
	}{
		{math.NaN(), 1, 1, nil, "sketch: cells: x NaN, want a finite number"},
		{0, 1, 1, []float64{0, math.Inf(-1)}, "sketch: cells: z -Inf, want a finite number"},
		{0, math.Inf(1), 1, nil, "sketch: cells: radius +Inf, want a finite number"},
		{0, 1, math.NaN(), nil, "sketch: cells: spacing NaN, want a finite number"},
		{0, 1, 0, nil, "sketch: cells: spacing 0, want more than 0"},
		{0, 1, -1, nil, "sketch: cells: spacing -1, want more than 0"},
		{0, -1, 1, nil, "sketch: cells: radius -1, want at least the spacing, 1"},
		{0, 0.5, 1, nil, "sketch: cells: radius 0.5, want at least the spacing, 1"},
		{0, 1e6, 1, nil, "sketch: cells: radius 1e+06 with spacing 1 in 1 dimensions is more than 1048576 cells"},
		{0, 60, 1, []float64{0, 0}, "sketch: cells: radius 60 with spacing 1 in 3 dimensions is more than 1048576 cells"},
		{0, 1e300, 1e-300, nil, "sketch: cells: radius 1e+300 with spacing 1e-300 in 1 dimensions is more than 1048576 cells"},
		{0, 1, 1, []float64{1e17}, "sketch: cells: y 1e+17 is more than 4503599627370496 times the spacing, 1"},
		{1, 1, 1, []float64{1, 1, 1}, "sketch: cells: 4 coordinates, want at most 3"},
	} {
		if got, err := Cells(c.x, c.radius, c.spacing, c.yz...); errorText(err) != c.want || got != nil {
			t.Errorf("%v %v %v %v: %q, want %q", c.x, c.radius, c.spacing, c.yz, errorText(err), c.want)
		}
	}
}

// overlap is the resemblance of two intervals, discs or balls of radius 1 whose
// centres are d apart: the common part over the union.
func overlap(dimensions int, d float64) float64 {
	if d >= 2 {
		return 0
	}
	var common, whole float64
	switch dimensions {
	case 1:
		common, whole = 2-d, 2
	case 2:
		common, whole = 2*math.Acos(d/2)-d/2*math.Sqrt(4-d*d), math.Pi
	case 3:
		common, whole = math.Pi*(4+d)*(2-d)*(2-d)/12, 4*math.Pi/3
	}
	return common / (2*whole - common)
}

// The cells of two points resemble each other as their neighbourhoods do,
// wherever the points lie and in whatever direction.
func TestCellsGeometry(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	resemblance := func(a, b []string) float64 {
		in := map[string]bool{}
		for _, c := range a {
			in[c] = true
		}
		common := 0
		for _, c := range b {
			if in[c] {
				common++
			}
		}
		return float64(common) / float64(len(a)+len(b)-common)
	}
	for dimensions := 1; dimensions <= 3; dimensions++ {
		for _, spacings := range []float64{8, 20} { // in a radius
			// On a line the ends are off by a spacing; in the plane and in space
			// the errors along the surface are many and cancel.
			tolerance := 1.5 / spacings
			worst := 0.0
			for d := 0.0; d < 2.3; d += 0.13 {
				const radius = 0.37
				a, direction, length := make([]float64, dimensions), make([]float64, dimensions), 0.0
				for i := range a {
					a[i], direction[i] = random.Float64()*100-50, random.NormFloat64()
					length += direction[i] * direction[i]
				}
				b := slices.Clone(a)
				for i := range b {
					b[i] += direction[i] / math.Sqrt(length) * d * radius
				}
				x, err := Cells(a[0], radius, radius/spacings, a[1:]...)
				if err != nil {
					t.Fatal(err)
				}
				y, err := Cells(b[0], radius, radius/spacings, b[1:]...)
				if err != nil {
					t.Fatal(err)
				}
				got, want := resemblance(x, y), overlap(dimensions, d)
				worst = max(worst, math.Abs(got-want))
				if math.Abs(got-want) > tolerance || d >= 2 && got != 0 {
					t.Errorf("%d dimensions, distance %.2f: resemblance %.4f, want %.4f", dimensions, d, got, want)
				}
			}
			t.Logf("%d dimensions, radius of %v spacings: off by at most %.4f", dimensions, spacings, worst)
		}
	}
}

// Cells are elements like any other: measurements are sketched and compared.
func TestCellsSketched(t *testing.T) {
	sketch := func(x float64) []byte {
		cells, err := Cells(x, 5, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		s := mustSketcher(t, "elements classic t=512")
		for _, c := range cells {
			s.AddElement([]byte(c))
		}
		return s.AppendSketch(nil)
	}
	for _, d := range []float64{0, 0.5, 1, 3, 6, 20} {
		want := overlap(1, d/5)
		got, err := Resemblance(sketch(36.6), sketch(36.6+d))
		if err != nil || math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/512)+0.005 {
			t.Errorf("distance %v: resemblance %v, %v, want %v", d, got, err, want)
		}
	}
}

func ExampleCells() {
	cells, _ := Cells(20.3, 1, 0.5)
	fmt.Println(cells)
	// Output: [39 40 41 42]
}

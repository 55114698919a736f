package sketch

import (
	"fmt"
	"math"
	"strconv"
)

// maxCells bounds how many grid points Cells looks at.
const maxCells = 1 << 20

// maxCellIndex keeps the numbers of the grid points exact in a double.
const maxCellIndex = 1 << 52

// Cells returns the neighbourhood of an imprecise feature, Manasse's way to
// compare measurements: the points of a grid that lie within radius of a
// point. Near points have neighbourhoods with a large overlap, distant points
// with a small one; as sets of elements they are sketched and compared like
// any other. The point has one to three coordinates, the distance is
// Euclid's.
//
// The resemblance at distance d is that of two intervals, discs or balls of
// that radius, up to about spacing/radius: on a line (2·radius-d)/(2·radius+d),
// and 0 from twice the radius on. So the radius says how far apart two
// measurements may be and still have something in common, and the spacing how
// fine the scale is: a radius of 10 to 100 spacings does on a line, 5 to 20 in
// space, where the cells are many more.
//
// A cell is written as the grid point's numbers, "12", "12,-3" or "12,-3,4":
// multiples of the spacing. They mean the same point only under the same
// spacing, and of the same kind of measurement.
//
// The order is that of the numbers, the last the fastest. The arithmetic, for
// an implementation elsewhere that must give the same cells, is in units of
// the spacing:
//
//	u = x/spacing, and v, w of y and z; q = radius/spacing
//	i from ceil(u-q) to floor(u+q), and j, k alike
//	those with square(i-u) + square(j-v) + square(k-w) <= q*q,
//	added from left to right; square(d) is 0 where |d| < 1e-150, else d*d
func Cells(x, radius, spacing float64, yz ...float64) ([]string, error) {
	if len(yz) > 2 {
		return nil, fmt.Errorf("sketch: cells: %d coordinates, want at most 3", 1+len(yz))
	}
	finite := func(name string, v float64) error {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("sketch: cells: %s %v, want a finite number", name, v)
		}
		return nil
	}
	point := append([]float64{x}, yz...)
	for i, v := range point {
		if err := finite("xyz"[i:i+1], v); err != nil {
			return nil, err
		}
	}
	if err := finite("radius", radius); err != nil {
		return nil, err
	}
	if err := finite("spacing", spacing); err != nil {
		return nil, err
	}
	if spacing <= 0 {
		return nil, fmt.Errorf("sketch: cells: spacing %v, want more than 0", spacing)
	}
	// Every ball of this radius holds a grid point, in space too.
	if radius < spacing {
		return nil, fmt.Errorf("sketch: cells: radius %v, want at least the spacing, %v", radius, spacing)
	}
	q := radius / spacing
	looked := 1.0
	for range point {
		if looked *= float64(2*q) + 1; !(looked <= maxCells) {
			return nil, fmt.Errorf("sketch: cells: radius %v with spacing %v in %d dimensions is more than %d cells", radius, spacing, len(point), maxCells)
		}
	}
	// A coordinate that is not there is 0, with the range 0 to 0.
	var center, from, upto [3]float64
	for i, v := range point {
		u := v / spacing
		if !(math.Abs(u)+q <= maxCellIndex) {
			return nil, fmt.Errorf("sketch: cells: %s %v is more than %d times the spacing, %v", "xyz"[i:i+1], v, int64(maxCellIndex), spacing)
		}
		center[i], from[i], upto[i] = u, math.Ceil(u-q), math.Floor(u+q)
	}
	within := float64(q * q)
	var cells []string
	var cell []byte
	for i := from[0]; i <= upto[0]; i++ {
		first := square(i - center[0])
		for j := from[1]; j <= upto[1]; j++ {
			second := first + square(j-center[1])
			for k := from[2]; k <= upto[2]; k++ {
				if second+square(k-center[2]) > within {
					continue
				}
				numbers := [...]float64{i, j, k}
				cell = cell[:0]
				for _, n := range numbers[:len(point)] {
					cell = append(strconv.AppendInt(cell, int64(n), 10), ',')
				}
				cells = append(cells, string(cell[:len(cell)-1]))
			}
		}
	}
	return cells, nil
}

// square flushes what would underflow, which PostgreSQL makes an error.
func square(d float64) float64 {
	if math.Abs(d) < 1e-150 {
		return 0
	}
	return float64(d * d)
}

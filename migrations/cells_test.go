package migrations_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

func TestCellsAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	cells := func(arguments []any) ([]string, error) {
		places := "$1, $2, $3, $4, $5"[:4*len(arguments)-2]
		rows, err := c.Query(context.Background(), "select cell from alike.cells("+places+")", arguments...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	}
	inf, nan := math.Inf(1), math.NaN()
	cases := [][]float64{
		{0, 1, 1}, {20.3, 1, 0.1}, {0.3, 0.1, 0.1}, {-1e15, 1.5, 1}, {1e-200, 1, 1}, {1e-200, 1e200, 1e200}, {5e-324, 1e308, 1e308}, {1e308, 1e308, 1e308},
		{0.1, 0.5, 0.1, 0.2}, {1e-320, 3e-320, 1e-320}, {-3.7, 2.5, 0.5, 1e6}, {0, 5, 1, 0}, {0, 3, 1, 0, 0}, {2.2, 0.3, 0.1, -1.1, 0.7}, {0, 1, 1, 5, -5},
		{nan, 1, 1}, {0, 1, 1, 0, -inf}, {0, inf, 1}, {0, 1, nan}, {0, 1, 0}, {0, 1, -1}, {0, -1, 1}, {0, 0.5, 1}, {0, 1e6, 1}, {0, 60, 1, 0, 0},
		{0, 1e300, 1e-300}, {1e300, 1e-300, 1e-300}, {0, 1, 1, 1e17},
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		spacing := math.Exp(random.NormFloat64() * 20)
		arguments := []float64{spacing * random.NormFloat64() * 100, spacing * (1 + 5*random.Float64()), spacing}
		for range random.IntN(3) {
			arguments = append(arguments, spacing*random.NormFloat64())
		}
		cases = append(cases, arguments)
	}
	for _, numbers := range cases {
		var arguments []any
		for _, v := range numbers {
			arguments = append(arguments, v)
		}
		want, wantErr := sketch.Cells(numbers[0], numbers[1], numbers[2], numbers[3:]...)
		got, err := cells(arguments)
		if (err != nil) != (wantErr != nil) || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v in SQL; %v, %v in Go", numbers, got, err, want, wantErr)
		}
		if err != nil && !strings.Contains(err.Error(), "sketch: cells: ") {
			t.Errorf("%v: error %v", numbers, err)
		}
	}
	for _, null := range [][]any{{nil, 1., 1.}, {1., nil, 1.}, {1., 1., nil}} {
		if got, err := cells(null); err != nil || len(got) > 0 {
			t.Errorf("%v: %v, %v, want no rows", null, got, err)
		}
	}
	if got, err := cells([]any{0., 1., 1., nil, 3.}); err != nil || len(got) != 3 {
		t.Errorf("z without y: %v, %v, want it ignored", got, err)
	}
}

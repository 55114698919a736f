package sketch

import (
	"bufio"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exactFilter is P(k,s,r)(rho) in rationals, from the formula of Broder 2000.
func exactFilter(k, s, r int, rho float64) float64 {
	pow := func(x *big.Rat, n int) *big.Rat {
		p := big.NewRat(1, 1)
		for range n {
			p.Mul(p, x)
		}
		return p
	}
	p := pow(new(big.Rat).SetFloat64(rho), s)
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	sum := new(big.Rat)
	for i := r; i <= k; i++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(i)))
		sum.Add(sum, term.Mul(term, pow(p, i)).Mul(term, pow(q, k-i)))
	}
	f, _ := sum.Float64()
	return f
}

func TestFilterProbabilityExact(t *testing.T) {
	for _, f := range [][3]int{{6, 14, 2}, {12, 7, 2}, {6, 5, 4}, {1, 1, 1}, {10, 3, 10}, {20, 4, 1}} {
		for _, rho := range []float64{0, 0.001, 0.1, 0.5, 0.77, 0.9, 0.975, 0.99, 1} {
			got, want := FilterProbability(f[0], f[1], f[2], rho), exactFilter(f[0], f[1], f[2], rho)
			if math.Abs(got-want) > 1e-13*want {
				t.Errorf("P%v(%v) = %v, want %v", f, rho, got, want)
			}
		}
	}
}

// The figures that Broder 2000 prints for P(6,14,2), as they are. The paper
// says that the miss at 0.975 is below 0.01; it is 0.0107.
func TestFilterPaper(t *testing.T) {
	p := func(rho float64) float64 { return FilterProbability(6, 14, 2, rho) }
	for _, c := range []struct {
		name           string
		got, want, eps float64
	}{
		{"miss at 0.975", 1 - p(0.975), 0.0107, 0.00005},
		{"miss at 0.99", 1 - p(0.99), 0.000208, 0.0000005},
		{"false at 0.77", p(0.77), 0.0093, 0.00005},
		{"false at 0.5", p(0.5), 0.56e-7, 0.005e-7},
		{"half point", HalfPoint(6, 14, 2), 0.9094, 0.00005},
		{"equation 3 for s = 14", SteepestResemblance(14), 0.931, 0.0005},
		{"equation 3 for 0.931", SteepestGroup(0.931), 14, 0.02},
		{"equation 3 and its inverse", SteepestGroup(SteepestResemblance(7)), 7, 1e-12},
	} {
		t.Logf("%-28s %.6g", c.name, c.got)
		if math.Abs(c.got-c.want) > c.eps {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestFilterProbabilityEdges(t *testing.T) {
	for _, c := range []struct {
		k, s, r   int
		rho, want float64
	}{
		{6, 14, 2, 0, 0}, {6, 14, 2, 1, 1}, {6, 14, 2, -0.1, 0}, {6, 14, 2, 1.5, 1}, {6, 14, 2, math.Inf(1), 1},
		{6, 14, 2, 1e-300, 0}, {255, 255, 255, 0.9999, exactPower(0.9999, 255*255)},
		{0, 1, 1, 1, 0}, {1, 0, 1, 1, 0}, {1, 1, 0, 1, 0}, {2, 1, 3, 1, 0}, {256, 1, 1, 1, 0}, {1, 256, 1, 1, 0},
	} {
		if got := FilterProbability(c.k, c.s, c.r, c.rho); math.Abs(got-c.want) > 1e-11*c.want {
			t.Errorf("P(%d,%d,%d)(%v) = %v, want %v", c.k, c.s, c.r, c.rho, got, c.want)
		}
	}
	if got := FilterProbability(6, 14, 2, math.NaN()); !math.IsNaN(got) {
		t.Errorf("NaN gives %v", got)
	}
}

func exactPower(x float64, n int) float64 {
	p := big.NewFloat(1).SetPrec(300)
	for range n {
		p.Mul(p, big.NewFloat(x))
	}
	f, _ := p.Float64()
	return f
}

// The curve never falls, and the probability is never above 1.
func TestFilterCurve(t *testing.T) {
	for _, f := range [][3]int{{6, 14, 2}, {12, 7, 2}, {255, 3, 128}, {1, 255, 1}} {
		curve := FilterCurve(f[0], f[1], f[2], 101)
		if len(curve) != 101 || curve[0] != (FilterPoint{0, 0}) || curve[100] != (FilterPoint{1, 1}) || curve[50].Resemblance != 0.5 {
			t.Fatalf("P%v: %d points from %v to %v", f, len(curve), curve[0], curve[len(curve)-1])
		}
		for i := 1; i < len(curve); i++ {
			if curve[i].Probability < curve[i-1].Probability-1e-15 || curve[i].Probability > 1 {
				t.Errorf("P%v falls from %v to %v", f, curve[i-1], curve[i])
			}
		}
	}
	if FilterCurve(6, 14, 2, 1) != nil {
		t.Error("a curve of one point")
	}
}

func TestHalfPoint(t *testing.T) {
	for _, f := range [][3]int{{6, 14, 2}, {12, 7, 2}, {6, 5, 4}, {1, 1, 1}, {64, 2, 60}} {
		if p := FilterProbability(f[0], f[1], f[2], HalfPoint(f[0], f[1], f[2])); math.Abs(p-0.5) > 1e-12 {
			t.Errorf("P%v at its half point is %v", f, p)
		}
	}
	if h := HalfPoint(1, 1, 1); math.Abs(h-0.5) > 1e-15 {
		t.Errorf("half point of one minimum: %v", h)
	}
}

func TestCheckFilter(t *testing.T) {
	for _, c := range []struct {
		k, s, r int
		want    string
	}{
		{6, 14, 2, ""}, {255, 255, 255, ""},
		{0, 14, 2, "sketch: filter: 0 groups, want 1 to 255"},
		{6, 256, 2, "sketch: filter: groups of 256 minima, want 1 to 255"},
		{6, 14, 7, "sketch: filter: 7 shared features, want 1 to 6, the number of groups"},
	} {
		err := CheckFilter(c.k, c.s, c.r)
		if got := errorText(err); got != c.want {
			t.Errorf("CheckFilter(%d,%d,%d) = %q, want %q", c.k, c.s, c.r, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Every proposal meets the rates, one feature less does not, none that meets
// them is missing, and the order is the price's.
func TestFilterPlan(t *testing.T) {
	for _, c := range [][4]float64{{0.9, 0.005, 0.5, 0.1}, {0.975, 0.0108, 0.77, 0.0094}, {0.95, 0.05, 0.5, 1e-6}, {1, 0.5, 0, 0.5}} {
		plan, err := FilterPlan(c[0], c[1], c[2], c[3])
		if err != nil || len(plan) == 0 {
			t.Fatalf("%v: %d rows, %v", c, len(plan), err)
		}
		if !slices.IsSortedFunc(plan, func(a, b FilterChoice) int { return a.Bytes - b.Bytes }) {
			t.Errorf("%v: not the cheapest first", c)
		}
		found := map[[2]int]int{}
		for _, f := range plan {
			miss, accept := 1-FilterProbability(f.K, f.S, f.R, c[0]), FilterProbability(f.K, f.S, f.R, c[2])
			if f.Miss != miss || f.Accept != accept || miss > c[1] || accept > c[3] {
				t.Errorf("%v: %+v, but miss %v and accept %v", c, f, miss, accept)
			}
			if f.Permutations != f.K*f.S || f.Bytes != 22+8*f.K+f.Permutations {
				t.Errorf("%v: price of %+v", c, f)
			}
			found[[2]int{f.S, f.R}] = f.K
		}
		for s := 1; s <= 20; s++ {
			for r := 1; r <= 3; r++ {
				want := 0
				for k := r; k <= planGroups && want == 0; k++ {
					if 1-FilterProbability(k, s, r, c[0]) <= c[1] {
						want = k
					}
				}
				if want > 0 && FilterProbability(want, s, r, c[2]) > c[3] {
					want = 0
				}
				if found[[2]int{s, r}] != want {
					t.Errorf("%v: s=%d r=%d: k=%d, want %d", c, s, r, found[[2]int{s, r}], want)
				}
			}
		}
	}
	for _, c := range []struct {
		args [4]float64
		want string
	}{
		{[4]float64{1.2, 0.1, 0.5, 0.1}, "sketch: plan: resemblance 1.2, want above 0 and at most 1"},
		{[4]float64{0.5, 0.1, 0.5, 0.1}, "sketch: plan: accept below 0.5, want at least 0 and less than the resemblance, 0.5"},
		{[4]float64{0.9, 0, 0.5, 0.1}, "sketch: plan: miss rate 0, want between 0 and 1"},
		{[4]float64{0.9, 0.1, 0.5, math.NaN()}, "sketch: plan: acceptance rate NaN, want between 0 and 1"},
	} {
		if _, err := FilterPlan(c.args[0], c.args[1], c.args[2], c.args[3]); errorText(err) != c.want {
			t.Errorf("%v: %q, want %q", c.args, errorText(err), c.want)
		}
	}
}

// arithmetic.tsv is written by arithmetic.py beside it.
func TestArithmeticGolden(t *testing.T) {
	file, err := os.Open("testdata/golden/arithmetic.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := 0
	for lines := bufio.NewScanner(file); lines.Scan(); rows++ {
		column := strings.Split(lines.Text(), "\t")
		f := make([]float64, len(column))
		for i := 1; i < len(column); i++ {
			if f[i], err = strconv.ParseFloat(column[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		switch column[0] {
		case "filter":
			if got := FilterProbability(int(f[1]), int(f[2]), int(f[3]), f[4]); got != f[5] {
				t.Errorf("%s: got %v", lines.Text(), got)
			}
		case "half":
			if got := HalfPoint(int(f[1]), int(f[2]), int(f[3])); got != f[4] {
				t.Errorf("%s: got %v", lines.Text(), got)
			}
		case "interval":
			if low, high := binomialInterval(int(f[2]), int(f[1]), f[3]); low != f[4] || high != f[5] {
				t.Errorf("%s: got %v %v", lines.Text(), low, high)
			}
		default:
			t.Fatalf("unknown row %q", lines.Text())
		}
	}
	if rows < 300 {
		t.Errorf("%d rows, want at least 300", rows)
	}
}

func BenchmarkFilterPlan(b *testing.B) {
	for b.Loop() {
		if _, err := FilterPlan(0.9, 0.01, 0.5, 0.01); err != nil {
			b.Fatal(err)
		}
	}
}

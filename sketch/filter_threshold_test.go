package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// closedRecall is ThresholdRecall by the closed form 1-(1-rho^s)^k.
func closedRecall(k, s int, atLeast float64) float64 {
	sum := 0.0
	for i := range 11 {
		rho := math.Min(1, atLeast+float64(i)/100)
		sum += -math.Expm1(float64(k) * math.Log1p(-math.Pow(rho, float64(s))))
	}
	return sum / 11
}

func TestThresholdRecall(t *testing.T) {
	for _, c := range []struct {
		k, s    int
		atLeast float64
	}{{12, 7, 0.5}, {21, 4, 0.5}, {34, 4, 0.5}, {1, 1, 1}, {64, 16, 0.95}, {24, 3, 0.45}} {
		got, err := ThresholdRecall(c.k, c.s, c.atLeast)
		if want := closedRecall(c.k, c.s, c.atLeast); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%d groups of %d at %v: %v, %v, want %v", c.k, c.s, c.atLeast, got, err, want)
		}
	}
	for _, c := range []struct {
		k, s    int
		atLeast float64
	}{{0, 1, 0.5}, {1, 256, 0.5}, {1, 1, 0}, {1, 1, 1.01}, {1, 1, math.NaN()}} {
		if got, err := ThresholdRecall(c.k, c.s, c.atLeast); err == nil {
			t.Errorf("%d groups of %d at %v: %v, want an error", c.k, c.s, c.atLeast, got)
		}
	}
}

// What is chosen meets the recall, one group less does not, and no other filter
// within the limits that meets it costs less.
func TestThresholdFilter(t *testing.T) {
	for _, background := range []float64{Unrelated, Templated} {
		for _, recall := range []float64{0.5, 0.9, 0.95, 0.99} {
			for percent := 1; percent <= 100; percent += 3 {
				atLeast := float64(percent) / 100
				name := fmt.Sprintf("%v of %v over %v", recall, atLeast, background)
				got, err := ThresholdFilter(atLeast, recall, background)
				if err != nil {
					t.Fatal(name, err)
				}
				cost := func(k, s int) float64 {
					return 200*float64(k) - 1e6*math.Expm1(float64(k)*math.Log1p(-math.Pow(background, float64(s))))
				}
				lowest := math.Inf(1)
				for k := 1; k <= 40; k++ {
					for s := 1; s <= 16; s++ {
						if k*s <= 168 && closedRecall(k, s, atLeast) >= recall+1e-9 {
							lowest = math.Min(lowest, cost(k, s))
						}
					}
				}
				if math.IsInf(lowest, 1) {
					if got.K != 40 || got.S != 1 || got.Miss < 1-recall {
						t.Errorf("%s: %+v where no filter meets it", name, got)
					}
					continue
				}
				if reached := closedRecall(got.K, got.S, atLeast); reached < recall-1e-9 || math.Abs(1-reached-got.Miss) > 1e-9 {
					t.Errorf("%s: %+v finds %v", name, got, reached)
				}
				if got.K > 1 && closedRecall(got.K-1, got.S, atLeast) >= recall {
					t.Errorf("%s: %+v, a group less would do", name, got)
				}
				if c := cost(got.K, got.S); c > lowest*(1+1e-9) {
					t.Errorf("%s: %+v costs %v, another %v", name, got, c, lowest)
				}
				if got.R != 1 || got.Permutations != got.K*got.S || got.Bytes != 22+8*got.K+got.K*got.S {
					t.Errorf("%s: %+v", name, got)
				}
			}
		}
	}
	for _, c := range [][3]float64{
		{0, 0.95, 0.1}, {1.1, 0.95, 0.1}, {math.NaN(), 0.95, 0.1}, {0.5, 0, 0.1}, {0.5, 1, 0.1}, {0.5, math.NaN(), 0.1},
		{0.5, 0.95, 1}, {0.5, 0.95, -0.1}, {0.5, 0.95, math.NaN()},
	} {
		if got, err := ThresholdFilter(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %+v, want an error", c, got)
		}
	}
}

// Sketches of sets whose resemblance is known share a feature as often as
// ThresholdFilter says.
func TestThresholdFilterFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 2026))
	for _, atLeast := range []float64{0.45, 0.6, 0.8} {
		choice, err := ThresholdFilter(atLeast, 0.95, Unrelated)
		if err != nil {
			t.Fatal(err)
		}
		p := mustProfile(t, fmt.Sprintf("elements classic k=%d s=%d r=1", choice.K, choice.S))
		one, err := NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewSketcher(p)
		if err != nil {
			t.Fatal(err)
		}
		const pairs, union = 1100, 400
		found := 0
		for i := range pairs {
			rho := atLeast + float64(i%11)/100
			both := int(math.Round(rho * union))
			one.Reset()
			other.Reset()
			for e := range union {
				element := fmt.Appendf(nil, "%d %d", random.Uint64(), e)
				if e < both || e%2 == 0 {
					one.AddElement(element)
				}
				if e < both || e%2 == 1 {
					other.AddElement(element)
				}
			}
			a, b := one.AppendFeatures(nil), other.AppendFeatures(nil)
			for g := range a {
				if a[g] == b[g] {
					found++
					break
				}
			}
		}
		// Four standard errors of a share of 0.95.
		if got, want := float64(found)/pairs, 1-choice.Miss; math.Abs(got-want) > 4*math.Sqrt(0.95*0.05/pairs) {
			t.Errorf("at %v: %.3f of the pairs share a feature, want %.3f", atLeast, got, want)
		}
	}
}

package sketch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// families.tsv is written by families.py beside it.
func TestFamiliesGolden(t *testing.T) {
	file, err := os.Open("testdata/golden/families.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	hex := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for lines.Scan() {
		column := strings.Split(lines.Text(), "\t")
		rows[column[0]]++
		if column[0] == "logarithm" {
			x, err := strconv.ParseFloat(column[1], 64)
			if got := math.Float64bits(logarithm(x)); err != nil || got != hex(column[2]) {
				t.Errorf("logarithm of %v: %016x, want %s", x, got, column[2])
			}
			continue
		}
		if column[0] == "cells" {
			var arguments []float64
			for _, s := range strings.Fields(column[1]) {
				v, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatal(err)
				}
				arguments = append(arguments, v)
			}
			got, err := Cells(arguments[0], arguments[1], arguments[2], arguments[3:]...)
			if err != nil || strings.Join(got, " ") != column[2] {
				t.Errorf("cells of %s: %v, %v, want %s", column[1], got, err, column[2])
			}
			continue
		}
		p := mustProfile(t, column[0]+" k=1 s=1 r=1 t="+column[1])
		s := newSampler(p)
		for _, e := range strings.Fields(column[2]) {
			x, weight, heavy := strings.Cut(e, ":")
			if !heavy {
				s.add([]uint64{hex(x)})
				continue
			}
			f, err := strconv.ParseFloat(weight, 64)
			if err == nil {
				err = s.(*weighted).weigh(hex(x), f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range strings.Fields(column[3]) {
			if got := s.slots()[i]; got != hex(want) {
				t.Errorf("%s of %.60s: slot %d is %016x, want %s", column[0], column[2], i, got, want)
			}
		}
	}
	for _, name := range []string{"logarithm", "weighted", "lean", "lean-zeros", "lean-biased", "cells"} {
		if rows[name] < 4 {
			t.Errorf("%d rows of %s, want at least 4", rows[name], name)
		}
	}
}

func TestLogarithm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		x := math.Float64frombits(random.Uint64() &^ (1 << 63))
		if random.IntN(2) == 0 {
			x = random.Float64() + 0.5
		}
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			continue
		}
		// math.Log is off by one at some subnormal numbers on amd64.
		fraction, exponent := math.Frexp(x)
		want := math.Log(x)
		if exponent < -1021 {
			want = math.Log(fraction) + float64(exponent)*math.Ln2
		}
		if got := logarithm(x); math.Abs(got-want) > 6e-16*math.Abs(want) {
			t.Fatalf("logarithm of %v: %v, want %v", x, got, want)
		}
	}
}

type weighing struct {
	element string
	weight  float64
}

func weightedSketch(t *testing.T, settings string, elements []weighing) []byte {
	t.Helper()
	s := mustSketcher(t, "elements w=1 "+settings)
	for _, e := range elements {
		if err := s.AddWeighted([]byte(e.element), e.weight); err != nil {
			t.Fatal(err)
		}
	}
	return s.AppendSketch(nil)
}

func TestAddWeightedErrors(t *testing.T) {
	for _, c := range []struct {
		settings string
		weight   float64
		want     string
	}{
		{"classic", -1, "sketch: weight -1, want a finite number of at least 0"},
		{"weighted", math.NaN(), "sketch: weight NaN, want a finite number of at least 0"},
		{"weighted", math.Inf(1), "sketch: weight +Inf, want a finite number of at least 0"},
		{"fast", 2.5, "sketch: weight 2.5 under the family fast, want a whole number; the family weighted takes fractions"},
		{"scaled", 1000001, "sketch: weight 1.000001e+06 under the family scaled, want at most 1000000; the family weighted takes more"},
		{"weighted", 0, ""}, {"classic", 0, ""}, {"weighted", 5e-324, ""}, {"weighted", math.MaxFloat64, ""}, {"scaled", 1e6, ""},
	} {
		s := mustSketcher(t, "elements w=1 "+c.settings)
		if err := s.AddWeighted([]byte("x"), c.weight); errorText(err) != c.want {
			t.Errorf("%s, %v: %q, want %q", c.settings, c.weight, errorText(err), c.want)
		}
		if nothing := c.want != "" || c.weight == 0; s.Empty() != nothing {
			t.Errorf("%s, %v: empty is %v", c.settings, c.weight, s.Empty())
		}
	}
	s := mustSketcher(t, "elements w=1 weighted")
	_ = s.AddWeighted([]byte("x"), math.MaxFloat64)
	if err := s.AddWeighted([]byte("x"), math.MaxFloat64); err == nil || !strings.Contains(err.Error(), "add up to more than 1.797") {
		t.Errorf("weights beyond the largest double: %v", err)
	}
	if _, err := ParseProfile("words bag weighted"); err == nil || !strings.Contains(err.Error(), "counts occurrences by itself") {
		t.Errorf("a bag of weights: %v", err)
	}
}

// A weight is a number of occurrences: in a bag those of AddElement, in a set the
// first as AddElement has it, however they are spread over the calls.
func TestReplication(t *testing.T) {
	for _, settings := range []string{"classic", "fast", "bins", "lean", "bottom=100", "mod=2", "scaled", "classic bag", "mod=1 bag"} {
		plain := mustSketcher(t, "elements w=1 "+settings)
		plain.AddElement([]byte("a"))
		plain.AddElement([]byte("b"))
		single := plain.AppendSketch(nil)
		if got := weightedSketch(t, settings, []weighing{{"b", 1}, {"a", 1}}); !bytes.Equal(got, single) {
			t.Errorf("%s: weights of 1 differ from elements", settings)
		}
		whole := weightedSketch(t, settings, []weighing{{"a", 3000}, {"b", 2}})
		parts := weightedSketch(t, settings, []weighing{{"a", 1000}, {"b", 1}, {"a", 1999}, {"a", 0}, {"b", 1}, {"a", 1}})
		if !bytes.Equal(whole, parts) || bytes.Equal(whole, single) {
			t.Errorf("%s: a weight in parts differs", settings)
		}
		if plain.Profile().Bag {
			for range 2999 {
				plain.AddElement([]byte("a"))
			}
			plain.AddElement([]byte("b"))
			if !bytes.Equal(whole, plain.AppendSketch(nil)) || plain.Shingles() != 3002 {
				t.Errorf("%s: a weight differs from its occurrences", settings)
			}
		}
	}
	// By mod=1 the ratio is exact: (min(5,2) + min(1,4)) / (5 + 4).
	a := weightedSketch(t, "mod=1", []weighing{{"a", 5}, {"b", 1}})
	b := weightedSketch(t, "mod=1", []weighing{{"a", 2}, {"b", 4}})
	if r, err := Resemblance(a, b); err != nil || r != 3./9 {
		t.Errorf("replicated: %v, %v, want 3/9", r, err)
	}
}

// The order of the elements, and in how many parts their weights come, do not
// show; nor does what was in the sketcher before.
func TestWeightedIsAFunctionOfTheSet(t *testing.T) {
	want := weightedSketch(t, "weighted", []weighing{{"a", 2.5}, {"b", 1}, {"c", 0.25}})
	if got := weightedSketch(t, "weighted", []weighing{{"c", 0.125}, {"b", 0.5}, {"a", 1.5}, {"b", 0.5}, {"a", 1}, {"d", 0}, {"c", 0.125}}); !bytes.Equal(got, want) {
		t.Error("weights in parts differ")
	}
	s := mustSketcher(t, "elements w=1 weighted")
	_ = s.AddWeighted([]byte("a"), 1e9)
	s.AppendSketch(nil)
	s.Reset()
	for _, e := range []weighing{{"b", 1}, {"c", 0.25}, {"a", 2}} {
		_ = s.AddWeighted([]byte(e.element), e.weight)
	}
	s.AppendSketch(nil) // asked for too early
	_ = s.AddWeighted([]byte("a"), 0.5)
	if !bytes.Equal(s.AppendSketch(nil), want) {
		t.Error("a used sketcher gives another sketch")
	}
	// A document weighs its shingles by their occurrences.
	text := mustSketcher(t, "words w=1 weighted")
	text.Document([]byte("a rose is a rose is a rose"))
	elements := mustSketcher(t, "words w=1 weighted")
	for _, e := range []weighing{{"a", 3}, {"rose", 3}, {"is", 2}} {
		_ = elements.AddWeighted([]byte(e.element), e.weight)
	}
	if !bytes.Equal(text.AppendSketch(nil), elements.AppendSketch(nil)) {
		t.Error("a document differs from its shingles with their weights")
	}
}

// The slotwise smallest is the sketch of the greater weights.
func TestWeightedMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		var a, b, both []weighing
		for i := range 1 + random.IntN(40) {
			e := fmt.Sprint("e", i)
			u, v := math.Exp(random.NormFloat64()*3), math.Exp(random.NormFloat64()*3)
			switch random.IntN(3) {
			case 0:
				u = 0
			case 1:
				v = u
			}
			a, b, both = append(a, weighing{e, u}), append(b, weighing{e, v}), append(both, weighing{e, max(u, v)})
		}
		var m Merger
		for _, part := range [][]weighing{a, b} {
			if blob := weightedSketch(t, "weighted", part); len(blob) > 0 {
				if err := m.Add(blob); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := m.AppendSketch(nil)
		if want := weightedSketch(t, "weighted", both); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("merging %v and %v: another sketch than that of %v, %v", a, b, both, err)
		}
	}
}

// What sample skips would not have won.
func TestWeightedSkipsNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, scale := range []float64{0, 3, 300} {
		w := newWeighted(16)
		want := newSlotted(16)
		for range 300 {
			x := random.Uint64()
			weight := min(math.Exp(random.NormFloat64()*scale), math.MaxFloat64)
			if weight == 0 {
				weight = 5e-324
			}
			one := newWeighted(16)
			one.sample(x, weight)
			w.sample(x, weight)
			for i, v := range one.m {
				want.m[i] = min(want.m[i], v)
			}
		}
		for i := range want.m {
			if w.m[i] != want.m[i] {
				t.Errorf("scale %v: slot %d is %016x, want %016x", scale, i, w.m[i], want.m[i])
			}
		}
	}
}

func ExampleSketcher_AddWeighted() {
	p, err := ParseProfile("elements weighted t=512")
	if err != nil {
		fmt.Println(err)
		return
	}
	basket, err := NewSketcher(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	sketch := func(apples, pears float64) []byte {
		basket.Reset()
		if err := errors.Join(basket.AddWeighted([]byte("apples"), apples), basket.AddWeighted([]byte("pears"), pears)); err != nil {
			fmt.Println(err)
		}
		return basket.AppendSketch(nil)
	}
	// By weight they have 1.5 + 0.5 of 3 + 1 in common.
	r, err := Resemblance(sketch(1.5, 1), sketch(3, 0.5))
	fmt.Printf("%.1f %v\n", r, err)
	// Output: 0.5 <nil>
}

package sketch

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// The estimators against the truth, over sets drawn from fixed seeds. Run with
// -v for the tables. The long form (make stats) has more kinds of sets, more
// trials where they take long, and every family on the filter's curve; under
// -short there are just enough to run the code.
var longStatistics = flag.Bool("long", false, "the long form of the statistics")

// A source fills xs with the fingerprints of different shingles.
type source struct {
	name string
	fill func(random *rand.Rand, xs []uint64)
}

var sources = []source{
	// Consecutive numbers as text, one shingle each: fingerprints that differ in
	// few of the bits of their padded words.
	{"numbers", func(random *rand.Rand, xs []uint64) {
		first := random.IntN(1e9)
		var text []byte
		for i := range xs {
			text = strconv.AppendInt(text[:0], int64(first+i), 10)
			xs[i] = kernel.Shingles64.Shift.Times(kernel.TokenFingerprint(text))
		}
	}},
	// The shingles of four words of a text that counts.
	{"text", func(random *rand.Rand, xs []uint64) {
		first := random.IntN(1e9)
		window := kernel.NewWindow(4)
		var text []byte
		var words []uint64
		for i := range len(xs) + 3 {
			text = strconv.AppendInt(append(text[:0], "word"...), int64(first+i), 10)
			words = append(words, kernel.TokenFingerprint(text))
		}
		copy(xs, window.Append(nil, words, false))
	}},
	{"random", func(random *rand.Rand, xs []uint64) {
		for i := range xs {
			xs[i] = random.Uint64()
		}
	}},
}

// A setPair is two sets of about n shingles with the resemblance c/u nearest to rho.
type setPair struct {
	u, c   int // shingles in the union, in common
	onlyA  int
	truth  float64
	random *rand.Rand
	xs     []uint64 // those of A alone, those in common, those of B alone
}

func newSetPair(n int, rho float64) *setPair {
	p := &setPair{u: int(math.Round(2 * float64(n) / (1 + rho)))}
	p.c = int(math.Round(rho * float64(p.u)))
	p.onlyA = (p.u - p.c + 1) / 2
	p.truth = float64(p.c) / float64(p.u)
	p.random = rand.New(rand.NewPCG(uint64(n), math.Float64bits(rho)))
	p.xs = make([]uint64, p.u)
	return p
}

// draw takes new shingles. The three parts are ranges of them or, every other
// time, scattered.
func (p *setPair) draw(from source, scattered bool) (a, common, b []uint64) {
	from.fill(p.random, p.xs)
	if scattered {
		p.random.Shuffle(p.u, func(i, j int) { p.xs[i], p.xs[j] = p.xs[j], p.xs[i] })
	}
	return p.xs[:p.onlyA], p.xs[p.onlyA : p.onlyA+p.c], p.xs[p.onlyA+p.c:]
}

// An average is the mean of errors, and how far it is from 0 in standard errors.
type average struct {
	n                  int
	sum, squares       float64
	covered, intervals int
}

func (a *average) add(x float64) {
	a.n++
	a.sum += x
	a.squares += x * x
}

func (a *average) mean() float64 { return a.sum / float64(a.n) }
func (a *average) variance() float64 {
	return max(0, a.squares/float64(a.n)-a.mean()*a.mean())
}
func (a *average) standardError() float64 { return math.Sqrt(a.variance() / float64(a.n)) }

// unbiased reports whether the mean is within four standard errors of 0.
func (a *average) unbiased() bool {
	return math.Abs(a.mean()) <= 4*a.standardError()+1e-12
}

// cover counts intervals that hold the truth.
func (a *average) cover(low, truth, high float64) {
	a.intervals++
	if low <= truth+1e-12 && truth-1e-12 <= high {
		a.covered++
	}
}

const statisticsConfidence = 0.9

// covers reports whether the intervals held the truth as often as they say.
func (a *average) covers() bool {
	n := float64(a.intervals)
	return float64(a.covered)/n >= statisticsConfidence-4*math.Sqrt(statisticsConfidence*(1-statisticsConfidence)/n)
}

// setSketches makes the sketches of A and of B from those of the parts.
type setSketches struct {
	profile Profile
	sampler sampler
}

func (s *setSketches) of(t *testing.T, onlyA, common, onlyB []uint64) (a, b []byte) {
	t.Helper()
	shared := s.part(common)
	return s.union(t, s.part(onlyA), shared), s.union(t, shared, s.part(onlyB))
}

// part returns the sketch of the elements, or nil without elements.
func (s *setSketches) part(xs []uint64) []byte {
	if len(xs) == 0 {
		return nil
	}
	s.sampler.Reset()
	s.sampler.add(xs)
	return s.sampler.appendSample(nil, s.profile)
}

func (s *setSketches) union(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	var m Merger
	for _, part := range parts {
		if part == nil {
			continue
		}
		if err := m.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	b, err := m.AppendSketch(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var statisticsFamilies = []string{
	"classic", "fast", "lean", "lean-zeros", "lean-biased", "weighted", "bins", "bins t=128",
	"bottom=100", "bottom=100 mod=4", "mod=8", "scaled",
}

// statisticsRuns is how many trials a family gets: 2,000 in the long form, else 500
// and fewer for large sets.
func statisticsRuns(family string, n int) int {
	switch {
	case *longStatistics:
		return 2000
	case n >= 10000 && family == "weighted":
		return kerneltest.Trials(60)
	case n >= 10000 || n >= 1000 && family == "weighted":
		return kerneltest.Trials(120)
	case n >= 1000:
		return kerneltest.Trials(250)
	}
	return kerneltest.Trials(500)
}

// TestStatistics: the estimates of every family, of its samples cut to b bits,
// of containment and of size are unbiased, and the intervals of Bounds hold.
//
// An estimate from b bits is not let below 0 by Resemblance, which makes its
// mean too high near 0; what is unbiased is the estimate before that, and that
// is what is averaged. Pairs of which nothing was sampled have no estimate.
func TestStatistics(t *testing.T) {
	kinds := sources[:1]
	if *longStatistics {
		kinds = sources
	}
	var lines [][]string // by family
	for range statisticsFamilies {
		lines = append(lines, nil)
	}
	for _, kind := range kinds {
		for _, n := range []int{20, 100, 1000, 10000} {
			for _, rho := range []float64{0.1, 0.5, 0.77, 0.9, 0.97} {
				for i, line := range testEstimates(t, kind, n, rho) {
					lines[i] = append(lines[i], line...)
				}
			}
		}
	}
	t.Logf("%-8s %-26s %6s %9s %6s %10s %9s %6s %8s %8s", "set", "estimate", "n", "truth", "trials", "bias", "s.e.", "z", "variance", "covered")
	t.Logf("%-8s %-26s %6s %9s %6s %10s %9s %6s %8s %8s", "", "", "", "", "", "", "", "", "1=binom.", fmt.Sprintf("at %v", statisticsConfidence))
	for _, family := range lines {
		for _, line := range family {
			t.Log(line)
		}
	}
}

// A familyTrial is the estimates of one family on the same pairs as the others'.
type familyTrial struct {
	setSketches
	family   string
	runs     int
	names    []string // of the estimates
	averages []average
}

func newFamilyTrial(t *testing.T, family string, n int) *familyTrial {
	p := mustProfile(t, "elements "+family)
	f := &familyTrial{setSketches{p, newSampler(p)}, family, statisticsRuns(family, n), []string{family}, nil}
	if p.Slots() {
		f.names = append(f.names, family+" bits=8", family+" bits=4", family+" bits=2", family+" bits=1")
	} else {
		f.names = append(f.names, family+" size")
		if p.Family != Bottom {
			f.names = append(f.names, family+" containment")
		}
	}
	f.averages = make([]average, len(f.names))
	return f
}

// testEstimates returns the lines of the table, by family.
func testEstimates(t *testing.T, kind source, n int, rho float64) (lines [][]string) {
	pair := newSetPair(n, rho)
	var families []*familyTrial
	for _, family := range statisticsFamilies {
		families = append(families, newFamilyTrial(t, family, n))
	}
	for run, more := 0, true; more; run++ {
		onlyA, common, onlyB := pair.draw(kind, run%2 == 1)
		more = false
		for _, f := range families {
			if run < f.runs {
				f.try(t, pair, onlyA, common, onlyB)
			}
			more = more || run+1 < f.runs
		}
	}
	for _, f := range families {
		lines = append(lines, f.judge(t, kind, n, pair.truth))
	}
	return lines
}

// try adds the estimates of a pair.
func (f *familyTrial) try(t *testing.T, pair *setPair, onlyA, common, onlyB []uint64) {
	a, b := f.of(t, onlyA, common, onlyB)
	f.estimate(t, 0, a, b, pair.truth)
	if f.profile.Slots() {
		for i, bits := range []int{8, 4, 2, 1} {
			x, err := Cut(nil, a, bits)
			if err != nil {
				t.Fatal(err)
			}
			y, err := Cut(nil, b, bits)
			if err != nil {
				t.Fatal(err)
			}
			f.estimate(t, 1+i, x, y, pair.truth)
		}
		return
	}
	size, err := Size(a)
	if err != nil {
		t.Fatal(err)
	}
	inA := float64(pair.onlyA + pair.c)
	f.averages[1].add(size/inA - 1)
	if f.profile.Family != Bottom && len(a) > headerSize {
		contained, _, err := Containment(a, b)
		if err != nil {
			t.Fatal(err)
		}
		f.averages[2].add(contained - float64(pair.c)/inA)
	}
}

func (f *familyTrial) estimate(t *testing.T, i int, a, b []byte, truth float64) {
	tally, err := compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if tally.trials == 0 {
		return
	}
	f.averages[i].add(tally.resemblance(float64(tally.matches)/float64(tally.trials)) - truth)
	bounds, err := Bounds(a, b, statisticsConfidence)
	if err != nil {
		t.Fatal(err)
	}
	f.averages[i].cover(bounds.Low, truth, bounds.High)
}

// judge fails the test for what is biased, and returns the lines of the table.
func (f *familyTrial) judge(t *testing.T, kind source, n int, truth float64) (lines []string) {
	for i, name := range f.names {
		a := &f.averages[i]
		binomial := truth * (1 - truth) / float64(f.profile.T)
		variance, covered := "", ""
		if f.profile.Slots() && i == 0 && f.profile.Family != Bins {
			variance = fmt.Sprintf("%.3f", a.variance()/binomial)
		}
		if a.intervals > 0 {
			covered = fmt.Sprintf("%.3f", float64(a.covered)/float64(a.intervals))
		}
		line := fmt.Sprintf("%-8s %-26s %6d %9.5f %6d %+10.6f %9.6f %+6.2f %8s %8s",
			kind.name, name, n, truth, a.n, a.mean(), a.standardError(), a.mean()/max(a.standardError(), 1e-300), variance, covered)
		lines = append(lines, line)
		if testing.Short() { // too few trials tell nothing of their own variance
			continue
		}
		if !a.unbiased() {
			t.Errorf("biased: %s", line)
		}
		if a.intervals > 0 && !a.covers() {
			t.Errorf("intervals that hold too rarely: %s", line)
		}
		// Fast similarity sketching is sharper than classic while the set has few
		// more shingles than the sketch has slots.
		if f.family == "fast" && i == 0 && n <= 100 && a.variance() > 0.8*binomial {
			t.Errorf("no sharper than classic: %s", line)
		}
	}
	return lines
}

// TestStatisticsFilter: the share of pairs that have r of k features in common
// is the curve of Broder 2000, section 3.
//
// The slots of fast share the shingles out among them, which makes the filter
// of short documents sharper than the curve: fewer pairs below the half point
// and more above it. How much sharper is bounded, for the filter that the
// default profile asks: never more than 0.03 off the curve.
func TestStatisticsFilter(t *testing.T) {
	families, runs := []string{"classic", "fast", "lean"}, kerneltest.Trials(1500)
	if *longStatistics {
		families, runs = []string{"classic", "fast", "lean", "lean-zeros", "lean-biased", "weighted"}, 20000
	}
	filters := [][3]int{{6, 14, 2}, {12, 7, 1}, {12, 7, 2}, {6, 5, 4}}
	asked := filters[1]
	t.Logf("%-12s %6s %9s %6s  %-10s %10s %10s %10s %6s", "family", "n", "truth", "trials", "k,s,r", "found", "P(k,s,r)", "s.e.", "z")
	for _, family := range families {
		for _, n := range filterSizes(family) {
			for _, rho := range []float64{0.5, 0.6, 0.7, 0.77, 0.85, 0.9, 0.95, 0.975, 0.99} {
				p := mustProfile(t, "elements "+family)
				s := setSketches{p, newSampler(p)}
				pair := newSetPair(n, rho)
				found := make([]int, len(filters))
				for run := range runs {
					onlyA, common, onlyB := pair.draw(sources[0], run%2 == 1)
					a, b := s.of(t, onlyA, common, onlyB)
					for i, f := range filters {
						if shared := sharedGroups(t, a, b, f[0], f[1]); shared >= f[2] {
							found[i]++
						}
					}
				}
				for i, f := range filters {
					want := FilterProbability(f[0], f[1], f[2], pair.truth)
					got := float64(found[i]) / float64(runs)
					se := math.Sqrt(want * (1 - want) / float64(runs))
					line := fmt.Sprintf("%-12s %6d %9.5f %6d  %-10s %10.6f %10.6f %10.6f %+6.2f",
						family, n, pair.truth, runs, fmt.Sprintf("%d,%d,%d", f[0], f[1], f[2]), got, want, se, (got-want)/max(se, 1e-300))
					t.Log(line)
					off := got - want
					if family == "fast" && f == asked && math.Abs(off) > 0.03 && !testing.Short() {
						t.Errorf("far off the curve: %s", line)
					}
					if family == "fast" && n <= 500 && (off > 0) == (pair.truth > HalfPoint(f[0], f[1], f[2])) {
						off = 0
					}
					if math.Abs(off) > 4*se+1e-12 && !testing.Short() {
						t.Errorf("off the curve: %s", line)
					}
				}
			}
		}
	}
}

// filterSizes are the sizes of the sets that a family's filter is tried on; 87
// is a document of 90 words under the default profile.
func filterSizes(family string) []int {
	switch {
	case family == "fast":
		return []int{20, 87, 500, 5000}
	case *longStatistics:
		return []int{100, 1000}
	}
	return []int{1000}
}

// sharedGroups counts the groups of s slots that agree.
func sharedGroups(t *testing.T, a, b []byte, k, s int) int {
	x, err := parse(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for g := range k {
		equal := true
		for i := g * s; i < g*s+s && equal; i++ {
			equal = x.slot(i) == y.slot(i)
		}
		if equal {
			shared++
		}
	}
	return shared
}

// TestStatisticsWeights: consistent weighted sampling against the exact
// sum(min)/sum(max) of real weights, and whole weights by replication, in a
// classic bag and under weighted, against the same.
func TestStatisticsWeights(t *testing.T) {
	type weigh func(random *rand.Rand) (inA, inB float64)
	for _, c := range []struct {
		name, settings string
		sizes          []int
		runs           int
		weigh          weigh
	}{
		{"spread over decades", "weighted", []int{2, 20, 300}, kerneltest.Trials(1000), func(random *rand.Rand) (float64, float64) {
			return math.Exp(random.NormFloat64() * 4), math.Exp(random.NormFloat64() * 4)
		}},
		{"nearly equal", "weighted", []int{1, 20, 300}, kerneltest.Trials(1000), func(random *rand.Rand) (float64, float64) {
			w := 1 + random.ExpFloat64()
			return w, w * (1 + random.Float64()/3)
		}},
		{"a tenth apart, huge", "weighted", []int{3, 30}, kerneltest.Trials(1000), func(random *rand.Rand) (float64, float64) {
			w := random.ExpFloat64() * 1e200
			return w, w / 10
		}},
		{"whole", "weighted", []int{20, 300}, kerneltest.Trials(1000), wholeWeights},
		{"whole, replicated", "classic bag", []int{20, 300}, kerneltest.Trials(1000), wholeWeights},
		{"whole, replicated", "fast", []int{20, 300}, kerneltest.Trials(1000), wholeWeights},
	} {
		for _, n := range c.sizes {
			random := rand.New(rand.NewPCG(5, uint64(n)))
			p := mustProfile(t, "elements "+c.settings)
			a, _ := NewSketcher(p)
			b, _ := NewSketcher(p)
			var errors, truths average
			for range c.runs {
				a.Reset()
				b.Reset()
				first := random.IntN(1e9)
				smaller, greater := 0.0, 0.0
				for i := range n {
					element := strconv.AppendInt(nil, int64(first+i), 10)
					u, v := c.weigh(random)
					smaller, greater = smaller+min(u, v), greater+max(u, v)
					if err := a.AddWeighted(element, u); err != nil {
						t.Fatal(err)
					}
					if err := b.AddWeighted(element, v); err != nil {
						t.Fatal(err)
					}
				}
				if a.Empty() || b.Empty() {
					continue
				}
				got, err := Resemblance(a.AppendSketch(nil), b.AppendSketch(nil))
				if err != nil {
					t.Fatal(err)
				}
				errors.add(got - smaller/greater)
				truths.add(smaller / greater)
			}
			line := fmt.Sprintf("%-20s %-12s %4d elements, mean truth %.4f, %d trials: bias %+.6f, s.e. %.6f, z %+.2f",
				c.name, c.settings, n, truths.mean(), errors.n, errors.mean(), errors.standardError(), errors.mean()/max(errors.standardError(), 1e-300))
			t.Log(line)
			if !errors.unbiased() && !testing.Short() {
				t.Errorf("biased: %s", line)
			}
		}
	}
}

func wholeWeights(random *rand.Rand) (inA, inB float64) {
	return float64(random.IntN(6)), float64(random.IntN(4))
}

// TestStatisticsContainment: a short document in long ones, where the sample
// of the short one is thinned to that of the longer (Broder 1997, section 3).
// Where nothing of it is left there is no estimate.
func TestStatisticsContainment(t *testing.T) {
	for _, c := range []struct {
		settings         string
		short, long, has int
	}{
		{"scaled", 50, 2000, 40}, {"scaled", 500, 5000, 250}, {"scaled", 1000, 1500, 900}, {"mod=8", 50, 2000, 40}, {"mod=25", 500, 5000, 250},
	} {
		p := mustProfile(t, "elements "+c.settings)
		s := setSketches{p, newSampler(p)}
		pair := &setPair{u: c.short + c.long - c.has, c: c.has, onlyA: c.short - c.has, random: rand.New(rand.NewPCG(6, uint64(c.short)))}
		pair.xs = make([]uint64, pair.u)
		truth := float64(c.has) / float64(c.short)
		var errors average
		empty := 0
		for run := range kerneltest.Trials(1000) {
			onlyA, common, onlyB := pair.draw(sources[0], run%2 == 1)
			a, b := s.of(t, onlyA, common, onlyB)
			var blobs blobPair
			if err := blobs.parse(a, b); err != nil {
				t.Fatal(err)
			}
			got, ok, err := Containment(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				empty++
				continue
			}
			errors.add(got - truth)
		}
		line := fmt.Sprintf("%-8s %5d in %5d, truth %.3f, %d trials, %d without an estimate: bias %+.6f, s.e. %.6f, deviation %.3f, z %+.2f",
			c.settings, c.short, c.long, truth, errors.n, empty, errors.mean(), errors.standardError(), math.Sqrt(errors.variance()), errors.mean()/errors.standardError())
		t.Log(line)
		if !errors.unbiased() && !testing.Short() {
			t.Errorf("biased: %s", line)
		}
	}
}

package review

import "math"

// A Band counts the decisions on pairs of similar resemblance.
type Band struct {
	Low, High           float64
	Duplicate, Distinct int
}

// Share returns the share of duplicates.
func (b Band) Share() float64 { return float64(b.Duplicate) / float64(b.Duplicate+b.Distinct) }

// Agreement tells how well the decisions agree with a threshold.
type Agreement struct {
	AtLeast   float64
	Bands     []Band // those with a decision
	Decisions int
	Wrong     int     // decisions that the threshold contradicts
	Proposed  float64 // the threshold that contradicts the fewest decisions, or the current one unless it is clearly worse
	WrongThen int
	Few       bool // too few decisions, or only of one kind, for a proposal
}

// A proposal needs enough decisions, and enoughOfEach of each kind.
const (
	enough       = 20
	enoughOfEach = 5
	bandCount    = 20
)

// Agree compares decisions with a threshold.
func Agree(decisions []Decision, atLeast float64) Agreement {
	a := Agreement{AtLeast: atLeast, Proposed: atLeast}
	bands := make([]Band, bandCount)
	duplicates := 0
	for _, d := range decisions {
		if math.IsNaN(d.Resemblance) {
			continue
		}
		a.Decisions++
		b := &bands[min(bandCount-1, int(d.Resemblance*bandCount+1e-9))]
		if d.Verdict == Duplicate {
			duplicates++
			b.Duplicate++
		} else {
			b.Distinct++
		}
	}
	for i, b := range bands {
		if b.Duplicate+b.Distinct > 0 {
			b.Low, b.High = float64(i)/bandCount, float64(i+1)/bandCount
			a.Bands = append(a.Bands, b)
		}
	}
	wrong := func(threshold float64) (n int) {
		for _, d := range decisions {
			if !math.IsNaN(d.Resemblance) && (d.Verdict == Duplicate) != (d.Resemblance >= threshold) {
				n++
			}
		}
		return n
	}
	a.Wrong = wrong(atLeast)
	a.WrongThen = a.Wrong
	if a.Decisions < enough || duplicates < enoughOfEach || a.Decisions-duplicates < enoughOfEach {
		a.Few = true
		return a
	}
	// Among the best hundredths take the middle of the longest run, which leaves the most
	// room on either side.
	length := 0
	for i := 1; i <= 100; i++ {
		n := wrong(float64(i) / 100)
		if n >= a.Wrong || n > a.WrongThen {
			continue
		}
		j := i
		for j < 100 && wrong(float64(j+1)/100) == n {
			j++
		}
		if n < a.WrongThen || j-i+1 > length {
			a.WrongThen, length, a.Proposed = n, j-i+1, float64((i+j)/2)/100
		}
		i = j
	}
	// Some of the decisions that change sides would agree better by chance alone.
	moved := 0.0
	for _, d := range decisions {
		if d.Resemblance >= min(atLeast, a.Proposed) && d.Resemblance < max(atLeast, a.Proposed) {
			moved++
		}
	}
	if float64(a.Wrong-a.WrongThen) <= 2*math.Sqrt(moved) {
		a.Proposed, a.WrongThen = atLeast, a.Wrong
	}
	return a
}

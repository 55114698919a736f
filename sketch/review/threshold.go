package review

import "math"

// A Band is the decisions on pairs of like resemblance.
type Band struct {
	Low, High           float64
	Duplicate, Distinct int
}

// Share is that of the duplicates.
func (b Band) Share() float64 { return float64(b.Duplicate) / float64(b.Duplicate+b.Distinct) }

// Agreement is what decisions say about a threshold.
type Agreement struct {
	AtLeast   float64
	Bands     []Band // those with a decision
	Decisions int
	Wrong     int     // decisions that the threshold contradicts
	Proposed  float64 // contradicts the fewest decisions; the threshold itself unless it is clearly worse
	WrongThen int
	Few       bool // too few decisions, or of one kind alone: nothing is proposed
}

// enough is how many decisions, and how many of each kind, a proposal needs.
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
	// Of runs of hundredths that are equally good the middle of the longest, which leaves most room on either side.
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
	// Of decisions that are on another side then, chance alone makes some more right than wrong.
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

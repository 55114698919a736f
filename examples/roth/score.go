package main

import (
	"math"

	"github.com/alike-sql/alike/sketch/simindex"
)

// An index is the similarity index of one document, or none.
type index struct {
	value int64
	valid bool
}

// similar reports whether b lies in the range of a: section 4.2.
func similar(a, b index) bool {
	return a.valid && b.valid &&
		simindex.Low(a.value, simindex.Fraction) < b.value && b.value < simindex.High(a.value, simindex.Fraction)
}

// zoneOf gives the zone of a pair of documents and the level that Roth expected,
// or -1 outside the zones. A document alone is a zone by itself: -1 and exact.
func zoneOf(row, column int) (number int, level byte) {
	for z, zone := range zones {
		for i, a := range zone.members {
			for j, b := range zone.members {
				if a == row && b == column {
					return z, zone.expected[i*(len(zone.members)+1)+j]
				}
			}
		}
	}
	if row == column {
		return -1, 'E'
	}
	return -1, 0
}

// A result is how a combination did on the 225 pairs.
type result struct {
	variant string
	indexes []index

	// As Roth counts: a hit within a zone is correct, whatever he expected there.
	falsePositives, falseNegatives, correct int
	// Against what he expected: hits where he wanted one, hits where he did not,
	// and misses where he did.
	found, unwanted, missed int
}

func judge(variant string, indexes []index) result {
	r := result{variant: variant, indexes: indexes}
	for row := range indexes {
		for column := range indexes {
			r.count(row, column, similar(indexes[row], indexes[column]))
		}
	}
	return r
}

func (r *result) count(row, column int, hit bool) {
	_, level := zoneOf(row, column)
	switch {
	case level == 0 && hit:
		r.falsePositives++
	case level != 0 && hit:
		r.correct++
	case level != 0:
		r.falseNegatives++
	}
	switch want := level != 0 && wanted(level); {
	case want && hit:
		r.found++
	case want:
		r.missed++
	case hit:
		r.unwanted++
	}
}

// score is Roth's: correct indicators to incorrect ones.
func (r result) score() float64 {
	return float64(r.correct) / float64(r.falseNegatives+r.falsePositives)
}

// f1 is the harmonic mean of the precision and the recall of the hits.
func (r result) f1() float64 {
	if r.found == 0 {
		return 0
	}
	return 2 * float64(r.found) / float64(2*r.found+r.unwanted+r.missed)
}

// judgePaper scores the tables that he printed. Outside the zones they tell
// only how many false positives there were.
func judgePaper(c candidate) result {
	r := result{variant: c.variant}
	for row := range table1 {
		for column := range table1 {
			z, level := zoneOf(row, column)
			hit := row == column
			if z >= 0 {
				hit = c.cells(z)[position(z, row)][position(z, column)] == '1'
			}
			if level != 0 {
				r.count(row, column, hit)
			}
		}
	}
	r.falsePositives += c.falsePositives
	r.unwanted += c.falsePositives
	return r
}

// position gives the place of a document among the members of its zone.
func position(z, document int) int {
	return document - zones[z].members[0]
}

// distance is how far b lies from a in units of a; the range ends at 0.3.
func distance(a, b index) float64 {
	if !a.valid || !b.valid {
		return math.Inf(1)
	}
	return math.Abs(float64(b.value)-float64(a.value)) / math.Abs(float64(a.value))
}

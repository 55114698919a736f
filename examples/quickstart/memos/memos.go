// Package memos makes the papers of a harbour office, and what people do to a
// paper before they file it again.
package memos

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The memos are put together from these; two unrelated ones have a few phrases
// in common, as the letters of one office have.
var (
	who = []string{"The harbour office", "Our surveyor", "The night shift", "A delegation from Bergen", "The archive", "Mrs. Okafor", "The second crew",
		"The insurance agent", "The new apprentice", "Herr Lindqvist", "The ministry", "The lighthouse keeper", "The ferry company", "Dr. Amari", "The town council", "The warehouse on Pier Nine"}
	did = []string{"reported", "ordered", "inspected", "postponed the repair of", "asked for a list of", "found a fault in", "returned without", "agreed to replace",
		"photographed", "sent an invoice for", "could not account for", "recommended the sale of", "repainted", "measured", "borrowed", "signed for"}
	what = []string{"the northern breakwater", "four crates of navigation lamps", "the tide tables of last winter", "the crane's hydraulic pump", "all mooring ropes", "a leaking fuel valve",
		"the register of small vessels", "the old customs shed", "two barrels of whale oil", "the fog signal", "the winter timetable", "a box of unsigned permits",
		"the southern gangway", "the spare anchor chain", "the radio mast", "the drainage plan"}
	why = []string{"before the storm arrived", "because the budget ends in March", "although nobody had asked", "as agreed by telephone", "in the presence of two witnesses", "on behalf of the owners",
		"after a complaint from the fishermen", "while the gate was closed", "to satisfy the inspectors", "at a cost of %d crowns", "within %d days", "in letter %d of this year",
		"under permit number %d", "with the help of %d volunteers", "%d metres from the bridge", "after %d telephone calls"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// Sentence makes one of a hundred thousand and more.
func Sentence(r *rand.Rand) string {
	tail := pick(r, why)
	if strings.Contains(tail, "%d") {
		tail = fmt.Sprintf(tail, 2+r.IntN(9998))
	}
	return fmt.Sprintf("%s %s %s %s.", pick(r, who), pick(r, did), pick(r, what), tail)
}

// New returns the sentences of a memo.
func New(r *rand.Rand) []string {
	sentences := make([]string, 9+r.IntN(6))
	for i := range sentences {
		sentences[i] = Sentence(r)
	}
	return sentences
}

// An Edit is something that people do to a text before they file it again.
type Edit struct {
	Name string
	Do   func(r *rand.Rand, original []string) string
}

// Edits are the usual ones, from none at all to another text.
var Edits = []Edit{
	{"copied as it was", func(_ *rand.Rand, s []string) string { return strings.Join(s, " ") }},
	{"typed in capitals, without commas and full stops", func(_ *rand.Rand, s []string) string {
		return strings.ToUpper(strings.NewReplacer(".", "", ",", "").Replace(strings.Join(s, " ")))
	}},
	{"one word replaced", func(_ *rand.Rand, s []string) string {
		words := strings.Fields(strings.Join(s, " "))
		words[len(words)/2] = "CORRECTED"
		return strings.Join(words, " ")
	}},
	{"first sentence moved to the end", func(_ *rand.Rand, s []string) string {
		return strings.Join(append(append([]string{}, s[1:]...), s[0]), " ")
	}},
	{"a sentence added", func(r *rand.Rand, s []string) string {
		return strings.Join(append(append([]string{}, s...), Sentence(r)), " ")
	}},
	{"the last third cut off", func(_ *rand.Rand, s []string) string {
		return strings.Join(s[:len(s)*2/3], " ")
	}},
	{"rewritten but for two sentences", func(r *rand.Rand, s []string) string {
		return strings.Join(append(New(r), s[:2]...), " ")
	}},
}

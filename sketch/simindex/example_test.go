package simindex_test

import (
	"fmt"

	"github.com/alike-sql/alike/sketch/simindex"
)

// Roth's question at checkin: which documents lie within 30 % of this one?
func ExampleVariant_Index() {
	v, err := simindex.Parse("41B/4")
	if err != nil {
		fmt.Println(err)
		return
	}
	si, ok := v.Index([]byte("Four score and seven years ago our fathers brought forth on this continent, " +
		"a new nation, conceived in Liberty, and dedicated to the proposition that all men are created equal."))
	fmt.Println(si, ok)
	fmt.Printf("where si > %d and si < %d\n", simindex.Low(si, simindex.Fraction), simindex.High(si, simindex.Fraction))

	_, ok = v.Index([]byte("... and so on ...")) // stop words alone
	fmt.Println(ok)
	// Output:
	// -6404095512 true
	// where si > -8325324166 and si < -4482866858
	// false
}

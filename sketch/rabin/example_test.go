package rabin_test

import (
	"fmt"

	"github.com/alike-sql/alike/sketch/rabin"
)

// Fingerprints of 40 bits, as the paper's clusters used, and a window of 8 bytes.
func ExampleFingerprinter() {
	polynomial := rabin.DrawPolynomial(40, 1997)
	f, err := rabin.NewFingerprinter(polynomial)
	if err != nil {
		fmt.Println(err)
		return
	}
	whole := f.Fingerprint([]byte("a rose is a rose"))
	parts := f.Concat(f.Fingerprint([]byte("a rose ")), f.Fingerprint([]byte("is a rose")), int64(len("is a rose")))
	fmt.Println(polynomial.Irreducible(), whole == parts)

	window, err := f.Rolling(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	want := f.Fingerprint([]byte("a rose"))
	for i, c := range []byte("a rose is a rose") {
		if window.Roll(uint64(c)) == want {
			fmt.Println("a rose ends at", i+1)
		}
	}
	fmt.Printf("%.2g\n", rabin.CollisionBound(400, 400, 40))
	// Output:
	// true true
	// a rose ends at 6
	// a rose ends at 16
	// 7.3e-10
}

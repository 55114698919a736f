package token

import (
	"bytes"
	_ "embed"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// canary is a text that reads differently under different rules of folding,
// normalization and tokens, in every stream. When you change such a
// rule and no fingerprint changes, add a line that shows the change.
//
//go:embed canary.txt
var canary []byte

// canaryDates follows the canary where dates are dropped.
//
//go:embed canary_dates.txt
var canaryDates []byte

// Fingerprint is a fingerprint, never 0, of the tokens of the canary: that of all of
// them as one shingle, cut to 16 bits, and 1 for 0.
func Fingerprint(s Settings) uint16 {
	z := New(s)
	var all []uint64
	text := canary
	if s.Dates {
		text = append(bytes.Clone(canary), canaryDates...)
	}
	for rest := text; len(rest) > 0; {
		var t Tokens
		n := z.Next(&t, rest, true)
		all = t.AppendFingerprints(all)
		rest = rest[n:]
	}
	return max(1, uint16(kernel.Cut(kernel.ShingleOf(all), 16)))
}

package token

import (
	"bytes"
	_ "embed"
	"sync/atomic"

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

// canaryFingerprints are those of this build once they are known, by stream and
// by the other settings; 0 is not yet known.
var canaryFingerprints [len(Streams)][128]atomic.Uint32

// Fingerprint is a fingerprint, never 0, of the tokens of the canary; it is
// 0 for elements, which are no tokens of a text.
func Fingerprint(s Settings) uint16 {
	if s.Stream == Elements || int(s.Stream) >= len(Streams) {
		return 0
	}
	i := 0
	for bit, set := range [...]bool{s.Fold, s.StopWords, s.Vowels, s.Duplicates, s.Numbers, s.IDs, s.Dates} {
		if set {
			i |= 1 << bit
		}
	}
	known := &canaryFingerprints[s.Stream][i]
	f := known.Load()
	if f == 0 {
		f = uint32(canaryFingerprint(s))
		known.Store(f)
	}
	return uint16(f)
}

// canaryFingerprint is cut to 16 bits of the fingerprint of all the tokens of the
// canary as one shingle, and 1 for 0.
func canaryFingerprint(s Settings) uint16 {
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

package sketch

import (
	_ "embed"
	"sync/atomic"
)

// canary is a text that reads differently under different rules of folding,
// normalization and tokens, in every stream. When you change such a
// rule and no fingerprint changes, add a line that shows the change.
//
//go:embed canary.txt
var canary []byte

// canaryFingerprints are those of this build once they are known, by stream and
// by flags of the header; 0 is not yet known.
var canaryFingerprints [len(streams)][flagsEnd]atomic.Uint32

// TokensFingerprint tells builds apart that make different tokens of the same
// text: it is a fingerprint, never 0, of the tokens that this build makes of a
// canary text under the settings of p that decide tokens (the stream, the case
// and the filters). It is 0 under the stream elements, which has no tokens of a
// text. Every stored sketch has it, in bytes 20 and 21 of its header, and
// sketches with different ones do not compare (ErrTokens).
//
// A table of sketches keeps it beside the profile. A row whose sketch was made
// under another number is stale: it counts as one in status, and refresh sketches
// it again, and only it. A row without a sketch, a document that had no token,
// counts by the number that was kept beside its profile.
func (p Profile) TokensFingerprint() uint16 {
	if p.Tokens != 0 {
		return p.Tokens
	}
	return p.ownTokens()
}

// ownTokens is the fingerprint of this build.
func (p *Profile) ownTokens() uint16 {
	if p.Stream == Elements || int(p.Stream) >= len(streams) {
		return 0
	}
	known := &canaryFingerprints[p.Stream][p.flags()&^flagBag]
	f := known.Load()
	if f == 0 {
		f = uint32(canaryFingerprint(*p))
		known.Store(f)
	}
	return uint16(f)
}

// canaryFingerprint is cut to 16 bits of the fingerprint of all the tokens of the
// canary as one shingle, and 1 for 0.
func canaryFingerprint(p Profile) uint16 {
	z := newTokenizer(p)
	var all []uint64
	for rest := canary; len(rest) > 0; {
		var t tokens
		n := z.next(&t, rest, true)
		all = t.appendFingerprints(all)
		rest = rest[n:]
	}
	return max(1, uint16(cut(shingleOf(all), 16)))
}

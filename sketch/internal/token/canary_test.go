package token

import (
	"bytes"
	"strings"
	"testing"
)

// A line of the canary that is taken out shows, so that each of its characters
// guards something.
func TestCanaryShowsEveryLine(t *testing.T) {
	whole := canary
	defer func() { canary = whole }()
	p := settingsOf(t, "code")
	want := Fingerprint(p)
	for i, line := range strings.SplitAfter(string(whole), "\n") {
		canary = bytes.Replace(whole, []byte(line), nil, 1)
		if line != "" && Fingerprint(p) == want {
			t.Errorf("without line %d the fingerprint is the same, %04x", i+1, want)
		}
	}
}

func BenchmarkTokensFingerprint(b *testing.B) {
	for b.Loop() {
		Fingerprint(foldedWords)
	}
}

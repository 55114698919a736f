package sketch

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// canonicalText is the definition, by the libraries.
func canonicalText(s string, fold bool) string {
	s = norm.NFKC.String(string([]rune(s)))
	if fold {
		s = norm.NFKC.String(cases.Fold().String(s))
	}
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, s)
}

// slowly is the definition, by ours.
func slowly(s string, fold bool) string {
	c := newCanonicaliser(fold)
	for _, r := range s {
		c.put(r)
	}
	c.flush()
	return string(c.out)
}

// The tables that decide stored bytes, all of them. A change of this hash is a
// change of the stored form.
func TestUnicodeTablesArePinned(t *testing.T) {
	h := sha256.New()
	for r := range rune(utf8.MaxRune + 1) {
		f, i := factsOf(r), r&(blockSize-1)
		fmt.Fprintf(h, "%x %v %d %d %v %q %q\n", r, invisible(r), f.class[i], f.ccc[i], f.backward[i], f.decomposition[i], f.folding[i])
	}
	fmt.Fprint(h, len(composites), composites)
	const want = "12036c55e2aaa015be62c9fa9fe417f0"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:16]); got != want {
		t.Errorf("the tables of Unicode have the hash %s, want %s", got, want)
	}
}

func TestCanonicalCharacters(t *testing.T) {
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) || classOf(r) == classUnassigned {
			continue
		}
		for _, s := range []string{string(r), "e" + string(r), string(r) + "\u0301", "\u0915" + string(r) + "\u094d"} {
			for _, fold := range []bool{true, false} {
				if got, want := slowly(s, fold), canonicalText(s, fold); got != want {
					t.Errorf("%+q, fold %v: %+q, want %+q", s, fold, got, want)
				}
			}
		}
	}
}

func TestCanonicalStrings(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all, acting []rune
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) || classOf(r) == classUnassigned {
			continue
		}
		all = append(all, r)
		if r < 0xAC00 || r > 0xD7A3 {
			if joins(r, true) || decomposition(r) != "" || folding(r) != "" {
				acting = append(acting, r)
			}
		}
	}
	for range trials(100000) {
		var s []rune
		for range 1 + random.IntN(8) {
			switch random.IntN(4) {
			case 0:
				s = append(s, all[random.IntN(len(all))])
			case 1:
				s = append(s, rune(0x1100+random.IntN(0x100)))
			default:
				s = append(s, acting[random.IntN(len(acting))])
			}
		}
		fold := random.IntN(2) == 0
		if got, want := slowly(string(s), fold), canonicalText(string(s), fold); got != want {
			t.Fatalf("%+q, fold %v: %+q, want %+q", string(s), fold, got, want)
		}
	}
}

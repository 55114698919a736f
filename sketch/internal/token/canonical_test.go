package token

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// canonicalText is the definition, by the libraries.
func canonicalText(s string, fold bool) string {
	s = norm.NFKC.String(string([]rune(s)))
	if fold {
		var folded strings.Builder
		for _, r := range s {
			if f, ok := pythonFoldings()[r]; ok {
				folded.WriteString(f)
			} else {
				folded.WriteRune(r)
			}
		}
		s = norm.NFKC.String(folded.String())
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

// pythonFoldings are Python's str.casefold of every character that it changes.
var pythonFoldings = sync.OnceValue(func() map[rune]string {
	data, err := os.ReadFile("../../testdata/golden/folding.tsv")
	if err != nil {
		panic(err)
	}
	m := make(map[rune]string)
	for line := range strings.Lines(string(data)) {
		var all []rune
		for _, code := range strings.Fields(line) {
			r, err := strconv.ParseUint(code, 16, 32)
			if err != nil {
				panic(err)
			}
			all = append(all, rune(r))
		}
		m[all[0]] = string(all[1:])
	}
	return m
})

// Folding is that of the published table of Unicode 15.0.0, for every character.
func TestFolding(t *testing.T) {
	want := pythonFoldings()
	if len(want) != 1530 {
		t.Errorf("%d foldings in the golden table, want 1530", len(want))
	}
	for r := range rune(utf8.MaxRune + 1) {
		if got := folding(r); got != want[r] {
			t.Errorf("%U folds to %+q, want %+q", r, got, want[r])
		}
		if first, _ := utf8.DecodeRuneInString(want[r]); want[r] != "" && joins(first) && !joins(r) {
			t.Errorf("%U joins nothing and folds to %+q, which does", r, want[r])
		}
	}
	for _, pair := range []string{"ᎣᏏᏲ ꭳꮟᏺ", "Ꮳꭱᏸᏽ Ꮳꭱᏸᏽ"} {
		a, b, _ := strings.Cut(pair, " ")
		if x, y := slowly(a, true), slowly(b, true); x != y || slowly(x, true) != x {
			t.Errorf("%s folds to %s and %s to %s, want the same, which folds to itself", a, x, b, y)
		}
	}
}

var kindNames = [...]string{classOther: "other", classSpace: "space", classControl: "control", classWord: "word", classDigit: "digit",
	classAlone: "alone", classMark: "mark", classUnassigned: "unassigned"}

// Every character of Unicode has the kind and the canonical forms that an
// implementation in another language gives it. They decide stored bytes.
func TestEveryCharacter(t *testing.T) {
	n := 0
	for _, line := range kerneltest.GoldenLines(t, "../../testdata/golden", "unicode.tsv") {
		first, err := strconv.ParseUint(line[0], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for r := rune(first); r < rune(first)+4096; r++ {
			n++
			if !utf8.ValidRune(r) {
				continue
			}
			k := classOf(r)
			fmt.Fprintf(h, "%X %s", r, kindNames[k])
			if k != classUnassigned {
				for _, s := range []string{string(r), "e" + string(r), string(r) + "\u0301", "\u0915" + string(r) + "\u094d"} {
					fmt.Fprintf(h, " %x %x", slowly(s, true), slowly(s, false))
				}
			}
			fmt.Fprintln(h)
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != line[1] {
			t.Errorf("the characters from %s on have the hash %s, want %s", line[0], got, line[1])
		}
	}
	if n != utf8.MaxRune+1 {
		t.Errorf("%d characters were compared, want %d", n, utf8.MaxRune+1)
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
			if joins(r) || decomposition(r) != "" || folding(r) != "" {
				acting = append(acting, r)
			}
		}
	}
	for range kerneltest.Trials(100000) {
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

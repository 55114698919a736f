package sketch

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kernel"
	"github.com/alike-sql/alike/sketch/internal/kerneltest"
	"github.com/alike-sql/alike/sketch/rabin"
)

// FORMAT.md says what the code does: its lists and its example.
func TestFormatPage(t *testing.T) {
	between := kerneltest.Page(t, "FORMAT.md")

	for name, p := range map[string]rabin.Polynomial{"P1": kernel.ShinglePolynomial, "P2": kernel.FeaturePolynomial, "P3": kernel.LabelPolynomial} {
		if row := between("| "+name+" |", "\n"); !strings.Contains(row, fmt.Sprintf("| %#016x |", p.Low)) {
			t.Errorf("%s is %s, want %#016x", name, row, p.Low)
		}
	}

	example := between("## 10.", "## 11.")
	says := func(format string, value any) {
		t.Helper()
		if text := fmt.Sprintf(format, value); !strings.Contains(example, text) {
			t.Errorf("the example lacks %s", text)
		}
	}
	doc := []byte("A rose is a rose.")
	says("`%s`", doc)
	p := mustProfile(t, "words w=2 set mod=1 t=84 k=12 s=7 r=2")
	says("`%s`", p)
	for _, token := range []string{"a", "rose", "is", "abcdefgh"} {
		says("%#x", kernel.TokenFingerprint([]byte(token)))
	}
	for _, x := range Shingles(p, doc) {
		says("%#x", x)
		says("%#x", kernel.Mix(x))
		says("%#x", kernel.FirstPermutations(1).A[0]*x+kernel.FirstPermutations(1).B[0])
	}
	s, _ := NewSketcher(p)
	s.Document(doc)
	stored := hex.EncodeToString(s.AppendSketch(nil))
	if want := strings.NewReplacer(" ", "", "`", "", "\n", "").Replace(between("Stored: the header `", "`") + between("ascending order,", ".\n")); stored != want {
		t.Errorf("the example is stored as %s, the page has %s", stored, want)
	}
	s = mustSketcher(t, "words w=2 t=84 k=12 s=7")
	says("`%s`", s.Profile())
	s.Document(doc)
	says("Feature 0, over slots 0 to 6, is %d", s.AppendFeatures(nil)[0].Value)
	says("%#016x", s.sampler.slots()[0])
	says("%#016x", s.sampler.slots()[6])
	forest, _ := s.Forest(0)
	says("`forest/0` is %d", forest)
	says("to 8 bits is %#02x", kernel.Cut(s.sampler.slots()[0], 8))
	says("%#016x", kernel.FirstPermutations(1).A[0])
	says("%#016x", kernel.FirstPermutations(1).B[0])
}

package sketch

import (
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FORMAT.md says what the code does: its lists and its example.
func TestFormatPage(t *testing.T) {
	data, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	between := func(begin, end string) string {
		_, rest, ok := strings.Cut(page, begin)
		text, _, more := strings.Cut(rest, end)
		if !ok || !more {
			t.Fatalf("no text between %q and %q", begin, end)
		}
		return text
	}

	for name, p := range map[string]Polynomial{"P1": shinglePolynomial, "P2": featurePolynomial, "P3": labelPolynomial} {
		if row := between("| "+name+" |", "\n"); !strings.Contains(row, fmt.Sprintf("| %#016x |", p.Low)) {
			t.Errorf("%s is %s, want %#016x", name, row, p.Low)
		}
	}

	stop := strings.Fields(between("Snowball project:", "."))
	seen := make(map[string]bool)
	for _, word := range stop {
		if !IsStopWord([]byte(word)) || seen[word] {
			t.Errorf("%q is no stop word, or is listed twice", word)
		}
		seen[word] = true
	}
	if len(stop) != 174 {
		t.Errorf("%d stop words, want 174", len(stop))
	}

	listed := make(map[rune]bool)
	for _, m := range regexp.MustCompile(`([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?`).FindAllStringSubmatch(between("Khmer and Myanmar: U+", ".\n"), -1) {
		low, _ := strconv.ParseUint(m[1], 16, 32)
		high := low
		if m[2] != "" {
			high, _ = strconv.ParseUint(m[2], 16, 32)
		}
		for r := low; r <= high; r++ {
			listed[rune(r)] = true
		}
	}
	for r := range rune(0x110000) {
		if got, want := listed[r], classOf(r) == classAlone; got != want {
			t.Fatalf("%U: alone %v, want %v", r, got, want)
		}
	}

	for o := range strings.FieldsSeq(strings.ReplaceAll(between("is a token: `", "`\n"), "\n", " ")) {
		if !operators[o] {
			t.Errorf("%q is no operator", o)
		}
	}
	for _, c := range []struct {
		list string
		tags map[string]bool
	}{{between("within a line of text, which are `", "` without"), inlineTags}, {between("does not show, `", "`, without"), unseenTags}} {
		names := strings.Fields(c.list)
		for _, name := range names {
			if !c.tags[name] {
				t.Errorf("the page lists the tag %q among the tags that do not break words", name)
			}
		}
		if len(names) != len(c.tags) {
			t.Errorf("the page lists %d tags that do not break words, want %d: %s", len(names), len(c.tags), c.list)
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
		says("%#x", tokenFingerprint([]byte(token)))
	}
	for _, x := range Shingles(p, doc) {
		says("%#x", x)
		says("%#x", mix(x))
		says("%#x", firstPermutations(1).a[0]*x+firstPermutations(1).b[0])
	}
	s, _ := NewSketcher(p)
	s.Document(doc)
	stored := hex.EncodeToString(s.AppendSketch(nil))
	if want := strings.NewReplacer(" ", "", "`", "", "\n", "").Replace(between("Stored: the header `", "`") + between("ascending order,", ".\n")); stored != want {
		t.Errorf("the example is stored as %s, the page has %s", stored, want)
	}
	s = mustSketcher(t, "words w=2")
	says("`%s`", s.Profile())
	s.Document(doc)
	says("Feature 0, over slots 0 to 6, is %d", s.AppendFeatures(nil)[0].Value)
	says("%#016x", s.sampler.slots()[0])
	says("%#016x", s.sampler.slots()[6])
	forest, _ := s.Forest(0)
	says("`forest/0` is %d", forest)
	says("to 8 bits is %#02x", cut(s.sampler.slots()[0], 8))
	says("%#016x", firstPermutations(1).a[0])
	says("%#016x", firstPermutations(1).b[0])
}

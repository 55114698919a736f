package compare

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

func profile(t *testing.T, settings string) sketch.Profile {
	t.Helper()
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// side is one text of a comparison with what differs in brackets.
func side(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		text := p.Text
		if p.Cut > 0 {
			text += "…" + p.Rest
		}
		if p.Only {
			text = "[" + text + "]" + p.Tail
		}
		b.WriteString(text)
	}
	return strings.TrimSpace(b.String())
}

func TestCompare(t *testing.T) {
	many := strings.Repeat("these words are the same in both of them ", 20)
	for _, c := range []struct{ name, profile, left, right, wantLeft, wantRight, same string }{
		{"a word", "words", "The quick brown fox.", "The quick red fox!", "The quick [brown] fox.", "The quick [red] fox!", ""},
		{"case and punctuation are shown and not marked", "words", "One, two; THREE four five", "one two three four six", "One, two; THREE four [five]", "one two three four [six]", ""},
		{"case counts", "words case", "One two", "one two", "[One] two", "[one] two", ""},
		{"equal", "words", "a b", "a b", "", "", "byte for byte"},
		{"equal but for what is ignored", "words", "a b", "A, b", "", "", "ignores"},
		{"stop words do not count", "words stop", "the fox of the wood", "a fox in that wood!", "", "", "ignores"},
		{"a sentence more, from its beginning", "words", "The hen is here. The fox is gone.", "The hen is here. The cat sleeps. The fox is gone.",
			"The hen is here. The fox is gone.", "The hen is here. [The cat sleeps.] The fox is gone.", ""},
		{"operators count in code", "code", "a += b", "a -= b", "a [+]= b", "a [-]= b", ""},
		{"characters of Chinese", "chars", "我们明天去北京", "我们今天去北京", "我们[明]天去北京", "我们[今]天去北京", ""},
		{"markup is text", "web", "<p>one</p>", "<p>two</p>", "<p>[one]</p>", "<p>[two]</p>", ""},
		{"nothing in common", "words", "one two", "three", "[one two]", "[three]", ""},
		{"nothing on one side", "words", "", "three", "", "[three]", ""},
		{"far from the beginning", "words", many + "left end", many + "right end", "words are the same in both of them [left] end", "words are the same in both of them [right] end", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Texts(profile(t, c.profile), c.left, c.right)
			if c.same != "" {
				if !strings.Contains(got.Same, c.same) || got.Places != nil {
					t.Errorf("same %q, %d places", got.Same, len(got.Places))
				}
				return
			}
			if len(got.Places) != 1 {
				t.Fatalf("%d places of a difference, want 1", len(got.Places))
			}
			p := got.Places[0]
			if l, r := side(p.Left), side(p.Right); l != c.wantLeft || r != c.wantRight {
				t.Errorf("left  %s\nwant  %s\nright %s\nwant  %s", l, c.wantLeft, r, c.wantRight)
			}
		})
	}
}

func TestCompareLong(t *testing.T) {
	word := func(i int) string { return "w" + strings.Repeat("x", i%7) + Grouped(int64(i)) }
	var left, right []string
	for i := range 1000 {
		left, right = append(left, word(i)), append(right, word(i))
		if i%100 == 50 {
			right[i] = "other"
		}
	}
	c := Texts(profile(t, "words"), strings.Join(left, " "), strings.Join(right, " "))
	if len(c.Places) != maxPlaces || c.More != 10-maxPlaces {
		t.Errorf("%d places and %d more, want %d and %d", len(c.Places), c.More, maxPlaces, 10-maxPlaces)
	}
	if c.Places[0].Skipped == 0 || c.Places[1].Skipped == 0 {
		t.Error("the words alike between places are not counted")
	}
}

// What align says is in common is so, in order, and what it leaves out is no
// more than a longest common subsequence would.
func TestAlign(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		letters := 2 + r.IntN(60)
		x := make([]int32, r.IntN(60))
		for i := range x {
			x[i] = int32(1 + r.IntN(letters))
		}
		y := slices.Clone(x)
		for range r.IntN(8) {
			at := r.IntN(len(y) + 1)
			if r.IntN(2) == 0 && at < len(y) {
				y = slices.Delete(y, at, at+1)
			} else {
				y = slices.Insert(y, at, int32(1+r.IntN(letters)))
			}
		}
		atX, atY := 0, 0
		for _, b := range align(x, y) {
			if b.x < atX || b.y < atY || b.n < 1 || !slices.Equal(x[b.x:b.x+b.n], y[b.y:b.y+b.n]) {
				t.Fatalf("round %d: block %+v of %v and %v", round, b, x, y)
			}
			atX, atY = b.x+b.n, b.y+b.n
		}
	}
	// Texts of two words over and over have no anchors and are too large for a
	// table: the budget ends it.
	long := make([]int32, 200_000)
	other := make([]int32, 200_000)
	for i := range long {
		long[i], other[i] = int32(1+r.IntN(2)), int32(1+r.IntN(2))
	}
	align(long, other)
}

func FuzzCompare(f *testing.F) {
	f.Add("The quick brown fox. The end.", "The quick fox\x00 \u202e. The end", uint8(0))
	f.Add("The quick brown fox", "The quick brown \xe2", uint8(0))
	f.Fuzz(func(t *testing.T, left, right string, which uint8) {
		presets := sketch.Presets()
		p, err := sketch.ParseProfile(presets[int(which)%len(presets)].Name)
		if err != nil {
			t.Fatal(err)
		}
		c := Texts(p, left, right)
		for _, place := range c.Places {
			for _, pieces := range [][]Piece{place.Left, place.Right} {
				for _, x := range pieces {
					if strings.ContainsAny(x.Text+x.Rest, "\x00\u202e\u2066") {
						t.Fatalf("%q is not made visible", x.Text)
					}
				}
			}
		}
	})
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b":                  "a␀b",
		"line\nbreak":             "line\nbreak",
		"\u202egnp.exe":           "[U+202E]gnp.exe",
		"שלום \u200fעולם":         "שלום \u200fעולם",
		strings.Repeat("x", 1000): strings.Repeat("x", longWord) + "…(920 characters more)",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

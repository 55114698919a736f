// Package compare shows two texts side by side and marks the differences. It aligns their
// words in the canonical form of a profile and shows them as they are in the text. The
// report, the review page and alike diff use it.
package compare

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch"
)

// A Comparison shows two texts side by side around their differences.
type Comparison struct {
	Why    string // the reason why nothing can be shown
	Same   string // set when no words differ: says what does
	Places []Place
	More   int // places that are not shown
	After  int // equal words behind the last place
}

// A Place is where two texts differ.
type Place struct {
	Skipped     int // equal words before it
	Left, Right []Piece
}

// A Piece of a text: the words of one side alone, or of both.
type Piece struct {
	Text string
	Only bool
	Cut  int // words left out in the middle, behind Text; Rest follows them
	Rest string
	Tail string // text behind it that is not marked
}

const (
	contextWords = 8  // words shown around a difference
	maxPlaces    = 6  // places shown for a pair
	longRun      = 60 // the longest run of words of one side that is shown whole
	longWord     = 80 // characters
	longPlace    = 3  // the most differing runs, near each other, in a place
)

// Texts shows where two texts differ under a profile.
func Texts(p sketch.Profile, left, right string) *Comparison {
	if left == right {
		return &Comparison{Same: "The two are equal, byte for byte."}
	}
	f := newFolder(p)
	x, y := f.read(left), f.read(right)
	blocks := align(x.ids, y.ids)
	slide(&x, &y, blocks)
	c := &Comparison{}
	if len(blocks) == 1 && blocks[0].n == len(x.ids) && blocks[0].n == len(y.ids) {
		c.Same = "They differ in what the profile ignores alone, such as case, punctuation and spacing."
		return c
	}
	c.places(&x, &y, blocks)
	return c
}

// places groups the differences, each with the words around it.
func (c *Comparison) places(x, y *words, blocks []block) {
	blocks = append(blocks, block{len(x.ids), len(y.ids), 0})
	var place *Place // being made
	runs := 0        // differing runs in it
	rest := 0        // common words just before that no place shows
	at, to := 0, 0   // the next words
	for _, b := range blocks {
		if b.x > at || b.y > to {
			if place == nil {
				place, runs = c.next(), 0
				context := min(contextWords, rest)
				if rest <= contextWords+3 {
					context = rest // too few to leave out
				}
				place.Skipped = rest - context
				place.add(x, y, at-context, at, to-context, to, false)
			}
			place.add(x, y, at, b.x, to, b.y, true)
			runs++
			rest = 0
		}
		switch {
		case place == nil:
			rest += b.n
		case b.n <= 2*contextWords && runs < longPlace:
			place.add(x, y, b.x, b.x+b.n, b.y, b.y+b.n, false)
		default:
			context := min(contextWords, b.n)
			place.add(x, y, b.x, b.x+context, b.y, b.y+context, false)
			place, rest = nil, b.n-context
		}
		at, to = b.x+b.n, b.y+b.n
	}
	if c.More == 0 {
		c.After = rest
	}
}

// next starts a new place. Places over the limit are counted but not kept.
func (c *Comparison) next() *Place {
	if len(c.Places) == maxPlaces {
		c.More++
		return &Place{}
	}
	c.Places = append(c.Places, Place{})
	return &c.Places[len(c.Places)-1]
}

func (p *Place) add(x, y *words, x0, x1, y0, y1 int, only bool) {
	if x0 < x1 {
		p.Left = append(p.Left, piece(x, x0, x1, only))
	}
	if y0 < y1 {
		p.Right = append(p.Right, piece(y, y0, y1, only))
	}
}

// piece returns a run of words as text, without the middle of a long run. The marked part
// ends with its last word.
func piece(w *words, i, j int, only bool) Piece {
	start, end := w.bounds(i, j)
	p := Piece{Only: only}
	if only {
		last := w.spans[j-1].end
		for _, r := range w.text[last:end] {
			if !strings.ContainsRune(".,;:!?…)”’»。，！？", r) {
				break
			}
			last += utf8.RuneLen(r)
		}
		p.Tail, end = Visible(w.text[last:end]), last
	}
	if j-i <= longRun {
		p.Text = Visible(w.text[start:end])
		return p
	}
	const ends = longRun / 2
	p.Text, p.Cut, p.Rest = Visible(w.between(i, i+ends)), j-i-2*ends, Visible(w.text[w.spans[j-ends].start:end])
	return p
}

// Visible makes every character of a text visible: it names those without a glyph and
// those that change the direction of writing, and cuts endless words.
func Visible(s string) string {
	var b strings.Builder
	word := 0
	cut := 0
	flush := func() {
		if cut > 0 {
			fmt.Fprintf(&b, "…(%s characters more)", Grouped(int64(cut)))
			cut = 0
		}
	}
	for _, r := range s {
		if unicode.IsSpace(r) {
			flush()
			word = 0
			b.WriteRune(r)
			continue
		}
		if word++; word > longWord && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			cut++
			continue
		}
		switch {
		case r < ' ':
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return b.String()
}

// Beginning returns the first words of a text, on one line.
func Beginning(s string) string {
	if len(s) > 2000 {
		s = strings.ToValidUTF8(s[:2000], "")
	}
	return Clip(strings.Join(strings.Fields(s), " "), 90)
}

// Clip cuts a text to a number of characters.
func Clip(s string, limit int) string {
	s = Visible(s)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit]), " ") + "…"
}

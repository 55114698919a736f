// Package advise measures the presets side by side on a sample of the user's texts.
package advise

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// A sample has at most MaxTexts texts. It is complete earlier with enoughTexts texts of
// EnoughBytes in all. Its size allows comparing all of its pairs.
const (
	MaxTexts    = 1000
	enoughTexts = 100
	EnoughBytes = 1 << 20
	maxBytes    = 8 << 20
)

// Enough reports whether a sample of this number of texts and bytes is complete.
func Enough(texts, bytes int) bool {
	return texts >= MaxTexts || texts >= enoughTexts && bytes >= EnoughBytes || bytes >= maxBytes
}

// Thresholds are the resemblances at which Curve states the recall.
var Thresholds = []float64{0.5, 0.6, 0.7, 0.8, 0.9}

// Advice describes the results of a preset on the sample.
type Advice struct {
	Preset   string
	Settings string
	AtLeast  float64
	Chosen   bool // by sketch.Look
	// Expected is the recall of the filter at AtLeast and a little above, by the theory.
	// Recall is measured: Pairs counts the pairs of the sample whose true resemblance under
	// the preset is at least AtLeast, and a question finds the share Recall of them.
	Expected, Recall float64
	Pairs            int
	Curve            []Point
	// Edited is measured on copies of the texts, each with a tenth of its words (at least
	// one) replaced by words of other texts. It is the share of the copies that a question
	// about the original text finds.
	Edited float64
	// Same is the share of the answers whose two texts look the same to a person, which is
	// taken to mean a Ratio of at least 60 %. It is measured on a few hundred answers.
	Same       float64
	Answers    int
	Candidates float64 // candidates that a question reads, estimated for the whole table
	Bytes      int     // approximate size of a row with its indexes
	Layout     string  // see the function Layout
	Seconds    float64 // to sketch all rows on one processor
	Only       []Pair  // pairs that this preset finds and the chosen one misses
	Missed     []Pair  // pairs that the chosen preset finds and this one misses
}

// A Point is the recall at a resemblance and a little above.
type Point struct {
	Resemblance float64 `json:"resemblance"`
	Expected    float64 `json:"expected"`
	Measured    float64 `json:"measured"`
	Pairs       int     `json:"pairs"`
}

// A Pair is the beginnings of two texts.
type Pair struct {
	A     string  `json:"a"`
	B     string  `json:"b"`
	Ratio float64 `json:"ratio"` // see the function Ratio
}

// Row is the advice by the names that SQL and JSON give it. What was measured on nothing is
// nil; the reason belongs to the chosen preset.
func (a *Advice) Row(reason string) map[string]any {
	row := map[string]any{"preset": a.Preset, "chosen": a.Chosen, "at_least": a.AtLeast, "expected": a.Expected, "recall": nil, "pairs": a.Pairs, "edited": a.Edited,
		"same": nil, "answers": a.Answers, "candidates": a.Candidates, "bytes": a.Bytes, "seconds": a.Seconds, "layout": a.Layout, "settings": a.Settings, "reason": nil,
		"curve": a.Curve, "only": slices.Concat([]Pair{}, a.Only), "missed": slices.Concat([]Pair{}, a.Missed)}
	if a.Chosen {
		row["reason"] = reason
	}
	if a.Pairs > 0 {
		row["recall"] = a.Recall
	}
	if a.Answers > 0 {
		row["same"] = a.Same
	}
	return row
}

// PartsFrom is the number of rows from which the layout parts is proposed. There a checkin in
// the layout columns takes three times as long in SQLite and writes ten times as much to
// PostgreSQL's log, and the difference grows. A question takes three to eight times as long in parts.
const PartsFrom = 300_000

// Layout returns the layout to propose for a table of that number of rows into which rows are
// checked in.
func Layout(rows int64) string {
	if rows >= PartsFrom {
		return "parts"
	}
	return "columns"
}

const (
	pairsShown   = 3
	answersRead  = 300
	textShown    = 200  // characters
	ratioLength  = 2000 // characters of a text that Ratio compares
	bytesRow     = 60   // of a side row, without its sketch and features
	bytesFeature = 26   // of a feature with its index
)

// Presets measures the presets that a table can have on a sample of its texts. rows is the
// number of rows of the table. If stop is not nil, Presets calls it regularly; its error
// ends the work.
func Presets(texts []string, rows int64, stop func() error) (list []Advice, reason string, err error) {
	chosen, reason := sketch.Look(texts)
	t := newTrial(texts, rows, stop)
	var answers [][]pair
	for _, preset := range sketch.Presets() {
		if preset.Background == 0 && preset.Name != chosen {
			continue // a preset from a paper
		}
		a, found, err := t.preset(preset)
		if err != nil {
			return nil, "", err
		}
		a.Chosen = preset.Name == chosen
		list, answers = append(list, a), append(answers, found)
	}
	best := slices.IndexFunc(list, func(a Advice) bool { return a.Chosen })
	for i := range list {
		if i != best {
			list[i].Only, list[i].Missed = t.show(answers[i], answers[best]), t.show(answers[best], answers[i])
		}
	}
	return list, reason, nil
}

// pair is two texts by their numbers, the lesser first.
type pair struct{ a, b int32 }

type trial struct {
	texts  []string
	edited []string // a copy of each text with some words replaced
	rows   int64
	stop   func() error
	ratios map[pair]float64
}

func newTrial(texts []string, rows int64, stop func() error) *trial {
	t := &trial{texts: texts, rows: max(rows, int64(len(texts))), stop: stop, ratios: map[pair]float64{}}
	if stop == nil {
		t.stop = func() error { return nil }
	}
	random := rand.New(rand.NewPCG(1997, uint64(len(texts))))
	for i, text := range texts {
		words := splitWords(text)
		others := splitWords(texts[(i+1+random.IntN(max(1, len(texts)-1)))%len(texts)])
		for _, n := range random.Perm(len(words))[:min(len(words), max(1, len(words)/10))] {
			if len(others) > 0 {
				words[n] = others[random.IntN(len(others))]
			}
		}
		t.edited = append(t.edited, strings.Join(words, ""))
	}
	return t
}

// splitWords splits a text into words with the blanks after them, or into characters when
// it has very few blanks.
func splitWords(text string) []string {
	words := strings.SplitAfter(text, " ")
	if len(words)*20 > len(text) || len(text) < 20 {
		return words
	}
	return strings.Split(text, "")
}

// preset measures one preset.
func (t *trial) preset(preset sketch.Preset) (a Advice, answers []pair, err error) {
	a = Advice{Preset: preset.Name, Settings: preset.Settings, AtLeast: preset.AtLeast}
	p, err := sketch.ParseProfile(preset.Settings)
	if err != nil {
		return a, nil, err
	}
	p.Bits = p.StoredBits()
	s, err := newSample(p, t.texts, t.stop)
	if err != nil {
		return a, nil, err
	}
	edited, err := newSample(p, t.edited, t.stop)
	if err != nil {
		return a, nil, err
	}
	if err := a.expect(p); err != nil {
		return a, nil, err
	}
	candidates, answers, err := t.measure(&a, s)
	if err != nil {
		return a, nil, err
	}
	if a.Edited, err = t.found(s, edited, preset.AtLeast); err != nil {
		return a, nil, err
	}
	a.Answers = len(answers)
	a.Same = t.same(answers)
	n := len(t.texts)
	if n > 1 {
		a.Candidates = 2 * float64(candidates) / float64(n) * float64(t.rows-1) / float64(n-1)
	}
	a.Layout = Layout(t.rows)
	a.Bytes = bytesRow + s.bytes + bytesFeature*p.K
	if n > 0 {
		a.Seconds = s.took.Seconds() * float64(t.rows) / float64(n)
	}
	return a, answers, nil
}

// expect computes the recall that the theory gives the filter.
func (a *Advice) expect(p sketch.Profile) (err error) {
	if a.Expected, err = sketch.ThresholdRecall(p.K, p.S, a.AtLeast); err != nil {
		return err
	}
	for _, x := range Thresholds {
		expected, err := sketch.ThresholdRecall(p.K, p.S, x)
		if err != nil {
			return err
		}
		a.Curve = append(a.Curve, Point{Resemblance: x, Expected: expected})
	}
	return nil
}

// measure compares every pair of the texts: it sets the measured recall, and returns how
// many pairs share a feature and which of them a question answers.
func (t *trial) measure(a *Advice, s *sample) (candidates int, answers []pair, err error) {
	found := 0
	for j := range t.texts {
		if err := t.stop(); err != nil {
			return 0, nil, err
		}
		exact := s.resemblances(j)
		for i := range j {
			shared, answer := s.shared(s, i, j), false
			if shared {
				candidates++
				r, err := sketch.Resemblance(s.stored[i], s.stored[j])
				if err != nil {
					return 0, nil, err
				}
				if answer = r >= a.AtLeast; answer {
					answers = append(answers, pair{int32(i), int32(j)})
				}
			}
			if exact[i] >= a.AtLeast {
				if a.Pairs++; answer {
					found++
				}
			}
			for c := range a.Curve {
				if point := &a.Curve[c]; exact[i] >= point.Resemblance && exact[i] < point.Resemblance+sketch.FilterMargin+1e-9 {
					if point.Pairs++; shared {
						point.Measured++
					}
				}
			}
		}
	}
	a.Recall = share(float64(found), a.Pairs)
	for c := range a.Curve {
		a.Curve[c].Measured = share(a.Curve[c].Measured, a.Curve[c].Pairs)
	}
	return candidates, answers, nil
}

// found returns the share of the edited copies that a question about the original finds.
func (t *trial) found(s, edited *sample, atLeast float64) (float64, error) {
	copies, found := 0, 0
	for i := range t.texts {
		if s.stored[i] == nil || edited.stored[i] == nil || t.texts[i] == t.edited[i] {
			continue
		}
		if copies++; s.shared(edited, i, i) {
			r, err := sketch.Resemblance(s.stored[i], edited.stored[i])
			if err != nil {
				return 0, err
			}
			if r >= atLeast {
				found++
			}
		}
	}
	return share(float64(found), copies), nil
}

// share returns part/n, and 1 when n is 0, since nothing was missed.
func share(part float64, n int) float64 {
	if n == 0 {
		return 1
	}
	return part / float64(n)
}

// same returns the share of answers whose two texts look the same to a person.
func (t *trial) same(answers []pair) float64 {
	read, same := 0, 0
	for i := 0; i < len(answers); i += max(1, len(answers)/answersRead) {
		if read++; t.ratio(answers[i]) >= 0.6 {
			same++
		}
	}
	return share(float64(same), read)
}

// show returns pairs that are in one list and not in the other, with the highest Ratio
// first.
func (t *trial) show(one, other []pair) (list []Pair) {
	has := map[pair]bool{}
	for _, x := range other {
		has[x] = true
	}
	var only []pair
	for _, x := range one {
		if !has[x] && len(only) < answersRead {
			only = append(only, x)
		}
	}
	slices.SortStableFunc(only, func(x, y pair) int { return cmp.Compare(t.ratio(y), t.ratio(x)) })
	for _, x := range only[:min(len(only), pairsShown)] {
		list = append(list, Pair{cut(t.texts[x.a]), cut(t.texts[x.b]), t.ratio(x)})
	}
	return list
}

func (t *trial) ratio(x pair) float64 {
	r, known := t.ratios[x]
	if !known {
		r = Ratio(t.texts[x.a], t.texts[x.b])
		t.ratios[x] = r
	}
	return r
}

// cut returns the beginning of a text, on one line.
func cut(text string) string {
	r := []rune(strings.Join(strings.Fields(text[:min(len(text), 4*textShown)]), " "))
	if len(r) <= textShown {
		return strings.ToValidUTF8(string(r), "\uFFFD")
	}
	return strings.ToValidUTF8(string(r[:textShown]), "\uFFFD") + "…"
}

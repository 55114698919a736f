package main

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/alike-sql/alike/sketch"
)

// A verifier computes the exact resemblance of two documents: what any finder
// of candidates needs behind it. It has the documents in memory.
type verifier struct {
	task    *task
	profile sketch.Profile
}

func newVerifier(t *task) (*verifier, error) {
	p, err := sketch.ParseProfile(shingling)
	if err != nil {
		return nil, err
	}
	return &verifier{t, p}, t.read()
}

// threshold is the resemblance that an answer has, verifyFrom the estimate of what
// is compared exactly: three standard errors less.
const (
	threshold  = 0.8
	verifyFrom = 0.67
)

// keep answers with the candidates that resemble the document enough.
func (v *verifier) keep(document int, candidates []int) error {
	for _, c := range candidates {
		if c == document || c >= len(v.task.documents) {
			continue
		}
		r, ok, err := sketch.ExactResemblance(v.profile, []byte(v.task.documents[document]), []byte(v.task.documents[c]))
		if err != nil {
			return err
		}
		if ok && r >= threshold {
			v.task.answer(document, c)
		}
	}
	return nil
}

// ask puts as many questions as there is time for, and adds the median and the
// 99th percentile to the measures.
func (t *task) ask(m map[string]float64, question func(document int) error) (int, error) {
	const limit = 10 * time.Second
	var times []time.Duration
	for began := time.Now(); len(times) < len(t.questions) && time.Since(began) < limit; {
		start := time.Now()
		if err := question(t.questions[len(times)]); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	if n := len(times); n > 0 {
		slices.Sort(times)
		m[query50], m[query99] = times[n/2].Seconds(), times[min(n-1, n*99/100)].Seconds()
	}
	return len(times), nil
}

// words returns the different folded words of a text, as an SQL engine's own
// tokenizer would.
func words(text string) []string {
	w := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(w)
	return slices.Compact(w)
}

// rarest returns the five words of a text that the fewest documents have, at
// least two of them: a word of this document alone finds nothing.
func rarest(text string, frequency map[string]int32) []string {
	w := slices.DeleteFunc(words(text), func(word string) bool { return frequency[word] < 2 })
	slices.SortStableFunc(w, func(a, b string) int { return int(frequency[a]) - int(frequency[b]) })
	return w[:min(5, len(w))]
}

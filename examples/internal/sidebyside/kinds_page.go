package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

func readKinds(out string) (results []*kindResult, err error) {
	b, err := os.ReadFile(filepath.Join(out, "kinds.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return results, json.Unmarshal(b, &results)
}

// writeKinds writes the results as JSON and as a page, in the order of kindSources.
func writeKinds(out string, results []*kindResult) error {
	place := func(r *kindResult) int {
		return slices.IndexFunc(kindSources, func(s kindSource) bool { return s.name == r.Name })
	}
	slices.SortFunc(results, func(a, b *kindResult) int { return place(a) - place(b) })
	b, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "kinds.json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "kinds.md"), []byte(kindsPage(results)), 0o644)
}

const kindsIntroduction = `# Texts of every kind

Collections of real texts, each attached without a profile: attach looks at the rows and chooses the preset. The page is
written by

    go run -C examples/internal/sidebyside . -kinds all
    go run -C examples/internal/sidebyside . -kinds titles,zh

*The same* are the pairs that a person would call so: at least 0.9 of the characters of the two texts agree (twice the longest common
subsequence, as a share of both lengths, of folded text), every pair of the collection compared. *Versions* are pairs of one item. *Recall* is the share of the same that were found,
*true* the share of the answers whose ratio is 0.6 or more (a sample of 2,000), *within 0.1* the share of the
answers whose estimate is that near to the exact resemblance, and *held* the share whose bounds contain it. A fill and a question are in µs: a row's share of the time to index
the collection, and the time for the rows that resemble a text.

The peers compare runs of five folded characters at the threshold 0.5, where they find most: datasketch and rensa with 128 permutations and each candidate checked by the
estimate, gaoya with 42 bands of 3, pg_trgm with a GIN index. pg_trgm's recall is that of its similarity over all pairs, as a complete scan would find
them (a sample of 2,000 of the same), its answers are those for 200 texts, or as many as it is asked within 30 seconds.
`

const kindsMissed = `
A lower threshold finds more and costs candidates and wrong answers: see the curves below. Where a goal is missed by a few pairs, they lie just below the
threshold: in texts of a few characters a person's 0.9 is one character of ten, the same distance as between two different messages. Choose the threshold from the row
of the curve that looks like your texts, or from ` + "`alike_advise`" + `, and give it to attach: ` + "`{\"at_least\": 0.45}`" + `.

Copyright files quote the same licences, one file once and another five times, and a set of shingles does not count how often. The setting ` + "`bag`" + ` does: with
` + "`{\"profile\": \"prose bag\"}`" + ` all of the same are found and 0.974 of the answers are true. A bag takes two to four times as long to sketch, so no preset is one. The option
` + "`common`" + ` leaves the licences out.

The fourth goal, to be ten times as quick as the best peer of equal recall, is reached for %d fills and %d questions of %d. rensa, gaoya and
datasketch keep bare numbers in memory, without a database, a file or a transaction, and no index in a database is as quick. Of pg_trgm's
questions %d take ten times as long as Alike's or more.`

// missedGoals tells which results are short of the goals.
func missedGoals(results []*kindResult) (missed []string) {
	for _, r := range results {
		a := r.Answers["alike"]
		var short []string
		if a.Recall < 0.97 {
			short = append(short, "recall")
		}
		for _, name := range kindContenders[1:] {
			if p := r.Answers[name]; p != nil && p.Recall > a.Recall+0.01 {
				short = append(short, name+" finds more")
			}
		}
		if a.True != nil && *a.True < 0.95 {
			short = append(short, "true answers")
		}
		if short != nil {
			missed = append(missed, r.Name+" ("+strings.Join(short, ", ")+")")
		}
	}
	if missed == nil {
		missed = []string{"none"}
	}
	return missed
}

// quicker counts the collections where Alike is ten times as quick as the peer that finds as
// much, by a recall at most 0.01 lower, and the most; and where its question is ten times as
// quick as pg_trgm's.
func quicker(results []*kindResult) (fills, questions, trigrams int) {
	for _, r := range results {
		a := r.Answers["alike"]
		var best *kindAnswers
		for _, name := range kindContenders[1:] {
			p := r.Answers[name]
			if p != nil && p.Recall >= a.Recall-0.01 && (best == nil || p.Recall > best.Recall || p.Recall == best.Recall && p.Question < best.Question) {
				best = p
			}
		}
		if best == nil || best.Fill >= 10*a.Fill {
			fills++
		}
		if best == nil || best.Question >= 10*a.Question {
			questions++
		}
		if p := r.Answers["pg_trgm"]; p != nil && p.Question >= 10*a.Question {
			trigrams++
		}
	}
	return fills, questions, trigrams
}

func kindsPage(results []*kindResult) string {
	var b strings.Builder
	b.WriteString(kindsIntroduction)
	b.WriteString("\n| collection | rows | characters | the same | preset | recall | best peer | true | within 0.1 | held | versions | answers |\n|---|--:|--:|--:|---|--:|---|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		a := r.Answers["alike"]
		best, peer := "–", 0.0
		for _, name := range kindContenders[1:] {
			if p := r.Answers[name]; p != nil && (best == "–" || p.Recall > peer) {
				best, peer = fmt.Sprintf("%.3f %s", p.Recall, name), p.Recall
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %.3f | %s | %s | %s | %s | %s | %d |\n", r.Name, r.Rows, r.Median, r.Same, r.Chosen, a.Recall, best,
			optional(a.True), optional(a.Within), optional(r.Held), optional(a.Versions), a.Pairs)
	}
	b.WriteString("\nThe goals are a recall of 0.97, no peer's recall more than 0.01 above it, and 0.95 of the answers true. Missed: ")
	b.WriteString(strings.Join(missedGoals(results), "; "))
	fills, questions, trigrams := quicker(results)
	fmt.Fprintf(&b, ".\n"+kindsMissed+"\n", fills, questions, len(results), trigrams)
	b.WriteString("\nWhat the presets cost, as medians over the collections that attach chose them for: bytes of a row beside its text, the fill of a row and a question in µs.\n\n" +
		"| preset | collections | bytes a row | fill | question |\n|---|--:|--:|--:|--:|\n")
	for _, preset := range sketch.Presets() {
		var bytes, fills, questions []float64
		for _, r := range results {
			if a := r.Answers["alike"]; r.Chosen == preset.Name && r.Bytes > 0 {
				bytes, fills, questions = append(bytes, r.Bytes), append(fills, 1e6*a.Fill), append(questions, 1e6*a.Question)
			}
		}
		if len(bytes) > 0 {
			fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.0f |\n", preset.Name, len(bytes), median(bytes), median(fills), median(questions))
		}
	}
	b.WriteString("\nAlike stores its sketches and an index a feature in a SQLite file; datasketch, rensa and gaoya keep theirs in memory.\n\nEach contender: recall, true answers, the fill of a row and a question in µs.\n\n| collection |")
	for _, name := range kindContenders {
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(kindContenders)) + "\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s |", r.Name)
		for _, name := range kindContenders {
			if a := r.Answers[name]; a != nil {
				fmt.Fprintf(&b, " %.3f, %s, %.0f, %.0f |", a.Recall, optional(a.True), 1e6*a.Fill, 1e6*a.Question)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nUnder other thresholds, with the preset that was chosen: recall, true answers and how many answers there are.\n\n| collection | chosen |")
	for _, atLeast := range kindThresholds {
		fmt.Fprintf(&b, " %v |", atLeast)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(kindThresholds)) + "\n")
	for _, r := range results {
		if len(r.Curve) == 0 {
			continue // measured before there were curves
		}
		fmt.Fprintf(&b, "| %s | %s %v |", r.Name, r.Chosen, r.AtLeast)
		for _, p := range r.Curve {
			fmt.Fprintf(&b, " %.3f, %s, %d |", p.Recall, optional(p.True), p.Pairs)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWhat the collections are:\n\n| collection | texts |\n|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s |\n", r.Name, r.About)
	}
	return b.String()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

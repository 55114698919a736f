package report

import (
	"context"
	"slices"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/advise"
)

// Advice is the presets side by side on a sample of the rows.
type Advice struct {
	Texts   int              `json:"texts"`
	Reason  string           `json:"reason"` // why the preset of the sample is chosen
	Presets []map[string]any `json:"presets"`

	list []advise.Advice
}

// advisedTexts is how many rows the presets are tried on.
const advisedTexts = 300

// advice tries the presets on texts from all over the table. Elements have no preset.
func (m *maker) advice(ctx context.Context, _ *findings) error {
	if m.a.Profile.Stream == sketch.Elements || m.spool.len() == 0 {
		return nil
	}
	m.config.Progress("trying the presets on "+m.out.Name, 0, 0)
	count := min(m.spool.len(), advisedTexts)
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = i * m.spool.len() / count
	}
	read, err := m.texts(ctx, numbers)
	if err != nil {
		return err
	}
	var texts []string
	bytes := 0
	for _, n := range numbers {
		if text, why := read[n].Checked().Shown(); why == "" && !advise.Enough(len(texts), bytes) {
			texts, bytes = append(texts, text), bytes+len(text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	list, reason, err := advise.Presets(texts, int64(m.spool.len()), func() error { return context.Cause(ctx) })
	if err != nil {
		return err
	}
	m.out.Advice = &Advice{Texts: len(texts), Reason: reason, list: list}
	for i := range list {
		row := list[i].Row(reason)
		delete(row, "seconds") // a report of the same rows is the same
		delete(row, "layout")  // of a table into which rows are checked in
		m.out.Advice.Presets = append(m.out.Advice.Presets, row)
	}
	return nil
}

// Chosen is the preset that suits the sample.
func (a *Advice) Chosen() *advise.Advice {
	return &a.list[slices.IndexFunc(a.list, func(p advise.Advice) bool { return p.Chosen })]
}

// List is the presets.
func (a *Advice) List() []advise.Advice { return a.list }

func (v *view) drawAdvice() (err error) {
	if v.Advice != nil {
		v.AdviceChart, err = drawn(v.ID+"-advice", 330, advise.Chart(v.Advice.list).Write)
	}
	return err
}

package sqlext

import (
	"encoding/json"
	"fmt"

	"github.com/alike-sql/alike/sketch"
)

// bounds is alike_bounds.
func bounds(_ *conn, f *frame) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	level := confidence
	if v := argument(f.args(), 2); v != nil {
		if level, err = v.fraction("the confidence"); err != nil {
			return err
		}
	}
	interval, err := sketch.Bounds(a, b, level)
	if err != nil {
		return err
	}
	text, err := json.Marshal(struct {
		Low      float64 `json:"low"`
		Estimate float64 `json:"estimate"`
		High     float64 `json:"high"`
	}{interval.Low, interval.Estimate, interval.High})
	f.setBytes(typeText, text)
	return err
}

// exact is the common part of the two exact ratios.
func exact(ratio func(p sketch.Profile, a, b []byte) (float64, bool, error)) func(c *conn, f *frame) error {
	return func(c *conn, f *frame) error {
		a := f.args()
		s, err := c.sketcher(argument(a, 2))
		if err != nil {
			return err
		}
		r, ok, err := ratio(s.Profile(), a[0].bytes(), a[1].bytes())
		if ok {
			f.setFloat(r)
		}
		return err
	}
}

// lookLimit is the longest document that the functions for looking take: they
// hold all of their rows at once.
const lookLimit = 16 << 20

func (c *conn) look(documents []value, profile *value) (sketch.Profile, error) {
	if profile.null() {
		profile = nil
	}
	s, err := c.sketcher(profile)
	if err != nil {
		return sketch.Profile{}, err
	}
	for i := range documents {
		if documents[i].n > lookLimit {
			return sketch.Profile{}, fmt.Errorf("a document of %d bytes, want at most %d", documents[i].n, lookLimit)
		}
	}
	return s.Profile(), nil
}

// within tells whether another row may be read.
func within(n int, limit int64) bool { return limit < 0 || int64(n) < limit }

// tokens is alike_tokens.
func tokens(c *conn, a []value, want wanted) (source, error) {
	p, err := c.look(a[:1], &a[1])
	if err != nil {
		return nil, err
	}
	var list []string
	for token := range sketch.Tokens(p, a[0].bytes()) {
		if !within(len(list), want.limit) {
			break
		}
		list = append(list, token)
	}
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		cells[0].setInt(int64(i) + 1)
		b.setText(&cells[1], list[i])
	}), nil
}

// shingles is alike_shingles.
func shingles(c *conn, a []value, want wanted) (source, error) {
	p, err := c.look(a[:1], &a[1])
	if err != nil {
		return nil, err
	}
	var texts []string
	var fingerprints []uint64
	for text, fingerprint := range sketch.Shingles(p, a[0].bytes()) {
		if !within(len(texts), want.limit) {
			break
		}
		texts, fingerprints = append(texts, text), append(fingerprints, fingerprint)
	}
	return rowsOf(len(texts), func(b *batch, cells []value, i int) {
		cells[0].setInt(int64(i) + 1)
		b.setText(&cells[1], texts[i])
		cells[2].setInt(int64(fingerprints[i]))
	}), nil
}

// explain is alike_explain.
func explain(c *conn, a []value, _ wanted) (source, error) {
	p, err := c.look(a[:2], &a[2])
	if err != nil {
		return nil, err
	}
	list, err := sketch.Explain(p, a[0].bytes(), a[1].bytes())
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		passage := &list[i]
		b.setText(&cells[0], passage.Kind)
		b.setText(&cells[1], passage.Text)
		cells[2].setInt(int64(passage.Tokens))
		if passage.Left >= 0 {
			cells[3].setInt(int64(passage.Left) + 1)
		}
		if passage.Right >= 0 {
			cells[4].setInt(int64(passage.Right) + 1)
		}
	}), err
}

// cells is alike_cells.
func cells(_ *conn, a []value, _ wanted) (source, error) {
	var numbers []float64
	for i := range a {
		if a[i].null() {
			break
		}
		d, ok := a[i].number()
		if !ok {
			return nil, fmt.Errorf("%s is %s, want a number", []string{"x", "the radius", "the spacing", "y", "z"}[i], a[i].describe())
		}
		numbers = append(numbers, d)
	}
	list, err := sketch.Cells(numbers[0], numbers[1], numbers[2], numbers[3:]...)
	return rowsOf(len(list), func(b *batch, cells []value, i int) { b.setText(&cells[0], list[i]) }), err
}

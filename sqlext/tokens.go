package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// lookLimit is the longest document that the functions for looking take: they
// hold all of their rows at once.
const lookLimit = 16 << 20

func (c *conn) look(documents []sqlite.Value, profile *sqlite.Value) (sketch.Profile, error) {
	if profile.Null() {
		profile = nil
	}
	s, err := c.sketcher(profile)
	if err != nil {
		return sketch.Profile{}, err
	}
	for i := range documents {
		if documents[i].Len() > lookLimit {
			return sketch.Profile{}, fmt.Errorf("a document of %d bytes, want at most %d", documents[i].Len(), lookLimit)
		}
		if err := sketch.CheckDocument(s.Profile(), documents[i].Bytes()); err != nil {
			return sketch.Profile{}, err
		}
	}
	return s.Profile(), nil
}

// within tells whether another row may be read.
func within(n int, limit int64) bool { return limit < 0 || int64(n) < limit }

// tokens is alike_tokens.
func tokens(c *conn, a []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	p, err := c.look(a[:1], &a[1])
	if err != nil {
		return nil, err
	}
	var list []string
	for token := range sketch.Tokens(p, a[0].Bytes()) {
		if !within(len(list), want.Limit) {
			break
		}
		list = append(list, token)
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetInt(int64(i) + 1)
		b.SetText(&cells[1], list[i])
	}), nil
}

// shingles is alike_shingles.
func shingles(c *conn, a []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	p, err := c.look(a[:1], &a[1])
	if err != nil {
		return nil, err
	}
	var texts []string
	var fingerprints []uint64
	for text, fingerprint := range sketch.Shingles(p, a[0].Bytes()) {
		if !within(len(texts), want.Limit) {
			break
		}
		texts, fingerprints = append(texts, text), append(fingerprints, fingerprint)
	}
	return sqlite.Rows(len(texts), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetInt(int64(i) + 1)
		b.SetText(&cells[1], texts[i])
		cells[2].SetInt(int64(fingerprints[i]))
	}), nil
}

// explain is alike_explain.
func explain(c *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	p, err := c.look(a[:2], &a[2])
	if err != nil {
		return nil, err
	}
	list, err := sketch.Explain(p, a[0].Bytes(), a[1].Bytes())
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		passage := &list[i]
		b.SetText(&cells[0], passage.Kind)
		b.SetText(&cells[1], passage.Text)
		cells[2].SetInt(int64(passage.Tokens))
		if passage.Left >= 0 {
			cells[3].SetInt(int64(passage.Left) + 1)
		}
		if passage.Right >= 0 {
			cells[4].SetInt(int64(passage.Right) + 1)
		}
	}), err
}

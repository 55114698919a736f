package report

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/compare"
)

// Checked adds the reason why a document cannot be shown, if there is a reason.
func (d Document) Checked() Document {
	switch {
	case d.Size < 0:
		d.Why = "NULL"
	case d.Bytes == nil && d.Size > 0:
		d.Why = fmt.Sprintf("%s, more than the %s that a report reads", compare.ByteCount(d.Size), compare.ByteCount(MaxDocument))
	default:
		d.Why = ""
	}
	return d
}

// texts reads documents by number and turns them into text as the worker does.
func (m *maker) texts(ctx context.Context, numbers []int) (map[int]Document, error) {
	keys := make([]string, len(numbers))
	for i, n := range numbers {
		var err error
		if keys[i], err = m.spool.key(n); err != nil {
			return nil, err
		}
	}
	list, err := m.src.Documents(ctx, m.a, keys)
	if err != nil {
		return nil, err
	}
	texts := make(map[int]Document, len(numbers))
	for i, d := range list {
		if d.Why == "" && (m.a.Media != "" || d.Media != "") {
			if d.Bytes, err = m.extractor.Text(ctx, d.Bytes, d.Media); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				d.Why = err.Error()
			}
		}
		texts[numbers[i]] = d
	}
	return texts, nil
}

// Shown is a document as text, or why it cannot be shown.
func (d Document) Shown() (string, string) {
	if d.Why != "" {
		return "", d.Why
	}
	if !utf8.Valid(d.Bytes) && bytes.IndexByte(d.Bytes, 0) >= 0 {
		return "", compare.ByteCount(d.Size) + " that are no text"
	}
	return string(bytes.ToValidUTF8(d.Bytes, []byte("\uFFFD"))), ""
}

// compared shows where two documents differ under a profile.
func compared(p sketch.Profile, a, b Document) *compare.Comparison {
	left, why := a.Shown()
	right, whyRight := b.Shown()
	if why == "" {
		why = whyRight
	}
	if why != "" {
		return &compare.Comparison{Why: why}
	}
	return compare.Texts(p, left, right)
}

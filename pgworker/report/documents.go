package report

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/compare"
)

// checked adds the reason why a document cannot be shown, if there is a reason.
func (d document) checked() document {
	switch {
	case d.size < 0:
		d.why = "NULL"
	case d.bytes == nil && d.size > 0:
		d.why = fmt.Sprintf("%s, more than the %s that a report reads", compare.ByteCount(d.size), compare.ByteCount(maxDocument))
	default:
		d.why = ""
	}
	return d
}

// texts reads documents by number and turns them into text as the worker does.
func (m *maker) texts(ctx context.Context, numbers []int) (map[int]document, error) {
	keys := make([]string, len(numbers))
	for i, n := range numbers {
		var err error
		if keys[i], err = m.spool.key(n); err != nil {
			return nil, err
		}
	}
	list, err := m.src.documents(ctx, m.a, keys)
	if err != nil {
		return nil, err
	}
	texts := make(map[int]document, len(numbers))
	for i, d := range list {
		if d.why == "" && (m.a.media != "" || d.media != "") {
			if d.bytes, err = m.extractor.Text(ctx, d.bytes, d.media); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				d.why = err.Error()
			}
		}
		texts[numbers[i]] = d
	}
	return texts, nil
}

// shown is a document as text, or why it cannot be shown.
func (d document) shown() (string, string) {
	if d.why != "" {
		return "", d.why
	}
	if !utf8.Valid(d.bytes) && bytes.IndexByte(d.bytes, 0) >= 0 {
		return "", compare.ByteCount(d.size) + " that are no text"
	}
	return string(bytes.ToValidUTF8(d.bytes, []byte("\uFFFD"))), ""
}

// compared shows where two documents differ under a profile.
func compared(p sketch.Profile, a, b document) *compare.Comparison {
	left, why := a.shown()
	right, whyRight := b.shown()
	if why == "" {
		why = whyRight
	}
	if why != "" {
		return &compare.Comparison{Why: why}
	}
	return compare.Texts(p, left, right)
}

package token

import (
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A builder puts tokens together from characters. A token may be open from one
// piece of text to the next; its beginning is held in between.
type builder struct {
	*Tokens
	open  int    // where the open token begins in text
	state state  // of the open token
	held  []byte // the open token, between pieces
}

// A state says what the open token is.
type state uint8

const (
	noToken     state = iota
	runToken          // a run of characters
	aloneToken        // a character of classAlone; only marks continue it
	numberToken       // code: a number
)

func (b *builder) Reset() { b.held, b.state = b.held[:0], noToken }

// begin starts a piece whose tokens go to t.
func (b *builder) begin(t *Tokens) {
	b.Tokens, b.open = t, len(t.Text)
	t.Text = append(t.Text, b.held...)
}

// finish ends a piece, and when final the text.
func (b *builder) finish(final bool) {
	if final {
		b.close()
	} else if len(b.Text)-b.open > maxToken {
		b.split()
	}
	b.held = append(b.held[:0], b.Text[b.open:]...)
	b.Text = b.Text[:b.open]
}

// close ends the open token, if there is one.
func (b *builder) close() {
	if len(b.Text)-b.open > maxToken {
		b.split()
	}
	if len(b.Text) > b.open {
		b.Spans = append(b.Spans, kernel.Span{Start: uint32(b.open), End: uint32(len(b.Text))})
		b.open = len(b.Text)
	}
	b.state = noToken
}

// split ends tokens of at most maxToken bytes, each with as many characters as
// that holds, until the open token is no longer.
func (b *builder) split() {
	for len(b.Text)-b.open > maxToken {
		end := b.open + maxToken
		for !utf8.RuneStart(b.Text[end]) {
			end--
		}
		b.Spans = append(b.Spans, kernel.Span{Start: uint32(b.open), End: uint32(end)})
		b.open = end
	}
}

// word takes a character of canonical text as words do.
func (b *builder) word(k class, form ...byte) {
	switch {
	case !k.inWord():
		b.close()
		return
	case k == classAlone || b.state == aloneToken && k != classMark:
		b.close()
	}
	b.Text = append(b.Text, form...)
	switch {
	case k == classAlone:
		b.state = aloneToken
	case b.state == noToken:
		b.state = runToken
	}
}

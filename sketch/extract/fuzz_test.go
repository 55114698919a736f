package extract

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"
)

// Without commands a document of any bytes and any media type is text, or an error. Text
// that is plain comes back as it was.
func FuzzText(f *testing.F) {
	for _, media := range []string{"", "auto", "plain", "html", "pdf", "text/html; charset=utf-8", "text/x", "application/zip", "a/b; c"} {
		f.Add([]byte("plain words"), media)
		f.Add([]byte("<!doctype html><p>one<br>two</p>"), media)
		f.Add([]byte("%PDF-1.7\n\x00\xff"), media)
	}
	e, err := New(Config{Commands: map[string][]string{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc []byte, media string) {
		if e.RunsCommand(doc, media) {
			t.Fatalf("%q as %q runs a command", doc, media)
		}
		text, err := e.Text(t.Context(), doc, media)
		known := e.Known(media)
		if known != nil && err == nil {
			t.Fatalf("%q is no media type (%v) and has the text %q", media, known, text)
		}
		if err != nil {
			if known == nil && !errors.Is(err, ErrUnknownType) {
				t.Fatalf("%q as %q: %v", doc, media, err)
			}
			return
		}
		base, err := e.typeOf(doc, media)
		if err != nil || base != typePlain && base != typeHTML {
			t.Fatalf("%q as %q is %q, %v", doc, media, base, err)
		}
		if base == typePlain && !bytes.Equal(text, doc) || utf8.Valid(doc) && !utf8.Valid(text) {
			t.Fatalf("%q as %q has the text %q", doc, media, text)
		}
	})
}

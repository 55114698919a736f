package sqlext

import (
	"bytes"

	"golang.org/x/net/html"
)

// inline are the elements that do not end a word.
var inline = map[string]bool{"a": true, "abbr": true, "b": true, "big": true, "cite": true, "code": true, "em": true, "font": true,
	"i": true, "ins": true, "del": true, "mark": true, "s": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "tt": true, "u": true, "wbr": true}

// htmlText is the text of a page: no tags, no scripts, no styles, a blank where
// an element begins or ends that is not part of a line. It is what extract=html gives to a profile of words.
func htmlText(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	z := html.NewTokenizer(bytes.NewReader(doc))
	hidden := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.TextToken:
			if hidden == "" {
				out = append(out, z.Text()...)
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if hidden == "" && (string(name) == "script" || string(name) == "style") {
				hidden = string(name)
			}
			if !inline[string(name)] {
				out = append(out, ' ')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == hidden {
				hidden = ""
			}
			if !inline[string(name)] {
				out = append(out, ' ')
			}
		case html.SelfClosingTagToken:
			if name, _ := z.TagName(); !inline[string(name)] {
				out = append(out, ' ')
			}
		}
	}
}

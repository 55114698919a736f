package token

import (
	"bytes"
	"html"
	"strings"
	"sync"
	"unicode/utf8"
)

// markup takes a page apart into its text, its word breaks and its URLs, for the
// stream html and for AppendHTMLText. It is the tokenizer of the HTML standard,
// section 13.2.5, for a document without scripting, in a form that takes its
// input in pieces and keeps a bounded part of it: what is dropped need not be
// remembered, and the tags that matter are known by short names. The tree is
// not built.
//
//   - Dropped: tags, comments, declarations, and what is between the tags of
//     script, style, template, iframe, noembed and noframes.
//   - A URL is the value of href in any tag and of src in img: its first 4096
//     bytes, with character references replaced and white space and controls
//     taken out.
//   - A tag breaks words, unless it is one of inlineTags, such as b, or of
//     unseenTags, such as script, which a browser does not show. Comments and
//     declarations do not break words either: har<b>bour</b> and har<!-- -->bour
//     are one word.
type markup struct {
	to    sink
	links bool // sink wants URLs
	state htmlState

	name    []byte // of the tag, in lower case, or longer than any that matters
	closing bool
	urls    []attribute // of the tag
	want    int         // the attribute being read: its place in urls, or -1
	key     []byte      // its name
	quote   byte

	dashes    int  // of a comment or a script, in a row
	beginning bool // of a comment

	raw       string // the element whose content is not markup
	hidden    bool   // that content is dropped
	templates int    // that are open; their content is dropped
	escape    int    // of a script: 1 within <!-- -->, 2 within a script in there
	match     []byte // what could be the end tag of raw

	reference reference
	known     map[string][]byte // what references stand for
}

// A sink takes what a page is made of.
type sink interface {
	// feed takes text and returns how many of its bytes it took: all, or all but
	// the beginning of a character that anything could complete.
	feed(text []byte, end ending) int
	// part takes a tag that breaks words.
	part(tag []byte, closing bool)
	// url takes a URL as it is in the attribute, references and all.
	url(value []byte)
}

type attribute struct {
	key   string
	value []byte
}

type htmlState uint8

const (
	htmlText        htmlState = iota
	htmlReference             // & in text
	htmlLess                  // <
	htmlEnd                   // </
	htmlDeclaration           // <!
	htmlDash                  // <!-
	htmlComment               // <!--
	htmlCommentBang           // <!-- --!
	htmlBogus                 // to the next >
	htmlName                  // of a tag
	htmlBefore                // an attribute
	htmlKey
	htmlAfterKey
	htmlBeforeValue
	htmlQuoted
	htmlUnquoted
	htmlRaw     // content that is not markup
	htmlRawLess // < in there
	htmlRawEnd  // </
	htmlRawBang // <! in a script
	htmlRawDash // <!-
)

const (
	maxName      = 16 // no tag or attribute that matters has a longer name
	maxURL       = 4096
	maxReference = 40 // no character reference is longer
	maxKnown     = 1000
)

// inlineTags are of elements within a line of text, whose words go on across
// them. unseenTags are of elements that a browser does not show.
const (
	inlineTags = `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr s samp small
		span strike strong sub sup time tt u var wbr`
	unseenTags = `link meta script style template`
)

var joiningTags = func() map[string]bool {
	m := make(map[string]bool)
	for _, name := range strings.Fields(inlineTags + " " + unseenTags) {
		m[name] = true
	}
	return m
}()

// breaks reports whether a tag breaks words.
func breaks(tag []byte) bool { return !joiningTags[string(tag)] }

// A rawElement has content that is not markup; it may be text all the same.
type rawElement struct {
	name string
	text bool
}

var rawElements = func() map[string]rawElement {
	m := make(map[string]rawElement)
	for _, name := range []string{"script", "style", "iframe", "noembed", "noframes"} {
		m[name] = rawElement{name, false}
	}
	for _, name := range []string{"title", "textarea", "xmp", "plaintext"} {
		m[name] = rawElement{name, true}
	}
	return m
}()

func (p *markup) Reset() {
	p.state, p.raw, p.hidden, p.templates = htmlText, "", false, 0
	p.reference, p.match = p.reference[:0], p.match[:0]
}

// finish ends the page: what could have been a reference or a tag is text.
func (p *markup) finish() {
	switch p.state {
	case htmlLess:
		p.show(lessThan)
	case htmlEnd:
		p.show([]byte("</"))
	case htmlReference:
		p.dereference()
	case htmlRawEnd:
		p.show(p.match)
	}
}

func (p *markup) feed(src []byte, final bool) int {
	for i := 0; i < len(src); {
		switch p.state {
		case htmlText, htmlRaw:
			taken := false
			if i, taken = p.text(src, i, final); !taken {
				return i
			}
		case htmlReference:
			if p.reference.take(src[i]) {
				i++
			} else {
				p.dereference() // src[i] is text
			}
		case htmlLess, htmlEnd:
			if p.less(src[i]) {
				i++
			}
		case htmlDeclaration, htmlDash, htmlComment, htmlCommentBang, htmlBogus:
			i = p.declaration(src, i)
		case htmlRawLess, htmlRawEnd, htmlRawBang, htmlRawDash:
			i = p.rawMarkup(src, i)
		default:
			i = p.tag(src, i)
		}
	}
	return len(src)
}

// text takes what is text at src[i:], with the byte that ends it, and returns where
// it ends. It reports false when the sink left some of it.
func (p *markup) text(src []byte, i int, final bool) (next int, taken bool) {
	k := i + p.span(src[i:])
	if p.shown() {
		end := characters
		switch {
		case k == len(src) && !final:
			end = anything
		case k == len(src) || src[k] == '<' && breaksAhead(src[k+1:]):
			end = nothing
		}
		if n := p.to.feed(src[i:k], end); i+n < k {
			return i + n, false
		}
	}
	if k == len(src) {
		return k, true
	}
	switch {
	case src[k] == '&':
		p.state, p.reference = htmlReference, append(p.reference[:0], '&')
	case p.raw == "":
		p.state = htmlLess
	case p.raw == "script" && src[k] != '<':
		p.scriptByte(src[k])
	default:
		p.state, p.dashes = htmlRawLess, 0
	}
	return k + 1, true
}

// less tells by the byte after < or </ what begins, and reports whether it took it.
func (p *markup) less(c byte) bool {
	closing := p.state == htmlEnd
	switch {
	case isLetter(c):
		p.begin(c, closing)
	case closing && c == '>':
		p.state = htmlText
	case closing:
		p.state = htmlBogus
		return false
	case c == '/':
		p.state = htmlEnd
	case c == '!':
		p.state = htmlDeclaration
	case c == '?':
		p.state = htmlBogus
	default:
		p.show(lessThan)
		p.state = htmlText
		return false
	}
	return true
}

// declaration takes a comment or declaration and returns where it ends.
func (p *markup) declaration(src []byte, i int) int {
	for ; i < len(src); i++ {
		c := src[i]
		switch p.state {
		case htmlDeclaration:
			if p.state = htmlBogus; c == '-' {
				p.state = htmlDash
			} else {
				i--
			}
		case htmlDash:
			if p.state = htmlBogus; c == '-' {
				p.state, p.dashes, p.beginning = htmlComment, 0, true
			} else {
				i--
			}
		case htmlComment:
			switch {
			case c == '-':
				p.dashes++
				continue
			case c == '>' && (p.dashes >= 2 || p.beginning):
				p.state = htmlText
			case c == '!' && p.dashes >= 2:
				p.state = htmlCommentBang
			}
			p.dashes, p.beginning = 0, false
		case htmlCommentBang:
			switch p.state = htmlComment; c {
			case '>':
				p.state = htmlText
			case '-':
				p.dashes = 1
			}
		case htmlBogus:
			n := bytes.IndexByte(src[i:], '>')
			if n < 0 {
				return len(src)
			}
			i += n
			p.state = htmlText
		default:
			return i
		}
	}
	return i
}

// tag takes a tag's name and attributes, and returns where they end.
func (p *markup) tag(src []byte, i int) int {
	for ; i < len(src); i++ {
		c := src[i]
		switch p.state {
		case htmlName:
			switch {
			case isBlank(c) || c == '/':
				p.state = htmlBefore
			case c == '>':
				p.end()
			default:
				p.name = appendName(p.name, c)
			}
		case htmlBefore:
			switch {
			case isBlank(c) || c == '/':
			case c == '>':
				p.end()
			default:
				p.state, p.key = htmlKey, appendName(p.key[:0], c)
			}
		case htmlKey:
			switch {
			case isBlank(c) || c == '/' || c == '>' || c == '=':
				p.choose()
				p.state = htmlAfterKey
				i--
			default:
				p.key = appendName(p.key, c)
			}
		case htmlAfterKey:
			switch {
			case isBlank(c):
			case c == '=':
				p.state = htmlBeforeValue
			default:
				p.state = htmlBefore
				i--
			}
		case htmlBeforeValue:
			switch {
			case isBlank(c):
			case c == '>':
				p.end()
			case c == '"' || c == '\'':
				p.state, p.quote = htmlQuoted, c
			default:
				p.state = htmlUnquoted
				i--
			}
		case htmlQuoted:
			n := bytes.IndexByte(src[i:], p.quote)
			if n < 0 {
				p.value(src[i:])
				return len(src)
			}
			p.value(src[i : i+n])
			i += n
			p.state = htmlBefore
		case htmlUnquoted:
			switch {
			case isBlank(c):
				p.state = htmlBefore
			case c == '>':
				p.end()
			default:
				p.value(src[i : i+1])
			}
		default:
			return i
		}
	}
	return i
}

// rawMarkup takes what could be markup within content that is not, such as the end
// tag of a script, and returns where it ends.
func (p *markup) rawMarkup(src []byte, i int) int {
	for ; i < len(src); i++ {
		c := src[i]
		switch p.state {
		case htmlRawLess:
			switch {
			case c == '/':
				p.state, p.match = htmlRawEnd, append(p.match[:0], "</"...)
			case p.raw == "script" && p.escape == 0 && c == '!':
				p.state = htmlRawBang
			case p.raw == "script" && p.escape == 1 && isLetter(c):
				p.state, p.match = htmlRawEnd, append(p.match[:0], "<"...)
				i--
			default:
				p.show(lessThan)
				p.state = htmlRaw
				i--
			}
		case htmlRawEnd:
			bare := bytes.TrimLeft(p.match, "</")
			switch {
			case len(bare) < len(p.raw) && c|0x20 == p.raw[len(bare)]:
				p.match = append(p.match, c)
			case len(bare) == len(p.raw) && (isBlank(c) || c == '/' || c == '>'):
				p.rawTag(c)
			default:
				p.show(p.match)
				p.state = htmlRaw
				i--
			}
		case htmlRawBang:
			if p.state = htmlRaw; c == '-' {
				p.state = htmlRawDash
			} else {
				i--
			}
		case htmlRawDash:
			if p.state = htmlRaw; c == '-' {
				p.escape, p.dashes = 1, 2
			} else {
				i--
			}
		default:
			return i
		}
	}
	return i
}

// span returns how many bytes at the beginning of src are text and no more.
func (p *markup) span(src []byte) int {
	n := -1
	switch {
	case p.raw == "plaintext":
	case p.raw == "script" && p.escape > 0:
		n = bytes.IndexAny(src, "<->")
		if n != 0 {
			p.dashes = 0
		}
	case p.raw == "" || p.raw == "title" || p.raw == "textarea":
		for n = 0; n < len(src) && src[n] != '<' && src[n] != '&'; n++ {
		}
	default:
		n = bytes.IndexByte(src, '<')
	}
	if n < 0 {
		n = len(src)
	}
	return n
}

// scriptByte takes a dash or > of an escaped script.
func (p *markup) scriptByte(c byte) {
	if c == '-' {
		p.dashes++
		return
	}
	if p.dashes >= 2 {
		p.escape = 0
	}
	p.dashes = 0
}

// rawTag takes the tag that match and c, which ends its name, are.
func (p *markup) rawTag(c byte) {
	opens := p.match[1] != '/'
	switch {
	case p.raw == "script" && opens:
		p.escape, p.state = 2, htmlRaw
	case p.raw == "script" && p.escape == 2:
		p.escape, p.state = 1, htmlRaw
	default:
		p.name = append(p.name[:0], p.raw...)
		p.closing, p.raw, p.hidden, p.urls = true, "", false, p.urls[:0]
		if p.state = htmlBefore; c == '>' {
			p.end()
		}
	}
}

var lessThan = []byte("<")

// show takes bytes that turned out to be text.
func (p *markup) show(text []byte) {
	if p.shown() {
		p.to.feed(text, characters)
	}
}

// shown reports whether text is not dropped here.
func (p *markup) shown() bool { return !p.hidden && p.templates == 0 }

// begin begins a tag whose name begins with c.
func (p *markup) begin(c byte, closing bool) {
	p.state, p.closing = htmlName, closing
	p.name, p.urls = appendName(p.name[:0], c), p.urls[:0]
}

// appendName appends a byte of a name in lower case. Names are kept to a length
// that none of those that matter has.
func appendName(name []byte, c byte) []byte {
	if len(name) > maxName {
		return name
	}
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	return append(name, c)
}

// choose decides whether the attribute key is wanted: the first of its name.
func (p *markup) choose() {
	p.want = -1
	if p.closing || !p.links || p.templates > 0 || string(p.key) != "href" && (string(p.key) != "src" || string(p.name) != "img") {
		return
	}
	for _, u := range p.urls {
		if u.key == string(p.key) {
			return
		}
	}
	p.want = len(p.urls)
	if cap(p.urls) > p.want {
		p.urls = p.urls[:p.want+1]
	} else {
		p.urls = append(p.urls, attribute{})
	}
	u := &p.urls[p.want]
	u.key, u.value = "href", u.value[:0]
	if len(p.key) == len("src") {
		u.key = "src"
	}
}

// value takes a part of the value of an attribute.
func (p *markup) value(part []byte) {
	if p.want >= 0 {
		u := &p.urls[p.want]
		u.value = append(u.value, part[:min(len(part), maxURL-len(u.value))]...)
	}
}

// end takes a tag at its >.
func (p *markup) end() {
	p.state, p.want = htmlText, -1
	switch template := string(p.name) == "template"; {
	case template && !p.closing:
		p.templates++
		p.urls = p.urls[:0]
	case template && p.templates > 0:
		p.templates--
	}
	if p.templates == 0 && (len(p.urls) > 0 || breaks(p.name)) {
		p.to.part(p.name, p.closing)
	}
	if p.closing {
		return
	}
	for _, u := range p.urls {
		p.to.url(u.value)
	}
	if e, raw := rawElements[string(p.name)]; raw {
		p.raw, p.hidden, p.escape, p.state = e.name, !e.text, 0, htmlRaw
	}
}

// A reference is what could be a character reference, from its & on. Of a
// number it keeps as many digits as tell it from those that are too large.
type reference []byte

const maxDigits = 8

// take appends c and reports whether it may be a part of the reference.
func (r *reference) take(c byte) bool {
	s := *r
	n := len(s)
	switch {
	case s[n-1] == ';' || n == maxReference:
		return false
	case c == ';' && n > 1 && isAlphanumeric(s[n-1]) && !(n == 3 && s[1] == '#' && s[2]|0x20 == 'x'):
	case n == 1 && c == '#':
	case n == 1 || s[1] != '#':
		if !isAlphanumeric(c) {
			return false
		}
	case n == 2 && c|0x20 == 'x':
	default:
		digits := s[2:]
		if n > 2 && s[2]|0x20 == 'x' {
			digits = s[3:]
		}
		if !(c >= '0' && c <= '9' || len(digits) < n-2 && c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
		if len(digits) == maxDigits {
			return true
		}
		if string(digits) == "0" {
			s = s[:n-1]
		}
	}
	*r = append(s, c)
	return true
}

// dereference takes the character reference, or what turned out to be none, as
// text.
func (p *markup) dereference() {
	p.state = htmlText
	if p.raw != "" {
		p.state = htmlRaw
	}
	p.show(p.meaning(p.reference))
}

// meaning returns what a reference stands for, or itself.
func (p *markup) meaning(r reference) []byte {
	text, known := p.known[string(r)]
	if !known {
		whole := string(r)
		if len(r) == 3 && r[1] == '#' && r[2]|0x20 != 'x' {
			whole += ";" // one digit at the end of a string is left alone otherwise
		}
		if text = []byte(html.UnescapeString(whole)); len(p.known) < maxKnown {
			p.known[string(r)] = text
		}
	}
	return text
}

// unescape appends the value of an attribute with its character references
// replaced. There one its semicolon counts only before what is neither a letter, a digit nor an
// equals sign.
func (p *markup) unescape(dst, value []byte) []byte {
	out := dst
	for i := 0; i < len(value); {
		n := 1
		if value[i] == '&' {
			r := append(p.reference[:0], '&')
			for i+n < len(value) && r.take(value[i+n]) {
				n++
			}
			p.reference = r
			s := p.meaning(r)
			whole := len(r) > 1 && r[1] == '#'
			if !whole && value[i+n-1] == ';' {
				whole = string(s) == ";" || !bytes.HasSuffix(s, []byte(";"))
			} else if !whole && (i+n == len(value) || value[i+n] != '=') {
				whole = utf8.RuneCount(s) == 1
			}
			if whole {
				out = append(out, s...)
				i += n
				continue
			}
		}
		out = append(out, value[i:i+n]...)
		i += n
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlphanumeric(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

// breaksAhead reports whether what follows a < is certain to be a tag that
// breaks words.
func breaksAhead(src []byte) bool {
	if len(src) > 0 && src[0] == '/' {
		src = src[1:]
	}
	n := 0
	var name [maxName]byte
	for n < len(src) && n < len(name) && isAlphanumeric(src[n]) {
		name[n] = src[n] | 0x20
		n++
	}
	if n == 0 || !isLetter(src[0]) || n == len(src) || n == len(name) || !(isBlank(src[n]) || src[n] == '>') {
		return false
	}
	return breaks(name[:n])
}

// page is a web page as AltaVista reduced it (Manasse): case folded, markup
// dropped but for the URLs of links and images. The tokens are the words of its
// text and, where its tag stands, each URL whole; a tag with a URL breaks words.
// The stream page leaves the URLs out.
type page struct {
	markup
	words     *words
	plain     reader // for URLs
	unescaped []byte
}

func newPage(fold, links bool) *page {
	p := &page{words: newWords(fold), plain: newReader(fold)}
	p.markup = markup{to: p, links: links, known: make(map[string][]byte)}
	return p
}

func (p *page) Reset() {
	p.words.Reset()
	p.markup.Reset()
}

func (p *page) Next(t *Tokens, src []byte, final bool) int {
	if len(src) > pieceSize {
		src, final = src[:pieceSize], false
	}
	p.words.begin(t)
	n := p.markup.feed(src, final)
	if final {
		p.markup.finish()
		p.words.settle()
	}
	p.words.finish(final)
	return n
}

func (p *page) feed(text []byte, end ending) int { return p.words.feed(text, end) }

func (p *page) part([]byte, bool) {
	p.words.settle()
	p.words.close()
}

// url makes a token of the value of an attribute.
func (p *page) url(value []byte) {
	p.plain.Reset()
	if bytes.IndexByte(value, 0) >= 0 {
		value = bytes.ReplaceAll(value, []byte{0}, []byte("\ufffd"))
	}
	p.unescaped = p.unescape(p.unescaped[:0], value)
	p.plain.feed(p.unescaped, nothing)
	for text := p.plain.text; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		if k := factsOf(r).class[r&(blockSize-1)]; k != classSpace && k != classControl {
			p.words.Text = append(p.words.Text, text[:size]...)
		}
		text = text[size:]
	}
	p.words.close()
}

// AppendHTMLText is that of package sketch.
func AppendHTMLText(dst, doc []byte) []byte {
	t := pageTexts.Get().(*pageText)
	t.text, t.begin, t.blank, t.line, t.pre = dst, len(dst), false, false, 0
	t.markup.Reset()
	t.markup.feed(doc, true)
	t.markup.finish()
	dst, t.text = t.text, nil
	pageTexts.Put(t)
	return dst
}

var pageTexts = sync.Pool{New: func() any {
	t := new(pageText)
	t.markup = markup{to: t, known: make(map[string][]byte)}
	return t
}}

// pageText is the sink of AppendHTMLText.
type pageText struct {
	markup
	text  []byte
	begin int  // of the page in text
	blank bool // there was white space since the last character
	line  bool // the line has ended since the last character
	pre   int  // open elements whose white space stays
}

func (t *pageText) feed(text []byte, _ ending) int {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		if t.pre == 0 && r < utf8.RuneSelf && isBlank(byte(r)) {
			t.blank = true
			continue
		}
		switch {
		case len(t.text) == t.begin || t.text[len(t.text)-1] == '\n':
		case t.line:
			t.text = append(t.text, '\n')
		case t.blank:
			t.text = append(t.text, ' ')
		}
		t.blank, t.line = false, false
		t.text = utf8.AppendRune(t.text, r)
	}
	return len(text)
}

func (t *pageText) part(tag []byte, closing bool) {
	switch string(tag) {
	case "td", "th", "img":
		t.blank = true
		return
	case "pre", "textarea", "listing", "xmp", "plaintext":
		if !closing {
			t.pre++
		} else if t.pre > 0 {
			t.pre--
		}
	}
	t.line = true
}

func (t *pageText) url([]byte) {}

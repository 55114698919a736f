package token

import (
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// joining are the tags that do not break words, by FORMAT.md.
var joining = strings.Fields(`a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd link mark meta nobr s samp script
	small span strike strong style sub sup template time tt u var wbr`)

// literalPage is the definition of the stream html by golang.org/x/net/html,
// whose tokenizer needs the whole document.
func literalPage(doc string, fold bool) (list []string) {
	z := html.NewTokenizer(strings.NewReader(doc))
	pending, drop, templates := "", false, 0
	separate := func() {
		list = append(list, literalWords(pending, fold)...)
		pending = ""
	}
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			separate()
			return list
		case html.TextToken:
			if !drop && templates == 0 {
				pending += string([]rune(z.Token().Data))
			}
			drop = false
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			drop = false
			token := z.Token()
			var urls []string
			for _, a := range token.Attr {
				if kind != html.EndTagToken && templates == 0 && (a.Key == "href" || a.Key == "src" && token.Data == "img") {
					urls = append(urls, strings.Map(func(r rune) rune {
						if unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf) {
							return -1
						}
						return r
					}, canonicalText(a.Val, fold)))
				}
			}
			if templates == 0 && (!slices.Contains(joining, token.Data) || len(urls) > 0) {
				separate()
			}
			if token.Data == "template" && kind != html.EndTagToken {
				templates++
			} else if token.Data == "template" && templates > 0 {
				templates--
			}
			for _, u := range urls {
				if u != "" {
					list = append(list, u)
				}
			}
			if kind == html.EndTagToken {
				break
			}
			switch token.Data {
			case "noscript":
				z.NextIsNotRawText()
			case "script", "style", "iframe", "noembed", "noframes":
				drop = true
			}
		}
	}
}

func TestPage(t *testing.T) {
	for _, text := range texts {
		if len(text) > 1000 {
			continue
		}
		for _, fold := range []bool{true, false} {
			want := literalPage(text, fold)
			if got := tokensOf(Settings{Stream: HTML, Fold: fold}, []byte(text)); !slices.Equal(got, want) {
				t.Errorf("%q, fold %v:\n got %q\nwant %q", text, fold, got, want)
			}
		}
	}
}

var pieces = strings.Fields(`< > </ <! <!-- --> --!> - ! / = " ' & ; # x41 amp &lt copy= href src img a b p <p> </p> <b> script <script>
	</script> <style> </style> <title> </title> <textarea> </textarea> <xmp> </xmp> <template> </template> <i> </a> <img <a href= src= ? <? &#65; &#x é 文 e ` + "\u0301")

func TestPageRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range kerneltest.Trials(100000) {
		text := ""
		for range random.IntN(16) {
			text += pieces[random.IntN(len(pieces))]
			if random.IntN(4) == 0 {
				text += " "
			}
		}
		if strings.Contains(text, "<!--") && strings.Contains(text, "script") {
			continue // the library leaves the escaped state where the standard stays in it
		}
		want := literalPage(text, true)
		if got := tokensOf(Settings{Stream: HTML, Fold: true}, []byte(text)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// What a page reads as: where words break, and what is left out.
func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"", ""},
		{"the har<b>bour</b> committee met on Tuesday", "the harbour committee met on Tuesday"},
		{"one<br/>two three", "one\ntwo three"},
		{"<p>one</p>two<div>three<p>four", "one\ntwo\nthree\nfour"},
		{"a<!-- b -->c<!-->d<!x>e<?f>g</>h", "acdegh"},
		{"a <b> b </b> c\n\n\td", "a b c d"},
		{"<table><tr><td>1<td>2<tr><th>3</table>4", "1 2\n3\n4"},
		{"x<img src=y>z<hr>w", "x z\nw"},
		{"<ul><li>one<li>two</ul>", "one\ntwo"},
		{"<pre>a\n  b\tc</pre> d  e", "a\n  b\tc\nd e"},
		{"<textarea>a\n&lt;b&gt;</textarea>c", "a\n<b>\nc"},
		{"<title>T &amp; t</title><body>b", "T & t\nb"},
		{"one<script>x</script>two<style>y</style>three<template>z<p>z</template>four", "onetwothreefour"},
		{"a<template>b<template>c</template>d</template>e</template>f", "aef"},
		{"a<iframe>b</iframe>c<noscript>d</noscript>e", "a\nc\nd\ne"},
		{"a<![CDATA[b]]>c<![CDATA[d > e]]>f", "ac e]]>f"},
		{"<a href=x>bus</a>es, do<a>g</a>s", "buses, dogs"},
		{"Caf&eacute; &#65;&#x42;&lt;&nosuch; &amp", "Café AB<&nosuch; &"},
		{"<b>b<i>c</b>d</i>e</p>f", "bcde\nf"},
		{"a < b <3 c<", "a < b <3 c<"},
		{"a<b", "a"},
		{"x<my-tag>y</my-tag>z", "x\ny\nz"},
		{"\xff<b>\xc3</b>\xa9", "\ufffd\ufffd\ufffd"},
		{"<plaintext>a <b> \n", "a <b> \n"},
		{"<option>a<option>b<label>c</label>d", "a\nb\nc\nd"},
	} {
		if got := string(AppendHTMLText(nil, []byte(c.page))); got != c.want {
			t.Errorf("%q reads %q, want %q", c.page, got, c.want)
		}
		if got := string(AppendHTMLText([]byte("x"), []byte(c.page))); got != "x"+c.want {
			t.Errorf("%q appended to x is %q, want %q", c.page, got, "x"+c.want)
		}
	}
}

// withoutLinks is the stream html without its URLs.
func withoutLinks(fold bool, doc []byte) (list []string) {
	p := newPage(fold, true)
	p.links = false
	p.Reset()
	var t Tokens
	for {
		t.Reset()
		n := p.Next(&t, doc, true)
		for _, s := range t.Spans {
			list = append(list, string(t.Text[s.Start:s.End]))
		}
		if doc = doc[n:]; len(doc) == 0 {
			return list
		}
	}
}

// The words of a page's text are those that the stream html finds in the page.
func TestHTMLTextHasTheWordsOfThePage(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for i := range len(texts) + kerneltest.Trials(30000) {
		var text []byte
		switch {
		case i < len(texts):
			text = []byte(texts[i])
		case i%2 == 0:
			text = randomText(random, 20)
		default:
			text = []byte(randomPage(random))
		}
		want := withoutLinks(true, text)
		if got := tokensOf(foldedWords, AppendHTMLText(nil, text)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// treeText is the text of a page by the tree that golang.org/x/net/html makes of
// it: a break is U+0001.
func treeText(n *html.Node, text *strings.Builder) {
	switch n.Type {
	case html.TextNode:
		text.WriteString(n.Data)
	case html.ElementNode:
		switch n.Data {
		case "script", "style", "template", "link", "meta":
			return
		}
		broken := !slices.Contains(joining, n.Data)
		if broken {
			text.WriteByte(1)
			defer text.WriteByte(1)
		}
		switch n.Data {
		case "iframe", "noembed", "noframes":
			return
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		treeText(c, text)
	}
}

// treeWords are the words of a page by its tree.
func treeWords(t testing.TB, page []byte) []string {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(string([]rune(string(page)))), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	treeText(root, &text)
	return tokensOf(foldedWords, []byte(text.String()))
}

// randomPage is a page whose elements are nested, but for what a browser mends
// without moving text.
func randomPage(random *rand.Rand) string {
	var b strings.Builder
	word := func() {
		b.WriteString([]string{"har", "bour", " ", "\n", "é", "&eacute;", "&#65;", "&amp", "x ", "文", "e\u0301", "- ", "3"}[random.IntN(13)])
	}
	var content func(depth int, inline bool)
	content = func(depth int, inline bool) {
		for range random.IntN(5) {
			word()
			switch n := random.IntN(12); {
			case n == 0:
				b.WriteString([]string{"<br>", "<br/>", "<wbr>", "<img alt=x>", "<input>", "<link>", "<meta>", "<hr>"}[random.IntN(8-btoi(inline))])
			case n == 1:
				b.WriteString([]string{"<!-- x -->", "<!---->", "<!-- <b> -->", "<?x?>", "</>", "<![CDATA[x]]>"}[random.IntN(6)])
			case n == 2:
				b.WriteString([]string{"<script>if (a<b) '</p>'</script>", "<style>p {}</style>", "<template>x<p>y</template>", "<textarea>a<b></textarea>", "<iframe>x</iframe>"}[random.IntN(5)])
			case depth == 0:
			case n < 7:
				name := joining[random.IntN(len(joining))]
				switch name {
				case "link", "meta", "script", "style", "template", "wbr", "a", "nobr":
					name = "span"
				}
				b.WriteString("<" + name + " class='x>y'>")
				content(depth-1, true)
				b.WriteString("</" + strings.ToUpper(name) + " >")
			case n < 9 && !inline:
				name := []string{"p", "div", "h1", "blockquote", "section", "pre", "my-tag", "dl"}[random.IntN(8)]
				b.WriteString("<" + name + ">")
				content(depth-1, name == "p" || name == "h1" || name == "pre")
				b.WriteString("</" + name + ">")
			case n == 9 && !inline:
				b.WriteString("<table><tr><td>")
				content(depth-1, false)
				b.WriteString("</td><th>")
				content(depth-1, false)
				b.WriteString("</table>")
			}
		}
		word()
	}
	content(4, false)
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The words of generated pages are those of their trees.
func TestHTMLTextIsThatOfTheTree(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range kerneltest.Trials(30000) {
		page := []byte(randomPage(random))
		want := treeWords(t, page)
		if got := tokensOf(foldedWords, AppendHTMLText(nil, page)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", page, got, want)
		}
	}
}

var pagesFolder = flag.String("pages", "testdata/pages", "a folder whose HTML pages are read")

// So are those of real pages: our own few, or with -pages those of any folder.
func TestHTMLTextOfPages(t *testing.T) {
	n, odd := 0, 0
	err := filepath.WalkDir(*pagesFolder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".htm") {
			return err
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		want := treeWords(t, page)
		if got := tokensOf(foldedWords, AppendHTMLText(nil, page)); !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			odd++
			t.Errorf("%s: word %d of %d and %d:\n got %q\nwant %q", path, i, len(got), len(want), got[i:min(i+8, len(got))], want[i:min(i+8, len(want))])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d of them read differently", n, odd)
	if n < 4 {
		t.Errorf("%d pages in %s, want at least 4", n, *pagesFolder)
	}
}

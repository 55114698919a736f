package sketch

import "github.com/alike-sql/alike/sketch/internal/token"

// AppendHTMLText appends to dst the text of a page, for a profile that reads text:
// what a browser without scripting shows, in UTF-8, and the title. The content of
// script, style, template, iframe, noembed and noframes is dropped, as are
// comments; character references are replaced. The words are those of the stream
// html, which has the URLs of links and images besides.
//
// A tag breaks words unless it is of an element within a line of text (a abbr
// acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr s samp
// small span strike strong sub sup time tt u var wbr) or of an element that is not shown
// (link meta script style template). A cell of a table or an image leaves a blank,
// any other such tag ends the line; outside pre and textarea white space is a blank.
func AppendHTMLText(dst, doc []byte) []byte { return token.AppendHTMLText(dst, doc) }
